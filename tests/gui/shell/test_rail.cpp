// SPDX-License-Identifier: GPL-3.0-or-later
// The rail: pages in groups that fold to icons, grey where the file cannot fill them.
#include "tests/gui/shell/shell_test.h"
#include "views/contents/document/rail.h"

#include <QPushButton>
#include <QToolButton>

using namespace strata;
using namespace strata::views;

namespace {

class RailTest : public test::ShellTest {
protected:
    Rail& rail() { return driver().view().rail(); }
    QToolButton* button(int index) { return rail().findChildren<QToolButton*>().at(index); }
    QPushButton* heading(const char* title)
    {
        for (auto* found : rail().findChildren<QPushButton*>())
            if (found->text() == QLatin1String(title))
                return found;
        return nullptr;
    }
};

TEST_F(RailTest, GroupsHaveHeadingsAndFoldToIconsWhichIsRemembered)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    QStringList texts;
    for (const char* title : { "Overview", "Memory", "Allocator", "Improve", "Raw" }) {
        ASSERT_TRUE(heading(title)) << title;
        EXPECT_TRUE(heading(title)->isVisible());
    }
    EXPECT_LT(heading("Overview")->y(), button(0)->y());
    EXPECT_LT(button(1)->y(), heading("Memory")->y());
    EXPECT_LT(button(4)->y(), heading("Allocator")->y());
    EXPECT_LT(button(6)->y(), heading("Improve")->y());
    EXPECT_LT(button(7)->y(), heading("Raw")->y());
    EXPECT_TRUE(button(7)->toolTip().contains(QStringLiteral("Ctrl+0")));
    EXPECT_LT(button(8)->y(), button(9)->y()) << "one below the other";

    test::WindowDriver::click(*heading("Raw"));
    ASSERT_TRUE(test::eventually([&] { return button(8)->y() == button(9)->y(); })) << "beside each other";
    for (int page = 8; page < 11; ++page) {
        EXPECT_EQ(button(page)->toolButtonStyle(), Qt::ToolButtonIconOnly);
        EXPECT_TRUE(button(page)->toolTip().startsWith(driver().view().pages()[std::size_t(page)]->title()));
        EXPECT_LE(button(page)->geometry().right(), rail().width());
    }
    EXPECT_EQ(button(0)->toolButtonStyle(), Qt::ToolButtonTextBesideIcon);
    test::WindowDriver::click(*button(9));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("events"));

    makeWindow();
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    EXPECT_EQ(rail().folded(), QStringList{ QStringLiteral("blocks") });
    EXPECT_EQ(button(9)->toolButtonStyle(), Qt::ToolButtonIconOnly);
    test::WindowDriver::click(*heading("Raw"));
    EXPECT_TRUE(rail().folded().isEmpty());
}

TEST_F(RailTest, APageThatTheFileCannotFillIsGreyAndSaysWhatWouldRecordIt)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    for (int page = 0; page < 11; ++page)
        EXPECT_EQ(button(page)->accessibleDescription().isEmpty(), page != 1) << page;
    EXPECT_TRUE(button(1)->toolTip().contains(QStringLiteral("torch.profiler"))) << "Timeline";
    const QString bare = file("bare.json",
        R"({"segments":[{"device":0,"address":1024,"total_size":2048,"allocated_size":512,"active_size":512,)"
        R"("stream":0,"segment_type":"small","blocks":[{"size":512,"requested_size":512,"state":"active_allocated"},)"
        R"({"size":1536,"state":"inactive"}]}]})");
    ASSERT_NO_FATAL_FAILURE(open(bare));
    for (const int page : { 3, 4, 9 }) { // Flame graph, Leaks, Events
        EXPECT_TRUE(button(page)->property("absent").toBool()) << page;
        EXPECT_TRUE(button(page)->isVisible() && button(page)->isEnabled()) << page;
        EXPECT_TRUE(button(page)->toolTip().contains(QStringLiteral("_record_memory_history")))
            << qPrintable(button(page)->toolTip());
    }
    for (const int page : { 0, 2, 5, 6, 7, 8, 10 })
        EXPECT_FALSE(button(page)->property("absent").toBool()) << page;
    test::WindowDriver::click(*button(9));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("events")) << "it can be looked at all the same";
}

} // namespace
