// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/ranks_report.h"

#include "app/cli/device_report.h"
#include "app/cli/text.h"
#include "model/analysis/work/ranks/rank_verdict.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <fmt/format.h>

namespace strata::cli {

namespace {

void writeRankVerdict(JsonWriter& json, const model::RankWork& ranks, const model::RankVerdict& verdict)
{
    const auto rankOf = [&](const std::optional<std::size_t>& place) {
        return place ? std::optional(ranks.ranks[*place]) : std::nullopt;
    };
    json.key("ranks_verdict")
        .beginObject()
        .member("balance", model::rankBalanceWord(verdict.balance))
        .member("ranks", std::ssize(ranks.ranks))
        .member("world_size", ranks.worldSize)
        .member("steps", std::ssize(ranks.steps))
        .member("warmups", ranks.warmups)
        .member("step_ns", verdict.stepNs)
        .member("lead_ns", verdict.leadNs)
        .member("slowest_rank", rankOf(verdict.slowest))
        .key("cause");
    if (verdict.cause)
        json.beginObject().member("cause", verdict.cause->word()).member("ns", verdict.cause->ns).endObject();
    else
        json.null();
    json.key("worst_step");
    if (verdict.worst)
        json.value(std::int64_t(*verdict.worst));
    else
        json.null();
    json.endObject();
}

void writeCommonStep(JsonWriter& json, const model::RankWork& ranks, const model::CommonStep& step)
{
    json.beginObject()
        .member("name", step.name)
        .member("slowest_rank", step.leadNs > 0 ? std::optional(ranks.ranks[step.slowest]) : std::nullopt)
        .member("lead_ns", step.leadNs)
        .key("ranks")
        .beginArray();
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
        if (const auto& of = step.ranks[rank])
            json.beginObject()
                .member("rank", ranks.ranks[rank])
                .member("start_ns", of->time.beginNs)
                .member("duration_ns", of->time.ns())
                .member("own_ns", of->ownNs())
                .member("waited_ns", of->waitedNs)
                .member("computation_ns", of->computationNs)
                .member("copies_ns", of->copiesNs)
                .endObject();
    json.endArray().endObject();
}

} // namespace

void writeRanks(JsonWriter& json, const std::vector<model::RankTrace>& traces)
{
    const model::RankWork ranks = model::rankWorkOf(traces);
    writeRankVerdict(json, ranks, model::rankVerdictOf(ranks, traces));
    json.key("rank_steps").beginArray();
    for (const model::CommonStep& step : ranks.steps)
        writeCommonStep(json, ranks, step);
    json.endArray().key("rank_sums").beginArray();
    for (std::size_t rank = 0; rank < ranks.ranks.size(); ++rank) {
        const model::RankSums sums = model::rankSumsOf(ranks, rank);
        json.beginObject()
            .member("rank", ranks.ranks[rank])
            .member("steps", sums.steps)
            .member("slowest_steps", sums.slowestSteps)
            .member("own_ns", sums.ownNs)
            .member("waited_ns", sums.waitedNs)
            .member("computation_ns", sums.computationNs)
            .member("copies_ns", sums.copiesNs)
            .endObject();
    }
    json.endArray().key("rank_clocks").beginArray();
    for (std::size_t rank = 0; rank < ranks.clocks.size(); ++rank)
        if (const auto& clock = ranks.clocks[rank])
            json.beginObject()
                .member("rank", ranks.ranks[rank])
                .member("offset_ns", clock->offsetNs)
                .member("error_ns", clock->errorNs)
                .member("steps", clock->steps)
                .endObject();
    json.endArray();
}

void printRanks(Output& out, const std::vector<model::RankTrace>& traces, std::size_t most)
{
    const model::RankWork ranks = model::rankWorkOf(traces);
    const bool isOneRun = model::areOfOneRun(ranks);
    out.line(out.strong(isOneRun
            ? model::sayCounted("%1 rank of a run", "%1 ranks of one run", std::ssize(ranks.ranks)).text()
            : model::sayCounted("%1 trace", "%1 traces beside each other", std::ssize(ranks.ranks)).text()));
    printSentences(out, model::sayRanks(ranks, model::rankVerdictOf(ranks, traces)));
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
