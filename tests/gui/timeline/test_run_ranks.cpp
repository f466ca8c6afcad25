// SPDX-License-Identifier: GPL-3.0-or-later
// The page Ranks: traces of the ranks of a run, read in the background, beside what the command says of them.
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/pages/timeline/run_ranks_page.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/timeline/rank_grid.h"

#include <QBuffer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <vector>

using namespace strata;
using namespace strata::views;

namespace {

/// Steps of 1 ms in which a rank computes for `length` microseconds and reduces for the rest.
std::string trace(int rank, double length, int steps = 8)
{
    std::string rows;
    for (int step = 0; step < steps; ++step) {
        const double at = 1000.0 * step;
        rows += (step == 0 ? "" : ",")
            + test::row("user_annotation", "ProfilerStep#" + std::to_string(step), 1, 2, at, 1000);
        rows += "," + test::row("kernel", "gemm_kernel", 0, 7, at, length, R"("device":0,"stream":7)");
        rows += ","
            + test::row("kernel", "ncclDevKernel_AllReduce", 0, 20, at + length, 1000 - length,
                R"("device":0,"stream":20)");
    }
    return R"({"distributedInfo":{"rank":)" + std::to_string(rank) + R"(,"world_size":4},"traceEvents":[)"
        + rows + "]}";
}

class RunRanksPageTest : public testing::Test, protected test::WindowFont {
protected:
    RunRanksPageTest()
    {
        m_page.setPalette(Palette::light());
        m_page.resize(1000, 640);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    QString write(const QString& name, const std::string& text)
    {
        const QString path = m_folder.filePath(name);
        EXPECT_TRUE(test::write(path, text));
        return path;
    }
    /// Of four ranks three, of which the last computes longest.
    QStringList threeRanks()
    {
        return { write(QStringLiteral("a.json"), trace(2, 800)),
            write(QStringLiteral("b.json"), trace(0, 500)),
            write(QStringLiteral("c.json"), trace(1, 500, 5)) };
    }
    void open(const QStringList& paths)
    {
        m_page.open(paths);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.reading(); }, 20'000));
    }
    [[nodiscard]] QString cell(int row, int column) const
    {
        return m_page.table().source()->cell(static_cast<std::uint32_t>(row), column).text;
    }

