// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/rewrites.h"
#include "model/whatif/ask/offload_choice.h"
#include "model/whatif/plan/alternatives.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace strata::model {

namespace {

/// Of that kind, in a scenario; the last one counts. nullptr: none.
const Change* lastChangeOf(const Scenario& scenario, Change::Kind kind)
{
    const Change* last = nullptr;
    for (const Change& change : scenario.changes)
        if (change.kind == kind)
            last = &change;
    return last;
}

bool hasOptimizerOnHost(const Scenario& scenario)
{
    return std::ranges::any_of(scenario.changes, [](const Change& change) {
        const auto choice
            = change.kind == Change::Kind::Offload ? OffloadChoice::parse(change.value) : std::nullopt;
        return choice && choice->isOfOptimizer;
    });
}

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
/// them. Of batches and optimizers the new one stands for those before.
Scenario withChange(Scenario asked, const Change& change)
{
    if (change.kind == Change::Kind::Batch || change.kind == Change::Kind::Optimizer)
        std::erase_if(asked.changes, [&](const Change& one) { return one.kind == change.kind; });
    asked.changes.push_back(change);
    std::ranges::stable_sort(asked.changes, {}, &Change::kind);
    return asked;
}

/// Whether a change of the program adds something to what is asked for.
bool addsTo(const Scenario& asked, const Change& change)
{
    const Change* const same = lastChangeOf(asked, change.kind);
    if (change.kind == Change::Kind::Checkpoint || change.kind == Change::Kind::ZeroGrad)
        return same == nullptr;
    if (change.kind == Change::Kind::Offload)
        return !hasOptimizerOnHost(asked);
    if (change.kind == Change::Kind::Optimizer) // on the host it takes nothing, whatever it is
        return !hasOptimizerOnHost(asked) && (same == nullptr || same->text != change.text);
    return true;
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
    const bool asksBatch = lastChangeOf(asked, Change::Kind::Batch) != nullptr;
    if (asksBatch && run.batchItems && run.steps != nullptr && !run.steps->steps.empty())
        std::ranges::for_each(batchesOnTop(run, asked), addChange);
    for (const Scenario& single : singles) {
        if (single.changes.empty() && single.settings && !asked.settings)
            addSettings(*single.settings);
        for (const Change& change : single.changes)
            if (change.kind == Change::Kind::Batch ? !asksBatch : addsTo(asked, change))
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

} // namespace strata::model
