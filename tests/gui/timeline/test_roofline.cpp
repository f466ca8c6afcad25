// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "tests/gui/timeline/page_test.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/timeline/roofline_chart.h"
#include "views/widgets/timeline/roofline_words.h"

#include <QBuffer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

class RooflinePage : public test::TimelinePageShown {
protected:
    void open(const std::string& text = test::productsAndSums())
    {
        openTrace(text);
        m_page.showTable(WorkTable::Kind::Roofline);
    }
    [[nodiscard]] QString cell(int row, int column) const
    {
        QString text = m_page.table().source()->cell(static_cast<std::uint32_t>(row), column).text;
        return text.replace(QChar(0xa0), QLatin1Char(' '));
    }
    [[nodiscard]] std::string_view nameOfCurrent() const
    {
        return m_page.lanes().current() ? m_page.lanes().data()->nameOf(*m_page.lanes().current())
                                        : std::string_view();
    }
};

TEST_F(RooflinePage, SaysHowFastOperatorsAreAndWhatLimitsThem)
{
    open();
    ASSERT_EQ(m_page.table().source()->rowCount(), 4u);
    // 2 x 4096^3 = 137.4 GFLOP, twice in 440 us: 625 TFLOP/s, 63 % of 989.5; 3 x 32 MiB each time.
    EXPECT_EQ(cell(0, 0), QStringLiteral("440 µs"));
    EXPECT_EQ(cell(0, 2), QStringLiteral("2"));
    EXPECT_EQ(cell(0, 3), QStringLiteral("625 TFLOP/s"));
    EXPECT_EQ(cell(0, 4), QStringLiteral("458 GB/s"));
    EXPECT_EQ(cell(0, 5), QStringLiteral("63.1 %"));
    EXPECT_EQ(cell(0, 6), QStringLiteral("compute"));
    EXPECT_EQ(cell(0, 7), QStringLiteral("BF16"));
    EXPECT_EQ(cell(0, 1), QStringLiteral("aten::mm [4096,4096] [4096,4096]"));
    EXPECT_EQ(cell(1, 1), QStringLiteral("aten::add [4096,4096] [4096,4096]"));
    EXPECT_EQ(cell(1, 6), QStringLiteral("memory"));
    EXPECT_EQ(cell(2, 6), QStringLiteral("memory")) << "a product that is thin";
    EXPECT_EQ(m_page.table().source()->cell(3, 6).note, QStringLiteral("not known"));
    EXPECT_TRUE(m_page.rooflineText().contains(QStringLiteral("of its peak")))
        << qPrintable(m_page.rooflineText());
    EXPECT_TRUE(m_page.roofline().isVisible());
    EXPECT_FALSE(m_page.rooflineNotice().isVisible());
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return m_page.roofline().height() >= m_page.roofline().minimumSizeHint().height(); }, 5'000))
        << "it has room";
    EXPECT_EQ(m_page.roofline().pointCount(), 2u) << "what has no FLOPs has no point";
    m_page.showTable(WorkTable::Kind::Operators);
    EXPECT_FALSE(m_page.roofline().isVisible());
    EXPECT_TRUE(m_page.rooflineText().isEmpty());
}

TEST_F(RooflinePage, PointsStandWhereTheirFiguresAre)
{
    open();
    const RooflineChart& chart = m_page.roofline();
    const auto square = chart.placeOf(0), thin = chart.placeOf(2);
    ASSERT_TRUE(square && thin);
    EXPECT_FALSE(chart.placeOf(1)) << "a sum has no FLOPs";
    EXPECT_GT(square->x(), thin->x()) << "more FLOPs for a byte";
    EXPECT_LT(square->y(), thin->y()) << "and more a second";
    EXPECT_EQ(chart.rowAt(*square), 0u);
    EXPECT_EQ(chart.rowAt(*thin), 2u);
    EXPECT_EQ(chart.rowAt({ 1, 1 }), std::nullopt);
    EXPECT_TRUE(chart.rect().contains(square->toPoint()) && chart.rect().contains(thin->toPoint()));
    const QStringList lines = chart.describe(0);
    EXPECT_EQ(lines.front(), QStringLiteral("aten::mm [4096,4096] [4096,4096]"));
    EXPECT_TRUE(lines.join(QLatin1Char(' ')).contains(QStringLiteral("limited by compute")));
}

