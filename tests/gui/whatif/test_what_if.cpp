// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if.h"

#include "tests/gui/whatif/batch_run.h"
#include "views/models/document/document.h"

#include <QSignalSpy>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

model::Scenario changeOf(const char* text)
{
    return { .changes = { *model::Change::parse(text) }, .settings = {}, .capacityBytes = {} };
}

model::Scenario settingsOf(const char* text)
{
    return { .changes = {}, .settings = text, .capacityBytes = {} };
}

class WhatIfTest : public testing::Test {
protected:
    WhatIfTest()
    {
        QObject::connect(&m_document, &Document::deviceReady, &m_whatIf,
            [this] { m_whatIf.setDevice(m_document.device(), m_document.path()); });
    }
    void open(const QString& path)
    {
        m_document.open(path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return m_document.device() && !m_document.working() && !m_document.replaying()
                    && !m_document.analysing() && isQuiet();
            },
            30'000))
            << m_document.error().text();
        ASSERT_EQ(m_whatIf.ready(), WhatIf::Ready::All);
    }
    [[nodiscard]] bool isQuiet() const
    {
        return !m_whatIf.working() && !m_whatIf.reading() && !m_whatIf.trying();
    }
    void settle()
    {
        ASSERT_TRUE(QTest::qWaitFor([&] { return isQuiet(); }, 30'000));
    }
    /// The same, asked of the model at once.
    [[nodiscard]] model::Result<model::Prediction> direct(
        const model::Scenario& scenario, std::optional<std::int64_t> items)
    {
        const WhatIfRun run = WhatIfRun::of(*m_document.device());
        return model::predict({ run.recorded(items) }, scenario);
    }
    static QString sample() { return QStringLiteral(STRATA_SESSIONS "/gpt2_124m_bf16_train.strata"); }

    QTemporaryDir m_folder;
    Document m_document;
    WhatIf m_whatIf;
};

TEST_F(WhatIfTest, AnswersAsTheModelDoes)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    ASSERT_TRUE(m_whatIf.answer());
    const model::Prediction& itself = *m_whatIf.answer()->prediction;
    EXPECT_EQ(itself.predicted, itself.recorded);
    m_whatIf.setSaidItems(8);
    for (const model::Scenario& scenario : { changeOf("batch=16"), changeOf("batch=x0.5"),
             settingsOf("expandable_segments:True"), settingsOf("max_split_size_mb:64") }) {
        m_whatIf.setScenario(scenario);
        ASSERT_NO_FATAL_FAILURE(settle());
        const auto want = direct(scenario, 8);
        const auto& came = m_whatIf.answer()->prediction;
        ASSERT_TRUE(want);
        ASSERT_TRUE(came) << came.error().text();
        EXPECT_EQ(came->predicted, want->predicted);
        EXPECT_EQ(came->least, want->least);
        EXPECT_EQ(came->most, want->most);
        EXPECT_EQ(came->evidence, want->evidence);
        EXPECT_EQ(came->reason.said().text(), want->reason.said().text());
        EXPECT_EQ(m_whatIf.answer()->recorded, want->recorded);
    }
}

TEST_F(WhatIfTest, WhatWasAnsweredIsThereAtOnce)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_whatIf.setScenario(settingsOf("max_split_size_mb:100"));
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto first = m_whatIf.answer();
    m_whatIf.setScenario(settingsOf("max_split_size_mb:200"));
    EXPECT_EQ(m_whatIf.answer(), first); // the old one stays until the new one is there
    EXPECT_TRUE(m_whatIf.working());
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_NE(m_whatIf.answer(), first);
    m_whatIf.setScenario(settingsOf("max_split_size_mb:100"));
    EXPECT_EQ(m_whatIf.answer(), first);
    EXPECT_FALSE(m_whatIf.working());
}

TEST_F(WhatIfTest, TheLastQuestionIsAnswered)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_whatIf.setSaidItems(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    QSignalSpy answers(&m_whatIf, &WhatIf::answerChanged);
    for (int items = 9; items <= 60; ++items)
        m_whatIf.setScenario(changeOf(("batch=" + std::to_string(items)).c_str()));
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(m_whatIf.answer()->question.scenario.changes.front().as<model::SizeAsked>().numerator, 60);
    EXPECT_LE(answers.count(), 3); // what nobody waits for any more is not worked out
    EXPECT_GE(answers.count(), 1);
}