    QTemporaryDir m_folder;
    RunRanksPage m_page;
};

TEST_F(RunRanksPageTest, AsksForTracesFirst)
{
    EXPECT_FALSE(m_page.ranks());
    EXPECT_TRUE(m_page.notice().isVisible());
    EXPECT_EQ(m_page.commandLine(), QString());
    QSignalSpy wanted(&m_page, &RunRanksPage::filesWanted);
    m_page.notice().button()->click();
    EXPECT_EQ(wanted.count(), 1);
}

TEST_F(RunRanksPageTest, SaysWhichRankTheOthersWaitFor)
{
    open(threeRanks());
    ASSERT_TRUE(m_page.ranks());
    EXPECT_TRUE(m_page.verdict().contains(QStringLiteral("Rank 2 is the slowest in 7 of 7 steps")))
        << m_page.verdict().toStdString();
    EXPECT_TRUE(m_page.verdict().contains(QStringLiteral("Of the job's 4 ranks 3 are here")));
    ASSERT_EQ(m_page.table().source()->rowCount(), 3u);
    EXPECT_EQ(cell(2, 0), QStringLiteral("2"));
    EXPECT_EQ(cell(2, 1), QStringLiteral("7 of 7"));
    EXPECT_EQ(cell(1, 1), QStringLiteral("0 of 4")) << "its trace is shorter";
    EXPECT_EQ(cell(0, 7), QStringLiteral("b.json"));
}

TEST_F(RunRanksPageTest, WritesLanesSideBySideAsTheCommandDoes)
{
    const QStringList paths = threeRanks();
    open(paths);
    const QString here = m_folder.filePath(QStringLiteral("here.json")),
                  there = m_folder.filePath(QStringLiteral("there.json"));
    QSignalSpy wanted(&m_page, &RunRanksPage::fileWanted);
    const QString verdict = m_page.verdict();
    m_page.saveMerged(here);
    ASSERT_TRUE(QTest::qWaitFor([&] { return wanted.count() == 1; }, 20'000));
    EXPECT_EQ(wanted.front().front().toString(), here);
    EXPECT_EQ(m_page.verdict(), verdict);
    ASSERT_EQ(
        QProcess::execute(QStringLiteral(STRATA_PROGRAM),
            QStringList{ QStringLiteral("timeline") } + paths + QStringList{ QStringLiteral("-o"), there }),
        0);
    QFile ours(here), theirs(there);
    ASSERT_TRUE(ours.open(QIODevice::ReadOnly) && theirs.open(QIODevice::ReadOnly));
    EXPECT_EQ(ours.readAll(), theirs.readAll());
}

TEST_F(RunRanksPageTest, SaysWhyLanesAreNotWritten)
{
    open(threeRanks());
    m_page.saveMerged(m_folder.filePath(QStringLiteral("nowhere/all.json")));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.reading(); }, 20'000));
    EXPECT_TRUE(m_page.verdict().contains(QStringLiteral("nowhere"))) << m_page.verdict().toStdString();
}

TEST_F(RunRanksPageTest, ShowsWhatTheCommandSays)
{
    const QStringList paths = threeRanks();
    open(paths);
    QProcess command;
    command.start(QStringLiteral(STRATA_PROGRAM),
        QStringList{ QStringLiteral("timeline") } + paths + QStringList{ QStringLiteral("--json") });
    ASSERT_TRUE(command.waitForFinished(20'000));
    const QJsonObject told = QJsonDocument::fromJson(command.readAllStandardOutput()).object();
    EXPECT_EQ(told[QStringLiteral("ranks_verdict")][QStringLiteral("slowest_rank")].toInt(), 2);
    const QJsonArray sums = told[QStringLiteral("rank_sums")].toArray();
    ASSERT_EQ(sums.size(), 3);
    QByteArray csv;
    QBuffer out(&csv);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    ASSERT_TRUE(m_page.table().writeCsv(out));
    const QList<QByteArray> lines = csv.trimmed().split('\n');
    ASSERT_EQ(lines.size(), 4);
    for (int row = 0; row < 3; ++row) {
        const QList<QByteArray> shown = lines[row + 1].trimmed().split(',');
        const QJsonObject rank = sums[row].toObject();
        int column = 0;
        for (const char* name :
            { "rank", "slowest_steps", "own_ns", "waited_ns", "computation_ns", "copies_ns" })
            EXPECT_EQ(shown[column++].toLongLong(), rank[QLatin1String(name)].toInteger()) << row << name;
    }
    const QJsonArray steps = told[QStringLiteral("rank_steps")].toArray();
    ASSERT_EQ(steps.size(), 7);
    for (qsizetype step = 0; step < steps.size(); ++step) {
        std::vector<double> own;
        double length = 1;
        const QJsonArray those = steps[step][QLatin1String("ranks")].toArray();
        for (const QJsonValue& rank : those) {
            own.push_back(rank[QLatin1String("own_ns")].toDouble());
            length = std::max(length, rank[QLatin1String("duration_ns")].toDouble());
        }
        std::ranges::sort(own);
        for (std::size_t row = 0; row < 3; ++row) {
            const auto found = std::ranges::find_if(those, [&](const QJsonValue& rank) {
                return rank[QLatin1String("rank")].toInt() == static_cast<int>(row);
            });
            const auto shown = m_page.grid().excess({ row, static_cast<std::size_t>(step) });
            ASSERT_EQ(shown.has_value(), found != those.end()) << "rank " << row << ", step " << step;
            if (shown) {
                const double more = (*found)[QLatin1String("own_ns")].toDouble() - own[(own.size() - 1) / 2];
                EXPECT_NEAR(*shown, std::max(more / length, 0.0), 1e-9)
                    << "rank " << row << ", step " << step;
            }
        }
    }
    EXPECT_EQ(m_page.commandLine(), QStringLiteral("strata timeline %1").arg(paths.join(QLatin1Char(' '))));
}

TEST_F(RunRanksPageTest, PaintsWhoIsSlow)
{
    open(threeRanks());
    RankGrid& grid = m_page.grid();
    EXPECT_NEAR(*grid.excess({ 2, 0 }), 0.3, 1e-9);
    EXPECT_EQ(*grid.excess({ 0, 0 }), 0);
    EXPECT_FALSE(grid.excess({ 1, 6 })) << "not in its trace";
    const QImage picture = grid.grab().toImage();
    const auto colourAt = [&](RankGrid::Cell cell) {
        return picture.pixelColor((grid.placeOf(cell).center() * picture.devicePixelRatio()).toPoint());
    };
    EXPECT_EQ(colourAt({ 2, 0 }), Palette::light()[Palette::Role::Bad]);
    EXPECT_EQ(colourAt({ 0, 0 }), Palette::light()[Palette::Role::Free]);
    EXPECT_EQ(colourAt({ 1, 6 }), Palette::light()[Palette::Role::Surface]);
    EXPECT_EQ(grid.cellAt(grid.placeOf({ 1, 3 }).center()), (RankGrid::Cell{ 1, 3 }));
    EXPECT_TRUE(grid.describe({ 2, 0 }).join(QLatin1Char('\n')).contains(QStringLiteral("the slowest")));
}

// Nothing ties them: none is waited for, and none is called a rank.
TEST_F(RunRanksPageTest, TracesOfNoRunOnlyStandBesideEachOther)
{
    QStringList paths;
    for (int i = 0; i < 2; ++i) {
        std::string rows;
        for (int step = 0; step < 8; ++step) {
            const double at = 1000.0 * step;
            rows += (step == 0 ? "" : ",")
                + test::row(
                    "user_annotation", "ProfilerStep#" + std::to_string(step), 1 + i, 2 + i, at, 1000);
            rows += ","
                + test::row("kernel", "gemm_kernel", 0, 7, at, 300 + 300 * i, R"("device":0,"stream":7)");
        }
        paths += write(QStringLiteral("trace%1.json").arg(i), R"({"traceEvents":[)" + rows + "]}");
    }
    open(paths);
    EXPECT_TRUE(m_page.verdict().contains(QStringLiteral("stand beside each other")))
        << qPrintable(m_page.verdict());
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const QString said = m_page.grid().describe({ rank, 0 }).join(QLatin1Char('\n'));
        EXPECT_TRUE(said.startsWith(QStringLiteral("Trace %1, ").arg(rank))) << qPrintable(said);
        EXPECT_FALSE(said.contains(QStringLiteral("the slowest"))) << qPrintable(said);
    }
}

TEST_F(RunRanksPageTest, HasRoomForManyRanksAndSteps)
{
    QStringList paths;
    for (int rank = 0; rank < 96; ++rank)
        paths << write(QStringLiteral("%1.json").arg(rank), trace(rank, rank == 7 ? 800 : 500, 3));
    open(paths);
    RankGrid& grid = m_page.grid();
    EXPECT_LT(m_page.minimumSizeHint().height(), 640);
    const QImage many = grid.grab().toImage();
    const QPointF slowest = grid.placeOf({ 7, 0 }).center() * many.devicePixelRatio();
    EXPECT_EQ(many.pixelColor(static_cast<int>(slowest.x()), static_cast<int>(slowest.y())),
        Palette::light()[Palette::Role::Bad]);
    grid.resize(grid.width(), 60);
    EXPECT_LT(grid.placeOf({ 7, 0 }).height(), 1) << "ranks share rows of pixels";
    const QImage low = grid.grab().toImage();
    int slow = 0;
    for (int y = 0; y < low.height(); ++y)
        slow += low.pixelColor(static_cast<int>(slowest.x()), y) == Palette::light()[Palette::Role::Bad];
    EXPECT_GE(slow, 1) << "the slow one of them is seen";
    EXPECT_LE(slow, 2 * low.devicePixelRatio());

    // More steps than pixels: a column tells the worst of its steps, wherever that stands.
    std::string uneven = trace(1, 500, 4000);
    const std::string fast = "\"gemm_kernel\"";
    for (std::size_t step = 0, at = 0; (at = uneven.find(fast, at)) != std::string::npos; ++step, at += 1)
        if (step == 3501) {
            const std::size_t length = uneven.find("\"dur\":500", at);
            uneven.replace(length, 9, "\"dur\":900");
            break;
        }
    open({ write(QStringLiteral("a.json"), trace(0, 500, 4000)), write(QStringLiteral("b.json"), uneven) });
    ASSERT_TRUE(m_page.ranks());
    EXPECT_GT(*grid.excess({ 1, 3500 }), 0.1) << "the first one warms up";
    const QImage picture = grid.grab().toImage();
    const QRectF place = grid.placeOf({ 1, 3500 });
    EXPECT_LT(place.width(), 1);
    int other = 0;
    for (int x = 0; x < picture.width(); ++x) {
        const QColor colour
            = picture.pixelColor(x, static_cast<int>(place.center().y() * picture.devicePixelRatio()));
        other += colour.red() > colour.blue() + 20 ? 1 : 0; // none of the greys
    }
    EXPECT_GE(other, 1) << "one step of 4,000 is seen";
    EXPECT_LE(other, 2 * picture.devicePixelRatio());
}

TEST_F(RunRanksPageTest, OpensARankByKeyboard)
{
    open(threeRanks());
    QSignalSpy wanted(&m_page, &RunRanksPage::fileWanted);
    m_page.grid().setFocus();
    QTest::keyClick(&m_page.grid(), Qt::Key_Down);
    QTest::keyClick(&m_page.grid(), Qt::Key_Right);
    EXPECT_EQ(m_page.grid().current(), (RankGrid::Cell{ 1, 1 }));
    EXPECT_EQ(m_page.table().currentSourceRow(), 1u);
    QTest::keyClick(&m_page.grid(), Qt::Key_Return);
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_TRUE(wanted[0][0].toString().endsWith(QStringLiteral("c.json")));
}

TEST_F(RunRanksPageTest, RefusesWhatCannotBeCompared)
{
    open({ write(QStringLiteral("a.json"), trace(0, 500)) });
    EXPECT_FALSE(m_page.ranks());
    EXPECT_TRUE(m_page.notice().text().reason.contains(QStringLiteral("choose the traces of two ranks")));
    open({ write(QStringLiteral("a.json"), trace(0, 500)), m_folder.filePath(QStringLiteral("none.json")) });
    EXPECT_FALSE(m_page.ranks());
    EXPECT_TRUE(m_page.notice().text().reason.contains(QStringLiteral("none.json")));
}

} // namespace
