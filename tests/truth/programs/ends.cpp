// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program that allocates and frees for a while, says how far it is, and ends in the way it is told.
//
// usage: ends WAY MILLISECONDS [SESSION]
//
// Prints "TURN SECONDS" lines, one for each turn: block number TURN has that many bytes, and was freed before
// the line; the time is of the same clock as Python's time.time(). With a session the program records itself.
#include <ATen/ATen.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <pty.h>
#include <setjmp.h>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

#ifdef STRATA_LINKED
#include <strata/capture.h>
#endif

namespace {

using namespace std::chrono;

at::Tensor bytes(std::int64_t count)
{
    return at::empty({ count }, at::TensorOptions(at::kCUDA).dtype(at::kByte));
}

void endWithStatus9(int)
{
    _exit(9);
}

[[noreturn]] void sendMyself(int signal)
{
    kill(getpid(), signal);
    for (;;)
        pause();
}

/// As a terminal's keyboard does it: the kernel sends the signal, and says so.
[[noreturn]] void pressCtrlC()
{
    int master = -1, terminal = -1;
    if (openpty(&master, &terminal, nullptr, nullptr, nullptr) != 0 || setsid() < 0
        || ioctl(terminal, TIOCSCTTY, 0) != 0 || write(master, "\x03", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

sigjmp_buf g_behind;

void survive(int)
{
    siglongjmp(g_behind, 1);
}

const std::map<std::string, std::function<int()>> kWays{
    { "return", [] { return 3; } },
    { "exit", []() -> int { std::exit(3); } },
    { "_exit", []() -> int { _exit(3); } },
    { "quick_exit", []() -> int { std::quick_exit(3); } },
    { "exception", []() -> int { throw std::runtime_error("the end"); } },
    { "thread exception",
        [] {
            std::thread([] { throw std::runtime_error("the end"); }).join();
            return 0;
        } },
    { "abort", []() -> int { std::abort(); } },
    { "fault",
        [] {
            *static_cast<volatile int*>(nullptr) = 1;
            return 0;
        } },
    { "SIGTERM", []() -> int { sendMyself(SIGTERM); } },
    { "SIGINT", []() -> int { sendMyself(SIGINT); } },
    { "Ctrl+C", []() -> int { pressCtrlC(); } },
    { "alarm",
        []() -> int {
            alarm(1);
            for (;;)
                pause();
        } },
    { "breakpoint",
        [] {
            __asm__ volatile("int3");
            return 0;
        } },
    { "survived fault",
        [] {
            if (sigsetjmp(g_behind, 1) == 0)
                *static_cast<volatile int*>(nullptr) = 1;
            return 5;
        } },
    { "SIGPIPE", []() -> int { sendMyself(SIGPIPE); } },
    { "SIGKILL", []() -> int { sendMyself(SIGKILL); } },
    { "ignored SIGTERM",
        [] {
            std::signal(SIGTERM, SIG_IGN);
            kill(getpid(), SIGTERM);
            return 4;
        } },
    { "handled SIGTERM", []() -> int { sendMyself(SIGTERM); } },
    { "handled fault",
        [] {
            *static_cast<volatile int*>(nullptr) = 1;
            return 0;
        } },
    { "out of memory",
        [] {
            bytes(std::int64_t{ 1 } << 45);
            return 0;
        } },
};

double now()
{
    return duration<double>(system_clock::now().time_since_epoch()).count();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3 || !kWays.contains(argv[1])) {
        std::fprintf(stderr, "usage: ends WAY MILLISECONDS [SESSION]\n");
        return 2;
    }
    const std::string way = argv[1];
    for (const int signal :
        { SIGINT, SIGTERM, SIGPIPE, SIGALRM }) // a shell ignores some in what it runs beside
        std::signal(signal, SIG_DFL);
    // Before the recording begins: ours is found there and goes on being called.
    if (way == "handled SIGTERM")
        std::signal(SIGTERM, endWithStatus9);
    if (way == "handled fault")
        std::signal(SIGSEGV, endWithStatus9);
    if (way == "survived fault")
        std::signal(SIGSEGV, survive);
#ifdef STRATA_LINKED
    std::optional<strata::capture::Recording> recording;
    if (argc > 3) {
        strata::capture::Options options;
        options.file = argv[3];
        recording.emplace(options);
    }
#endif
    const at::Tensor kept = bytes(1);
    const auto end = steady_clock::now() + milliseconds(std::atoi(argv[2]));
    for (std::int64_t turn = 1; steady_clock::now() < end; ++turn) {
        bytes(turn);
        char line[64];
        const int length
            = std::snprintf(line, sizeof line, "%lld %.6f\n", static_cast<long long>(turn), now());
        if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length)
            return 1;
        std::this_thread::sleep_for(microseconds(500));
    }
    return kWays.at(way)();
}
