// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/alternatives_report.h"

#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace strata::cli {

namespace {

std::string sureOfRow(const model::AnsweredAlternative& one)
{
    if (one.calls)
        return surenessOf(*one.calls);
    const model::Result<model::Prediction>& prediction = one.prediction;
    if (!prediction)
        return printable(prediction.error().what.text());
    const std::string sure = fmt::format("{}, by {}",
        prediction->exact           ? "exact"
            : prediction->predicted ? "an estimate"
                                    : "bounds alone",
        model::evidenceWord(prediction->evidence));
    if (prediction->servesRequest) // said in its column
        return sure;
    if (prediction->runsOutOfMemory)
        return "runs out of memory; " + sure;
    return prediction->atLeastBytes ? "at least; " + sure : sure;
}

} // namespace

std::string surenessOf(const model::PeaksByCalls& calls)
{
    return calls.isConfirmed ? "confirmed by calls" : "by calls, not confirmed: " + printable(calls.note);
}

void printAlternatives(Output& out, const model::AnsweredAlternatives& answered)
{
    if (answered.rows.empty()) {
        out.line(answered.isOnTop ? "  nothing else is known that could be tried on top of it"
                                  : "  nothing is known that could be tried");
        return;
    }
    out.line("");
    const std::string title = answered.isOnTop ? "one more change" : "single change";
    const auto find = [&](auto&& is) {
        return std::ranges::find_if(answered.rows, [&](const model::AnsweredAlternative& one) {
            return one.prediction && one.change.settings && is(*one.prediction);
        });
    };
    const auto served = find([](const model::Prediction& of) { return of.servesRequest.has_value(); });
    const auto endless
        = find([](const model::Prediction& of) { return of.servesRequest || of.runsOutOfMemory; });
    std::vector<Table::Column> columns{ { title, Table::Align::Left }, { "reserved peak" }, { "saved" },
        { "serves the request" }, { "how sure", Table::Align::Left } };
    const bool saysServed = served != answered.rows.end();
    if (!saysServed)
        columns.erase(columns.begin() + 3);
    Table table(std::move(columns));
    for (const model::AnsweredAlternative& one : answered.rows) {
        std::vector<std::string> row{ printable(one.change.texts().front()),
            one.need ? model::formatBytes(one.need->afterBytes) : "-",
            one.need ? savedText(one.need->savedBytes()) : "-", sureOfRow(one) };
        if (saysServed)
            row.insert(row.begin() + 3,
                !one.prediction || !one.prediction->servesRequest ? "-"
                    : one.prediction->servesRequest == true       ? "yes"
                                                                  : "no");
        table.add(std::move(row));
    }
    table.print(out);
    if (endless != answered.rows.end() && endless->need && !answered.isOnTop)
        printSentences(out, { model::sayPeaksAreEndless(saysServed, *endless->need) });
}

} // namespace strata::cli
