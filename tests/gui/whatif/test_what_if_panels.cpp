// SPDX-License-Identifier: GPL-3.0-or-later
// What the page What-if shows beside bars and tables: curves, ranks, plans, and what confirms.
#include "views/pages/what_if_page.h"

#include "model/session/save.h"
#include "model/whatif/lacks.h"
#include "tests/gui/whatif/shown_what_if_page.h"
#include "tests/unit/chunks/made_call_list.h"
#include "tests/unit/whatif/made_training.h"
#include "views/models/confirm_job.h"
#include "views/models/what_if_curves.h"
#include "views/pages/what_if_batch_card.h"
#include "views/pages/what_if_choice_card.h"
#include "views/pages/what_if_confirm_panel.h"
#include "views/pages/what_if_plan_panel.h"
#include "views/pages/what_if_precision_card.h"
#include "views/pages/what_if_ranks_card.h"
#include "views/pages/what_if_texts.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/plan_tables.h"
#include "views/widgets/whatif/run_chart.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocumentFragment>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace strata;
using namespace strata::views;

namespace {

QString plain(const QString& html)
{
    return QTextDocumentFragment::fromHtml(html).toPlainText().replace(QChar::Nbsp, QLatin1Char(' '));
}

QStringList words(std::initializer_list<const char*> all)
{
    QStringList words;
    for (const char* word : all)
        words << QString::fromLatin1(word);
    return words;
}

/// A program in place of `strata`.
QString fakeStrata(const QTemporaryDir& folder, const QByteArray& script)
{
    const QString path = folder.filePath(QStringLiteral("strata"));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + script);
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

class WhatIfPanels : public test::ShownWhatIfPage {
protected:
    WhatIfPanels()
        : ShownWhatIfPage({ 1100, 800 })
    {
    }
    /// A training of six layers with a deep step.
    void openDeep(const std::map<std::string, std::string>& facts = {})
    {
        test::MadeTraining made({ .seed = 3, .layers = 6, .unit = std::int64_t{ 1 } << 19 });
        const auto trained = made.recorded();
        for (const auto& [key, value] : facts)
            trained->recording().facts[key] = value;
        const QString path = m_folder.filePath(QStringLiteral("deep.strata"));
        ASSERT_TRUE(model::saveSession(trained->recording(), path.toStdString()));
        ASSERT_NO_FATAL_FAILURE(open(path));
    }
    /// Such a training whose deep step tells calls, as a file.
    [[nodiscard]] QString writeCalls(const char* name)
    {
        test::MadeTraining made({ .seed = 3, .layers = 6, .unit = std::int64_t{ 1 } << 19 });
        const auto trained = made.recorded();
        model::Recording& recording = trained->recording();
        recording.facts["command"] = "train";
        recording.parts.get<model::CallLists>().lists.push_back(test::makeCallList(recording));
        QString path = m_folder.filePath(QString::fromLatin1(name));
        EXPECT_TRUE(model::saveSession(recording, path.toStdString()));
        return path;
    }
    void ask(const char* change)
    {
        m_page.setScenario(
            { .changes = { *model::Change::parse(change) }, .settings = {}, .capacityBytes = {} });
        ASSERT_NO_FATAL_FAILURE(settle());
    }
    [[nodiscard]] static QPushButton* button(const QWidget& in, const char* text)
    {
        for (QPushButton* one : in.findChildren<QPushButton*>())
            if (one->text() == QLatin1String(text))
                return one;
        return nullptr;
    }
    [[nodiscard]] WhatIfPlanPanel& plan() { return m_page.planPanel(); }
    [[nodiscard]] WhatIfConfirmPanel& confirm() { return m_page.confirmPanel(); }

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
    m_page.card<WhatIfBatchCard>().recordedItems().setValue(8);
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

TEST_F(WhatIfPanels, NothingIsCutWhereThereIsLittleRoom)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    m_page.resize(820, 590); // beside rail, details and minimap of a window of 1280 x 800
    QCoreApplication::processEvents();
    EXPECT_TRUE(m_page.chart().isReservedAlone());
    EXPECT_TRUE(m_page.chart().bar(0, false).isNull());
    EXPECT_GT(m_page.chart().bar(2, false).width(), 0);
    EXPECT_GE(m_page.table(WhatIfPage::Alternatives).height(), 100);
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
    for (QPushButton* button : plan().findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Copy code")) {
            button->click();
            EXPECT_EQ(QApplication::clipboard()->text(), plan().code());
        }
        if (button->text() == QStringLiteral("Take it over"))
            button->click();
    }
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(scenario().changes.size(), wanted->changes().size());
    for (std::size_t i = 0; i < scenario().changes.size(); ++i)
        EXPECT_EQ(scenario().changes[i].text, wanted->changes()[i].text);
    EXPECT_EQ(prediction().most.reservedBytesPeak, found->neededBytes());
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
    EXPECT_TRUE(plain(found).contains(QStringLiteral("for 1024.0 GiB"))) << qPrintable(found);
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

TEST_F(WhatIfPanels, APlanThatNothingSupportsSaysWhy)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    m_page.setBelow(WhatIfPage::Plan);
    EXPECT_TRUE(plain(plan().sentenceText()).startsWith(QStringLiteral("No plan:"))) // before it is asked for
        << qPrintable(plan().sentenceText());
    QTest::keyClicks(&plan().budget(), QStringLiteral("1GiB"));
    for (const QPushButton* button : plan().findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Plan")) {
            EXPECT_FALSE(button->isEnabled());
        }
    QTest::keyClick(&plan().budget(), Qt::Key_Return);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(plain(plan().sentenceText()).startsWith(QStringLiteral("No plan:")))
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
    auto& precision = m_page.card<WhatIfPrecisionCard>();
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

TEST_F(WhatIfPanels, ARecordedCommandIsShownAndRunsAfterASecondClickAlone)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "touch ran" } }));
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    m_page.setBelow(WhatIfPage::Confirm);
    EXPECT_EQ(confirm().command().text(), QStringLiteral("touch ran"));
    EXPECT_EQ(confirm().folder().text(), m_folder.path());
    EXPECT_TRUE(
        confirm().lineText().contains(QStringLiteral("--change checkpoint=Layer --confirm -- touch ran")))
        << qPrintable(confirm().lineText());
    EXPECT_FALSE(confirm().agreeButton().isVisible());
    confirm().runButton().click();
    EXPECT_TRUE(confirm().agreeButton().isVisible());
    EXPECT_FALSE(confirm().running());
    QTest::keyClicks(&confirm().command(), QStringLiteral("2")); // another command is asked for anew
    EXPECT_FALSE(confirm().agreeButton().isVisible());
    EXPECT_FALSE(confirm().running());
    EXPECT_FALSE(QFile::exists(m_folder.filePath(QStringLiteral("ran"))));
    m_page.setScenario({});
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Nothing changes")));
    ASSERT_NO_FATAL_FAILURE(ask("ddp=8"));
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("one of many ranks")));
    EXPECT_FALSE(confirm().command().isEnabled());
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=none"));
    confirm().setWay(WhatIfConfirmPanel::Calls);
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Calls do not tell")))
        << qPrintable(confirm().stateText());
}

