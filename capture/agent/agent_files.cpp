// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/agent_files.h"

#include "capture/agent/live/live_sink.h"
#include "capture/agent/say.h"
#include "capture/agent/session_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace strata::agent {

namespace {

/// "out.strata" with ".rank3" or ".4711" before its suffix.
std::string nameBeside(const std::string& file, const std::string& part)
{
    const std::size_t slash = file.rfind('/');
    const std::size_t dot = file.rfind('.');
    if (dot == file.npos || (slash != file.npos && dot < slash))
        return file + "." + part;
    return file.substr(0, dot) + "." + part + file.substr(dot);
}

constexpr std::string_view kProcess = "{process}";

std::string withProcess(std::string file)
{
    if (const std::size_t place = file.find(kProcess); place != file.npos)
        file.replace(place, kProcess.size(), std::to_string(getpid()));
    return file;
}

std::unique_ptr<SessionFile> createFile(const AgentOptions& options)
{
    const std::string process = std::to_string(getpid());
    const bool namesProcess = options.file.find(kProcess) != options.file.npos;
    const std::string first = fileOf(options);
    std::vector<std::string> names{ first };
    if (options.existing == Existing::Replace)
        unlink(first.c_str());
    for (int number = 2; options.existing == Existing::Number && number < 10'000; ++number)
        names.push_back(nameBeside(first, std::to_string(number)));
    if (options.shared) {
        const char* rank = std::getenv("RANK");
        const char* world = std::getenv("WORLD_SIZE");
        if (!namesProcess) {
            if (rank && *rank && world && std::atoi(world) > 1)
                names = { nameBeside(first, std::string("rank") + rank) };
            names.push_back(nameBeside(first, process));
        }
        // A process that replaces itself by exec() keeps its number.
        for (int image = 2; image < 100; ++image) {
            const std::string number = std::to_string(image);
            names.push_back(
                namesProcess ? nameBeside(first, number) : nameBeside(first, process + "-" + number));
        }
    }
    for (const std::string& name : names) {
        auto file = std::make_unique<SessionFile>();
        if (file->create(name)) {
            addToList(options, name);
            return file;
        }
        if (file->lastError() != EEXIST || &name == &names.back()) {
            say(name + ": " + file->problem() + ": nothing is recorded, the program goes on");
            break;
        }
    }
    return nullptr;
}

} // namespace

std::string fileOf(const AgentOptions& options)
{
    return withProcess(options.file);
}

void addToList(const AgentOptions& options, const std::string& path)
{
    if (options.listFile.empty())
        return;
    const int list
        = open(withProcess(options.listFile).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (list < 0)
        return;
    const std::string text = path + "\n";
    [[maybe_unused]] const ssize_t ignored = write(list, text.data(), text.size());
    close(list);
}

std::unique_ptr<wire::ChunkSink> createSink(
    const AgentOptions& options, const std::vector<wire::KeyValue>& facts)
{
    std::unique_ptr<SessionFile> file;
    if (!options.file.empty()) {
        file = createFile(options);
        if (!file)
            return nullptr;
    }
    if (!options.live)
        return file;
    std::string why;
    if (std::unique_ptr<LiveSink> live = LiveSink::open(file, facts, *options.live, why)) {
        if (!why.empty())
            say("live: " + why + ": viewers cannot come over TCP");
        else if (live->server().port() != 0 && options.live->token.empty())
            say("live: process " + std::to_string(getpid()) + ": STRATA_TOKEN=" + live->server().token()
                + " strata attach 127.0.0.1:" + std::to_string(live->server().port()));
        if (options.file.empty())
            addToList(options, live->name());
        return live;
    }
    say("live: " + why + ": nobody can look on"
        + (file ? std::string() : ", and nothing is recorded: the program goes on"));
    return file;
}

} // namespace strata::agent
