// SPDX-License-Identifier: Apache-2.0
// Calls of libraries of which nothing is known but that they launch kernels (standins/rules.cpp lists them):
// each is one piece of work of the stream that its handle was given.
#include "capture/simgpu/entry/activity.h"

#include <string_view>

namespace strata::simgpu {

STRATA_API api::Result cublasGetStream_v2(void* handle, void** stream);
STRATA_API api::Result cudnnGetStream(void* handle, void** stream);

namespace {

using api::Result;

// Of these libraries all handles are one object: LibTorch sets the stream before each use, on the same
// thread.
thread_local void* t_solverStream = nullptr;
thread_local void* t_sparseStream = nullptr;
thread_local void* t_transformStream = nullptr;

void* streamOf(std::string_view function, void* handle)
{
    void* stream = nullptr;
    if (function.starts_with("cublas"))
        cublasGetStream_v2(handle, &stream);
    else if (function.starts_with("cudnn"))
        cudnnGetStream(handle, &stream);
    else if (function.starts_with("cusolver"))
        stream = t_solverStream;
    else if (function.starts_with("cusparse"))
        stream = t_sparseStream;
    else if (function.starts_with("cufft"))
        stream = t_transformStream;
    return stream;
}

} // namespace

/// What a stand-in calls for a function that does work; `handle` is the first argument of that.
STRATA_API Result strata_simgpu_work(const char* function, void* handle)
{
    if (isWorkSeen())
        performLibrary(function, streamOf(function, handle));
    return 0;
}

STRATA_API Result cusolverDnSetStream(void*, void* stream)
{
    t_solverStream = stream;
    return 0;
}

STRATA_API Result cusparseSetStream(void*, void* stream)
{
    t_sparseStream = stream;
    return 0;
}

STRATA_API Result cufftSetStream(int, void* stream)
{
    t_transformStream = stream;
    return 0;
}

} // namespace strata::simgpu
