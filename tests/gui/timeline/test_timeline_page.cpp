// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "model/session/opener.h"
#include "tests/gui/timeline/page_test.h"
#include "views/pages/timeline/timeline_texts.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/segmented.h"

#include <QBuffer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <initializer_list>
#include <utility>

using namespace strata;
using namespace strata::views;

namespace {

class TimelinePageTest : public test::TimelinePageShown {
protected:
    void open(const std::string& text = test::tenSteps()) { openTrace(text); }
    /// What the command says of the file that is open.
    [[nodiscard]] QJsonObject told(const QStringList& options = {}) const
    {
        QProcess strata;
        strata.start(QStringLiteral(STRATA_PROGRAM),
            QStringList{ QStringLiteral("timeline"), m_document.path(), QStringLiteral("--json"),
                QStringLiteral("--limit"), QStringLiteral("0") }
                + options);
        EXPECT_TRUE(strata.waitForFinished(30'000));
        return QJsonDocument::fromJson(strata.readAllStandardOutput()).object();
    }
    [[nodiscard]] QString cell(int row, int column) const
    {
        return m_page.table().source()->cell(static_cast<std::uint32_t>(row), column).text;
    }
    /// Of a cell without a figure.
    [[nodiscard]] QString note(int row, int column) const
    {
        return m_page.table().source()->cell(static_cast<std::uint32_t>(row), column).note;
    }
    [[nodiscard]] std::uint32_t spanOf(std::string_view name, int number = 0) const
    {
        const LanesData& lanes = *m_page.lanes().data();
        for (std::uint32_t span = 0; span < lanes.work().spans.size(); ++span)
            if (lanes.nameOf(span) == name && number-- == 0)
                return span;
        ADD_FAILURE() << "no " << name;
        return 0;
    }
};

TEST_F(TimelinePageTest, SaysHowBusyTheGpuIsAndWhatItWaitsFor)
{
    open();
    // Busy for 2.4 of 10 ms: the first kernel comes after 0.56 ms, the last one ends 0.08 ms before the end.
    // Ten times 0.5 ms are waiting for data.
    for (const char* part : { "GPU 0 is busy for <b>24.0\u00a0%</b> of the steps, which took 10.0\u00a0ms",
             "for 640\u00a0µs it has not begun",
             "<b>the program waits for its data</b> (50.0\u00a0%), most of it in "
             "enumerate(DataLoader)#__next__ "
             "(50.0\u00a0%, 10 stretches)",
             "more workers in the DataLoader" })
        EXPECT_TRUE(m_page.sentenceText().contains(QString::fromUtf8(part)))
            << part << " in " << qPrintable(m_page.sentenceText());
    EXPECT_EQ(cell(0, 3), QStringLiteral("the program waits for its data"));
    EXPECT_EQ(cell(0, 0), QStringLiteral("50.0 %"));
    EXPECT_EQ(cell(0, 1), QStringLiteral("5.0 ms"));
    EXPECT_EQ(cell(0, 2), QStringLiteral("500 µs")) << "before the first kernel";
    EXPECT_EQ(cell(0, 4), QStringLiteral("500 µs"));
    EXPECT_EQ(cell(0, 5), QStringLiteral("5.0 ms"));
    EXPECT_EQ(cell(0, 6), QStringLiteral("10"));
    EXPECT_EQ(cell(0, 7), QStringLiteral("enumerate(DataLoader)#__next__"));
    EXPECT_TRUE(m_page.table().source()->tooltip(0, 0).contains(QStringLiteral("workers")));
}

TEST_F(TimelinePageTest, SaysWhyAGpuThatDoesNothingIsIdle)
{
    open();
    m_page.lanes().measure(Span{ 2'000'000, 2'400'000 });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    for (const char* part :
        { "GPU 0 is idle throughout the range, for <b>400\u00a0µs</b>", "waits for its data" })
        EXPECT_TRUE(m_page.sentenceText().contains(QString::fromUtf8(part)))
            << part << " in " << qPrintable(m_page.sentenceText());
    EXPECT_EQ(cell(0, 2), QStringLiteral("400 µs"));
    QTest::keyClick(&m_page.lanes(), Qt::Key_Escape);
    EXPECT_FALSE(m_page.lanes().measured());
}

TEST_F(TimelinePageTest, TablesSayWhatTheCommandSays)
{
    open();
    m_page.showTable(WorkTable::Kind::Kernels);
    ASSERT_EQ(m_page.table().source()->rowCount(), 2u);
    EXPECT_EQ(cell(0, 0), QStringLiteral("1.8 ms"));
    EXPECT_EQ(cell(0, 1), QStringLiteral("60 µs")) << "the mean";
    EXPECT_EQ(cell(0, 2), QStringLiteral("30"));
    EXPECT_EQ(cell(0, 6), QStringLiteral("gemm_kernel"));
    m_page.showTable(WorkTable::Kind::Operators);
    ASSERT_EQ(m_page.table().source()->rowCount(), 2u);
    EXPECT_EQ(cell(0, 8), QStringLiteral("aten::mm"));
    EXPECT_EQ(cell(0, 2), QStringLiteral("1.8 ms")) << "of its kernels";
    QBuffer out;
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    ASSERT_TRUE(m_page.hasCsv() && m_page.writeCsv(out));
    EXPECT_TRUE(out.data().startsWith(
        "self_ns,total_ns,gpu_self_ns,gpu_total_ns,calls,gpu_self_bytes,gpu_total_bytes,"
        "gpu_peak_bytes,name\n"))
        << out.data().constData();
    m_page.showTable(WorkTable::Kind::Copies);
    EXPECT_EQ(m_page.table().source()->rowCount(), 0u);
    m_page.showTable(WorkTable::Kind::Calls);
    EXPECT_EQ(cell(0, 3), QStringLiteral("cudaLaunchKernel"));
    EXPECT_EQ(cell(0, 2), QStringLiteral("40"));
}

TEST_F(TimelinePageTest, EachColumnOfATableIsAMemberOfTheCommand)
{
    std::string text = test::tenSteps();
    text.resize(text.size() - 2); // "]}"
    for (const std::string& more : { test::row("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 9, 570,
                                         50, R"("device":0,"stream":9,"bytes":4096)"),
             test::row("kernel", "ncclDevKernel_AllReduce", 0, 20, 600, 90,
                 R"("device":0,"stream":20,"est. achieved occupancy %":25)"),
             test::row("cuda_runtime", "cudaDeviceSynchronize", 1, 2, 950, 20),
             test::row("user_annotation", "forward", 1, 2, 940, 40) })
        text += "," + more;
    open(text + "]}");
    const QJsonObject all = told();
    using Kind = WorkTable::Kind;
    const std::initializer_list<std::pair<Kind, const char*>> kTables{ { Kind::Operators, "operators" },
        { Kind::Annotations, "annotations" }, { Kind::Kernels, "kernels" }, { Kind::Copies, "copies" },
        { Kind::Calls, "runtime_calls" }, { Kind::Collectives, "communication" },
        { Kind::Synchronisations, "synchronisations" }, { Kind::Loading, "data_loader" },
        { Kind::Steps, "steps" } };
    for (const auto& [kind, table] : kTables) {
        m_page.showTable(kind);
        QBuffer out;
        ASSERT_TRUE(out.open(QIODevice::WriteOnly) && m_page.writeCsv(out));
        const QList<QByteArray> lines = out.data().trimmed().split('\n');
        const QList<QByteArray> names = lines[0].split(',');
        const QJsonValue of
            = kind == Kind::Steps ? all[QLatin1String("ranks")][0] : QJsonValue(all); // each rank has its own
        const QJsonArray rows = of[QLatin1String(table)].toArray();
        ASSERT_GT(rows.size(), 0) << table;
        ASSERT_EQ(lines.size() - 1, rows.size()) << table;
        for (qsizetype row = 0; row < rows.size(); ++row) {
            const QList<QByteArray> cells = lines[row + 1].split(',');
            ASSERT_EQ(cells.size(), names.size()) << lines[row + 1].constData();
            for (qsizetype i = 0; i < names.size(); ++i) {
                const QString name = QString::fromLatin1(names[i]);
                ASSERT_TRUE(rows[row].toObject().contains(name)) << table << ' ' << qPrintable(name);
                const QJsonValue told = rows[row].toObject()[name];
                if (told.isDouble()) // ratios are rounded here
                    EXPECT_NEAR(cells[i].toDouble(), told.toDouble(), 0.5)
                        << table << ' ' << qPrintable(name);
                else if (const QJsonArray three = told.toArray(); three.size() == 3)
                    EXPECT_EQ(QString::fromLatin1(cells[i]),
                        QStringLiteral("%1x%2x%3")
                            .arg(three[0].toInt())
                            .arg(three[1].toInt())
                            .arg(three[2].toInt()));
                else
                    EXPECT_EQ(QString::fromLatin1(cells[i]), told.toString())
                        << table << ' ' << qPrintable(name);
            }
        }
    }
}

/// Of a line of CSV.
QStringList fieldsOf(const QByteArray& line)
{
    QStringList fields{ {} };
    bool isQuoted = false;
    for (const char c : line) {
        if (c == '"')
            isQuoted = !isQuoted;
        else if (c == ',' && !isQuoted)
            fields.append(QString());
        else
            fields.back() += QLatin1Char(c);
    }
    return fields;
}

TEST_F(TimelinePageTest, OperatorsByShapesAreThoseOfTheCommand)
{
    open(test::productsAndSums());
    m_page.showTable(WorkTable::Kind::Operators);
    EXPECT_TRUE(m_page.operatorsBy().isVisible());
    EXPECT_EQ(m_page.table().source()->rowCount(), 3u);
    EXPECT_FALSE(m_page.commandLine().contains(QStringLiteral("--shapes")));
    for (auto* button : m_page.operatorsBy().findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("By shapes"))
            button->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    EXPECT_TRUE(m_page.commandLine().contains(QStringLiteral(" --shapes")));
    const QJsonArray rows = told({ QStringLiteral("--shapes") })[QLatin1String("operators")].toArray();
    ASSERT_EQ(rows.size(), 4) << "two sizes of aten::mm";
    QBuffer out;
    ASSERT_TRUE(out.open(QIODevice::WriteOnly) && m_page.writeCsv(out));
    const QList<QByteArray> lines = out.data().trimmed().split('\n');
    ASSERT_EQ(lines.size(), 5);
    const QStringList names = fieldsOf(lines[0]);
    EXPECT_EQ(names.size(), rows[0].toObject().size()) << "each member has a column";
    for (qsizetype row = 0; row < rows.size(); ++row) {
        const QStringList fields = fieldsOf(lines[row + 1]);
        ASSERT_EQ(fields.size(), names.size()) << lines[row + 1].constData();
        for (qsizetype i = 0; i < names.size(); ++i) {
            ASSERT_TRUE(rows[row].toObject().contains(names[i])) << qPrintable(names[i]);
            const QJsonValue told = rows[row][names[i]];
            EXPECT_EQ(fields[i], told.isDouble() ? QString::number(told.toInteger()) : told.toString())
                << qPrintable(names[i]);
        }
    }
    EXPECT_EQ(cell(0, 9), QStringLiteral("[4096,4096] [4096,4096]"));
    open();
    EXPECT_EQ(m_page.operatorsBy().chosen(), 0) << "this trace tells no shapes";
    EXPECT_EQ(m_page.table().source()->rowCount(), 2u);
}

TEST_F(TimelinePageTest, StepsStandBesideTheirMedian)
{
    std::string text = test::tenSteps();
    text.resize(text.size() - 2); // "]}"
    open(text + "," + test::row("user_annotation", "ProfilerStep#10", 1, 2, 10'000, 1250) + ","
        + test::row("cpu_op", "backend_compile (dynamo_timed)", 1, 2, 10'100, 400) + "]}");
    m_page.showTable(WorkTable::Kind::Steps);
    ASSERT_EQ(m_page.table().source()->rowCount(), 11u);
    EXPECT_EQ(note(0, 2), QStringLiteral("warms up"));
    EXPECT_EQ(cell(1, 2), QStringLiteral("+0.0 %"));
    EXPECT_EQ(cell(1, 3), QStringLiteral("24.0 %")) << "four kernels of 60 us";
    EXPECT_EQ(cell(1, 4), QStringLiteral("500 µs"));
    EXPECT_EQ(cell(10, 2), QStringLiteral("+25.0 %"));
    EXPECT_EQ(cell(10, 5), QStringLiteral("400 µs"));
    EXPECT_EQ(cell(10, 7), QStringLiteral("ProfilerStep#10"));
    EXPECT_EQ(note(10, 6), QStringLiteral("–")) << "no collective runs";
    const QJsonObject rank = told()[QLatin1String("ranks")][0].toObject();
    const double median
        = rank[QLatin1String("step_times")][QLatin1String("steady_ns")][QLatin1String("median_ns")]
              .toDouble();
    for (int row = 0; row < 11; ++row) {
        const QJsonObject step = rank[QLatin1String("steps")][row].toObject();
        EXPECT_EQ(step[QLatin1String("warms_up")].toBool(), row == 0);
        EXPECT_EQ(row == 0 ? note(row, 2) : cell(row, 2),
            row == 0 ? QStringLiteral("warms up")
                     : QString::asprintf(
                         "%+.1f %%", 100 * step[QLatin1String("above_median_ns")].toDouble() / median));
        EXPECT_EQ(cell(row, 3),
            text::share(step[QLatin1String("gpu_busy_ns")].toInteger(),
                step[QLatin1String("duration_ns")].toInteger()))
            << row;
    }
    m_page.table().setCurrentSourceRow(10);
    QTest::keyClick(&m_page.table(), Qt::Key_Return);
    ASSERT_TRUE(m_page.lanes().measured());
    EXPECT_DOUBLE_EQ(m_page.lanes().measured()->begin, 10e6);
    EXPECT_DOUBLE_EQ(m_page.lanes().measured()->end, 11.25e6);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    EXPECT_EQ(m_page.table().source()->rowCount(), 1u) << "the step that is measured";
    EXPECT_EQ(cell(0, 2), QStringLiteral("+0.0 %")) << "it does not warm up";
}

TEST_F(TimelinePageTest, MeasuringAsksForThatStretchAlone)
{
    open();
    EXPECT_EQ(m_page.commandLine(), QStringLiteral("strata timeline %1").arg(m_document.path()));
    m_page.lanes().measure(Span{ 550'000, 1'000'000 });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    m_page.showTable(WorkTable::Kind::Kernels);
    EXPECT_EQ(cell(0, 2), QStringLiteral("3"));
    EXPECT_TRUE(m_page.commandLine().endsWith(QStringLiteral(" --from t:0.000550000 --to t:0.001000000")))
        << qPrintable(m_page.commandLine());
    m_page.resetView();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    EXPECT_EQ(cell(0, 2), QStringLiteral("30"));
}

TEST_F(TimelinePageTest, OpeningARowLeadsThere)
{
    open();
    Q_EMIT m_page.table().sourceRowOpened(0);
    ASSERT_TRUE(m_page.lanes().measured());
    EXPECT_DOUBLE_EQ(m_page.lanes().measured()->width(), 500'000) << "the longest wait for data";
    m_page.resetView();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    m_page.showTable(WorkTable::Kind::Kernels);
    QSignalSpy focus(&m_page, &Page::focusChanged);
    Q_EMIT m_page.table().sourceRowOpened(1);
    EXPECT_TRUE(m_page.foundText().startsWith(QStringLiteral("10 found"))) << qPrintable(m_page.foundText());
    ASSERT_EQ(focus.size(), 1);
    EXPECT_EQ(m_page.lanes().current(), spanOf("relu_kernel"));
}

TEST_F(TimelinePageTest, AClickTellsTheDetailsWhatLaunchedAKernel)
{
    open();
    QSignalSpy focus(&m_page, &Page::focusChanged);
    const std::uint32_t kernel = spanOf("gemm_kernel", 7);
    m_page.lanes().reveal(kernel);
    QTest::mouseClick(m_page.lanes().viewport(), Qt::LeftButton, {}, m_page.lanes().placeOf(kernel));
    ASSERT_EQ(focus.size(), 1);
    const auto told = focus.front().front().value<Focus>();
    ASSERT_EQ(told.kind, Focus::Kind::Work);
    EXPECT_EQ(told.work->kind, QStringLiteral("Kernel"));
    EXPECT_EQ(QString(told.work->title).remove(QChar(0x200b)), QStringLiteral("gemm_kernel"));
    const auto has = [](const WorkDetails::Rows& rows, const char* label, const char* value) {
        return std::ranges::any_of(rows, [&](const auto& row) {
            return row.first == QLatin1String(label)
                && QString(row.second).remove(QChar(0x200b)) == QString::fromUtf8(value);
        });
    };
    EXPECT_TRUE(has(told.work->life, "launched by", "cudaLaunchKernel"));
    EXPECT_TRUE(has(told.work->life, "earlier by", "10 µs"));
    EXPECT_TRUE(has(told.work->place, "operator", "aten::mm"));
    EXPECT_TRUE(has(told.work->recorded, "grid", "4 x 1 x 1"));
    m_page.showFocus({});
    EXPECT_FALSE(m_page.lanes().current()) << "something else is shown";
}

TEST_F(TimelinePageTest, SaysWhatTheDriverHandedOutBesidePyTorch)
{
    const auto session = model::Opener::openAll(STRATA_TEST_DATA "/sessions/every_chunk.strata");
    ASSERT_TRUE(session);
    const QString said = timelineSteps(WorkFigures::of(LanesData::of(*session), {}));
    EXPECT_TRUE(said.contains(QStringLiteral("Beside PyTorch the driver handed out memory of GPU 0 in 1 "
                                             "allocation, at most 2.00 MiB at once; 0 B of it was not")))
        << qPrintable(said);
}

TEST_F(TimelinePageTest, SaysWhereNothingTellsWhatRan)
{
    m_document.open(QStringLiteral(STRATA_TEST_DATA "/samples/gpt2_124m_bf16_train.pickle.gz"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_document.state() == Document::State::Ready; }, 20'000));
    EXPECT_TRUE(m_page.absence().contains(QStringLiteral("torch.profiler")));
    EXPECT_TRUE(m_page.notice().isVisible());
    EXPECT_TRUE(m_page.notice().text().code.contains(QStringLiteral("export_chrome_trace")));
    EXPECT_FALSE(m_page.hasCsv());
}

TEST_F(TimelinePageTest, ATraceOfTheCpuAloneSaysSo)
{
    open(R"({"traceEvents":[)" + test::row("cpu_op", "aten::mm", 1, 2, 0, 100) + "]}");
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("No work of a GPU")))
        << qPrintable(m_page.sentenceText());
    EXPECT_EQ(m_page.table().source()->rowCount(), 0u);
}

TEST_F(TimelinePageTest, StepsOfTheCpuAloneDoNotSayThatNoGpuWasBusy)
{
    open(R"({"traceEvents":[)" + test::row("user_annotation", "ProfilerStep#1", 1, 2, 0, 1000) + ","
        + test::row("cpu_op", "aten::mm", 1, 2, 0, 100) + "]}");
    m_page.showTable(WorkTable::Kind::Steps);
    ASSERT_EQ(m_page.table().source()->rowCount(), 1u);
    EXPECT_EQ(note(0, 3), QStringLiteral("–"));
    EXPECT_TRUE(
        told()[QLatin1String("ranks")][0][QLatin1String("steps")][0][QLatin1String("gpu_busy_ns")].isNull());
}

} // namespace
