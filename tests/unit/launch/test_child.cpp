// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/child.h"

#include "tests/support/temporary_directory.h"

#include <csignal>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace strata::launch {

namespace {

int runInShell(const std::string& line, const ChildOptions& options = {})
{
    Command command;
    command.words = { "/bin/sh", "-c", line };
    command.program.executable = "/bin/sh";
    return runChild(command, options).value_or(-1);
}

TEST(Child, GivesItsExitStatusOrItsSignal)
{
    EXPECT_EQ(runInShell("exit 7"), 7);
    EXPECT_EQ(runInShell("kill -KILL $$"), 128 + SIGKILL);
}

/// Ours is ignored, so that `strata ... | head` ends quietly; a program must not come to see that.
TEST(Child, DiesOfABrokenPipeAsItWouldWithoutUs)
{
    auto* const before = std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(runInShell("kill -PIPE $$; exit 3"), 128 + SIGPIPE);
    std::signal(SIGPIPE, before);
}

TEST(Child, OfTwoAtOnceEachHasItsStatusAndDiesOfARequestToEnd)
{
    const test::TemporaryDirectory folder;
    const std::string ready = (folder.path() / "ready").string();
    const auto run = [](const std::string& line) {
        return std::async(std::launch::async, [line] { return runInShell(line); });
    };
    // Each waits until the other one runs.
    const auto meets = [&](const std::string& mine, const std::string& other, const std::string& end) {
        return "touch " + ready + mine + "; while [ ! -e " + ready + other + " ]; do sleep 0.01; done; "
            + end;
    };
    auto one = run(meets("1", "2", "exit 5")), two = run(meets("2", "1", "exit 6"));
    EXPECT_EQ(one.get(), 5);
    EXPECT_EQ(two.get(), 6);
    one = run(meets("3", "4", "exec sleep 60"));
    two = run(meets("4", "3", "touch " + ready + "5; exec sleep 60"));
    while (!std::filesystem::exists(ready + "5"))
        std::this_thread::yield();
    std::raise(SIGTERM);
    EXPECT_EQ(one.get(), 128 + SIGTERM);
    EXPECT_EQ(two.get(), 128 + SIGTERM);
}

TEST(Child, ItsEnvironmentAndWhereItPrints)
{
    const test::TemporaryDirectory folder;
    ChildOptions options;
    options.set = { { "STRATA_TEST_WORD", "here" } };
    options.unset = { "HOME" };
    options.log = folder.path() / "log";
    EXPECT_EQ(runInShell("echo $STRATA_TEST_WORD; echo ${HOME-none} >&2", options), 0);
    EXPECT_EQ(test::contentOf(options.log), "here\nnone\n");
}

} // namespace

} // namespace strata::launch
