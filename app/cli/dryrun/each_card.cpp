// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/each_card.h"

#include "model/base/units.h"

#include <algorithm>
#include <cstdio>

namespace strata::cli {

namespace {

/// The largest card of each compute capability, in the order of the catalogue.
std::vector<const model::Card*> largestCards()
{
    std::vector<const model::Card*> largest;
    for (const model::Card& card : model::cards()) {
        const auto known = std::ranges::find_if(
            largest, [&](const model::Card* each) { return model::isComparable(card, each); });
        if (known == largest.end())
            largest.push_back(&card);
        else if (card.capacityBytes > (*known)->capacityBytes)
            *known = &card;
    }
    return largest;
}

} // namespace

model::Result<std::vector<model::OtherCardRun>> runOnEachCard(const DryRunOptions& options, const DryRun& run)
{
    std::vector<model::OtherCardRun> out;
    for (const model::Card* const card : largestCards()) {
        if (model::isComparable(*card, run.card()))
            continue;
        const ScratchFolder scratch;
        DryRunOptions other = options;
        other.device = card->name;
        other.capacityBytes.reset();
        other.record = false;
        other.time = false;
        other.log = (scratch.path() / "log").string();
        const auto ran = runDry(other, scratch);
        if (!ran)
            return model::Failure(ran.error());
        out.push_back({ card->name, ran->fits() ? ran->reservedPeak() : ran->neededAtLeast(), ran->fits(),
            ran->exitStatus });
        std::fprintf(stderr, "strata: %s: %s %s\n", card->name.c_str(),
            model::formatBytes(out.back().reservedPeak).c_str(),
            !ran->fits()                                        ? "or more needed"
                : ran->exitStatus != 0 || ran->processes.empty() ? "reserved, and the command failed"
                                                                 : "reserved");
        if (ran->processes.empty())
            out.pop_back();
        if (ran->interrupted())
            break;
    }
    return out;
}

std::vector<model::CardFit> fitsOf(const DryRun& run, const std::vector<model::OtherCardRun>& others)
{
    std::vector<model::CardFit> fits = model::cardFits(run.reservedPeak(), false, run.card());
    for (model::CardFit& one : fits) {
        const auto other = std::ranges::find_if(others, [&](const model::OtherCardRun& each) {
            return model::isComparable(*one.card, model::findCard(each.device));
        });
        if (one.fit != model::Fit::NotComparable || other == others.end()
            || (other->fits && other->exitStatus != 0))
            continue;
        one.marginBytes = one.card->capacityBytes - other->reservedPeak;
        // What does not fit on the largest fits on none that runs the same.
        one.fit = other->fits ? model::fitOf(one.card->capacityBytes, other->reservedPeak) : model::Fit::No;
    }
    return fits;
}

} // namespace strata::cli
