// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/peak_chart.h"

#include "model/cards/fits.h"
#include "tests/gui/allocator/replayed.h"
#include "views/style/texts.h"

#include <QImage>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include <algorithm>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kChartGiB = std::int64_t{ 1 } << 30;

PeakPicture picture(
    std::int64_t recorded, std::optional<std::int64_t> predicted, std::int64_t least, std::int64_t most)
{
    PeakPicture picture{ .recorded = { recorded, recorded, recorded },
        .predicted = {},
        .least = model::PeakFigures{ least, least, least },
        .most = model::PeakFigures{ most, most, most },
        .capacityBytes = {} };
    if (predicted)
        picture.predicted = model::PeakFigures{ *predicted, *predicted, *predicted };
    return picture;
}

class PeakChartTest : public testing::Test, protected test::WindowFont {
protected:
    PeakChartTest()
    {
        m_chart.resize(640, 220);
        m_chart.setColours(Palette::light());
    }
    [[nodiscard]] QImage drawn()
    {
        QImage image(m_chart.size(), QImage::Format_RGB32);
        m_chart.render(&image);
        return image;
    }

    PeakChart m_chart;
};

TEST_F(PeakChartTest, BarsAreAsLongAsTheirBytes)
{
    m_chart.setPicture(picture(10 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB));
    for (int peak = 0; peak < 3; ++peak) {
        const QRectF was = m_chart.bar(peak, false), is = m_chart.bar(peak, true);
        EXPECT_NEAR(is.width(), 2 * was.width(), 1);
        EXPECT_GE(is.top(), was.bottom()); // they do not cover each other
        EXPECT_GT(was.height(), 4);
        EXPECT_TRUE(QRectF(m_chart.rect()).contains(is));
    }
    EXPECT_GT(m_chart.bar(1, false).top(), m_chart.bar(0, true).bottom());
    const QImage image = drawn();
    const Palette palette = Palette::light();
    const QPointF was = m_chart.bar(2, false).center(), is = m_chart.bar(2, true).center();
    EXPECT_EQ(image.pixelColor(was.toPoint()), palette[Palette::Role::Other]);
    EXPECT_EQ(image.pixelColor(is.toPoint()), palette[Palette::Role::Requested]);
}

TEST_F(PeakChartTest, WhereNothingIsAskedThereIsOneBar)
{
    PeakPicture same = picture(10 * kChartGiB, 10 * kChartGiB, 10 * kChartGiB, 10 * kChartGiB);
    m_chart.setPicture(same);
    const QRectF two = m_chart.bar(1, false).united(m_chart.bar(1, true));
    same.isAsked = false;
    m_chart.setPicture(same);
    EXPECT_TRUE(m_chart.bar(1, true).isEmpty());
    EXPECT_NEAR(m_chart.bar(1, false).center().y(), two.center().y(), 1);
    EXPECT_EQ(
        drawn().pixelColor(m_chart.bar(1, false).center().toPoint()), Palette::light()[Palette::Role::Other]);
    EXPECT_FALSE(m_chart.describe(1).join(QLatin1Char(' ')).contains(QLatin1String("predicted")));
}

TEST_F(PeakChartTest, LinesAreTheMemoryOfCards)
{
    m_chart.setPicture(picture(10 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB));
    ASSERT_GE(m_chart.lines().size(), 4u);
    std::size_t cards = 0;
    for (const PeakChart::CardLine& line : m_chart.lines()) {
        const QStringList names = line.all.split(QStringLiteral(", "));
        std::int64_t least = INT64_MAX;
        for (const QString& name : names) {
            const model::Card* card = model::findCard(name.toStdString());
            ASSERT_NE(card, nullptr) << qPrintable(name);
            least = std::min(least, card->capacityBytes);
        }
        EXPECT_EQ(line.bytes, least); // what is left of it fits on all of them
        EXPECT_LT(m_chart.xOf(line.bytes), m_chart.width());
        cards += static_cast<std::size_t>(names.size());
    }
    for (const PeakChart::CardLine& line : m_chart.lines()) { // each is named for the one that it is drawn at
        const model::Card* card = model::findCard(line.name.toStdString());
        ASSERT_NE(card, nullptr) << qPrintable(line.name);
        EXPECT_EQ(card->capacityBytes, line.bytes);
    }
    EXPECT_TRUE(std::ranges::is_sorted(m_chart.lines(), {}, &PeakChart::CardLine::bytes));
    // Of those that are too large for the scale the next one alone is drawn: what would do.
    const auto larger = std::ranges::count_if(
        m_chart.lines(), [](const PeakChart::CardLine& line) { return line.bytes > 20 * kChartGiB; });
    EXPECT_EQ(larger, 1);
    EXPECT_LT(cards, model::cards().size());
}

