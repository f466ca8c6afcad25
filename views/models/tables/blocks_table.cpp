// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/blocks_table.h"

#include "model/base/units.h"
#include "model/trace/filter/grouping.h"
#include "views/models/document/every_filter.h"
#include "views/models/tables/csv.h"
#include "views/models/tables/table_cells.h"
#include "views/style/palette.h"
#include "views/style/texts.h"

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
        { tr("Block"), tr("Number of the block: lifetimes in order of birth; below 0: older than the trace"),
            QStringLiteral("8,888,888"), true },
        { tr("Requested"), tr("What the program asked for"), size, true, iec },
        { tr("Rounded"), tr("What the allocator handed out"), size, true, iec },
        { tr("Line"), tr("Innermost frame of your own code at the allocation"),
            QStringLiteral("transformer.py:1234 forward"), false, {}, true },
        { tr("Category"), tr("What the block is for, and what told it: see its details"),
            tr("Optimizer state"), false },
        { tr("Module"), tr("Whose forward asked for it, or whose tensor lies in it"),
            QStringLiteral("layers.12.attention"), false },
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

std::optional<std::uint32_t> BlocksTable::sameRow(const TableSource& other, std::uint32_t row) const
{
    const model::DeviceTrace& before = *static_cast<const BlocksTable&>(other).m_device->trace;
    const BlockId block = m_device->trace->sameBlock(before, before.blocks().at(row));
    return block.valid() ? std::optional(static_cast<std::uint32_t>(blocks().placeOf(block))) : std::nullopt;
}

TableCell BlocksTable::cell(std::uint32_t row, int column) const
{
    const model::Recording& recording = m_device->trace->recording();
    const BlockId block = blocks().at(row);
    switch (column) {
    case Block:
        return { text::count(block.value), {} };
    case Address:
        return { text::address(blocks().address[block]), {} };
    case Segment:
        if (const model::SegmentLife* segment = segmentOf(block))
            return { text::address(segment->address), {} };
        return noteCell(tr("unknown"));
    case Requested:
        return bytesCell(blocks().requestedBytes[block]);
    case Rounded:
        if (const auto rounded = m_device->sizes().bytes(block))
            return bytesCell(*rounded);
        return {};
    case Stream:
        return { text::stream(recording, blocks().stream[block]), {} };
    case Pool:
        if (blocks().pool[block] == model::kNoIndex)
            return noteCell(text::utf8(model::poolLabel(recording, model::kNoIndex)));
        return { text::utf8(model::poolLabel(recording, blocks().pool[block])), {} };
    case Born:
        return blocks().allocOf(block).valid() ? momentCell(blocks().allocOf(block)) : noteCell(tr("before"));
    case FreeRequested:
        return momentCell(blocks().freeRequested[block]);
    case Freed:
        return blocks().freeCompleted[block].valid() ? momentCell(blocks().freeCompleted[block])
                                                     : noteCell(tr("live"));
    case Lifetime:
        return lifetimeCell(block);
    case Line: {
        TableCell cell = lineCell(recording, blocks().stack[block]);
        const std::uint32_t group = m_device->byLine ? m_device->byLine->groupOf(block) : 0;
        if (group < m_device->lineRank.size())
            cell.swatch = m_device->lineRank[group];
        return cell;
    }
    case Category:
        return categoryCell(block);
    case Module:
        return moduleCell(block);
    default:
        return {};
    }
}

const TrainingData* BlocksTable::training() const
{
    const TrainingData* const known = m_device->training.get();
    return known && known->categories && known->knowsBlocksOf(*m_device) ? known : nullptr;
}

const TrainingData* BlocksTable::trainingOf(BlockId block) const
{
    const TrainingData* const known = training();
    return known && known->knows(block) ? known : nullptr;
}

TableCell BlocksTable::categoryCell(BlockId block) const
{
    if (!training())
        return noteCell(tr("not known yet"));
    const TrainingData* const known = trainingOf(block);
    const model::Category category = known ? known->categories->of(block).category : model::Category::Unknown;
    return { text::said(model::categoryTitle(category)), {},
        Palette::ofCategory(static_cast<int>(category)) };
}

