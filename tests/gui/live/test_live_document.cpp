// SPDX-License-Identifier: GPL-3.0-or-later
// A process in the views of a file: it follows, stands still and goes on, meets an out-of-memory, ends, is
// saved.
#include "tests/gui/live/live_window.h"

#include "views/contents/document/minimap.h"
#include "views/pages/memory/memory_page.h"
#include "views/shell/actions.h"
#include "views/shell/banner.h"
#include "views/style/texts.h"

#include <QPushButton>
#include <QToolButton>

using namespace strata;
using namespace strata::views;

namespace strata::test {

namespace {

QToolButton* followSwitch(const LiveBar& bar)
{
    for (auto* button : bar.findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("Follow"))
            return button;
    return nullptr;
}

} // namespace

TEST_F(LiveWindow, TheViewsShowWhatTheProcessDoes)
{
    record(true);
    train(100, 5);
    attach();
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    EXPECT_EQ(liveBar().stateText(), QStringLiteral("Live"));
    train(50);
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    EXPECT_EQ(driver().device().timeline->requested().at(shownEvents() - 1), 512 * (1 + 2 + 3 + 4 + 5));
    EXPECT_TRUE(driver().document().session()->exact());
    // Notes lie beside the file, and commands name it.
    EXPECT_EQ(driver().document().path(), recording());
    EXPECT_TRUE(driver().documents()->commandLine().contains(recording()));
    EXPECT_TRUE(window().actions().follow->isEnabled());
    EXPECT_TRUE(window().actions().follow->isChecked());
    stop();
    ASSERT_TRUE(
        eventually([&] { return liveBar().stateText() == QStringLiteral("Ended: all of it is here"); }));
    settle();
    EXPECT_FALSE(driver().document().isFollowing());
    EXPECT_FALSE(driver().document().session()->recording().truncation);
}

TEST_F(LiveWindow, WhatStandsStillLosesNothing)
{
    record(false);
    train(100);
    attach();
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    settle();
    const std::int64_t before = shownEvents();
    WindowDriver::click(*followSwitch(liveBar()));
    EXPECT_EQ(liveBar().stateText(), QStringLiteral("Paused"));
    EXPECT_FALSE(window().actions().follow->isChecked());
    train(1000);
    const std::int64_t since = toldEvents() - before;
    ASSERT_GT(since, 2'000);
    ASSERT_TRUE(eventually([&] { return live().eventsBehind(0) == since; }));
    EXPECT_EQ(liveBar().stateText(), QStringLiteral("Paused: %1 events since").arg(text::count(since)));
    EXPECT_EQ(shownEvents(), before);
    driver().key(Qt::Key_G, Qt::ControlModifier);
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    EXPECT_EQ(liveBar().stateText(), QStringLiteral("Live"));
    // It may also end meanwhile.
    driver().key(Qt::Key_G, Qt::ControlModifier);
    train(10);
    stop();
    ASSERT_TRUE(eventually([&] { return live().ended(); }));
    EXPECT_TRUE(driver().document().isFollowing());
    const std::int64_t told = toldEvents();
    driver().key(Qt::Key_G, Qt::ControlModifier);
    ASSERT_TRUE(eventually([&] { return shownEvents() == told && !driver().document().isFollowing(); }));
}

TEST_F(LiveWindow, AViewOfTheEndGoesWithIt)
{
    record(false);
    train(500);
    attach();
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    auto& page = driver().shown<MemoryPage>("memory");
    const Viewport& viewport = page.canvas()->viewport();
    const_cast<Viewport&>(viewport).showX({ 900, viewport.xLimits().end });
    const double width = viewport.x().width();
    train(200);
    ASSERT_TRUE(eventually([&] { return viewport.xLimits().end > 1'390; }));
    EXPECT_EQ(viewport.x().end, viewport.xLimits().end);
    EXPECT_DOUBLE_EQ(viewport.x().width(), width);
    const_cast<Viewport&>(viewport).showX({ 100, 200 });
    train(200);
    ASSERT_TRUE(eventually([&] { return viewport.xLimits().end > 1'790; }));
    EXPECT_EQ(viewport.x(), (Span{ 100, 200 }));
    stop();
}

TEST_F(LiveWindow, AnOutOfMemoryIsSaidAtOnceAndLeadsToItsReason)
{
    record(false);
    train(100, 20);
    attach();
    WindowDriver::click(*followSwitch(liveBar())); // even where the picture stands still
    m_allocator.fail(0, std::int64_t{ 3 } << 30);
    ASSERT_TRUE(eventually([&] { return !window().banners().isEmpty(); }));
    Banner& banner = *window().banners().front();
    EXPECT_TRUE(shows(
        banner, QStringLiteral("train.py, rank 3 of 8 ran out of memory on GPU 0: 3.00 GiB were asked for")));
    for (auto* button : banner.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Show Why"))
            WindowDriver::click(*button);
    ASSERT_TRUE(eventually([&] { return driver().settled() && shownEvents() == toldEvents(); }));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary"));
    EXPECT_TRUE(shows(*driver().view().currentPage(), QStringLiteral("3.00 GiB")));
    m_allocator.fail(0, std::int64_t{ 1 } << 30);
    ASSERT_TRUE(eventually([&] {
        return !window().banners().isEmpty()
            && shows(*window().banners().front(), QStringLiteral("2 times: at last 1.00 GiB"));
    }));
    stop();
}

TEST_F(LiveWindow, SavedWhileItRunsItOpensWithTheSameFigures)
{
    record(false);
    train(300, 7);
    attach();
    ASSERT_TRUE(eventually([&] { return shownEvents() == toldEvents(); }));
    const std::int64_t events = shownEvents();
    const model::Totals totals = driver().device().trace->totals();
    const QString path = m_folder.filePath(QStringLiteral("saved.strata"));
    const FileDialogAnswer answer(path);
    driver().key(Qt::Key_W, Qt::ControlModifier | Qt::AltModifier);
    ASSERT_TRUE(eventually([&] { return QFile::exists(path); }));
    stop();
    open(path);
    EXPECT_EQ(shownEvents(), events);
    EXPECT_EQ(driver().device().trace->totals().requestedBytesPeak, totals.requestedBytesPeak);
    EXPECT_EQ(driver().device().trace->totals().reservedBytesPeak, totals.reservedBytesPeak);
    EXPECT_EQ(driver().device().timeline->requested().at(events - 1), 512 * (1 + 2 + 3 + 4 + 5 + 6 + 7));
    EXPECT_TRUE(driver().document().session()->exact());
}

TEST_F(LiveWindow, WhereThereAreTooManyEventsTheOlderHalfGoes)
{
    record(false);
    train(100, 5);
    attach();
    // Far below what is kept by default: the least that can be.
    Document document;
    const auto found = LivePlace::find(place());
    ASSERT_TRUE(found);
    LiveSource source(document, *found, 1);
    for (int i = 0; i < 12; ++i) {
        train(1'000);
        ASSERT_TRUE(eventually([&] {
            const auto device = document.device();
            return device && source.status().thinned + device->trace->eventCount() == toldEvents();
        }));
        EXPECT_LE(document.device()->trace->eventCount(), model::LiveSession::kLeastEvents);
    }
    EXPECT_GT(source.status().thinned, 10'000);
    const auto device = document.device();
    EXPECT_EQ(device->timeline->requested().at(device->trace->eventCount() - 1), 512 * (1 + 2 + 3 + 4 + 5));
    EXPECT_EQ(device->session->recording().cuts.at(0).before, source.status().thinned);
    EXPECT_TRUE(device->session->exact());
    stop();
    ASSERT_TRUE(eventually([&] { return source.ended(); }));
    EXPECT_FALSE(source.latest()->recording().truncation);
}

TEST_F(LiveWindow, ClosingItLeavesTheRecordingAlone)
{
    record(true);
    train(100);
    attach();
    driver().key(Qt::Key_W, Qt::ControlModifier);
    EXPECT_FALSE(driver().documents());
    train(100);
    stop();
    open(recording());
    EXPECT_EQ(shownEvents(), toldEvents());
}

} // namespace strata::test
