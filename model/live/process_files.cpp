// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/process_files.h"

#include "model/wire/link/process_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unistd.h>

namespace strata::model {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 65'536;
constexpr std::size_t kMostEnvironmentBytes = std::size_t{ 4 } << 20;
constexpr std::array<std::string_view, 4> kTorch{ "/libc10_cuda", "/libtorch_cuda", "/libc10_hip",
    "/libtorch_hip" };
constexpr std::string_view kRecorder = "/libstrata_capture.so";

std::optional<std::int64_t> fileNumber(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

std::string contentOf(const fs::path& path, std::size_t most)
{
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 4096> buffer;
    while (text.size() < most && (file.read(buffer.data(), buffer.size()) || file.gcount() > 0))
        text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    return text;
}

/// Which libraries are mapped. False: they may not be seen.
bool readMaps(const fs::path& path, ProcessFiles& files)
{
    std::ifstream maps(path, std::ios::binary);
    if (!maps)
        return false;
    std::string block, line;
    block.resize(kBlockBytes);
    std::string rest; // of a line that went on
    while (maps.read(block.data(), static_cast<std::streamsize>(block.size())) || maps.gcount() > 0) {
        rest.append(block, 0, static_cast<std::size_t>(maps.gcount()));
        const std::string_view text = rest;
        for (const std::string_view library : kTorch)
            files.hasTorch = files.hasTorch || text.find(library) != text.npos;
        files.hasRecorder = files.hasRecorder || text.find(kRecorder) != text.npos;
        if (files.hasTorch && files.hasRecorder)
            return true;
        rest.erase(0, rest.rfind('\n') == rest.npos ? 0 : rest.rfind('\n'));
        if (rest.size() > kBlockBytes)
            rest.clear(); // no line is as long
    }
    return true;
}

/// A session among the files that it has open.
std::string openSessionOf(const fs::path& folder)
{
    std::error_code error;
    for (fs::directory_iterator each(folder / "fd", error), end; !error && each != end;
         each.increment(error)) {
        std::error_code unread;
        const std::string target = fs::read_symlink(each->path(), unread).string();
        if (!unread && target.ends_with(".strata"))
            return target;
    }
    return {};
}

std::int64_t parentOf(const fs::path& folder)
{
    const std::string stat = contentOf(folder / "stat", 4096);
    const std::size_t name = stat.rfind(')'); // which may hold anything; then the state and the parent
    if (name == stat.npos || name + 4 >= stat.size())
        return 0;
    const std::string_view rest = std::string_view(stat).substr(name + 4);
    return fileNumber(rest.substr(0, rest.find(' '))).value_or(0);
}

void readEnvironment(const fs::path& folder, ProcessFiles& files)
{
    const std::string environment = contentOf(folder / "environ", kMostEnvironmentBytes);
    const auto variable = [&](const char* name) -> std::string {
        const std::string begin = std::string(name) + "=";
        for (std::size_t at = 0; at < environment.size();) {
            const std::size_t end = std::min(environment.find('\0', at), environment.size());
            const std::string_view item = std::string_view(environment).substr(at, end - at);
            if (item.starts_with(begin))
                return std::string(item.substr(begin.size()));
            at = end + 1;
        }
        return {};
    };
    files.job = wire::jobName(variable);
    files.rank = fileNumber(variable("RANK"));
    files.worldSize = fileNumber(variable("WORLD_SIZE"));
}

} // namespace

std::string commandOf(std::int64_t process, const fs::path& proc)
{
    std::string text = contentOf(proc / std::to_string(process) / "cmdline", 65'536);
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    std::ranges::replace(text, '\0', ' ');
    return text;
}

std::vector<ProcessFiles> findTorchProcesses(const fs::path& proc)
{
    std::map<std::int64_t, ProcessFiles> found;
    std::error_code error;
    for (fs::directory_iterator each(proc, error), end; !error && each != end; each.increment(error)) {
        const auto number = fileNumber(each->path().filename().string());
        if (!number || *number == getpid())
            continue;
        ProcessFiles files;
        files.process = *number;
        if (!readMaps(each->path() / "maps", files) || !files.hasTorch)
            continue;
        files.command = commandOf(*number, proc);
        files.parent = parentOf(each->path());
        files.session = openSessionOf(each->path());
        readEnvironment(each->path(), files);
        found.emplace(*number, std::move(files));
    }
    std::set<std::int64_t> launchers; // have ranks, and are none
    for (const auto& [number, files] : found)
        if (const auto parent = found.find(files.parent);
            files.rank && parent != found.end() && !parent->second.rank)
            launchers.insert(files.parent);
    std::vector<ProcessFiles> processes;
    for (const auto& [number, files] : found) {
        const auto parent = found.find(files.parent);
        const bool isCopy = parent != found.end() && parent->second.command == files.command;
        if (!isCopy && !launchers.contains(number))
            processes.push_back(files);
    }
    return processes;
}

} // namespace strata::model
