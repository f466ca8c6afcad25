// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/calls/python_changes.h"

#include "model/trace/frames.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/calls/calls_again.h"

#include <algorithm>

namespace strata::model {

bool isMadeInPython(const Change& change)
{
    return change.kind->madeBy != MadeBy::Arguments;
}

const Change* changeOfPython(const DeviceTrace& trace, const Scenario& scenario)
{
    const auto found = std::ranges::find_if(scenario.changes, isMadeInPython);
    return found != scenario.changes.end() && isCppProgram(trace.recording()) ? &*found : nullptr;
}

bool isToldWithoutModules(const Change& change)
{
    return isToldByCalls(change) && !change.kind->takesModules;
}

} // namespace strata::model
