// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/events_page.h"

#include "model/base/units.h"
#include "model/trace/filter/grouping.h"
#include "views/models/tables/events_table.h"
#include "views/models/tables/table_cells.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/table_view.h"

namespace strata::views {

using model::EventIndex;

EventsPage::EventsPage(Document& document, QWidget* parent)
    : TablePage(document, parent)
{
    table().setAccessibleName(title());
    showDevice(document.device());
}

std::shared_ptr<const TableSource> EventsPage::makeSource(std::shared_ptr<const DeviceData> shown) const
{
    return std::make_shared<const EventsTable>(std::move(shown));
}

std::optional<EventRange> EventsPage::restriction(const EventRange& selection) const
{
    if (selection.isInstant())
        return std::nullopt;
    return selection;
}

std::optional<EventIndex> EventsPage::selectedInstant() const
{
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    return selection && selection->isInstant() ? std::optional(selection->first) : std::nullopt;
}

QString EventsPage::selectedEventText() const
{
    const std::optional<EventIndex> event = selectedInstant();
    if (!event || *event < 0 || *event >= device()->trace->eventCount())
        return {};
    const auto row = static_cast<std::uint32_t>(*event);
    const TableSource& source = *model().source();
    const auto& table = static_cast<const EventsTable&>(source);
    QString action, line;
    for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
        if (table.columnKind(column) == EventsTable::ActionName)
            action = table.cell(row, column).text;
        if (table.columnKind(column) == EventsTable::Line)
            line = table.cell(row, column).text;
    }
    const std::int64_t bytes = device()->trace->events().bytes[row];
    const QString what = bytes > 0 ? tr("%1 of %2").arg(action, text::strong(text::bytes(bytes))) : action;
    return tr("selected is %1, %2").arg(text::strong(tr("event %1").arg(text::count(row))), what)
        + (line.isEmpty() ? QString() : tr(" in %1").arg(line.toHtmlEscaped()));
}

QString EventsPage::sentence() const
{
    const model::DeviceTrace& trace = *device()->trace;
    const model::Clock& clock = device()->timeline->clock();
    const QString shown = text::strong(text::count(model().rowCount()));
    QString text;
    if (const std::optional<EventRange> selected = range()) {
        const model::Curve& requested = device()->timeline->requested();
        const std::int64_t change = requested.at(selected->last) - requested.at(selected->first - 1);
        text = filtered() ? tr("%1 events of the selection match the filter").arg(shown)
                          : tr("%1 events selected").arg(shown);
        if (clock.hasTimes())
            text += tr(", %1 long")
                        .arg(text::duration(clock.timeNs(selected->last) - clock.timeNs(selected->first)));
        text += tr("; requested memory changes by %1 from before the first to after the last.")
                    .arg(text::strong((change > 0 ? QStringLiteral("+") : QString()) + text::bytes(change)));
        return text;
    }
    text = filtered() ? tr("%1 of %2 events match the filter").arg(shown, text::count(trace.eventCount()))
                      : tr("%1 events").arg(text::strong(text::count(trace.eventCount())));
    if (clock.hasTimes() && !filtered())
        text += tr(" in %1").arg(text::duration(clock.endNs() - clock.startNs()));
    if (const QString selected = selectedEventText(); !selected.isEmpty())
        text += QStringLiteral("; ") + selected;
    return text + QLatin1Char('.');
}

QString EventsPage::sums(const TableSums& sums) const
{
    return tr("%1 events; allocated %2, freed %3")
        .arg(text::count(model().rowCount()), text::bytes(sums.first), text::bytes(sums.second));
}

EmptyNotice::Text EventsPage::nothingRecorded() const
{
    return { tr("No events were recorded"),
        tr("The snapshot holds the state of the memory at its end only: the history was not switched on, or "
           "was switched off before the snapshot was taken. Switch it on before the part of the program to "
           "look at:"),
        text::recordLines().trimmed(), {} };
}

QString EventsPage::nothingMatches() const
{
    return tr("No event matches the filter");
}

std::vector<TablePage::RowFilter> EventsPage::rowFilters(std::uint32_t row) const
{
    const model::Recording& recording = device()->trace->recording();
    const model::EventColumns& events = device()->trace->events();
    std::vector<RowFilter> result;
    if (const model::BlockId block = events.block[row]; block.valid()) {
        const model::StackId stack = device()->trace->blocks().stack[block];
        if (const model::FrameId frame = model::userFrame(recording, stack); frame.valid()) {
            model::BlockFilter line;
            line.line = model::frameLabel(recording, frame);
            result.push_back(
                { tr("Only %1").arg(text::utf8(model::frameShortLabel(recording, frame))), line });
        }
        model::BlockFilter address;
        address.text = model::formatAddress(events.address[row]);
        result.push_back({ tr("Only Address %1").arg(text::utf8(address.text)), address });
    }
    model::BlockFilter size;
    size.minBytes = size.maxBytes = events.bytes[row];
    result.push_back({ tr("Only Events of %1").arg(text::exactBytes(size.minBytes)), size });
    if (events.stream[row] != model::kNoIndex) {
        model::BlockFilter stream;
        stream.stream = events.stream[row];
        result.push_back({ tr("Only Stream %1").arg(text::stream(recording, events.stream[row])), stream });
    }
    if (const model::PoolIndex pool = model::poolOfEvent(*device()->trace, row); pool != model::kNoIndex) {
        model::BlockFilter only;
        only.pool = pool;
        result.push_back({ tr("Only Pool %1").arg(text::utf8(model::poolLabel(recording, pool))), only });
    }
    return result;
}

void EventsPage::chosen(std::uint32_t row)
{
    Q_EMIT focusChanged(Focus::onEvent(row));
    if (!range())
        m_document.viewState().select(EventRange{ row, row });
}

void EventsPage::opened(std::uint32_t row)
{
    m_document.viewState().select(EventRange{ row, row });
}

void EventsPage::selectionMoved()
{
    if (const std::optional<EventIndex> event = selectedInstant())
        goTo(*event);
}

void EventsPage::rowsShown()
{
    if (const std::optional<EventIndex> event = selectedInstant(); event && !currentRow())
        goTo(*event);
}

void EventsPage::goTo(EventIndex event)
{
    if (!device() || event < 0)
        return;
    const auto row = static_cast<std::uint32_t>(event);
    if (currentRow() != row)
        showRow(row);
}

void EventsPage::showFocus(const Focus& focus)
{
    if (focus.kind == Focus::Kind::Event)
        goTo(focus.event);
}

QString EventsPage::commandLine() const
{
    return rowsCommandLine(QStringLiteral("events"));
}

} // namespace strata::views
