// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <utility>

namespace strata::interpose {

// Nothing of LibTorch is compiled against. By the Itanium ABI and that of the processor, an object whose
// class has a destructor comes back through a hidden address, a std::function that is passed by value travels
// as the address of a temporary, and a std::vector is three addresses; none of it depends on the ABI of
// strings.

/// Not trivial to copy, so that it is returned as at::Tensor is; what it holds is the caller's.
struct ReturnedTensor {
    ReturnedTensor(ReturnedTensor&& other) noexcept
        : implementation(std::exchange(other.implementation, nullptr))
    {
    }
    ReturnedTensor& operator=(ReturnedTensor&&) = delete;
    ~ReturnedTensor() { }
    void* implementation;
};
static_assert(sizeof(ReturnedTensor) == sizeof(void*));

/// The definition behind ours of a function or variable of LibTorch; Python loads LibTorch where only its
/// handle finds it. nullptr where the process has none.
inline void* behind(const char* name, const char* library = "libtorch_cpu.so")
{
    if (void* found = dlsym(RTLD_NEXT, name))
        return found;
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : nullptr;
}

template <class Function> Function functionBehind(const char* name, const char* library = "libtorch_cpu.so")
{
    if (void* found = behind(name, library))
        return reinterpret_cast<Function>(found);
    std::fprintf(stderr, "strata: %s: called, but not found in %s\n", name, library);
    std::abort();
}

} // namespace strata::interpose

#define STRATA_INTERPOSED __attribute__((visibility("default")))