TEST_F(WhatIfTest, SingleChangesAreTriedWithoutBeingAsked)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const auto isBatch = [](const WhatIfAlternative& of) { return !of.change.changes.empty(); };
    const std::size_t settings = m_whatIf.alternatives().size();
    ASSERT_GE(settings, 4u);
    EXPECT_FALSE(m_whatIf.items()); // nothing tells them here
    EXPECT_TRUE(std::ranges::none_of(m_whatIf.alternatives(), isBatch));
    m_whatIf.setSaidItems(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(m_whatIf.alternatives().size(), settings + 2);
    EXPECT_EQ(std::ranges::count_if(m_whatIf.alternatives(), isBatch), 2);
    for (const WhatIfAlternative& of : m_whatIf.alternatives()) {
        const auto want = direct(of.change, 8);
        ASSERT_EQ(want.has_value(), of.prediction.has_value());
        if (want) {
            EXPECT_EQ(of.prediction->neededBytes(), want->neededBytes());
        }
    }
    // Who takes one has its answer already.
    m_whatIf.setScenario(m_whatIf.alternatives().back().change);
    EXPECT_FALSE(m_whatIf.working());
    // Nine items cannot be halved.
    m_whatIf.setSaidItems(9);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(std::ranges::count_if(m_whatIf.alternatives(), isBatch), 1);
}

TEST_F(WhatIfTest, SingleChangesAreOnTopOfWhatIsAsked)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_whatIf.setSaidItems(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(m_whatIf.alternativesOn());
    const std::size_t alone = m_whatIf.alternatives().size();
    model::Scenario asked = changeOf("batch=12");
    asked.settings = "max_split_size_mb:100";
    asked.capacityBytes = std::int64_t{ 12 } << 30;
    m_whatIf.setScenario(asked);
    EXPECT_FALSE(m_whatIf.alternativesOn()); // until that is answered, those before stay
    EXPECT_EQ(m_whatIf.alternatives().size(), alone);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(m_whatIf.alternativesOn(), m_whatIf.answer());
    ASSERT_GE(m_whatIf.alternatives().size(), 4u);
    QStringList batches;
    for (const WhatIfAlternative& of : m_whatIf.alternatives()) {
        EXPECT_EQ(of.all.capacityBytes, asked.capacityBytes);
        ASSERT_EQ(of.all.changes.size(), 1u);
        if (of.change.settings) {
            EXPECT_EQ(of.all.settings, of.change.settings);
            EXPECT_EQ(of.all.changes.front().text, "batch=12");
        } else {
            EXPECT_EQ(of.all.settings, asked.settings);
            batches << QString::fromStdString(of.all.changes.front().text);
        }
        const auto want = direct(of.all, 8);
        ASSERT_EQ(want.has_value(), of.prediction.has_value());
        if (want) {
            EXPECT_EQ(of.prediction->predicted, want->predicted);
            EXPECT_EQ(of.prediction->neededBytes(), want->neededBytes());
        }
    }
    batches.sort();
    EXPECT_EQ(batches, (QStringList{ QStringLiteral("batch=24"), QStringLiteral("batch=6") }));
    // Who takes one has its answer already, and the recording its own.
    m_whatIf.setScenario(m_whatIf.alternatives().back().all);
    EXPECT_FALSE(m_whatIf.working());
    m_whatIf.setScenario({});
    EXPECT_FALSE(m_whatIf.alternativesOn());
    EXPECT_FALSE(m_whatIf.trying());
    EXPECT_EQ(m_whatIf.alternatives().size(), alone);
}

TEST_F(WhatIfTest, NobodyWaitsForChangesOnTopOfWhatIsNoLongerAsked)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_whatIf.setSaidItems(8);
    m_whatIf.setScenario(settingsOf("max_split_size_mb:100"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_whatIf.alternativesOn() && m_whatIf.trying(); }, 20'000));
    const std::size_t before = m_whatIf.alternatives().size();
    m_whatIf.setScenario(settingsOf("max_split_size_mb:200"));
    EXPECT_FALSE(m_whatIf.trying());
    m_whatIf.setScenario(settingsOf("max_split_size_mb:100")); // it goes on
    EXPECT_TRUE(m_whatIf.trying());
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_GT(m_whatIf.alternatives().size(), before);
    for (int size = 101; size <= 120; ++size)
        m_whatIf.setScenario(settingsOf(("max_split_size_mb:" + std::to_string(size)).c_str()));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(m_whatIf.alternativesOn());
    EXPECT_EQ(m_whatIf.alternativesOn()->question.scenario.settings, "max_split_size_mb:120");
    for (const WhatIfAlternative& of : m_whatIf.alternatives())
        EXPECT_EQ(of.all.settings, of.change.settings ? *of.change.settings : "max_split_size_mb:120");
}

