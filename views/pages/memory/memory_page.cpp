// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/memory/memory_page.h"

#include "views/models/document/shown_instant.h"
#include "views/pages/memory/memory_verdict.h"
#include "views/pages/parts/filter_text.h"
#include "views/style/texts.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_header.h"
#include "views/widgets/training/steps_view.h"

#include <QAbstractItemView>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::views {

void MemoryPage::showDevice()
{
    const auto device = m_document.device();
    offerGroupings();
    if (const auto& shown = m_canvas->scene().device;
        device && shown && device->follows(*shown) && device->trace != shown->trace && m_subject.groups)
        return goOn();
    if (!device || (m_subject.groups && !device->follows(*m_subject.groups->device)))
        dropSubject();
    m_canvas->setDevice(device);
    m_verdict->setVisible(device != nullptr);
    showHint();
    if (!device) {
        Q_EMIT busyChanged();
        return;
    }
    showVerdict(*device);
    m_canvas->setAxis(m_document.viewState().axis());
    m_canvas->setSelection(m_document.viewState().selection());
    requestSubject(); // in the background too: most users come here next
}

/// Of a device that is shown no more: the groups of the next one may take a while.
void MemoryPage::dropSubject()
{
    m_subject = {};
    m_peakOf.reset();
    m_shownIn.reset();
    m_again = false;
    m_subjectJob.cancel();
    m_tableJob.cancel();
    m_canvas->setDevice(nullptr);
    m_table->clear();
    showLegend();
    m_tableTitle->clear();
}

/// A newer generation of what is shown: all of the page changes once its groups are there.
void MemoryPage::goOn()
{
    m_lateSubject = inBackground();
    if (m_lateSubject)
        return;
    if (m_subjectJob.running())
        m_again = true; // else it might never come to an end
    else
        requestSubject();
}

/// Of what it tells, it follows the groups of the picture.
void MemoryPage::showVerdict(const DeviceData& device)
{
    const bool grouped = m_peakOf && device.follows(*m_peakOf->device);
    m_sentences = text::sentences(
        grouped ? memoryVerdict(device, m_peakOf->table.get(), m_peak) : memoryVerdict(device));
    fitVerdict();
}

/// The sentences that fit two lines, until more are asked for: the picture and eight rows of the table need
/// the room.
void MemoryPage::fitVerdict()
{
    const int two = 2 * QFontMetrics(m_verdict->font()).lineSpacing() + 2;
    const int wide = width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    const QString space(QLatin1Char(' '));
    qsizetype shown = m_sentences.size();
    m_verdict->setText(m_sentences.join(space));
    const auto fits = [&] { return m_verdict->heightForWidth(wide) <= two; };
    while (!m_unfolded && shown > 1 && !fits())
        m_verdict->setText(m_sentences.mid(0, --shown).join(space));
    m_verdict->setMaximumHeight(m_unfolded || fits() ? QWIDGETSIZE_MAX : two);
    m_more->setVisible(!m_unfolded && (shown < m_sentences.size() || !fits()));
}

void MemoryPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    fitVerdict();
}

void MemoryPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (std::exchange(m_lateSubject, false))
        requestSubject();
    if (std::exchange(m_lateSelection, false))
        showSelection();
}

void MemoryPage::filterMoved()
{
    m_lateSubject = inBackground();
    if (!m_lateSubject)
        requestSubject();
}

void MemoryPage::requestSubject()
{
    const auto device = m_document.device();
    if (!device)
        return;
    m_lateSubject = false;
    const model::Grouping grouping = m_document.viewState().grouping();
    const model::BlockFilter filter = m_document.viewState().filter();
    const auto make = [device, grouping, filter, earlier = m_subject.groups](const std::stop_token& stop) {
        PictureSubject subject;
        subject.groups = makeGroupData(device, grouping, earlier, stop);
        if (!filter.empty())
            subject.filter = std::make_shared<model::BlockMatcher>(*device->trace, filter, device->labels());
        return subject;
    };
    if (grouping == model::Grouping::Line && filter.empty()) {
        m_subjectJob.cancel();
        return showSubject(make({}));
    }
    m_subjectJob.start([make](const JobContext& context) { return make(context.stop()); },
        [this](const PictureSubject& subject) {
            if (subject.groups)
                showSubject(subject);
            if (std::exchange(m_again, false))
                requestSubject();
        });
}