TableCell BlocksTable::moduleCell(BlockId block) const
{
    const TrainingData* const known = trainingOf(block);
    if (!known)
        return noteCell(tr("not known yet"));
    const std::string_view module = model::moduleOf(*known->trace, known->categories->tensors(), block);
    return module.empty() ? noteCell(tr("none")) : TableCell{ text::utf8(module), {} };
}

QString BlocksTable::categoryTooltip(BlockId block) const
{
    const TrainingData* const known = trainingOf(block);
    if (!known)
        return tr("What blocks are for is looked for in the background.");
    const model::BlockCategory& category = known->categories->of(block);
    return (category.recorded ? tr("Recorded: %1") : tr("Inferred: %1"))
        .arg(text::said(model::whyOf(category.rule)));
}

TableCell BlocksTable::momentCell(EventId event) const
{
    if (!event.valid())
        return {};
    if (!m_times)
        return { text::count(event.value), {} };
    const model::Clock& clock = m_device->timeline->clock();
    return { text::seconds(clock.timeNs(event.value) - clock.startNs()), {} };
}

TableCell BlocksTable::lifetimeCell(BlockId block) const
{
    const bool whole = !block.isOlder() && blocks().freeCompleted[block].valid();
    const std::int64_t length = m_times
        ? model::lifetimeNs(*m_device->trace, block, m_device->timeline->clock())
        : model::lifetimeEvents(*m_device->trace, block);
    const QString text = m_times ? text::duration(length) : text::count(length);
    return { whole ? text : tr("over %1").arg(text), {} };
}

const model::SegmentLife* BlocksTable::segmentOf(BlockId block) const
{
    return m_device->trace->segmentAt(blocks().address[block], blocks().birth(block));
}

QString BlocksTable::momentTooltip(EventId event) const
{
    const QString number = tr("event %1").arg(text::count(event.value));
    const model::Clock& clock = m_device->timeline->clock();
    if (!clock.hasTimes())
        return number;
    return tr("%1, %2 s after the first event")
        .arg(number, text::seconds(clock.timeNs(event.value) - clock.startNs()));
}

QString BlocksTable::tooltip(std::uint32_t row, int column) const
{
    const BlockId block = blocks().at(row);
    switch (column) {
    case Requested:
        return text::exactBytes(blocks().requestedBytes[block]);
    case Rounded:
        if (const auto more = m_device->sizes().rounding(block))
            return tr("%1, %2 more than requested")
                .arg(text::exactBytes(blocks().requestedBytes[block] + *more), text::exactBytes(*more));
        return tr("Unknown: a trace records requested sizes. The rounded size is known for the blocks\n"
                  "that are there at the end, from the segments of the snapshot, and for all where the\n"
                  "replay of the allocator is exact.");
    case Segment:
        if (segmentOf(block) == nullptr)
            return tr("No segment of the recording held this address when the block was born.");
        return {};
    case Born:
        return blocks().allocOf(block).valid() ? momentTooltip(blocks().allocOf(block))
                                               : tr("Older than the trace: recording began after its birth.");
    case FreeRequested:
        return blocks().freeRequested[block].valid() ? momentTooltip(blocks().freeRequested[block])
                                                     : QString();
    case Freed:
        return blocks().freeCompleted[block].valid() ? momentTooltip(blocks().freeCompleted[block])
                                                     : tr("Still live at the end of the trace.");
    case Line:
        return lineTooltip(m_device->trace->recording(), blocks().stack[block]);
    case Category:
        return categoryTooltip(block);
    default:
        return {};
    }
}

