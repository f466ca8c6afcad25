// SPDX-License-Identifier: Apache-2.0
#include "capture/hook_maker/make_hook.h"

#include "capture/hook_maker/compile.h"
#include "capture/hook_maker/hook_cache.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace strata::hook {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPartial = ".partial";
constexpr const char* kFailed = ".failed";

/// What is missing of all that a hook is made of; empty where nothing is.
std::string whatLacks(const TorchFiles& torch, const fs::path& libraries)
{
    std::error_code error;
    if (torch.version.empty())
        return torch.folder.string()
            + ": no file beside this LibTorch tells its version: set STRATA_TORCH_VERSION, as in "
              "STRATA_TORCH_VERSION=2.6.0";
    if (torch.headers.empty())
        return torch.folder.string()
            + ": this LibTorch came without the headers of its CUDA part (c10/cuda): install one from PyPI "
              "or "
              "pytorch.org, which has them";
    if (!fs::exists(compiledFile(libraries), error))
        return compiledFile(libraries).string() + ": not there: install Strata again";
    return {};
}

/// The first folder that can be written to and is this user's own.
tl::expected<fs::path, std::string> folderToKeep()
{
    std::string why;
    for (const fs::path& folder : hookFolders()) {
        std::error_code error;
        fs::create_directories(folder.parent_path(), error);
        if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
            why += folder.string() + ": " + std::strerror(errno) + "; ";
        else if (!isOwn(folder))
            why += folder.string() + ": others may write there; ";
        else if (access(folder.c_str(), W_OK | X_OK) != 0)
            why += folder.string() + ": " + std::strerror(errno) + "; ";
        else
            return folder;
    }
    return tl::unexpected(
        why.substr(0, why.size() - 2) + ": set XDG_CACHE_HOME to a folder that can be written to");
}

/// Of a folder, among all processes; released when the process ends, however it does.
class FolderLock {
public:
    explicit FolderLock(const fs::path& folder)
        : m_file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        using namespace std::chrono_literals;
        constexpr auto kPatience = 300s;
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (m_file >= 0 && !m_held && std::chrono::steady_clock::now() < end) {
            m_held = flock(m_file, LOCK_EX | LOCK_NB) == 0;
            if (!m_held)
                std::this_thread::sleep_for(50ms);
        }
    }
    ~FolderLock()
    {
        if (m_file >= 0)
            close(m_file);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    [[nodiscard]] bool isHeld() const { return m_held; }

private:
    int m_file;
    bool m_held = false;
};

/// Under the lock: what others left unfinished is nobody's.
void removePartial(const fs::path& folder)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == kPartial)
            fs::remove(entry.path(), error);
    }
}

/// What another process was told while this one waited; empty where nobody tried in between.
std::string failedSince(const fs::path& note, const fs::file_time_type& begin)
{
    std::error_code error;
    const auto written = fs::last_write_time(note, error);
    if (error || written < begin)
        return {};
    std::ifstream file(note);
    std::string text;
    std::getline(file, text);
    return text;
}

tl::expected<fs::path, std::string> compileInto(const TorchFiles& torch, const fs::path& libraries,
    const fs::path& kept, const std::function<void()>& beforeCompiling)
{
    const fs::path note = kept.string() + kFailed;
    const auto begin = fs::file_time_type::clock::now();
    const FolderLock lock(kept.parent_path());
    std::error_code error;
    if (isOwn(kept))
        return kept;
    if (!lock.isHeld())
        return tl::unexpected(kept.parent_path().string()
            + ": another process has been making a hook there for minutes: end it, or set XDG_CACHE_HOME to "
              "another folder");
    if (const std::string why = failedSince(note, begin); !why.empty())
        return tl::unexpected(why);
    removePartial(kept.parent_path());
    removeUnused(kept.parent_path());
    if (beforeCompiling)
        beforeCompiling();
    const fs::path partial = kept.string() + kPartial;
    if (const auto compiled = compileHook(torch, libraries, partial); !compiled) {
        std::ofstream(note) << compiled.error() << '\n';
        fs::remove(partial, error);
        return tl::unexpected(compiled.error());
    }
    fs::permissions(partial, fs::perms::owner_all, error);
    fs::remove(note, error);
    fs::rename(partial, kept, error);
    if (error)
        return tl::unexpected(kept.string() + ": " + error.message()
            + ": set XDG_CACHE_HOME to a folder that can be written to");
    return kept;
}

} // namespace

tl::expected<fs::path, std::string> makeHook(
    const TorchFiles& torch, const fs::path& libraries, const std::function<void()>& beforeCompiling)
{
    if (fs::path built = builtHook(torch, libraries); !built.empty())
        return built;
    if (std::string why = whatLacks(torch, libraries); !why.empty())
        return tl::unexpected(std::move(why));
    const std::string name = hookName(torch, libraries);
    if (fs::path kept = keptHook(name); !kept.empty())
        return kept;
    const auto folder = folderToKeep();
    if (!folder)
        return tl::unexpected(folder.error());
    return compileInto(torch, libraries, *folder / name, beforeCompiling);
}

} // namespace strata::hook
