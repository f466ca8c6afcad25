// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/entry/fatal_ends.h"

#include <algorithm>
#include <array>
#include <csignal>

namespace strata::agent {

namespace {

constexpr std::array kFaults{ SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
constexpr std::array kRequests{ SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
    SIGXCPU };

// Written once, before handlers run.
std::array<struct sigaction, 64> g_before;
void (*g_flush)(int) noexcept = nullptr;

bool isDefault(const struct sigaction& action)
{
    return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

/// As if ours had not been there.
void goOn(int signal, siginfo_t* info, void* context)
{
    const struct sigaction& before = g_before[static_cast<std::size_t>(signal)];
    if (before.sa_flags & SA_SIGINFO)
        return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        return before.sa_handler(signal);
    sigaction(signal, &before, nullptr);
    // A fault of an instruction comes again as that does; all else, the terminal's Ctrl+C too, has to be sent
    // again.
    const bool comesAgain = info->si_code > 0
        && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
    if (!comesAgain)
        raise(signal);
}

void onSignal(int signal, siginfo_t* info, void* context)
{
    g_flush(signal);
    goOn(signal, info, context);
}

void watch(int signal, bool evenWhereHandled)
{
    struct sigaction& before = g_before[static_cast<std::size_t>(signal)];
    if (sigaction(signal, nullptr, &before) != 0 || (!evenWhereHandled && !isDefault(before)))
        return;
    struct sigaction ours { };
    ours.sa_sigaction = onSignal;
    // What the handler that is there asked for, it gets; a stack of its own serves an overflow of the usual.
    ours.sa_mask = before.sa_mask;
    ours.sa_flags = (before.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &ours, nullptr);
}

} // namespace

void watchFatalEnds(void (*flush)(int signal) noexcept)
{
    g_flush = flush;
    std::ranges::for_each(kFaults, [](int signal) { watch(signal, true); });
    std::ranges::for_each(kRequests, [](int signal) { watch(signal, false); });
}

} // namespace strata::agent
