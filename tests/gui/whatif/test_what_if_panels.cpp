// SPDX-License-Identifier: GPL-3.0-or-later
// What the page What-if shows beside bars and tables: curves, ranks and plans.
#include "views/pages/whatif/what_if_page.h"

#include "model/base/words.h"
#include "model/trace/program/call_list.h"
#include "model/whatif/calls/call_hints.h"
#include "model/wire/info.h"
#include "tests/gui/whatif/deep_what_if_page.h"
#include "views/models/whatif/what_if_curves.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_confirmed_card.h"
#include "views/pages/whatif/what_if_plan_panel.h"
#include "views/pages/whatif/what_if_ranks_card.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/run_chart.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFontMetrics>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace strata;
using namespace strata::views;
using strata::test::plain;

namespace {

class WhatIfPanels : public test::DeepWhatIfPage {
protected:
    [[nodiscard]] WhatIfPlanPanel& plan() { return m_page.planPanel(); }

    /// Curves say what the answer says, and their layers add up.
    void agrees()
    {
        const auto& curves = m_page.run().curves();
        ASSERT_TRUE(curves);
        ASSERT_TRUE(curves->isPredicted);
        EXPECT_TRUE(curves->hasReserved);
        EXPECT_EQ(curves->recordedPeak.bytes, prediction().recorded.requestedBytesPeak);
        EXPECT_EQ(curves->predictedPeak.bytes, prediction().predicted->requestedBytesPeak);
        std::int64_t recorded = 0, recordedReserved = 0, reserved = 0;
        for (const WhatIfCurves::Column& column : curves->columns) {
            recorded = std::max(recorded, column.recorded);
            recordedReserved = std::max(recordedReserved, column.recordedReserved);
            reserved = std::max(reserved, column.predictedReserved);
            EXPECT_EQ(std::accumulate(column.layers.begin(), column.layers.end(), std::int64_t{ 0 }),
                column.predicted);
            EXPECT_LE(column.predicted, column.predictedReserved);
        }
        EXPECT_EQ(recorded, prediction().recorded.requestedBytesPeak);
        EXPECT_EQ(recordedReserved, m_document.device()->trace->totals().reservedBytesPeak);
        EXPECT_EQ(reserved, prediction().predicted->reservedBytesPeak);
        EXPECT_EQ(curves->columns[curves->predictedPeak.column].predicted, curves->predictedPeak.bytes);
    }
};

TEST_F(WhatIfPanels, CurvesComeToThePeaksOfTheAnswer)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    ASSERT_NO_FATAL_FAILURE(agrees());
    const auto& itself = *m_page.run().curves();
    for (const WhatIfCurves::Column& column : itself.columns)
        EXPECT_EQ(column.predicted, column.recorded); // nothing is another
    m_page.card<WhatIfBatchCard>().recorded().setValue(8);
    for (const char* change : { "batch=16", "batch=x0.5" }) {
        ASSERT_NO_FATAL_FAILURE(ask(change));
        if (!prediction().predicted) { // bounds alone have no curve
            EXPECT_FALSE(m_page.run().curves()->isPredicted);
            continue;
        }
        ASSERT_NO_FATAL_FAILURE(agrees());
        EXPECT_NE(m_page.run().curves()->predictedPeak.bytes, m_page.run().curves()->recordedPeak.bytes);
    }
    m_page.setScenario({ .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(agrees());
}

TEST(WhatIfCurvesTest, AColumnBeginsWithTheFirstEventOfIt)
{
    WhatIfCurves curves;
    curves.events = 5'000;
    curves.columns.resize(2'048);
    for (std::size_t column = 0; column < curves.columns.size(); ++column) {
        const model::EventIndex event = curves.eventOf(column);
        const auto columnOf
            = [](model::EventIndex of) { return static_cast<std::size_t>(of * 2'048 / 5'000); };
        EXPECT_EQ(columnOf(event), column);
        if (event > 0) {
            EXPECT_EQ(columnOf(event - 1), column - 1);
        }
    }
}

TEST(WhatIfCurvesTest, WhatIsNotDrawnDoesNotMakeTheScale)
{
    auto curves = std::make_shared<WhatIfCurves>();
    curves->events = 1;
    curves->columns
        = { { .recorded = 5, .recordedReserved = 10, .predicted = 5, .predictedReserved = 1'000 } };
    RunChart chart;
    chart.resize(400, 200);
    chart.setCurves(curves, true, std::nullopt);
    EXPECT_LT(chart.yOf(10), 40); // near the top
    curves->hasReserved = true;
    chart.setCurves(curves, true, std::nullopt);
    EXPECT_GT(chart.yOf(10), 150);
}

TEST(WhatIfCurvesTest, NoLineStrikesThroughTheFigureOfAPeak)
{
    constexpr std::int64_t kReserved = 1'000; // level, and just above both peaks
    auto curves = std::make_shared<WhatIfCurves>();
    curves->events = 400;
    curves->columns.resize(400);
    for (WhatIfCurves::Column& column : curves->columns)
        column = { .recorded = 400,
            .recordedReserved = kReserved,
            .predicted = 300,
            .predictedReserved = 960,
            .layers = {} };
    curves->isPredicted = curves->hasReserved = true;
    RunChart chart;
    chart.resize(600, 700); // else there is no room between lines
    chart.setCurves(curves, true, std::nullopt);
    const QSizeF size(180, 14);
    std::vector<QRectF> taken;
    for (const std::int64_t peak : { 990, 940, 900, 400 }) {
        const QRectF place = chart.placeBeside({ chart.xOf(200), chart.yOf(peak) }, size, true, taken);
        for (const std::int64_t level : { kReserved, std::int64_t{ 960 }, std::int64_t{ 400 } })
            EXPECT_FALSE(place.top() < chart.yOf(level) && chart.yOf(level) < place.bottom())
                << peak << " at " << level;
        for (const QRectF& other : taken)
            EXPECT_FALSE(place.intersects(other)) << peak;
        EXPECT_TRUE(QRectF(chart.rect()).contains(place)) << peak;
        taken.push_back(place);
    }
    EXPECT_LT(taken[0].right(), chart.xOf(200)); // at the side that it is to have
}

TEST_F(WhatIfPanels, NothingIsCutWhereThereIsLittleRoom)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    m_page.resize(820, 590); // beside rail, details and minimap of a window of 1280 x 800
    QCoreApplication::processEvents();
    EXPECT_TRUE(m_page.chart().isReservedAlone());
    EXPECT_TRUE(m_page.chart().bar(0, false).isNull());
    EXPECT_GT(m_page.chart().bar(2, false).width(), 0);
    EXPECT_GE(m_page.table(WhatIfPage::Alternatives).fullyVisibleRows(), 2); // whatever the font
    for (WhatIfCard* card : m_page.cards())
        card->setOpen(true);
    for (int below = WhatIfPage::Alternatives; below <= WhatIfPage::Confirm; ++below) {
        m_page.setBelow(static_cast<WhatIfPage::Below>(below));
        ASSERT_NO_FATAL_FAILURE(settle());
        QCoreApplication::processEvents();
        EXPECT_GE(m_page.chart().height(), m_page.chart().minimumSizeHint().height());
        EXPECT_GE(m_page.run().height(), m_page.run().minimumSizeHint().height());
        for (const WhatIfCard* card : m_page.cards()) {
            const QWidget* view = card->parentWidget()->parentWidget(); // of the scroll area
            EXPECT_LE(card->mapTo(view, QPoint(card->width(), 0)).x(), view->width())
                << qPrintable(card->accessibleName());
        }
        for (const QPushButton* button : m_page.findChildren<QPushButton*>()) {
            if (!button->isVisible())
                continue;
            EXPECT_GE(button->width(), button->minimumSizeHint().width()) << qPrintable(button->text());
            EXPECT_LE(button->mapTo(&m_page, QPoint(button->width(), 0)).x(), m_page.width())
                << qPrintable(button->text());
        }
    }
    m_page.resize(1100, 800);
    QCoreApplication::processEvents();
    EXPECT_FALSE(m_page.chart().isReservedAlone());
    EXPECT_GT(m_page.chart().bar(0, false).width(), 0);
}

/// Verdicts of one line and of more, as they come while a slider moves.
TEST_F(WhatIfPanels, PicturesStayWhereTheyAreWhileTextsChange)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    const auto place = [this] {
        QCoreApplication::processEvents();
        return m_page.chart().mapTo(&m_page, QPoint());
    };
    const auto lines = [this](int width) {
        QLabel* verdict = nullptr;
        for (QLabel* label : m_page.findChildren<QLabel*>())
            if (label->text() == m_page.sentenceText())
                verdict = label;
        return verdict->heightForWidth(width) / QFontMetrics(verdict->font()).lineSpacing();
    };
    for (const QSize size : { QSize(1'900, 900), QSize(900, 560) }) { // with room to spare, and without
        m_page.resize(size);
        m_page.setScenario({ .changes = {}, .settings = {}, .capacityBytes = std::int64_t{ 6 } << 30 });
        ASSERT_NO_FATAL_FAILURE(settle());
        const int most = lines(m_page.width() - 2 * kMargin);
        const QPoint before = place();
        m_page.setScenario({});
        ASSERT_NO_FATAL_FAILURE(settle());
        EXPECT_LT(lines(m_page.width() - 2 * kMargin), most);
        EXPECT_EQ(place(), before);
    }
}

TEST_F(WhatIfPanels, CheckpointsLowerTheCurveWhereTheyAre)
{
    ASSERT_NO_FATAL_FAILURE(openDeep());
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    ASSERT_TRUE(m_page.whatIf().answer()->prediction) << m_page.whatIf().answer()->prediction.error().text();
    ASSERT_NO_FATAL_FAILURE(agrees());
    EXPECT_LT(m_page.run().curves()->predictedPeak.bytes, m_page.run().curves()->recordedPeak.bytes);
}

TEST_F(WhatIfPanels, TheChartDrawsTheCapacityAndWhereMemoryEnds)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    RunChart& chart = m_page.run();
    EXPECT_FALSE(chart.capacityBytes());
    const std::int64_t capacity = prediction().recorded.reservedBytesPeak * 3 / 4;
    m_page.setScenario({ .changes = {}, .settings = {}, .capacityBytes = capacity });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(chart.capacityBytes(), capacity);
    ASSERT_TRUE(prediction().runsOutOfMemory);
    ASSERT_TRUE(chart.curves()->endsAt);
    EXPECT_LT(*chart.curves()->endsAt, chart.curves()->columns.size());
    EXPECT_GT(chart.yOf(0), chart.yOf(capacity));
    EXPECT_LT(chart.xOf(0), chart.xOf(*chart.curves()->endsAt));
    // The line is there: its colour is found at its height.
    QImage image(chart.size(), QImage::Format_RGB32);
    chart.render(&image);
    const QRgb ink = Palette::light()[Palette::Role::Text].rgb();
    const int y = qRound(chart.yOf(capacity));
    int found = 0;
    for (int x = 0; x < image.width(); ++x)
        found += image.pixel(x, y) == ink;
    EXPECT_GT(found, image.width() / 3);
    const QStringList said = chart.describe(chart.curves()->recordedPeak.column);
    EXPECT_TRUE(said.join(QLatin1Char(' ')).contains(text::bytes(chart.curves()->recordedPeak.bytes)))
        << qPrintable(said.join(QLatin1Char('\n')));
    EXPECT_GT(chart.legend().size(), 3u);
}

TEST_F(WhatIfPanels, TheChartMarksWhereTheRecordingRanOutOfMemory)
{
    ASSERT_NO_FATAL_FAILURE(open(QStringLiteral(STRATA_SESSIONS "/gpt2_124m_bf16_oom.strata")));
    const WhatIfCurves& curves = *m_page.run().curves();
    const auto& failures = m_document.device()->summary->outOfMemory;
    ASSERT_FALSE(failures.empty());
    ASSERT_FALSE(curves.recordedFailures.empty());
    const std::size_t column = curves.recordedFailures.back();
    EXPECT_LE(curves.eventOf(column), failures.back().event);
    EXPECT_TRUE(column + 1 == curves.columns.size() || curves.eventOf(column + 1) > failures.back().event);
    EXPECT_TRUE(m_page.run().describe(column).contains(QStringLiteral("recorded: out of memory")));
    QImage image(m_page.run().size(), QImage::Format_RGB32);
    m_page.run().render(&image);
    const int x = std::min(static_cast<int>(m_page.run().xOf(column)), image.width() - 2);
    int marked = 0;
    for (int y = 0; y < image.height(); ++y)
        marked += image.pixelColor(x, y) == Palette::light()[Palette::Role::Bad];
    EXPECT_GT(marked, image.height() / 3);
}

TEST_F(WhatIfPanels, APredictionWithBoundsAloneSaysSoWhereNothingIsAsked)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "predicted",
        R"({"evidence":"sizes","point":false,"reserved_bytes_peak":[1048576,1073741824]})" } }));
    ASSERT_NO_FATAL_FAILURE(settle());
    const QString said = plain(m_page.sentenceText());
    EXPECT_TRUE(said.startsWith(QStringLiteral("It reserves up to something between "))) << qPrintable(said);
    EXPECT_TRUE(said.contains(QStringLiteral("the recording is of the likeliest run of a prediction")))
        << qPrintable(said);
    ASSERT_TRUE(m_page.chart().picture());
    EXPECT_TRUE(m_page.chart().picture()->isAsked); // its bounds are drawn
}

