// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/run_edits.h"

#include <algorithm>
#include <cmath>

namespace strata::model {

namespace {

struct Insertion {
    RunEdits::Place place;
    ProgramRun::Ask ask;
};

void insertFree(std::vector<Insertion>& insertions, std::uint32_t block, const RunEdits::Place& at)
{
    const EventIndex like = std::max<EventIndex>(at.event - 1, 0);
    insertions.push_back({ at, { Action::FreeRequested, block, like } });
    insertions.push_back({ at, { Action::FreeCompleted, block, like } });
}

/// What it has in a run whose blocks may have other sizes.
std::int64_t bytesIn(const ProgramRun& run, const RunEdits::Added& added)
{
    if (added.sizedAs == RunEdits::Added::kOfItsOwn || added.sizedBytes <= 0
        || run.blocks[added.sizedAs].bytes == added.sizedBytes)
        return std::max<std::int64_t>(added.bytes, 1);
    const double times
        = static_cast<double>(run.blocks[added.sizedAs].bytes) / static_cast<double>(added.sizedBytes);
    constexpr double kMost = static_cast<double>(std::int64_t{ 1 } << 62);
    return static_cast<std::int64_t>(
        std::llround(std::clamp(static_cast<double>(added.bytes) * times, 1.0, kMost)));
}

} // namespace

void RunEdits::append(const RunEdits& other)
{
    moves.insert(moves.end(), other.moves.begin(), other.moves.end());
    copies.insert(copies.end(), other.copies.begin(), other.copies.end());
    added.insert(added.end(), other.added.begin(), other.added.end());
    removed.insert(removed.end(), other.removed.begin(), other.removed.end());
    stepsLeft += other.stepsLeft;
    isUnclear = isUnclear || other.isUnclear;
    isGuessed = isGuessed || other.isGuessed;
    gpus = std::max(gpus, other.gpus);
    RuleSums sums;
    for (const RuleUse& use : uses)
        sums.add(use);
    for (const RuleUse& use : other.uses)
        sums.add(use);
    uses = sums.used();
}

ProgramRun edited(ProgramRun run, const RunEdits& edits)
{
    if (edits.empty())
        return run;
    std::vector<Insertion> insertions;
    insertions.reserve(2 * edits.moves.size() + 3 * (edits.copies.size() + edits.added.size()));
    enum class Fate : std::uint8_t { Stays, Moves, Goes };
    std::vector<Fate> fates(run.blocks.size(), Fate::Stays);
    for (const std::uint32_t row : edits.removed)
        fates[row] = Fate::Goes;
    for (const RunEdits::Move& move : edits.moves) {
        if (fates[move.block] != Fate::Stays)
            continue;
        fates[move.block] = Fate::Moves;
        if (move.dies.event == RunEdits::Added::kNever)
            continue;
        const EventIndex born = run.blocks[move.block].like;
        insertFree(insertions, move.block, std::max(move.dies, RunEdits::Place{ born + 1, 0, 0 }));
    }
    for (const RunEdits::Copy& copy : edits.copies) {
        const auto block = static_cast<std::uint32_t>(run.blocks.size());
        run.blocks.push_back(run.blocks[copy.like]);
        insertions.push_back(
            { copy.born, { Action::Alloc, block, std::max<EventIndex>(copy.born.event - 1, 0) } });
        insertFree(insertions, block, std::max(copy.born, copy.dies));
    }
    for (const RunEdits::Added& added : edits.added) {
        const auto block = static_cast<std::uint32_t>(run.blocks.size());
        run.blocks.push_back({ bytesIn(run, added), added.like, added.newStream });
        insertions.push_back(
            { added.born, { Action::Alloc, block, std::max<EventIndex>(added.born.event - 1, 0) } });
        if (added.dies.event != RunEdits::Added::kNever)
            insertFree(insertions, block, std::max(added.born, added.dies));
    }
    std::ranges::stable_sort(insertions, {}, &Insertion::place);

    std::vector<ProgramRun::Ask> asks;
    asks.reserve(run.asks.size() + insertions.size());
    auto next = insertions.begin();
    for (const ProgramRun::Ask& ask : run.asks) {
        for (; next != insertions.end() && next->place.event <= ask.like; ++next)
            asks.push_back(next->ask);
        const Fate fate = ask.block < fates.size() ? fates[ask.block] : Fate::Stays;
        if (fate == Fate::Stays || (fate == Fate::Moves && ask.action == Action::Alloc))
            asks.push_back(ask);
    }
    for (; next != insertions.end(); ++next)
        asks.push_back(next->ask);
    run.asks = std::move(asks);
    run.reordered = true;
    return run;
}

} // namespace strata::model
