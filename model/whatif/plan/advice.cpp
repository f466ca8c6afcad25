// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/advice.h"

#include "model/base/shell.h"
#include "model/trace/producer.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/plan/alternatives.h"
#include "model/whatif/run/run_replay.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kShortTrace = 20'000, kLongestTrace = 1'000'000; // events
constexpr double kNearlyFull = 0.9; // of the capacity
constexpr std::int64_t kLeastSaved = 50; // a part of what is reserved

Effort effortOf(const Scenario& scenario)
{
    return scenario.changes.empty() ? Effort::Settings : scenario.changes.front().kind->effort;
}

bool isNearlyFull(std::int64_t reservedBytes, std::optional<std::int64_t> capacityBytes)
{
    return capacityBytes
        && static_cast<double>(reservedBytes) >= kNearlyFull * static_cast<double>(*capacityBytes);
}

/// Nobody trains with a smaller batch, another optimizer, or one on the host, who need not.
bool needsRoom(const RecordedRun& run, std::int64_t reservedBytes)
{
    const EventColumns& events = run.trace->events();
    bool ranOut = false;
    for (std::size_t row = 0; row < static_cast<std::size_t>(run.trace->eventCount()) && !ranOut; ++row)
        ranOut = events.action[row] == Action::Oom;
    return ranOut || isNearlyFull(reservedBytes, run.report->capacityBytes);
}

} // namespace

std::vector<std::string> Advice::words() const
{
    std::vector<std::string> words;
    for (const Change& change : scenario.changes) {
        words.emplace_back("--change");
        words.push_back(change.text);
    }
    if (scenario.settings) {
        words.emplace_back("--set");
        words.push_back(*scenario.settings);
    }
    if (prediction.batchBefore) {
        words.emplace_back("--batch-of");
        words.push_back(std::to_string(*prediction.batchBefore));
    }
    return words;
}

std::string Advice::command(const std::string& file, std::optional<int> device) const
{
    std::string line = "strata whatif " + shellQuoted(file);
    if (device)
        line += " --device " + std::to_string(*device);
    for (const std::string& word : words())
        line += ' ' + shellQuoted(word);
    return line;
}

Sentence Advice::sentence() const
{
    const std::string change = scenario.changes.empty()
        ? (variable.empty() ? "settings " : variable + "=") + *scenario.settings
        : scenario.changes.front().text;
    if (!prediction.predicted)
        return say("with %1 it would reserve %2 at most instead of %3", verbatim(change),
            asBytes(need.afterBytes), asBytes(need.beforeBytes));
    return say("with %1 it would reserve about %2 instead of %3", verbatim(change), asBytes(need.afterBytes),
        asBytes(need.beforeBytes));
}

bool isWorthAdvice(const DeviceSummary& summary)
{
    const auto capacity = summary.capacity ? std::optional(summary.capacity->bytes) : std::nullopt;
    const bool needsRoom
        = !summary.outOfMemory.empty() || isNearlyFull(summary.totals.reservedBytesPeak, capacity);
    const std::int64_t events = summary.totals.events;
    return events > 0 && events <= (needsRoom ? kLongestTrace : kShortTrace);
}

Result<std::vector<Advice>> adviceOn(const RecordedRun& run, const Progress& progress)
{
    RecordedRun ordered = run;
    const auto found = findOrders({ &ordered, 1 }, progress);
    if (!found && found.error().kind == Error::Kind::Cancelled)
        return Failure(found.error());
    if (!found)
        return std::vector<Advice>{};
    // What is refused a request is no advice: endless memory matters where the recording was refused one.
    const Scenario nothing{ .changes = {},
        .settings = {},
        .capacityBytes = {},
        .firstLook = ordered.trace->outOfMemories().empty() };
    const auto asRecorded = predict({ ordered }, nothing, progress);
    if (!asRecorded && asRecorded.error().kind == Error::Kind::Cancelled)
        return Failure(asRecorded.error());
    if (!asRecorded)
        return std::vector<Advice>{};
    const NeededBytes before = asRecorded->need();
    const std::int64_t recorded
        = before.isRefused ? std::max(before.bytes, before.endlessBytes) : before.bytes;
    std::array<std::optional<std::pair<std::int64_t, Scenario>>, kEfforts> best; // what is needed with each
    const bool isTight = needsRoom(ordered, before.bytes);
    std::vector<Scenario> all = alternativesTo(ordered);
    if (ordered.steps != nullptr)
        if (auto change = withoutLeak(ordered))
            all.push_back({ .changes = { std::move(*change) }, .settings = {}, .capacityBytes = {} });
    for (Scenario& scenario : all) {
        if (effortOf(scenario) >= Effort::Host && !isTight)
            continue;
        scenario.firstLook = true;
        const auto look = predict({ ordered }, scenario, progress);
        if (!look && look.error().kind == Error::Kind::Cancelled)
            return Failure(look.error());
        if (!look || look->runsOutOfMemory)
            continue;
        auto& of = best[static_cast<std::size_t>(effortOf(scenario))];
        if (!of || look->neededBytes() < of->first)
            of = { look->neededBytes(), std::move(scenario) };
    }
    std::vector<Advice> advice;
    for (auto& of : best) {
        if (!of || of->first > recorded - recorded / kLeastSaved)
            continue;
        Scenario& scenario = of->second;
        scenario.firstLook = false;
        auto prediction = predict({ ordered }, scenario, progress);
        if (!prediction && prediction.error().kind == Error::Kind::Cancelled)
            return Failure(prediction.error());
        if (!prediction)
            continue;
        const ComparedNeed need = compareAnswers(nothing, *asRecorded, scenario, *prediction);
        if (need.savedBytes() >= need.beforeBytes / kLeastSaved)
            advice.push_back({ .scenario = std::move(scenario),
                .prediction = std::move(*prediction),
                .need = need,
                .variable = std::string(settingsVariable(acceleratorOf(run.trace->recording()))) });
    }
    return advice;
}

} // namespace strata::model
