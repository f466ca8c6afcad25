// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/record/record.h"

#include "app/cli/answer_json.h"
#include "app/launch/child.h"
#include "app/launch/command.h"
#include "app/launch/gpus.h"
#include "app/launch/hook_at_hand.h"
#include "app/launch/libraries.h"
#include "app/launch/recorder.h"
#include "app/launch/simulated_card.h"
#include "capture/inject/variables.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/cards/catalogue.h"
#include "model/session/simulation.h"
#include "model/session/symbolize.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <unistd.h>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using model::Error;

/// The file can be made, and what was there is gone where that is wanted.
model::Result<fs::path> makeRoom(const std::string& output, bool overwrite)
{
    std::error_code error;
    const fs::path path = fs::absolute(output, error);
    if (path.extension() != ".strata")
        return model::fail(Error::Kind::Usage, model::say("%1: a session's name ends in .strata", output),
            model::say("name it so"));
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        return model::fail(
            Error::Kind::Usage, model::say("%1: there, and no file", output), model::say("name another one"));
    if (fs::exists(path, error) && !overwrite)
        return model::fail(Error::Kind::Usage, model::say("%1: is there already", output),
            model::say("name another one, or replace it with --overwrite"));
    if (!fs::remove(path, error) && error)
        return model::fail(Error::Kind::Usage, model::say("%1: %2", output, error.message()),
            model::say("name another file"));
    // The recorder makes it later, in the command: whether it can is known by trying alone.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return model::fail(Error::Kind::Usage, model::say("%1: %2", output, std::strerror(errno)),
            model::say("name a file in a folder that can be written to"));
    close(file);
    fs::remove(path, error);
    return path;
}

model::Result<simgpu::Settings> simulatedCard(const RecordOptions& options)
{
    const auto card = launch::cardNamed("--simulated", options.simulated);
    if (!card)
        return model::Failure(card.error());
    simgpu::Settings settings = launch::settingsOf(**card, options.capacityBytes, options.devices);
    settings.otherBytes = static_cast<std::uint64_t>(options.otherBytes);
    return settings;
}

/// What puts the recorder's library and the simulated device, where one is asked for, in front of the
/// command.
model::Result<simgpu::Variables> inFront(
    const RecordOptions& options, const launch::Command& command, const fs::path& library)
{
    if (options.simulated.empty())
        return launch::preload({ library });
    const auto settings = simulatedCard(options);
    if (!settings)
        return model::Failure(settings.error());
    return launch::deviceFor(command, *settings, library);
}

/// What a recording says of the device that was simulated: the command is told of besides.
std::string aboutSimulated(const RecordOptions& options)
{
    const auto settings = simulatedCard(options);
    JsonWriter json;
    writeJson(json,
        model::SimulatedDevice{
            model::findCard(options.simulated)->name, settings->capacityBytes, options.devices });
    return json.text();
}

/// Whether the command can be recorded: a LibTorch that is known before has its hook then. A script of the
/// shell starts who knows what, and the recorder sees to it there.
bool prepareHook(const launch::Command& command)
{
    if (!command.torch)
        return true;
    const auto hook = launch::hookFor(*command.torch);
    if (hook || !command.isCertain())
        return true;
    std::fprintf(
        stderr, "strata: %s; the program runs, and nothing is recorded\n", hook.error().text().c_str());
    return false;
}

/// A file of its own for the names of what was written.
class NameList {
public:
    NameList()
    {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "strata-record.XXXXXX").string();
        const int file = mkstemp(name.data());
        if (file >= 0) {
            close(file);
            m_path = name;
        }
    }
    ~NameList()
    {
        if (!m_path.empty())
            unlink(m_path.c_str());
    }
    NameList(const NameList&) = delete;
    NameList& operator=(const NameList&) = delete;

    [[nodiscard]] const std::string& path() const { return m_path; }

    /// False: there is none.
    bool print() const
    {
        std::ifstream file(m_path);
        bool any = false;
        for (std::string name; std::getline(file, name); any = true) {
            if (!name.ends_with(".strata"))
                continue; // its socket: it was recorded for those who looked on
            std::error_code error;
            // What is not finished or not found stays without: the addresses are in the file.
            (void)model::symbolize(name);
            const auto bytes = fs::file_size(name, error);
            if (error)
                std::fprintf(stderr, "strata: %s: %s\n", name.c_str(), error.message().c_str());
            else
                std::fprintf(stderr, "strata: %s: %s\n", name.c_str(),
                    model::formatBytes(static_cast<std::int64_t>(bytes)).c_str());
        }
        if (!any)
            std::fputs(
                "strata: nothing was recorded: no process of the command allocated device memory through "
                "PyTorch, or what kept it from being recorded is said above\n",
                stderr);
        return any;
    }

private:
    std::string m_path;
};

void sayIfThereIsNoGpu()
{
    if (const launch::Gpus gpus = launch::findGpus(); gpus.names.empty())
        std::fprintf(stderr,
            "strata: no GPU: %s; or record on a simulated one, as with --simulated T4-16GB\n",
            gpus.whyNone.c_str());
}

} // namespace

model::Result<int> record(const RecordOptions& options)
{
    const auto command = launch::findCommand(options.command);
    if (!command)
        return model::Failure(command.error());
    if (!command->torch && command->isCertain())
        return model::fail(Error::Kind::Usage, model::verbatim(command->whyNoTorch));
    const auto library = launch::preloadable(launch::kPreloaded);
    if (!library)
        return model::Failure(library.error());
    const auto output = options.output.empty() ? fs::path() : makeRoom(options.output, options.overwrite);
    if (!output)
        return model::Failure(output.error());
    const bool records = prepareHook(*command);
    auto variables = inFront(options, *command, *library);
    if (!variables)
        return model::Failure(variables.error());
    if (!records)
        return launch::runChild(*command, { .set = *std::move(variables) });
    const NameList names;
    launch::addRecorder(output->string(), options.stacks, *variables);
    launch::addLive(options.live, *variables);
    variables->emplace_back(inject::kRingVariable, std::to_string(options.ringEvents));
    variables->emplace_back(inject::kMemoryVariable, std::to_string(options.memoryBytes.value_or(0)));
    variables->emplace_back(inject::kListVariable, names.path());
    if (!options.kernels.empty())
        variables->emplace_back(inject::kKernelsVariable, options.kernels);
    if (options.operators)
        variables->emplace_back(inject::kOperatorsVariable, "1");
    if (options.deepStep != 0)
        variables->emplace_back(inject::kDeepVariable, std::to_string(options.deepStep));
    if (!options.simulated.empty())
        variables->emplace_back(inject::kSimulatedVariable, aboutSimulated(options));
    auto status = launch::runChild(*command, { .set = *std::move(variables) });
    if (status && !names.print()) {
        if (options.simulated.empty())
            sayIfThereIsNoGpu();
        else if (*status == launch::kNotStarted)
            std::fprintf(stderr, "strata: %s\n",
                launch::hintToStartItself("strata record --simulated T4-16GB -- ./program").c_str());
    }
    return status;
}

} // namespace strata::cli
