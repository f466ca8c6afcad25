// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/whatif/confirm.h"
#include "model/whatif/plan/alternatives.h"
#include "model/whatif/plan/fit_plan.h"

#include <optional>
#include <utility>
#include <vector>

namespace strata::cli {

/// Adds the device of the first run to what is confirmed; the first one brings what holds for all.
void takeDevice(const std::vector<model::RecordedRun>& runs, ConfirmAsked& asked);

/// Calls of a recorded deep step, made again for one change after the other; unchanged they are made once,
/// with the first. Says on stderr which it makes. The runs must outlive it.
class CallAnswers {
public:
    /// `capacityBytes`: of a plan; none: that of the scenario, or the recording.
    CallAnswers(const std::vector<model::RecordedRun>& runs, const ConfirmAsked& options,
        const model::Scenario& scenario, std::optional<std::int64_t> capacityBytes);

    /// The option with peaks by calls, and whether it fits. Errors as confirm().
    [[nodiscard]] model::Result<model::FitOption> answer(model::FitOption option);
    /// Attention by another kernel and the logits in chunks, each alone; what calls refuse has that reason.
    [[nodiscard]] model::Result<void> addTo(model::AnsweredAlternatives& alternatives);
    /// Of an option that was answered; none: it was not.
    [[nodiscard]] std::optional<model::Confirmation> confirmationOf(const model::FitOption& option) const;

private:
    [[nodiscard]] model::Result<model::Confirmation> confirmOne(const model::Scenario& scenario);

    const model::RecordedRun& m_run;
    ConfirmAsked m_asked;
    model::Scenario m_scenario;
    std::optional<std::int64_t> m_roomBytes; // of the card
    std::optional<Confirming> m_confirming; // from the first answer on
    std::vector<std::pair<std::vector<std::string>, model::Confirmation>>
        m_answered; // by texts of the scenario
};

} // namespace strata::cli
