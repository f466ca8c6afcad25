// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/base/result.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace strata::cli {

class Output;

/// What a training does on a device, and what its blocks are for.
struct Training {
    model::TrainingSteps steps;
    std::optional<model::CategoryRules> rules; ///< the user's own categories
    model::Categories categories; ///< keeps a pointer to the trace
};

/// --rules: the user's own categories, those that are kept with the recording where it is not given.
class TrainingOption {
public:
    void declare(CLI::App& app);
    /// Reads the rules of --rules. Kind::Usage says where one is wrong.
    [[nodiscard]] model::Result<void> check();
    [[nodiscard]] model::Result<Training> of(const model::DeviceTrace& trace) const;
    /// Says on `err` that rules take part which nobody asked for, or why those that are kept do not.
    void tell(const model::DeviceTrace& trace, Output& err) const;

private:
    /// Those that are kept with the recording; nothing where --rules gives others or none are kept.
    [[nodiscard]] std::optional<model::Result<model::CategoryRules>> kept(
        const model::DeviceTrace& trace) const;

    std::string m_file;
    std::optional<model::CategoryRules> m_rules;
};

} // namespace strata::cli
