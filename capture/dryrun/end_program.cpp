// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/end_program.h"

#include "capture/dryrun/follow.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace strata::dryrun {

namespace {

/// How long handlers and destructors may take.
constexpr std::chrono::seconds kPatience{ 10 };

void leaveAtFaults()
{
    struct sigaction leave { };
    leave.sa_handler = [](int) { _exit(0); };
    leave.sa_flags = SA_ONSTACK;
    for (const int signal : { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT })
        sigaction(signal, &leave, nullptr);
}

void leaveInTime()
{
    // Signals are for threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([] {
        std::this_thread::sleep_for(kPatience);
        std::fputs("strata: the program goes on after the last step: it is ended\n", stderr);
        _exit(0);
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

void endProgram() noexcept
{
    tellEnded();
    leaveAtFaults();
    try {
        leaveInTime();
    } catch (...) {
        _exit(0); // no thread to be had: nothing that may last
    }
    std::exit(0);
}

} // namespace strata::dryrun