model::BlockOrder BlocksTable::order(int column) const
{
    using model::BlockOrder;
    switch (column) {
    case Requested:
        return BlockOrder::Requested;
    case Rounded:
        return BlockOrder::Rounded;
    case Line:
        return BlockOrder::Line;
    case Category:
        return BlockOrder::Category;
    case Module:
        return BlockOrder::Module;
    case Born:
        return BlockOrder::Born;
    case FreeRequested:
        return BlockOrder::FreeRequested;
    case Freed:
        return BlockOrder::Freed;
    case Lifetime:
        return m_times ? BlockOrder::Duration : BlockOrder::Lifetime;
    case Stream:
        return BlockOrder::Stream;
    case Pool:
        return BlockOrder::Pool;
    case Address:
        return BlockOrder::Address;
    case Segment:
        return BlockOrder::Segment;
    default:
        return BlockOrder::Block;
    }
}

TableSource::Key BlocksTable::sortKey(int column) const
{
    return model::rowKey(*m_device->trace, order(column), m_device->sizes(),
        training() ? m_device->labels() : model::DeviceLabels(), m_device->byLine,
        std::shared_ptr<const model::Clock>(m_device->timeline, &m_device->timeline->clock()));
}

QString BlocksTable::sortName(int column) const
{
    return text::utf8(model::orderName(order(column)));
}

TableSource::Match BlocksTable::matcher(
    const std::vector<model::BlockFilter>& filters, const std::optional<EventRange>& range) const
{
    const EveryFilter<model::BlockMatcher> kept(*m_device, filters);
    if (kept.keepsAll() && !range)
        return {};
    return [&b = blocks(), range, kept](std::uint32_t row) {
        const BlockId block = b.at(row);
        if (range && (b.birth(block) > range->last || b.death(block) <= range->first))
            return false;
        return kept(block);
    };
}

void BlocksTable::add(TableSums& sums, std::uint32_t row) const
{
    sums.first += blocks().requestedBytes[blocks().at(row)];
}

std::string BlocksTable::csvHeader() const
{
    return "block,address,segment_address,requested_bytes,rounded_bytes,stream,pool,alloc_event,"
           "free_requested_event,free_completed_event,stack,line,category,category_source,category_rule,"
           "module\n";
}

void BlocksTable::appendCsv(std::string& to, std::uint32_t row) const
{
    const model::Recording& recording = m_device->trace->recording();
    const model::BlockColumns& b = blocks();
    const BlockId block = b.at(row);
    const auto out = std::back_inserter(to);
    const auto eventField = [&to, out](EventId event) {
        if (event.valid())
            fmt::format_to(out, "{}", event.value);
        to += ',';
    };
    fmt::format_to(out, "{},0x{:x},", block.value, b.address[block]);
    if (const model::SegmentLife* segment = segmentOf(block))
        fmt::format_to(out, "0x{:x}", segment->address);
    fmt::format_to(out, ",{},", b.requestedBytes[block]);
    if (const auto rounded = m_device->sizes().bytes(block))
        fmt::format_to(out, "{}", *rounded);
    to += ',';
    if (b.stream[block] < recording.streams.size())
        fmt::format_to(out, "{}", recording.streams[b.stream[block]]);
    to += ',';
    appendCsvField(to, model::poolLabel(recording, b.pool[block]));
    to += ',';
    eventField(b.allocOf(block));
    eventField(b.freeRequested[block]);
    eventField(b.freeCompleted[block]);
    if (b.stack[block].valid())
        fmt::format_to(out, "{}", b.stack[block].value);
    to += ',';
    appendCsvField(to, model::frameLabel(recording, model::userFrame(recording, b.stack[block])));
    if (const TrainingData* const known = trainingOf(block)) {
        const model::BlockCategory& category = known->categories->of(block);
        fmt::format_to(out, ",{},{},{},", model::categoryWord(category.category),
            category.recorded ? "recorded" : "inferred", model::ruleWord(category.rule));
        appendCsvField(to, model::moduleOf(*known->trace, known->categories->tensors(), block));
    } else {
        to += ",,,,";
    }
    to += '\n';
}

QString BlocksTable::stackText(std::uint32_t row) const
{
    return text::stack(m_device->trace->recording(), blocks().stack[blocks().at(row)]);
}

} // namespace strata::views