TEST_F(WhatIfPanels, APlanIsFoundCopiedAndTakenOver)
{
    ASSERT_NO_FATAL_FAILURE(openDeep());
    m_page.setBelow(WhatIfPage::Plan);
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    const std::int64_t budget = prediction().most.reservedBytesPeak * 21 / 20;
    m_page.setScenario({});
    ASSERT_NO_FATAL_FAILURE(settle());
    QTest::keyClicks(&plan().budget(), QString::number(budget));
    QTest::keyClick(&plan().budget(), Qt::Key_Return);
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto& found = plan().planner().plan();
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->made) << found->made.error().text();
    EXPECT_TRUE(found->met());
    EXPECT_LE(found->neededBytes(), budget);
    const WhatIfRun run = WhatIfRun::of(*m_document.device());
    const auto wanted = model::planCheckpoints({ run.recorded({}) }, {}, { budget, {} });
    ASSERT_TRUE(wanted);
    ASSERT_FALSE(wanted->chosen.modules.empty());
    ASSERT_EQ(plan().table().source()->rowCount(), wanted->chosen.modules.size());
    std::string line;
    plan().table().source()->appendCsv(line, 0);
    EXPECT_TRUE(line.starts_with(wanted->modules[wanted->chosen.modules[0]].path + ",")) << line;
    EXPECT_TRUE(plain(plan().sentenceText()).contains(QStringLiteral("is met")))
        << qPrintable(plan().sentenceText());
    EXPECT_TRUE(m_page.commandLine().contains(QStringLiteral("--plan %1").arg(budget)));
    EXPECT_EQ(plan().code().toStdString(), wanted->code());
    QPushButton *copy = button(plan(), "Copy code"), *take = button(plan(), "Take it over");
    ASSERT_TRUE(copy && take);
    copy->click();
    EXPECT_EQ(QApplication::clipboard()->text(), plan().code());
    take->click();
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(scenario().changes.size(), wanted->changes().size());
    for (std::size_t i = 0; i < scenario().changes.size(); ++i)
        EXPECT_EQ(scenario().changes[i].text, wanted->changes()[i].text);
    EXPECT_EQ(prediction().most.reservedBytesPeak, found->neededBytes());
}

