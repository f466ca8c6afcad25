// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// Operators of one name with the same inputs, which launched work themselves. Texts of inputs are JSON, as
/// torch.profiler has them.
struct LaunchedOperator {
    std::string name;
    std::string shapes, strides, types, values, listTypes;
    std::int64_t calls = 0;
    std::int64_t launches = 0;
};

/// What went over the wire: bytes that this rank handed over.
struct LaunchedCollective {
    std::string name;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
};

/// What a step of a program launched in a dry run, as capture/dryrun/step_work.h keeps it. A value.
struct LaunchedStep {
    std::int64_t process = 0;
    std::optional<std::int64_t> step; ///< its number; nothing: this is all that the program did
    std::int64_t steps = 0; ///< begun in all
    std::optional<std::int64_t>
        stepNs; ///< on the machine of the dry run: median of steps that were not observed
    std::int64_t stepsTimed = 0; ///< of how many
    std::string problem; ///< why nothing is known; empty where it is
    std::int64_t launches = 0; ///< kernels, copies and fills, in all
    std::vector<LaunchedOperator> operators;
    std::vector<LaunchedCollective> collectives;
};

/// Reads the text of such a file; the error says what is wrong with it.
[[nodiscard]] Result<LaunchedStep> readLaunchedStep(std::string_view text);

} // namespace strata::model
