// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/torch_library.h"

#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <set>

namespace strata::agent {

namespace {

constexpr const char* kPrefix = "libstrata_torch";

std::string folderOf(const std::string& path)
{
    return path.substr(0, path.rfind('/'));
}

/// The folder of the library that holds this code.
std::string ownFolder()
{
    Dl_info info{};
    static const int inside = 0;
    return dladdr(&inside, &info) != 0 && info.dli_fname ? folderOf(info.dli_fname) : ".";
}

/// What stands between the first two quotes behind `name`, in torch/version.py.
std::string quotedAfter(const std::string& line, const std::string& name)
{
    if (line.rfind(name, 0) != 0)
        return {};
    const std::size_t first = line.find('\'');
    const std::size_t last = first == line.npos ? first : line.find('\'', first + 1);
    return last == line.npos ? std::string{} : line.substr(first + 1, last - first - 1);
}

void readVersion(TorchLibrary& torch)
{
    if (const char* given = std::getenv("STRATA_TORCH_VERSION")) {
        torch.version = given;
        return;
    }
    std::ifstream python(folderOf(torch.folder) + "/version.py");
    for (std::string line; std::getline(python, line);) {
        if (const std::string version = quotedAfter(line, "__version__"); !version.empty())
            torch.version = version;
        if (const std::string cuda = quotedAfter(line, "cuda"); !cuda.empty())
            torch.cuda = cuda;
    }
    // The archives for C++ have a file with the version instead.
    if (torch.version.empty()) {
        std::ifstream file(folderOf(torch.folder) + "/build-version");
        std::getline(file, torch.version);
    }
}

std::string minorOf(const std::string& version)
{
    const std::size_t dot = version.find('.');
    return dot == version.npos ? version : version.substr(0, version.find('.', dot + 1));
}

std::string availableHooks(const std::string& folder)
{
    std::set<std::string> found;
    if (DIR* directory = opendir(folder.c_str())) {
        while (const dirent* entry = readdir(directory)) {
            const std::string name = entry->d_name;
            if (name.rfind(kPrefix, 0) == 0)
                found.insert(
                    name.substr(std::string(kPrefix).size(), name.find('-') - std::string(kPrefix).size()));
        }
        closedir(directory);
    }
    std::string list;
    for (const std::string& version : found)
        list += (list.empty() ? "" : ", ") + version;
    return list;
}

} // namespace

bool findTorch(TorchLibrary& torch)
{
    void* library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    const link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        torch.folder = folderOf(map->l_name);
    if (void* core = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD))
        torch.newStrings = dlsym(core, "_ZN3c105ErrorC1ENS_14SourceLocationESs") == nullptr;
    readVersion(torch);
    return true;
}

const hook::Hook* loadHook(const TorchLibrary& torch, std::string& why)
{
    if (torch.version.empty()) {
        why = torch.folder
            + ": no file beside this LibTorch tells its version: set STRATA_TORCH_VERSION, as in "
              "STRATA_TORCH_VERSION=2.6.0";
        return nullptr;
    }
    const std::string folder = ownFolder();
    const std::string name = kPrefix + minorOf(torch.version) + (torch.newStrings ? "-abi1.so" : "-abi0.so");
    void* library = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    using EntryPoint = const hook::Hook* (*)();
    const auto entry = library ? reinterpret_cast<EntryPoint>(dlsym(library, hook::kHookEntry)) : nullptr;
    if (!entry) {
        const char* error = dlerror();
        const std::string here = availableHooks(folder);
        why = "torch " + torch.version + ": this Strata records "
            + (here.empty() ? "no version of torch" : "torch " + here)
            + ": install one of these, or a Strata that was built with the headers of this one ("
            + (error ? error : name + " is not a hook") + ")";
        return nullptr;
    }
    const hook::Hook* hook = entry();
    if (hook->abi != hook::kHookAbi) {
        why = folder + "/" + name + ": of another Strata: install Strata again";
        return nullptr;
    }
    return hook;
}

} // namespace strata::agent
