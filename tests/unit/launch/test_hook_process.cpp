// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/entry/hook_process.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::agent {

namespace {

volatile std::sig_atomic_t g_children = 0;

class HookProcessTest : public testing::Test {
protected:
    std::string script(const std::string& text) const
    {
        const std::filesystem::path path = m_temporary.file("maker", "#!/bin/sh\n" + text);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path.string();
    }

    test::TemporaryDirectory m_temporary;
    const std::filesystem::path m_folder = m_temporary.path();
};

TEST_F(HookProcessTest, TellsThePath)
{
    const auto answer = HookProcess(script("echo \"hook $1/x.so\"; echo more"), "/torch lib").run();
    EXPECT_TRUE(answer.done);
    EXPECT_EQ(answer.text, "/torch lib/x.so");
}

TEST_F(HookProcessTest, TellsWhyNot)
{
    const auto answer = HookProcess(script("echo 'no compiler: install one'; echo 'hook /x'"), "").run();
    EXPECT_FALSE(answer.done);
    EXPECT_EQ(answer.text, "no compiler: install one");
}

TEST_F(HookProcessTest, ThatIsNotThere)
{
    const auto answer = HookProcess("/no/such/program", "").run();
    EXPECT_FALSE(answer.done);
    EXPECT_EQ(answer.text, "/no/such/program: does not start: install Strata again");
}

/// Nothing is preloaded into it, and it is not told to record.
TEST_F(HookProcessTest, HasNothingOfOurs)
{
    const test::Variable preload("LD_PRELOAD", "");
    const test::Variable file("STRATA_RECORD_FILE", "x");
    const test::Variable kept("STRATA_TEST_KEPT", "kept");
    const auto answer = HookProcess(
        script("echo \"hook ${LD_PRELOAD-none} ${STRATA_RECORD_FILE-none} $STRATA_TEST_KEPT\""), "")
                            .run();
    EXPECT_EQ(answer.text, "none none kept");
}

/// Who waits for his children does not find it, and is sent no signal.
TEST_F(HookProcessTest, IsNobodysChild)
{
    const auto before = std::signal(SIGCHLD, [](int) { g_children = g_children + 1; });
    const auto answer = HookProcess(script("sleep 0.2; echo \"hook $PPID\""), "").run();
    EXPECT_NE(answer.text, std::to_string(getpid()));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(g_children, 0);
    std::signal(SIGCHLD, before);
}

} // namespace

} // namespace strata::agent