TEST_F(WhatIfTest, WhatHasNoEstimateHasNothingOnTop)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const std::size_t alone = m_whatIf.alternatives().size();
    m_whatIf.setScenario(changeOf("amp=bf16"));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_FALSE(m_whatIf.answer()->prediction);
    EXPECT_FALSE(m_whatIf.alternativesOn());
    EXPECT_EQ(m_whatIf.alternatives().size(), alone);
    for (const WhatIfAlternative& of : m_whatIf.alternatives())
        EXPECT_TRUE(of.all.changes.empty());
}

TEST_F(WhatIfTest, WithoutItemsABatchIsRefused)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_whatIf.setScenario(changeOf("batch=16"));
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto& answer = *m_whatIf.answer();
    ASSERT_FALSE(answer.prediction);
    EXPECT_EQ(answer.prediction.error().kind, model::Error::Kind::Usage);
    EXPECT_GT(answer.recorded.reservedBytesPeak, 0);
}

TEST_F(WhatIfTest, ASecondRecordingTellsEachSize)
{
    ASSERT_NO_FATAL_FAILURE(open(test::writeBatchRun(m_folder, 4)));
    m_whatIf.setSaidItems(4);
    m_whatIf.setScenario(changeOf("batch=6"));
    m_whatIf.addOther(test::writeBatchRun(m_folder, 8));
    EXPECT_TRUE(m_whatIf.reading());
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(m_whatIf.others()[0].run);
    EXPECT_FALSE(m_whatIf.answer()->prediction); // its items are not known
    m_whatIf.setOtherItems(0, 8);
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto& prediction = m_whatIf.answer()->prediction;
    ASSERT_TRUE(prediction) << prediction.error().text();
    EXPECT_EQ(prediction->evidence, model::WhatIfEvidence::Recordings);
    ASSERT_TRUE(prediction->predicted);
    EXPECT_EQ(prediction->predicted->requestedBytesPeak, (44 + 6 * 33) << 20);
    const QString command = m_whatIf.question()->commandLine();
    EXPECT_TRUE(command.contains(QStringLiteral(" --with "))) << qPrintable(command);
    EXPECT_TRUE(command.endsWith(QStringLiteral(" --batch-of 4,8"))) << qPrintable(command);

    m_whatIf.useOthers(false);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(m_whatIf.answer()->prediction); // one alone has no steps
    m_whatIf.useOthers(true);
    ASSERT_NO_FATAL_FAILURE(settle());
    m_whatIf.removeOther(0);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(m_whatIf.answer()->prediction); // one alone has no steps
}

TEST_F(WhatIfTest, ASecondRecordingTellsWhatLongerSequencesTake)
{
    const auto refusedFor = [this] { return m_whatIf.answer()->prediction.error().hint.lacks; };
    ASSERT_NO_FATAL_FAILURE(open(test::writeSequenceRun(m_folder, 512)));
    m_whatIf.setScenario(changeOf("sequence=x4"));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_FALSE(m_whatIf.answer()->prediction);
    EXPECT_EQ(refusedFor(), model::Lacks::SequenceLength);
    m_whatIf.setSaidLength(512);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_FALSE(m_whatIf.answer()->prediction);
    EXPECT_EQ(refusedFor(), model::Lacks::OtherLength);
    EXPECT_TRUE(m_whatIf.question()->commandLine().endsWith(
        QStringLiteral(" --change sequence=x4 --sequence-of 512")));
    m_whatIf.addOther(test::writeSequenceRun(m_folder, 1024));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_FALSE(m_whatIf.answer()->prediction);
    EXPECT_EQ(refusedFor(), model::Lacks::SequenceLength);
    EXPECT_FALSE(m_whatIf.question()->commandLine().contains(QStringLiteral("--sequence-of")));
    for (const int length : { 768, 1024 }) { // what was said before is not what is said now
        m_whatIf.setOtherLength(0, length);
        ASSERT_NO_FATAL_FAILURE(settle());
        const auto& prediction = m_whatIf.answer()->prediction;
        ASSERT_TRUE(prediction) << prediction.error().text();
        EXPECT_EQ(prediction->evidence, model::WhatIfEvidence::Recordings);
        EXPECT_EQ(prediction->sequenceAfter, 2048);
        // With a length that it has not, sizes go neither linearly nor with the square.
        ASSERT_EQ(prediction->predicted.has_value(), length == 1024);
        if (prediction->predicted) {
            EXPECT_EQ(prediction->predicted->requestedBytesPeak, test::sequenceRunBytes(2048));
        }
        EXPECT_TRUE(
            m_whatIf.question()->commandLine().endsWith(QStringLiteral(" --sequence-of 512,%1").arg(length)));
    }
    EXPECT_FALSE(m_whatIf.question()->commandLine().contains(QStringLiteral("--batch-of")));
    m_whatIf.setScenario(changeOf("sequence=1024")); // which was recorded
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(m_whatIf.answer()->prediction->predicted->requestedBytesPeak, test::sequenceRunBytes(1024));
}

