// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/device_trace.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace strata::test {

/// What holds of all steps: they tile the trace, and their phases each of them; what is asked of an event is
/// what a look at every step and phase says.
inline void expectSound(const model::DeviceTrace& trace, const model::TrainingSteps& found)
{
    using namespace model;
    const EventIndex events = trace.eventCount();
    EXPECT_EQ(found.steps.empty(), found.evidence == StepEvidence::None);
    EventIndex next = 0;
    std::set<std::int64_t> numbers; // of the program, where it names steps
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
        const TrainingStep& step = found.steps[i];
        EXPECT_TRUE(numbers.insert(step.number).second) << step.number;
        EXPECT_EQ(step.first, next);
        EXPECT_GE(step.last, step.first);
        EXPECT_GE(step.microSteps, step.kind == StepKind::Train ? 1 : 0);
        EXPECT_TRUE(step.kind == StepKind::Train || !step.warmup);
        EXPECT_TRUE(step.kind != StepKind::Setup || i == 0);
        EXPECT_FALSE(step.phases.empty());
        for (const PhaseSpan& span : step.phases) {
            EXPECT_EQ(span.first, next);
            EXPECT_GE(span.last, span.first);
            next = span.last + 1;
        }
        EXPECT_EQ(step.last + 1, next);
    }
    EXPECT_EQ(next, found.steps.empty() ? 0 : events);
    if (::testing::Test::HasFailure())
        return; // what follows asks in their bounds
    std::vector<const TrainingStep*> steps(static_cast<std::size_t>(events));
    std::vector<Phase> phases(steps.size(), Phase::Unknown);
    for (const TrainingStep& step : found.steps) {
        std::fill_n(steps.begin() + step.first, step.last - step.first + 1, &step);
        for (const PhaseSpan& span : step.phases)
            std::fill_n(phases.begin() + span.first, span.last - span.first + 1, span.phase);
    }
    for (EventIndex event = 0; event < events; ++event) {
        ASSERT_EQ(found.at(event), steps[static_cast<std::size_t>(event)]) << "event " << event;
        ASSERT_EQ(found.phaseAt(event), phases[static_cast<std::size_t>(event)]) << "event " << event;
    }
    for (const EventIndex outside : { EventIndex{ -1 }, events, BlockColumns::kNever }) {
        EXPECT_EQ(found.at(outside), nullptr);
        EXPECT_EQ(found.phaseAt(outside), Phase::Unknown);
    }
}

} // namespace strata::test
