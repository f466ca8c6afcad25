// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/device_growth.h"

#include <limits>
#include <map>
#include <string>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kBoundless = std::int64_t{ 1 } << 62;

/// Blocks that no final segment holds take the pool of the segment that held them at their birth.
void takePoolsOfLives(BlockColumn<PoolIndex>& pools, const BlockColumns& blocks, const SegmentLives& lives,
    std::size_t bornFrom, std::size_t olderFrom)
{
    const auto take = [&](BlockId block) {
        if (pools[block] != kNoIndex)
            return;
        const SegmentLife* const life = lives.find(blocks.address[block], blocks.birth(block));
        if (life != nullptr && life->pool != kNoIndex)
            pools.edit(block) = life->pool;
    };
    for (std::size_t row = olderFrom; row < blocks.olderCount(); ++row)
        take(BlockId::older(row));
    for (std::size_t row = bornFrom; row < blocks.bornCount(); ++row)
        take(BlockId::born(row));
}

std::shared_ptr<const TraceLineage> newLineage()
{
    return std::make_shared<const TraceLineage>();
}

} // namespace

struct DeviceGrowth::State {
    BlockColumns blocks;
    FindingList pairingFindings, segmentFindings;
    BlockPairing pairing{ blocks, pairingFindings };
    SegmentTracker segments;
    std::optional<EventChecks> checks;

    // The lives as far as the events and the base state tell, of version `livesVersion` of the tracker.
    std::shared_ptr<const SegmentLives> lives;
    std::size_t livesVersion = 0;
    std::size_t olderLives = 0; // that the pools below know
    std::size_t pooledBorn = 0, pooledOlder = 0; // blocks that have the pools of these lives

    std::size_t timed = 0; // events whose time was looked at
    std::int64_t lastTimeNs = std::numeric_limits<std::int64_t>::min();
    std::int64_t backwards = 0;
    EventIndex firstBackwards = -1;
    DeviceTrace::EventNumbers outOfMemories;
    std::size_t outOfMemoriesSought = 0; // events among which they were looked for
    std::map<std::string, std::int64_t> otherActions;
    std::size_t otherActionsCounted = 0;

    std::size_t replacedFrames = 0; // of the recording's

    std::shared_ptr<const TraceLineage> history = newLineage(), rows = newLineage();
};

DeviceGrowth::DeviceGrowth() = default;
DeviceGrowth::~DeviceGrowth() = default;

void DeviceGrowth::restart(const DeviceRecording& device)
{
    m_state = std::make_unique<State>();
    m_state->pairing.begin(device);
    m_state->segments.begin(device);
}

/// The device has other final segments: the pools of all blocks are theirs, else to be found again.
void DeviceGrowth::takePools(const DeviceRecording& device)
{
    State& s = *m_state;
    s.pairing.takePools(device);
    for (const BlockId block : s.blocks.all()) {
        PoolIndex pool = s.pairing.at(s.blocks.address[block]).pool;
        if (pool == kNoIndex && block.row() < device.base.blocks.size() && block.isOlder())
            if (const FinalSegment* const base = segmentOf(device.base.segments, s.blocks.address[block]))
                pool = base->pool;
        if (s.blocks.pool[block] != pool)
            s.blocks.pool.edit(block) = pool;
    }
    s.pooledBorn = s.pooledOlder = 0;
    s.rows = newLineage();
}

void DeviceGrowth::takeTimes(const EventColumns& events)
{
    State& s = *m_state;
    while (s.timed < events.timeNs.size()) {
        for (const std::int64_t time : events.timeNs.run(s.timed)) {
            if (time < s.lastTimeNs && s.backwards++ == 0)
                s.firstBackwards = static_cast<EventIndex>(s.timed);
            s.lastTimeNs = time;
            ++s.timed;
        }
    }
}

