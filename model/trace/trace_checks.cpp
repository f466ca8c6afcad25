// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/trace_checks.h"

#include "model/base/units.h"
#include "model/trace/live_extents.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace strata::model {

namespace {

std::uint64_t endOfBlock(std::uint64_t address, std::int64_t bytes)
{
    const std::uint64_t end = address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
    return end <= address ? std::numeric_limits<std::uint64_t>::max() : end;
}

class EventChecker {
public:
    EventChecker(const CheckInput& input, FindingList& findings)
        : m_events(input.device.events)
        , m_blocks(input.blocks)
        , m_findings(findings)
        , m_startKnown(input.endKnown || !input.device.base.segments.empty())
        , m_requested(input.totals.requestedBytesStart)
        , m_reserved(input.totals.reservedBytesStart)
        , m_overwritten(input.pairing.overwritten())
    {
        const std::vector<bool>& contradicted = input.pairing.contradicted();
        for (std::uint32_t row = m_blocks.olderFrom; row < m_blocks.size(); ++row)
            if (!contradicted[row - m_blocks.olderFrom])
                begin(BlockId{ row }, -1);
        compare(-1);
    }

    void run(std::size_t first);
    void finish();

private:
    void begin(BlockId block, EventIndex e)
    {
        const std::uint64_t address = m_blocks.address[block.index()];
        const std::int64_t bytes = m_blocks.requestedBytes[block.index()];
        const BlockId other = m_live.insert(address, endOfBlock(address, bytes), block);
        if (other.valid())
            reportOverlap(block, other, e);
    }
    void end(BlockId block)
    {
        m_live.erase(m_blocks.address[block.index()], block);
        m_requested = wrapSub(m_requested, m_blocks.requestedBytes[block.index()]);
    }
    void compare(EventIndex e)
    {
        if (m_requested <= m_reserved)
            return;
        m_above.count += 1;
        m_above.bytes = std::max(m_above.bytes, wrapSub(m_requested, m_reserved));
        if (m_above.count == 1)
            m_above.event = e;
    }
    void reportOverlap(BlockId block, BlockId other, EventIndex e);

    const EventColumns& m_events;
    const BlockColumns& m_blocks;
    FindingList& m_findings;
    bool m_startKnown; // else both curves are relative
    std::int64_t m_requested, m_reserved;
    LiveExtents m_live;
    const std::vector<std::pair<std::uint32_t, BlockId>>& m_overwritten;
    std::size_t m_nextOverwritten = 0;
    Finding m_above{ Check::RequestedAboveReserved, -1, 0, 0, {} };
};

void EventChecker::reportOverlap(BlockId block, BlockId other, EventIndex e)
{
    const std::int64_t bytes = m_blocks.requestedBytes[block.index()];
    m_findings.add(Check::AllocOverlaps, e, bytes, [&] {
        return fmt::format(
            "The block at {} ({}) lies over the block at {} ({}) that is live: its free is missing, "
            "the recording has probably lost events.",
            formatAddress(m_blocks.address[block.index()]), formatExactBytes(bytes),
            formatAddress(m_blocks.address[other.index()]),
            formatExactBytes(m_blocks.requestedBytes[other.index()]));
    });
}

/// The contiguous run of events that begins at `first`.
void EventChecker::run(std::size_t first)
{
    const std::span<const Action> actions = m_events.action.run(first);
    const std::span<const BlockId> blocks = m_events.block.run(first);
    const std::span<const std::int64_t> sizes = m_events.bytes.run(first);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto e = static_cast<EventIndex>(first + i);
        switch (actions[i]) {
        case Action::Alloc:
            if (m_nextOverwritten < m_overwritten.size() && m_overwritten[m_nextOverwritten].first == e)
                end(m_overwritten[m_nextOverwritten++].second);
            begin(blocks[i], e);
            m_requested = wrapAdd(m_requested, sizes[i]);
            break;
        case Action::FreeCompleted:
            end(blocks[i]);
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
        compare(e);
    }
}

void EventChecker::finish()
{
    if (m_above.count == 0 || !m_startKnown)
        return;
    m_above.cause = fmt::format(
        "Blocks add up to as much as {} more than all segments after {} event{}, first "
        "after event {}: the trace and the segments are not of the same run, or events "
        "are missing.",
        formatBytes(m_above.bytes), formatCount(m_above.count), m_above.count == 1 ? "" : "s", m_above.event);
    m_findings.add(m_above);
}

struct Sums {
    std::int64_t bytes = 0, allocated = 0, active = 0, requested = 0;
};

/// The greatest difference between what a segment says of itself and what its blocks add up to.
std::pair<std::int64_t, std::string> compareSums(const FinalSegment& segment, const Sums& sums)
{
    std::int64_t worst = 0;
    std::string text;
    const auto compare = [&](std::string_view name, std::int64_t said, std::int64_t is, bool present) {
        if (!present || said == is)
            return;
        const std::int64_t difference = wrapSub(said, is);
        const auto size = [](std::int64_t x) {
            return x < 0 ? ~static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
        };
        if (size(difference) > size(worst))
            worst = difference;
        text += fmt::format("{}{} is {}, its blocks add up to {}", text.empty() ? "" : "; ", name,
            formatExactBytes(said), formatExactBytes(is));
    };
    compare("size", segment.bytes, sums.bytes, true);
    compare("allocated size", segment.allocatedBytes, sums.allocated, segment.allocatedBytes >= 0);
    compare("active size", segment.activeBytes, sums.active, segment.activeBytes >= 0);
    compare("requested size", segment.requestedBytes, sums.requested, segment.requestedBytes >= 0);
    return { worst, text };
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
    const auto note = [&](std::string text) {
        findings.add(Finding{ Check::RingWrapped, -1, 0, 1, std::move(text) });
    };
    if (const std::string* const overflowed = settingOf("trace_alloc_overflowed"))
        if (*overflowed != "false" && *overflowed != "0" && *overflowed != "null") {
            note("The recorder says that its ring was full: older events are gone. Record with a larger "
                 "max_entries.");
            return;
        }
    const std::string* const limit = settingOf("trace_alloc_max_entries");
    if (limit != nullptr && *limit == std::to_string(count) && count > 0) {
        note(fmt::format(
            "The trace has as many events as the recorder keeps ({}): older ones are probably gone. "
            "Record with a larger max_entries.",
            formatCount(count)));
    } else if (limit == nullptr && count == 1) {
        note("The trace has a single event: the recorder was probably in the mode \"state\", which keeps the "
             "last "
             "event alone. Record with enabled=\"all\" to see memory over time.");
    } else if (limit == nullptr && count >= 10'000 && count % 10'000 == 0) {
        note(fmt::format(
            "The trace has exactly {} events: a guess from the round number is that max_entries was "
            "reached and older events are gone.",
            formatCount(count)));
    }
}

void addTimeNote(const TraceNotes& notes, FindingList& findings)
{
    if (notes.backwards == 0)
        return;
    findings.add(Finding{ Check::TimeBackwards, notes.firstBackwards, 0, notes.backwards,
        fmt::format("Time goes backwards at {} event{}: the clock of the machine was set, or threads "
                    "wrote out of order. The order of events is kept.",
            formatCount(notes.backwards), notes.backwards == 1 ? "" : "s") });
}

} // namespace

