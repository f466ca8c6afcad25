// SPDX-License-Identifier: Apache-2.0
// CUDA runtime: devices, their properties, errors, versions.
#include "capture/simgpu/entry/activity.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace strata::simgpu {

namespace {

using api::Result;

bool isDevice(int device)
{
    return device >= 0 && device < machine().settings.devices;
}

int clamp(std::uint64_t value)
{
    return static_cast<int>(std::min<std::uint64_t>(value, 0x7fffffff));
}

/// Numbered as cudaDeviceAttr and CUdevice_attribute, which agree. What is not listed is a feature, and
/// there.
int attributeValue(int attribute, int device)
{
    const Settings& settings = machine().settings;
    const ArchitectureLimits& limits = machine().limits;
    switch (attribute) {
    case 1: // threads in a block, and its x and y
    case 2:
    case 3:
        return 1024;
    case 4:
        return 64;
    case 5:
        return 0x7fffffff;
    case 6:
    case 7:
        return 65535;
    case 8:
        return 48 << 10;
    case 9:
        return 64 << 10;
    case 10:
        return 32;
    case 11:
        return 0x7fffffff;
    case 12:
    case 82:
        return 65536;
    case 13: // core clock in kHz
        return 1410000;
    case 14:
        return 512;
    case 16:
        return settings.multiprocessors;
    case 17: // run time limit, integrated, compute mode
    case 18:
    case 20:
        return 0;
    case 33:
        return device + 1;
    case 34:
    case 35:
    case 50:
        return 0;
    case 36: // memory clock in kHz
        return 1512000;
    case 37:
        return settings.memoryBusBits;
    case 38:
        return clamp(settings.l2Bytes);
    case 39:
        return limits.threadsPerMultiprocessor;
    case 40:
        return 3;
    case 51:
        return 32;
    case 75:
        return settings.computeMajor;
    case 76:
        return settings.computeMinor;
    case 81:
        return limits.sharedPerMultiprocessor;
    case 84: // several GPUs on one board
    case 85:
    case 86:
    case 88:
    case 100:
    case 101:
        return 0;
    case 97:
        return limits.sharedPerBlockOptin;
    case 98: // stream memory operations
        return 0;
    case 106:
        return limits.blocksPerMultiprocessor;
    case 108:
    case 109:
        return clamp(settings.l2Bytes * 3 / 4);
    case 111:
        return settings.computeMajor >= 8 ? 1024 : 0;
    case 116: // direct RDMA and its handles
    case 117:
    case 118:
        return 0;
    case 119:
        return 1;
    case 120: // clusters
        return settings.computeMajor >= 9 ? 1 : 0;
    case 128: // fabric handles
        return 0;
    case 130: // NUMA nodes of devices
    case 131:
    case 134:
        return -1;
    case 132: // multicast
    case 133:
    case 135:
    case 138:
    case 139:
    case 140:
    case 143:
        return 0;
    default:
        return 1;
    }
}

void fillProperties(api::DeviceProp& prop, int device)
{
    const Settings& settings = machine().settings;
    std::memset(&prop, 0, sizeof prop);
    std::snprintf(prop.name, sizeof prop.name, "%s", settings.name.c_str());
    std::memcpy(prop.uuid, "strata-simgpu", 13);
    prop.uuid[15] = static_cast<char>(device);
    prop.totalGlobalMem = settings.capacityBytes;
    const auto value = [&](int attribute) { return attributeValue(attribute, device); };
    const auto size = [&](int attribute) { return static_cast<std::size_t>(value(attribute)); };
    prop.sharedMemPerBlock = size(8);
    prop.regsPerBlock = value(12);
    prop.warpSize = value(10);
    prop.memPitch = size(11);
    prop.maxThreadsPerBlock = value(1);
    for (int i = 0; i < 3; ++i) {
        prop.maxThreadsDim[i] = value(2 + i);
        prop.maxGridSize[i] = value(5 + i);
    }
    prop.totalConstMem = size(9);
    prop.major = settings.computeMajor;
    prop.minor = settings.computeMinor;
    prop.textureAlignment = size(14);
    prop.texturePitchAlignment = size(51);
    prop.multiProcessorCount = value(16);
    prop.canMapHostMemory = value(19);
    prop.surfaceAlignment = size(14);
    prop.concurrentKernels = value(31);
    prop.eccEnabled = value(32);
    prop.pciBusId = value(33);
    prop.asyncEngineCount = value(40);
    prop.unifiedAddressing = value(41);
    prop.memoryBusWidth = value(37);
    prop.l2CacheSize = value(38);
    prop.persistingL2CacheMaxSize = value(108);
    prop.maxThreadsPerMultiProcessor = value(39);
    prop.streamPrioritiesSupported = value(78);
    prop.globalL1CacheSupported = value(79);
    prop.localL1CacheSupported = value(80);
    prop.sharedMemPerMultiprocessor = size(81);
    prop.regsPerMultiprocessor = value(82);
    prop.managedMemory = value(83);
    prop.concurrentManagedAccess = value(89);
    prop.computePreemptionSupported = value(90);
    prop.cooperativeLaunch = value(95);
    prop.sharedMemPerBlockOptin = size(97);
    prop.maxBlocksPerMultiProcessor = value(106);
    prop.accessPolicyMaxWindowSize = value(109);
    prop.reservedSharedMemPerBlock = size(111);
    prop.hostRegisterSupported = value(99);
    prop.memoryPoolsSupported = value(115);
    prop.memoryPoolSupportedHandleTypes = static_cast<unsigned>(value(119));
    prop.ipcEventSupported = value(125);
    prop.clusterLaunch = value(120);
#if STRATA_CUDA_MAJOR < 13
    prop.clockRate = value(13);
    prop.memoryClockRate = value(36);
    prop.deviceOverlap = value(15);
    prop.singleToDoublePrecisionPerfRatio = 2;
    prop.cooperativeMultiDeviceLaunch = 1;
#endif
}

} // namespace

