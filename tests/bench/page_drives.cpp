// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/page_drives.h"

#include "model/analysis/summary/groups.h"
#include "views/contents/document/document_view.h"
#include "views/contents/document/minimap.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/pages/tables/table_page.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_view.h"

#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <random>

namespace strata::bench {

namespace {

using model::EventIndex;
using views::EventRange;
using views::MemoryCanvas;
using views::PictureMode;

constexpr double kFrameBar = 16, kDetailBar = 100, kPickBar = 5, kGoToBar = 20, kLiveBar = 100;

/// Positions that a script visits: the peak, and places that lie well apart.
std::vector<EventIndex> places(const views::DeviceData& device)
{
    const EventIndex events = device.trace->eventCount();
    std::vector<EventIndex> all{ device.trace->totals().requestedPeakEvent, events / 3, events - 1,
        events / 7 * 5 };
    for (EventIndex& e : all)
        e = std::clamp<EventIndex>(e, 0, std::max<EventIndex>(events - 1, 0));
    return all;
}

const views::DeviceData& deviceOf(Driver& driver)
{
    return *driver.document().device();
}

/// Selects ranges around each place from everything down to one event and back, as a drag of the minimap's
/// handle does: every page shows what is selected, the minimap first. Ends with nothing selected.
bool driveSelection(Driver& driver, views::Page& page, const std::string& name)
{
    views::ViewState& state = driver.document().viewState();
    views::Minimap& minimap = driver.view().minimap();
    const EventIndex events = deviceOf(driver).trace->eventCount();
    if (events == 0)
        return true;
    Samples frames, details;
    for (const EventIndex at : places(deviceOf(driver))) {
        std::vector<EventRange> ranges;
        for (double half = static_cast<double>(events) / 2; half >= 1; half *= 0.7) {
            const auto side = static_cast<EventIndex>(half);
            const EventRange range{ std::max<EventIndex>(at - side, 0), std::min(at + side, events - 1) };
            if (ranges.empty() || ranges.back() != range)
                ranges.push_back(range);
        }
        ranges.push_back({ at, at });
        const auto show = [&](const EventRange& range) {
            if (state.selection() != range) // else there is nothing to paint
                driver.frame(
                    minimap, [&] { state.select(range); }, frames);
        };
        std::for_each(ranges.begin(), ranges.end(), show);
        std::for_each(ranges.rbegin(), ranges.rend(), show);
        driver.waitUntilQuiet(page);
        for (std::size_t i = 1; i < ranges.size(); i += 3) {
            driver.detail(
                page, [&] { state.select(ranges[i]); }, [&] { return !page.busy(); }, details);
            driver.waitUntilQuiet(page);
        }
    }
    state.select(std::nullopt);
    driver.waitUntilQuiet(page);
    const bool met = report(name + ", select: frame", frames, kFrameBar);
    return report(name + ", select: page complete", details, 0) && met;
}

double pointOf(MemoryCanvas& canvas, EventIndex e)
{
    const double x = canvas.scene().pointOfEvent(e) + 0.5;
    return std::clamp(x, double(canvas.scene().layout.left()), canvas.scene().layout.picture.right() + 0.5);
}

void zoomInAndOut(Driver& driver, MemoryCanvas& canvas, EventIndex e, Samples& frames)
{
    const auto step = [&](int notches) {
        driver.frame(
            canvas,
            [&] {
                turnWheel(canvas, { pointOf(canvas, e), canvas.height() * 0.5 }, notches);
            },
            frames);
    };
    const double narrow = views::XMapping::narrowest(canvas.viewport().axis());
    for (int i = 0; i < 200 && canvas.viewport().x().width() > narrow; ++i)
        step(1);
    for (int i = 0; i < 200 && canvas.viewport().x() != canvas.viewport().xLimits(); ++i)
        step(-1);
    driver.waitFor([&] { return !canvas.store().busy(); });
}

/// Jumps to views of all widths and waits for the picture of the view.
void jumpAround(Driver& driver, MemoryCanvas& canvas, Samples& details)
{
    std::mt19937 random(11);
    const views::Span all = canvas.viewport().xLimits();
    for (int i = 0; i < 60; ++i) {
        const double width = all.width() * std::pow(0.7, double(random() % 30));
        const double begin = all.begin + (all.width() - width) * double(random() % 1000) / 1000.0;
        driver.detail(
            canvas,
            [&] {
                canvas.viewport().showX({ begin, begin + width });
            },
            [&] { return canvas.store().detailed(); }, details);
        driver.waitFor([&] { return !canvas.store().busy(); });
    }
    canvas.viewport().showAll();
    driver.waitFor([&] { return !canvas.store().busy(); });
}

bool driveQuestions(Driver& driver, views::MemoryPage& page)
{
    MemoryCanvas& canvas = *page.canvas();
    const views::DeviceData& device = deviceOf(driver);
    const EventIndex events = device.trace->eventCount();
    const QRect area = canvas.scene().layout.picture;
    std::mt19937 random(5);
    const auto anyEvent
        = [&] { return static_cast<EventIndex>(random() % std::uint64_t(std::max<EventIndex>(events, 1))); };
    const auto timed = [](Samples& samples, const auto& call) {
        QElapsedTimer timer;
        timer.start();
        const double cpu = Application::threadMs();
        call();
        samples.cpu.push_back(Application::threadMs() - cpu);
        samples.wall.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    };
    Samples picks, hovers, gos, lives;
    for (int i = 0; i < 300; ++i) {
        const QPointF at(area.left() + int(random() % unsigned(area.width())),
            area.top() + int(random() % unsigned(area.height())));
        const auto move = [&] {
            QMouseEvent event(
                QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QCoreApplication::sendEvent(&canvas, &event);
        };
        if (i % 3 == 0)
            driver.frame(canvas, move, hovers);
        else
            timed(picks, move);
    }
    QEvent left(QEvent::Leave);
    QCoreApplication::sendEvent(&canvas, &left);
    for (const PictureMode mode : { PictureMode::Blocks, PictureMode::Stacked }) {
        page.setMode(mode);
        canvas.viewport().showX({ double(events) / 2, double(events) / 2 + 5000 });
        for (int i = 0; i < 60; ++i) {
            driver.waitUntilQuiet(page);
            const EventIndex e = anyEvent();
            driver.frame(
                canvas, [&] { driver.view().goTo(device.trace->device(), e); }, gos);
        }
    }
    for (int i = 0; i < 60; ++i)
        timed(lives, [&] { (void)model::groupsAt(*device.timeline, *device.byLine, anyEvent()); });
    driver.document().viewState().select(std::nullopt);
    canvas.viewport().showAll();
    driver.waitUntilQuiet(page);
    bool met = report("memory, pick under the cursor", picks, kPickBar);
    met = report("memory, hover: frame", hovers, kFrameBar) && met;
    met = report("memory, go to event: frame", gos, kGoToBar) && met;
    return report("live set at event", lives, kLiveBar) && met;
}

bool driveMemory(Driver& driver, views::MemoryPage& page)
{
    MemoryCanvas& canvas = *page.canvas();
    views::ViewState& state = driver.document().viewState();
    bool met = true;
    for (const PictureMode mode : { PictureMode::Stacked, PictureMode::Blocks })
        for (const model::Axis axis : { model::Axis::Events, model::Axis::Time }) {
            page.setMode(mode);
            state.setAxis(axis);
            if (canvas.viewport().axis() != axis || deviceOf(driver).trace->eventCount() == 0)
                continue;
            canvas.viewport().showAll();
            driver.waitUntilQuiet(page);
            const std::string name = std::string("memory ")
                + (mode == PictureMode::Stacked ? "stacked" : "blocks")
                + (axis == model::Axis::Events ? " by event" : " by time");
            Samples frames, details;
            for (const EventIndex e : places(deviceOf(driver)))
                zoomInAndOut(driver, canvas, e, frames);
            jumpAround(driver, canvas, details);
            met = report(name + ": frame", frames, kFrameBar) && met;
            met = report(name + ": full detail", details, kDetailBar) && met;
        }
    state.setAxis(model::Axis::Events);
    driver.waitUntilQuiet(page);
    return driveQuestions(driver, page) && met;
}

/// From the root down to the innermost of the widest frames by a click a level, and out again.
bool driveFlame(Driver& driver, views::FlamePage& page)
{
    views::FlameGraph& graph = page.graph();
    QWidget& picture = *graph.viewport();
    if (!graph.tree() || graph.tree()->total(0) <= 0)
        return true;
    Samples wheels, clicks, ends;
    const int middle = picture.height() / 3;
    for (const double share : { 0.1, 0.5, 0.85 }) {
        const QPointF at(picture.width() * share, middle);
        for (const int notches : { 1, -1 })
            for (int i = 0; i < 80; ++i)
                driver.frame(
                    picture, [&] { turnWheel(picture, at, notches); }, wheels);
    }
    // Down the tree level by level, along other branches each time.
    const auto whole = graph.window();
    for (int round = 0; round < 8; ++round) {
        graph.zoomOut();
        driver.waitFor(
            [&] { return graph.window().begin == whole.begin && graph.window().end == whole.end; });
        graph.verticalScrollBar()->setValue(0);
        views::FlameTree::Node node = 0;
        while (!graph.tree()->children(node).empty()) {
            const auto children = graph.tree()->children(node);
            node = children[std::min<std::size_t>(static_cast<std::size_t>(round), children.size() - 1)];
            const auto done = [&, node] {
                const auto seen = graph.window();
                return std::abs(seen.begin - static_cast<double>(graph.tree()->begin(node))) < 0.5
                    && std::abs(seen.end - seen.begin - static_cast<double>(graph.tree()->total(node))) < 1.5;
            };
            driver.frame(
                picture,
                [&, node] {
                    graph.setCurrent(node);
                    graph.zoomTo(node);
                    picture.update();
                },
                clicks);
            driver.waitFor(done);
        }
        while (graph.canGoBack())
            driver.frame(
                picture, [&] { graph.goBack(); }, ends);
    }
    bool met = report("flame, wheel: frame", wheels, kFrameBar);
    met = report("flame, zoom to a frame: frame", clicks, kFrameBar) && met;
    return report("flame, back: frame", ends, kFrameBar) && met;
}

bool driveTable(Driver& driver, views::TablePage& page, const std::string& name)
{
    views::TableView& view = page.table();
    QWidget& cells = *view.viewport();
    QScrollBar& bar = *view.verticalScrollBar();
    Samples scrolls, wheels, ends, filters;
    constexpr int kSteps = 150;
    for (const bool down : { true, false })
        for (int i = 1; i <= kSteps; ++i) {
            const double share = double(down ? i : kSteps - i) / kSteps;
            driver.frame(
                cells,
                [&] {
                    bar.setValue(static_cast<int>(std::lround(share * bar.maximum())));
                    cells.update();
                },
                scrolls);
        }
    for (int i = 0; i < 60; ++i)
        driver.frame(
            cells,
            [&] {
                turnWheel(cells, { 200, 200 }, i < 30 ? -3 : 3);
                cells.update();
            },
            wheels);
    constexpr Qt::Key kKeys[] = { Qt::Key_End, Qt::Key_Home, Qt::Key_PageDown, Qt::Key_Down, Qt::Key_End,
        Qt::Key_PageUp, Qt::Key_Up };
    for (int i = 0; i < 70; ++i)
        driver.frame(
            cells,
            [&] {
                QKeyEvent press(QEvent::KeyPress, kKeys[std::size_t(i) % std::size(kKeys)], Qt::NoModifier);
                QCoreApplication::sendEvent(&view, &press);
                cells.update();
            },
            ends);
    driver.document().viewState().select(std::nullopt);
    driver.waitUntilQuiet(page);
    Samples typed;
    for (const char* text : { ">1MiB", ">100MiB", "", "forward", "" }) {
        driver.frame(
            page.filterBar(), [&] { page.filterBar().setText(QString::fromLatin1(text)); }, typed);
        driver.detail(
            page, [] {}, [&] { return !page.busy(); }, filters);
        driver.waitUntilQuiet(page);
    }
    bool met = report(name + ", scroll to the last row: frame", scrolls, kFrameBar);
    met = report(name + ", wheel: frame", wheels, kFrameBar) && met;
    met = report(name + ", keys: frame", ends, kFrameBar) && met;
    met = report(name + ", filter: frame", typed, kFrameBar) && met;
    return report(name + ", filter: rows shown", filters, 0) && met;
}

} // namespace

bool drivePage(Driver& driver, const QString& id)
{
    views::Page& page = driver.show(id);
    bool met = true;
    if (auto* memory = qobject_cast<views::MemoryPage*>(&page))
        met = driveMemory(driver, *memory);
    else if (auto* flame = qobject_cast<views::FlamePage*>(&page))
        met = driveFlame(driver, *flame);
    else if (auto* table = qobject_cast<views::TablePage*>(&page))
        met = driveTable(driver, *table, id.toStdString());
    return driveSelection(driver, page, id.toStdString()) && met;
}

} // namespace strata::bench
