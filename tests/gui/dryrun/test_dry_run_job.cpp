// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/dryrun/dry_run_test.h"
#include "tests/gui/shell/window_driver.h"
#include "views/models/programs/process_family.h"
#include "views/pages/dryrun/dry_run_texts.h"

#include <QFileInfo>

#include <gmock/gmock.h>
#include <unistd.h>

using namespace strata;
using namespace strata::views;
using testing::HasSubstr;

namespace {

using DryRunJobTest = test::DryRunTest;

std::string jobVerdict(const DryRunOutcome& outcome)
{
    return wordsOf(outcome).plainVerdict().toStdString();
}

TEST_F(DryRunJobTest, ACommandThatIsNotThere)
{
    const DryRunOutcome outcome = run(request(QStringLiteral("no-such-program train.py")));
    EXPECT_EQ(outcome.exitStatus, 2);
    EXPECT_EQ(verdictOf(outcome), DryRunVerdict::NotStarted);
    EXPECT_EQ(jobVerdict(outcome),
        "The dry run did not start: no-such-program: command not found: give its path, as in "
        "~/venv/bin/python train.py");
    EXPECT_TRUE(outcome.recording.isEmpty());
    EXPECT_FALSE(m_job.running());
}

TEST_F(DryRunJobTest, BadUsage)
{
    DryRunRequest bad = request(QStringLiteral("python3 train.py"));
    bad.capacity = QStringLiteral("much");
    const DryRunOutcome outcome = run(bad);
    EXPECT_EQ(outcome.exitStatus, 2);
    EXPECT_THAT(jobVerdict(outcome), HasSubstr("--capacity much: not a size"));
}

TEST_F(DryRunJobTest, APyTorchForTheCpuAlone)
{
    QDir(m_folder.path()).mkpath(QStringLiteral("torch/lib"));
    program("torch/__init__.py", {});
    program("torch/lib/libtorch_cpu.so", {});
    const DryRunOutcome outcome
        = run(request(QStringLiteral("PYTHONPATH=%1 python3 train.py").arg(m_folder.path())));
    EXPECT_EQ(outcome.exitStatus, 2);
    EXPECT_THAT(jobVerdict(outcome), HasSubstr("this LibTorch is for the CPU alone: "));
    EXPECT_THAT(jobVerdict(outcome), HasSubstr("install the CUDA build of PyTorch"));
}

TEST_F(DryRunJobTest, WhatCannotEvenBegin)
{
    QString problem;
    EXPECT_FALSE(m_job.start(request({}), recording(), problem));
    EXPECT_THAT(problem.toStdString(), HasSubstr("There is no command"));
    problem.clear();
    EXPECT_FALSE(m_job.start(request(QStringLiteral("python 'a")), recording(), problem));
    EXPECT_THAT(problem.toStdString(), HasSubstr("quote that is not closed"));
    problem.clear();
    DryRunRequest nowhere = request(QStringLiteral("python"));
    nowhere.folder = QStringLiteral("/no/such/folder");
    EXPECT_FALSE(m_job.start(nowhere, recording(), problem));
    EXPECT_THAT(problem.toStdString(), HasSubstr("/no/such/folder is no folder"));
    problem.clear();
    DryRunJob alone{ QString() };
    EXPECT_FALSE(alone.start(request(QStringLiteral("python")), recording(), problem));
    EXPECT_THAT(problem.toStdString(), HasSubstr("is not beside this program"));
    EXPECT_FALSE(m_job.running());
}

/// A program that will not end when it is asked to, with children in its session and out of it. It is named
/// as a Python, so that strata starts it to look for PyTorch: none is needed.
class StubbornProgram : public test::DryRunTest {
protected:
    StubbornProgram()
    {
        m_length = QStringLiteral("%1").arg(60000 + getpid());
        program("python3",
            QStringLiteral(
                "#!/bin/sh\ntrap '' INT TERM\nsetsid sleep %1 &\n(setsid setsid sleep %1 &)\nsleep %1 &\n"
                "sleep %1\nwait\n")
                .arg(m_length)
                .toLatin1());
    }

    [[nodiscard]] bool allAsleep() const { return test::processesWith(m_length).size() >= 4; }