TEST_F(WhatIfPanels, CallsNeedAnotherRecordingForAnotherBatch)
{
    ASSERT_NO_FATAL_FAILURE(open(writeCalls("calls.strata")));
    m_page.card<WhatIfBatchCard>().recordedItems().setValue(8);
    ASSERT_NO_FATAL_FAILURE(ask("batch=16"));
    m_page.setBelow(WhatIfPage::Confirm);
    confirm().setWay(WhatIfConfirmPanel::Calls);
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().startsWith(QStringLiteral("Add a recording with a deep step")))
        << qPrintable(confirm().stateText());
    m_page.whatIf().addOther(writeCalls("other.strata"));
    m_page.whatIf().setOtherItems(0, 16);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
    EXPECT_TRUE(
        confirm().lineText().endsWith(QStringLiteral("--change batch=16 --with %1 --batch-of 8,16 --confirm")
                                          .arg(m_folder.filePath(QStringLiteral("other.strata")))))
        << qPrintable(confirm().lineText());
    m_page.whatIf().setOtherItems(0, 8); // of the same batch
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(confirm().runButton().isEnabled());
    confirm().setWay(WhatIfConfirmPanel::Program); // which needs none of them
    QTest::keyClicks(&confirm().command(), QStringLiteral(" {BATCH}"));
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
}

