// SPDX-License-Identifier: GPL-3.0-or-later
// ptrace(2): PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal.
#include "app/launch/inject/stopped_process.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>

namespace strata::launch {

using model::Error;

/// Of one thread of ours, since the system knows who traces by its thread; what it has not let go is let go
/// when that thread ends.
class ProcessStopper {
public:
    explicit ProcessStopper(pid_t process)
        : m_process(process)
    {
    }
    ~ProcessStopper()
    {
        for (const auto& [thread, held] : m_threads)
            if (held.isStopped) // with the signal that it was about to get
                ptrace(PTRACE_DETACH, thread, nullptr, asPointer(held.signal));
    }
    ProcessStopper(const ProcessStopper&) = delete;
    ProcessStopper& operator=(const ProcessStopper&) = delete;

    /// Threads may start others until all stand.
    model::Result<StoppedProcess> stop(std::chrono::milliseconds patience)
    {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            const auto more = seizeNew();
            if (!more)
                return model::Failure(more.error());
            if (!*more && isStopped())
                break;
            if (std::chrono::steady_clock::now() > deadline)
                return model::fail(Error::Kind::Refused,
                    model::say(
                        "process %1: a thread of it is busy in the system and cannot be stopped", m_process),
                    model::say("try again"));
            collect();
        }
        for (const auto& [thread, held] : m_threads)
            if (held.isStopped)
                return StoppedProcess(thread);
        return model::fail(Error::Kind::NotFound, model::say("process %1 has ended", m_process),
            model::say("start it again"));
    }

private:
    struct Held {
        bool isStopped = false, isGone = false;
        int signal = 0; ///< on its way to the thread as it was stopped
    };

    static void* asPointer(int value)
    {
        return reinterpret_cast<void*>(static_cast<std::intptr_t>(value)); // NOLINT: ptrace takes it so
    }

    bool isStopped() const
    {
        return std::ranges::all_of(
            m_threads, [](const auto& each) { return each.second.isStopped || each.second.isGone; });
    }

    /// A thread that has ended may stand in the list for long, if it was the first.
    bool hasEnded(pid_t thread) const
    {
        const int refused = errno;
        std::ifstream file(
            "/proc/" + std::to_string(m_process) + "/task/" + std::to_string(thread) + "/stat");
        std::string text;
        std::getline(file, text);
        const auto behindName = text.rfind(") ");
        errno = refused;
        return behindName == text.npos || text[behindName + 2] == 'Z' || text[behindName + 2] == 'X';
    }

    /// Whether there were threads that were not known yet.
    model::Result<bool> seizeNew()
    {
        bool more = false;
        std::error_code error;
        for (const auto& entry :
            std::filesystem::directory_iterator("/proc/" + std::to_string(m_process) + "/task", error)) {
            pid_t thread = 0;
            const std::string name = entry.path().filename().string();
            std::from_chars(name.data(), name.data() + name.size(), thread);
            if (thread == 0 || m_threads.contains(thread))
                continue;
            more = true;
            if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0) {
                ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
                m_threads[thread] = {};
            } else if (errno == ESRCH || hasEnded(thread))
                m_threads[thread] = { .isGone = true };
            else
                return model::fail(Error::Kind::Refused,
                    model::say("process %1 cannot be stopped: %2", m_process, std::strerror(errno)),
                    model::say("end the debugger that has it, or try again as root"));
        }
        return more;
    }

    void collect()
    {
        bool any = false;
        for (auto& [thread, held] : m_threads) {
            if (held.isStopped || held.isGone)
                continue;
            int status = 0;
            const pid_t got = waitpid(thread, &status, __WALL | __WNOTHREAD | WNOHANG);
            if (got == 0)
                continue;
            any = true;
            if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status)) {
                held.isGone = true;
                continue;
            }
            held.isStopped = true;
            if (WIFSTOPPED(status) && status >> 16 == 0)
                held.signal = WSTOPSIG(status);
        }
        if (!any)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }

    const pid_t m_process;
    std::map<pid_t, Held> m_threads;
};

std::optional<std::uint64_t> StoppedProcess::word(std::uint64_t address) const
{
    errno = 0;
    const long value = ptrace(PTRACE_PEEKDATA, m_thread, address, nullptr);
    return errno == 0 ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
}

bool StoppedProcess::setWord(std::uint64_t address, std::uint64_t value) const
{
    return ptrace(PTRACE_POKEDATA, m_thread, address, value) == 0;
}

bool StoppedProcess::write(std::uint64_t address, std::span<const std::byte> bytes) const
{
    while (!bytes.empty()) {
        const std::size_t size = std::min(bytes.size(), sizeof(std::uint64_t));
        auto value = size < sizeof(std::uint64_t) ? word(address) : 0;
        if (!value)
            return false;
        std::memcpy(&*value, bytes.data(), size);
        if (!setWord(address, *value))
            return false;
        bytes = bytes.subspan(size);
        address += size;
    }
    return true;
}

model::Result<void> whileStopped(pid_t process, std::chrono::milliseconds patience,
    const std::function<model::Result<void>(const StoppedProcess&)>& work)
{
    model::Result<void> result;
    std::thread([&] {
        ProcessStopper stopper(process);
        const auto stopped = stopper.stop(patience);
        result = stopped ? work(*stopped) : model::Failure(stopped.error());
    }).join();
    return result;
}

} // namespace strata::launch
