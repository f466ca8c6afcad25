// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/events_table.h"

#include "model/base/units.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/pairing/event_matcher.h"
#include "views/models/document/every_filter.h"
#include "views/models/tables/csv.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace strata::views {

using model::BlockId;
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
{
    const QString text = QStringLiteral("transformer_block.py:1234 forward");
    addColumn(
        Event, { tr("Event"), tr("Place in the trace of the device"), QStringLiteral("88,888,888"), true });
    if (events().hasTimes())
        addColumn(Time,
            { tr("Time (s)"), tr("Seconds since the first event"), QStringLiteral("1,234.567890"), true });
    addColumn(Action,
        { tr("Action"), tr("What happened, in PyTorch's words"), QStringLiteral("free_completed_"), false });
    addColumn(Size,
        { tr("Size"), tr("Requested bytes of a block, real bytes of a segment"), QStringLiteral("1,023"),
            true, QStringLiteral("MiB") });
    addColumn(Line, { tr("Line"), tr("Innermost frame of your own code"), text, false, {}, true });
    addColumn(
        Address, { tr("Address"), tr("Of the block or segment"), QStringLiteral("0xbbbbbbbbbbbb"), true });
    addColumn(Stream, { tr("Stream"), tr("CUDA stream"), QStringLiteral("8888"), true });
    addColumn(
        Pool, { tr("Pool"), tr("Pool of the caching allocator"), QStringLiteral("(0,1)/large"), false });
    if (events().userMetadata.size() > 0)
        addColumn(
            Metadata, { tr("User metadata"), tr("What the program wrote beside its events"), text, false });
    if (events().compileContext.size() > 0)
        addColumn(CompileContext,
            { tr("Compile context"), tr("Graph of torch.compile that was at work"), QStringLiteral("888/88"),
                false });
    if (events().extras.size() > 0)
        addColumn(Extras,
            { tr("Other keys"), tr("What the recording says beyond what Strata knows"), text, false });
}

void EventsTable::addColumn(Column kind, const TableColumn& column)
{
    m_kinds.push_back(kind);
    m_columns.push_back(column);
}

std::uint32_t EventsTable::rowCount() const
{
    return static_cast<std::uint32_t>(m_device->trace->eventCount());
}

QString EventsTable::actionText(std::uint32_t row) const
{
    const model::Action action = events().action[row];
    return text::utf8(
        action == Other ? recording().strings[events().otherAction.at(row)] : model::actionName(action));
}

model::PoolIndex EventsTable::poolOf(std::uint32_t row) const
{
    return model::poolOfEvent(*m_device->trace, row);
}

TableCell EventsTable::poolCell(std::uint32_t row) const
{
    const QString label = text::utf8(model::poolLabel(recording(), poolOf(row)));
    if (poolOf(row) != model::kNoIndex)
        return { label, {} };
    return events().block[row].valid() ? noteCell(label) : TableCell{};
}