void DeviceGrowth::takeOutOfMemories(const EventColumns& events)
{
    State& s = *m_state;
    if (s.pairing.count(Action::Oom) == static_cast<std::int64_t>(s.outOfMemories.size()))
        s.outOfMemoriesSought = events.action.size();
    while (s.outOfMemoriesSought < events.action.size())
        for (const Action action : events.action.run(s.outOfMemoriesSought)) {
            if (action == Action::Oom)
                s.outOfMemories.push_back(static_cast<std::uint32_t>(s.outOfMemoriesSought));
            ++s.outOfMemoriesSought;
        }
}

bool DeviceGrowth::append(
    Recording& recording, DeviceRecording& device, bool newBase, bool newEnd, const Progress& progress)
{
    if (!m_state || newBase) {
        if (m_state)
            for (std::size_t e = 0; e < device.events.block.size(); ++e)
                device.events.block.edit(e) = {};
        restart(device);
    } else if (newEnd) {
        takePools(device);
    }
    State& s = *m_state;
    if (!s.pairing.append(recording, device, progress))
        return false;
    if (s.pairing.changedEarlierEvents())
        s.history = newLineage();
    s.segments.append(recording, device, s.segmentFindings);
    takeTimes(device.events);
    takeOutOfMemories(device.events);
    if (const std::size_t replaced = recording.stacks.replacedFrames();
        std::exchange(s.replacedFrames, replaced) != replaced)
        s.rows = newLineage(); // their labels may be others
    const auto& others = device.events.otherAction.items();
    for (; s.otherActionsCounted < others.size(); ++s.otherActionsCounted)
        ++s.otherActions[std::string(recording.strings[others[s.otherActionsCounted].second])];
    return true;
}

/// Brings the lives and the pools of blocks to the last event.
void DeviceGrowth::updateLives()
{
    State& s = *m_state;
    if (!s.lives || s.livesVersion != s.segments.version()) {
        s.lives = std::make_shared<const SegmentLives>(s.segments.lives());
        s.livesVersion = s.segments.version();
    }
    if (s.olderLives != s.segments.olderFound()) { // which may have held blocks that had no pool so far
        s.olderLives = s.segments.olderFound();
        if (s.pooledBorn + s.pooledOlder > 0)
            s.rows = newLineage();
        s.pooledBorn = s.pooledOlder = 0;
    }
    takePoolsOfLives(s.blocks.pool, s.blocks, *s.lives, s.pooledBorn, s.pooledOlder);
    s.pooledBorn = s.blocks.bornCount();
    s.pooledOlder = s.blocks.olderCount();
}

std::optional<DeviceTrace> DeviceGrowth::publish(
    const Recording& recording, DeviceRecording& device, bool endKnown, const Progress& progress)
{
    if (!endKnown)
        updateLives();
    return assemble(BlockColumns(m_state->blocks), recording, device, endKnown, progress);
}

std::optional<DeviceTrace> DeviceGrowth::finish(
    const Recording& recording, DeviceRecording& device, bool endKnown, const Progress& progress)
{
    if (!endKnown)
        updateLives();
    return assemble(std::move(m_state->blocks), recording, device, endKnown, progress);
}

