// SPDX-License-Identifier: GPL-3.0-or-later
// The page Summary: the picture of the curve, the cards that it fits on, what folds.
#include "model/session/save.h"
#include "model/wire/info.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/gui/training/training_run.h"
#include "tests/support/make_recording.h"
#include "views/contents/details/details_panel.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/parts/code_row.h"
#include "views/pages/parts/fold_section.h"
#include "views/pages/summary/summary_page.h"
#include "views/style/texts.h"
#include "views/widgets/memory/curve_overview.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>

using namespace strata;
using namespace strata::views;

namespace {

class SummaryPageTest : public test::ShellTest {
protected:
    SummaryPage& page() { return driver().shown<SummaryPage>("summary"); }
    CurveOverview& picture() { return *page().findChild<CurveOverview*>(); }
    FoldSection& fold(const char* name) { return *page().findChild<FoldSection*>(QLatin1String(name)); }
    QPushButton& headingOf(const char* name) { return *fold(name).findChild<QPushButton*>(); }
    /// The place of a column of the picture.
    QPoint placeOf(int column)
    {
        const CanvasLayout& layout = picture().scene().layout;
        return { layout.left() + column, layout.curves.center().y() };
    }
    /// A file in which a free is larger than its block.
    QString wrongFile()
    {
        return file("wrong.json",
            R"({"segments":[{"device":0,"address":1024,"total_size":2048,"allocated_size":9999,"active_size":512,)"
            R"("stream":0,"segment_type":"small","blocks":[{"size":512,"requested_size":512,"state":"active_allocated"},)"
            R"({"size":1536,"state":"inactive"}]}],"allocator_settings":{"expandable_segments":true,"max_split_size":-1}})");
    }
    QString bareFile()
    {
        return file("bare.json",
            R"({"segments":[{"device":0,"address":1024,"total_size":2048,"allocated_size":512,"active_size":512,)"
            R"("stream":0,"segment_type":"small","blocks":[{"size":512,"requested_size":512,"state":"active_allocated"},)"
            R"({"size":1536,"state":"inactive"}]}]})");
    }
};

TEST_F(SummaryPageTest, ThePictureShowsAllOfTheRecordingAndAClickOpensMemoryThere)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    ASSERT_FALSE(picture().waits());
    EXPECT_TRUE(picture().isVisible());
    EXPECT_GE(picture().height(), 96);
    const CanvasScene& scene = picture().scene();
    EXPECT_EQ(scene.x.view(), XMapping::wholeSpan(scene.x.axis(), scene.clock()));
    std::int64_t requested = 0, reserved = 0;
    for (const model::CurveRange& column : scene.curves.requested)
        requested = std::max(requested, column.max);
    for (const model::CurveRange& column : scene.curves.reserved)
        reserved = std::max(reserved, column.max);
    EXPECT_EQ(requested, driver().device().summary->totals.requestedBytesPeak);
    EXPECT_EQ(reserved, driver().device().summary->totals.reservedBytesPeak);

    const int column = scene.layout.width() / 3;
    QSignalSpy hover(&page(), &Page::hoverText);
    test::WindowDriver::move(picture(), placeOf(column));
    ASSERT_TRUE(picture().pointedAt());
    const model::EventIndex event = *picture().pointedAt();
    EXPECT_EQ(event, eventOfColumn(scene.curves, column));
    ASSERT_FALSE(hover.isEmpty());
    const QString read = hover.back().front().toString();
    EXPECT_TRUE(read.contains(text::bytes(driver().device().timeline->requested().at(event))))
        << qPrintable(read);
    EXPECT_TRUE(read.contains(text::bytes(driver().device().timeline->reserved().at(event))))
        << qPrintable(read);

    test::WindowDriver::click(picture(), placeOf(column));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().state().selection(), (EventRange{ event, event }));
    EXPECT_EQ(driver().view().details().focusShown(), Focus::onEvent(event));
}

