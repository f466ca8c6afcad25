// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/ranks_report.h"

#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

void printRanks(Output& out, const model::RanksAnswer& answer, std::size_t most)
{
    const model::RankWork& ranks = answer.work;
    const bool isOneRun = model::areOfOneRun(ranks);
    out.line(out.strong(isOneRun
            ? model::sayCounted("%1 rank of a run", "%1 ranks of one run", std::ssize(ranks.ranks)).text()
            : model::sayCounted("%1 trace", "%1 traces beside each other", std::ssize(ranks.ranks)).text()));
    printSentences(out, model::sayRanks(ranks, answer.verdict));
    Table table({ { "step", Table::Align::Left }, { "takes" }, { "slowest" }, { "others wait" },
        { "own, least" }, { "median" }, { "most" } });
    for (std::size_t i = 0; i < std::min(most, ranks.steps.size()); ++i) {
        const model::CommonStep& step = ranks.steps[i];
        std::vector<std::int64_t> own;
        for (const auto& of : step.ranks)
            if (of)
                own.push_back(of->ownNs());
        const model::Spread spread = model::spreadOf(std::move(own));
        table.add(
            { step.name.empty() ? std::string("all") : printable(step.name), model::formatDuration(step.ns()),
                isOneRun && step.leadNs > 0 ? fmt::format("rank {}", ranks.ranks[step.slowest])
                                            : std::string("-"),
                isOneRun ? model::formatDuration(step.leadNs) : std::string("-"),
                model::formatDuration(spread.least), model::formatDuration(spread.median),
                model::formatDuration(spread.most) });
    }
    if (!table.empty())
        table.print(out);
    out.line("");
}

} // namespace strata::cli
