// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/libtorch.h"

#include <ATen/record_function.h>
#include <type_traits>
#include <utility>

namespace strata::hook {

/// What it takes to listen to LibTorch's operators and ranges (ATen/record_function.h), by its own functions.
struct Observers {
    at::CallbackHandle (*add)(at::RecordFunctionCallback) = nullptr;
    void (*remove)(at::CallbackHandle) = nullptr;
    const char* (*name)(const at::RecordFunction*) = nullptr;

    [[nodiscard]] bool areKnown() const { return add && remove && name; }
};

/// Looks them up. May allocate.
inline Observers findObservers()
{
    Observers found;
    const auto function = [](auto& to, const char* symbol) {
        to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(find(symbol, "libtorch_cpu.so"));
    };
    function(found.add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
    function(found.remove, "_ZN2at14removeCallbackEm");
    function(found.name, "_ZNK2at14RecordFunction4nameEv");
    return found;
}

/// Every operator, with its inputs: as torch.profiler sees them with record_shapes=True.
template <class Begin, class End> at::RecordFunctionCallback onOperators(Begin begin, End end)
{
    return std::move(at::RecordFunctionCallback(begin, end)
                         .needsInputs(true)
                         .scopes({ at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION }));
}

} // namespace strata::hook
