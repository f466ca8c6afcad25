// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/trace_checks.h"

#include "model/trace/earlier_curves.h"
#include "model/trace/pairing/live_extents.h"
#include "model/trace/producer.h"
#include "model/wire/info.h"
#include "model/wire/link/link_chunks.h"

#include <algorithm>
#include <limits>

namespace strata::model {

namespace {

std::uint64_t endOfBlock(std::uint64_t address, std::int64_t bytes)
{
    const std::uint64_t end = address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
    return end <= address ? std::numeric_limits<std::uint64_t>::max() : end;
}

struct Sums {
    std::int64_t bytes = 0, allocated = 0, active = 0, requested = 0;
};

/// The greatest difference between what a segment says of itself and what its blocks add up to.
std::pair<std::int64_t, Sentence> compareSums(const FinalSegment& segment, const Sums& sums)
{
    std::int64_t worst = 0;
    Sentence all;
    const auto compare = [&](English name, std::int64_t said, std::int64_t is, bool present) {
        if (!present || said == is)
            return;
        const std::int64_t difference = wrapSub(said, is);
        const auto size = [](std::int64_t x) {
            return x < 0 ? ~static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
        };
        if (size(difference) > size(worst))
            worst = difference;
        Sentence one
            = say("%1 is %2, its blocks add up to %3", Sentence(name), asExactBytes(said), asExactBytes(is));
        all = all.empty() ? std::move(one) : say("%1; %2", std::move(all), std::move(one));
    };
    compare(English("size"), segment.bytes, sums.bytes, true);
    compare(English("allocated size"), segment.allocatedBytes, sums.allocated, segment.allocatedBytes >= 0);
    compare(English("active size"), segment.activeBytes, sums.active, segment.activeBytes >= 0);
    compare(English("requested size"), segment.requestedBytes, sums.requested, segment.requestedBytes >= 0);
    return { worst, std::move(all) };
}

void addRingNote(const NotesInput& input, FindingList& findings)
{
    const EventIndex count = input.totals.events;
    const auto settingOf = [&](std::string_view key) -> const std::string* {
        for (const Setting& s : input.recording.settings)
            if (s.key == key)
                return &s.json;
        return nullptr;
    };
    const auto note = [&](Sentence why) {
        findings.add(Finding{ Check::RingWrapped, -1, 0, 1, std::move(why) });
    };
    if (const std::string* const overflowed = settingOf("trace_alloc_overflowed"))
        if (*overflowed != "false" && *overflowed != "0" && *overflowed != "null") {
            note(say("The recorder says that its ring was full: older events are gone. Record with a larger "
                     "max_entries."));
            return;
        }
    const std::string* const limit = settingOf("trace_alloc_max_entries");
    if (limit != nullptr && *limit == std::to_string(count) && count > 0) {
        note(say("The trace has as many events as the recorder keeps (%1): older ones are probably gone. "
                 "Record with a larger max_entries.",
            asCount(count)));
    } else if (limit == nullptr && count == 1) {
        note(say("The trace has a single event: the recorder was probably in the mode \"state\", which keeps "
                 "the last event alone. Record with enabled=\"all\" to see memory over time."));
    } else if (limit == nullptr && count >= 10'000 && count % 10'000 == 0) {
        note(say("The trace has exactly %1 events: a guess from the round number is that max_entries was "
                 "reached and older events are gone.",
            asCount(count)));
    }
}

bool joinedLate(const Recording& recording)
{
    const auto fact = recording.facts.find(wire::kJoinedLate);
    return fact != recording.facts.end() && fact->second == wire::info::kYes;
}

/// What is not in the trace of a part, and what that means.
Sentence cutSentence(const NotesInput& input, const CutOff& cut)
{
    if (const auto* const part = input.recording.parts.find<EarlierCurves>())
        if (const auto earlier = part->byDevice.find(input.device.device); earlier != part->byDevice.end()) {
            const EarlierStretch whole = wholeOf(earlier->second);
            const Sentence curves = say("%1 before were watched and are not in it, but for their curves: "
                                        "requested peaked at %2 there, reserved at %3. Rounded sizes of what "
                                        "was live then are lower bounds.",
                asEvents(whole.events), asBytes(whole.requestedMax), asBytes(whole.reservedMax));
            const std::int64_t others = cut.before - whole.events + cut.after;
            return others <= 0
                ? curves
                : say(
                    "%1 %2 more are not in it either: it was joined late, or they were left out when it was "
                    "shared.",
                    curves, asCount(others));
        }
    if (joinedLate(input.recording))
        return say("%1 before are not in it: it was watched from then on. What was live then is the state "
                   "that it begins with; rounded sizes in it are lower bounds.",
            asEvents(cut.before));
    if (cut.after > 0)
        return say("%1 before and %2 after were left out when this was shared, so rounded sizes, "
                   "allocated and active among them, are lower bounds at the end.",
            asEvents(cut.before), asCount(cut.after));
    return say("%1 before and %2 after were left out when this was shared.", asEvents(cut.before),
        asCount(cut.after));
}

/// Of a file that someone made of the snapshots of several ranks: traces of all, segments of one.
Sentence mergedSentence(const Recording& recording)
{
    std::int64_t traces = 0;
    std::int64_t withSegments = 0;
    for (const DeviceRecording& device : recording.devices) {
        traces += device.events.size() > 0 ? 1 : 0;
        withSegments += device.finalSegments.empty() ? 0 : 1;
    }
    return say("The file has traces of %1 and segments of %2 of them, as if snapshots of several ranks were merged. "
               "Figures of this device come from its trace alone: memory from before the trace is unknown.",
        sayCounted("%1 device", "%1 devices", traces), asCount(withSegments));
}

/// Of what export_memory_timeline() wrote.
Sentence timelineSentence(const ProfiledMemory& profiled)
{
    const Sentence what = profiled.from == ProfiledMemory::From::TimelineSums
        ? say("Told by a profiler's memory timeline, as sums by category: these are exact, blocks are what "
              "they grew "
              "by.")
        : say("Told by a profiler's memory timeline: sums by category are exact; which block went is not "
              "told, so it "
              "is the last one of its size and category.");
    const Sentence all
        = say("%1 Addresses are made up, and so is the number of the device. Nothing is told of reserved "
              "memory, segments and stacks.",
            what);
    return profiled.untold == 0
        ? all
        : say("%1 %2 went that never came, %3 in all: they count from the beginning on.", all,
            sayCounted("%1 block", "%1 blocks", profiled.untold), asBytes(profiled.untoldBytes));
}

Sentence profilerSentence(const ProfiledMemory& profiled)
{
    if (profiled.from != ProfiledMemory::From::Trace)
        return timelineSentence(profiled);
    const Sentence what = say(
        "Told by a profiler: requested bytes are rounded ones, a free stands where it was asked for, "
        "reserved "
        "is what was read at each event, and no event tells of segments. %1 of older blocks stay throughout; "
        "where they lie is unknown, so they count as one block.",
        asBytes(profiled.unnamedBytes));
    return profiled.untold == 0
        ? what
        : say("%1 Before %2 more came or went than the trace tells, %3 in all: other threads allocate too.",
            what, asEvents(profiled.untold), asBytes(profiled.untoldBytes));
}

Sentence truncationCause(const Truncation& truncation, bool endKnown, bool baseKnown)
{
    const SentenceArgument offset = asCount(static_cast<std::int64_t>(truncation.offset));
    if (truncation.interrupted)
        return say("%1: the end state is unknown.", truncation.reason);
    if (endKnown)
        return say(
            "The file ends early, at byte %1 (%2): what came after is missing. Copy or record it again.",
            offset, truncation.reason);
    if (baseKnown)
        return say("The file ends early, at byte %1 (%2): what came after is missing, so the end state is "
                   "unknown; curves begin at the state that the recording found. Copy or record it again.",
            offset, truncation.reason);
    return say(
        "The file ends early, at byte %1 (%2): what came after is missing, so the end state is unknown "
        "and curves begin at what the trace itself tells. Copy or record it again.",
        offset, truncation.reason);
}

void addTimeNote(const TraceNotes& notes, FindingList& findings)
{
    if (notes.backwards == 0)
        return;
    findings.add(Finding{ Check::TimeBackwards, notes.firstBackwards, 0, notes.backwards,
        say("Time goes backwards at %1: the clock of the machine was set, or threads wrote out of order. The "
            "order of events is kept.",
            asEvents(notes.backwards)) });
}

} // namespace

EventChecks::EventChecks(const BlockColumns& blocks, const OlderBlocks& older, std::int64_t requestedStart,
    std::int64_t reservedStart)
    : m_older(older.contradicted.size())
    , m_requestedStart(requestedStart)
    , m_reservedStart(reservedStart)
    , m_requested(requestedStart)
    , m_reserved(reservedStart)
{
    for (std::size_t row = 0; row < m_older; ++row)
        if (!older.contradicted[row] && blocks.address.older[row] != 0) // else nobody knows where it lies
            begin(blocks, BlockId::older(row), -1);
    compare(-1);
}

void EventChecks::begin(const BlockColumns& blocks, BlockId block, EventIndex e)
{
    const std::uint64_t address = blocks.address[block];
    const std::int64_t bytes = blocks.requestedBytes[block];
    const BlockId other = m_live.insert(address, endOfBlock(address, bytes), block);
    if (!other.valid())
        return;
    m_findings.add(Check::AllocOverlaps, e, bytes, [&] {
        return say("The block at %1 (%2) lies over the block at %3 (%4) that is live: its free is missing, "
                   "the recording has probably lost events.",
            asAddress(address), asExactBytes(bytes), asAddress(blocks.address[other]),
            asExactBytes(blocks.requestedBytes[other]));
    });
}

inline void EventChecks::end(const BlockColumns& blocks, BlockId block)
{
    m_live.erase(blocks.address[block], block);
    m_requested = wrapSub(m_requested, blocks.requestedBytes[block]);
}

inline void EventChecks::compare(EventIndex e)
{
    if (m_requested <= m_reserved)
        return;
    m_above.count += 1;
    m_above.bytes = std::max(m_above.bytes, wrapSub(m_requested, m_reserved));
    if (m_above.count == 1)
        m_above.event = e;
}

/// The contiguous run of events that begins at the next one.
void EventChecks::run(
    const EventColumns& events, const BlockColumns& blocks, const OverwrittenBlocks& overwritten)
{
    const std::span<const Action> actions = events.action.run(m_next);
    const std::span<const BlockId> blocksOf = events.block.run(m_next);
    const std::span<const std::int64_t> sizes = events.bytes.run(m_next);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto e = static_cast<EventIndex>(m_next + i);
        switch (actions[i]) {
        case Action::Alloc:
            if (m_nextOverwritten < overwritten.size() && overwritten[m_nextOverwritten].first == e)
                end(blocks, overwritten[m_nextOverwritten++].second);
            begin(blocks, blocksOf[i], e);
            m_requested = wrapAdd(m_requested, sizes[i]);
            break;
        case Action::FreeCompleted:
            end(blocks, blocksOf[i]);
            break;
        case Action::SegmentAlloc:
        case Action::SegmentMap:
            m_reserved = wrapAdd(m_reserved, sizes[i]);
            break;
        case Action::SegmentFree:
        case Action::SegmentUnmap:
            m_reserved = wrapSub(m_reserved, sizes[i]);
            break;
        default:
            break;
        }
        m_reserved = wrapAdd(m_reserved, events.readDelta(m_next + i));
        compare(e);
    }
    m_next += actions.size();
}