    QString m_length;
};

TEST_F(StubbornProgram, IsCancelledWithAllThatItStarted)
{
    std::optional<DryRunOutcome> outcome;
    QObject::connect(&m_job, &DryRunJob::ended, &m_job, [&](const DryRunOutcome& ended) { outcome = ended; });
    QString problem;
    ASSERT_TRUE(m_job.start(request(QStringLiteral("./python3 train.py")), recording(), problem));
    ASSERT_TRUE(test::eventually([&] { return allAsleep(); }));
    EXPECT_TRUE(m_job.running());
    EXPECT_FALSE(m_job.start(request(QStringLiteral("other")), recording(), problem)) << "one at a time";
    m_job.cancel();
    m_job.cancel();
    EXPECT_TRUE(m_job.cancelling());
    ASSERT_TRUE(test::eventually([&] { return outcome.has_value(); }));
    EXPECT_TRUE(test::eventually([&] { return test::processesWith(m_length).isEmpty(); }));
    EXPECT_TRUE(outcome->cancelled);
    EXPECT_EQ(verdictOf(*outcome), DryRunVerdict::Cancelled);
    EXPECT_THAT(jobVerdict(*outcome), HasSubstr("before the program used the device."));
    EXPECT_FALSE(m_job.running());
}

TEST_F(StubbornProgram, DoesNotOutliveItsJob)
{
    {
        DryRunJob job{ QStringLiteral(STRATA_PROGRAM) };
        QString problem;
        ASSERT_TRUE(job.start(request(QStringLiteral("./python3 train.py")), recording(), problem));
        ASSERT_TRUE(test::eventually([&] { return allAsleep(); }));
    }
    EXPECT_TRUE(test::eventually([&] { return test::processesWith(m_length).isEmpty(); }));
}

TEST(ProcessFamily, NeedsAMarkOrAProgram)
{
    EXPECT_TRUE(familyOf(0, "NO_SUCH_MARK=1").empty());
}

TEST_F(DryRunJobTest, AProgramWithPyTorch)
{
    const QString python = test::torchPython();
    if (python.isEmpty())
        GTEST_SKIP() << "no PyTorch";
    program("train.py",
        "import os, sys, time, torch\n"
        "print('to stdout'); print('to stderr', file=sys.stderr)\n"
        "p = torch.nn.Parameter(torch.ones(1 << 20, device='cuda'))\n"
        "o = torch.optim.Adam([p])\n"
        "for i in range(int(sys.argv[1])):\n"
        "    p.sum().backward(); o.step(); o.zero_grad()\n"
        "    time.sleep(float(sys.argv[2]))\n");
    DryRunRequest train = request(python + QStringLiteral(" train.py 3 0"));
    train.device = QStringLiteral("T4-16GB");
    const DryRunOutcome outcome = run(train);
    ASSERT_TRUE(outcome.result);
    EXPECT_EQ(outcome.exitStatus, 0);
    EXPECT_EQ(verdictOf(outcome), DryRunVerdict::Fits);
    EXPECT_EQ(outcome.result->run.steps, 3);
    EXPECT_EQ(outcome.result->run.requestedPeak(), 5 * (4 << 20))
        << "two of Adam, one of it for a while, parameter, gradient";
    EXPECT_TRUE(QFileInfo::exists(outcome.recording));
    const QStringList lines = m_job.output().take();
    EXPECT_TRUE(lines.contains(QStringLiteral("to stdout")));
    EXPECT_TRUE(lines.contains(QStringLiteral("to stderr")));
    EXPECT_FALSE(lines.filter(QStringLiteral("strata: running on a simulated T4-16GB")).isEmpty());

    // Cancelled in the midst of it: what was counted until then is told.
    std::optional<DryRunOutcome> ended;
    QObject::connect(&m_job, &DryRunJob::ended, &m_job, [&](const DryRunOutcome& how) { ended = how; });
    QString problem;
    ASSERT_TRUE(m_job.start(request(python + QStringLiteral(" train.py 9999 0.2")), recording(), problem));
    ASSERT_TRUE(
        test::eventually([&] { return m_job.progress().contains(QStringLiteral("reserved so far")); }));
    m_job.cancel();
    ASSERT_TRUE(test::eventually([&] { return ended.has_value(); }));
    ASSERT_TRUE(ended->result);
    EXPECT_TRUE(ended->result->run.touched());
    EXPECT_THAT(jobVerdict(*ended), HasSubstr("until then it had needed"));
}

} // namespace
