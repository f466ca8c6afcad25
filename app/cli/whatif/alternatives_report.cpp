// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/alternatives_report.h"

#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace strata::cli {

namespace {

/// "1.20 GiB", "300 MiB more"
std::string savedText(std::int64_t bytes)
{
    return bytes < 0 ? model::formatBytes(-bytes) + " more" : model::formatBytes(bytes);
}

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
    if (prediction->runsOutOfMemory)
        return "runs out of memory; " + sure;
    if (!prediction->atLeastBytes)
        return sure;
    return (prediction->predicted && prediction->endsRefused ? "serves what was refused; " : "at least; ")
        + sure;
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
    std::size_t width = title.size();
    for (const model::AnsweredAlternative& one : answered.rows)
        width = std::max(width, printable(one.change.texts().front()).size());
    const auto row = [&](std::string_view change, std::string_view reserved, std::string_view saved,
                         std::string_view sure) {
        out.line(fmt::format("  {:<{}} {:>14} {:>15}   {}", change, width, reserved, saved, sure));
    };
    row(title, "reserved peak", "saved", "how sure");
    for (const model::AnsweredAlternative& one : answered.rows)
        row(printable(one.change.texts().front()),
            one.neededBytes() ? model::formatBytes(*one.neededBytes()) : "-",
            one.savedBytes ? savedText(*one.savedBytes) : "-", sureOfRow(one));
}

} // namespace strata::cli