TEST_F(WhatIfPanels, PartsOfAPlanDoNotOverlapInASmallPage)
{
    m_page.resize(580, 470);
    ASSERT_NO_FATAL_FAILURE(openDeep());
    m_page.setBelow(WhatIfPage::Plan);
    for (const PlanGoal goal : { PlanGoal::Budget, PlanGoal::LargestBatch }) {
        plan().setGoal(goal);
        QTest::qWait(0);
        std::vector<QRect> parts;
        for (const QWidget* part : plan().findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
            if (part->isVisibleTo(&plan()))
                parts.push_back(part->geometry());
        ASSERT_GE(parts.size(), 5u);
        for (std::size_t i = 0; i < parts.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(parts[i].intersects(parts[j])) << i << " and " << j;
    }
}

/// The deep step has calls of a head and its loss, which allocate all up to the peak.
TEST_F(WhatIfPanels, APlanNamesWhatRecordedCallsAloneAnswer)
{
    const auto trained = makeDeep();
    model::Recording& recording = trained->recording();
    const model::DeepStep& deep = recording.parts.get<model::DeepSteps>().steps.front();
    const auto text = [&](const char* said) { return recording.strings.intern(said); };
    using Kind = model::CallList::Kind;
    model::CallList calls;
    calls.beginEvent = deep.beginEvent;
    calls.endEvent = deep.endEvent;
    calls.tensors = { { 0, text("float"), 0, wire::kNone, 0, 1 }, { 0, text("float"), 0, wire::kNone, 2, 1 },
        { 0, text("long int"), 0, wire::kNone, 4, 1 }, { 0, text("float"), 0, wire::kNone, 6, 0 } };
    calls.lengths = { 8, 1, 64, 1, 4, 1 };
    calls.rows = { { Kind::Call, deep.beginEvent, true, text("aten::linear"), text("[]"), 0, 1, 1 },
        { Kind::Call, deep.endEvent, true, text("aten::cross_entropy_loss"),
            text(R"(["@","@",null,1,-100,0.0])"), 2, 2, 1 } };
    calls.refs = { 0, 2, 2, 4, 6 };
    recording.parts.get<model::CallLists>().lists.push_back(calls);
    const QString path = m_folder.filePath(QStringLiteral("calls.strata"));
    ASSERT_TRUE(model::saveSession(recording, path.toStdString()));
    ASSERT_NO_FATAL_FAILURE(open(path));
    m_page.setBelow(WhatIfPage::Plan);
    EXPECT_FALSE(plan().hints().isVisibleTo(&plan()));
    const auto look = [&](std::int64_t budget) {
        plan().budget().setText(QString::number(budget));
        plan().plan();
        ASSERT_NO_FATAL_FAILURE(settle());
        ASSERT_TRUE(plan().planner().plan());
    };
    ASSERT_NO_FATAL_FAILURE(look(1 << 20));
    const auto hints = model::callHints(*m_document.device()->trace, path.toStdString(), 0);
    ASSERT_EQ(hints.size(), 1u);
    ASSERT_TRUE(plan().hints().isVisibleTo(&plan()));
    const auto labels = plan().hints().findChildren<QLabel*>();
    ASSERT_EQ(labels.size(), 1);
    EXPECT_EQ(labels.front()->text().toStdString(), hints.front().sentence().text());
    QPushButton* const copy = button(plan().hints(), "Copy command");
    ASSERT_TRUE(copy);
    copy->click();
    EXPECT_EQ(QApplication::clipboard()->text().toStdString(), hints.front().command);
    EXPECT_TRUE(QApplication::clipboard()->text().endsWith(
        QStringLiteral("--change logits=chunks:8 --confirm --python PY")));
    ASSERT_NO_FATAL_FAILURE(look(std::int64_t{ 1 } << 40));
    EXPECT_FALSE(plan().hints().isVisibleTo(&plan())) << "nothing has to change";
}

/// Of bounds alone: that a batch fits as is likeliest is no plan, and said so.
TEST_F(WhatIfPanels, APlanByTheLikeliestSizesAloneIsNotCalledMet)
{
    ASSERT_NO_FATAL_FAILURE(openDeep());
    const std::int64_t peak = prediction().recorded.requestedBytesPeak;
    int likely = 0, met = 0, none = 0;
    for (const std::int64_t percent : { 5, 20, 130 }) {
        const auto trained = makeDeep();
        trained->recording().facts[wire::deviceKey(wire::info::kDevice, 0, wire::info::kDeviceCapacity)]
            = std::to_string(peak * percent / 100);
        const QString path = m_folder.filePath(QStringLiteral("%1.strata").arg(percent));
        ASSERT_TRUE(model::saveSession(trained->recording(), path.toStdString()));
        ASSERT_NO_FATAL_FAILURE(open(path));
        m_page.setBelow(WhatIfPage::Plan);
        m_page.card<WhatIfBatchCard>().recorded().setValue(8);
        plan().setGoal(PlanGoal::LargestBatch);
        ASSERT_NO_FATAL_FAILURE(settle());
        plan().plan();
        ASSERT_NO_FATAL_FAILURE(settle());
        const auto& found = plan().planner().plan();
        ASSERT_TRUE(found && found->fit()) << qPrintable(plan().sentenceText());
        const QString said = plain(plan().sentenceText());
        SCOPED_TRACE(said.toStdString());
        EXPECT_EQ(said.contains(QStringLiteral("by the likeliest sizes alone")), found->fit()->likelyMet());
        EXPECT_EQ(said.contains(QStringLiteral("gives back what it has cached")),
            found->met() && found->neededBytes() > found->fit()->capacityBytes);
        std::string line;
        plan().table().source()->appendCsv(line, static_cast<std::uint32_t>(found->fit()->chosen));
        EXPECT_TRUE(line.ends_with(found->met() ? ",yes\n"
                : found->fit()->likelyMet()     ? ",likely\n"
                                                : ",no\n"))
            << line;
        (found->met() ? met : found->fit()->likelyMet() ? likely : none) += 1;
    }
    EXPECT_EQ(none, 1);
    EXPECT_EQ(likely, 1);
    EXPECT_EQ(met, 1);
}

TEST_F(WhatIfPanels, APlanOfAnotherQuestionSaysSo)
{
    ASSERT_NO_FATAL_FAILURE(openDeep());
    m_page.setBelow(WhatIfPage::Plan);
    QPushButton* const take = button(plan(), "Take it over");
    ASSERT_TRUE(take);
    QTest::keyClicks(&plan().budget(), QStringLiteral("1TiB"));
    QTest::keyClick(&plan().budget(), Qt::Key_Return);
    ASSERT_NO_FATAL_FAILURE(settle());
    const QString found = plan().sentenceText();
    EXPECT_TRUE(plain(found).contains(QStringLiteral("for 1.00 TiB"))) << qPrintable(found);
    EXPECT_TRUE(take->isEnabled());
    plan().plan(); // once more, and no
    EXPECT_TRUE(plan().sentenceText().startsWith(QStringLiteral("Looking")));
    plan().planner().cancel();
    EXPECT_EQ(plan().sentenceText(), found);
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    EXPECT_TRUE(plain(plan().sentenceText()).startsWith(QStringLiteral("Of other changes:")))
        << qPrintable(plan().sentenceText());
    EXPECT_FALSE(take->isEnabled()); // it would be of changes that are not asked for any more
    m_page.setScenario({});
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(plan().sentenceText(), found);
    EXPECT_TRUE(take->isEnabled());
    plan().setGoal(PlanGoal::LargestBatch); // how many items the batch has is not known
    ASSERT_NO_FATAL_FAILURE(settle());
    const QString other = plain(plan().sentenceText());
    EXPECT_TRUE(other.startsWith(QStringLiteral("No plan:"))) << qPrintable(other);
    EXPECT_TRUE(other.contains(QStringLiteral("Of another goal:"))) << qPrintable(other);
    EXPECT_FALSE(take->isEnabled());
}

TEST_F(WhatIfPanels, APlanThatIsNotMetSaysWhatTheLeastNeeds)
{
    ASSERT_NO_FATAL_FAILURE(
        openSample()); // without a deep step: no checkpoint can be planned, but other changes
    m_page.setBelow(WhatIfPage::Plan);
    QTest::keyClicks(&plan().budget(), QStringLiteral("1GiB"));
    const QPushButton* start = button(plan(), "Plan");
    ASSERT_TRUE(start);
    EXPECT_TRUE(start->isEnabled());
    QTest::keyClick(&plan().budget(), Qt::Key_Return);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(plain(plan().sentenceText())
                    .startsWith(QStringLiteral("Nothing that was tried fits 1.00 GiB: the least needs ")))
        << qPrintable(plan().sentenceText());
    EXPECT_TRUE(plan().code().isEmpty());
}

TEST_F(WhatIfPanels, RanksAreAskedForWithTheirOptions)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    auto& ranks = m_page.card<WhatIfRanksCard>();
    EXPECT_FALSE(ranks.isOn());
    EXPECT_FALSE(ranks.isOpen());
    ranks.ranks().setValue(16);
    EXPECT_TRUE(ranks.isOn());
    EXPECT_TRUE(ranks.isOpen());
    EXPECT_EQ(scenario().changes.at(0).text, "ddp=16");
    ranks.gradientsAreViews().setChecked(true);
    ranks.bucket().setValue(50);
    EXPECT_EQ(scenario().changes.at(0).text, "ddp=16,gradient_as_bucket_view=True,bucket_cap_mb=50");
    EXPECT_FALSE(ranks.reshards().isVisible());
    ranks.kind().setCurrentIndex(ranks.kind().findData(QStringLiteral("fsdp")));
    Q_EMIT ranks.kind().activated(ranks.kind().currentIndex());
    EXPECT_FALSE(ranks.bucket().isVisible());
    EXPECT_EQ(scenario().changes.at(0).text, "fsdp=16");
    QTest::keyClicks(&ranks.modules(), QStringLiteral("Block"));
    EXPECT_EQ(scenario().changes.at(0).text, "fsdp=16,modules=Block");
    for (const char* change : { "zero1=4", "ddp=2,bucket_cap_mb=5", "fsdp=8,reshard_after_forward=False" }) {
        ASSERT_NO_FATAL_FAILURE(ask(change));
        EXPECT_EQ(scenario().changes.at(0).text, change);
        const int before = ranks.ranks().value();
        ranks.ranks().setValue(before + 1); // what it shows is what it makes
        const QString wanted = QString::fromLatin1(change).replace(
            QStringLiteral("=%1").arg(before), QStringLiteral("=%1").arg(before + 1));
        EXPECT_EQ(scenario().changes.at(0).text, wanted.toStdString());
    }
}

TEST_F(WhatIfPanels, PrecisionOffersToConfirm)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    auto& precision = m_page.card<WhatIfConfirmedCard>();
    EXPECT_TRUE(precision.note().contains(QStringLiteral("only a confirmation can")));
    EXPECT_FALSE(confirm().isVisible());
    precision.onSwitch().click();
    EXPECT_TRUE(confirm().isVisible()); // nothing else tells
    m_page.setBelow(WhatIfPage::Peaks);
    for (QPushButton* button : precision.findChildren<QPushButton*>())
        button->click();
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(scenario().changes.at(0).text, "amp=bf16");
    EXPECT_TRUE(confirm().isVisible());
    EXPECT_FALSE(m_page.whatIf().answer()->prediction); // nothing tells
    EXPECT_TRUE(plain(m_page.sentenceText()).startsWith(QStringLiteral("No answer:")));
    ASSERT_TRUE(m_page.run().curves());
    EXPECT_FALSE(m_page.run().curves()->isPredicted); // what was recorded stays
}

