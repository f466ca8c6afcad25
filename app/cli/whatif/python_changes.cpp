// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/python_changes.h"

#include "model/trace/frames.h"
#include "model/whatif/lacks.h"
#include "model/whatif/recorded_calls.h"

#include <algorithm>

namespace strata::cli {

using model::Change;
using model::say;

namespace {

bool isMadeInPython(const Change& change)
{
    return change.kind != Change::Kind::Batch && change.kind != Change::Kind::Sequence;
}

} // namespace

bool needsPython(const model::DeviceTrace& trace, const model::Scenario& scenario)
{
    return std::ranges::any_of(scenario.changes, isMadeInPython) && model::isCppProgram(trace.recording());
}

bool isToldWithoutModules(const Change& change)
{
    return model::isToldByCalls(change) && change.kind != Change::Kind::Type
        && change.kind != Change::Kind::Checkpoint;
}

model::Error refusedInCpp(const model::Scenario& scenario)
{
    const Change& change = *std::ranges::find_if(scenario.changes, isMadeInPython);
    return { .kind = model::Error::Kind::Refused,
        .what = say("--change %1 is made in programs of Python alone, and this one is in C++", change.text),
        .hint = std::ranges::all_of(scenario.changes, isToldWithoutModules)
            ? say("leave out what stands behind --: --confirm alone makes the calls of a deep step again so")
            : model::hintToWriteByHand(),
        .where = {} };
}

} // namespace strata::cli
