// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/blocks_table.h"

#include "model/base/units.h"
#include "model/trace/grouping.h"
#include "views/models/csv.h"
#include "views/models/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace strata::views {

using model::BlockId;
using model::EventId;
using model::EventIndex;

BlocksTable::BlocksTable(std::shared_ptr<const DeviceData> device, model::Axis axis)
    : m_device(std::move(device))
    , m_times(axis == model::Axis::Time && m_device->timeline->clock().hasTimes())
{
    const QString moment = m_times ? QStringLiteral("1,234.567890") : QStringLiteral("88,888,888");
    const QString unit = m_times ? tr(" (s)") : tr(" (event)");
    const QString address = QStringLiteral("0xbbbbbbbbbbbb");
    const QString size = QStringLiteral("1,023");
    const QString iec = QStringLiteral("MiB");
    m_columns = {
        { tr("Block"), tr("Number of the block: lifetimes in order of birth"), QStringLiteral("8,888,888"),
            true },
        { tr("Requested"), tr("What the program asked for"), size, true, iec },
        { tr("Rounded"), tr("What the allocator handed out"), size, true, iec },
        { tr("Line"), tr("Innermost frame of your own code at the allocation"),
            QStringLiteral("transformer.py:1234 forward"), false, {}, true },
        { tr("Born") + unit, tr("When the block was allocated"), moment, true },
        { tr("Free requested"), tr("When the program gave the block back (free_requested)"), moment, true },
        { tr("Freed"), tr("When the memory could be used again (free_completed)"), moment, true },
        { m_times ? tr("Lifetime") : tr("Lifetime (events)"),
            tr("From born to freed; \"over\" where one of them lies outside the trace"),
            QStringLiteral("over 888,888"), true },
        { tr("Stream"), tr("CUDA stream of the allocation"), QStringLiteral("8888"), true },
        { tr("Pool"), tr("Pool of the caching allocator"), QStringLiteral("(0,1)/large"), false },
        { tr("Address"), tr("Where the block begins. Addresses are used again: see born and freed"), address,
            true },
        { tr("Segment"), tr("Address of the segment that holds the block"), address, true },
    };
}

std::uint32_t BlocksTable::rowCount() const
{
    return static_cast<std::uint32_t>(blocks().size());
}

TableCell BlocksTable::cell(std::uint32_t row, int column) const
{
    const model::Recording& recording = m_device->trace->recording();
    const BlockId block{ row };
    switch (column) {
    case Block:
        return { countText(row), {} };
    case Address:
        return { addressText(blocks().address[row]), {} };
    case Segment:
        if (const model::SegmentLife* segment = segmentOf(block))
            return { addressText(segment->address), {} };
        return noteCell(tr("unknown"));
    case Requested:
        return bytesCell(blocks().requestedBytes[row]);
    case Rounded:
        if (blocks().rounding[row] == model::BlockColumns::kRoundingUnknown)
            return {};
        return bytesCell(blocks().requestedBytes[row] + blocks().rounding[row]);
    case Stream:
        return { streamText(recording, blocks().stream[row]), {} };
    case Pool:
        if (blocks().pool[row] == model::kNoIndex)
            return noteCell(fromUtf8(model::poolLabel(recording, model::kNoIndex)));
        return { fromUtf8(model::poolLabel(recording, blocks().pool[row])), {} };
    case Born:
        return blocks().alloc[row].valid() ? momentCell(blocks().alloc[row]) : noteCell(tr("before"));
    case FreeRequested:
        return momentCell(blocks().freeRequested[row]);
    case Freed:
        return blocks().freeCompleted[row].valid() ? momentCell(blocks().freeCompleted[row])
                                                   : noteCell(tr("live"));
    case Lifetime:
        return lifetimeCell(block);
    case Line: {
        TableCell cell = lineCell(recording, blocks().stack[row]);
        const std::uint32_t group = m_device->byLine ? m_device->byLine->groupOf(block) : 0;
        if (group < m_device->lineRank.size())
            cell.swatch = m_device->lineRank[group];
        return cell;
    }
    default:
        return {};
    }
}

