// SPDX-License-Identifier: Apache-2.0
// The one place where Strata stands between a program and cudaGetDevice: in the library that is preloaded,
// and in the recorder that a program links itself.
#include "capture/interpose/device_asked.h"

#include "capture/interpose/next_function.h"

extern "C" __attribute__((visibility("default"))) int cudaGetDevice(int* device)
{
    using GetDevice = int (*)(int*);
    static const auto real = strata::interpose::nextFunction<GetDevice>("cudaGetDevice");
    strata::interpose::onDeviceAsked();
    constexpr int kUnknownError = 999;
    return real ? real(device) : kUnknownError;
}