TEST_F(SummaryPageTest, SaysWhatLeaksAndLeadsThere)
{
    const QString leaks = m_scratch.filePath(QStringLiteral("leaks.strata"));
    test::writeTrainingRun(leaks.toStdString());
    ASSERT_NO_FATAL_FAILURE(open(leaks));
    (void)page();
    const auto line = [this]() -> QLabel* {
        for (QLabel* label : page().findChildren<QLabel*>())
            if (label->isVisible() && label->text().startsWith(QStringLiteral("Leaks ")))
                return label;
        return nullptr;
    };
    ASSERT_TRUE(test::eventually([&] { return line() != nullptr; }));
    EXPECT_TRUE(line()->text().contains(QStringLiteral("train.py:30"))) << qPrintable(line()->text());
    EXPECT_TRUE(page().copyText().contains(QStringLiteral("Leaks ")));
    Q_EMIT line()->linkActivated(QStringLiteral("page:leaks"));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("leaks"));
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    EXPECT_FALSE(line());
}

TEST_F(SummaryPageTest, TheDryRunOfOtherCardsCanBeCopied)
{
    namespace info = strata::wire::info;
    const auto made = test::makeRecording("segment_alloc 0x100000 2097152\nalloc 0x100000 1048576\n");
    made->facts[wire::deviceKey(info::kDevice, 0, info::kDeviceName)] = "NVIDIA A100-SXM4-80GB";
    made->facts[wire::deviceKey(info::kDevice, 0, info::kDeviceCapacity)] = "84936556544";
    made->facts[info::kCommand] = "python pretrain.py";
    const QString path = m_scratch.filePath(QStringLiteral("named.strata"));
    ASSERT_TRUE(model::saveSession(*made, path.toStdString()));
    ASSERT_NO_FATAL_FAILURE(open(path));
    const auto* const row = page().findChild<CodeRow*>();
    ASSERT_TRUE(row);
    row->findChild<QPushButton*>()->click();
    EXPECT_EQ(QApplication::clipboard()->text(),
        QStringLiteral("strata dryrun --device A100-80GB --on-each-card -- python pretrain.py"));
    EXPECT_EQ(row->findChild<QLineEdit*>()->text(), QApplication::clipboard()->text()); // can be selected
}

TEST_F(SummaryPageTest, ThePictureIsReadByKeyboard)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    window().activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window()));
    picture().setFocus(Qt::TabFocusReason);
    ASSERT_TRUE(picture().hasFocus());
    ASSERT_TRUE(picture().pointedAt());
    const model::CurveRange& peak
        = *std::ranges::max_element(picture().scene().curves.requested, {}, &model::CurveRange::max);
    EXPECT_EQ(*picture().pointedAt(), peak.maxEvent) << "it begins at the peak";
    const auto selection = driver().state().selection();
    driver().key(Qt::Key_Left);
    driver().key(Qt::Key_Left);
    const model::EventIndex left = *picture().pointedAt();
    EXPECT_LT(left, peak.maxEvent);
    driver().key(Qt::Key_Right);
    EXPECT_GT(*picture().pointedAt(), left);
    EXPECT_EQ(driver().state().selection(), selection) << "the arrows are the picture's here";
    EXPECT_FALSE(picture().accessibleName().isEmpty());
    EXPECT_TRUE(picture().accessibleDescription().contains(
        text::bytes(driver().device().timeline->requested().at(*picture().pointedAt()))));
    const model::EventIndex chosen = *picture().pointedAt();
    driver().key(Qt::Key_Return);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().state().selection(), (EventRange{ chosen, chosen }));
}

TEST_F(SummaryPageTest, ThePictureFollowsTheAxisAndIsNotThereWithoutEvents)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    for (const model::Axis axis : { model::Axis::Time, model::Axis::Events }) {
        driver().state().setAxis(axis);
        EXPECT_EQ(picture().scene().x.axis(), axis);
    }
    ASSERT_NO_FATAL_FAILURE(open(bareFile()));
    EXPECT_FALSE(page().findChild<CurveOverview*>());
}

