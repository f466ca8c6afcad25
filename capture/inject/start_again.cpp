// SPDX-License-Identifier: Apache-2.0
#include "capture/inject/start_again.h"

#include "capture/simgpu/launch/late_device.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <link.h>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>
#include <vector>

namespace strata::inject {

namespace {

const char* variable(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

/// Empty where there is no such file.
std::string realPath(const std::string& path)
{
    char buffer[PATH_MAX];
    return realpath(path.c_str(), buffer) ? buffer : "";
}

std::string absolutePath(const std::string& path)
{
    if (path.starts_with('/'))
        return path;
    char folder[PATH_MAX];
    return getcwd(folder, sizeof folder) ? std::string(folder) + '/' + path : path;
}

std::string_view fileName(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

/// As the interpreter finds out what it was called, by which it finds its environment: `executable` is where
/// the links of that name end.
std::string interpreterName(const std::string& name, const std::string& executable)
{
    std::vector<std::string> candidates;
    if (name.find('/') != name.npos)
        candidates.push_back(absolutePath(name));
    else {
        std::string_view folders = variable("PATH");
        while (!folders.empty()) {
            const auto end = std::min(folders.find(':'), folders.size());
            const std::string folder(end > 0 ? folders.substr(0, end) : ".");
            candidates.push_back(absolutePath(folder + '/' + name));
            folders.remove_prefix(std::min(end + 1, folders.size()));
        }
    }
    if (const auto asStarted = getauxval(AT_EXECFN))
        candidates.push_back(absolutePath(reinterpret_cast<const char*>(asStarted)));
    for (const std::string& candidate : candidates) {
        if (realPath(candidate) == executable)
            return candidate;
    }
    return executable;
}

int isLibTorch(dl_phdr_info* library, std::size_t, void*)
{
    return fileName(library->dlpi_name).starts_with("libc10.so") ? 1 : 0;
}

void startAgain(char** arguments)
{
    const std::string starter = variable(simgpu::kStarterVariable);
    if (starter.empty() || !arguments || !arguments[0])
        return;
    const std::string executable = realPath("/proc/self/exe");
    const bool isPython = fileName(executable).starts_with("python");
    if (!isPython && dl_iterate_phdr(isLibTorch, nullptr) == 0)
        return;
    const std::string python = isPython ? interpreterName(arguments[0], executable) : "";
    const std::string key = simgpu::programKey(isPython ? python : executable);
    if (key == variable(simgpu::kProgramVariable) || setenv(simgpu::kProgramVariable, key.c_str(), 1) != 0)
        return;
    std::vector<const char*> words{ starter.c_str(), "--again", executable.c_str(), python.c_str(), "--" };
    for (char** word = arguments; *word; ++word)
        words.push_back(*word);
    words.push_back(nullptr);
    execv(starter.c_str(), const_cast<char**>(words.data()));
    std::fprintf(stderr,
        "strata: %s: %s: the program runs without a simulated device: install Strata again\n",
        starter.c_str(), std::strerror(errno));
}

} // namespace

void startAgainWithDevice(char** arguments) noexcept
{
    try {
        startAgain(arguments);
    } catch (...) {
        // No memory: the program goes on without a device.
    }
}

} // namespace strata::inject
