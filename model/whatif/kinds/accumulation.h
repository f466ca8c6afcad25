// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/change.h"
#include "model/whatif/run/program_run.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// How many forwards and backwards a step of the optimizer has.
struct MicroSteps {
    std::int64_t count = 1;
};
[[nodiscard]] std::int64_t microStepsOf(
    std::span<const Change> changes); ///< the last one counts; 1: none does

/// A program whose optimizer steps once in so many forwards and backwards, where it does in each one as it
/// was recorded:
///
///     recorded     x = a | forward | backward, gradients made                      | step
///     rewritten    x = a | forward | backward, gradients made
///                  x = a | forward | backward, gradients made, added, and let go   | step
///
/// Gradients stay from the first backward to the step; those of each later one are let go when they have been
/// added, before backward asks for what is no gradient. What the program holds beyond backward it lets go as
/// its variable gets the next one; what stays for good is not made again, but counted (growth()). Immutable.
class Accumulation {
public:
    /// Refused, by name: no steps are known, or a step has several backwards, or an optimizer that steps
    /// within backward.
    [[nodiscard]] static Result<Accumulation> of(const DeviceTrace& trace, const TrainingSteps& steps);

    /// `run` is of the trace, with other sizes and edits perhaps, before another optimizer is put in. So many
    /// micro-steps, or fewer where they are all the same and more would take too long: O(asks x microSteps),
    /// and at most kMostAsks of what is added.
    [[nodiscard]] ProgramRun accumulated(const ProgramRun& run, std::int64_t microSteps) const;

    /// What every step but the first leaves for good, the least of them; the last one is not over. 0:
    /// nothing, or fewer than three steps. A recording does not tell whether that is done in each micro-step,
    /// or once.
    struct Growth {
        std::int64_t requestedBytes = 0, allocatedBytes = 0;
    };
    [[nodiscard]] Growth growth() const { return m_growth; }
    /// What all steps together may leave beyond what accumulated() has.
    [[nodiscard]] Growth mayGrow(std::int64_t microSteps) const;

    static constexpr std::int64_t kMostAsks = 4'000'000;
    static constexpr std::int64_t kLeastMicroSteps = 4; ///< of these all that there are

private:
    struct MicroStep {
        EventIndex first = 0, backward = 0, end = 0; ///< events; its optimizer comes behind
    };

    void findGrowth(const DeviceTrace& trace);

    std::vector<MicroStep> m_microSteps;
    Growth m_growth;
};

} // namespace strata::model