TableCell EventsTable::addressCell(std::uint32_t row) const
{
    if (events().action[row] == Oom)
        return noteCell(tr("free: %1").arg(text::bytes(static_cast<std::int64_t>(events().address[row]))));
    if (events().address[row] == 0)
        return {};
    return { text::address(events().address[row]), {} };
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

const model::SparseText* EventsTable::sparse(Column kind) const
{
    switch (kind) {
    case Metadata:
        return &events().userMetadata;
    case CompileContext:
        return &events().compileContext;
    case Extras:
        return &events().extras;
    default:
        return nullptr;
    }
}

TableCell EventsTable::cell(std::uint32_t row, int column) const
{
    switch (columnKind(column)) {
    case Event:
        return { text::count(row), {} };
    case Time:
        return { text::seconds(events().timeNs[row] - events().timeNs[0]), {} };
    case Action:
        return { actionText(row), {} };
    case Address:
        return addressCell(row);
    case Size:
        if (events().bytes[row] == 0 && !events().block[row].valid())
            return {};
        return bytesCell(events().bytes[row]);
    case Stream:
        return { text::stream(recording(), events().stream[row]), {} };
    case Pool:
        return poolCell(row);
    case Line:
        return lineCellOf(row);
    case Metadata:
    case CompileContext:
    case Extras:
        return { oneLine(recording().strings[sparse(columnKind(column))->at(row)]), {} };
    }
    return {};
}

QString EventsTable::tooltip(std::uint32_t row, int column) const
{
    switch (columnKind(column)) {
    case Time:
        return tr("%1 us since the epoch").arg(text::count(events().timeNs[row] / 1000));
    case Address:
        return events().action[row] == Oom
            ? tr("The driver had %1 left")
                  .arg(text::exactBytes(static_cast<std::int64_t>(events().address[row])))
            : QString();
    case Size:
        return text::exactBytes(events().bytes[row]);
    case Line:
        if (!events().stack[row].valid() && stackOf(row).valid())
            return tr("The event has no stack; its block was allocated by\n%1")
                .arg(lineTooltip(recording(), stackOf(row)));
        return lineTooltip(recording(), stackOf(row));
    case Metadata:
    case CompileContext:
    case Extras:
        return text::shortened(recording().strings[sparse(columnKind(column))->at(row)], kLongestTip);
    default:
        return {};
    }
}

model::EventOrder EventsTable::order(int column) const
{
    using model::EventOrder;
    switch (columnKind(column)) {
    case Event:
        break;
    case Time:
        return EventOrder::Time;
    case Action:
        return EventOrder::ActionName;
    case Size:
        return EventOrder::Size;
    case Line:
        return EventOrder::Line;
    case Address:
        return EventOrder::Address;
    case Stream:
        return EventOrder::Stream;
    case Pool:
        return EventOrder::Pool;
    case Metadata:
        return EventOrder::Metadata;
    case CompileContext:
        return EventOrder::CompileContext;
    case Extras:
        return EventOrder::Extras;
    }
    return EventOrder::Event;
}

TableSource::Key EventsTable::sortKey(int column) const
{
    return model::rowKey(*m_device->trace, order(column));
}

QString EventsTable::sortName(int column) const
{
    return text::utf8(model::orderName(order(column)));
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
    return "event,action,address,bytes,stream,time_ns,stack,line,pool,user_metadata,compile_context,extras,"
           "device_free\n";
}

void EventsTable::appendCsv(std::string& to, std::uint32_t row) const
{
    const auto out = std::back_inserter(to);
    const model::Action action = events().action[row];
    fmt::format_to(out, "{},", row);
    appendCsvField(
        to, action == Other ? recording().strings[events().otherAction.at(row)] : model::actionName(action));
    const bool failed = action == Oom; // its address column holds what the driver had free
    if (failed)
        to += ',';
    else
        fmt::format_to(out, ",0x{:x}", events().address[row]);
    fmt::format_to(out, ",{},", events().bytes[row]);
    if (events().stream[row] < recording().streams.size())
        fmt::format_to(out, "{}", recording().streams[events().stream[row]]);
    to += ',';
    if (events().hasTimes())
        fmt::format_to(out, "{}", events().timeNs[row]);
    to += ',';
    const model::StackId stack = events().stack[row];
    if (stack.valid())
        fmt::format_to(out, "{}", stack.value);
    to += ',';
    if (const model::FrameId frame = model::userFrame(recording(), stack); frame.valid())
        appendCsvField(to, model::frameLabel(recording(), frame));
    to += ',';
    appendCsvField(to, model::poolLabel(recording(), poolOf(row)));
    for (const model::SparseText* texts :
        { &events().userMetadata, &events().compileContext, &events().extras }) {
        to += ',';
        appendCsvField(to, recording().strings[texts->at(row)]);
    }
    to += ',';
    if (failed)
        fmt::format_to(out, "{}", events().address[row]);
    to += '\n';
}

QString EventsTable::stackText(std::uint32_t row) const
{
    return text::stack(recording(), stackOf(row));
}

} // namespace strata::views
