// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leaks_answer.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

GroupTable linesOfSites(const DeviceTrace& trace, const LeakReport& report)
{
    std::vector<StackId> stacks;
    for (const LeakSite& site : report.sites)
        stacks.push_back(site.stack);
    std::ranges::sort(stacks);
    stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
    return { trace.recording(), stacks };
}

} // namespace

LeaksAnswer::LeaksAnswer(std::string path, const DeviceTrace& of, LeakReport found)
    : file(std::move(path))
    , trace(&of)
    , report(std::move(found))
    , lines(linesOfSites(of, report))
{
}

const std::string& LeaksAnswer::lineOf(const LeakSite& site) const
{
    return lines.label(lines.groupOfStack(site.stack));
}

std::optional<std::string_view> LeaksAnswer::moduleOf(const LeakSite& site) const
{
    if (!site.module.valid())
        return std::nullopt;
    return trace->recording().strings[site.module];
}

} // namespace strata::model
