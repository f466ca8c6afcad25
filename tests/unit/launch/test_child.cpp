// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/child.h"

#include "tests/support/temporary_directory.h"

#include <csignal>
#include <gtest/gtest.h>

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