bool EventChecks::append(const EventColumns& events, const BlockColumns& blocks,
    const OverwrittenBlocks& overwritten, const Progress& progress)
{
    const auto count = static_cast<std::size_t>(events.size());
    const std::size_t chunks = count / Column<Action>::kChunk + 1;
    while (m_next < count) {
        if (progress.cancelled())
            return false;
        if (const std::size_t chunk = m_next / Column<Action>::kChunk; chunk % (chunks / 100 + 1) == 0)
            progress({ Stage::Checking, static_cast<std::int64_t>(m_next), static_cast<std::int64_t>(count),
                static_cast<std::int64_t>(count) });
        run(events, blocks, overwritten);
    }
    return true;
}

void EventChecks::addTo(FindingList& findings, bool startKnown) const
{
    findings.add(m_findings);
    if (m_above.count == 0 || !startKnown)
        return;
    Finding above = m_above;
    above.cause = say("Blocks add up to as much as %1 more than all segments after %2, first after event %3: "
                      "the trace and the segments are not of the same run, or events are missing.",
        asBytes(above.bytes), asEvents(above.count), above.event);
    findings.add(std::move(above));
}

void checkEndState(const DeviceRecording& device, const Totals& totals, FindingList& findings)
{
    const EventIndex last = totals.events - 1;
    const FinalSegment* previous = nullptr;
    for (const FinalSegment& segment : device.finalSegments) {
        const std::uint64_t end = endOfBlock(segment.address, segment.bytes);
        Sums sums;
        std::int64_t outside = 0;
        std::uint64_t at = segment.address;
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const FinalBlock& block = device.finalBlocks[segment.firstBlock + i];
            sums.bytes = wrapAdd(sums.bytes, block.bytes);
            if (block.state == BlockState::Allocated)
                sums.allocated = wrapAdd(sums.allocated, block.bytes);
            if (block.state != BlockState::Inactive) {
                sums.active = wrapAdd(sums.active, block.bytes);
                sums.requested = wrapAdd(sums.requested, block.requestedBytes);
            }
            const std::uint64_t blockEnd = endOfBlock(block.address, block.bytes);
            if (block.address < at || blockEnd > end)
                outside = wrapAdd(outside, block.bytes);
            at = blockEnd;
        }
        if (const auto [worst, how] = compareSums(segment, sums); worst != 0)
            findings.add(Check::SegmentSums, last, worst, [&, h = how] {
                return say("The segment at %1 contradicts its blocks: %2. The snapshot was edited, made by "
                           "another program, or by a faulty version.",
                    asAddress(segment.address), h);
            });
        if (outside != 0)
            findings.add(Check::SegmentSums, last, outside, [&] {
                return say("The segment at %1 has blocks that lie outside of it or over each other: the "
                           "snapshot was edited, or made by another program.",
                    asAddress(segment.address));
            });
        if (previous != nullptr && segment.address < endOfBlock(previous->address, previous->bytes))
            findings.add(Check::SegmentsOverlap, last, std::min(previous->bytes, segment.bytes), [&] {
                return say("The segments at %1 and %2 share addresses: the snapshot was edited, or joins "
                           "those of several processes.",
                    asAddress(previous->address), asAddress(segment.address));
            });
        if (previous == nullptr || end > endOfBlock(previous->address, previous->bytes))
            previous = &segment;
    }
    const auto compare = [&](Check check, English cause, std::int64_t bytes) {
        const std::int64_t above = wrapSub(bytes, totals.reservedBytesEnd);
        if (above > 0)
            findings.add(check, last, above, [&] { return Sentence(cause, { asBytes(above) }); });
    };
    compare(Check::AllocatedAboveReserved,
        English("At the end allocated bytes are %1 more than all segments: the sizes of blocks and segments "
                "contradict each other."),
        totals.allocatedBytesEnd);
    compare(Check::ActiveAboveReserved,
        English("At the end active bytes are %1 more than all segments: the sizes of blocks and segments "
                "contradict each other."),
        totals.activeBytesEnd);
}