TEST_F(SummaryPageTest, NamesTheCardsWithTheRoomLeft)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const auto& needs = driver().device().summary->needs;
    ASSERT_TRUE(needs);
    const QLabel* line = nullptr;
    for (const auto* label : page().findChildren<QLabel*>())
        if (label->isVisible() && test::plainText(label->text()).startsWith(QStringLiteral("Fits on")))
            line = label;
    ASSERT_TRUE(line);
    const QString left = test::plainText(line->toolTip());
    for (const model::CardFit& one : needs->cards) {
        EXPECT_TRUE(left.contains(text::utf8(one.card->name))) << one.card->name;
        if (one.fit == model::Fit::Yes) {
            EXPECT_TRUE(left.contains(text::bytes(one.marginBytes) + QStringLiteral(" left")));
        }
    }

    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    EXPECT_TRUE(test::shows(page(), QStringLiteral("Did not fit on the ")));
    EXPECT_FALSE(test::shows(page(), QStringLiteral("Fits on")));
}

TEST_F(SummaryPageTest, WhatIsRightFoldsToALineAndWhatTheUserUnfoldsIsRemembered)
{
    ASSERT_NO_FATAL_FAILURE(open(bareFile()));
    (void)page();
    for (const char* name : { "numbers", "settings" }) {
        EXPECT_FALSE(fold(name).isOpen()) << name;
        EXPECT_GE(test::shownTexts(fold(name)).size(), 2) << "its heading says the essence";
    }
    EXPECT_TRUE(test::shows(fold("numbers"), QStringLiteral("2.00 KiB reserved, no events")));
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    ASSERT_TRUE(driver().document().summary()->findings.empty());
    EXPECT_FALSE(fold("integrity").isOpen());
    EXPECT_TRUE(test::shows(fold("integrity"), QStringLiteral("all 14 checks hold")));
    EXPECT_FALSE(test::shows(page(), QStringLiteral("reserved, peak")));
    EXPECT_TRUE(test::shows(fold("numbers"), text::count(driver().device().trace->eventCount())));

    page().findChild<QScrollArea*>()->ensureWidgetVisible(
        &headingOf("numbers")); // it may lie below the story
    test::WindowDriver::click(headingOf("numbers"));
    EXPECT_TRUE(fold("numbers").isOpen());
    EXPECT_TRUE(test::shows(page(), QStringLiteral("reserved, peak")));
    makeWindow();
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    EXPECT_TRUE(fold("numbers").isOpen());
    EXPECT_FALSE(fold("integrity").isOpen());
    headingOf("numbers").setFocus(Qt::TabFocusReason);
    QTest::keyClick(&headingOf("numbers"), Qt::Key_Space);
    EXPECT_FALSE(fold("numbers").isOpen());
}

TEST_F(SummaryPageTest, WhatIsWrongStandsOpen)
{
    ASSERT_NO_FATAL_FAILURE(open(wrongFile()));
    (void)page();
    ASSERT_FALSE(driver().document().summary()->findings.empty());
    EXPECT_TRUE(fold("integrity").isOpen());
    EXPECT_TRUE(fold("settings").isOpen()) << "one of them is not at its default";
    EXPECT_TRUE(test::shows(fold("settings"), QStringLiteral("1 of 2 not at the default")));
    EXPECT_FALSE(fold("numbers").isOpen());
    // Folded by hand, it is so for this file alone.
    test::WindowDriver::click(headingOf("integrity"));
    EXPECT_FALSE(fold("integrity").isOpen());
    makeWindow();
    ASSERT_NO_FATAL_FAILURE(open(wrongFile()));
    (void)page();
    EXPECT_TRUE(fold("integrity").isOpen());
}

} // namespace