/// What a command or a plan asks for stands in its card, and that is in view; a filter may have spaces.
TEST_F(WhatIfPanels, WhatIsAskedIsInView)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    m_page.resize(900, 560);
    for (const char* change : { "free=last-use", "remove=train.py:57 > 1MiB", "offload=activations:Block",
             "attention=flash,causal", "logits=chunks:8" }) {
        ASSERT_NO_FATAL_FAILURE(ask(change));
        ASSERT_EQ(scenario().changes.size(), 1u) << change;
        EXPECT_EQ(scenario().changes.at(0).text, change);
        const auto card = std::ranges::find_if(m_page.cards(), &WhatIfCard::isOn);
        ASSERT_NE(card, m_page.cards().end());
        EXPECT_FALSE((*card)->visibleRegion().isEmpty()) << change;
    }
}

/// Whoever records no items is not told of them where something else is missing.
TEST_F(WhatIfPanels, ARefusalSaysWhatItIsAbout)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    for (const char* change : { "checkpoint=Block", "ddp=2" }) {
        ASSERT_NO_FATAL_FAILURE(ask(change));
        const auto& answer = m_page.whatIf().answer()->prediction;
        ASSERT_FALSE(answer) << change;
        const QString said = plain(m_page.sentenceText());
        EXPECT_FALSE(said.contains(QStringLiteral("Say it at the left"))) << qPrintable(said);
        EXPECT_FALSE(answer.error().hint.empty());
        const QString hint = text::said(answer.error().hint.said);
        EXPECT_TRUE(said.contains(hint.mid(1))) << qPrintable(said);
    }
    ASSERT_NO_FATAL_FAILURE(ask("batch=x2"));
    EXPECT_TRUE(plain(m_page.sentenceText()).contains(QStringLiteral("Say it at the left")));
}

} // namespace
