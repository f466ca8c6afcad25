// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/go_together.h"
#include "model/whatif/plan/alternatives.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace strata::model {

namespace {

/// Half a batch that is asked for, and twice as much; not the recorded one.
std::vector<Change> batchesOnTop(const RecordedRun& run, const Scenario& asked)
{
    const auto items = batchAfter(asked.changes, *run.batchItems);
    if (!items)
        return {};
    std::vector<std::int64_t> sizes{ *items * 2 };
    if (*items % 2 == 0)
        sizes.insert(sizes.begin(), *items / 2);
    std::vector<Change> batches;
    for (const std::int64_t size : sizes)
        if (size != *run.batchItems)
            if (auto change = Change::parse("batch=" + std::to_string(size)))
                batches.push_back(std::move(*change));
    return batches;
}

/// What is asked for with a change as well, where kinds stand in the order of changeKinds(), as a window has
/// them.
Scenario withChange(Scenario asked, const Change& change)
{
    if (change.kind->replacesItself)
        std::erase_if(asked.changes, [&](const Change& one) { return one.kind == change.kind; });
    asked.changes.push_back(change);
    std::ranges::stable_sort(asked.changes, {},
        [](const Change& one) { return std::ranges::find(changeKinds(), one.kind) - changeKinds().begin(); });
    return asked;
}

/// Whether a change of the program adds something to what is asked for.
bool addsTo(const Scenario& asked, const Change& change)
{
    if (anyDoes(asked.changes, change.kind->notBeside))
        return false;
    return std::ranges::none_of(asked.changes, [&](const Change& one) {
        return one.kind == change.kind && (change.kind->isOnce || one.text == change.text);
    });
}

} // namespace

std::vector<Alternative> alternativesOnTop(
    const RecordedRun& run, const std::vector<Scenario>& singles, const Scenario& asked)
{
    std::vector<Alternative> all;
    const auto add = [&](Scenario change, Scenario with) {
        if (goTogether(with))
            all.push_back({ std::move(change), std::move(with) });
    };
    const auto addChange = [&](const Change& change) {
        add({ .changes = { change }, .settings = {}, .capacityBytes = {} }, withChange(asked, change));
    };
    const auto addSettings = [&](const std::string& settings) {
        Scenario with = asked;
        with.settings = settings;
        add({ .changes = {}, .settings = settings, .capacityBytes = {} }, std::move(with));
    };
    const bool asksBatch = anyDoes(asked.changes, Does::Batch);
    if (asksBatch && run.batchItems && run.steps != nullptr && !run.steps->steps.empty())
        std::ranges::for_each(batchesOnTop(run, asked), addChange);
    for (const Scenario& single : singles) {
        if (single.changes.empty() && single.settings && !asked.settings)
            addSettings(*single.settings);
        for (const Change& change : single.changes)
            if (addsTo(asked, change))
                addChange(change);
    }
    if (asked.settings)
        std::ranges::for_each(settingsWorthTrying(*run.report, *asked.settings), addSettings);
    return all;
}

bool standsBefore(const Result<Prediction>& one, const Result<Prediction>& other)
{
    const auto place = [](const Result<Prediction>& of) {
        return std::pair(
            !of || of->runsOutOfMemory, of ? of->neededBytes() : std::numeric_limits<std::int64_t>::max());
    };
    return place(one) < place(other);
}

void AnsweredAlternatives::add(AnsweredAlternative row)
{
    const auto place = [](const AnsweredAlternative& of) {
        return std::pair(!of.neededBytes() || (of.prediction && of.prediction->runsOutOfMemory),
            of.neededBytes().value_or(0));
    };
    if (const auto needed = row.neededBytes())
        row.savedBytes = standsBytes - *needed;
    rows.insert(std::ranges::upper_bound(rows, place(row), {}, place), std::move(row));
}

AnsweredAlternatives answerAlternatives(
    const std::vector<RecordedRun>& runs, const Scenario& asked, const Prediction& answer)
{
    AnsweredAlternatives answered{ .rows = {}, .isOnTop = !asked.changesNothing() };
    answered.standsBytes = answered.isOnTop
        ? answer.neededBytes()
        : standsBytesPeak(runs.front().trace->recording(), answer.recorded);
    for (Alternative& one : alternativesOnTop(runs.front(), alternativesTo(runs.front()), asked)) {
        auto prediction = predict(takingPart(runs, one.all), one.all);
        if (prediction)
            prediction->run.reset();
        answered.add({ std::move(one.change), std::move(prediction), {} });
    }
    return answered;
}

} // namespace strata::model
