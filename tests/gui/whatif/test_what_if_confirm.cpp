// SPDX-License-Identifier: GPL-3.0-or-later
// What the page What-if confirms: which commands, when they run, what comes of them.
#include "views/models/whatif/confirm_job.h"

#include "model/whatif/ask/lacks.h"
#include "tests/gui/whatif/deep_what_if_page.h"
#include "tests/unit/chunks/made_call_list.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_recordings_card.h"
#include "views/pages/whatif/what_if_sequence_card.h"
#include "views/pages/whatif/what_if_texts.h"
#include "views/style/texts.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::views;
using strata::test::plain;

namespace {

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

class WhatIfConfirm : public test::DeepWhatIfPage {
protected:
    /// Such a training whose deep step tells calls, as a file. `isCpp`: its program is in C++.
    [[nodiscard]] QString writeCalls(const char* name, bool isCpp = false)
    {
        const auto trained = makeDeep();
        model::Recording& recording = trained->recording();
        if (isCpp)
            static_cast<void>(recording.stacks.internFrame(
                { recording.strings.intern("/u/train"), recording.strings.intern("main"), 7,
                    recording.strings.intern(R"({"build_id": "ab", "offset": "0x10"})") }));
        recording.facts["command"] = "train";
        recording.parts.get<model::CallLists>().lists.push_back(test::makeCallList(recording));
        QString path = m_folder.filePath(QString::fromLatin1(name));
        EXPECT_TRUE(model::saveSession(recording, path.toStdString()));
        return path;
    }
};

TEST_F(WhatIfConfirm, ARecordedCommandIsShownAndRunsAfterASecondClickAlone)
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

TEST_F(WhatIfConfirm, CallsNeedAnotherRecordingForAnotherBatch)
{
    ASSERT_NO_FATAL_FAILURE(open(writeCalls("calls.strata")));
    m_page.card<WhatIfBatchCard>().recorded().setValue(8);
    ASSERT_NO_FATAL_FAILURE(ask("batch=16"));
    m_page.setBelow(WhatIfPage::Confirm);
    confirm().setWay(WhatIfConfirmPanel::Calls);
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().startsWith(QStringLiteral("Add a recording with a deep step")))
        << qPrintable(confirm().stateText());
    m_page.card<WhatIfRecordingsCard>().add(writeCalls("other.strata"));
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

TEST_F(WhatIfConfirm, ARelativePathIsFoundWhereverTheCommandRuns)
{
    const QString path = QStringLiteral(STRATA_SESSIONS "/gpt2_124m_bf16_train.strata");
    m_document.open(QDir::current().relativeFilePath(path));
    ASSERT_NO_FATAL_FAILURE(settle());
    m_page.card<WhatIfRecordingsCard>().add(QDir::current().relativeFilePath(path));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Block"));
    const auto question = m_page.whatIf().question();
    ASSERT_TRUE(question);
    ASSERT_EQ(question->recordings.size(), 2u);
    const QString absolute = QDir::cleanPath(path);
    EXPECT_EQ(question->words().at(1), absolute);
    EXPECT_EQ(question->words().at(question->words().indexOf(QStringLiteral("--with")) + 1), absolute);
}

TEST_F(WhatIfConfirm, AnotherBatchIsNotConfirmedByACommandThatDoesNotSayIt)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "touch ran" } }));
    m_page.card<WhatIfBatchCard>().recorded().setValue(8);
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

TEST_F(WhatIfConfirm, AnotherLengthIsNotConfirmedByACommandThatDoesNotSayIt)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "touch ran" } }));
    m_page.card<WhatIfSequenceCard>().recorded().setValue(512);
    ASSERT_NO_FATAL_FAILURE(ask("sequence=1024"));
    m_page.setBelow(WhatIfPage::Confirm);
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Write {SEQUENCE}")))
        << qPrintable(confirm().stateText());
    confirm().command().end(false);
    QTest::keyClicks(&confirm().command(), QStringLiteral(" {SEQUENCE}"));
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
    EXPECT_TRUE(confirm().lineText().endsWith(
        QStringLiteral("--change sequence=1024 --sequence-of 512 --confirm -- touch ran '{SEQUENCE}'")))
        << qPrintable(confirm().lineText());
    confirm().setWay(WhatIfConfirmPanel::Calls);
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Calls do not tell what sequence=1024")))
        << qPrintable(confirm().stateText());
    confirm().setWay(WhatIfConfirmPanel::Program);
    m_page.card<WhatIfSequenceCard>().recorded().setValue(0); // which nobody knows now
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("a number that is not known")))
        << qPrintable(confirm().stateText());
    m_page.card<WhatIfSequenceCard>().recorded().setValue(512);
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer")); // whose command is not told it
    EXPECT_FALSE(confirm().runButton().isEnabled());
    confirm().command().setText(QStringLiteral("touch ran"));
    ASSERT_NO_FATAL_FAILURE(ask("sequence=512")); // as it was recorded
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
}

