// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/torch_hook_at_hand.h"

#include "capture/dryrun/native_allocator.h"
#include "capture/dryrun/peaks.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <string_view>

namespace strata::dryrun {

namespace {

/// Path of the hook that the recorder works with; empty without one.
std::string loadedHook()
{
    std::string found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
            if (!path.substr(path.rfind('/') + 1).starts_with("libstrata_torch"))
                return 0;
            *static_cast<std::string*>(to) = path;
            return 1;
        },
        &found);
    return found;
}

/// That of the launcher, if it is for the LibTorch that was loaded.
std::string namedHook()
{
    const char* const path = std::getenv(kHookVariable);
    const char* const torch = std::getenv(kHookTorchVariable);
    std::error_code error;
    if (!path || !*path || !torch || !std::filesystem::equivalent(torch, NativeAllocator::folder(), error))
        return {};
    return path;
}

} // namespace

const hook::Hook* torchHookAtHand(std::string& why)
{
    std::string path = loadedHook();
    if (path.empty())
        path = namedHook();
    if (path.empty()) {
        why = "no hook of this LibTorch is at hand, which operators are seen through";
        return nullptr;
    }
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    using EntryPoint = const hook::Hook* (*)();
    const auto entry = library ? reinterpret_cast<EntryPoint>(dlsym(library, hook::kHookEntry)) : nullptr;
    const hook::Hook* const found = entry ? entry() : nullptr;
    if (!found || found->abi != hook::kHookAbi || !found->watchOperators || !found->runningOperator) {
        why = "the hook of this LibTorch is of another Strata: install Strata again";
        return nullptr;
    }
    why.clear();
    return found;
}

} // namespace strata::dryrun