TEST_F(RooflinePage, AClickOnAPointShowsItsKernels)
{
    open();
    RooflineChart& chart = m_page.roofline();
    QSignalSpy focus(&m_page, &Page::focusChanged);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.placeOf(0)->toPoint());
    EXPECT_EQ(m_page.lanes().foundCount(), 2);
    EXPECT_EQ(nameOfCurrent(), "gemm_kernel");
    EXPECT_EQ(chart.current(), 0u);
    EXPECT_EQ(m_page.table().currentSourceRow(), 0u);
    EXPECT_TRUE(m_page.foundText().startsWith(QStringLiteral("2 found"))) << qPrintable(m_page.foundText());
    ASSERT_EQ(focus.size(), 1);
    EXPECT_EQ(focus.front().front().value<Focus>().kind, Focus::Kind::Work);
    const auto first = m_page.lanes().current();
    QTest::keyClick(&m_page, Qt::Key_BracketRight);
    EXPECT_NE(m_page.lanes().current(), first);
    EXPECT_EQ(nameOfCurrent(), "gemm_kernel");

    Q_EMIT m_page.table().sourceRowOpened(1);
    EXPECT_EQ(nameOfCurrent(), "add_kernel");
    m_page.resetView();
    EXPECT_EQ(m_page.lanes().foundCount(), 0);
    EXPECT_TRUE(m_page.foundText().isEmpty());
}

TEST_F(RooflinePage, KeysWalkThePoints)
{
    open();
    RooflineChart& chart = m_page.roofline();
    EXPECT_FALSE(chart.accessibleName().isEmpty());
    EXPECT_TRUE(chart.accessibleDescription().startsWith(QStringLiteral("2 operators")))
        << qPrintable(chart.accessibleDescription());
    QSignalSpy opened(&chart, &RooflineChart::rowOpened), hovered(&chart, &RooflineChart::hovered);
    chart.setFocus();
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);
    EXPECT_TRUE(chart.accessibleDescription().startsWith(QStringLiteral("aten::mm [16,4096]")))
        << qPrintable(chart.accessibleDescription());
    EXPECT_EQ(hovered.size(), 2);
    QTest::keyClick(&chart, Qt::Key_Return);
    ASSERT_EQ(opened.size(), 1);
    EXPECT_EQ(opened.front().front().toUInt(), 2u);
    EXPECT_EQ(nameOfCurrent(), "thin_kernel");
}

TEST_F(RooflinePage, SaysWhyThereIsNone)
{
    open(test::tenSteps());
    EXPECT_TRUE(m_page.rooflineNotice().isVisible());
    EXPECT_FALSE(m_page.roofline().isVisible());
    EXPECT_TRUE(m_page.rooflineNotice().text().reason.contains(QStringLiteral("record_shapes=True")));
    EXPECT_TRUE(m_page.rooflineNotice().text().code.contains(QStringLiteral("record_shapes=True")));
    m_page.showTable(WorkTable::Kind::Kernels);
    EXPECT_FALSE(m_page.rooflineNotice().isVisible());
    EXPECT_TRUE(m_page.table().isVisible());
}

TEST_F(RooflinePage, AnUnknownCardHasFiguresAndNoRoof)
{
    open(test::productsAndSums("NVIDIA H100 PCIe"));
    EXPECT_TRUE(m_page.rooflineText().contains(QStringLiteral("peaks of NVIDIA H100 PCIe are not known")))
        << qPrintable(m_page.rooflineText());
    EXPECT_EQ(cell(0, 3), QStringLiteral("625 TFLOP/s"));
    EXPECT_EQ(cell(0, 6), QStringLiteral("–"));
    EXPECT_EQ(m_page.roofline().pointCount(), 2u);
    EXPECT_FALSE(m_page.roofline().grab().isNull());
}

