// SPDX-License-Identifier: Apache-2.0
#include "model/wire/link/link_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace strata::wire {

namespace {

bool isFolder(const std::string& path)
{
    struct stat info { };
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// That a session of the user has of its own; XDG_RUNTIME_DIR may name another user's, as under sudo.
bool isOwnFolder(const std::string& path, uid_t user)
{
    struct stat info { };
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == user;
}

std::string runtimeFolder()
{
    const char* named = std::getenv("XDG_RUNTIME_DIR");
    return named && named[0] == '/' ? named : "";
}

std::vector<std::string> places(uid_t user)
{
    std::vector<std::string> found;
    if (const std::string named = runtimeFolder(); !named.empty() && isOwnFolder(named, user))
        found.push_back(named + "/strata");
    const std::string number = std::to_string(user);
    if (const std::string run = "/run/user/" + number; isOwnFolder(run, user))
        found.push_back(run + "/strata");
    found.push_back("/tmp/strata-" + number);
    const auto same = std::unique(found.begin(), found.end());
    found.erase(same, found.end());
    return found;
}

template <class Take> void eachEntry(const std::string& folder, const Take& take)
{
    DIR* const open = opendir(folder.c_str());
    if (!open)
        return;
    while (const dirent* entry = readdir(open))
        take(std::string_view(entry->d_name));
    closedir(open);
}

/// Why `path` is not what is looked for, of that user; `kind` is one of S_IFMT.
std::string whyNotOwn(
    const std::string& path, uid_t owner, mode_t kind, const char* isAnother, struct stat& info)
{
    if (lstat(path.c_str(), &info) != 0)
        return std::strerror(errno);
    if (S_ISLNK(info.st_mode))
        return "it is a link";
    if ((info.st_mode & S_IFMT) != kind)
        return isAnother;
    return info.st_uid == owner ? "" : "it belongs to another user";
}

void addTrusted(const std::string& folder, uid_t owner, std::vector<std::string>& found, std::string& why)
{
    struct stat info { };
    if (lstat(folder.c_str(), &info) != 0)
        return;
    const std::string problem = whyNotTrusted(folder, owner);
    if (problem.empty())
        found.push_back(folder);
    else
        why += folder + ": " + problem + "\n";
}

} // namespace

std::string whyNotTrusted(const std::string& folder, uid_t owner)
{
    struct stat info { };
    const std::string problem = whyNotOwn(folder, owner, S_IFDIR, "it is no folder", info);
    if (problem.empty() && (info.st_mode & 077) != 0)
        return "others may enter it (its mode is not 0700)";
    return problem;
}

std::string whyNoSocket(const std::string& path, uid_t owner)
{
    struct stat info { };
    return whyNotOwn(path, owner, S_IFSOCK, "it is no socket", info);
}

std::string makeLinkFolder(std::string& why)
{
    const uid_t user = geteuid();
    const std::string folder = places(user).front();
    if (mkdir(folder.c_str(), 0700) == 0)
        (void)!chmod(folder.c_str(), 0700); // whatever the mask of the process is
    else if (errno != EEXIST) {
        why = folder + ": " + std::strerror(errno);
        return {};
    }
    if (const std::string problem = whyNotTrusted(folder, user); !problem.empty()) {
        why = folder + ": " + problem;
        return {};
    }
    return folder;
}

std::vector<std::string> linkFolders(uid_t user, std::string& why)
{
    std::vector<std::string> found;
    for (const std::string& folder : places(user))
        addTrusted(folder, user, found, why);
    return found;
}

std::vector<std::string> linkFoldersOfAll(std::string& why)
{
    std::vector<std::string> found = linkFolders(geteuid(), why);
    const auto add = [&](const std::string& folder, std::string_view number) {
        char* end = nullptr;
        const std::string text(number);
        const unsigned long user = std::strtoul(text.c_str(), &end, 10);
        if (!text.empty() && *end == '\0' && std::ranges::find(found, folder) == found.end())
            addTrusted(folder, static_cast<uid_t>(user), found, why);
    };
    eachEntry("/run/user", [&](std::string_view name) {
        if (const std::string folder = "/run/user/" + std::string(name) + "/strata"; isFolder(folder))
            add(folder, name);
    });
    constexpr std::string_view kPrefix = "strata-";
    eachEntry("/tmp", [&](std::string_view name) {
        if (name.starts_with(kPrefix))
            add("/tmp/" + std::string(name), name.substr(kPrefix.size()));
    });
    return found;
}

void removeDeadSockets(const std::string& folder) noexcept
{
    try {
        eachEntry(folder, [&](std::string_view name) {
            const std::string path = folder + "/" + std::string(name);
            struct stat info { };
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            if (!name.ends_with(kSocketSuffix) || path.size() >= sizeof address.sun_path
                || lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode))
                return;
            path.copy(address.sun_path, sizeof address.sun_path - 1);
            const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            if (probe < 0)
                return;
            // A socket gets its name when it listens already: who refuses is gone.
            if (connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0
                && errno == ECONNREFUSED)
                unlink(path.c_str());
            close(probe);
        });
    } catch (...) {
        // No memory: they stay.
    }
}

} // namespace strata::wire
