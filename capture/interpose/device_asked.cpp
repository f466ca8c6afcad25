// SPDX-License-Identifier: Apache-2.0
// The one place where Strata stands between a program and cudaGetDevice: in the library that is preloaded,
// and in the recorder that a program links itself.
#include "capture/interpose/device_asked.h"

#include "capture/interpose/next_function.h"
#include "capture/interpose/redirect_calls.h"

namespace {

using GetDevice = int (*)(int*);

std::atomic<void*> g_before{ nullptr }; // where LibTorch's calls went, once they go to askedByTable()

int askedByTable(int* device)
{
    strata::interpose::onDeviceAsked();
    return reinterpret_cast<GetDevice>(g_before.load(std::memory_order_acquire))(device);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int cudaGetDevice(int* device)
{
    static const auto real = strata::interpose::nextFunction<GetDevice>("cudaGetDevice");
    strata::interpose::onDeviceAsked();
    constexpr int kUnknownError = 999;
    return real ? real(device) : kUnknownError;
}

// By its own name the address would be that of whoever comes first.
extern "C" __attribute__((visibility("hidden"), alias("cudaGetDevice"))) int strataGetDevice(int* device);

bool strata::interpose::followDeviceCalls() noexcept
{
    constexpr const char* kLibrary = "libc10_cuda.so";
    if (!dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD))
        return false;
    (void)redirectCalls(kLibrary, "cudaGetDevice", reinterpret_cast<void*>(askedByTable),
        reinterpret_cast<const void*>(strataGetDevice), g_before);
    return true;
}
