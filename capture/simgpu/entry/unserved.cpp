// SPDX-License-Identifier: Apache-2.0
// Where the stand-ins made for one LibTorch (capture/simgpu/standins) come in.
#include "capture/simgpu/entry/process.h"

#include <string_view>

namespace strata::simgpu {

namespace {

struct Family {
    std::string_view prefix;
    long notSupported;
};

/// "Not supported" in the words of each library; longer prefixes first.
constexpr Family kFamilies[] = {
    { "cusparse", 10 },
    { "cusolver", 9 },
    { "cublas", 15 },
    { "cufft", 16 },
    { "curand", 203 },
    { "cudnn", 3000 },
    { "cupti", 27 },
    { "cuFile", 5001 },
    { "cuda", 801 },
    { "cu", 801 },
    { "__cuda", 801 },
    { "nccl", 5 },
    { "nvrtc", 11 },
    { "nvml", 3 },
    { "nvshmem", -1 },
};

} // namespace

/// A call that nobody serves: names itself once and fails as its library says that it cannot do something.
STRATA_API long strata_simgpu_unserved(const char* name)
{
    sayUnserved(name);
    for (const Family& family : kFamilies) {
        if (std::string_view(name).starts_with(family.prefix))
            return family.notSupported;
    }
    return -1;
}

/// For who follows the caching allocator: a range was given to somebody new, so what it held before is gone.
/// Kernels write nothing, and without this the new owner would read what an earlier one was given.
STRATA_API void strata_simgpu_forget(Address address, std::size_t bytes)
{
    const auto lock = locked();
    machine().memory.backing().forget(address, bytes);
}

/// For who tells why a program ended: `*flag` becomes 1 with the first call that is not served, and is
/// already where one was.
STRATA_API void strata_simgpu_tell_unserved(std::uint8_t* flag)
{
    tellUnserved(flag);
}

/// Gives an object that nobody looks into: all of them are the same one, so that none is ever leaked.
STRATA_API int strata_simgpu_object(void** out)
{
    alignas(64) static char object[4096];
    *out = object;
    return 0;
}

} // namespace strata::simgpu
