// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/findings.h"

#include "model/base/units.h"
#include "model/base/words.h"

#include <fmt/format.h>

namespace strata::cli {

using model::Finding;

void printFindings(Output& out, const model::Integrity& integrity)
{
    const auto print = [&](const Finding& finding, const std::string& kind) {
        std::string where
            = finding.event < 0 ? "at the start" : fmt::format("event {}", model::formatCount(finding.event));
        if (finding.bytes != 0)
            where += ", " + model::formatBytes(finding.bytes);
        out.line(fmt::format("  {}  {} ({}), {}", kind, model::checkSentence(finding.check).text(), where,
            out.faint(std::string(model::checkName(finding.check)))));
        if (!finding.cause.empty())
            out.line(fmt::format("          {}", finding.cause.text()));
    };
    for (const Finding* finding : integrity.breaches)
        print(*finding, out.bad("breach"));
    for (const Finding* finding : integrity.notes)
        print(*finding, out.faint("note  "));
}

} // namespace strata::cli