void MemoryPage::showSubject(const PictureSubject& subject)
{
    const GroupData* const shown = m_subject.groups.get();
    const bool goesOn = shown && shown->device->trace != subject.groups->device->trace
        && subject.groups->device->follows(*shown->device);
    const bool regrouped = !shown
        || (goesOn ? shown->table->grouping() != subject.groups->table->grouping()
                   : !shown->table->sharesGroups(*subject.groups->table));
    if (goesOn) {
        if (m_focus.kind == Focus::Kind::Block)
            m_focus.block = subject.groups->device->trace->sameBlock(*shown->device->trace, m_focus.block);
        if (!m_peakOf) // else with the table
            showVerdict(*subject.groups->device);
    }
    m_subject = subject;
    showHint();
    if (regrouped)
        m_canvas->pin(std::nullopt);
    if (goesOn)
        m_canvas->goOn(subject);
    else
        m_canvas->setSubject(subject);
    if (regrouped)
        markFocus();
    m_table->setStyles(m_canvas->styles());
    showLegend();
    requestTable();
}

model::EventIndex MemoryPage::tableEvent() const
{
    return shownInstant(m_document);
}

void MemoryPage::requestTable()
{
    if (!m_subject.groups)
        return;
    const bool wantsPeak
        = m_subject.groups != m_peakOf && m_subject.groups->table->grouping() != model::Grouping::Line;
    m_tableJob.start(
        [subject = m_subject, event = tableEvent(), wantsPeak](const JobContext&) {
            const DeviceData& device = *subject.groups->device;
            const model::GroupTable& table = *subject.groups->table;
            TableMade made{ model::groupsAt(*device.timeline, table, event, subject.filter.get()), {} };
            if (wantsPeak)
                made.peak = model::groupsAt(*device.timeline, table, device.summary->peak.event, nullptr);
            return made;
        },
        [this, groups = m_subject.groups](TableMade made) { showTable(groups, std::move(made)); });
}

void MemoryPage::showTable(const std::shared_ptr<const GroupData>& groups, TableMade made)
{
    const bool lines = groups->table->grouping() == model::Grouping::Line;
    if (made.peak || (lines && m_peakOf)) {
        m_peakOf = lines ? nullptr : groups;
        m_peak = std::move(made.peak).value_or(model::LiveGroups());
        showVerdict(*groups->device);
    }
    const bool goesOn = m_shownIn && groups->device->follows(*m_shownIn->device);
    const int scrolled = m_view->verticalScrollBar()->value();
    m_table->setGroups(groups->table, std::move(made.live), &groups->device->trace->recording());
    markRow();
    if (goesOn)
        m_view->verticalScrollBar()->setValue(scrolled);
    m_shownIn = groups;
    updateTableTitle();
}

bool MemoryPage::showsSteps() const
{
    return m_below->currentWidget() == m_steps;
}

void MemoryPage::showBelow(Below part)
{
    m_belowModes->choose(static_cast<int>(part));
    m_below->setCurrentIndex(static_cast<int>(part));
    updateTableTitle();
}

