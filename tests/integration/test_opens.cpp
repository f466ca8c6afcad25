// SPDX-License-Identifier: GPL-3.0-or-later
// How often a program opens its recording, as the kernel sees it.
#include "tests/integration/run_strata.h"
#include "tests/support/environment.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::test {

namespace {

namespace fs = std::filesystem;

/// Runs a program to its end, stopped at each of its system calls, and counts those that open `file`.
class OpenCounter {
public:
    explicit OpenCounter(std::string file)
        : m_file(std::move(file))
    {
    }

    /// Nothing where this machine lets no process be traced.
    std::optional<int> count(const std::vector<std::string>& words)
    {
        std::vector<char*> arguments;
        for (const std::string& word : words)
            arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0)
            becomeTraced(arguments);
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)
            || ptrace(PTRACE_SETOPTIONS, child, nullptr,
                   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)
                != 0)
            return std::nullopt;
        ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        follow(child);
        return m_count;
    }

    [[nodiscard]] int exitCode() const { return m_exitCode; }

private:
    [[noreturn]] static void becomeTraced(const std::vector<char*>& arguments)
    {
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // which it cannot do when traced
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
            raise(SIGSTOP);
            execv(arguments.front(), arguments.data());
        }
        _exit(127);
    }

    void follow(pid_t child)
    {
        int status = 0;
        for (pid_t thread = 0; (thread = waitpid(-1, &status, __WALL)) > 0;) {
            if (WIFEXITED(status) || WIFSIGNALED(status)) {
                if (thread == child) {
                    m_exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
                    return;
                }
                continue;
            }
            int signal = WSTOPSIG(status);
            if (signal == (SIGTRAP | 0x80)) {
                look(thread);
                signal = 0;
            } else if (signal == SIGTRAP || signal == SIGSTOP)
                signal = 0; // of tracing itself
            ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
        }
    }

    void look(pid_t thread)
    {
        __ptrace_syscall_info info{};
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0
            || info.op != PTRACE_SYSCALL_INFO_ENTRY)
            return;
        std::uint64_t path = 0;
        if (info.entry.nr == SYS_openat || info.entry.nr == SYS_openat2)
            path = info.entry.args[1];
#ifdef SYS_open
        else if (info.entry.nr == SYS_open)
            path = info.entry.args[0];
#endif
        if (path != 0 && textAt(thread, path) == m_file)
            ++m_count;
    }

    static std::string textAt(pid_t process, std::uint64_t address)
    {
        std::array<char, 4096> text{};
        std::size_t have = 0;
        while (have < text.size()) { // page by page: the next one may not be there
            const std::size_t some
                = std::min<std::size_t>(4096 - (address + have) % 4096, text.size() - have);
            const iovec here{ text.data() + have, some };
            const iovec there{ reinterpret_cast<void*>(address + have), some }; // NOLINT
            const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
            if (got <= 0)
                break;
            have += static_cast<std::size_t>(got);
            if (std::memchr(text.data(), '\0', have))
                break;
        }
        return { text.data(), strnlen(text.data(), have) };
    }

    std::string m_file;
    int m_count = 0;
    int m_exitCode = -1;
};

class Opens : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        const std::string sample = dataFile("versions/torch2.6_plain.pickle.gz");
        m_file = m_folder.path() / GetParam();
        if (m_file.ends_with(".strata"))
            ASSERT_EQ(strata({ "convert", sample, "-o", m_file }).code, 0);
        else
            fs::copy_file(sample, m_file);
        // So that there are notes to look for: behind the session, beside the snapshot.
        ASSERT_EQ(strata({ "notes", m_file, "--add", "look here", "--from", "peak" }).code, 0);
    }

    /// Runs a program on the file, which ends with success having opened it so often.
    void expectOpens(int times, const std::vector<std::string>& words)
    {
        OpenCounter counter(m_file);
        const std::optional<int> opened = counter.count(words);
        if (!opened)
            GTEST_SKIP() << "this machine lets no process be traced";
        EXPECT_EQ(counter.exitCode(), 0) << testing::PrintToString(words);
        EXPECT_EQ(*opened, times) << testing::PrintToString(words);
    }

    const TemporaryDirectory m_folder;
    const OwnData m_data;
    std::string m_file;
};

} // namespace

TEST_P(Opens, SummaryOpensItsFileOnce)
{
    expectOpens(1, { STRATA_PROGRAM, "summary", m_file });
    expectOpens(1, { STRATA_PROGRAM, "summary", "--json", m_file });
    expectOpens(1, { STRATA_PROGRAM, "summary", "--from", "10", m_file });
    expectOpens(1, { STRATA_PROGRAM, "check", m_file });
}

TEST_P(Opens, CommandsOnAllOfItOpenItOnce)
{
    expectOpens(1, { STRATA_PROGRAM, "notes", m_file });
    expectOpens(1, { STRATA_PROGRAM, "at", m_file, "peak" });
    expectOpens(1, { STRATA_PROGRAM, "blocks", m_file, "--limit", "5" });
    expectOpens(1, { STRATA_PROGRAM, "events", m_file, "--limit", "5" });
    const std::string copy = m_folder.path() / "copy.strata";
    expectOpens(1, { STRATA_PROGRAM, "convert", m_file, "-o", copy });
    expectOpens(1, { STRATA_PROGRAM, "share", m_file, "-o", copy });
}

TEST_P(Opens, ANoteTakesOneMoreToWriteIt)
{
    expectOpens(2, { STRATA_PROGRAM, "notes", m_file, "--add", "and here", "--from", "3" });
}

#ifdef STRATA_WINDOW_PROGRAM
TEST_P(Opens, ADocumentOfTheWindowOpensItOnce)
{
    const Variable platform("QT_QPA_PLATFORM", "offscreen");
    expectOpens(1, { STRATA_WINDOW_PROGRAM, "--render", m_folder.path() / "pictures", m_file });
}
#endif

INSTANTIATE_TEST_SUITE_P(Of, Opens, testing::Values("snapshot.pickle.gz", "session.strata"),
    [](const testing::TestParamInfo<const char*>& parameter) {
        const std::string name = parameter.param;
        return name.substr(0, name.find('.'));
    });

} // namespace strata::test
