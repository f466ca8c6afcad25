// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <atomic>
#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

namespace strata::hook {

namespace allocation = c10::cuda::CUDACachingAllocator;
using allocation::CUDAAllocator;
using PoolId = decltype(allocation::SegmentInfo{}.owner_private_pool_id);

inline Callbacks g_callbacks; // written once, before anything is attached

/// A program that is not position-independent may hold the live copy of a variable: global scope first.
/// Python loads LibTorch outside of it: then the library itself.
inline void* find(const char* symbol, const char* library)
{
    if (void* found = dlsym(RTLD_DEFAULT, symbol))
        return found;
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, symbol) : nullptr;
}

inline CUDAAllocator* live()
{
    void* variable = find("_ZN3c104cuda20CUDACachingAllocator9allocatorE", "libc10_cuda.so");
    return variable ? static_cast<std::atomic<CUDAAllocator*>*>(variable)->load() : nullptr;
}

} // namespace strata::hook
