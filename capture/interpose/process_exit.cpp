// SPDX-License-Identifier: Apache-2.0
#include "capture/interpose/process_exit.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace {

[[noreturn]] void leave(int status)
{
    strata::interpose::onImmediateExit();
    for (;;)
        syscall(SYS_exit_group, status);
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) void _exit(int status)
{
    leave(status);
}

__attribute__((visibility("default"))) void _Exit(int status) noexcept
{
    leave(status);
}
}
