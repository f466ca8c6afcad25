// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/shell/window_driver.h"
#include "views/pages/summary/findings_list.h"

#include <QPushButton>
#include <QSignalSpy>

using namespace strata;
using namespace strata::views;

namespace {

std::vector<model::Finding> breaches(int count)
{
    std::vector<model::Finding> all;
    for (int i = 0; i < count; ++i)
        all.push_back({ model::Check::AllocOverLive, 900 - i * 10, 1024, 1,
            model::say("The block at %1 was live.", model::asAddress(std::uint64_t(i) + 1)) });
    return all;
}

TEST(FindingsListTest, ManyOfOneKindAreOneRowWithACountTheFirstInstantAndAListOnClick)
{
    model::Totals totals;
    totals.events = 1000;
    std::vector<model::Finding> all = breaches(24);
    all.push_back({ model::Check::Truncated, -1, 0, 1, model::say("The file ends early.") });
    const DeviceBrief brief{ 0, &totals, all };
    FindingsList list({ &brief, 1 }, Palette::light());
    list.resize(500, 400);
    list.show();
    const QStringList texts = test::shownTexts(list);
    EXPECT_EQ(texts.filter(QStringLiteral("24 times, 24.0 KiB")).size(), 1) << qPrintable(texts.join(u'\n'));
    EXPECT_TRUE(texts.contains(QStringLiteral("event 670"))) << "the first of them";
    EXPECT_EQ(texts.filter(QStringLiteral("was live")), QStringList{ QStringLiteral("The block at 0x18 was live.") })
        << "that of the first instant";
    EXPECT_LT(texts.size(), 12);

    QSignalSpy chosen(&list, &FindingsList::eventChosen);
    QPushButton* more = nullptr;
    for (auto* button : list.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("List all 24"))
            more = button;
    ASSERT_TRUE(more);
    more->click();
    EXPECT_EQ(test::shownTexts(list).filter(QStringLiteral("was live")).size(), 25);
    for (auto* button : list.findChildren<QPushButton*>())
        if (button->isVisibleTo(&list) && button->text() == QStringLiteral("event 900"))
            button->click();
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][1].value<model::EventIndex>(), 900);
}

TEST(FindingsListTest, AListSaysWhereTheRestIsPrinted)
{
    model::Totals totals;
    totals.events = 10'000;
    const std::vector<model::Finding> all = breaches(250);
    const DeviceBrief brief{ 0, &totals, all };
    FindingsList list({ &brief, 1 }, Palette::light());
    list.show();
    for (auto* button : list.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("List all 250"))
            button->click();
    EXPECT_TRUE(test::shows(list, QStringLiteral("50 more; strata check prints them all")));
}

TEST(FindingsListTest, TwoOfAKindStandForThemselves)
{
    model::Totals totals;
    totals.events = 1000;
    const std::vector<model::Finding> all = breaches(2);
    const DeviceBrief brief{ 0, &totals, all };
    FindingsList list({ &brief, 1 }, Palette::light());
    EXPECT_EQ(test::shownTexts(list).filter(QStringLiteral("was live")).size(), 2);
}

} // namespace
