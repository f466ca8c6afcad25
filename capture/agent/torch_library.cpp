// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/torch_library.h"

#include <dlfcn.h>
#include <link.h>

namespace strata::agent {

namespace {

std::string folderOf(const std::string& path)
{
    return path.substr(0, path.rfind('/'));
}

} // namespace

bool findTorch(hook::TorchFiles& torch)
{
    void* library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    torch = hook::readTorchFiles(folderOf(map->l_name));
    return true;
}

std::string libraryFolder()
{
    Dl_info info{};
    static const int inside = 0;
    return dladdr(&inside, &info) != 0 && info.dli_fname ? folderOf(info.dli_fname) : ".";
}

const hook::Hook* loadHook(const std::string& path, std::string& why)
{
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    using EntryPoint = const hook::Hook* (*)();
    const auto entry = library ? reinterpret_cast<EntryPoint>(dlsym(library, hook::kHookEntry)) : nullptr;
    if (!entry) {
        const char* error = dlerror();
        why = (error ? error : path + ": is not a hook")
            + std::string(
                ": set XDG_CACHE_HOME to a folder whose programs may run, or remove the file to have it "
                "made again");
        return nullptr;
    }
    const hook::Hook* hook = entry();
    if (hook->abi != hook::kHookAbi) {
        why = path + ": of another Strata: install Strata again";
        return nullptr;
    }
    return hook;
}

} // namespace strata::agent
