// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::cli {

/// One more change on top of what is asked, and what it comes to.
struct AlternativeTold {
    model::Scenario change; ///< alone
    model::Result<model::Prediction> prediction; ///< with what is asked; why not: Kind::Refused
};

/// What there is on top of what is asked, in the order of the window.
struct AlternativesTold {
    std::vector<AlternativeTold> rows;
    std::int64_t standsBytesPeak = 0; ///< what is saved is counted from: the reserved peak of what is asked
    bool isOnTop = false; ///< something is asked, else they are single changes
};

/// Of recordings of one device, those that an answer goes by: settings alone take the first.
[[nodiscard]] std::vector<model::RecordedRun> takingPart(
    const std::vector<model::RecordedRun>& runs, const model::Scenario& scenario);

/// Of recordings of one device, the first of which has steps and categories, and the answer to what is asked
/// of them. O(alternatives) answers.
[[nodiscard]] AlternativesTold alternativesOn(const std::vector<model::RecordedRun>& runs,
    const model::Scenario& asked, const model::Prediction& answer);

/// The value of `"alternatives"`; none: nobody asked.
void writeAlternatives(JsonWriter& json, const std::optional<AlternativesTold>& told);

/// A table; with none, that nothing is known that could be tried.
void printAlternatives(Output& out, const AlternativesTold& told);

} // namespace strata::cli
