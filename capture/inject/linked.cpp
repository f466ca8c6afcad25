// SPDX-License-Identifier: Apache-2.0
// In a program that links the recorder, as in one that it is preloaded into, LibTorch asks for the current
// device before it allocates: a recording that waits begins there, before the first segment. Where the
// recorder is loaded later, nobody comes here, and poll() does it.
#include "strata/capture_c.h"

#include <dlfcn.h>
#include <initializer_list>

namespace {

using GetDevice = int (*)(int*);

GetDevice realGetDevice()
{
    if (void* found = dlsym(RTLD_NEXT, "cudaGetDevice"))
        return reinterpret_cast<GetDevice>(found);
    for (const char* library : { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" }) {
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (void* found = dlsym(handle, "cudaGetDevice"))
                return reinterpret_cast<GetDevice>(found);
        }
    }
    return nullptr;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int cudaGetDevice(int* device)
{
    static const GetDevice real = realGetDevice();
    strata_capture_poll();
    constexpr int kUnknownError = 999;
    return real ? real(device) : kUnknownError;
}
