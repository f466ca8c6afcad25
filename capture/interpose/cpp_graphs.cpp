// SPDX-License-Identifier: Apache-2.0
// Stands between a C++ program and LibTorch's CUDA graphs, whose operators nobody sees. Python's come by here
// too. The signatures are the same in 1.13 and everything after it.
#include "capture/interpose/cpp_training.h"
#include "capture/interpose/libtorch_functions.h"

#include <cstdint>

namespace strata::interpose {

#define STRATA_REPLAY "_ZN2at4cuda9CUDAGraph6replayEv"

STRATA_INTERPOSED void strataReplay(void* graph) __asm__(STRATA_REPLAY);
void strataReplay(void* graph)
{
    static const auto real = functionBehind<decltype(&strataReplay)>(STRATA_REPLAY, "libtorch_cuda.so");
    onGraphUsed();
    real(graph);
}

#define STRATA_CAPTURE_GRAPH "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode"

/// A pool, as it is handed over in registers.
struct Pool {
    std::uint64_t owner, id;
};

STRATA_INTERPOSED void strataCaptureBegin(void* graph, Pool pool, int mode) __asm__(STRATA_CAPTURE_GRAPH);
void strataCaptureBegin(void* graph, Pool pool, int mode)
{
    static const auto real
        = functionBehind<decltype(&strataCaptureBegin)>(STRATA_CAPTURE_GRAPH, "libtorch_cuda.so");
    onGraphUsed();
    real(graph, pool, mode);
}

} // namespace strata::interpose
