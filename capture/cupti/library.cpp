// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/library.h"

#include <array>
#include <dlfcn.h>
#include <optional>

namespace strata::cupti {

namespace {

/// One that is loaded already, as by LibTorch, goes before one that could be.
void* load()
{
    constexpr std::array kNames{ "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8" };
    for (const char* const name : kNames)
        if (void* const found = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
            return found;
    const bool isCuda13 = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
    const bool isCuda12 = dlopen("libcudart.so.12", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
    return isCuda13 ? dlopen(kNames[0], RTLD_LAZY) : isCuda12 ? dlopen(kNames[1], RTLD_LAZY) : nullptr;
}

std::optional<Library> resolve(void* handle, std::string& why)
{
    Library library;
    const auto find = [&](auto& function, const char* name, bool isNeeded = true) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (!function && isNeeded && why.empty())
            why = std::string("this CUPTI has no ") + name + ": install the one of this CUDA";
    };
    find(library.registerCallbacks, "cuptiActivityRegisterCallbacks");
    find(library.registerClock, "cuptiActivityRegisterTimestampCallback", false);
    find(library.enable, "cuptiActivityEnable");
    find(library.disable, "cuptiActivityDisable");
    find(library.flush, "cuptiActivityFlushAll");
    find(library.next, "cuptiActivityGetNextRecord");
    find(library.dropped, "cuptiActivityGetNumDroppedRecords", false);
    find(library.callName, "cuptiGetCallbackName", false);
    find(library.resultText, "cuptiGetResultString", false);
    return why.empty() ? std::optional(library) : std::nullopt;
}

} // namespace

const Library* findLibrary(std::string& why)
{
    static std::string missing;
    static const std::optional<Library> found = []() -> std::optional<Library> {
        if (void* const handle = load())
            return resolve(handle, missing);
        missing = "there is no CUPTI (libcupti.so): install the package nvidia-cuda-cupti of this CUDA";
        return std::nullopt;
    }();
    why = missing;
    return found ? &*found : nullptr;
}

} // namespace strata::cupti
