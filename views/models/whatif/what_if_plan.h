// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/whatif/calls/call_hints.h"
#include "model/whatif/plan/checkpoint_plan.h"
#include "model/whatif/plan/fit_plan.h"
#include "views/base/background_job.h"
#include "views/models/whatif/what_if_question.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace strata::views {

enum class PlanGoal : std::uint8_t {
    Budget, ///< which modules to checkpoint so that no more is reserved
    LargestBatch, ///< that fits the device
    Cheapest, ///< changes that make it fit
};

/// What came of looking for a plan, as `strata whatif --plan` tells it. Immutable.
struct WhatIfPlan {
    WhatIfQuestion question; ///< beside whose changes it is
    PlanGoal goal = PlanGoal::Budget;
    model::Result<std::variant<model::CheckpointPlan, model::FitPlan>> made;
    std::vector<model::CallHint> hints = {}; ///< of the program as it is, where the plan needs changes

    [[nodiscard]] const model::FitPlan* fit() const; ///< nullptr: of checkpoints, or refused
    /// The modules to checkpoint, of a FitPlan those of its choice; nullptr: none.
    [[nodiscard]] const model::CheckpointPlan* checkpoints() const;
    [[nodiscard]] bool met() const;
    [[nodiscard]] model::Scenario scenario() const; ///< that of the question, and the plan
    [[nodiscard]] std::int64_t neededBytes() const; ///< the higher bound of what is reserved with it
    [[nodiscard]] QString code() const; ///< to paste; empty: none
};

/// Looks for plans off the GUI thread, one at a time. GUI thread only.
class WhatIfPlanner : public QObject {
    Q_OBJECT
public:
    explicit WhatIfPlanner(QObject* parent = nullptr);

    /// Drops what runs. `budgetBytes`: of PlanGoal::Budget.
    void start(WhatIfQuestion question, PlanGoal goal, std::int64_t budgetBytes);
    void cancel();
    /// Looks for what refuses any such plan, which takes no planning; refusal() follows.
    void look(const WhatIfQuestion& question, PlanGoal goal);
    /// Of the last look(): why there is no such plan, and what to do; nullopt: nothing is known to refuse it.
    [[nodiscard]] const std::optional<model::Error>& refusal() const { return m_refusal; }
    [[nodiscard]] BackgroundJob& looking() { return m_looking; }
    void forget(); ///< another recording is shown: also what was found
    [[nodiscard]] const std::shared_ptr<const WhatIfPlan>& plan() const { return m_plan; } ///< or nullptr
    [[nodiscard]] BackgroundJob& job() { return m_job; }

Q_SIGNALS:
    void changed(); ///< plan() is another
    void refusalChanged();

private:
    std::shared_ptr<const WhatIfPlan> m_plan;
    BackgroundJob m_job{ Earlier::Stop, BackgroundJob::Thread::Beside };
    BackgroundJob m_looking{ Earlier::Stop, BackgroundJob::Thread::Beside };
    QString m_looked; // the question that refusal() is of, and its goal
    std::optional<model::Error> m_refusal;
};

} // namespace strata::views
