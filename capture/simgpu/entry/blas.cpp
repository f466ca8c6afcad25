// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuBLASLt. Computations do nothing; what writes something that the host reads is here.
#include "capture/simgpu/entry/activity.h"

#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;

struct BlasHandle {
    void* stream = nullptr;
    int pointerMode = 0;
    int mathMode = 0;
};

BlasHandle* handleOf(void* handle)
{
    return static_cast<BlasHandle*>(handle);
}

constexpr int kBlasVersion = STRATA_CUDA_MAJOR >= 13 ? 130200 : 120900;
} // namespace

STRATA_API Result cublasCreate_v2(void** handle)
{
    *handle = new BlasHandle;
    return 0;
}

STRATA_API Result cublasDestroy_v2(void* handle)
{
    delete handleOf(handle);
    return 0;
}

STRATA_API Result cublasGetVersion_v2(void*, int* version)
{
    *version = kBlasVersion;
    return 0;
}

STRATA_API Result cublasGetProperty(int which, int* value)
{
    *value = which == 0 ? kBlasVersion / 10000 : which == 1 ? kBlasVersion / 100 % 100 : 0;
    return 0;
}

STRATA_API Result cublasGetStream_v2(void* handle, void** stream)
{
    *stream = handleOf(handle)->stream;
    return 0;
}

STRATA_API Result cublasSetStream_v2(void* handle, void* stream)
{
    handleOf(handle)->stream = stream;
    return 0;
}

STRATA_API Result cublasGetPointerMode_v2(void* handle, int* mode)
{
    *mode = handleOf(handle)->pointerMode;
    return 0;
}

STRATA_API Result cublasSetPointerMode_v2(void* handle, int mode)
{
    handleOf(handle)->pointerMode = mode;
    return 0;
}

STRATA_API Result cublasGetMathMode(void* handle, int* mode)
{
    *mode = handleOf(handle)->mathMode;
    return 0;
}

STRATA_API Result cublasSetMathMode(void* handle, int mode)
{
    handleOf(handle)->mathMode = mode;
    return 0;
}

STRATA_API Result cublasGetSmCountTarget(void*, int* count)
{
    *count = 0;
    return 0;
}

STRATA_API Result cublasGetAtomicsMode(void*, int* mode)
{
    *mode = 0;
    return 0;
}

STRATA_API const char* cublasGetStatusString(Result status)
{
    return status == 0 ? "success" : "not supported by the simulated device";
}

STRATA_API const char* cublasGetStatusName(Result status)
{
    return status == 0 ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}

// Batched solvers report into host memory.
#define STRATA_BATCHED(type)                                                                                 \
    STRATA_API Result cublas##type##geqrfBatched(void* handle, int, int, void*, int, void*, int* info, int)  \
    {                                                                                                        \
        performLibrary("cublas" #type "geqrfBatched", handleOf(handle)->stream);                             \
        *info = 0;                                                                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    STRATA_API Result cublas##type##getrsBatched(                                                            \
        void* handle, int, int, int, const void*, int, const int*, void*, int, int* info, int)               \
    {                                                                                                        \
        performLibrary("cublas" #type "getrsBatched", handleOf(handle)->stream);                             \
        *info = 0;                                                                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    STRATA_API Result cublas##type##gelsBatched(                                                             \
        void* handle, int, int, int, int, void*, int, void*, int, int* info, int*, int)                      \
    {                                                                                                        \
        performLibrary("cublas" #type "gelsBatched", handleOf(handle)->stream);                              \
        *info = 0;                                                                                           \
        return 0;                                                                                            \
    }
STRATA_BATCHED(S)
STRATA_BATCHED(D)
STRATA_BATCHED(C)
STRATA_BATCHED(Z)

STRATA_API std::size_t cublasLtGetVersion()
{
    return static_cast<std::size_t>(kBlasVersion);
}

STRATA_API std::size_t cublasLtGetCudartVersion()
{
    return static_cast<std::size_t>(kCudaVersion);
}

// One algorithm that needs no workspace of its own: LibTorch allocates the workspace it offers either way.
STRATA_API Result cublasLtMatmulAlgoGetHeuristic(
    void*, void*, void*, void*, void*, void*, void*, int wanted, void* results, int* found)
{
    constexpr std::size_t kResultBytes = 96;
    *found = wanted > 0 ? 1 : 0;
    if (wanted > 0)
        std::memset(results, 0, kResultBytes);
    return 0;
}

STRATA_API Result cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, void* algorithm)
{
    constexpr std::size_t kAlgorithmBytes = 64;
    std::memset(algorithm, 0, kAlgorithmBytes);
    return 0;
}

STRATA_API Result cublasLtMatmulAlgoCheck(void*, void*, void*, void*, void*, void*, const void*, void* result)
{
    constexpr std::size_t kResultBytes = 96;
    std::memset(result, 0, kResultBytes);
    return 0;
}

STRATA_API Result cublasLtMatmulAlgoConfigGetAttribute(
    const void*, int, void* value, std::size_t bytes, std::size_t* written)
{
    std::memset(value, 0, bytes);
    if (written)
        *written = bytes;
    return 0;
}

} // namespace strata::simgpu
