// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/scenario.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// Values of a kind of change that are worth trying with a recording, most likely first: classes of modules
/// that a usable deep step has seen, those with modules in them first, else paths of layers that the
/// recording names; optimizers and micro-steps, where it tells of parameters; lines of the program, as
/// filters. Empty: nothing supports one, or any number will do (batch). O(rows of the deep step + events +
/// modules log modules + stacks).
[[nodiscard]] std::vector<std::string> valuesWorthTrying(Change::Kind kind, const DeviceTrace& trace);

/// Single changes of a run that need nothing from anybody to be answered, each a scenario of its own: other
/// settings of the allocator (settingsWorthTrying()), half the batch and twice as much where its items and
/// steps are known, checkpoints around the likeliest modules where a deep step tells of them, the
/// optimizer that keeps nothing where the recording tells of one that does. Batches come first. O(listings),
/// with a deep step O(its rows + events).
[[nodiscard]] std::vector<Scenario> alternativesTo(const RecordedRun& run);

/// A change on top of what is asked for already.
struct Alternative {
    Scenario change; ///< alone, as alternativesTo() has it
    Scenario all; ///< with what is asked for: the one that stands for the same kind goes
};

/// Which of `singles` (alternativesTo() the run) there are on top of `asked`, each as it is there: half the
/// batch and twice as much of what is asked for, other settings as one more of those. Left out: what is asked
/// for, what leads back to the recording, what does not go together with it (goTogether()), and a kind whose
/// value stays a choice of the user (checkpoints). With nothing asked for: all, as they are. The answer to
/// each is that to what is asked with --change of it behind, or with its --set instead. O(singles).
[[nodiscard]] std::vector<Alternative> alternativesOnTop(
    const RecordedRun& run, const std::vector<Scenario>& singles, const Scenario& asked);

/// Whether the answer to one alternative stands before that to another in a table: what reserves least first;
/// what runs out of memory behind that, and what has no answer last.
[[nodiscard]] bool standsBefore(const Result<Prediction>& one, const Result<Prediction>& other);

/// The run without the line that leaks most, where all that it asks for stays (but for one of ten, of a step
/// that is not over): remove=line:LABEL. None: nothing leaks so, or steps work with what stays. O(events +
/// blocks log steps).
[[nodiscard]] std::optional<Change> withoutLeak(const RecordedRun& run);

} // namespace strata::model
