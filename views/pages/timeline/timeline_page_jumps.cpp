// SPDX-License-Identifier: GPL-3.0-or-later
// From work to memory and back, and from an operator to the code that called it.
#include "views/pages/timeline/timeline_page.h"

#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/work_callers.h"

#include <QAction>
#include <QLineEdit>
#include <QMenu>

#include <algorithm>

namespace strata::views {

namespace {

constexpr double kAround = 0.05; // of a life, on both sides of it

/// On the clock of the recording, as the lanes are.
model::TimeRange lifeOf(const model::DeviceTrace& trace, const model::Clock& clock, model::BlockId block)
{
    const model::EventIndex died = trace.blocks().death(block);
    return { clock.timeNs(trace.blocks().birth(block)),
        died == model::BlockColumns::kNever ? clock.endNs() : clock.timeNs(died) };
}

} // namespace

void TimelinePage::addJumpActions()
{
    const auto add = [this](const QString& text, Qt::Key key, auto&& jump) {
        addPageAction(
            text, { key },
            [this, jump] {
                if (const auto piece = m_lanes->data() ? m_lanes->current() : std::nullopt)
                    (this->*jump)(*piece);
            },
            m_lanes);
    };
    add(tr("Blocks alive while it ran"), Qt::Key_B, &TimelinePage::showBlocksDuring);
    add(tr("To its module"), Qt::Key_M, &TimelinePage::goToModule);
    add(tr("To its source line"), Qt::Key_L, &TimelinePage::goToLine);
    addPageAction(tr("What ran while the block lived"), { Qt::Key_K }, [this] { showLifeOfBlock(); });
    connect(
        m_lanes, &LanesView::menuAsked, this, [this](QMenu* menu, quint32 piece) { addJumps(*menu, piece); });
}

/// Those that lead somewhere.
void TimelinePage::addJumps(QMenu& menu, std::uint32_t piece)
{
    const WorkCallers callers = callersOf(*m_lanes->data(), piece);
    const auto add = [&](const QString& text, std::optional<std::uint32_t> to) {
        if (to && *to != piece)
            menu.addAction(text, this, [this, target = *to] { goToPiece(target); });
    };
    add(tr("To Its Launch"), callers.launch);
    add(tr("To Its Operator"), callers.op);
    add(tr("To Its Forward Operator"), callers.forward);
    add(tr("To Its Module"), callers.module);
    add(tr("To Its Source Line"), callers.line);
    if (!clockOf(piece))
        return;
    if (model::isDeviceWork(m_lanes->data()->work().spans[piece].kind)) {
        menu.addAction(tr("Blocks Alive While It Ran"), this, [this, piece] { showBlocksDuring(piece); });
        if (callers.launch)
            menu.addAction(tr("Blocks Alive at Its Launch"), this,
                [this, piece, launch = *callers.launch] { showBlocksAtLaunch(piece, launch); });
    }
}

void TimelinePage::goToPiece(std::uint32_t piece)
{
    m_lanes->setCurrent(piece);
    m_lanes->reveal(piece);
    Q_EMIT focusChanged(Focus::onWork(text::workDetails(*m_lanes->data(), piece)));
}

void TimelinePage::goToModule(std::uint32_t piece)
{
    if (const auto module = callersOf(*m_lanes->data(), piece).module)
        goToPiece(*module);
}

void TimelinePage::goToLine(std::uint32_t piece)
{
    if (const auto line = callersOf(*m_lanes->data(), piece).line)
        goToPiece(*line);
}

/// Of the memory of the device that a piece ran on; nothing where no events with times were recorded of it.
std::optional<model::Clock> TimelinePage::clockOf(std::uint32_t piece) const
{
    const LanesData& lanes = *m_lanes->data();
    const std::optional<int> device = lanes.work().lanes[lanes.work().spans[piece].lane].device;
    const model::DeviceTrace* const trace = device ? lanes.session().find(*device) : nullptr;
    return trace && trace->events().hasTimes() && trace->eventCount() > 0
        ? std::optional<model::Clock>(*trace)
        : std::nullopt;
}

void TimelinePage::selectBlocks(std::uint32_t piece, const model::EventRange& range)
{
    const LanesData& lanes = *m_lanes->data();
    m_document.viewState().select(*lanes.work().lanes[lanes.work().spans[piece].lane].device, range);
    Q_EMIT openPage(QStringLiteral("blocks"), std::nullopt);
}

/// From the moment at which it began to that at which it ended.
void TimelinePage::showBlocksDuring(std::uint32_t piece)
{
    const model::WorkSpan& span = m_lanes->data()->work().spans[piece];
    if (const auto clock = model::isDeviceWork(span.kind) ? clockOf(piece) : std::nullopt)
        selectBlocks(piece, { clock->eventAt(span.startNs), clock->eventAt(span.endNs()) });
}

/// PyTorch frees a block once all that uses it is launched: what a kernel uses was alive at its launch.
void TimelinePage::showBlocksAtLaunch(std::uint32_t piece, std::uint32_t launch)
{
    if (const auto clock = clockOf(piece)) {
        const model::EventIndex then = clock->eventAt(m_lanes->data()->work().spans[launch].startNs);
        selectBlocks(piece, { then, then });
    }
}

/// Measures its life, and what the device did in it stands out.
void TimelinePage::showLifeOfBlock()
{
    const auto device = m_document.device();
    const auto& lanes = m_lanes->data();
    if (!lanes || !device || m_focus.kind != Focus::Kind::Block
        || !device->trace->blocks().contains(m_focus.block) || !device->trace->events().hasTimes())
        return;
    const model::TimeRange life = lifeOf(*device->trace, device->timeline->clock(), m_focus.block);
    const model::Work& work = lanes->work();
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t piece = 0; piece < work.spans.size(); ++piece) {
        const model::WorkSpan& span = work.spans[piece];
        if (model::isDeviceWork(span.kind) && work.lanes[span.lane].device == device->trace->device()
            && span.startNs < life.lastNs && life.firstNs < span.endNs())
            pieces.push_back(piece);
    }
    const auto begin = static_cast<double>(life.firstNs - lanes->tracks().startNs());
    const auto end = static_cast<double>(life.lastNs - lanes->tracks().startNs());
    const double around = (end - begin) * kAround;
    m_find->clear();
    m_lanes->setCurrent(std::nullopt);
    m_marksRow = false;
    m_lanes->mark(pieces);
    m_lanes->showSpan({ begin - around, end + around });
    m_lanes->measure(Span{ std::max(begin, 0.0), std::max(end, 0.0) });
    showTexts();
}

/// "Show it there" of a block shows its life, of any other event its time.
void TimelinePage::goTo(model::EventIndex event)
{
    const auto device = m_document.device();
    if (!device || !m_lanes->data() || !device->trace->events().hasTimes())
        return;
    const model::BlockColumns& blocks = device->trace->blocks();
    if (m_focus.kind == Focus::Kind::Block && blocks.contains(m_focus.block)
        && blocks.birth(m_focus.block) == event)
        return showLifeOfBlock();
    const auto at
        = static_cast<double>(device->timeline->clock().timeNs(event) - m_lanes->data()->tracks().startNs());
    const double width = m_lanes->view().width();
    if (!m_lanes->view().contains(at))
        m_lanes->showSpan({ at - width / 2, at + width / 2 });
}

} // namespace strata::views
