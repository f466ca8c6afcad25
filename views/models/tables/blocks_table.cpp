// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/blocks_table.h"

#include "model/base/units.h"
#include "model/trace/filter/grouping.h"
#include "views/models/document/every_filter.h"
#include "views/models/tables/csv_row.h"
#include "views/models/tables/table_cells.h"
#include "views/style/palette.h"
#include "views/style/texts.h"

namespace strata::views {

using model::BlockId;
using model::valueOf;

BlocksTable::BlocksTable(std::shared_ptr<const DeviceData> device, model::Axis axis)
    : m_device(std::move(device))
    , m_times(axis == model::Axis::Time && m_device->timeline->clock().hasTimes())
    , m_source{ .trace = m_device->trace, .sizes = m_device->sizes(), .clock = &m_device->timeline->clock() }
{
    if (const TrainingData* const known = m_device->training.get();
        known && known->categories && known->knowsBlocksOf(*m_device)) {
        m_source.categories = known->categories.get();
        m_source.categorised = known->trace;
    }
    const QString moment = m_times ? QStringLiteral("1,234.567890") : QStringLiteral("88,888,888");
    const QString address = QStringLiteral("0xbbbbbbbbbbbb");
    const QString size = QStringLiteral("1,023");
    const QString iec = QStringLiteral("MiB");
    addColumn(Block, QStringLiteral("8,888,888"));
    addColumn(Requested, size, iec);
    addColumn(Rounded, size, iec);
    addColumn(Line, QStringLiteral("transformer.py:1234 forward"));
    addColumn(Category, tr("Optimizer state"));
    addColumn(Module, QStringLiteral("layers.12.attention"));
    addColumn(Born, moment, {}, m_times ? tr(" (s)") : tr(" (event)"));
    addColumn(FreeRequested, moment);
    addColumn(Freed, moment);
    addColumn(m_times ? Duration : Lifetime, QStringLiteral("over 888,888"));
    addColumn(Stream, QStringLiteral("8888"));
    addColumn(Pool, QStringLiteral("(0,1)/large"));
    addColumn(Address, address);
    addColumn(Segment, address);
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

TableCell BlocksTable::cell(std::uint32_t at, int column) const
{
    const model::Recording& recording = m_device->trace->recording();
    const model::BlockRow row = rowAt(at);
    switch (columnKind(column)) {
    case Block:
        return { text::count(valueOf<Block>(row)), {} };
    case Address:
        return { text::address(valueOf<Address>(row).value), {} };
    case Segment:
        if (const auto segment = valueOf<Segment>(row))
            return { text::address(segment->value), {} };
        return noteCell(tr("unknown"));
    case Requested:
        return bytesCell(valueOf<Requested>(row));
    case Rounded:
        if (const auto rounded = valueOf<Rounded>(row))
            return bytesCell(*rounded);
        return {};
    case Stream:
        return { text::stream(recording, valueOf<Stream>(row).stream), {} };
    case Pool: {
        const model::PoolIndex pool = valueOf<Pool>(row).pool;
        const QString label = text::utf8(model::poolLabel(recording, pool));
        return pool == model::kNoIndex ? noteCell(label) : TableCell{ label, {} };
    }
    case Born: {
        const auto event = valueOf<Born>(row);
        return event ? momentCell(event) : noteCell(tr("before"));
    }
    case FreeRequested:
        return momentCell(valueOf<FreeRequested>(row));
    case Freed: {
        const auto event = valueOf<Freed>(row);
        return event ? momentCell(event) : noteCell(tr("live"));
    }
    case Lifetime:
    case Duration:
        return lifetimeCell(row);
    case Line: {
        TableCell cell = lineCell(recording, valueOf<Line>(row).stack);
        const std::uint32_t group = m_device->byLine ? m_device->byLine->groupOf(row.block) : 0;
        if (group < m_device->lineRank.size())
            cell.swatch = m_device->lineRank[group];
        return cell;
    }
    case Category:
        return categoryCell(row);
    case Module:
        return moduleCell(row);
    }
    return {};
}

TableCell BlocksTable::categoryCell(const model::BlockRow& row) const
{
    if (!m_source.categories)
        return noteCell(tr("not known yet"));
    const model::BlockCategory* const known = row.category();
    const model::Category category = known ? known->category : model::Category::Unknown;
    return { text::said(model::categoryTitle(category)), {},
        Palette::ofCategory(static_cast<int>(category)) };
}

TableCell BlocksTable::moduleCell(const model::BlockRow& row) const
{
    if (!row.category())
        return noteCell(tr("not known yet"));
    const auto module = valueOf<Module>(row);
    return module ? TableCell{ text::utf8(*module), {} } : noteCell(tr("none"));
}

QString BlocksTable::categoryTooltip(const model::BlockRow& row) const
{
    const model::BlockCategory* const category = row.category();
    if (!category)
        return tr("What blocks are for is looked for in the background.");
    return text::said(model::reasonOf(*category));
}

TableCell BlocksTable::momentCell(std::optional<std::uint32_t> event) const
{
    if (!event)
        return {};
    if (!m_times)
        return { text::count(*event), {} };
    return { text::seconds(m_source.clock->timeNs(*event) - m_source.clock->startNs()), {} };
}

TableCell BlocksTable::lifetimeCell(const model::BlockRow& row) const
{
    const bool whole = !row.block.isOlder() && valueOf<Freed>(row);
    const QString text
        = m_times ? text::duration(valueOf<Duration>(row)) : text::count(valueOf<Lifetime>(row));
    return { whole ? text : tr("over %1").arg(text), {} };
}

QString BlocksTable::momentTooltip(std::uint32_t event) const
{
    const QString number = tr("event %1").arg(text::count(event));
    if (!m_source.clock->hasTimes())
        return number;
    return tr("%1, %2 s after the first event")
        .arg(number, text::seconds(m_source.clock->timeNs(event) - m_source.clock->startNs()));
}

QString BlocksTable::tooltip(std::uint32_t at, int column) const
{
    const model::BlockRow row = rowAt(at);
    switch (columnKind(column)) {
    case Requested:
        return text::exactBytes(valueOf<Requested>(row));
    case Rounded:
        if (const auto more = m_source.sizes.rounding(row.block))
            return tr("%1, %2 more than requested")
                .arg(text::exactBytes(valueOf<Requested>(row) + *more), text::exactBytes(*more));
        return tr("Unknown: a trace records requested sizes. The rounded size is known for the blocks\n"
                  "that are there at the end, from the segments of the snapshot, and for all where the\n"
                  "replay of the allocator is exact.");
    case Segment:
        if (!valueOf<Segment>(row))
            return tr("No segment of the recording held this address when the block was born.");
        return {};
    case Born: {
        const auto event = valueOf<Born>(row);
        return event ? momentTooltip(*event) : tr("Older than the trace: recording began after its birth.");
    }
    case FreeRequested: {
        const auto event = valueOf<FreeRequested>(row);
        return event ? momentTooltip(*event) : QString();
    }
    case Freed: {
        const auto event = valueOf<Freed>(row);
        return event ? momentTooltip(*event) : tr("Still live at the end of the trace.");
    }
    case Line:
        return lineTooltip(m_device->trace->recording(), valueOf<Line>(row).stack);
    case Category:
        return categoryTooltip(row);
    default:
        return {};
    }
}

TableSource::Key BlocksTable::sortKey(int column) const
{
    return model::rowKey(m_source, columnKind(column),
        m_source.categories ? m_device->labels() : model::DeviceLabels(), m_device->byLine);
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
    return views::csvHeader<model::BlockRow>();
}

void BlocksTable::appendCsv(std::string& to, std::uint32_t row) const
{
    appendCsvRow(to, rowAt(row));
}

QString BlocksTable::stackText(std::uint32_t row) const
{
    return text::stack(m_device->trace->recording(), blocks().stack[blocks().at(row)]);
}

} // namespace strata::views
