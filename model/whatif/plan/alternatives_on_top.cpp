// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/go_together.h"
#include "model/whatif/plan/alternatives.h"
#include "model/whatif/run/run_replay.h"

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
    if (asked.settings && canTrySettings(*run.trace, *run.report))
        std::ranges::for_each(settingsWorthTrying(*run.report, *asked.settings), addSettings);
    return all;
}

ComparedNeed compareAnswers(
    const Scenario& asked, const Prediction& answer, const Scenario& all, const Prediction& changed)
{
    NeededBytes before = answer.need();
    // What a changed program requests instead of a refused request is not known: both go without it.
    if (asked.changes.empty() && !all.changes.empty())
        before.isRefused = false;
    return compareNeeds(before, changed.need());
}

AnsweredAlternative answeredAlternative(Scenario change, const Scenario& all, Result<Prediction> prediction,
    const Scenario& asked, const Prediction* answer)
{
    AnsweredAlternative one{ std::move(change), std::move(prediction) };
    if (!one.prediction)
        return one;
    one.prediction->run.reset();
    if (answer != nullptr)
        one.need = compareAnswers(asked, *answer, all, *one.prediction);
    return one;
}

bool standsBefore(const AnsweredAlternative& one, const AnsweredAlternative& other)
{
    const auto place = [](const AnsweredAlternative& of) {
        return std::pair(!of.calls && (!of.prediction || of.prediction->isRefused()),
            of.need             ? of.need->afterBytes
                : of.prediction ? of.prediction->neededBytes()
                                : std::numeric_limits<std::int64_t>::max());
    };
    return place(one) < place(other);
}

void AnsweredAlternatives::add(AnsweredAlternative row)
{
    if (row.calls)
        row.need = ComparedNeed{ standsBytes, row.calls->peaks.reservedBytesPeak };
    rows.insert(std::ranges::upper_bound(rows, row, standsBefore), std::move(row));
}

AnsweredAlternatives answerAlternatives(
    const std::vector<RecordedRun>& runs, const Scenario& asked, const Prediction& answer)
{
    AnsweredAlternatives answered{ .rows = {}, .isOnTop = !asked.changesNothing() };
    answered.standsBytes = answer.need().bytes;
    std::vector<RecordedRun> known = runs;
    if (const auto need = needAsRecorded(known.front())) // once for all
        known.front().need = *need;
    for (Alternative& one : alternativesOnTop(runs.front(), alternativesTo(runs.front()), asked))
        answered.add(answeredAlternative(
            std::move(one.change), one.all, predict(takingPart(known, one.all), one.all), asked, &answer));
    return answered;
}

} // namespace strata::model
