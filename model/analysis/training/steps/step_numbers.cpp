// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_numbers.h"

#include "model/analysis/training/steps/steps.h"

#include <algorithm>
#include <array>
#include <optional>

namespace strata::model {

namespace {

/// Fills gaps between numbers that rise. False: there is no room, or they do not rise.
bool countOn(std::vector<std::optional<std::int64_t>*>& numbers)
{
    const auto isNamed = [](const auto* number) { return number->has_value(); };
    const auto first = std::ranges::find_if(numbers, isNamed);
    if (first == numbers.end())
        return false;
    std::int64_t number = ***first - (first - numbers.begin());
    if (number < 0)
        return false;
    for (auto* const each : numbers) {
        if (each->value_or(number) < number)
            return false;
        number = each->value_or(number);
        *each = number++;
    }
    return true;
}

/// Looks at each name once: optimizers, which name no step, are many.
bool namesSteps(const Recording& recording)
{
    std::vector<bool> known(recording.strings.size());
    for (const auto& row : recording.annotations) {
        if (!row.name.valid() || known[row.name.index()])
            continue;
        if (stepNumberIn(recording.strings[row.name]))
            return true;
        known[row.name.index()] = true;
    }
    return false;
}

} // namespace

void numberAsNamed(const DeviceTrace& trace, const Clock& clock, TrainingSteps& steps)
{
    if (!namesSteps(trace.recording()))
        return;
    const auto names = namesOf(steps, namedSteps(trace, clock));
    std::vector<std::optional<std::int64_t>> numbers(names.size());
    std::array<bool, kStepKinds> isNamed{};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i]) {
            numbers[i] = stepNumberIn(names[i]->name);
            isNamed[static_cast<std::size_t>(steps.steps[i].kind)] = true;
        }
    std::vector<std::optional<std::int64_t>*> counted;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (isNamed[static_cast<std::size_t>(steps.steps[i].kind)])
            counted.push_back(&numbers[i]);
    if (!countOn(counted))
        return;
    std::int64_t unnamed = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        steps.steps[i].number = numbers[i] ? *numbers[i] : --unnamed;
}

} // namespace strata::model
