// SPDX-License-Identifier: Apache-2.0
// The calls of the runtime and the driver of which records are made: their numbers (cbid) and names in CUPTI,
// from cupti_runtime_cbid.h and cupti_driver_cbid.h, the same in CUDA 12.4 to 13.5. A call that is not here
// makes none.
#pragma once

#include <cstdint>

// clang-format off
#define STRATA_RUNTIME_CALLS(X)                                                                              \
    X(GetLastError, 10, "cudaGetLastError_v3020")                                                            \
    X(PeekAtLastError, 11, "cudaPeekAtLastError_v3020")                                                      \
    X(FuncGetAttributes, 15, "cudaFuncGetAttributes_v3020")                                                  \
    X(Malloc, 20, "cudaMalloc_v3020")                                                                        \
    X(Free, 22, "cudaFree_v3020")                                                                            \
    X(MallocHost, 25, "cudaMallocHost_v3020")                                                                \
    X(FreeHost, 26, "cudaFreeHost_v3020")                                                                    \
    X(HostAlloc, 27, "cudaHostAlloc_v3020")                                                                  \
    X(MemGetInfo, 30, "cudaMemGetInfo_v3020")                                                                \
    X(Memcpy, 31, "cudaMemcpy_v3020")                                                                        \
    X(Memcpy2D, 32, "cudaMemcpy2D_v3020")                                                                    \
    X(MemcpyToSymbol, 39, "cudaMemcpyToSymbol_v3020")                                                        \
    X(MemcpyFromSymbol, 40, "cudaMemcpyFromSymbol_v3020")                                                    \
    X(MemcpyAsync, 41, "cudaMemcpyAsync_v3020")                                                              \
    X(Memcpy2DAsync, 44, "cudaMemcpy2DAsync_v3020")                                                          \
    X(MemcpyToSymbolAsync, 47, "cudaMemcpyToSymbolAsync_v3020")                                              \
    X(Memset, 49, "cudaMemset_v3020")                                                                        \
    X(MemsetAsync, 51, "cudaMemsetAsync_v3020")                                                              \
    X(StreamCreate, 129, "cudaStreamCreate_v3020")                                                           \
    X(StreamSynchronize, 131, "cudaStreamSynchronize_v3020")                                                 \
    X(StreamQuery, 132, "cudaStreamQuery_v3020")                                                             \
    X(EventCreate, 133, "cudaEventCreate_v3020")                                                             \
    X(EventCreateWithFlags, 134, "cudaEventCreateWithFlags_v3020")                                           \
    X(EventRecord, 135, "cudaEventRecord_v3020")                                                             \
    X(EventDestroy, 136, "cudaEventDestroy_v3020")                                                           \
    X(EventSynchronize, 137, "cudaEventSynchronize_v3020")                                                   \
    X(EventQuery, 138, "cudaEventQuery_v3020")                                                               \
    X(EventElapsedTime, 139, "cudaEventElapsedTime_v3020")                                                   \
    X(StreamWaitEvent, 147, "cudaStreamWaitEvent_v3020")                                                     \
    X(PointerGetAttributes, 151, "cudaPointerGetAttributes_v4000")                                           \
    X(HostRegister, 152, "cudaHostRegister_v4000")                                                           \
    X(HostUnregister, 153, "cudaHostUnregister_v4000")                                                       \
    X(MemcpyPeer, 160, "cudaMemcpyPeer_v4000")                                                               \
    X(MemcpyPeerAsync, 161, "cudaMemcpyPeerAsync_v4000")                                                     \
    X(DeviceSynchronize, 165, "cudaDeviceSynchronize_v3020")                                                 \
    X(StreamCreateWithFlags, 198, "cudaStreamCreateWithFlags_v5000")                                         \
    X(StreamDestroy, 201, "cudaStreamDestroy_v5050")                                                         \
    X(StreamCreateWithPriority, 202, "cudaStreamCreateWithPriority_v5050")                                   \
    X(MallocManaged, 206, "cudaMallocManaged_v6000")                                                         \
    X(OccupancyMaxActiveBlocks, 210, "cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050")                  \
    X(LaunchKernel, 211, "cudaLaunchKernel_v7000")                                                           \
    X(OccupancyMaxActiveBlocksWithFlags, 251, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000") \
    X(MemPrefetchAsync, 252, "cudaMemPrefetchAsync_v8000")                                                   \
    X(LaunchCooperativeKernel, 269, "cudaLaunchCooperativeKernel_v9000")                                     \
    X(FuncSetAttribute, 273, "cudaFuncSetAttribute_v9000")                                                   \
    X(LaunchHostFunc, 284, "cudaLaunchHostFunc_v10000")                                                      \
    X(GraphLaunch, 311, "cudaGraphLaunch_v10000")                                                            \
    X(GraphExecDestroy, 313, "cudaGraphExecDestroy_v10000")                                                  \
    X(GraphDestroy, 314, "cudaGraphDestroy_v10000")                                                          \
    X(StreamBeginCapture, 315, "cudaStreamBeginCapture_v10000")                                              \
    X(StreamIsCapturing, 317, "cudaStreamIsCapturing_v10000")                                                \
    X(StreamEndCapture, 319, "cudaStreamEndCapture_v10000")                                                  \
    X(EventRecordWithFlags, 370, "cudaEventRecordWithFlags_v11010")                                          \
    X(MallocAsync, 373, "cudaMallocAsync_v11020")                                                            \
    X(FreeAsync, 375, "cudaFreeAsync_v11020")                                                                \
    X(MallocFromPoolAsync, 391, "cudaMallocFromPoolAsync_v11020")                                            \
    X(GraphInstantiateWithFlags, 418, "cudaGraphInstantiateWithFlags_v11040")                                \
    X(LaunchKernelExC, 430, "cudaLaunchKernelExC_v11060")                                                    \
    X(GraphInstantiate, 443, "cudaGraphInstantiate_v12000")                                                  \
    X(MemPrefetchAsyncTo, 449, "cudaMemPrefetchAsync_v12020")

#define STRATA_DRIVER_CALLS(X)                                                                               \
    X(DriverCtxSynchronize, 17, "cuCtxSynchronize")                                                          \
    X(DriverMemsetD8Async, 216, "cuMemsetD8Async")                                                           \
    X(DriverMemsetD32Async, 220, "cuMemsetD32Async")                                                         \
    X(DriverMemAlloc, 243, "cuMemAlloc_v2")                                                                  \
    X(DriverMemFree, 245, "cuMemFree_v2")                                                                    \
    X(DriverMemcpyHtoD, 276, "cuMemcpyHtoD_v2")                                                              \
    X(DriverMemcpyHtoDAsync, 277, "cuMemcpyHtoDAsync_v2")                                                    \
    X(DriverMemcpyDtoH, 278, "cuMemcpyDtoH_v2")                                                              \
    X(DriverMemcpyDtoHAsync, 279, "cuMemcpyDtoHAsync_v2")                                                    \
    X(DriverLaunchKernel, 307, "cuLaunchKernel")                                                             \
    X(DriverLaunchCooperativeKernel, 477, "cuLaunchCooperativeKernel")                                       \
    X(DriverLaunchKernelEx, 652, "cuLaunchKernelEx")
// clang-format on

namespace strata::simgpu {

constexpr std::uint32_t kDriverCalls = 0x10000; ///< added to the numbers of calls of the driver

enum class Api : std::uint32_t {
#define STRATA_CALL(name, number, text) name = number,
    STRATA_RUNTIME_CALLS(STRATA_CALL)
#undef STRATA_CALL
#define STRATA_CALL(name, number, text) name = kDriverCalls + number,
        STRATA_DRIVER_CALLS(STRATA_CALL)
#undef STRATA_CALL
};

/// As CUPTI names a call; nullptr for a number that is not here.
constexpr const char* nameOf(Api call)
{
    switch (call) {
#define STRATA_CALL(name, number, text)                                                                      \
    case Api::name:                                                                                          \
        return text;
        STRATA_RUNTIME_CALLS(STRATA_CALL)
        STRATA_DRIVER_CALLS(STRATA_CALL)
#undef STRATA_CALL
    }
    return nullptr;
}

} // namespace strata::simgpu