TEST_F(RooflinePage, SaysThatTimesOfTheSimulatedDeviceAreNoCards)
{
    open(test::productsAndSums("Strata simulated device"));
    EXPECT_TRUE(m_page.rooflineNotice().isVisible());
    EXPECT_TRUE(m_page.rooflineNotice().text().reason.contains(QStringLiteral("simulated device")));
    EXPECT_FALSE(m_page.roofline().isVisible());
    EXPECT_TRUE(m_page.table().isVisible());
}

TEST_F(RooflinePage, TheWindowAndTheCommandSayTheSame)
{
    open();
    QProcess strata;
    strata.start(QStringLiteral(STRATA_PROGRAM),
        { QStringLiteral("timeline"), m_document.path(), QStringLiteral("--json"), QStringLiteral("--limit"),
            QStringLiteral("0") });
    ASSERT_TRUE(strata.waitForFinished(30'000));
    const QJsonObject told = QJsonDocument::fromJson(strata.readAllStandardOutput())
                                 .object()[QStringLiteral("roofline")]
                                 .toObject();
    const QJsonArray rows = told[QStringLiteral("rows")].toArray();
    ASSERT_EQ(rows.size(), m_page.table().source()->rowCount());
    QBuffer out;
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    ASSERT_TRUE(m_page.writeCsv(out));
    const QList<QByteArray> lines = out.data().split('\n');
    EXPECT_EQ(lines[0], "gpu_ns,name,calls,flops_per_second,bytes_per_second,roof_ns,bound,type");
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const QJsonObject row = rows[i].toObject();
        const QList<QByteArray> cells = lines[i + 1].split(','); // of the name some
        const auto number = [&](const char* key) { return row[QLatin1String(key)].toDouble(); };
        EXPECT_EQ(cells[0].toDouble(), number("gpu_ns"));
        EXPECT_EQ(cells[cells.size() - 6].toDouble(), number("calls"));
        EXPECT_NEAR(cells[cells.size() - 5].toDouble(), number("flops_per_second"), 1);
        EXPECT_NEAR(cells[cells.size() - 4].toDouble(), number("bytes_per_second"), 1);
        EXPECT_NEAR(cells[cells.size() - 3].toDouble(), number("roof_ns"), 1);
        EXPECT_EQ(QString::fromLatin1(cells[cells.size() - 2]), row[QStringLiteral("bound")].toString());
        EXPECT_EQ(QString::fromLatin1(cells[cells.size() - 1]), row[QStringLiteral("type")].toString());
    }
    EXPECT_EQ(told[QStringLiteral("lack")].toString(), QStringLiteral("none"));
    const QString share
        = QStringLiteral("%1\u00a0%").arg(told[QStringLiteral("mfu")].toDouble() * 100, 0, 'f', 1);
    EXPECT_TRUE(m_page.rooflineText().replace(QLatin1String(" %"), QStringLiteral("\u00a0%")).contains(share))
        << qPrintable(share) << " in " << qPrintable(m_page.rooflineText());
}

TEST(RooflineWords, HaveThreeDigits)
{
    const auto plain = [](QString text) { return text.replace(QChar(0xa0), QLatin1Char(' ')); };
    EXPECT_EQ(plain(text::flopRate(989.5e12)), QStringLiteral("990 TFLOP/s"));
    EXPECT_EQ(plain(text::flopRate(12.66e12)), QStringLiteral("12.7 TFLOP/s"));
    EXPECT_EQ(plain(text::flopRate(1e15)), QStringLiteral("1 PFLOP/s"));
    EXPECT_EQ(plain(text::byteRate(3350e9)), QStringLiteral("3.35 TB/s"));
    EXPECT_EQ(plain(text::byteRate(0.5)), QStringLiteral("0.50 B/s"));
    EXPECT_EQ(plain(text::intensity(0.01)), QStringLiteral("0.01 FLOP/B"));
    EXPECT_EQ(plain(text::intensity(1365.33)), QStringLiteral("1,365 FLOP/B"));
}

} // namespace
