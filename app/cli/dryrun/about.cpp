// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/about.h"

#include "app/launch/simulated_card.h"
#include "model/session/simulation.h"

#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace strata::cli {

namespace {

using nlohmann::ordered_json;

bool has(const std::string& text, std::string_view part)
{
    return text.find(part) != text.npos;
}

constexpr const char* kUnserved
    = "lines that begin with \"strata: simulated device:\" above name calls that the "
      "simulated device does not serve";

std::string hintForException(const ProgramFailure& failure, bool hasUnservedCalls)
{
    if (!failure.hint.empty())
        return failure.hint;
    if (failure.what.starts_with("--change ")) // it says what to do itself
        return {};
    if (has(failure.what, "invalid device ordinal"))
        return "it asks for a device that is not there: give it more with --devices";
    if (has(failure.what, "forked subprocess"))
        return "CUDA cannot be used in a fork of a process that uses it, on a real device neither: use the "
               "start method spawn";
    if (has(failure.what, "not compiled with CUDA"))
        return "this PyTorch is for the CPU alone: install the CUDA build (pip install torch)";
    if (failure.kind == "ModuleNotFoundError" || failure.kind == "ImportError")
        return "start it with the Python of the environment that has this module";
    if (failure.kind == "FileNotFoundError")
        return "start it in the folder where its files are";
    if (hasUnservedCalls)
        return fmt::format(
            "{}; if the exception is not of one of them, it may come of values, which are zeros", kUnserved);
    return "values read from the simulated device are zeros: a program that checks or uses them (losses, "
           "indices, "
           "sizes) may fail for that alone; if it fails on a real device too, the cause is its own";
}

} // namespace

std::string aboutJson(
    const DryRunOptions& options, const std::string& card, std::uint64_t capacityBytes, bool isBounded)
{
    ordered_json out{ { "device", card }, { "capacity_bytes", capacityBytes }, { "devices", options.devices },
        { "command", options.command }, { "steps", options.steps }, { "skip_init", options.skipInit },
        { "addresses", options.addresses }, { "changes", options.changes } };
    if (isBounded)
        out["durations"] = model::Simulation::kAtLeast;
    if (options.rank) {
        out["rank"] = *options.rank;
        out["world_size"] = options.worldSize;
    }
    if (options.allocatorSettings)
        out["set"] = *options.allocatorSettings;
    return out.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::optional<ProgramFailure> readFailure(const std::filesystem::path& folder)
{
    std::optional<ProgramFailure> first;
    std::filesystem::file_time_type when;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (!entry.path().filename().string().starts_with("failure."))
            continue;
        const auto written = entry.last_write_time(error);
        if (first && written >= when)
            continue;
        std::ifstream file(entry.path());
        const auto read = nlohmann::json::parse(file, nullptr, false);
        if (!read.is_object())
            continue;
        first = ProgramFailure{ read.value("kind", ""), read.value("what", ""), read.value("where", ""),
            read.value("hint", "") };
        when = written;
    }
    return first;
}

std::string stepsText(std::int64_t steps, dryrun::StepSource source)
{
    return fmt::format(
        "{}{} step{}", steps, source == dryrun::StepSource::Range ? "" : " optimizer", steps == 1 ? "" : "s");
}

std::string stepsNote(const DryRunOptions& options, const DryRun& run)
{
    if (options.steps == 0 || run.processes.empty() || run.exitStatus != 0 || run.endedBySteps()
        || run.steps() >= options.steps)
        return {};
    const std::string asked = fmt::format("--steps {}: ", options.steps);
    if (run.steps() > 0)
        return asked
            + fmt::format("the program ended by itself after {} of {} steps{}", run.steps(), options.steps,
                run.stepSource() == dryrun::StepSource::Optimizer ? ", counted for each optimizer" : "");
    const char* const toDo = run.ranPython()
        ? "steps are those of classes that derive from torch.optim.Optimizer"
        : "steps are those of torch::optim's own classes and those marked with strata::capture::Step "
          "(capture/README.md)";
    return asked
        + fmt::format("{}, and the program ran to its end; {}",
            run.hasUnseenSteps() ? "the steps of its optimizer, a class of the program's own, cannot be seen"
                                 : "no optimizer step was seen",
            toDo);
}

std::string changesNote(const DryRunOptions& options, const DryRun& changed)
{
    if (changed.processes.empty() || changed.ranPython())
        return changed.unapplied;
    return fmt::format(
        "--change {}: not applied, since changes are made in programs of Python alone: run the "
        "program changed by hand",
        fmt::join(options.changes, " "));
}

std::string hintFor(const DryRun& run)
{
    constexpr int kKilled = 137;
    constexpr int kAborted = 134;
    constexpr int kSegmentationFault = 139;
    if (run.exitStatus == 0 && run.processes.empty() && !run.knewTorch)
        return "the device goes where the command's environment goes, which docker, ssh, sudo and env -i do "
               "not pass on: start the Python itself, as in strata dryrun -- python train.py";
    if (run.exitStatus == 0 && run.processes.empty())
        return "if it should use a GPU, look for an option of it that says so; torch.cuda.is_available() is "
               "true here";
    if (run.exitStatus == 0 || run.interrupted() || !run.fits())
        return {};
    if (run.failure)
        return hintForException(*run.failure, run.hasUnservedCalls());
    if (run.exitStatus == launch::kNotStarted && run.processes.empty() && !run.knewTorch)
        return launch::hintToStartItself("strata dryrun -- ./program");
    if (run.exitStatus == kKilled)
        return "it was killed, often for want of host memory: make models on the device, or fewer steps with "
               "--steps";
    if (run.exitStatus == kAborted || run.exitStatus == kSegmentationFault)
        return fmt::format("it crashed: {}",
            run.hasUnservedCalls()
                ? kUnserved
                : "its own output may say why; values read from the simulated device are zeros");
    if (run.processes.empty())
        return "its own output says why";
    return "its own output says why; values read from the simulated device are zeros";
}

} // namespace strata::cli
