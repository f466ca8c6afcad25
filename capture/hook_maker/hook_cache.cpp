// SPDX-License-Identifier: Apache-2.0
#include "capture/hook_maker/hook_cache.h"

#include "capture/hook_maker/compile.h"
#include "capture/hook_maker/include_walk.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::hook {

namespace fs = std::filesystem;

namespace {

constexpr const char* kHookPrefix = "libstrata_torch";
constexpr std::chrono::hours kUnusedFor{ 24 * 90 };

} // namespace

fs::path hookSource(const fs::path& libraries)
{
    return libraries / "hook-src";
}

fs::path builtHook(const TorchFiles& torch, const fs::path& libraries)
{
    const fs::path path = libraries
        / (kHookPrefix + torch.minorVersion() + (torch.newStrings ? "-abi1.so" : "-abi0.so"));
    std::error_code error;
    return torch.isRelease() && fs::exists(path, error) ? path : fs::path{};
}

std::string hookName(const TorchFiles& torch, const fs::path& libraries)
{
    if (torch.headers.empty() || torch.version.empty())
        return {};
    const std::uint64_t hash
        = hashWithIncludes(compiledFile(libraries), includeFolders(libraries, torch.headers));
    if (hash == 0)
        return {};
    char number[32];
    std::snprintf(number, sizeof number, "%016llx-%u", static_cast<unsigned long long>(hash), kRecipe);
    // "libstrata_", as all libraries of ours: frames of those are left out of stacks.
    return kHookPrefix + torch.version + "-cuda" + std::to_string(torch.cudaMajor)
        + (torch.newStrings ? "-abi1-" : "-abi0-") + number + ".so";
}

std::vector<fs::path> hookFolders()
{
    std::vector<fs::path> folders;
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (cache && *cache == '/')
        folders.push_back(fs::path(cache) / "strata" / "hooks");
    else if (home && *home == '/')
        folders.push_back(fs::path(home) / ".cache" / "strata" / "hooks");
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    folders.push_back((error ? fs::path("/tmp") : temporary) / ("strata-hooks-" + std::to_string(geteuid())));
    return folders;
}

bool isOwn(const fs::path& path)
{
    struct stat info { };
    return lstat(path.c_str(), &info) == 0 && !S_ISLNK(info.st_mode) && info.st_uid == geteuid()
        && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

fs::path keptHook(const std::string& name)
{
    if (name.empty())
        return {};
    for (const fs::path& folder : hookFolders()) {
        if (!isOwn(folder) || !isOwn(folder / name))
            continue;
        std::error_code error;
        fs::last_write_time(folder / name, fs::file_time_type::clock::now(), error); // it is in use
        return folder / name;
    }
    return {};
}

void removeUnused(const fs::path& folder)
{
    std::error_code error;
    const auto oldest = fs::file_time_type::clock::now() - kUnusedFor;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const bool ours = entry.path().filename().native().starts_with(kHookPrefix);
        if (ours && entry.last_write_time(error) < oldest && !error)
            fs::remove(entry.path(), error);
    }
}

fs::path findHook(const TorchFiles& torch, const fs::path& libraries)
{
    fs::path built = builtHook(torch, libraries);
    return !built.empty() ? built : keptHook(hookName(torch, libraries));
}

} // namespace strata::hook