void MemoryPage::updateTableTitle()
{
    const auto device = m_document.device();
    if (!device)
        return;
    if (showsSteps())
        return m_tableTitle->setText(m_steps->headText());
    const model::LiveGroups& live = m_table->live();
    const model::Clock& clock = device->timeline->clock();
    const auto& selection = m_document.viewState().selection();
    QString when;
    if (device->trace->eventCount() == 0)
        when = tr("At the end");
    else if (!selection && lastOutOfMemory(*device))
        when = tr("At the out-of-memory, %1").arg(text::instant(clock, live.event));
    else if (!selection)
        when = tr("At the peak, %1").arg(text::instant(clock, live.event));
    else if (selection->isInstant())
        when = tr("At %1").arg(text::instant(clock, live.event));
    else
        when = tr("At the peak of the selected range, %1").arg(text::instant(clock, live.event));
    QString text = tr("%1: <b>%2</b> requested in %3 blocks")
                       .arg(when, text::bytes(live.requestedBytes), text::count(live.blocks));
    if (live.beforeTraceBytes > 0 && device->trace->eventCount() > 0)
        text += tr(", %1 of it older than the trace").arg(text::bytes(live.beforeTraceBytes));
    if (!m_document.viewState().filter().empty())
        text += tr(" (of what the filter lets through)");
    m_tableTitle->setText(text);
}

void MemoryPage::selectionMoved()
{
    if (!m_document.viewState().selection()) {
        m_canvas->pin(std::nullopt);
        m_focus = {};
        markFocus();
    }
    showSelection();
}

void MemoryPage::showSelection()
{
    m_lateSelection = inBackground();
    if (m_lateSelection)
        return;
    const auto& selection = m_document.viewState().selection();
    m_canvas->setSelection(selection);
    if (selection && selection->isInstant()) {
        m_canvas->viewport().reveal(selection->first);
    }
    requestTable();
}

void MemoryPage::pickedThing(const Hit& hit)
{
    Focus focus{ .event = hit.event };
    if (hit.kind == Hit::Kind::Block)
        focus = Focus::onBlock(hit.block, hit.event);
    else if (hit.kind == Hit::Kind::Group)
        focus = Focus::onGroup(
            m_document.viewState().grouping(), m_subject.groups->table->keyOf(hit.group), hit.event);
    else if (hit.event >= 0)
        focus = Focus::onEvent(hit.event);
    if (hit.kind == Hit::Kind::Note)
        focusBlockOf(m_canvas->scene().notes[static_cast<std::size_t>(hit.note)], focus);
    m_focus = focus;
    markRow();
    Q_EMIT focusChanged(focus);
}

/// The block that a note is about, where it is one.
void MemoryPage::focusBlockOf(const model::UserItem& note, Focus& focus) const
{
    const auto device = m_document.device();
    if (note.address == 0 || !device)
        return;
    const model::BlockId block = device->timeline->live().blockAt(note.address, note.first);
    if (!block.valid())
        return;
    focus.kind = Focus::Kind::Block;
    focus.block = block;
}

/// Selects the note or named range before or after what is selected, and shows its card.
void MemoryPage::stepNote(int direction)
{
    const std::vector<model::UserItem>& notes = m_canvas->scene().notes;
    const auto device = m_document.device();
    if (!device)
        return;
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(notes.size()); ++i)
        if (const model::UserItem& note = notes[static_cast<std::size_t>(i)];
            note.first <= note.last && note.last < device->trace->eventCount())
            order.push_back(i);
    if (order.empty())
        return;
    const auto place = [&](int i) {
        const model::UserItem& note = notes[static_cast<std::size_t>(i)];
        return std::tuple(note.first, note.last, i);
    };
    std::ranges::sort(order, {}, place);
    const auto& pinned = m_canvas->pinned();
    const auto& selection = m_document.viewState().selection();
    // Behind the one that is pinned; else behind what is selected, or from the begin or the end of all.
    auto next = direction > 0 ? order.begin() : order.end() - 1;
    if (pinned && pinned->kind == Hit::Kind::Note) {
        const auto at = std::ranges::find(order, pinned->note);
        next = direction > 0 ? std::min(at + 1, order.end() - 1) : at == order.begin() ? at : at - 1;
    } else if (selection) {
        const auto later = std::ranges::find_if(
            order, [&](int i) { return notes[static_cast<std::size_t>(i)].first > selection->first; });
        next = direction > 0 ? std::min(later, order.end() - 1) : later - (later == order.begin() ? 0 : 1);
    }
    const model::UserItem note = notes[static_cast<std::size_t>(*next)];
    select(EventRange{ note.first, note.last });
    goTo(note.first);
    const Hit hit = noteHit(m_canvas->scene(), *next);
    pickedThing(hit);
    m_canvas->pin(hit);
}