std::optional<DeviceTrace> DeviceGrowth::assemble(BlockColumns blocks, const Recording& recording,
    DeviceRecording& device, bool endKnown, const Progress& progress)
{
    State& s = *m_state;
    DeviceTrace trace;
    trace.m_recording = &recording;
    trace.m_device = &device;
    trace.m_blocks = std::move(blocks);
    trace.m_overwritten = s.pairing.overwritten();
    trace.m_outOfMemories = s.outOfMemories;
    trace.m_endKnown = endKnown;
    trace.m_history = s.history;
    trace.m_rows = s.rows;

    FindingList findings;
    findings.add(s.pairingFindings);
    OlderBlocks older = s.pairing.older();
    std::int64_t liveNotInSegments = 0;
    if (endKnown) {
        EndStateJoin join = joinWithEndState(s.pairing, device, trace.m_blocks, findings);
        older = std::move(join.older);
        liveNotInSegments = join.liveNotInSegments;
        if (join.changedEvents)
            trace.m_history = newLineage();
        trace.m_rows = newLineage();
        findings.add(s.segmentFindings);
        SegmentTracker segments = s.segments;
        segments.joinWithEndState(device, findings);
        trace.m_segments = std::make_shared<const SegmentLives>(segments.lives());
        takePoolsOfLives(trace.m_blocks.pool, trace.m_blocks, *trace.m_segments, 0, 0);
    } else {
        findings.add(s.segmentFindings);
        trace.m_segments = s.lives;
    }
    fillTotals(trace.m_totals, device, older, endKnown);
    // A file that was cut may have its state in front of its events.
    const auto& truncation = recording.truncation;
    trace.m_totals.endKnown
        = endKnown || (truncation && !truncation->interrupted && !device.finalSegments.empty());
    trace.m_totals.liveNotInSegments = liveNotInSegments;

    const bool startKnown = endKnown || !device.base.segments.empty() || device.profiled;
    const std::int64_t requestedStart = startKnown ? trace.m_totals.requestedBytesStart : 0;
    // Where nothing tells what is reserved, nothing can be above it.
    const std::int64_t reservedStart = !trace.m_totals.reservedKnown ? kBoundless
        : startKnown                                                 ? trace.m_totals.reservedBytesStart
                                                                     : 0;
    if (!s.checks || !s.checks->beganAt(older, requestedStart, reservedStart))
        s.checks.emplace(trace.m_blocks, older, requestedStart, reservedStart);
    if (!s.checks->append(device.events, trace.m_blocks, trace.m_overwritten, progress))
        return std::nullopt;
    s.checks->addTo(findings, startKnown);
    checkEndState(device, trace.m_totals, findings);
    const OlderFrees& frees = s.pairing.olderFrees();
    trace.m_notes = { frees.count, frees.bytes, frees.first, s.backwards, s.firstBackwards };
    addNotes({ recording, device, trace.m_totals, trace.m_notes, endKnown }, findings);
    trace.m_findings = findings.take();
    return trace;
}

void DeviceGrowth::fillTotals(
    Totals& t, const DeviceRecording& device, const OlderBlocks& older, bool endKnown) const
{
    const State& s = *m_state;
    t.device = device.device;
    t.events = device.events.size();
    for (std::size_t a = 0; a < static_cast<std::size_t>(Action::Other); ++a)
        if (const std::int64_t count = s.pairing.actionCounts()[a]; count > 0)
            t.actions[std::string(actionName(static_cast<Action>(a)))] = count;
    for (const auto& [name, count] : s.otherActions)
        t.actions[name] += count;

    addEndState(device, t);
    t.requestedBytesStart = older.requestedBytes;
    t.pendingBytesStart = older.pendingBytes;
    const RelativeCurve &requested = s.pairing.requested(), &reserved = s.pairing.reserved();
    t.requestedBytesPeak = wrapAdd(t.requestedBytesStart, requested.rise);
    t.requestedPeakEvent = requested.peakEvent;
    if (endKnown) {
        t.reservedBytesStart = wrapSub(t.reservedBytesEnd, reserved.net);
    } else if (device.profiled) {
        t.reservedKnown = device.profiled->reservedBytes.has_value();
        t.reservedBytesStart = device.profiled->reservedBytes.value_or(0);
    } else if (device.base.segments.empty()) {
        t.reservedBytesStart = wrapSub(0, reserved.fall);
    } else {
        for (const FinalSegment& segment : device.base.segments)
            t.reservedBytesStart = wrapAdd(t.reservedBytesStart, segment.bytes);
    }
    t.reservedBytesPeak = wrapAdd(t.reservedBytesStart, reserved.rise);
    t.reservedPeakEvent = reserved.peakEvent;
    t.freeWithoutAlloc = s.pairing.freeWithoutAlloc();
    t.allocOverLive = static_cast<std::int64_t>(s.pairing.overwritten().size());
}

} // namespace strata::model
