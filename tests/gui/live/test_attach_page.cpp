// SPDX-License-Identifier: GPL-3.0-or-later
// The page Attach: what it finds, what it says where there is nothing, how it leads to a process.
#include "tests/gui/live/live_window.h"

#include "views/pages/attach/process_list.h"
#include "views/shell/banner.h"

#include <QLineEdit>
#include <QPushButton>

using namespace strata;
using namespace strata::views;

namespace strata::test {

namespace {

QPushButton* buttonOf(const QWidget& in, const QString& text)
{
    for (auto* button : in.findChildren<QPushButton*>())
        if (button->text() == text && button->isVisible())
            return button;
    return nullptr;
}

} // namespace

TEST_F(LiveWindow, ReservedMemoryThatIsNotToldHasNoLine)
{
    const auto linePixels = [](std::int64_t reserved) {
        ProcessList list;
        list.setColours(Palette::light());
        list.resize(1000, 120);
        ProcessFinder::Seen seen;
        seen.process.name = "train.py";
        seen.process.process = 7;
        seen.process.totals.emplace().devices.emplace_back().reservedBytes = reserved;
        seen.history = { { 1'000, 4'096, reserved }, { 60'000, 8'192, reserved } };
        list.setProcesses({ seen }, 90'000);
        const QImage picture = list.grab().toImage();
        int found = 0;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                found += picture.pixelColor(x, y) == Palette::light()[Palette::Role::Reserved] ? 1 : 0;
        return found;
    };
    EXPECT_GT(linePixels(16'384), 0);
    EXPECT_EQ(linePixels(-1), 0) << "not a line at 0";
}

TEST_F(LiveWindow, WhereNothingIsRecordedItSaysWhatToStart)
{
    driver().key(Qt::Key_L, Qt::ControlModifier);
    ASSERT_TRUE(
        eventually([&] { return shows(attachPage(), QStringLiteral("No process can be watched now")); }));
    if (attachPage().list().topLevelItemCount() == 0) { // else this machine has processes of others
        EXPECT_TRUE(shows(attachPage(), QStringLiteral("strata record --live -- python train.py")));
        EXPECT_TRUE(shows(attachPage(), QStringLiteral("strata dryrun --live")));
        EXPECT_FALSE(buttonOf(attachPage(), QStringLiteral("Attach"))->isEnabled());
    }
    driver().key(Qt::Key_Escape);
    EXPECT_NE(window().shown().title(), QStringLiteral("Attach"));
}

TEST_F(LiveWindow, ProcessesAppearAndGoByThemselves)
{
    driver().key(Qt::Key_L, Qt::ControlModifier);
    ASSERT_TRUE(
        eventually([&] { return shows(attachPage(), QStringLiteral("No process can be watched now")); }));
    record(false);
    train(10, 3);
    ASSERT_TRUE(eventually(
        [&] { return attachPage().verdict().startsWith(QStringLiteral("One process can be watched.")); }));
    ASSERT_TRUE(eventually([&] { return chooseOurs(); }));
    const auto chosen = attachPage().list().chosen();
    ASSERT_EQ(chosen.size(), 1u);
    EXPECT_EQ(chosen[0].process, getpid());
    EXPECT_EQ(attachPage().commandLine(), QStringLiteral("strata attach %1").arg(getpid()));
    // Figures are those of `strata list --json`: the same totals, in the same second.
    ASSERT_TRUE(eventually([&] {
        const auto now = attachPage().list().chosen();
        const auto* const device = now.empty() ? nullptr : busiestDevice(now[0]);
        return device && device->requestedBytes == 512 * (1 + 2 + 3);
    }));
    const QTreeWidgetItem* const row = attachPage().list().currentItem();
    EXPECT_EQ(row->text(0), QStringLiteral("train.py"));
    EXPECT_EQ(row->text(1), QStringLiteral("live"));
    EXPECT_EQ(row->text(2), QStringLiteral("3 of 8"));
    EXPECT_EQ(row->toolTip(5), QStringLiteral("3,072 B"));
    stop();
    ASSERT_TRUE(
        eventually([&] { return shows(attachPage(), QStringLiteral("No process can be watched now")); }));
}

TEST_F(LiveWindow, TheButtonAttachesAndEscapeLeadsBack)
{
    record(true);
    train(10);
    driver().key(Qt::Key_L, Qt::ControlModifier);
    ASSERT_TRUE(eventually([&] { return chooseOurs(); }));
    WindowDriver::click(*buttonOf(attachPage(), QStringLiteral("Attach")));
    ASSERT_TRUE(eventually([&] { return driver().documents() && driver().settled(); }));
    EXPECT_EQ(window().windowTitle(), QStringLiteral("train.py, rank 3 of 8 - Strata"));
    driver().key(Qt::Key_L, Qt::ControlModifier);
    EXPECT_TRUE(shows(attachPage(), QStringLiteral("Back to train.py, rank 3 of 8")));
    driver().key(Qt::Key_Escape);
    EXPECT_EQ(window().windowTitle(), QStringLiteral("train.py, rank 3 of 8 - Strata"));
    stop();
}

TEST_F(LiveWindow, AnAddressWhereNobodyAnswersSaysSo)
{
    driver().key(Qt::Key_L, Qt::ControlModifier);
    auto* const address = attachPage().findChild<QLineEdit*>();
    ASSERT_NE(address, nullptr);
    address->setFocus();
    driver().type(QStringLiteral("127.0.0.1:1"));
    driver().key(Qt::Key_Return);
    ASSERT_TRUE(eventually([&] { return !window().banners().isEmpty(); }));
    EXPECT_TRUE(shows(*window().banners().front(), QStringLiteral("127.0.0.1:1: ")));
    window().openFile(QStringLiteral("live:/nowhere/1.sock"));
    ASSERT_TRUE(eventually([&] {
        return !window().pending() && !window().banners().isEmpty()
            && shows(*window().banners().front(), QStringLiteral("/nowhere/1.sock: "));
    }));
    EXPECT_TRUE(m_settings.value(QStringLiteral("files/recent")).toStringList().isEmpty());
}

} // namespace strata::test
