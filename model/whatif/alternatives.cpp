// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/alternatives.h"

#include "model/analysis/settings_advice.h"

#include <string>

namespace strata::model {

namespace {

/// Whether that many times the items are whole ones.
bool isWhole(const Change& change, std::int64_t items)
{
    return items % change.denominator == 0;
}

} // namespace

std::vector<Scenario> alternativesTo(const RecordedRun& run)
{
    std::vector<Scenario> all;
    if (run.batchItems && run.steps != nullptr && !run.steps->steps.empty())
        for (const char* const text : { "batch=x0.5", "batch=x2" })
            if (const auto change = Change::parse(text); change && isWhole(*change, *run.batchItems))
                all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    for (std::string& settings : settingsWorthTrying(*run.report))
        all.push_back({ .changes = {}, .settings = std::move(settings), .capacityBytes = {} });
    return all;
}

} // namespace strata::model
