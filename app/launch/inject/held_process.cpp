// SPDX-License-Identifier: GPL-3.0-or-later
// ptrace(2): PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal. A thread that waits in the system is
// not interrupted, since calls like epoll_wait() would fail with EINTR then. It may wake up and run while we
// write: what it may run into is one word, which changes at once, as far as processors go.
#include "app/launch/inject/held_process.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace strata::launch {

namespace {

using model::Error;
using model::Result;
using Clock = std::chrono::steady_clock;

/// On one thread of ours, since the system knows who traces by its thread; what it has not let go is let go
/// when that thread ends.
class Holder final : public HeldProcess {
public:
    Holder(pid_t process, Writing writing)
        : m_process(process)
        , m_writing(writing)
        , m_memory(open(("/proc/" + std::to_string(process) + "/mem").c_str(),
              (writing == Writing::ByFile ? O_RDWR : O_RDONLY) | O_CLOEXEC))
    {
    }
    ~Holder() override
    {
        for (const auto& [thread, held] : m_threads)
            if (held.stands) // with the signal that it was about to get
                ptrace(PTRACE_DETACH, thread, nullptr, static_cast<std::intptr_t>(held.signal));
        if (m_memory >= 0)
            close(m_memory);
    }

    /// Until nothing runs: threads may start others and wake them up.
    Result<void> hold(std::chrono::milliseconds patience)
    {
        m_deadline = Clock::now() + patience;
        for (;;) {
            const auto more = seizeThoseThatRun();
            if (!more)
                return model::Failure(more.error());
            if (!*more)
                return {};
            if (const auto stand = waitUntilAllStand(); !stand)
                return stand;
        }
    }

    std::optional<std::uint64_t> word(std::uint64_t address) const override
    {
        std::uint64_t value = 0;
        const ssize_t got = pread(m_memory, &value, sizeof value, static_cast<off_t>(address));
        return got == sizeof value ? std::optional(value) : std::nullopt;
    }

    bool write(std::uint64_t address, std::span<const std::byte> bytes) override
    {
        const auto size = static_cast<ssize_t>(bytes.size());
        return (m_writing == Writing::ByFile
                   && pwrite(m_memory, bytes.data(), bytes.size(), static_cast<off_t>(address)) == size)
            || writeByWords(address, bytes);
    }

private:
    struct Held {
        bool stands = false, isGone = false;
        int signal = 0; ///< on its way to the thread as it was held
    };

    /// As /proc/PID/stat has it: R runs; '\0': there is none.
    char stateOf(pid_t thread) const
    {
        std::ifstream file(
            "/proc/" + std::to_string(m_process) + "/task/" + std::to_string(thread) + "/stat");
        std::string text;
        std::getline(file, text);
        const auto behindName = text.rfind(") ");
        return behindName == text.npos ? '\0' : text[behindName + 2];
    }

    /// Whether there were any.
    Result<bool> seizeThoseThatRun()
    {
        bool any = false;
        std::error_code error;
        for (const auto& entry :
            std::filesystem::directory_iterator("/proc/" + std::to_string(m_process) + "/task", error)) {
            pid_t thread = 0;
            const std::string name = entry.path().filename().string();
            std::from_chars(name.data(), name.data() + name.size(), thread);
            if (thread == 0 || m_threads.contains(thread) || stateOf(thread) != 'R')
                continue;
            any = true;
            if (const auto seized = seize(thread); !seized)
                return model::Failure(seized.error());
        }
        return any;
    }

    Result<void> seize(pid_t thread)
    {
        if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0) {
            ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
            m_threads[thread] = {};
            return {};
        }
        const int why = errno;
        if (const char state = stateOf(thread);
            why == ESRCH || state == '\0' || state == 'Z' || state == 'X') {
            m_threads[thread] = { .isGone = true };
            return {};
        }
        return model::fail(Error::Kind::Refused,
            model::say("process %1 cannot be held: %2", m_process, std::strerror(why)),
            model::say("end the debugger that has it, or try again as root"));
    }

    Result<void> waitUntilAllStand()
    {
        while (!std::ranges::all_of(
            m_threads, [](const auto& each) { return each.second.stands || each.second.isGone; })) {
            if (Clock::now() > m_deadline)
                return model::fail(Error::Kind::Refused,
                    model::say(
                        "process %1: a thread of it is busy in the system and cannot be held", m_process),
                    model::say("try again"));
            collect();
        }
        return {};
    }

    void collect()
    {
        bool any = false;
        for (auto& [thread, held] : m_threads) {
            if (held.stands || held.isGone)
                continue;
            int status = 0;
            const pid_t got = waitpid(thread, &status, __WALL | __WNOTHREAD | WNOHANG);
            if (got == 0)
                continue;
            any = true;
            held.isGone = got < 0 || WIFEXITED(status) || WIFSIGNALED(status);
            held.stands = !held.isGone;
            if (held.stands && status >> 16 == 0)
                held.signal = WSTOPSIG(status);
        }
        if (!any)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }

    /// A thread through which memory is reached where the system lets nobody write to its file.
    std::optional<pid_t> anyThread()
    {
        const auto stands = [&] {
            return std::ranges::find_if(m_threads, [](const auto& each) { return each.second.stands; });
        };
        if (stands() == m_threads.end() && (!seize(m_process) || !waitUntilAllStand()))
            return std::nullopt;
        const auto found = stands();
        return found == m_threads.end() ? std::nullopt : std::optional(found->first);
    }

    /// The last word is filled up with what is there.
    bool writeByWords(std::uint64_t address, std::span<const std::byte> bytes)
    {
        const auto thread = anyThread();
        while (thread && !bytes.empty()) {
            const std::size_t size = std::min(bytes.size(), sizeof(std::uint64_t));
            auto value = size < sizeof(std::uint64_t) ? word(address) : 0;
            if (!value)
                return false;
            std::memcpy(&*value, bytes.data(), size);
            if (ptrace(PTRACE_POKEDATA, *thread, address, *value) != 0)
                return false;
            bytes = bytes.subspan(size);
            address += size;
        }
        return thread.has_value();
    }

    const pid_t m_process;
    const Writing m_writing;
    const int m_memory;
    Clock::time_point m_deadline;
    std::map<pid_t, Held> m_threads;
};

} // namespace

Result<void> whileHeld(pid_t process, std::chrono::milliseconds patience,
    const std::function<Result<void>(HeldProcess&)>& work, Writing writing)
{
    Result<void> result;
    std::thread([&] {
        Holder holder(process, writing);
        const auto held = holder.hold(patience);
        result = held ? work(holder) : held;
    }).join();
    return result;
}

} // namespace strata::launch