bool checkEvents(const CheckInput& input, FindingList& findings, const Progress& progress)
{
    EventChecker checker(input, findings);
    const auto count = static_cast<std::size_t>(input.device.events.size());
    const std::size_t chunks = count / Column<Action>::kChunk + 1;
    for (std::size_t first = 0; first < count; first += Column<Action>::kChunk) {
        if (progress.cancelled())
            return false;
        if (const std::size_t chunk = first / Column<Action>::kChunk; chunk % (chunks / 100 + 1) == 0)
            progress({ Stage::Checking, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count),
                static_cast<std::int64_t>(count) });
        checker.run(first);
    }
    checker.finish();
    return true;
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
        if (const auto [worst, text] = compareSums(segment, sums); worst != 0)
            findings.add(Check::SegmentSums, last, worst, [&, t = text] {
                return fmt::format(
                    "The segment at {} contradicts its blocks: {}. The snapshot was edited, made by "
                    "another program, or by a faulty version.",
                    formatAddress(segment.address), t);
            });
        if (outside != 0)
            findings.add(Check::SegmentSums, last, outside, [&] {
                return fmt::format(
                    "The segment at {} has blocks that lie outside of it or over each other: the "
                    "snapshot was edited, or made by another program.",
                    formatAddress(segment.address));
            });
        if (previous != nullptr && segment.address < endOfBlock(previous->address, previous->bytes))
            findings.add(Check::SegmentsOverlap, last, std::min(previous->bytes, segment.bytes), [&] {
                return fmt::format(
                    "The segments at {} and {} share addresses: the snapshot was edited, or joins "
                    "those of several processes.",
                    formatAddress(previous->address), formatAddress(segment.address));
            });
        if (previous == nullptr || end > endOfBlock(previous->address, previous->bytes))
            previous = &segment;
    }
    const auto compare = [&](Check check, std::string_view name, std::int64_t bytes) {
        const std::int64_t above = wrapSub(bytes, totals.reservedBytesEnd);
        if (above > 0)
            findings.add(check, last, above, [&] {
                return fmt::format(
                    "At the end {} bytes are {} more than all segments: the sizes of blocks and "
                    "segments contradict each other.",
                    name, formatBytes(above));
            });
    };
    compare(Check::AllocatedAboveReserved, "allocated", totals.allocatedBytesEnd);
    compare(Check::ActiveAboveReserved, "active", totals.activeBytesEnd);
}

