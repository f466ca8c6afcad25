// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/scenario.h"

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

/// The run without the line that leaks most, where all that it asks for stays (but for one of ten, of a step
/// that is not over): remove=line:LABEL. None: nothing leaks so, or steps work with what stays. O(events +
/// blocks log steps).
[[nodiscard]] std::optional<Change> withoutLeak(const RecordedRun& run);

} // namespace strata::model
