// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "app/cli/dryrun/spread.h"
#include "model/cards/fits.h"

#include <optional>
#include <string>

namespace strata::cli {

/// A line of the user's code and what it held at the peak of requested bytes.
struct PeakGroup {
    std::string key;
    std::int64_t bytes = 0;
};

/// Those of one GPU, largest first.
struct DeviceGroups {
    int device = 0;
    bool reservedMost = false; ///< of the GPUs of its process
    std::vector<PeakGroup> groups;
};

/// All that is told of a dry run.
struct DryRunReport {
    DryRunOptions options;
    DryRun run;
    std::vector<DeviceGroups> groups; ///< of the process that reserved most, by device
    std::optional<DryRun> changed; ///< the second run, with options.changes
    std::vector<SpreadRun> spread;
};

/// The groups at the peak of each GPU that the process with the highest reserved peak used; empty without a
/// snapshot.
[[nodiscard]] std::vector<DeviceGroups> peakGroups(const DryRun& run);

/// After an out-of-memory: the cards that have more than the one that was simulated, and room for what was
/// refused. Empty without one.
[[nodiscard]] std::vector<model::CardFit> cardsToTry(const DryRun& run);

/// The JSON document of `strata dryrun --json`, with a newline at its end. To the keys that the contract
/// names it adds: peak moments and events of each device, "outside" (what PyTorch does not count), "failure",
/// and where asked for "changed" and "spread". "groups_by_device": the "groups" of each GPU of that process,
/// of which "groups_device" is the one whose "groups" are. "allocated_is_least": the process ended with an
/// allocation whose rounding was not seen. "try_on", after an out-of-memory: as "fits_on", of cards that may
/// do, for "needed_at_least_bytes"; "unserved_calls": the program called what the simulated device does not
/// serve. Of steps: "steps_of_all" (those of all optimizers of a process together, where "steps" are of the
/// one that made most), "steps_asked" (--steps, null without), "steps_source" ("optimizer": calls of step();
/// "range": what a C++ program marks with strata::capture::Step; null: none was seen), "steps_unseen" (a C++
/// program trained with an optimizer of a class of its own, whose steps cannot be seen), "ended_by_steps"
/// (they ended the program), "steps_note" (why they did not, for people; null where there is nothing to
/// tell). "time", with --time: how long a step takes at least (step_time.h): "problem" (why it is not known;
/// then nothing else is there), "step" (which one; null: all that the program did), "rank", "devices" (that
/// share it), "least_ns" on "card", "flops" (of causal attention half, as it is done), "flops_in_full" (as
/// torch's counter has it), "bytes", "kinds", "launches", "unknown" (in no figure), "collectives" (in no
/// figure), "cpu_step_ns" (median of "steps_timed" steps on this machine), "cards". "skip_init" is what was
/// asked for, "weights_skipped" whether weights were left uninitialised. "applied" in "changed": false where
/// no process ran Python, which changes are made in.
[[nodiscard]] std::string dryRunJson(const DryRunReport& report);
/// The same for people.
[[nodiscard]] std::string dryRunText(const DryRunReport& report);

} // namespace strata::cli
