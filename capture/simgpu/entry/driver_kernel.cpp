// SPDX-License-Identifier: Apache-2.0
// CUDA driver: modules, launches and linking, as Triton and run-time compilation use them.
#include "capture/simgpu/entry/activity.h"
#include "capture/simgpu/entry/driver.h"

#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;

Result launch(Api name, const void* function, const Extent& grid, const Extent& block, unsigned sharedBytes,
    void* stream)
{
    const ApiCall call(name);
    if (isWorkSeen())
        perform(call, stream, DeviceWork::kernel(function, grid, block, sharedBytes));
    return 0;
}

/// The head of CUlaunchConfig.
struct LaunchHead {
    Extent grid;
    Extent block;
    unsigned sharedBytes;
    void* stream;
};
static_assert(offsetof(LaunchHead, stream) == 32);

} // namespace

// A module is its image, a function its name, both kept for the life of the process.
STRATA_API Result cuModuleLoadData(void** module, const void* image)
{
    *module = pointerTo(addressOf(image) | 1);
    return 0;
}

STRATA_API Result cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**)
{
    return cuModuleLoadData(module, image);
}

STRATA_API Result cuModuleLoad(void** module, const char* path)
{
    return cuModuleLoadData(module, path);
}

STRATA_API Result cuModuleUnload(void*)
{
    return 0;
}

STRATA_API Result cuModuleGetFunction(void** function, void*, const char* name)
{
    *function = strdup(name);
    machine().kernels.addKernel(nullptr, *function, static_cast<const char*>(*function));
    return 0;
}

STRATA_API Result cuFuncGetAttribute(int* value, int attribute, void*)
{
    enum { kMaxThreads = 0, kRegisters = 4, kPtx = 5, kBinary = 6, kMaxDynamicShared = 8 };
    const Machine& all = machine();
    switch (attribute) {
    case kMaxThreads:
        *value = 1024;
        break;
    case kRegisters:
        *value = 32;
        break;
    case kPtx:
    case kBinary:
        *value = all.settings.computeMajor * 10 + all.settings.computeMinor;
        break;
    case kMaxDynamicShared:
        *value = all.limits.sharedPerBlockOptin;
        break;
    default:
        *value = 0;
    }
    return 0;
}

STRATA_API Result cuFuncSetAttribute(void*, int, int)
{
    return 0;
}

STRATA_API Result cuFuncSetCacheConfig(void*, int)
{
    return 0;
}

STRATA_API Result cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream, void**, void**)
{
    return launch(Api::DriverLaunchKernel, function, { gridX, gridY, gridZ }, { blockX, blockY, blockZ },
        sharedBytes, stream);
}

STRATA_API Result cuLaunchCooperativeKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream, void**)
{
    return launch(Api::DriverLaunchCooperativeKernel, function, { gridX, gridY, gridZ },
        { blockX, blockY, blockZ }, sharedBytes, stream);
}

STRATA_API Result cuLaunchKernelEx(const void* config, void* function, void**, void**)
{
    LaunchHead head;
    std::memcpy(static_cast<void*>(&head), config, sizeof head);
    return launch(Api::DriverLaunchKernelEx, function, head.grid, head.block, head.sharedBytes, head.stream);
}

STRATA_API Result cuOccupancyMaxActiveClusters(int* clusters, void*, const void*)
{
    *clusters = machine().settings.multiprocessors / 8;
    return 0;
}

STRATA_API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, void*, int threads, std::size_t sharedBytes)
{
    *blocks = blocksPerMultiprocessor(machine().limits, threads, sharedBytes);
    return 0;
}

STRATA_API Result cuTensorMapEncodeTiled(void* map, int, unsigned, void*, const std::uint64_t*,
    const std::uint64_t*, const unsigned*, const unsigned*, int, int, int, int)
{
    std::memset(map, 0, 128);
    return 0;
}

STRATA_API Result cuLinkCreate_v2(unsigned, int*, void**, void** state)
{
    static char image[8] = "linked";
    *state = image;
    return 0;
}

STRATA_API Result cuLinkAddData_v2(void*, int, void*, std::size_t, const char*, unsigned, int*, void**)
{
    return 0;
}

STRATA_API Result cuLinkComplete(void* state, void** image, std::size_t* bytes)
{
    *image = state;
    *bytes = 7;
    return 0;
}

STRATA_API Result cuLinkDestroy(void*)
{
    return 0;
}

} // namespace strata::simgpu