TEST_F(WhatIfPanels, ARelativePathIsFoundWhereverTheCommandRuns)
{
    const QString path = QStringLiteral(STRATA_SESSIONS "/gpt2_124m_bf16_train.strata");
    m_document.open(QDir::current().relativeFilePath(path));
    ASSERT_NO_FATAL_FAILURE(settle());
    m_page.whatIf().addOther(QDir::current().relativeFilePath(path));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Block"));
    const auto question = m_page.whatIf().question();
    ASSERT_TRUE(question);
    ASSERT_EQ(question->recordings.size(), 2u);
    const QString absolute = QDir::cleanPath(path);
    EXPECT_EQ(question->words().at(1), absolute);
    EXPECT_EQ(question->words().at(question->words().indexOf(QStringLiteral("--with")) + 1), absolute);
}

TEST_F(WhatIfPanels, AnotherBatchIsNotConfirmedByACommandThatDoesNotSayIt)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "touch ran" } }));
    m_page.card<WhatIfBatchCard>().recordedItems().setValue(8);
    ASSERT_NO_FATAL_FAILURE(ask("batch=16"));
    m_page.setBelow(WhatIfPage::Confirm);
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().command().isEnabled());
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Write {BATCH}")));
    QTest::keyClicks(&confirm().command(), QStringLiteral(" {BATCH}"));
    EXPECT_TRUE(confirm().runButton().isEnabled());
    EXPECT_FALSE(confirm().stateText().contains(QStringLiteral("{BATCH}")));
    confirm().command().setText(QStringLiteral("touch ran"));
    ASSERT_NO_FATAL_FAILURE(ask("batch=8")); // as it was recorded
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
}

TEST_F(WhatIfPanels, WhatNobodyRunsIsNotToBeConfirmed)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    ASSERT_NO_FATAL_FAILURE(ask("amp=bf16"));
    EXPECT_TRUE(plain(m_page.sentenceText()).contains(QStringLiteral("Confirm it, below")));
    m_page.setScenario({ .changes = { *model::Change::parse("amp=bf16"), *model::Change::parse("ddp=8") },
        .settings = {},
        .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(plain(m_page.sentenceText()).contains(QStringLiteral("Switch the ranks off")))
        << qPrintable(m_page.sentenceText());
    // Nor is any option of the command line named where the page has a field.
    for (const model::Lacks lacks : { model::Lacks::BatchItems, model::Lacks::OtherRecording,
             model::Lacks::Capacity, model::Lacks::Confirmation }) {
        const model::Error error{ model::Error::Kind::Usage, model::say("so"), model::hintFor(lacks), {} };
        EXPECT_EQ(model::lacksOf(error), lacks);
        const QString hint = whatIfHint(error);
        EXPECT_TRUE(hint.contains(QStringLiteral("at the left")) || hint.contains(QStringLiteral("below")))
            << qPrintable(hint);
        EXPECT_FALSE(hint.contains(QStringLiteral("--batch-of"))
            || hint.contains(QStringLiteral("--capacity")) || hint.contains(QStringLiteral("--confirm"))
            || hint.contains(QStringLiteral("--with")))
            << qPrintable(hint);
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
        const QString hint = text::said(answer.error().hint);
        EXPECT_TRUE(said.contains(hint.mid(1))) << qPrintable(said);
    }
    ASSERT_NO_FATAL_FAILURE(ask("batch=x2"));
    EXPECT_TRUE(plain(m_page.sentenceText()).contains(QStringLiteral("Say it at the left")));
}

TEST_F(WhatIfPanels, AConfirmationThatRunsIsTheOneThatIsShown)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "train" } }));
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    m_page.setBelow(WhatIfPage::Confirm);
    confirm().job().setProgram(
        fakeStrata(m_folder, "sleep 2\necho 'strata: begins' >&2\ntrap '' INT\nsleep 600\n"));
    const QString line = confirm().lineText();
    confirm().agreeButton().click();
    ASSERT_TRUE(confirm().running());
    EXPECT_EQ(confirm().stateText(), QStringLiteral("Running…")); // nothing was said yet
    EXPECT_TRUE(m_page.busy());
    EXPECT_FALSE(confirm().command().isEnabled());
    m_page.setScenario({}); // what is asked is another
    EXPECT_EQ(confirm().lineText(), line);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return confirm().stateText() == QStringLiteral("Running: begins"); }, 20'000));
    EXPECT_TRUE(confirm().runButton().isEnabled());
    confirm().runButton().click();
    EXPECT_EQ(confirm().stateText(), QStringLiteral("Cancelling…"));
    EXPECT_FALSE(confirm().runButton().isEnabled());
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(confirm().running());
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("it was cancelled")));
}