TEST_F(WhatIfConfirm, WhatNobodyRunsIsNotToBeConfirmed)
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
    // What nobody but the programmer can write, and what calls alone tell.
    for (const char* change : { "remove=train.py:57", "free=last-use" }) {
        ASSERT_NO_FATAL_FAILURE(ask(change));
        EXPECT_FALSE(confirm().runButton().isEnabled()) << change;
        EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("Nobody but you"))) << change;
    }
    ASSERT_NO_FATAL_FAILURE(ask("logits=chunks:8"));
    EXPECT_TRUE(plain(m_page.sentenceText()).contains(QStringLiteral("by its recorded calls")));
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("no calls")))
        << qPrintable(confirm().stateText());
    confirm().setWay(WhatIfConfirmPanel::Program);
    EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("confirm it by recorded calls")));
    // Nor is any option of the command line named where the page has a field.
    for (const model::Lacks lacks : { model::Lacks::BatchItems, model::Lacks::OtherRecording,
             model::Lacks::SequenceLength, model::Lacks::OtherLength, model::Lacks::Capacity,
             model::Lacks::Confirmation, model::Lacks::Program, model::Lacks::Calls }) {
        const model::Error error{ model::Error::Kind::Usage, model::say("so"), model::hintFor(lacks), {} };
        const QString hint = whatIfHint(error);
        EXPECT_TRUE(hint.contains(QStringLiteral("at the left")) || hint.contains(QStringLiteral("below")))
            << qPrintable(hint);
        EXPECT_FALSE(hint.contains(QStringLiteral("--batch-of"))
            || hint.contains(QStringLiteral("--capacity")) || hint.contains(QStringLiteral("--confirm"))
            || hint.contains(QStringLiteral("--with")) || hint.contains(QStringLiteral("--sequence-of")))
            << qPrintable(hint);
    }
}

TEST_F(WhatIfConfirm, AProgramInCppIsNotRunWithWhatIsMadeInPython)
{
    ASSERT_NO_FATAL_FAILURE(open(writeCalls("cpp.strata", true)));
    m_page.setBelow(WhatIfPage::Confirm);
    ASSERT_NO_FATAL_FAILURE(ask("amp=bf16"));
    confirm().setWay(WhatIfConfirmPanel::Program);
    EXPECT_FALSE(confirm().runButton().isEnabled());
    EXPECT_TRUE(confirm().stateText().endsWith(QStringLiteral("in C++: confirm it by recorded calls.")))
        << qPrintable(confirm().stateText());
    confirm().setWay(WhatIfConfirmPanel::Calls);
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
    // Calls of C++ tell of no modules.
    for (const auto way : { WhatIfConfirmPanel::Calls, WhatIfConfirmPanel::Program }) {
        confirm().setWay(way);
        ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Block"));
        EXPECT_FALSE(confirm().runButton().isEnabled());
        EXPECT_TRUE(confirm().stateText().contains(QStringLiteral("write it there")))
            << qPrintable(confirm().stateText());
    }
    m_page.setScenario(
        { .changes = { *model::Change::parse("amp=bf16"), *model::Change::parse("checkpoint=Block") },
            .settings = {},
            .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(confirm().stateText().startsWith(QStringLiteral("checkpoint=Block")))
        << qPrintable(confirm().stateText());
    // Its own batch it is told.
    m_page.card<WhatIfBatchCard>().recorded().setValue(8);
    ASSERT_NO_FATAL_FAILURE(ask("batch=16"));
    QTest::keyClicks(&confirm().command(), QStringLiteral(" {BATCH}"));
    EXPECT_TRUE(confirm().runButton().isEnabled()) << qPrintable(confirm().stateText());
}

TEST_F(WhatIfConfirm, AConfirmationThatRunsIsTheOneThatIsShown)
{
    ASSERT_NO_FATAL_FAILURE(openDeep({ { "command", "train" } }));
    ASSERT_NO_FATAL_FAILURE(ask("checkpoint=Layer"));
    m_page.setBelow(WhatIfPage::Confirm);
    const QString go = m_folder.filePath(QStringLiteral("go"));
    confirm().job().setProgram(fakeStrata(m_folder,
        "until test -e '" + go.toUtf8()
            + "'; do sleep 0.02; done\necho 'strata: begins' >&2\ntrap '' INT\nsleep 600\n"));
    const QString line = confirm().lineText();
    confirm().agreeButton().click();
    ASSERT_TRUE(confirm().running());
    EXPECT_EQ(confirm().stateText(), QStringLiteral("Running…")); // nothing was said yet
    EXPECT_TRUE(m_page.busy());
    EXPECT_FALSE(confirm().command().isEnabled());
    m_page.setScenario({}); // what is asked is another
    EXPECT_EQ(confirm().lineText(), line);
    QFile file(go);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
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

TEST_F(WhatIfConfirm, WhatWasConfirmedIsOfTheCommandThatDidIt)
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

TEST_F(WhatIfConfirm, WhatWasConfirmedIsWhatThePageGoesBy)
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
    const auto part = Confirmation::parse(
        R"({"devices":[{"confirmed":{"requested_bytes_peak":2048,"reserved_bytes_peak":null},"confirmed_note":"so"}]})",
        problem);
    EXPECT_FALSE(part);
    EXPECT_EQ(problem, QStringLiteral("it requests up to 2.00 KiB, but its reserved peak is not known: so"));
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
    outcome = run(R"(echo '{"refused":null,"devices":{}}')", calls);
    EXPECT_FALSE(outcome.confirmation);
    EXPECT_EQ(outcome.problem, QStringLiteral("the value of devices has the wrong type"));
    outcome = run(R"(echo '{"refused":null,"devices":['; exit 4)", calls); // ended within it
    EXPECT_TRUE(outcome.problem.startsWith(QStringLiteral("strata ended with exit status 4;")));
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
