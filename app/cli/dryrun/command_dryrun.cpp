// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/dryrun/change.h"
#include "app/cli/dryrun/dryrun.h"
#include "app/cli/dryrun/fit.h"
#include "model/base/units.h"
#include "model/session/save.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

namespace strata::cli {

namespace {

using model::Error;

class DryRunCommand final : public Command {
public:
    DryRunCommand()
        : Command("dryrun", "Runs a training program without a GPU: what it needs, where it fits")
    {
        m_program.example = "strata dryrun -- python train.py";
    }

    ProgramWords* programWords() override { return &m_program; }
    std::string_view place() const override { return "dryrun"; }

    void declare(CLI::App& app) override
    {
        app.description("Runs a command on a simulated device: does it fit, what fills the memory");
        app.add_option("--device", m_options.device, "Card of the catalogue, e.g. RTX-4090-24GB, H100-80GB")
            ->capture_default_str();
        app.add_option("--capacity", m_capacity, "Memory for PyTorch instead of the card's, e.g. 16GiB; the CUDA context is not counted then");
        app.add_option("--devices", m_options.devices, "Number of devices")
            ->check(CLI::Range(1, 64))
            ->capture_default_str();
        app.add_option("--rank", m_options.rank, "Run as this rank of --world-size");
        m_worldSize
            = app.add_option("--world-size", m_options.worldSize, "Number of ranks; the others are not run")
                  ->check(CLI::Range(1, 4096));
        app.add_option_function<std::string>(
            "--set", [this](const std::string& settings) { m_options.allocatorSettings = settings; },
            "PYTORCH_CUDA_ALLOC_CONF instead of the environment's, e.g. expandable_segments:True; '' for "
            "none");
        app.add_option("--steps", m_options.steps,
               "Stop just before optimizer step K+1, of torch.optim, torch::optim or strata::capture::Step")
            ->check(CLI::Range(0, 1 << 30));
        app.add_flag("--no-skip-init", m_noSkipInit,
            "Initialise weights on the CPU as a Python program does; C++ always does");
        app.add_option(
               "--addresses", m_options.addresses, "Order of addresses: top-down, ascending, random:SEED")
            ->capture_default_str();
        app.add_flag(
            "--spread", m_options.spread, "Run other orders of addresses too: how far does reserved move");
        app.add_flag("--on-each-card", m_options.onEachCard,
            "Run once more for each other GPU generation of the catalogue: fits_on is complete then");
        app.add_option("--change", m_options.changes,
               "Run once more with a change: " + knownChanges()
                   + ". fsdp shards over --world-size. Python alone; may be repeated")
            ->allow_extra_args(false);
        app.add_option("--fit", m_options.fit,
               "Find the largest value that fits: 'BATCH=1..512' tries it for {BATCH} in the command; may be "
               "repeated")
            ->allow_extra_args(false);
        app.add_flag("--time", m_options.time,
            "Tell how long a step takes at least, by FLOPs and bytes of its operators on each card's peaks");
        app.add_option("-o,--output", m_options.output,
            "Keep the recording, as session (.strata) or PyTorch snapshot (.pickle); with {process} in the "
            "name that of each process, else of the one that reserved most");
        app.add_flag("--overwrite", m_options.overwrite, "Replaces a recording that is there already");
        app.add_flag("--kernels", m_options.kernels,
            "With -o or --live, what the device ran when, too, for strata timeline: order, names and "
            "launches are real, durations are what the card takes at least");
        app.add_flag("--operators", m_options.operators,
            "Kernels as with --kernels, and PyTorch's operators with sizes and types of their inputs: which "
            "launched what, FLOPs, the roofline");
        m_deepStep = app.add_option("--deep-step", m_options.deepStep,
                            "With -o or --live, of that step of the training every operator with its "
                            "tensors, what autograd saves, and when each is let go, for strata whatif. 0: of "
                            "none")
                         ->capture_default_str()
                         ->check(CLI::IsMember({ 0 }) | CLI::Range(2, 1'000'000'000));
        app.add_flag("--live", m_options.live.isOn,
            "Others may look on while it runs, this user and root: strata list, strata attach");
        app.add_flag(
            "--json", m_options.json, "One JSON document on stdout; the command's stdout goes to stderr");
        app.footer("\nExample:\n  strata dryrun --device T4-16GB -- python train.py\n\n"
                   "Exit codes:\n  0 it fits   1 it does not, or the command failed   2 bad usage\n");
    }

    model::Result<void> check() override
    {
        m_options.command = m_program.words;
        m_options.skipInit = !m_noSkipInit;
        m_options.kernels = m_options.kernels || m_options.operators;
        for (const auto& part : { checkOutput(), checkChanges(), checkFit(), checkCapacity(), checkRank() })
            if (!part)
                return part;
        return {};
    }

    model::Result<int> run(Output& out, Output&) override { return dryRun(m_options, out); }

    int exitCodeOf(const Error& error) const override
    {
        return error.kind == Error::Kind::NotFound || error.kind == Error::Kind::Cancelled ? kFailed : kUsage;
    }

private:
    [[nodiscard]] model::Result<void> checkOutput() const
    {
        if (m_options.kernels && m_options.output.empty() && !m_options.live.isOn)
            return model::fail(Error::Kind::Usage,
                model::say("--kernels and --operators are of the recording, which nobody keeps"),
                model::say("keep it with -o run.strata"));
        if (m_deepStep->count() > 0 && m_options.deepStep != 0 && m_options.output.empty()
            && !m_options.live.isOn)
            return model::fail(Error::Kind::Usage,
                model::say("--deep-step is of the recording, which nobody keeps"),
                model::say("keep it with -o run.strata"));
        if (m_options.output.empty())
            return {};
        if (const auto format = model::savedFormat(m_options.output); !format)
            return model::Failure(format.error());
        std::error_code error;
        const bool isThere = std::filesystem::exists(m_options.output, error);
        if (isThere && !std::filesystem::is_regular_file(m_options.output, error))
            return model::fail(Error::Kind::Usage, model::say("%1: there, and no file", m_options.output),
                model::say("name another one"));
        if (isThere && !m_options.overwrite)
            return model::fail(Error::Kind::Usage, model::say("%1: is there already", m_options.output),
                model::say("name another one, or replace it with --overwrite"));
        return {};
    }

    [[nodiscard]] model::Result<void> checkChanges() const
    {
        for (const std::string& change : m_options.changes) {
            if (const auto checked = checkChange(change); !checked)
                return checked;
        }
        return {};
    }

    [[nodiscard]] model::Result<void> checkFit() const
    {
        for (const std::string& text : m_options.fit) {
            const auto variable = parseFitVariable(text, m_options.command);
            if (!variable)
                return model::Failure(variable.error());
        }
        if (!m_options.fit.empty()
            && (m_options.spread || m_options.onEachCard || m_options.time || !m_options.changes.empty()
                || !m_options.output.empty()))
            return model::fail(Error::Kind::Usage,
                model::say("--fit goes with neither --spread nor --on-each-card nor --change nor --time nor -o"),
                model::say("give them in a run of the value found"));
        return {};
    }

    [[nodiscard]] model::Result<void> checkCapacity()
    {
        if (m_capacity.empty())
            return {};
        m_options.capacityBytes = model::parseBytes(m_capacity);
        if (!m_options.capacityBytes || *m_options.capacityBytes <= 0)
            return model::fail(Error::Kind::Usage, model::say("%1 %2: not a size", "--capacity", m_capacity),
                model::say("e.g. 16GiB"));
        return {};
    }

    [[nodiscard]] model::Result<void> checkRank() const
    {
        if (m_options.rank.has_value() != (m_worldSize->count() > 0))
            return model::fail(Error::Kind::Usage, model::say("--rank and --world-size belong together"),
                model::say("e.g. --rank 0 --world-size 8"));
        if (m_options.rank && (*m_options.rank < 0 || *m_options.rank >= m_options.worldSize))
            return model::fail(Error::Kind::Usage,
                model::say("--rank %1: there is no such rank", *m_options.rank),
                model::say("it goes from 0 to %1", m_options.worldSize - 1));
        const bool shards = std::any_of(m_options.changes.begin(), m_options.changes.end(),
            [](const std::string& change) { return change.starts_with("fsdp"); });
        if (shards && !m_options.rank)
            return model::fail(Error::Kind::Usage, model::say("--change fsdp: over how many ranks?"),
                model::say("add e.g. --rank 0 --world-size 8"));
        return {};
    }

    DryRunOptions m_options;
    ProgramWords m_program;
    std::string m_capacity;
    bool m_noSkipInit = false;
    const CLI::Option* m_worldSize = nullptr; // of the app that reads the words, until check()
    const CLI::Option* m_deepStep = nullptr; // likewise
};

} // namespace

std::unique_ptr<Command> makeDryRun()
{
    return std::make_unique<DryRunCommand>();
}

} // namespace strata::cli
