// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/events_table.h"

#include "model/base/units.h"
#include "model/tables/row_order.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/pairing/event_matcher.h"
#include "views/models/document/every_filter.h"
#include "views/models/tables/csv_row.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <algorithm>

namespace strata::views {

using model::BlockId;
using model::valueOf;
using enum model::Action;

namespace {

constexpr qsizetype kLongestTip = 4000;

/// A text of the file in one line, cut where it would fill the window.
QString oneLine(std::string_view text)
{
    constexpr qsizetype kShown = 300;
    return text::shortened(text, kShown).simplified();
}

} // namespace

EventsTable::EventsTable(std::shared_ptr<const DeviceData> device)
    : m_device(std::move(device))
    , m_source{ .trace = m_device->trace }
{
    const QString text = QStringLiteral("transformer_block.py:1234 forward");
    addColumn(Event, QStringLiteral("88,888,888"));
    if (events().hasTimes())
        addColumn(Time, QStringLiteral("1,234.567890"));
    addColumn(ActionName, QStringLiteral("free_completed_"));
    addColumn(Size, QStringLiteral("1,023"), QStringLiteral("MiB"));
    addColumn(Line, text);
    addColumn(Address, QStringLiteral("0xbbbbbbbbbbbb"));
    addColumn(Stream, QStringLiteral("8888"));
    addColumn(Pool, QStringLiteral("(0,1)/large"));
    if (events().userMetadata.size() > 0)
        addColumn(Metadata, text);
    if (events().compileContext.size() > 0)
        addColumn(CompileContext, QStringLiteral("888/88"));
    if (events().extras.size() > 0)
        addColumn(Extras, text);
}

std::uint32_t EventsTable::rowCount() const
{
    return static_cast<std::uint32_t>(m_device->trace->eventCount());
}

TableCell EventsTable::poolCell(const model::EventRow& row) const
{
    const model::PoolIndex pool = valueOf<Pool>(row).pool;
    const QString label = text::utf8(model::poolLabel(recording(), pool));
    if (pool != model::kNoIndex)
        return { label, {} };
    return events().block[row.event].valid() ? noteCell(label) : TableCell{};
}

TableCell EventsTable::addressCell(const model::EventRow& row) const
{
    const auto address = valueOf<Address>(row);
    if (!address)
        return noteCell(
            tr("free: %1").arg(text::bytes(static_cast<std::int64_t>(events().address[row.event]))));
    return address->value == 0 ? TableCell{} : TableCell{ text::address(address->value), {} };
}

model::StackId EventsTable::stackOf(std::uint32_t row) const
{
    return model::stackOfEvent(*m_device->trace, row);
}

TableCell EventsTable::lineCellOf(std::uint32_t row) const
{
    const BlockId block = events().block[row];
    if (!stackOf(row).valid() && !block.valid())
        return {};
    TableCell cell = lineCell(recording(), stackOf(row));
    if (!events().stack[row].valid() && !cell.text.isEmpty())
        cell = noteCell(cell.text + QLatin1Char(' ') + cell.note); // not its own: where its block is from
    // The colour of the line that is named, which of a free may be where it was freed.
    const model::StackId stack = stackOf(row);
    const std::uint32_t group = !m_device->byLine ? ~0u
        : stack.valid()                           ? m_device->byLine->groupOfStack(stack)
                                                  : m_device->byLine->groupOf(block);
    if (group < m_device->lineRank.size())
        cell.swatch = m_device->lineRank[group];
    return cell;
}

std::string_view EventsTable::rareText(const model::EventRow& row, Column kind)
{
    if (kind == Extras) {
        const auto extras = valueOf<Extras>(row).value;
        return extras ? extras->text : std::string_view();
    }
    return (kind == Metadata ? valueOf<Metadata>(row) : valueOf<CompileContext>(row)).value.value_or("");
}

TableCell EventsTable::cell(std::uint32_t at, int column) const
{
    const model::EventRow row = rowAt(at);
    switch (columnKind(column)) {
    case Event:
        return { text::count(at), {} };
    case Time:
        return { text::seconds(*valueOf<Time>(row) - events().timeNs[0]), {} };
    case ActionName:
        return { text::utf8(valueOf<ActionName>(row)), {} };
    case Address:
        return addressCell(row);
    case Size:
        if (valueOf<Size>(row) == 0 && !events().block[at].valid())
            return {};
        return bytesCell(valueOf<Size>(row));
    case Stream:
        return { text::stream(recording(), valueOf<Stream>(row).stream), {} };
    case Pool:
        return poolCell(row);
    case Line:
        return lineCellOf(at);
    case Metadata:
    case CompileContext:
    case Extras:
        return { oneLine(rareText(row, columnKind(column))), {} };
    }
    return {};
}

QString EventsTable::tooltip(std::uint32_t at, int column) const
{
    const model::EventRow row = rowAt(at);
    switch (columnKind(column)) {
    case Time:
        return tr("%1 us since the epoch").arg(text::count(*valueOf<Time>(row) / 1000));
    case Address:
        return row.isOom() ? tr("The driver had %1 left")
                                 .arg(text::exactBytes(static_cast<std::int64_t>(events().address[at])))
                           : QString();
    case Size:
        return text::exactBytes(valueOf<Size>(row));
    case Line:
        if (!row.stack().valid() && stackOf(at).valid())
            return tr("The event has no stack; its block was allocated by\n%1")
                .arg(lineTooltip(recording(), stackOf(at)));
        return lineTooltip(recording(), stackOf(at));
    case Metadata:
    case CompileContext:
    case Extras:
        return text::shortened(rareText(row, columnKind(column)), kLongestTip);
    default:
        return {};
    }
}

TableSource::Key EventsTable::sortKey(int column) const
{
    return model::rowKey(*m_device->trace, columnKind(column));
}

TableSource::Match EventsTable::matcher(
    const std::vector<model::BlockFilter>& filters, const std::optional<EventRange>& range) const
{
    const EveryFilter<model::EventMatcher> kept(*m_device, filters);
    if (kept.keepsAll() && !range)
        return {};
    return [range, kept](std::uint32_t row) {
        const model::EventIndex event = row;
        if (range && (event < range->first || event > range->last))
            return false;
        return kept(row);
    };
}

TableSource::Span EventsTable::rowsNear(const std::optional<EventRange>& range) const
{
    if (!range)
        return { 0, rowCount() };
    const auto row = [this](model::EventIndex event) {
        return static_cast<std::uint32_t>(std::clamp<model::EventIndex>(event, 0, rowCount()));
    };
    const Span span{ row(range->first), row(range->last + 1) };
    return { span.begin, std::max(span.begin, span.end) };
}

void EventsTable::add(TableSums& sums, std::uint32_t row) const
{
    if (events().action[row] == Alloc)
        sums.first += events().bytes[row];
    else if (events().action[row] == FreeCompleted)
        sums.second += events().bytes[row];
}

std::string EventsTable::csvHeader() const
{
    return views::csvHeader<model::EventRow>();
}

void EventsTable::appendCsv(std::string& to, std::uint32_t row) const
{
    appendCsvRow(to, rowAt(row));
}

QString EventsTable::stackText(std::uint32_t row) const
{
    return text::stack(recording(), stackOf(row));
}

} // namespace strata::views