TableCell BlocksTable::momentCell(EventId event) const
{
    if (!event.valid())
        return {};
    if (!m_times)
        return { countText(event.value), {} };
    const model::Clock& clock = m_device->timeline->clock();
    return { secondsText(clock.timeNs(event.value) - clock.startNs()), {} };
}

TableCell BlocksTable::lifetimeCell(BlockId block) const
{
    const bool whole = blocks().alloc[block.index()].valid() && blocks().freeCompleted[block.index()].valid();
    const auto length = static_cast<std::int64_t>(lifetime(block));
    const QString text = m_times ? fromUtf8(model::formatDuration(length)) : countText(length);
    return { whole ? text : tr("over %1").arg(text), {} };
}

std::uint64_t BlocksTable::lifetime(BlockId block) const
{
    const EventIndex last = m_device->trace->eventCount() - 1;
    const EventIndex from = blocks().birth(block);
    const EventIndex to = std::max(from, std::min(blocks().death(block), last));
    if (!m_times)
        return static_cast<std::uint64_t>(to - from);
    const model::Clock& clock = m_device->timeline->clock();
    return static_cast<std::uint64_t>(clock.timeNs(to) - clock.timeNs(from));
}

const model::SegmentLife* BlocksTable::segmentOf(BlockId block) const
{
    return m_device->trace->segmentAt(blocks().address[block.index()], blocks().birth(block));
}

QString BlocksTable::momentTooltip(EventId event) const
{
    const QString number = tr("event %1").arg(countText(event.value));
    const model::Clock& clock = m_device->timeline->clock();
    if (!clock.hasTimes())
        return number;
    return tr("%1, %2 s after the first event")
        .arg(number, secondsText(clock.timeNs(event.value) - clock.startNs()));
}

QString BlocksTable::tooltip(std::uint32_t row, int column) const
{
    switch (column) {
    case Requested:
        return exactBytesText(blocks().requestedBytes[row]);
    case Rounded:
        if (blocks().rounding[row] == model::BlockColumns::kRoundingUnknown)
            return tr("Unknown: a trace records requested sizes. The rounded size is known for the blocks\n"
                      "that are there at the end, from the segments of the snapshot.");
        return tr("%1, %2 more than requested")
            .arg(exactBytesText(blocks().requestedBytes[row] + blocks().rounding[row]),
                exactBytesText(blocks().rounding[row]));
    case Segment:
        if (segmentOf(BlockId{ row }) == nullptr)
            return tr("No segment of the recording held this address when the block was born.");
        return {};
    case Born:
        return blocks().alloc[row].valid() ? momentTooltip(blocks().alloc[row])
                                           : tr("Older than the trace: recording began after its birth.");
    case FreeRequested:
        return blocks().freeRequested[row].valid() ? momentTooltip(blocks().freeRequested[row]) : QString();
    case Freed:
        return blocks().freeCompleted[row].valid() ? momentTooltip(blocks().freeCompleted[row])
                                                   : tr("Still live at the end of the trace.");
    case Line:
        return lineTooltip(m_device->trace->recording(), blocks().stack[row]);
    default:
        return {};
    }
}

