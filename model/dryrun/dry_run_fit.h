// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/dryrun/dry_run_head.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A number in the command, {NAME}, whose largest value is looked for.
struct FitVariable {
    std::string name;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// One run of the command.
struct DryRunTrial {
    ByName<std::int64_t> values; ///< of the variables
    bool fits = false;
    std::int64_t requestedPeak = 0;
    std::int64_t reservedPeak = 0;
    std::optional<std::int64_t> firstRefused;
};

struct DryRunSearch {
    std::vector<FitVariable> variables;
    std::vector<DryRunTrial> best;
    std::vector<DryRunTrial> tried;
};

/// What `strata dryrun --fit` answers.
struct DryRunFitAnswer : DryRunHead {
    std::optional<DryRunSearch> fit; ///< none in what another command answers
};

template <> struct Fields<FitVariable> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name of the variable, `{NAME}` in the command", &FitVariable::name),
        field("lowest", Unit::None, "lowest value of the range", &FitVariable::lowest),
        field("highest", Unit::None, "highest value of the range", &FitVariable::highest),
    };
};

template <> struct Fields<DryRunTrial> {
    static constexpr std::tuple all{
        field("values", Unit::None, "value of each variable, by its name", &DryRunTrial::values),
        field("fits", Unit::None, "whether the program fits with these values", &DryRunTrial::fits),
        field("requested_bytes_peak", Unit::Bytes, "highest peak of requested bytes of a device",
            &DryRunTrial::requestedPeak),
        field("reserved_bytes_peak", Unit::Bytes, "highest peak of reserved bytes of a device",
            &DryRunTrial::reservedPeak),
        field("first_refused_bytes", Unit::Bytes, "size of the first refused request; null: none was refused",
            &DryRunTrial::firstRefused),
    };
};

template <> struct Fields<DryRunSearch> {
    static constexpr std::tuple all{
        field("variables", Unit::None, "variables as `--fit` names them", &DryRunSearch::variables),
        field("best", Unit::None, "largest value that fits, for each choice of the variables before the last",
            &DryRunSearch::best),
        field("tried", Unit::None, "all runs in their order", &DryRunSearch::tried),
    };
};

template <> struct Fields<DryRunFitAnswer> {
    static constexpr std::tuple all{
        HeadFields::schema,
        HeadFields::simulated,
        HeadFields::device,
        HeadFields::capacity,
        field("fit", Unit::None, "search for the largest values that fit", &DryRunFitAnswer::fit),
        HeadFields::stepsNote,
    };
};

} // namespace strata::model