/// Of another batch it would be taken for one of the same.
TEST_F(WhatIfTest, ARecordingOfLongerSequencesTellsOfThemAlone)
{
    ASSERT_NO_FATAL_FAILURE(open(test::writeBatchRun(m_folder, 4)));
    m_whatIf.setSaidItems(4);
    m_whatIf.setSaidLength(512);
    m_whatIf.addOther(test::writeBatchRun(m_folder, 8));
    m_whatIf.addOther(test::writeSequenceRun(m_folder, 1024));
    m_whatIf.setOtherItems(0, 8);
    m_whatIf.setOtherItems(1, 4);
    m_whatIf.setScenario(changeOf("batch=6"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return isQuiet() && m_whatIf.others()[1].run != nullptr; }, 20'000));
    EXPECT_FALSE(m_whatIf.answer()->prediction); // two have the same batch
    m_whatIf.setOtherLength(1, 1024);
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto& prediction = m_whatIf.answer()->prediction;
    ASSERT_TRUE(prediction) << prediction.error().text();
    EXPECT_EQ(prediction->predicted->requestedBytesPeak, (44 + 6 * 33) << 20);
    EXPECT_EQ(m_whatIf.question()->recordings.size(), 2u);
    EXPECT_TRUE(m_whatIf.question()->commandLine().endsWith(QStringLiteral(" --batch-of 4,8")));
    m_whatIf.setScenario(changeOf("sequence=2048"));
    EXPECT_EQ(m_whatIf.question()->recordings.size(), 3u);
}

TEST_F(WhatIfTest, ARecordingThatCannotBeReadSaysWhy)
{
    ASSERT_NO_FATAL_FAILURE(open(test::writeBatchRun(m_folder, 4)));
    m_whatIf.setSaidItems(4);
    m_whatIf.setScenario(changeOf("batch=6"));
    const QString missing = m_folder.filePath(QStringLiteral("missing.strata"));
    m_whatIf.addOther(missing);
    m_whatIf.addOther(test::writeBatchRun(m_folder, 8));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_whatIf.others()[1].run != nullptr; }, 20'000));
    ASSERT_TRUE(m_whatIf.others()[0].refusal);
    EXPECT_NE(m_whatIf.others()[0].refusal->text().find(missing.toStdString()), std::string::npos);
    // What is left takes part.
    m_whatIf.setOtherItems(1, 8);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(m_whatIf.answer()->prediction->evidence, model::WhatIfEvidence::Recordings);
}

TEST_F(WhatIfTest, AnotherFileForgetsWhatWasSaidOfTheFirst)
{
    ASSERT_NO_FATAL_FAILURE(open(test::writeBatchRun(m_folder, 4)));
    m_whatIf.setSaidItems(4);
    m_whatIf.setSaidLength(512);
    m_whatIf.addOther(test::writeBatchRun(m_folder, 8));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    EXPECT_FALSE(m_whatIf.saidItems());
    EXPECT_FALSE(m_whatIf.saidLength());
    EXPECT_TRUE(m_whatIf.others().empty());
    EXPECT_EQ(m_whatIf.answer()->question.recordings.front().path, sample());
}

TEST_F(WhatIfTest, CommandsNameWhatIsAsked)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const QString file = sample();
    EXPECT_EQ(m_whatIf.question()->commandLine(), QStringLiteral("strata whatif %1 --device 0").arg(file));
    model::Scenario all = changeOf("batch=x2");
    all.settings = "expandable_segments:True";
    all.capacityBytes = std::int64_t{ 16 } << 30;
    m_whatIf.setScenario(all);
    EXPECT_EQ(m_whatIf.question()->commandLine(),
        QStringLiteral(
            "strata whatif %1 --device 0 --change batch=x2 --set expandable_segments:True --capacity "
            "17179869184")
            .arg(file));
    m_whatIf.setSaidItems(8);
    EXPECT_TRUE(m_whatIf.question()->commandLine().endsWith(QStringLiteral(" --batch-of 8")));
    m_whatIf.setScenario(settingsOf(""));
    EXPECT_EQ(
        m_whatIf.question()->commandLine(), QStringLiteral("strata whatif %1 --device 0 --set ''").arg(file));
}

} // namespace