void MemoryPage::showFocus(const Focus& focus)
{
    m_focus = focus;
    if (focus.kind == Focus::Kind::Block) {
        Hit hit;
        hit.kind = Hit::Kind::Block;
        hit.block = focus.block;
        hit.event = focus.event;
        m_canvas->pin(hit);
    } else {
        m_canvas->pin(std::nullopt);
    }
    markFocus();
}

/// The group that is shown in the details, or that of the block there, among those of the picture.
std::optional<std::uint32_t> MemoryPage::focusedGroup() const
{
    if (!m_subject.groups)
        return std::nullopt;
    const model::GroupTable& groups = *m_subject.groups->table;
    if (m_focus.kind == Focus::Kind::Group && m_focus.grouping == groups.grouping())
        return groups.find(m_focus.group);
    if (m_focus.kind == Focus::Kind::Block
        && m_subject.groups->device->trace->blocks().contains(m_focus.block))
        return groups.groupOf(m_focus.block);
    return std::nullopt;
}

/// In the picture a line stands out, with all that is older than the trace where blocks of it are among that;
/// a block has its own mark.
void MemoryPage::highlightFocus()
{
    Highlight highlight;
    if (m_focus.kind == Focus::Kind::Group)
        highlight.group = focusedGroup();
    if (highlight.group) {
        const model::GroupTable& groups = *m_subject.groups->table;
        const std::size_t older = m_subject.groups->device->trace->blocks().olderCount();
        for (std::size_t row = 0; row < older && !highlight.beforeTrace; ++row)
            highlight.beforeTrace = groups.groupOf(model::BlockId::older(row)) == *highlight.group;
    }
    m_canvas->setHighlight(highlight);
}

void MemoryPage::markFocus()
{
    highlightFocus();
    markRow();
}

void MemoryPage::markRow()
{
    const std::optional<std::uint32_t> group = focusedGroup();
    const int row = group ? m_table->rowOf(*group) : -1;
    m_quiet = true;
    if (row < 0)
        m_view->clearSelection();
    else
        m_view->selectRow(row);
    m_quiet = false;
}

void MemoryPage::rowSelected()
{
    if (m_quiet)
        return;
    m_focus = {};
    const QModelIndexList rows = m_view->selectionModel()->selectedRows();
    if (!rows.isEmpty())
        m_focus = Focus::onGroup(m_table->table()->grouping(),
            m_table->table()->keyOf(m_table->groupAt(rows.front().row())), m_table->live().event);
    highlightFocus();
    if (!rows.isEmpty())
        Q_EMIT focusChanged(m_focus);
}

void MemoryPage::chooseLine(const text::LineLink& link)
{
    const auto device = m_document.device();
    const model::GroupKey key{ link.line };
    if (!device || !device->byLine->find(key))
        return;
    m_document.viewState().setGrouping(model::Grouping::Line);
    if (link.event)
        select(EventRange{ *link.event, *link.event });
    showFocus(Focus::onGroup(model::Grouping::Line, key));
    Q_EMIT focusChanged(m_focus);
}

/// Of the groups that the verdict tells of.
void MemoryPage::chooseGroup(const text::GroupLink& link)
{
    if (!m_peakOf || !m_peakOf->table->find({ link.label }))
        return;
    const model::Grouping grouping = m_peakOf->table->grouping();
    m_document.viewState().setGrouping(grouping);
    select(EventRange{ link.event, link.event });
    showFocus(Focus::onGroup(grouping, { link.label }, link.event));
    Q_EMIT focusChanged(m_focus);
}

