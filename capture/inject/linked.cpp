// SPDX-License-Identifier: Apache-2.0
// In a program that links the recorder, as in one that it is preloaded into, a recording that waits begins
// when LibTorch asks for the current device, before the first segment. Where the recorder is loaded later,
// nobody comes here, and poll() does it.
#include "capture/interpose/device_asked.h"
#include "capture/interpose/process_exit.h"
#include "strata/capture_c.h"

namespace strata::interpose {

void onDeviceAsked() noexcept
{
    strata_capture_poll();
}

void onImmediateExit() noexcept
{
    strata_capture_exiting();
}

} // namespace strata::interpose
