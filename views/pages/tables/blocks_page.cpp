// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/blocks_page.h"

#include "model/trace/filter/grouping.h"
#include "views/models/document/every_filter.h"
#include "views/models/document/group_colours.h"
#include "views/models/tables/blocks_table.h"
#include "views/models/tables/table_cells.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/table_view.h"

namespace strata::views {

using model::BlockId;
using model::EventIndex;

BlocksPage::BlocksPage(Document& document, QWidget* parent)
    : TablePage(document, parent)
{
    table().setAccessibleName(title());
    follow(m_counting);
    showDevice(document.device());
}

std::shared_ptr<const TableSource> BlocksPage::makeSource(std::shared_ptr<const DeviceData> shown) const
{
    return std::make_shared<const BlocksTable>(std::move(shown), m_document.viewState().axis());
}

std::optional<EventRange> BlocksPage::restriction(const EventRange& selection) const
{
    return selection;
}

EventIndex BlocksPage::instant() const
{
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    return selection && selection->isInstant() ? selection->first
                                               : device()->trace->totals().requestedPeakEvent;
}

QString BlocksPage::sentence() const
{
    const QString all = text::count(model().source()->rowCount());
    const QString shown = text::count(model().rowCount());
    const QString bytes = text::bytes(model().rows()->sums().first);
    if (const std::optional<EventRange> selected = range()) {
        const QString which = filtered() ? tr("blocks that match the filter") : tr("blocks");
        if (selected->isInstant())
            return tr("%1 %2 live at %3 hold %4.")
                .arg(text::strong(shown), which,
                    text::link(tr("event %1").arg(text::count(selected->first)), selected->first),
                    text::strong(bytes));
        return tr("%1 %2 live between event %3 and event %4, %5 in all.")
            .arg(text::strong(shown), which, text::count(selected->first), text::count(selected->last),
                text::strong(bytes));
    }

    const QString what = filtered() ? tr("%1 of %2 blocks match the filter").arg(text::strong(shown), all)
                                    : tr("%1 blocks").arg(text::strong(all));
    if (!m_live)
        return tr("%1.").arg(what);
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    const QString when = selection && selection->isInstant()
        ? text::link(tr("the selected instant"), m_live->event)
        : text::link(tr("the peak"), m_live->event);
    return tr("%1; %2 live at %3, %4.")
        .arg(what, text::strong(text::count(m_live->blocks)), when, text::strong(text::bytes(m_live->bytes)));
}

QString BlocksPage::sums(const TableSums& sums) const
{
    return tr("%1 blocks, %2 requested").arg(text::count(model().rowCount()), text::bytes(sums.first));
}

EmptyNotice::Text BlocksPage::nothingRecorded() const
{
    return { tr("No block was allocated while this was recorded"),
        tr("The snapshot has neither live blocks nor a history of allocations. Record the history from "
           "before the first allocation on, and take the snapshot while the memory is in use:"),
        text::recordLines().trimmed(), {} };
}

QString BlocksPage::nothingMatches() const
{
    if (filtered())
        return tr("No block matches the filter");
    return tr("No block was alive in the selection");
}

std::vector<TablePage::RowFilter> BlocksPage::rowFilters(std::uint32_t row) const
{
    const model::DeviceTrace& trace = *device()->trace;
    const model::Recording& recording = trace.recording();
    const model::BlockColumns& blocks = trace.blocks();
    const BlockId block = blocks.at(row);
    std::vector<RowFilter> result;
    if (const model::FrameId frame = model::userFrame(recording, blocks.stack[block]); frame.valid()) {
        model::BlockFilter line;
        line.line = model::frameLabel(recording, frame);
        result.push_back({ tr("Only %1").arg(text::utf8(model::frameShortLabel(recording, frame))), line });
        model::BlockFilter site;
        site.sites = { blocks.stack[block] };
        result.push_back({ tr("Only This Stack"), site });
    }
    for (const model::Grouping grouping : { model::Grouping::Category, model::Grouping::Module })
        if (const auto groups = device()->groups(grouping)) {
            const std::uint32_t group = groups->groupOf(block);
            model::BlockFilter only;
            model::infoOf(grouping).narrowToGroup(only, trace, *groups, group);
            result.push_back({ tr("Only %1").arg(groupName(*groups, group)), only });
        }
    model::BlockFilter size;
    size.minBytes = size.maxBytes = blocks.requestedBytes[block];
    result.push_back({ tr("Only Blocks of %1").arg(text::exactBytes(size.minBytes)), size });
    model::BlockFilter stream;
    stream.stream = blocks.stream[block];
    result.push_back({ tr("Only Stream %1").arg(text::stream(recording, blocks.stream[block])), stream });
    if (blocks.pool[block] != model::kNoIndex) {
        model::BlockFilter pool;
        pool.pool = blocks.pool[block];
        result.push_back(
            { tr("Only Pool %1").arg(text::utf8(model::poolLabel(recording, blocks.pool[block]))), pool });
    }
    return result;
}

void BlocksPage::chosen(std::uint32_t row)
{
    Q_EMIT focusChanged(Focus::onBlock(device()->trace->blocks().at(row)));
}

void BlocksPage::opened(std::uint32_t row)
{
    const model::BlockColumns& blocks = device()->trace->blocks();
    const EventIndex born = blocks.birth(blocks.at(row));
    chosen(row);
    m_document.viewState().select(EventRange{ born, born });
}

void BlocksPage::selectionMoved()
{
    countLive();
}

void BlocksPage::rowsShown()
{
    countLive();
}

void BlocksPage::countLive()
{
    if (!device() || range())
        return;
    m_counting.start(
        [derived = device(), filters = filters(), event = instant()](const JobContext&) {
            const EveryFilter<model::BlockMatcher> kept(*derived, filters);
            Live live{ event };
            for (const BlockId block : derived->timeline->live().liveAt(event)) {
                if (!kept(block))
                    continue;
                ++live.blocks;
                live.bytes += derived->trace->blocks().requestedBytes[block];
            }
            return live;
        },
        [this](const Live& live) {
            m_live = live;
            refreshSentence();
        });
}

std::uint32_t BlocksPage::rowOf(BlockId block) const
{
    return static_cast<std::uint32_t>(device()->trace->blocks().placeOf(block));
}

void BlocksPage::goTo(EventIndex event)
{
    if (!device() || event < 0 || event >= device()->trace->eventCount())
        return;
    const BlockId block = device()->trace->events().block[static_cast<std::size_t>(event)];
    if (block.valid())
        showRow(rowOf(block));
}

void BlocksPage::showFocus(const Focus& focus)
{
    if (focus.kind == Focus::Kind::Block && device()
        && model().rows()->positionOf(rowOf(focus.block)).has_value())
        showRow(rowOf(focus.block));
}

QString BlocksPage::commandLine() const
{
    const QString line = rowsCommandLine(QStringLiteral("blocks"));
    return line.isEmpty() || !device() || !device()->rounded() ? line : line + QStringLiteral(" --replay");
}

} // namespace strata::views
