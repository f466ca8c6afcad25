// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/call_answers.h"

#include "app/cli/whatif/report.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/calls/call_hints.h"
#include "model/whatif/calls/calls_again.h"
#include "model/whatif/run/run_replay.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <ranges>

namespace strata::cli {

namespace {

using model::Error;

model::PeaksByCalls peaksOf(const model::Confirmation& confirmation)
{
    return { confirmation.changed, confirmation.isConfirmed, confirmation.note };
}

} // namespace

void takeDevice(const std::vector<model::RecordedRun>& runs, ConfirmAsked& asked)
{
    const model::RecordedRun& first = runs.front();
    if (asked.devices.empty()) {
        asked.settings = first.report->settingsText;
        asked.capacityBytes = first.report->capacityBytes;
        asked.batchBefore = first.batchItems;
        asked.sequenceBefore = first.sequenceLength;
        for (const model::RecordedRun& run : runs | std::views::drop(1))
            asked.others.push_back({ run.trace, model::firstStepOf(run), run.batchItems });
    }
    asked.devices.push_back({ first.trace, model::recordedPeaks(first), model::firstStepOf(first),
        model::stepWithinCalls(first) });
}

CallAnswers::CallAnswers(const std::vector<model::RecordedRun>& runs, const ConfirmAsked& options,
    const model::Scenario& scenario, std::optional<std::int64_t> capacityBytes)
    : m_run(runs.front())
    , m_asked(options)
    , m_scenario(scenario)
{
    takeDevice(runs, m_asked);
    if (!m_scenario.capacityBytes)
        m_scenario.capacityBytes = m_asked.capacityBytes;
    m_roomBytes = m_scenario.capacityBytes;
    if (capacityBytes)
        m_scenario.capacityBytes = capacityBytes;
}

model::Result<model::Confirmation> CallAnswers::confirmOne(const model::Scenario& scenario)
{
    if (!m_confirming) {
        auto made = Confirming::of(m_asked);
        if (!made)
            return model::Failure(made.error());
        m_confirming.emplace(*std::move(made));
    }
    std::fputs(
        fmt::format("strata: the calls with {} (run {})\n", scenarioName(scenario), m_answered.size() + 1)
            .c_str(),
        stderr);
    auto confirmed = m_confirming->with(scenario);
    if (!confirmed)
        return model::Failure(confirmed.error());
    m_answered.emplace_back(scenario.texts(), confirmed->front());
    return std::move(confirmed->front());
}

model::Result<model::FitOption> CallAnswers::answer(model::FitOption option)
{
    model::Scenario scenario = option.with(m_scenario);
    if (scenario.capacityBytes) // as planCheapest(), which leaves a little room
        scenario.capacityBytes
            = static_cast<std::int64_t>(static_cast<double>(*scenario.capacityBytes) / model::kFitMargin);
    const auto confirmed = confirmOne(scenario);
    if (!confirmed)
        return model::Failure(confirmed.error());
    option.calls = peaksOf(*confirmed);
    option.neededBytes = confirmed->changed.reservedBytesPeak;
    option.fitsLikely = !confirmed->runsOutOfMemory;
    option.fits = option.fitsLikely && confirmed->isConfirmed;
    return option;
}

model::Result<void> CallAnswers::addTo(model::AnsweredAlternatives& alternatives)
{
    for (const model::Change& change : { model::attentionToTry(*m_run.trace).front(), model::logitsToTry() }) {
        if (std::ranges::find(m_scenario.changes, change.kind, &model::Change::kind)
            != m_scenario.changes.end())
            continue;
        model::Scenario scenario = m_scenario;
        scenario.changes.push_back(change);
        const auto confirmed = confirmOne(scenario);
        if (!confirmed && confirmed.error().kind != Error::Kind::Refused)
            return model::Failure(confirmed.error());
        model::AnsweredAlternative row{ { .changes = { change }, .settings = {}, .capacityBytes = {} },
            model::Failure(confirmed ? Error{ .kind = Error::Kind::Refused,
                               .what = model::Sentence(change.kind->notRecorded),
                               .hint = {},
                               .where = {} }
                                     : confirmed.error()) };
        if (confirmed)
            row.calls = peaksOf(*confirmed);
        alternatives.add(std::move(row));
    }
    return {};
}

std::optional<model::Confirmation> CallAnswers::confirmationOf(const model::FitOption& option) const
{
    if (!option.calls)
        return std::nullopt;
    const auto found = std::ranges::find(m_answered, option.with(m_scenario).texts(),
        &std::pair<std::vector<std::string>, model::Confirmation>::first);
    if (found == m_answered.end())
        return std::nullopt;
    model::Confirmation confirmation = found->second; // on a card as large as the budget; ours may have more
    confirmation.runsOutOfMemory = confirmation.runsOutOfMemory && m_roomBytes
        && confirmation.changed.reservedBytesPeak > *m_roomBytes;
    return confirmation;
}

} // namespace strata::cli