TableSource::Key BlocksTable::sortKey(int column) const
{
    const model::BlockColumns& b = blocks();
    const auto eventKey = [](EventId event) {
        return event.valid() ? std::optional<std::uint64_t>(event.value) : std::nullopt;
    };
    switch (column) {
    case Address:
        return [&b](std::uint32_t row) { return b.address[row]; };
    case Segment:
        return [this](std::uint32_t row) {
            const model::SegmentLife* segment = segmentOf(BlockId{ row });
            return segment ? std::optional<std::uint64_t>(segment->address) : std::nullopt;
        };
    case Requested:
        return [&b](std::uint32_t row) { return orderedKey(b.requestedBytes[row]); };
    case Rounded:
        return [&b](std::uint32_t row) {
            return b.rounding[row] == model::BlockColumns::kRoundingUnknown
                ? std::nullopt
                : std::optional<std::uint64_t>(orderedKey(b.requestedBytes[row] + b.rounding[row]));
        };
    case Stream:
        return [this, &b](std::uint32_t row) -> std::optional<std::uint64_t> {
            const std::vector<std::int64_t>& streams = m_device->trace->recording().streams;
            return b.stream[row] < streams.size() ? std::optional(orderedKey(streams[b.stream[row]]))
                                                  : std::nullopt;
        };
    case Pool:
        return [ranks = poolRanks(m_device->trace->recording()), &b](std::uint32_t row) {
            return std::optional<std::uint64_t>(ranks[std::min<std::size_t>(b.pool[row], ranks.size() - 1)]);
        };
    case Born:
        return [&b](std::uint32_t row) { return orderedKey(b.birth(BlockId{ row })); };
    case FreeRequested:
        return [&b, eventKey](std::uint32_t row) { return eventKey(b.freeRequested[row]); };
    case Freed:
        return [&b, eventKey](std::uint32_t row) { return eventKey(b.freeCompleted[row]); };
    case Lifetime:
        return [this](std::uint32_t row) { return lifetime(BlockId{ row }); };
    case Line: {
        std::vector<std::string> labels;
        for (std::uint32_t group = 0; group < m_device->byLine->count(); ++group)
            labels.push_back(m_device->byLine->label(group));
        return [this, ranks = alphabeticalRanks(labels)](
                   std::uint32_t row) { return ranks[m_device->byLine->groupOf(BlockId{ row })]; };
    }
    default:
        return [](std::uint32_t row) { return row; };
    }
}

TableSource::Match BlocksTable::matcher(
    const std::vector<model::BlockFilter>& filters, const std::optional<EventRange>& range) const
{
    std::vector<model::BlockMatcher> matchers;
    for (const model::BlockFilter& filter : filters) {
        if (!filter.empty())
            matchers.emplace_back(*m_device->trace, filter);
    }
    if (matchers.empty() && !range)
        return {};
    const model::BlockColumns& b = blocks();
    return
        [&b, range, shared = std::make_shared<const std::vector<model::BlockMatcher>>(std::move(matchers))](
            std::uint32_t row) {
            const BlockId block{ row };
            if (range && (b.birth(block) > range->last || b.death(block) <= range->first))
                return false;
            return std::all_of(
                shared->begin(), shared->end(), [block](const model::BlockMatcher& m) { return m(block); });
        };
}

void BlocksTable::add(TableSums& sums, std::uint32_t row) const
{
    sums.first += blocks().requestedBytes[row];
}

std::string BlocksTable::csvHeader() const
{
    return "block,address,segment_address,requested_bytes,rounded_bytes,stream,pool,alloc_event,"
           "free_requested_event,free_completed_event,stack,line\n";
}

void BlocksTable::appendCsv(std::string& to, std::uint32_t row) const
{
    const model::Recording& recording = m_device->trace->recording();
    const model::BlockColumns& b = blocks();
    const auto out = std::back_inserter(to);
    const auto eventField = [&to, out](EventId event) {
        if (event.valid())
            fmt::format_to(out, "{}", event.value);
        to += ',';
    };
    fmt::format_to(out, "{},0x{:x},", row, b.address[row]);
    if (const model::SegmentLife* segment = segmentOf(BlockId{ row }))
        fmt::format_to(out, "0x{:x}", segment->address);
    fmt::format_to(out, ",{},", b.requestedBytes[row]);
    if (b.rounding[row] != model::BlockColumns::kRoundingUnknown)
        fmt::format_to(out, "{}", b.requestedBytes[row] + b.rounding[row]);
    to += ',';
    if (b.stream[row] < recording.streams.size())
        fmt::format_to(out, "{}", recording.streams[b.stream[row]]);
    to += ',';
    appendCsvField(to, model::poolLabel(recording, b.pool[row]));
    to += ',';
    eventField(b.alloc[row]);
    eventField(b.freeRequested[row]);
    eventField(b.freeCompleted[row]);
    if (b.stack[row].valid())
        fmt::format_to(out, "{}", b.stack[row].value);
    to += ',';
    appendCsvField(to, model::frameLabel(recording, model::userFrame(recording, b.stack[row])));
    to += '\n';
}

QString BlocksTable::stackText(std::uint32_t row) const
{
    return views::stackText(m_device->trace->recording(), blocks().stack[row]);
}

} // namespace strata::views
