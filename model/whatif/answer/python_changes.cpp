// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/python_changes.h"

#include "model/trace/frames.h"
#include "model/whatif/kinds/calls_again.h"

#include <algorithm>

namespace strata::model {

bool isMadeInPython(const Change& change)
{
    return change.kind != Change::Kind::Batch && change.kind != Change::Kind::Sequence;
}

const Change* changeOfPython(const DeviceTrace& trace, const Scenario& scenario)
{
    const auto found = std::ranges::find_if(scenario.changes, isMadeInPython);
    return found != scenario.changes.end() && isCppProgram(trace.recording()) ? &*found : nullptr;
}

bool isToldWithoutModules(const Change& change)
{
    return isToldByCalls(change) && change.kind != Change::Kind::Type
        && change.kind != Change::Kind::Checkpoint;
}

} // namespace strata::model
