// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/process_family.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <unistd.h>

namespace strata::views {

namespace {

struct Process {
    pid_t parent = 0;
    pid_t session = 0;
    bool ours = false;
};

std::string readFile(const std::string& path)
{
    constexpr std::size_t kMost = 4u << 20;
    std::string content;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return content;
    char buffer[16384];
    for (ssize_t count; content.size() < kMost && (count = read(file, buffer, sizeof buffer)) > 0;)
        content.append(buffer, static_cast<std::size_t>(count));
    close(file);
    return content;
}

/// "123 (name with ) anything) S PARENT GROUP SESSION ...", nothing for what has ended but is not waited for.
bool readStat(const std::string& text, Process& out)
{
    const auto end = text.rfind(')');
    int group = 0;
    char state = 0;
    return end != text.npos
        && std::sscanf(text.c_str() + end + 1, " %c %d %d %d", &state, &out.parent, &group, &out.session) == 4
        && state != 'Z' && state != 'X';
}

/// Whether NAME=value stands in an environment, whose entries end with zero bytes.
bool carries(const std::string& environment, const QByteArray& mark)
{
    const std::string_view wanted(mark.constData(), static_cast<std::size_t>(mark.size()));
    const auto at = environment.find(wanted);
    return at != environment.npos && (at == 0 || environment[at - 1] == '\0')
        && (at + wanted.size() == environment.size() || environment[at + wanted.size()] == '\0');
}

std::map<pid_t, Process> readProcesses(pid_t program, const QByteArray& mark)
{
    std::map<pid_t, Process> all;
    DIR* folder = opendir("/proc");
    if (!folder)
        return all;
    while (const dirent* entry = readdir(folder)) {
        pid_t id = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        if (const auto [at, error] = std::from_chars(entry->d_name, end, id);
            error != std::errc{} || at != end)
            continue;
        const std::string path = std::string("/proc/") + entry->d_name;
        Process process;
        if (!readStat(readFile(path + "/stat"), process))
            continue;
        process.ours
            = (program > 0 && process.session == program) || carries(readFile(path + "/environ"), mark);
        all.emplace(id, process);
    }
    closedir(folder);
    return all;
}

} // namespace

std::vector<pid_t> familyOf(pid_t program, const QByteArray& mark)
{
    std::map<pid_t, Process> all = readProcesses(program, mark);
    for (bool grown = true; grown;) {
        grown = false;
        for (auto& [id, process] : all) {
            if (process.ours)
                continue;
            const auto parent = all.find(process.parent);
            process.ours
                = (program > 0 && process.parent == program) || (parent != all.end() && parent->second.ours);
            grown = grown || process.ours;
        }
    }
    std::vector<pid_t> out;
    for (const auto& [id, process] : all)
        if (process.ours && id != program && id != getpid())
            out.push_back(id);
    return out;
}

} // namespace strata::views
