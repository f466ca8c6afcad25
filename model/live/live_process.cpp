// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/live_process.h"

#include "model/live/link_connection.h"
#include "model/live/link_reader.h"
#include "model/wire/link/link_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace strata::model {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::optional<std::int64_t> leadingNumber(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

/// What a process answers until `deadline`.
LiveProcess answerOf(const LinkConnection& link, const LinkAddress& address, Clock::time_point deadline)
{
    LiveProcess process;
    process.address = address;
    LinkReader reader;
    std::array<std::byte, 65'536> buffer;
    while (true) {
        using std::chrono::milliseconds;
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
        const std::ptrdiff_t got = link.read(buffer, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (got <= 0)
            return process; // the end, or no answer
        reader.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
        for (LinkReader::Item item; (item = reader.next()) != LinkReader::Item::None;) {
            if (item == LinkReader::Item::Greeting)
                process = describe(reader.greeting(), address);
            else if (item == LinkReader::Item::Totals)
                process.totals = reader.totals();
            else
                return process;
        }
    }
}

struct Asked {
    LinkConnection link;
    LinkAddress address;
};

std::vector<Asked> askAll(std::string& why)
{
    std::vector<Asked> asked;
    const auto folders = geteuid() == 0 ? wire::linkFoldersOfAll(why) : wire::linkFolders(geteuid(), why);
    for (const std::string& folder : folders) {
        struct stat info { };
        std::error_code error;
        if (stat(folder.c_str(), &info) != 0)
            continue;
        if (info.st_uid == geteuid())
            wire::removeDeadSockets(folder);
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().extension() != wire::kSocketSuffix)
                continue;
            const LinkAddress address{ entry.path().string(), 0, info.st_uid };
            if (Result<LinkConnection> link = LinkConnection::open(address, { .follows = false }))
                asked.push_back({ std::move(*link), address });
        }
    }
    return asked;
}

} // namespace

std::string_view stateName(ProcessState state)
{
    switch (state) {
    case ProcessState::Live:
        return "live";
    case ProcessState::File:
        return "file";
    case ProcessState::Attachable:
        return "attachable";
    case ProcessState::Polled:
        return "polled";
    }
    return "";
}

LiveProcess describe(const wire::Greeting& greeting, const LinkAddress& address)
{
    LiveProcess process;
    process.address = address;
    for (const auto& [key, value] : greeting.facts) {
        if (key == wire::greeting::kName)
            process.name = value;
        else if (key == wire::greeting::kJob)
            process.job = value;
        else if (key == wire::greeting::kFile)
            process.file = value;
        else if (key == wire::info::kPid)
            process.process = leadingNumber(value);
        else if (key == wire::info::kRank)
            process.rank = leadingNumber(value);
        else if (key == wire::info::kWorldSize)
            process.worldSize = leadingNumber(value);
        else if (key == wire::deviceKey(wire::info::kDevice, 0, wire::info::kDeviceCapacity))
            process.capacityBytes = leadingNumber(value);
    }
    return process;
}

std::vector<LiveProcess> findLiveProcesses(std::string& why)
{
    const std::vector<Asked> asked = askAll(why);
    const auto deadline = Clock::now() + std::chrono::milliseconds(500);
    std::vector<LiveProcess> processes;
    for (const Asked& each : asked) {
        LiveProcess process = answerOf(each.link, each.address, deadline);
        if (!process.process)
            process.process = leadingNumber(fs::path(each.address.socket).stem().string());
        processes.push_back(std::move(process));
    }
    std::ranges::sort(processes, {}, [](const LiveProcess& process) {
        return std::tuple(process.job, process.rank, process.process, process.address.socket);
    });
    return processes;
}

} // namespace strata::model