TEST_F(WhatIfPanels, WhatWasConfirmedIsOfTheCommandThatDidIt)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "train" } }));
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    m_page.setBelow(WhatIfPage::Confirm);
    confirm().job().setProgram(fakeStrata(m_folder, R"(echo '{"devices":[{"confirmed":
{"requested_bytes_peak":1048576,"allocated_bytes_peak":1048576,"reserved_bytes_peak":2097152}}]}'
)"));
    const QString line = confirm().lineText();
    confirm().agreeButton().click();
    ASSERT_NO_FATAL_FAILURE(settle());
    const QString came = confirm().stateText();
    EXPECT_TRUE(
        plain(came).startsWith(QStringLiteral("Confirmed by the program: it reserves up to 2.00 MiB")))
        << qPrintable(came);
    EXPECT_EQ(confirm().confirmedBy(), line);
    QTest::keyClicks(&confirm().command(), QStringLiteral("2"));
    EXPECT_TRUE(
        confirm().stateText().contains(QStringLiteral("That was another command: "))) // train2 was not
        << qPrintable(confirm().stateText());
    confirm().job().setProgram(
        fakeStrata(m_folder, "echo 'strata: whatif: no such file: train2' >&2\nexit 3\n"));
    confirm().agreeButton().click();
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(plain(confirm().stateText()), QStringLiteral("Not confirmed: no such file: train2"));
    QTest::keyClick(&confirm().command(), Qt::Key_Backspace);
    confirm().setWay(WhatIfConfirmPanel::Calls); // of which there are none
    EXPECT_FALSE(confirm().stateText().contains(QStringLiteral("Confirmed by")))
        << qPrintable(confirm().stateText());
    confirm().setWay(WhatIfConfirmPanel::Program);
    EXPECT_EQ(confirm().stateText(), came);
}

TEST_F(WhatIfPanels, WhatWasConfirmedIsWhatThePageGoesBy)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "train" } }));
    ASSERT_NO_FATAL_FAILURE(ask("amp=bf16")); // which nothing estimates
    m_page.setBelow(WhatIfPage::Cards);
    EXPECT_TRUE(m_page.aboutText().startsWith(QStringLiteral("Without an answer")));
    EXPECT_EQ(m_page.table(WhatIfPage::Cards).source(), nullptr);
    confirm().job().setProgram(fakeStrata(m_folder, R"(echo '{"devices":[{"out_of_memory":true,"confirmed":
{"requested_bytes_peak":1048576,"allocated_bytes_peak":1048576,"reserved_bytes_peak":21474836480}}]}'
)"));
    confirm().agreeButton().click();
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(m_page.aboutText().isEmpty()) << qPrintable(m_page.aboutText());
    const auto cards
        = std::dynamic_pointer_cast<const FittingCardsTable>(m_page.table(WhatIfPage::Cards).source());
    ASSERT_TRUE(cards);
    const model::CardFit& least = cards->fit(0);
    EXPECT_EQ(least.card->capacityBytes - least.marginBytes, std::int64_t{ 20 } << 30);
    const QString verdict = plain(m_page.sentenceText());
    EXPECT_TRUE(verdict.contains(text::utf8(least.card->name))) << qPrintable(verdict);
    EXPECT_TRUE(verdict.contains(QStringLiteral("runs out of memory"))) << qPrintable(verdict);
    EXPECT_TRUE(m_page.commandLine().contains(QStringLiteral(" --confirm -- train")));
    m_page.setScenario({});
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(m_page.commandLine().contains(QStringLiteral("--confirm")));
}