void addNotes(const NotesInput& input, FindingList& findings)
{
    const EventIndex last = input.totals.events - 1;
    const TraceNotes& notes = input.notes;
    if (const auto& truncation = input.recording.truncation)
        findings.add(Finding{ truncation->interrupted ? Check::Interrupted : Check::Truncated, last, 0, 1,
            truncationCause(*truncation, input.endKnown, !input.device.base.segments.empty()) });

    const auto hasSegments = [](const DeviceRecording& each) { return !each.finalSegments.empty(); };
    if (!input.endKnown && !input.recording.truncation && !input.device.profiled && !hasSegments(input.device)
        && std::ranges::any_of(input.recording.devices, hasSegments))
        findings.add(Finding{ Check::Cut, -1, 0, 1, mergedSentence(input.recording) });

    if (const auto& profiled = input.device.profiled)
        findings.add(Finding{ Check::FromProfiler, -1, 0, 1, profilerSentence(*profiled) });

    if (const auto& refusal = input.recording.refusal)
        findings.add(Finding{ Check::EventsRefused, -1, 0, 1,
            say("No event was told: %1. What the driver says is all that is known.", *refusal) });

    for (const LostEvents& lost : input.recording.lost) {
        if (lost.device == input.device.device)
            findings.add(
                Check::EventsLost, std::min<std::int64_t>(lost.event, last), 0,
                [&] {
                    return say("%1 before event %2 did not fit the recorder's ring: what is said of memory "
                               "from there on is not exact. Record with a larger ring (--ring).",
                        asEvents(lost.count), asCount(lost.event));
                },
                lost.count);
    }

    const auto cut = input.recording.cuts.find(input.device.device);
    if (cut != input.recording.cuts.end()) {
        findings.add(Finding{ Check::Cut, -1, 0, 1, cutSentence(input, cut->second) });
    } else if (notes.olderFrees > 0) {
        findings.add(
            Finding{ Check::RecordingBeganLate, notes.firstOlderFree, notes.olderFreedBytes, notes.olderFrees,
                say("%1 freed in the trace were allocated before it began: recording was switched on late, "
                    "or its "
                    "ring dropped older events. Who allocated them is unknown.",
                    sayCounted("%1 block", "%1 blocks", notes.olderFrees)) });
    }

    addRingNote(input, findings);
    addTimeNote(notes, findings);

    Finding pending{ Check::PendingFrees, last, 0, 0,
        say("Blocks were freed and still wait for another stream to finish with them: they cannot be used "
            "again yet.") };
    for (const FinalBlock& block : input.device.finalBlocks)
        if (block.state == BlockState::PendingFree) {
            ++pending.count;
            pending.bytes = wrapAdd(pending.bytes, block.requestedBytes);
        }
    if (pending.count > 0)
        findings.add(std::move(pending));

    if (input.totals.events == 0 && !input.recording.refusal)
        findings.add(Finding{ Check::NoEvents, -1, 0, 1,
            say("The snapshot has no events: recording was off. Call "
                "torch.cuda.memory._record_memory_history() before the code to be seen.") });

    const std::map<std::string, std::int64_t> lost = lostKeys(input.recording);
    const std::string_view state = kUnknownState;
    for (const auto& [key, count] : input.recording.unknownKeys)
        findings.add(Finding{ Check::UnknownContent, -1, 0, count,
            key.starts_with(state)
                ? say("Strata does not know the block state %1. Such blocks count as in use unless the name "
                      "says inactive or free.",
                      key.substr(state.size()))
                : lost.contains(key) ? say("Strata does not know the key %1 and does not keep it.", key)
                                     : say("Strata does not know the key %1; it is kept.", key) });
    for (const auto& [name, count] : input.totals.actions)
        if (!actionFromName(name))
            findings.add(Finding{ Check::UnknownContent, -1, 0, count,
                say("Strata does not know the action %1; its events are kept and change nothing.", name) });
}

} // namespace strata::model
