// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <initializer_list>

namespace strata::interpose {

/// The definition behind ours of a function of the CUDA runtime, the simulated one or the real one; Python
/// may load the runtime where only its handle finds it. nullptr where the process has none. Any thread.
template <class Function> Function nextFunction(const char* name)
{
    if (void* found = dlsym(RTLD_NEXT, name))
        return reinterpret_cast<Function>(found);
    for (const char* library : { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" }) {
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (void* found = dlsym(handle, name))
                return reinterpret_cast<Function>(found);
        }
    }
    return nullptr;
}

} // namespace strata::interpose
