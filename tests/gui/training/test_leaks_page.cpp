// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/leaks/leaks_page.h"

#include "model/analysis/training/steps/evidence_words.h"
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/full_pool.h"
#include "tests/gui/tables/open_document.h"
#include "tests/gui/training/training_run.h"
#include "views/models/document/training_words.h"
#include "views/pages/leaks/leak_texts.h"
#include "views/pages/memory/memory_page.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/training/leaks_table.h"
#include "views/widgets/training/steps_view.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <limits>
#include <optional>

using namespace strata;
using namespace strata::views;

namespace {

class LeaksPageTest : public testing::Test, protected test::WindowFont {
protected:
    LeaksPageTest()
        : m_page(m_document)
    {
        m_page.setPalette(Palette::light());
        m_page.resize(1000, 640);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    void open(int steps, std::int64_t kept) { open(*test::trainingRun(steps, kept)); }
    void open(const model::Recording& run)
    {
        const QString path = m_folder.filePath(QStringLiteral("run.strata"));
        ASSERT_TRUE(model::saveSession(run, path.toStdString()));
        m_document.open(path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                const auto device = m_document.device();
                return device && device->training && device->training->complete && !m_document.analysing()
                    && !m_page.busy();
            },
            20'000))
            << m_document.error().text();
    }
    [[nodiscard]] const model::LeakReport& report() { return *m_document.device()->training->leaks; }
    [[nodiscard]] QPoint place(std::size_t point) { return m_page.chart().placeOf(point).toPoint(); }

    QTemporaryDir m_folder;
    Document m_document;
    LeaksPage m_page;
};

TEST_F(LeaksPageTest, SaysWhatLeaksAndHowItWasFound)
{
    open(30, 4'000);
    ASSERT_EQ(report().verdict, model::LeakReport::Verdict::Found);
    const QString sentence = m_page.sentenceText();
    for (const char* part : { "Leaks <b>", "</b> of allocated memory per step: ", "train.py:30" })
        EXPECT_TRUE(sentence.contains(QLatin1String(part))) << part << " in " << qPrintable(sentence);
    const QString how = m_page.howText();
    for (const char* part : { "30 steps", "left out as warm-up" })
        EXPECT_TRUE(how.contains(QLatin1String(part))) << part << " in " << qPrintable(how);
    EXPECT_TRUE(how.contains(text::said(model::evidenceSentence(report().evidence)))) << qPrintable(how);
    EXPECT_EQ(m_page.site(), 0u);
    EXPECT_TRUE(m_page.siteText().contains(QStringLiteral("▲ leak")));
    EXPECT_TRUE(m_page.siteText().contains(QStringLiteral("What to change:")));
    EXPECT_EQ(m_page.commandLine(), QStringLiteral("strata leaks %1 --device 0").arg(m_document.path()));
}

TEST_F(LeaksPageTest, DrawsHowTheSiteGrows)
{
    open(30, 4'000);
    const GrowthSeries& series = m_page.chart().series();
    const model::LeakSite& site = report().sites[0];
    ASSERT_EQ(series.points.size(), site.growth.size());
    EXPECT_EQ(series.points.back().bytes, site.growth.back().allocatedBytes);
    EXPECT_EQ(series.lastStep, series.points.back().step);
    ASSERT_TRUE(series.warmupLast);
    EXPECT_LT(*series.warmupLast, series.points.front().step);
    EXPECT_LE(series.firstStep, *series.warmupLast);
    // Points stand from the left to the right, higher and higher, within the widget.
    for (std::size_t i = 1; i < series.points.size(); ++i) {
        EXPECT_GT(m_page.chart().placeOf(i).x(), m_page.chart().placeOf(i - 1).x());
        EXPECT_LT(m_page.chart().placeOf(i).y(), m_page.chart().placeOf(i - 1).y());
        EXPECT_TRUE(m_page.chart().rect().contains(place(i)));
        EXPECT_EQ(m_page.chart().pointNear(m_page.chart().placeOf(i)), i);
    }
    EXPECT_EQ(m_page.chart().pointNear({ 1, 1 }), std::nullopt);
}

TEST_F(LeaksPageTest, AClickOnAPointSelectsTheEndOfItsStep)
{
    open(30, 4'000);
    QTest::mouseClick(&m_page.chart(), Qt::LeftButton, {}, place(4));
    const auto& selection = m_document.viewState().selection();
    ASSERT_TRUE(selection);
    EXPECT_EQ(
        *selection, (EventRange{ report().sites[0].growth[4].event, report().sites[0].growth[4].event }));
}

TEST_F(LeaksPageTest, PointsAreReadByKeyboard)
{
    open(30, 4'000);
    GrowthChart& chart = m_page.chart();
    chart.setFocus();
    QSignalSpy read(&chart, &GrowthChart::hovered);
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);
    ASSERT_FALSE(read.isEmpty());
    EXPECT_EQ(read.back()[0].toString(), chart.describe(1).join(QStringLiteral(", ")));
    EXPECT_EQ(chart.accessibleDescription(), chart.describe(1).join(QStringLiteral(", ")));
    QTest::keyClick(&chart, Qt::Key_Return);
    EXPECT_EQ(m_document.viewState().selection()->first, report().sites[0].growth[1].event);
}

TEST_F(LeaksPageTest, ASiteIsChosenInTheTableAndInTheSentence)
{
    open(30, 4'000);
    QSignalSpy focused(&m_page, &Page::focusChanged);
    Q_EMIT m_page.sites().sourceRowChosen(0);
    ASSERT_EQ(focused.count(), 1);
    const auto focus = focused[0][0].value<Focus>();
    EXPECT_EQ(focus.kind, Focus::Kind::Group);
    EXPECT_EQ(focus.grouping, model::Grouping::Site);
    for (const QLabel* label : m_page.findChildren<QLabel*>())
        if (label->text() == m_page.sentenceText())
            Q_EMIT const_cast<QLabel*>(label)->linkActivated(QStringLiteral("site:0"));
    ASSERT_EQ(focused.count(), 2);
    EXPECT_EQ(focused[1][0].value<Focus>(), focus);
}

TEST_F(LeaksPageTest, ASiteOfSegmentsWhoseStackNoBlockHasCanBeChosen)
{
    open(*test::trainingRun(30, 0, true));
    ASSERT_EQ(report().sites.size(), 1u);
    ASSERT_EQ(report().sites[0].kind, model::LeakKind::ReservedOnly);
    ASSERT_TRUE(report().sites[0].stack.valid());
    QSignalSpy focused(&m_page, &Page::focusChanged);
    Q_EMIT m_page.sites().sourceRowChosen(0);
    ASSERT_EQ(focused.count(), 1);
    EXPECT_EQ(focused[0][0].value<Focus>(), Focus::onEvent(m_page.chart().series().points.back().event));
}

TEST_F(LeaksPageTest, RanksSitesAndSavesThem)
{
    open(30, 4'000);
    QBuffer csv;
    csv.open(QIODevice::ReadWrite);
    ASSERT_TRUE(m_page.writeCsv(csv));
    EXPECT_TRUE(csv.data().startsWith("kind,line,bytes_per_step_allocated,blocks_per_step,first_step,steps_"
                                      "to_oom,pattern\nleak,train.py:30,"))
        << csv.data().toStdString();
    EXPECT_EQ(csv.data().count('\n'), static_cast<qsizetype>(report().sites.size()) + 1);
    ASSERT_TRUE(m_page.survivors().source());
    EXPECT_EQ(m_page.survivors().source()->rowCount(), report().sites[0].survivors.size());
    const QString path = m_folder.filePath(QStringLiteral("growth.svg"));
    ASSERT_TRUE(m_page.hasSvg());
    ASSERT_TRUE(m_page.saveSvg(path));
    QFile svg(path);
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    EXPECT_TRUE(svg.readAll().contains("<svg"));
}

TEST_F(LeaksPageTest, WithoutStacksStepsAreAGuessAndNoSiteIsNamed)
{
    open(*test::withoutStacks(test::trainingRun(30, 4'000)));
    EXPECT_TRUE(report().sites.empty());
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("The steps are a guess")))
        << qPrintable(m_page.sentenceText());
}

TEST_F(LeaksPageTest, SortsByWhatStandsThere)
{
    auto training = std::make_shared<TrainingData>();
    auto leaks = std::make_shared<model::LeakReport>();
    for (const auto& [allocated, reserved] : { std::pair(512, 0), std::pair(0, 4096), std::pair(1024, 0) }) {
        model::LeakSite& site = leaks->sites.emplace_back();
        site.kind = reserved > 0 ? model::LeakKind::ReservedOnly : model::LeakKind::Leak;
        site.allocatedBytesPerStep = allocated;
        site.reservedBytesPerStep = reserved;
    }
    training->leaks = leaks;
    const LeaksTable table(training);
    TableQuery query;
    query.sortColumn = LeaksTable::Allocated;
    const TableRows rows = arrange(table, query, JobContext());
    EXPECT_EQ((std::vector{ rows[0], rows[1], rows[2] }), (std::vector<std::uint32_t>{ 0, 2, 1 }));
}

TEST(LeakTexts, HeadlineTableAndFooterShowAllocatedBytes)
{
    auto training = std::make_shared<TrainingData>();
    auto leaks = std::make_shared<model::LeakReport>();
    leaks->verdict = model::LeakReport::Verdict::Found;
    model::LeakSite& site = leaks->sites.emplace_back();
    site.kind = model::LeakKind::Leak;
    site.requestedBytesPerStep = 20'890; // of one block that grows, more than what is allocated in some steps
    site.allocatedBytesPerStep = 20'480;
    training->leaks = leaks;
    const QString shown = QStringLiteral("20.0 KiB").replace(QLatin1Char(' '), QChar::Nbsp);
    for (const QString& text : { leaksVerdict(*training), leaksLine(*training) }) {
        EXPECT_TRUE(QString(text).replace(QLatin1Char(' '), QChar::Nbsp).contains(shown)) << qPrintable(text);
        EXPECT_TRUE(text.contains(QStringLiteral("of allocated memory per step"))) << qPrintable(text);
    }
    EXPECT_TRUE(leaksFooter(*training).contains(text::exactBytes(20'480))) << qPrintable(leaksFooter(*training));
    const LeaksTable table(training);
    EXPECT_EQ(table.cell(0, LeaksTable::Allocated).text, QStringLiteral("20.0"));
    EXPECT_EQ(table.columns()[LeaksTable::Allocated].title, QStringLiteral("Allocated per step"));
}

TEST(LeakTexts, OtherBytesThanAllocatedOnesAreNamed)
{
    auto training = std::make_shared<TrainingData>();
    auto leaks = std::make_shared<model::LeakReport>();
    for (const auto kind : { model::LeakKind::ReservedOnly, model::LeakKind::LongerInputs }) {
        model::LeakSite& site = leaks->sites.emplace_back();
        site.kind = kind;
        site.reservedBytesPerStep = 2 << 20;
        site.requestedBytesPerStep = 3 << 20;
    }
    training->leaks = leaks;
    const LeaksTable table(training);
    EXPECT_EQ(table.cell(0, LeaksTable::Allocated).text, QStringLiteral("2.00"));
    EXPECT_EQ(table.cell(0, LeaksTable::Allocated).note, QStringLiteral("MiB reserved"));
    EXPECT_EQ(table.cell(1, LeaksTable::Allocated).text, QStringLiteral("3.00"));
    EXPECT_EQ(table.cell(1, LeaksTable::Allocated).note, QStringLiteral("MiB requested"));
}

TEST_F(LeaksPageTest, SaysBlocksOfFewStepsInSteps)
{
    auto training = std::make_shared<TrainingData>();
    auto leaks = std::make_shared<model::LeakReport>();
    for (const double blocks : { 2.0, 1.0 / 3, 0.667, 0.01, 0.97 })
        leaks->sites.emplace_back().blocksPerStep = blocks;
    training->leaks = leaks;
    const LeaksTable table(training);
    QStringList shown;
    for (std::uint32_t row = 0; row < table.rowCount(); ++row)
        shown << table.cell(row, LeaksTable::Blocks).text;
    EXPECT_EQ(shown.join(QStringLiteral("; ")).toStdString(),
        "2; 1 in 3 steps; 2 in 3 steps; 1 in 100 steps; 0.97");
}

TEST(LeakTexts, OfABoundTwoFiguresAreEnough)
{
    EXPECT_EQ(roughly(0), 0);
    EXPECT_EQ(roughly(999), 999);
    EXPECT_EQ(roughly(1'049), 1'000);
    EXPECT_EQ(roughly(9'960), 10'000);
    EXPECT_EQ(roughly(191'720), 190'000);
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    EXPECT_GT(roughly(kMost), kMost / 2);
}

TEST_F(LeaksPageTest, KeepsTheChosenSiteWhileTheSessionGrows)
{
    // Two sites without a stack or a place of their own: their sizes tell them apart.
    const auto run = [](int steps) {
        std::string text;
        std::uint64_t next = std::uint64_t{ 1 } << 44;
        int ns = 0;
        const auto add
            = [&](const std::string& line) { text += line + " time=" + std::to_string(ns += 1'000) + "\n"; };
        for (int step = 0; step < steps; ++step) {
            const std::string name = "ProfilerStep#" + std::to_string(step);
            add("annotation start " + name);
            for (const int bytes : { step % 2 ? 4'000 : 9'000, step % 2 ? 9'000 : 4'000, 30'000 })
                add("alloc " + std::to_string(next += 1 << 20) + " " + std::to_string(bytes));
            for (const char* action : { "free_requested ", "free_completed " })
                add(action + std::to_string(next) + " 30000");
            add("annotation end " + name);
        }
        return test::makeRecording(text);
    };
    const auto grow = [&](int steps) {
        const auto session = model::Session::fromRecording(run(steps));
        ASSERT_TRUE(session);
        m_document.show(*session);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                const auto device = m_document.device();
                return device && !m_document.isBehind() && device->training && device->training->complete
                    && device->training->isOf(*device) && !m_page.busy();
            },
            20'000));
    };
    m_document.follow();
    ASSERT_NO_FATAL_FAILURE(grow(40));
    const auto size = [&](std::size_t site) { return report().sites[site].place->requestedBytes; };
    ASSERT_EQ(report().sites.size(), 2u) << report().why.text();
    ASSERT_FALSE(report().sites[0].place->ordinal || report().sites[1].place->ordinal);
    m_page.chooseSite(1);
    const auto chosen = size(1);
    ASSERT_NE(size(0), chosen);
    ASSERT_NO_FATAL_FAILURE(grow(52));
    ASSERT_TRUE(m_page.site());
    EXPECT_EQ(size(*m_page.site()), chosen);
    EXPECT_EQ(m_page.sites().currentSourceRow(), *m_page.site());
}

TEST_F(LeaksPageTest, NothingGrowsIsSaidAndShown)
{
    open(30, 0);
    EXPECT_EQ(report().verdict, model::LeakReport::Verdict::None);
    EXPECT_TRUE(m_page.sentenceText().startsWith(QStringLiteral("<b>No leak.</b>")))
        << qPrintable(m_page.sentenceText());
    EXPECT_EQ(m_page.chart().series().points.size(), 30u); // of the whole device
    EXPECT_EQ(m_page.site(), std::nullopt);
}

TEST_F(LeaksPageTest, OfManyStepsTheLastOneIsDrawn)
{
    open(3'000, 0);
    const GrowthSeries& series = m_page.chart().series();
    EXPECT_LE(series.points.size(), 2'000u);
    EXPECT_GT(series.points.size(), 1'000u);
    EXPECT_EQ(series.points.back().step, series.lastStep);
}

TEST_F(LeaksPageTest, TellsThatNothingIsPointedAtOnlyWhereSomethingWas)
{
    QSignalSpy told(&m_page, &Page::hoverText);
    open(30, 4'000);
    m_page.chart().setSeries(m_page.chart().series());
    EXPECT_EQ(told.count(), 0);
    m_page.chart().setFocus();
    QTest::keyClick(&m_page.chart(), Qt::Key_Right);
    EXPECT_EQ(told.count(), 1);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&m_page.chart(), &leave);
    ASSERT_EQ(told.count(), 2);
    EXPECT_EQ(told[1][0].toString(), QString());
}

TEST_F(LeaksPageTest, TooFewStepsAreSaidSo)
{
    open(4, 4'000);
    EXPECT_TRUE(m_page.sentenceText().startsWith(QStringLiteral("<b>Undecided.</b>")))
        << qPrintable(m_page.sentenceText());
    EXPECT_TRUE(m_page.chart().series().points.empty());
    ASSERT_TRUE(m_page.notice().isVisible());
    EXPECT_TRUE(m_page.notice().text().title.startsWith(QStringLiteral("Finding leaks needs 6 steps after the warm-up: ")));
    EXPECT_TRUE(report().why.text().ends_with(": finding leaks needs 6 steps, 30 steps are better"));
    EXPECT_EQ(m_page.notice().text().code, QStringLiteral("strata record -o run.strata -- python train.py"));
    EXPECT_FALSE(m_page.howText().contains(QStringLiteral("compared"))) << qPrintable(m_page.howText());
}

TEST_F(LeaksPageTest, ANoticeIsNotCutInANarrowWindow)
{
    open(4, 4'000);
    m_page.resize(420, 640);
    QApplication::processEvents();
    for (const QLabel* label : m_page.notice().findChildren<QLabel*>()) {
        if (label->isVisible()) {
            EXPECT_LE(label->mapTo(&m_page, QPoint(label->width(), 0)).x(), m_page.width()) << qPrintable(label->text());
        }
    }
}

TEST_F(LeaksPageTest, NamesTheRecordedCommand)
{
    const auto run = test::trainingRun(4, 4'000);
    auto recording = *run;
    recording.facts["command"] = "python pretrain.py --batch 8";
    open(recording);
    EXPECT_EQ(m_page.notice().text().code,
        QStringLiteral("strata record -o again.strata -- python pretrain.py --batch 8"));
}

TEST_F(LeaksPageTest, TheLastStepOfTheAxisIsNotCut)
{
    open(121, 4'000);
    GrowthChart& chart = m_page.chart();
    for (int width = 400; width < 480; width += 7) { // a label may be anywhere near the edge
        chart.setFixedSize(width, 200);
        QApplication::processEvents();
        const QImage image = chart.grab().toImage();
        for (int y = image.height() - 20; y < image.height(); ++y)
            EXPECT_EQ(image.pixelColor(image.width() - 1, y), Palette::light()[Palette::Role::Surface])
                << width << ", " << y;
    }
}

TEST_F(LeaksPageTest, WithoutStepsItSaysHowToNameThem)
{
    EXPECT_EQ(m_page.notice().text().title, QStringLiteral("Nothing is open"));
    open(0, 0);
    EXPECT_EQ(m_page.notice().text().title, QStringLiteral("No steps to compare"));
    EXPECT_EQ(m_page.notice().text().code, QStringLiteral("strata record -o run.strata -- python train.py"));
    EXPECT_TRUE(m_page.notice().text().otherCode.contains(QStringLiteral("record_function")));
    m_page.setMode(LeaksPage::Steps);
    EXPECT_TRUE(m_page.steps().notice().isVisible());
    EXPECT_EQ(m_page.steps().notice().text().title, QStringLiteral("No steps are known"));
}

TEST_F(LeaksPageTest, ASearchThatWasCancelledCanBeBegunAgain)
{
    std::optional<test::FullPool> pool; // from before the search begins
    m_document.leaveReplaysOut();
    const QObject here;
    const auto fill = QObject::connect(&m_document, &Document::deviceReady, &here, [&] {
        if (!pool && m_document.device()->blocksIndex)
            pool.emplace();
    });
    const auto stop = QObject::connect(&m_document, &Document::progressChanged, &here, [&] {
        if (pool)
            m_document.cancelAnalysis();
    });
    const QString path = m_folder.filePath(QStringLiteral("run.strata"));
    test::writeTrainingRun(path.toStdString());
    m_document.open(path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pool.has_value() && !m_document.working(); }, 20'000));
    QObject::disconnect(fill);
    QObject::disconnect(stop);
    pool.reset();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_document.analysing(); }, 20'000));
    for (const auto mode : { LeaksPage::Steps, LeaksPage::Leaks }) {
        m_page.setMode(mode);
        EXPECT_TRUE(m_page.notice().isVisible());
        EXPECT_EQ(m_page.notice().text().title, QStringLiteral("Nobody looked for leaks"));
    }
    QTest::mouseClick(m_page.notice().button(), Qt::LeftButton);
    EXPECT_TRUE(m_document.analysing());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_document.analysing() && !m_page.busy(); }, 20'000));
    EXPECT_EQ(report().verdict, model::LeakReport::Verdict::Found);
    EXPECT_FALSE(m_page.notice().isVisible());
}

TEST_F(LeaksPageTest, TheStepsStandBehindASwitch)
{
    open(30, 4'000);
    m_page.setMode(LeaksPage::Steps);
    EXPECT_TRUE(m_page.steps().isVisible());
    ASSERT_TRUE(m_page.steps().figures());
    EXPECT_TRUE(m_page.commandLine().startsWith(QStringLiteral("strata steps ")));
    QTest::mouseClick(m_page.steps().multiples().viewport(), Qt::LeftButton, {},
        m_page.steps().multiples().cellOf(3).center());
    const model::TrainingStep& step = *m_page.steps().figures()->rows[3].step;
    EXPECT_EQ(m_document.viewState().selection(), (EventRange{ step.first, step.last }));
    // A link in the sentence leads back.
    m_page.chooseSite(0);
    EXPECT_FALSE(m_page.steps().isVisible());
}

TEST(MemoryPageSteps, StandBelowThePicture)
{
    const test::WindowFont font;
    QTemporaryDir folder;
    Document document;
    MemoryPage page(document);
    page.setPalette(Palette::light());
    page.resize(1000, 700);
    page.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&page));
    const QString path = folder.filePath(QStringLiteral("run.strata"));
    test::writeTrainingRun(path.toStdString());
    document.open(path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page.steps().figures() && !page.busy(); }, 20'000));
    EXPECT_FALSE(page.steps().isVisible());
    EXPECT_TRUE(page.commandLine().startsWith(QStringLiteral("strata at ")));
    page.showBelow(MemoryPage::Below::Steps);
    EXPECT_TRUE(page.steps().isVisible());
    EXPECT_TRUE(page.commandLine().startsWith(QStringLiteral("strata steps ")));
    QBuffer csv;
    csv.open(QIODevice::ReadWrite);
    ASSERT_TRUE(page.writeCsv(csv));
    EXPECT_TRUE(csv.data().startsWith("step,kind,"));
    page.showBelow(MemoryPage::Below::Groups);
    EXPECT_FALSE(page.steps().isVisible());
}

} // namespace