TEST_F(PeakChartTest, DrawsTheRecordedCardAndNoneWithOtherKernels)
{
    const model::Card* const ranOn = model::findCard("RTX-4080-16GB");
    ASSERT_NE(ranOn, nullptr);
    PeakPicture asked = picture(15 * kChartGiB, {}, 15 * kChartGiB, 15 * kChartGiB);
    asked.ranOn = ranOn;
    asked.recordedCapacityBytes = ranOn->capacityBytes;
    m_chart.setPicture(asked);
    int recorded = 0;
    for (const PeakChart::CardLine& line : m_chart.lines()) {
        recorded += line.isRecorded;
        if (line.isRecorded) {
            EXPECT_EQ(line.bytes, ranOn->capacityBytes);
            EXPECT_TRUE(line.name.contains(QStringLiteral("RTX-4080-16GB")));
            continue;
        }
        for (const QString& name : line.all.split(QStringLiteral(", ")))
            EXPECT_TRUE(model::isComparable(*model::findCard(name.toStdString()), ranOn)) << qPrintable(name);
    }
    EXPECT_EQ(recorded, 1);
    // Of another accelerator no card of the catalogue is drawn.
    asked.ranOn = nullptr;
    asked.hasCards = false;
    m_chart.setPicture(asked);
    ASSERT_EQ(m_chart.lines().size(), 1u);
    EXPECT_TRUE(m_chart.lines().front().isRecorded);
}

TEST_F(PeakChartTest, ALargeRecordedCardDoesNotShrinkTheBars)
{
    PeakPicture asked = picture(9 * kChartGiB, {}, 9 * kChartGiB, 9 * kChartGiB);
    asked.ranOn = model::findCard("A100-80GB");
    ASSERT_NE(asked.ranOn, nullptr);
    asked.recordedCapacityBytes = asked.ranOn->capacityBytes;
    m_chart.setPicture(asked);
    EXPECT_TRUE(std::ranges::none_of(m_chart.lines(), &PeakChart::CardLine::isRecorded));
    EXPECT_GT(m_chart.bar(2, false).width(), m_chart.width() / 3.0);
}

TEST_F(PeakChartTest, WhereItIsNarrowBarsHaveAllOfIt)
{
    m_chart.setPicture(picture(10 * kChartGiB, 20 * kChartGiB, 19 * kChartGiB, 21 * kChartGiB));
    const int wide = m_chart.minimumSizeHint().height();
    m_chart.resize(272, 220);
    EXPECT_GT(m_chart.bar(2, true).width(), 272 / 2);
    EXPECT_GT(m_chart.minimumSizeHint().height(), wide); // texts are above the bars
    for (int peak = 1; peak < 3; ++peak)
        EXPECT_GE(m_chart.bar(peak, false).top() - m_chart.bar(peak - 1, true).bottom(),
            QFontMetrics(m_chart.font()).height());
}

TEST_F(PeakChartTest, WithoutAPointItShowsBetweenWhatItLies)
{
    m_chart.setPicture(picture(10 * kChartGiB, {}, 15 * kChartGiB, 20 * kChartGiB));
    const QRectF bar = m_chart.bar(2, true);
    EXPECT_NEAR(bar.right(), m_chart.xOf(15 * kChartGiB), 0.01); // so much for sure
    const QImage image = drawn();
    int marked = 0;
    const int y = static_cast<int>(bar.top()) + 2;
    for (int x = qRound(bar.right()) + 4; x < qRound(m_chart.xOf(20 * kChartGiB)) - 4; ++x)
        marked += image.pixelColor(x, y) == Palette::light()[Palette::Role::Requested];
    EXPECT_GT(marked, 5);
    EXPECT_TRUE(m_chart.describe(2).contains(
        QStringLiteral("between %1 and %2")
            .arg(text::exactBytes(15 * kChartGiB), text::exactBytes(20 * kChartGiB))));
    EXPECT_TRUE(m_chart.accessibleDescription().contains(text::exactBytes(15 * kChartGiB)));
}

TEST_F(PeakChartTest, HoveringReadsABarAndALine)
{
    m_chart.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_chart));
    m_chart.setPicture(picture(10 * kChartGiB, 20 * kChartGiB, 19 * kChartGiB, 21 * kChartGiB));
    QSignalSpy read(&m_chart, &PeakChart::hovered);
    // Off the lines: the bar itself.
    QPointF place = m_chart.bar(1, false).center();
    while (std::ranges::any_of(m_chart.lines(),
        [&](const PeakChart::CardLine& line) { return std::abs(m_chart.xOf(line.bytes) - place.x()) < 8; }))
        place.rx() -= 1;
    QTest::mouseMove(&m_chart, place.toPoint());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !read.isEmpty(); }, 5'000));
    EXPECT_EQ(read.back()[0].toString(), m_chart.describe(1).join(QStringLiteral(", ")));
    const PeakChart::CardLine& line = m_chart.lines().front();
    QTest::mouseMove(&m_chart, QPoint(qRound(m_chart.xOf(line.bytes)), place.toPoint().y()));
    ASSERT_TRUE(QTest::qWaitFor([&] { return read.back()[0].toString().contains(line.all); }, 5'000));
}

TEST_F(PeakChartTest, BarsAreNoHigherWhereThereIsMoreRoom)
{
    m_chart.setPicture(picture(10 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB, 20 * kChartGiB));
    m_chart.resize(640, m_chart.greatestHeight() - 24);
    const double before = m_chart.bar(0, false).height();
    m_chart.resize(640, m_chart.greatestHeight());
    const double highest = m_chart.bar(0, false).height();
    EXPECT_GT(highest, before);
    m_chart.resize(640, 2 * m_chart.greatestHeight());
    EXPECT_EQ(m_chart.bar(0, false).height(), highest);
}

TEST_F(PeakChartTest, NothingIsDrawnOfNothing)
{
    m_chart.setPicture(std::nullopt);
    const QImage image = drawn();
    for (int x = 0; x < image.width(); x += 7)
        EXPECT_EQ(image.pixelColor(x, image.height() / 2), Palette::light()[Palette::Role::Surface]);
}

} // namespace
