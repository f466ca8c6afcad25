// SPDX-License-Identifier: Apache-2.0
// NVML: what LibTorch and monitors ask. A device's handle is its number, plus a base so that it is not null.
#include "capture/simgpu/entry/process.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace strata::simgpu {

namespace {

using api::Result;

constexpr Result kInvalidArgument = 2;
constexpr Result kNotSupported = 3;
constexpr Result kNotFound = 6;
constexpr Result kInsufficientSize = 7;
constexpr Address kBase = 0x200000;

bool deviceOf(const void* handle, int& device)
{
    device = static_cast<int>(addressOf(handle) - kBase);
    return addressOf(handle) >= kBase && device < machine().settings.devices;
}

Result handleOf(unsigned device, void** handle)
{
    if (device >= static_cast<unsigned>(machine().settings.devices))
        return kInvalidArgument;
    *handle = pointerTo(kBase + device);
    return 0;
}

struct MemoryInfo {
    unsigned long long total, free, used;
};

struct MemoryInfoV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct ProcessInfo {
    unsigned pid;
    unsigned long long usedBytes;
    unsigned gpuInstance;
    unsigned computeInstance;
};

} // namespace

STRATA_API Result nvmlInit_v2()
{
    return 0;
}

STRATA_API Result nvmlInit()
{
    return 0;
}

STRATA_API Result nvmlInitWithFlags(unsigned)
{
    return 0;
}

STRATA_API Result nvmlShutdown()
{
    return 0;
}

STRATA_API const char* nvmlErrorString(Result status)
{
    switch (status) {
    case 0:
        return "Success";
    case kInvalidArgument:
        return "Invalid Argument";
    case kNotSupported:
        return "Not Supported";
    case kNotFound:
        return "Not Found";
    case kInsufficientSize:
        return "Insufficient Size";
    default:
        return "Unknown Error";
    }
}

STRATA_API Result nvmlSystemGetCudaDriverVersion_v2(int* version)
{
    *version = kCudaVersion;
    return 0;
}

STRATA_API Result nvmlSystemGetCudaDriverVersion(int* version)
{
    *version = kCudaVersion;
    return 0;
}

STRATA_API Result nvmlSystemGetDriverVersion(char* text, unsigned length)
{
    std::snprintf(text, length, "simulated");
    return 0;
}

STRATA_API Result nvmlDeviceGetCount_v2(unsigned* count)
{
    *count = static_cast<unsigned>(machine().settings.devices);
    return 0;
}

STRATA_API Result nvmlDeviceGetCount(unsigned* count)
{
    return nvmlDeviceGetCount_v2(count);
}

STRATA_API Result nvmlDeviceGetHandleByIndex_v2(unsigned device, void** handle)
{
    return handleOf(device, handle);
}

STRATA_API Result nvmlDeviceGetHandleByIndex(unsigned device, void** handle)
{
    return handleOf(device, handle);
}

STRATA_API Result nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle)
{
    unsigned domain = 0;
    unsigned bus = 0;
    if (std::sscanf(text, "%x:%x", &domain, &bus) != 2 || bus == 0)
        return kNotFound;
    return handleOf(bus - 1, handle);
}

STRATA_API Result nvmlDeviceGetHandleByUUID(const char*, void** handle)
{
    return handleOf(0, handle);
}

STRATA_API Result nvmlDeviceGetIndex(void* handle, unsigned* index)
{
    int device = 0;
    if (!deviceOf(handle, device))
        return kInvalidArgument;
    *index = static_cast<unsigned>(device);
    return 0;
}

STRATA_API Result nvmlDeviceGetName(void* handle, char* name, unsigned length)
{
    int device = 0;
    if (!deviceOf(handle, device))
        return kInvalidArgument;
    std::snprintf(name, length, "%s", machine().settings.name.c_str());
    return 0;
}

STRATA_API Result nvmlDeviceGetUUID(void* handle, char* text, unsigned length)
{
    int device = 0;
    if (!deviceOf(handle, device))
        return kInvalidArgument;
    std::snprintf(text, length, "GPU-73747261-7461-2d73-696d-6770750000%02x", static_cast<unsigned>(device));
    return 0;
}

STRATA_API Result nvmlDeviceGetMemoryInfo(void* handle, MemoryInfo* info)
{
    int device = 0;
    if (!deviceOf(handle, device))
        return kInvalidArgument;
    const auto lock = locked();
    const DeviceMemory& memory = machine().memory;
    const std::size_t free = memory.free(device);
    *info = { memory.capacity(device), free, memory.capacity(device) - free };
    return 0;
}

STRATA_API Result nvmlDeviceGetMemoryInfo_v2(void* handle, MemoryInfoV2* info)
{
    MemoryInfo older{};
    const Result status = nvmlDeviceGetMemoryInfo(handle, &older);
    if (status == 0)
        *info = { info->version, older.total, 0, older.free, older.used };
    return status;
}

STRATA_API Result nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor)
{
    *major = machine().settings.computeMajor;
    *minor = machine().settings.computeMinor;
    return 0;
}

STRATA_API Result nvmlDeviceGetUtilizationRates(void*, unsigned* rates)
{
    rates[0] = rates[1] = 0;
    return 0;
}

STRATA_API Result nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, ProcessInfo* out)
{
    int device = 0;
    if (!deviceOf(handle, device))
        return kInvalidArgument;
    const auto lock = locked();
    const unsigned room = *count;
    *count = 1;
    if (room < 1)
        return kInsufficientSize;
    *out = { static_cast<unsigned>(getpid()), machine().memory.used(device), ~0u, ~0u };
    return 0;
}

// The first form has an older structure, which nobody who uses it here looks at.
STRATA_API Result nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*)
{
    *count = 0;
    return 0;
}

STRATA_API Result nvmlDeviceGetNvLinkState(void*, unsigned, unsigned* active)
{
    *active = 0;
    return kNotSupported;
}

STRATA_API Result nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*)
{
    return kNotSupported;
}

STRATA_API Result nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*)
{
    return kNotSupported;
}

// The fabric is "not supported" in the structure, not in the status: LibTorch asserts on the status.
STRATA_API Result nvmlDeviceGetGpuFabricInfoV(void*, void*)
{
    return 0;
}

} // namespace strata::simgpu
