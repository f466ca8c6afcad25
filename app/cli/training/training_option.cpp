// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/training_option.h"

#include "app/cli/output.h"
#include "app/cli/text.h"
#include "model/base/words.h"
#include "model/timeline/clock.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata::cli {

void TrainingOption::declare(CLI::App& app)
{
    app.add_option("--rules", m_file,
           "Categories of your own, a JSON file: after what the program told of, before what is inferred "
           "(default: those that are kept with the recording)")
        ->type_name("FILE");
}

model::Result<void> TrainingOption::check()
{
    if (m_file.empty())
        return {};
    auto rules = model::CategoryRules::readFile(m_file);
    if (!rules)
        return model::Failure(rules.error());
    m_rules = std::move(*rules);
    return {};
}

std::optional<model::Result<model::CategoryRules>> TrainingOption::kept(const model::DeviceTrace& trace) const
{
    const std::string& json = trace.recording().user.rules();
    return json.empty() || !m_file.empty() ? std::nullopt : std::optional(model::CategoryRules::read(json));
}

model::Result<Training> TrainingOption::of(const model::DeviceTrace& trace) const
{
    Training training;
    training.rules = m_rules;
    if (auto own = kept(trace); own && *own)
        training.rules = std::move(**own);
    const model::Clock clock(trace);
    auto steps = model::findTrainingSteps(trace, clock);
    if (!steps)
        return model::Failure(steps.error());
    auto categories
        = model::Categories::of(trace, clock, *steps, { training.rules ? &*training.rules : nullptr });
    if (!categories)
        return model::Failure(categories.error());
    training.steps = std::move(*steps);
    training.categories = std::move(*categories);
    return training;
}

void TrainingOption::tell(const model::DeviceTrace& trace, Output& err) const
{
    const auto own = kept(trace);
    if (own && *own)
        err.line("strata: with the categories of your own that are kept with this recording; --rules gives "
                 "others");
    else if (own)
        err.line(printable(fmt::format(
            "strata: the categories of your own that are kept with this recording are left out: {}",
            own->error().text())));
}

} // namespace strata::cli