class ConfirmJobTest : public testing::Test {
protected:
    [[nodiscard]] QString strata(const QByteArray& script) const { return fakeStrata(m_folder, script); }
    ConfirmOutcome run(const QByteArray& script, const ConfirmRequest& request)
    {
        ConfirmJob job(strata(script));
        ConfirmOutcome outcome;
        bool isThere = false;
        QObject::connect(&job, &ConfirmJob::ended, &job, [&](const ConfirmOutcome& came) {
            outcome = came;
            isThere = true;
        });
        QString problem;
        EXPECT_TRUE(job.start(request, problem)) << qPrintable(problem);
        EXPECT_TRUE(QTest::qWaitFor([&] { return isThere; }, 20'000));
        return outcome;
    }
    QTemporaryDir m_folder;
};

TEST_F(ConfirmJobTest, ReadsWhatStrataTells)
{
    const ConfirmRequest request{ .words = words({ "whatif", "a b.strata", "--change", "batch=16" }),
        .command = QStringLiteral("A=1 python 'my train.py' {BATCH}"),
        .folder = m_folder.path() };
    EXPECT_EQ(request.commandLine(),
        QStringLiteral("cd %1 && A=1 strata whatif 'a b.strata' --change batch=16 --confirm -- python "
                       "'my train.py' '{BATCH}'")
            .arg(m_folder.path()));
    EXPECT_EQ((ConfirmRequest{ .words = {}, .folder = QStringLiteral(" ~/b ") }).workingFolder(),
        QDir::homePath() + QStringLiteral("/b"));
    EXPECT_EQ((ConfirmRequest{ .words = {}, .folder = QStringLiteral("~foo") }).workingFolder(),
        QStringLiteral("~foo")); // of somebody else: no folder, which is said
    const ConfirmOutcome outcome = run(
        R"(printf '%s\n' "$A" "$PWD" "$@" > given
echo 'strata: the program as it was recorded' >&2
cat <<'END'
{"schema":1,"evidence":"roles","refused":null,"devices":[{"device":0,"predicted":{"requested_bytes_peak":90,
"allocated_bytes_peak":95,"reserved_bytes_peak":100},"confirmed":{"requested_bytes_peak":91,"allocated_bytes_peak":96,
"reserved_bytes_peak":102},"confirmed_unchanged":{"requested_bytes_peak":1,"allocated_bytes_peak":2,
"reserved_bytes_peak":9007199254740991},"confirmed_by":"program","confirmed_note":"so and so","out_of_memory":true}]}
END
)",
        request);
    ASSERT_TRUE(outcome.confirmation) << qPrintable(outcome.problem);
    EXPECT_EQ(outcome.confirmation->changed, (model::PeakFigures{ 91, 96, 102 }));
    EXPECT_EQ(outcome.confirmation->unchanged.reservedBytesPeak, 9007199254740991);
    EXPECT_EQ(outcome.confirmation->estimate, (model::PeakFigures{ 90, 95, 100 }));
    EXPECT_FALSE(outcome.confirmation->byCalls);
    EXPECT_TRUE(outcome.confirmation->runsOutOfMemory);
    QString problem;
    const auto fits = Confirmation::parse(
        R"({"devices":[{"confirmed":{"reserved_bytes_peak":1},"out_of_memory":false}]})", problem);
    ASSERT_TRUE(fits);
    EXPECT_FALSE(fits->runsOutOfMemory);
    const WhatIfAnswer answer{ .question = { .recordings = {},
                                   .scenario = { .changes = { *model::Change::parse("amp=bf16") },
                                       .settings = {},
                                       .capacityBytes = std::int64_t{ 3 } << 30 } },
        .recorded = { 1, 2, 3 },
        .prediction = model::fail(model::Error::Kind::Refused, model::say("nothing tells")) };
    EXPECT_TRUE(plain(confirmedVerdict(answer, *outcome.confirmation))
                    .contains(QStringLiteral("runs out of memory on a device of 3.00 GiB")));
    EXPECT_FALSE(plain(confirmedVerdict(answer, *fits)).contains(QStringLiteral("out of memory")));
    EXPECT_EQ(outcome.confirmation->note, QStringLiteral("so and so"));
    QFile given(m_folder.filePath(QStringLiteral("given")));
    ASSERT_TRUE(given.open(QIODevice::ReadOnly));
    EXPECT_EQ(given.readAll(),
        "1\n" + m_folder.path().toUtf8()
            + "\nwhatif\na b.strata\n--change\nbatch=16\n--json\n--confirm\n--\npython\nmy "
              "train.py\n{BATCH}\n");
}

TEST_F(ConfirmJobTest, SaysWhyThereIsNone)
{
    ConfirmRequest calls{
        .words = words({ "whatif", "a.strata" }), .byCalls = true, .python = QStringLiteral(" /t/python ")
    };
    EXPECT_EQ(calls.commandLine(), QStringLiteral("strata whatif a.strata --confirm --python /t/python"));
    calls.python = QStringLiteral("~/t/python");
    EXPECT_TRUE(calls.commandLine().endsWith(QStringLiteral(" --python %1/t/python").arg(QDir::homePath())));
    ConfirmOutcome outcome
        = run("echo 'strata: whatif: python has no PyTorch: install it' >&2; exit 2\n", calls);
    EXPECT_FALSE(outcome.confirmation);
    EXPECT_EQ(outcome.problem, QStringLiteral("python has no PyTorch: install it"));
    outcome = run("echo 'strata: a.strata: cannot be read' >&2; echo 'strata: goes on' >&2; exit 3\n", calls);
    EXPECT_EQ(outcome.problem, QStringLiteral("a.strata: cannot be read"));
    outcome = run("echo 'strata: the calls as they were recorded' >&2; exit 4\n", calls); // no reason
    EXPECT_EQ(outcome.problem,
        QStringLiteral("strata ended with exit status 4; run the command above in a terminal to see why"));
    outcome = run("echo 'strata: the calls as they were recorded' >&2; kill -9 $$\n", calls);
    EXPECT_TRUE(outcome.problem.startsWith(QStringLiteral("strata ended with signal 9;")))
        << qPrintable(outcome.problem);
    outcome = run(R"(echo '{"refused":"there are no calls","devices":[]}'; exit 1)", calls);
    EXPECT_FALSE(outcome.confirmation);
    EXPECT_EQ(outcome.problem, QStringLiteral("there are no calls"));
    ConfirmJob job(m_folder.filePath(QStringLiteral("strata")));
    QString problem;
    EXPECT_FALSE(job.start({ .words = words({ "whatif" }), .command = QStringLiteral(" ") }, problem));
    EXPECT_TRUE(problem.contains(QStringLiteral("no command")));
    problem.clear();
    EXPECT_FALSE(
        job.start({ .words = words({ "whatif" }), .command = QStringLiteral("python 'train.py") }, problem));
    EXPECT_TRUE(problem.contains(QStringLiteral("quote")));
}

TEST_F(ConfirmJobTest, IsCancelled)
{
    ConfirmJob job(strata("echo 'strata: begins' >&2\nsleep 600\n"));
    QSignalSpy ended(&job, &ConfirmJob::ended);
    QString problem;
    ASSERT_TRUE(job.start({ .words = words({ "whatif" }), .byCalls = true }, problem));
    ASSERT_TRUE(QTest::qWaitFor([&] { return job.progress() == QStringLiteral("begins"); }, 20'000));
    job.cancel();
    ASSERT_TRUE(QTest::qWaitFor([&] { return ended.count() == 1; }, 20'000));
    EXPECT_FALSE(job.running());
    EXPECT_TRUE(ended[0][0].value<ConfirmOutcome>().cancelled);
}

TEST_F(ConfirmJobTest, LetsStrataTidyUpWhenItGoes)
{
    {
        ConfirmJob job(strata("echo 'strata: begins' >&2\nsleep 600\necho >\"$0.tidied\"\n"));
        QString problem;
        ASSERT_TRUE(job.start({ .words = words({ "whatif" }), .byCalls = true }, problem));
        ASSERT_TRUE(QTest::qWaitFor([&] { return job.progress() == QStringLiteral("begins"); }, 20'000));
    }
    EXPECT_TRUE(QFile::exists(m_folder.filePath(QStringLiteral("strata.tidied"))));
}

} // namespace
