// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/summary_advice.h"

#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/base/words.h"
#include "model/whatif/evidence/batch_items.h"

#include <fmt/format.h>
#include <optional>

namespace strata::cli {

std::vector<model::Advice> adviceOn(const model::DeviceTrace& trace, const model::ReplayReport& replay)
{
    const auto training = TrainingOption().of(trace);
    if (!training)
        return {};
    const model::RecordedRun run{ .trace = &trace,
        .report = &replay,
        .steps = &training->steps,
        .categories = &training->categories,
        .batchItems = model::batchItemsOf(trace, training->steps, training->categories) };
    auto advice = model::adviceOn(run);
    return advice ? std::move(*advice) : std::vector<model::Advice>();
}

void printAdvice(Output& out, const std::string& file, const model::SummaryOfDevice& device)
{
    if (!device.advice || device.advice->empty())
        return;
    out.line("");
    out.line(out.strong("Do this") + " (estimates)");
    for (const model::Advice& advice : *device.advice)
        out.line(fmt::format("  {}: {}", printable(advice.sentence().text()),
            out.faint(printable(advice.command(file, std::nullopt)))));
}

} // namespace strata::cli
