// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/process_status.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace strata::launch {

namespace {

std::string contentOf(pid_t process, const char* name)
{
    std::ifstream file("/proc/" + std::to_string(process) + "/" + name, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

/// The number behind a key at the beginning of a line.
long numberAt(const std::string& text, const std::string& key)
{
    const auto place = text.find("\n" + key);
    return place == text.npos ? 0 : std::strtol(text.c_str() + place + 1 + key.size(), nullptr, 10);
}

} // namespace

ProcessStatus readStatus(pid_t process)
{
    ProcessStatus status;
    const std::string stat = contentOf(process, "stat");
    const auto behindName = stat.rfind(") ");
    if (behindName == stat.npos)
        return status;
    std::istringstream fields(stat.substr(behindName + 2));
    fields >> status.state;
    constexpr int kBetween = 18; // of the state and of the start: fields 4 to 21
    std::string field;
    for (int i = 0; i < kBetween; ++i)
        fields >> field;
    fields >> status.startedAt;
    const std::string more = contentOf(process, "status");
    status.tracer = static_cast<pid_t>(numberAt(more, "TracerPid:"));
    const auto users = more.find("\nUid:");
    if (users != more.npos) {
        long real = 0, effective = 0;
        std::istringstream(more.substr(users + 5)) >> real >> effective;
        status.owner = static_cast<uid_t>(effective);
    }
    return status;
}

std::string commandOf(pid_t process)
{
    std::string text = contentOf(process, "cmdline");
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    constexpr std::size_t kMost = 100;
    return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

} // namespace strata::launch
