// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/options.h"

#include "app/cli/dryrun/change.h"
#include "app/cli/dryrun/fit.h"
#include "app/cli/dryrun/launch.h"
#include "model/base/units.h"
#include "model/session/save.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace strata::cli {

model::Result<DryRunOptions> parseDryRun(int argc, const char* const* argv, std::string& help)
{
    DryRunOptions options;
    CLI::App app("Runs a command on a simulated device: does it fit, what fills the memory", "strata dryrun");
    std::string capacity;
    std::string settings;
    bool noSkipInit = false;
    app.add_option("--device", options.device, "Card of the catalogue, e.g. RTX-4090-24GB, H100-80GB")
        ->capture_default_str();
    app.add_option("--capacity", capacity, "Memory of the device instead of the card's, e.g. 16GiB");
    app.add_option("--devices", options.devices, "Number of devices")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    int rank = 0;
    const CLI::Option* asRank = app.add_option("--rank", rank, "Run as this rank of --world-size");
    const CLI::Option* ofRanks
        = app.add_option("--world-size", options.worldSize, "Number of ranks; the others are not run")
              ->check(CLI::Range(1, 4096));
    const CLI::Option* set = app.add_option("--set", settings,
        "PYTORCH_CUDA_ALLOC_CONF instead of the environment's, e.g. expandable_segments:True; '' for none");
    app.add_option("--steps", options.steps, "Stop just before optimizer step K+1")
        ->check(CLI::Range(0, 1 << 30));
    app.add_flag("--no-skip-init", noSkipInit, "Initialise weights on the CPU as the program does");
    app.add_option("--addresses", options.addresses, "Order of addresses: top-down, ascending, random:SEED")
        ->capture_default_str();
    app.add_flag("--spread", options.spread, "Run other orders of addresses too: how far does reserved move");
    app.add_option("--change", options.changes,
           "Run once more with amp=bf16, checkpoint=MODULE_CLASS, optimizer=NAME[,KEY=VALUE] or "
           "fsdp[=MODULE_CLASS], which shards over --world-size; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--fit", options.fit,
           "Find the largest value that fits: 'BATCH=1..512' tries it for {BATCH} in the command; may be "
           "repeated")
        ->allow_extra_args(false);
    app.add_option("-o,--output", options.output,
        "Keep the recording, as session (.strata) or PyTorch snapshot (.pickle); with {process} in the name "
        "that of each process, else of the one that reserved most");
    app.add_flag("--json", options.json, "One JSON document on stdout; the command's stdout goes to stderr");
    app.positionals_at_end();

    const auto parsed
        = parseWithCommand(app, argc, argv, "strata dryrun -- python train.py", help, options.command);
    if (!parsed)
        return model::Failure(parsed.error());
    if (!*parsed)
        return options;
    if (!options.output.empty()) {
        if (const auto format = model::savedFormat(options.output); !format)
            return model::Failure(format.error());
    }
    for (const std::string& change : options.changes) {
        if (const auto checked = checkChange(change); !checked)
            return model::Failure(checked.error());
    }
    for (const std::string& text : options.fit) {
        const auto variable = parseFitVariable(text, options.command);
        if (!variable)
            return model::Failure(variable.error());
    }
    if (!options.fit.empty() && (options.spread || !options.changes.empty() || !options.output.empty()))
        return model::fail(model::Error::Kind::Usage, "--fit goes with neither --spread nor --change nor -o",
            "give them in a run of the value found");
    if (!capacity.empty()) {
        options.capacityBytes = model::parseBytes(capacity);
        if (!options.capacityBytes || *options.capacityBytes <= 0)
            return model::fail(
                model::Error::Kind::Usage, "--capacity " + capacity + ": not a size", "e.g. 16GiB");
    }
    if (asRank->count() != ofRanks->count())
        return model::fail(model::Error::Kind::Usage, "--rank and --world-size belong together",
            "e.g. --rank 0 --world-size 8");
    if (asRank->count() > 0) {
        if (rank < 0 || rank >= options.worldSize)
            return model::fail(model::Error::Kind::Usage,
                "--rank " + std::to_string(rank) + ": there is no such rank",
                "it goes from 0 to " + std::to_string(options.worldSize - 1));
        options.rank = rank;
    }
    const bool shards = std::any_of(options.changes.begin(), options.changes.end(),
        [](const std::string& change) { return change.starts_with("fsdp"); });
    if (shards && !options.rank)
        return model::fail(model::Error::Kind::Usage, "--change fsdp: over how many ranks?",
            "add e.g. --rank 0 --world-size 8");
    if (set->count() > 0)
        options.allocatorSettings = settings;
    options.skipInit = !noSkipInit;
    return options;
}

} // namespace strata::cli