int deviceAttribute(int attribute, int device)
{
    return attributeValue(attribute, device);
}

STRATA_API Result cudaGetDeviceCount(int* count)
{
    *count = machine().settings.devices;
    return remember(*count == 0 ? Status::NoDevice : Status::Ok);
}

STRATA_API Result cudaGetDevice(int* device)
{
    *device = currentDevice();
    return 0;
}

STRATA_API Result cudaSetDevice(int device)
{
    if (!isDevice(device))
        return remember(Status::InvalidDevice);
    currentDevice() = device;
    return 0;
}

STRATA_API Result cudaInitDevice(int device, unsigned, unsigned)
{
    return remember(isDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cudaDeviceReset()
{
    return 0;
}

STRATA_API Result cudaDeviceSynchronize()
{
    const ApiCall call(Api::DeviceSynchronize);
    call.synchronizeDevice();
    const auto lock = locked();
    Machine& all = machine();
    if (all.streams.anyCapture())
        return remember(Status::CaptureUnsupported);
    all.streams.synchronizeAll();
    const int device = currentDevice();
    if (device < all.memory.devices())
        all.memory.trimPool(device, all.memory.pool(device).releaseThreshold);
    return 0;
}

STRATA_API Result cudaGetDeviceProperties(api::DeviceProp* prop, int device)
{
    if (!isDevice(device))
        return remember(Status::InvalidDevice);
    fillProperties(*prop, device);
    return 0;
}

STRATA_API Result cudaGetDeviceProperties_v2(api::DeviceProp* prop, int device)
{
    return cudaGetDeviceProperties(prop, device);
}

STRATA_API Result cudaDeviceGetAttribute(int* value, int attribute, int device)
{
    if (!isDevice(device))
        return remember(Status::InvalidDevice);
    *value = attributeValue(attribute, device);
    return 0;
}

STRATA_API Result cudaDeviceGetPCIBusId(char* text, int length, int device)
{
    if (!isDevice(device))
        return remember(Status::InvalidDevice);
    std::snprintf(
        text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device + 1));
    return 0;
}

STRATA_API Result cudaDeviceGetByPCIBusId(int* device, const char* text)
{
    unsigned domain = 0;
    unsigned bus = 0;
    if (std::sscanf(text, "%x:%x", &domain, &bus) != 2 || !isDevice(static_cast<int>(bus) - 1))
        return remember(Status::InvalidValue);
    *device = static_cast<int>(bus) - 1;
    return 0;
}

STRATA_API Result cudaDeviceCanAccessPeer(int* can, int device, int peer)
{
    if (!isDevice(device) || !isDevice(peer))
        return remember(Status::InvalidDevice);
    *can = device != peer;
    return 0;
}

STRATA_API Result cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    return remember(isDevice(peer) && peer != currentDevice() ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cudaDeviceDisablePeerAccess(int peer)
{
    return remember(isDevice(peer) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return 0;
}

STRATA_API Result cudaDeviceSetLimit(int, std::size_t)
{
    return 0;
}

STRATA_API Result cudaDeviceGetLimit(std::size_t* value, int)
{
    *value = std::size_t{ 1 } << 20;
    return 0;
}

STRATA_API Result cudaDriverGetVersion(int* version)
{
    *version = machine().settings.devices == 0 ? 0 : kCudaVersion;
    return 0;
}

STRATA_API Result cudaRuntimeGetVersion(int* version)
{
    *version = kCudaVersion;
    return 0;
}

STRATA_API Result cudaGetLastError()
{
    const ApiCall call(Api::GetLastError);
    return static_cast<Result>(takeLastError());
}

STRATA_API Result cudaPeekAtLastError()
{
    const ApiCall call(Api::PeekAtLastError);
    return static_cast<Result>(peekLastError());
}

STRATA_API const char* cudaGetErrorString(Result status)
{
    return statusText(status);
}

STRATA_API const char* cudaGetErrorName(Result status)
{
    return statusName(status);
}

STRATA_API Result cudaProfilerStart()
{
    return 0;
}

STRATA_API Result cudaProfilerStop()
{
    return 0;
}

namespace {

constexpr int kEntryPointFound = 0;
constexpr int kEntryPointMissing = 1;

Result findEntryPoint(const char* symbol, void** function, int* found)
{
    *function = dlsym(RTLD_DEFAULT, symbol);
    if (found)
        *found = *function ? kEntryPointFound : kEntryPointMissing;
    return 0;
}

} // namespace

STRATA_API Result cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned, unsigned long long, int* found)
{
    return findEntryPoint(symbol, function, found);
}

STRATA_API Result cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long, int* found)
{
    return findEntryPoint(symbol, function, found);
}

} // namespace strata::simgpu
