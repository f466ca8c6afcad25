// SPDX-License-Identifier: Apache-2.0
// The structures that cross the CUDA interfaces, laid out as CUDA 12 and 13 do. STRATA_CUDA_MAJOR (12 or 13)
// chooses.
#pragma once

#include <cstddef>
#include <cstdint>

#define STRATA_API extern "C" __attribute__((visibility("default")))

namespace strata::simgpu::api {

using Result = int; ///< cudaError_t, CUresult, and the status types of the libraries above them

struct Dim3 {
    unsigned x, y, z;
};

struct DeviceProp {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luidDeviceNodeMask;
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    std::size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
#if STRATA_CUDA_MAJOR < 13
    int clockRate;
#endif
    std::size_t totalConstMem;
    int major;
    int minor;
    std::size_t textureAlignment;
    std::size_t texturePitchAlignment;
#if STRATA_CUDA_MAJOR < 13
    int deviceOverlap;
#endif
    int multiProcessorCount;
#if STRATA_CUDA_MAJOR < 13
    int kernelExecTimeoutEnabled;
#endif
    int integrated;
    int canMapHostMemory;
#if STRATA_CUDA_MAJOR < 13
    int computeMode;
#endif
    int maxTexture1D;
    int maxTexture1DMipmap;
#if STRATA_CUDA_MAJOR < 13
    int maxTexture1DLinear;
#endif
    int textureAndSurfaceLimits[37]; ///< maxTexture2D to maxSurfaceCubemapLayered: no tensor program asks
    std::size_t surfaceAlignment;
    int concurrentKernels;
    int eccEnabled;
    int pciBusId;
    int pciDeviceId;
    int pciDomainId;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
#if STRATA_CUDA_MAJOR < 13
    int memoryClockRate;
#endif
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupId;
    int hostNativeAtomicSupported;
#if STRATA_CUDA_MAJOR < 13
    int singleToDoublePrecisionPerfRatio;
#endif
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
#if STRATA_CUDA_MAJOR < 13
    int cooperativeMultiDeviceLaunch;
#endif
    std::size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    std::size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRdmaSupported;
    unsigned gpuDirectRdmaFlushWritesOptions;
    int gpuDirectRdmaWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
#if STRATA_CUDA_MAJOR < 13
    int reserved[63];
#else
    int deviceNumaConfig;
    int deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned gpuPciDeviceId;
    unsigned gpuPciSubsystemId;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
#endif
};

struct FuncAttributes {
    std::size_t sharedSizeBytes;
    std::size_t constSizeBytes;
    std::size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCa;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusterDimMustBeSet;
    int requiredCluster[3];
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
};

struct PointerAttributes {
    int type;
    int device;
    void* devicePointer;
    void* hostPointer;
#if STRATA_CUDA_MAJOR >= 13
    long reserved[8];
#endif
};

struct IpcHandle {
    char bytes[64];
};

struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    std::size_t dynamicSharedBytes;
    void* stream;
    void* attributes;
    unsigned attributeCount;
};

struct MemLocation {
    int type;
    int id;
};

struct AllocationProp {
    int type;
    int requestedHandleTypes;
    MemLocation location;
    void* win32HandleMetaData;
    unsigned char flags[8];
};

/// The head of cudaGraphNodeParams for a conditional node.
struct ConditionalNodeParams {
    int type;
    int reserved[3];
    unsigned long long handle;
    int conditionalType;
    unsigned size;
    void** bodies;
};

static_assert(sizeof(FuncAttributes) == 144);
static_assert(sizeof(LaunchConfig) == 56);
static_assert(sizeof(AllocationProp) == 32);
#if STRATA_CUDA_MAJOR >= 13
static_assert(sizeof(DeviceProp) == 1008 && offsetof(DeviceProp, multiProcessorCount) == 384);
static_assert(offsetof(DeviceProp, surfaceAlignment) == 552 && offsetof(DeviceProp, clusterLaunch) == 748);
static_assert(sizeof(PointerAttributes) == 88);
#else
static_assert(sizeof(DeviceProp) == 1032 && offsetof(DeviceProp, multiProcessorCount) == 388);
static_assert(offsetof(DeviceProp, surfaceAlignment) == 568 && offsetof(DeviceProp, clusterLaunch) == 772);
static_assert(sizeof(PointerAttributes) == 24);
#endif

} // namespace strata::simgpu::api
