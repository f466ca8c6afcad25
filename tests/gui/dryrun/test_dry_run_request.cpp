// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/catalogue.h"
#include "tests/integration/run_strata.h"
#include "views/models/programs/dry_run_request.h"
#include "views/models/programs/shell_words.h"

#include <QDir>
#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::views;

namespace {

DryRunRequest everything()
{
    DryRunRequest request;
    request.command = QStringLiteral("X='a b' python train.py --note \"it's\"");
    request.folder = QStringLiteral("/tmp/my project");
    request.device = QStringLiteral("T4-16GB");
    request.capacity = QStringLiteral("12 GiB");
    request.steps = 3;
    request.allocatorSettings = QString();
    request.rank = 5;
    request.worldSize = 64;
    request.devices = 8;
    request.skipInit = false;
    request.time = true;
    request.onEachCard = true;
    request.change = QStringLiteral("amp=bf16 checkpoint=Block");
    request.output = QStringLiteral("out/a b.pickle");
    return request;
}

TEST(DryRunRequest, AsOptions)
{
    EXPECT_EQ(DryRunRequest().options().join(QLatin1Char('|')), QStringLiteral("--device|A100-80GB"));
    EXPECT_EQ(everything().options().join(QLatin1Char('|')),
        QStringLiteral(
            "--device|T4-16GB|--capacity|12 GiB|--devices|8|--rank|5|--world-size|64|--steps|3|--set||"
            "--no-skip-init|--time|--on-each-card|--change|amp=bf16|--change|checkpoint=Block"));
    DryRunRequest fit;
    fit.fit = QStringLiteral("BATCH=1..512 SEQ=1..9");
    fit.time = fit.onEachCard = true; // which go with no search
    EXPECT_EQ(fit.options().join(QLatin1Char('|')),
        QStringLiteral("--device|A100-80GB|--fit|BATCH=1..512|--fit|SEQ=1..9"));
}

TEST(DryRunRequest, AsALineForATerminal)
{
    EXPECT_EQ(everything().commandLine(),
        QStringLiteral(
            "cd '/tmp/my project' && X='a b' strata dryrun --device T4-16GB --capacity '12 GiB' --devices 8 "
            "--rank 5 --world-size 64 --steps 3 --set '' --no-skip-init --time --on-each-card "
            "--change amp=bf16 --change checkpoint=Block -o 'out/a b.pickle' -- python train.py --note "
            "'it'\\''s'"));
    EXPECT_EQ(DryRunRequest().commandLine(), QString());
    DryRunRequest open;
    open.command = QStringLiteral("python 'a");
    EXPECT_EQ(open.commandLine(), QString());
}

/// The very options are taken: what fails is the program, which is not there.
TEST(DryRunRequest, TheCommandLineTakesEveryOption)
{
    DryRunRequest request = everything();
    request.command = QStringLiteral("no-such-program-here");
    std::vector<std::string> arguments{ "dryrun" };
    for (const QString& option : request.options())
        arguments.push_back(option.toStdString());
    arguments.insert(arguments.end(), { "--json", "--", "no-such-program-here" });
    const test::Ran ran = test::strata(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err,
        "strata: dryrun: no-such-program-here: command not found: give its path, as in ~/venv/bin/python "
        "train.py\n");
}

TEST(DryRunRequest, IsKept)
{
    EXPECT_EQ(DryRunRequest::fromJson(everything().toJson()), everything());
    EXPECT_EQ(DryRunRequest::fromJson({}), DryRunRequest());
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("settings.ini"));
    {
        QSettings settings(path, QSettings::IniFormat);
        RecentDryRuns recent(settings);
        int told = 0;
        QObject::connect(&recent, &RecentDryRuns::changed, [&] { ++told; });
        for (int i = 0; i < RecentDryRuns::kMost + 3; ++i) {
            DryRunRequest one = everything();
            one.steps = i;
            recent.add(one);
        }
        recent.add(everything()); // steps 3: only once
        EXPECT_EQ(told, RecentDryRuns::kMost + 4);
    }
    QSettings settings(path, QSettings::IniFormat);
    RecentDryRuns recent(settings);
    ASSERT_EQ(recent.all().size(), RecentDryRuns::kMost);
    EXPECT_EQ(recent.all().front(), everything());
    EXPECT_EQ(recent.all()[1].steps, RecentDryRuns::kMost + 2);
    recent.clear();
    EXPECT_TRUE(recent.all().isEmpty());
    settings.setValue(QStringLiteral("dryrun/recent"), QStringList{ QStringLiteral("{no json"), QString() });
    EXPECT_TRUE(recent.all().isEmpty());
}

TEST(DryRunRequest, FoldersMayBeginAtHome)
{
    DryRunRequest request;
    EXPECT_EQ(request.workingFolder(), QDir::homePath());
    request.folder = QStringLiteral("~/a");
    EXPECT_EQ(request.workingFolder(), QDir::homePath() + QStringLiteral("/a"));
    request.folder = QStringLiteral("/tmp");
    EXPECT_EQ(request.workingFolder(), QStringLiteral("/tmp"));
}

/// The window has the cards that the command line has: each name is taken, and a wrong one is not.
TEST(DeviceCatalogue, IsThatOfTheCommandLine)
{
    for (const model::Card& card : model::cards()) {
        const test::Ran ran = test::strata({ "dryrun", "--device", card.name, "--", "no-such-program" });
        EXPECT_EQ(ran.err,
            "strata: dryrun: no-such-program: command not found: give its path, as in ~/venv/bin/python "
            "train.py\n");
    }
    EXPECT_NE(test::strata({ "dryrun", "--device", "H99", "--", "no-such-program" }).err.find("no such card"),
        std::string::npos);
}

} // namespace