TraceNotes traceNotes(const CheckInput& input)
{
    TraceNotes notes;
    for (std::uint32_t row = input.blocks.olderFrom; row < input.blocks.size(); ++row) {
        const EventId free = input.blocks.freeCompleted[row];
        if (!free.valid() || input.pairing.contradicted()[row - input.blocks.olderFrom])
            continue;
        if (notes.olderFrees++ == 0)
            notes.firstOlderFree = free.value;
        notes.olderFreedBytes = wrapAdd(notes.olderFreedBytes, input.blocks.requestedBytes[row]);
    }
    const Column<std::int64_t>& columns = input.device.events.timeNs;
    std::int64_t previous = std::numeric_limits<std::int64_t>::min();
    for (std::size_t first = 0; first < columns.size(); first += Column<std::int64_t>::kChunk) {
        const std::span<const std::int64_t> times = columns.run(first);
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (times[i] < previous && notes.backwards++ == 0)
                notes.firstBackwards = static_cast<EventIndex>(first + i);
            previous = times[i];
        }
    }
    return notes;
}

void addNotes(const NotesInput& input, FindingList& findings)
{
    const EventIndex last = input.totals.events - 1;
    const TraceNotes& notes = input.notes;
    if (const auto& truncation = input.recording.truncation)
        findings.add(Finding{ Check::Truncated, last, 0, 1,
            fmt::format("The file ends early, at byte {} ({}): what came after is missing{}. Copy or record "
                        "it again.",
                formatCount(static_cast<std::int64_t>(truncation->offset)), truncation->reason,
                input.endKnown                            ? ""
                    : !input.device.base.segments.empty() ? ", so the end state is unknown; curves begin at "
                                                            "the state that the recording found"
                                                          : ", so the end state is unknown and curves begin "
                                                            "at what the trace itself tells") });

    if (const auto refused = input.recording.facts.find("refused"); refused != input.recording.facts.end())
        findings.add(Finding{ Check::EventsRefused, -1, 0, 1,
            fmt::format(
                "No event was told: {}. What the driver says is all that is known.", refused->second) });

    for (const LostEvents& lost : input.recording.lost) {
        if (lost.device == input.device.device)
            findings.add(
                Check::EventsLost, std::min<std::int64_t>(lost.event, last), 0,
                [&] {
                    return fmt::format(
                        "{} event{} before event {} did not fit the recorder's ring: what is said "
                        "of memory from there on is not exact. Record with a larger ring (--ring).",
                        formatCount(lost.count), lost.count == 1 ? "" : "s", formatCount(lost.event));
                },
                lost.count);
    }

    const auto cut = input.recording.cuts.find(input.device.device);
    if (cut != input.recording.cuts.end()) {
        const auto& [before, after] = cut->second;
        findings.add(Finding{ Check::Cut, -1, 0, 1,
            fmt::format("{} event{} before and {} after were left out when this was shared{}.",
                formatCount(before), before == 1 ? "" : "s", formatCount(after),
                after > 0 ? ", so rounded sizes, allocated and active among them, are lower bounds at the end"
                          : "") });
    } else if (notes.olderFrees > 0) {
        findings.add(Finding{ Check::RecordingBeganLate, notes.firstOlderFree, notes.olderFreedBytes,
            notes.olderFrees,
            fmt::format("{} block{} freed in the trace were allocated before it began: recording was "
                        "switched on late, or its ring dropped older events. Who allocated them is unknown.",
                formatCount(notes.olderFrees), notes.olderFrees == 1 ? "" : "s") });
    }

    addRingNote(input, findings);
    addTimeNote(notes, findings);

    Finding pending{ Check::PendingFrees, last, 0, 0,
        "Blocks were freed and still wait for another stream to "
        "finish with them: they cannot be used again yet." };
    for (const FinalBlock& block : input.device.finalBlocks)
        if (block.state == BlockState::PendingFree) {
            ++pending.count;
            pending.bytes = wrapAdd(pending.bytes, block.requestedBytes);
        }
    if (pending.count > 0)
        findings.add(std::move(pending));

    if (input.totals.events == 0 && !input.recording.facts.contains("refused"))
        findings.add(Finding{ Check::NoEvents, -1, 0, 1,
            "The snapshot has no events: recording was off. Call torch.cuda.memory._record_memory_history() "
            "before the code to be seen." });

    for (const auto& [key, count] : input.recording.unknownKeys)
        findings.add(Finding{ Check::UnknownContent, -1, 0, count,
            fmt::format("Strata does not know the key {}; it is kept.", key) });
    for (const auto& [name, count] : input.totals.actions)
        if (!actionFromName(name))
            findings.add(Finding{ Check::UnknownContent, -1, 0, count,
                fmt::format(
                    "Strata does not know the action {}; its events are kept and change nothing.", name) });
}

} // namespace strata::model