void MemoryPage::filterByGroup(std::uint32_t group)
{
    if (!m_subject.groups)
        return;
    const GroupData& groups = *m_subject.groups;
    model::BlockFilter filter = m_document.viewState().filter();
    model::infoOf(groups.table->grouping())
        .narrowToGroup(filter, *groups.device->trace, *groups.table, group);
    m_document.viewState().setFilter(filter);
}

void MemoryPage::select(std::optional<EventRange> range)
{
    m_document.viewState().select(range);
}

void MemoryPage::stepEvents(model::EventIndex by)
{
    const auto device = m_document.device();
    if (!device || device->trace->eventCount() == 0)
        return;
    const auto& selection = m_document.viewState().selection();
    const model::EventIndex from = selection ? (by > 0 ? selection->last : selection->first) : tableEvent();
    const model::EventIndex to
        = std::clamp<model::EventIndex>(from + by, -1, device->trace->eventCount() - 1);
    select(EventRange{ to, to });
}

void MemoryPage::stepToAlloc(int direction)
{
    const auto device = m_document.device();
    if (!device)
        return;
    const auto& actions = device->trace->events().action;
    const auto& selection = m_document.viewState().selection();
    model::EventIndex e = selection ? (direction > 0 ? selection->last : selection->first) : tableEvent();
    for (e += direction; e >= 0 && e < device->trace->eventCount(); e += direction)
        if (actions[static_cast<std::size_t>(e)] == model::Action::Alloc)
            return select(EventRange{ e, e });
}

void MemoryPage::setMode(PictureMode mode)
{
    m_canvas->setMode(mode);
    m_modes->button(static_cast<int>(mode))->setChecked(true);
}

void MemoryPage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_canvas->setColours(palette);
    m_header->setColours(palette);
    m_table->setStyles(m_canvas->styles());
    m_steps->setColours(palette);
    showLegend();
}

bool MemoryPage::busy() const
{
    if (m_document.state() == Document::State::Loading || m_document.working() || m_document.replaying())
        return true;
    const bool awaitsGroups = model::infoOf(m_document.viewState().grouping()).ofLabels
        || m_document.viewState().filter().asksForLabels();
    if (awaitsGroups && m_document.analysing())
        return true;
    return m_document.device()
        && (m_subjectJob.running() || m_tableJob.running() || m_steps->job().running()
            || m_canvas->store().busy());
}

QString MemoryPage::commandLine() const
{
    const auto device = m_document.device();
    if (!device)
        return {};
    if (showsSteps())
        return StepsView::commandLine(m_document.path(), device->trace->device());
    const auto grouping = model::infoOf(m_document.viewState().grouping()).name;
    QString line = QStringLiteral("strata at %1 %2 --device %3 --by %4")
                       .arg(text::shellQuoted(m_document.path()))
                       .arg(tableEvent())
                       .arg(device->trace->device())
                       .arg(QLatin1String(grouping.data(), static_cast<qsizetype>(grouping.size())));
    line += filterOption(m_document.viewState().filter(), device->trace->recording());
    if (const auto order = m_table->order(); order != model::SortBy{ model::GroupOrder::Bytes, true })
        line += QStringLiteral(" --sort=") + QString::fromStdString(model::sortName(order));
    return line;
}

bool MemoryPage::writeCsv(QIODevice& out) const
{
    return showsSteps() ? m_steps->writeCsv(out) : m_table->writeCsv(out);
}

QString MemoryPage::copyText() const
{
    if (showsSteps())
        return m_steps->copyText();
    return m_table->text(m_view->selectionModel()->selectedRows());
}

bool MemoryPage::saveSvg(const QString& path)
{
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(m_canvas->size());
    svg.setViewBox(m_canvas->rect());
    svg.setResolution(m_canvas->logicalDpiX());
    svg.setTitle(title());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    m_canvas->paintVectors(painter);
    return painter.end();
}

} // namespace strata::views
