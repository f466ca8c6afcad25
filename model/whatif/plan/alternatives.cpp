// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/alternatives.h"

#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/evidence/site_blocks.h"

#include <algorithm>
#include <string>
#include <utility>

namespace strata::model {

std::vector<std::string> valuesWorthTrying(const ChangeKind& kind, const DeviceTrace& trace)
{
    return kind.worthTrying != nullptr ? kind.worthTrying(trace) : std::vector<std::string>();
}

std::vector<Scenario> alternativesTo(const RecordedRun& run)
{
    std::vector<Scenario> all;
    for (const ChangeKind* kind : changeKinds())
        if (kind->alternatives != nullptr)
            for (const std::string& value : kind->alternatives(run))
                if (const auto change = Change::parse(std::string(kind->word) + "=" + value))
                    all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    if (canTrySettings(*run.trace, *run.report))
        for (std::string& settings : settingsWorthTrying(*run.report))
            all.push_back({ .changes = {}, .settings = std::move(settings), .capacityBytes = {} });
    return all;
}

std::optional<Change> withoutLeak(const RecordedRun& run)
{
    const DeviceTrace& trace = *run.trace;
    const auto report = findLeaks(trace, *run.steps);
    if (!report)
        return std::nullopt;
    const auto leak = std::ranges::find_if(report->sites, [](const LeakSite& site) {
        return site.kind == LeakKind::Leak && site.stack.valid() && !site.examples.empty();
    });
    if (leak == report->sites.end()
        || (run.categories != nullptr
            && run.categories->of(leak->examples.front()).category == Category::Activation))
        return std::nullopt;
    const std::string line = lineFilter(trace.recording(), leak->stack);
    if (line.empty())
        return std::nullopt;
    auto change = Change::parse("remove=" + line);
    const auto site = change ? blocksOfSite(run, change->value) : Result<SiteBlocks>(Failure(change.error()));
    if (!site)
        return std::nullopt;
    std::int64_t blocks = 0, stay = 0;
    for (std::size_t row = 0; row < site->born.size(); ++row)
        if (site->born[row] == SiteBlocks::Is::There) {
            ++blocks;
            stay += trace.blocks().death(BlockId::born(row)) == BlockColumns::kNever ? 1 : 0;
        }
    constexpr std::int64_t kMost = 10; // one of so many may go: the last step is not over
    return stay >= blocks - blocks / kMost ? std::optional(std::move(*change)) : std::nullopt;
}

} // namespace strata::model
