// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_language.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/last_uses.h"
#include "model/whatif/kinds/removed_blocks.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace strata::model {

extern const ChangeKind kRemoveKind;

namespace {

/// What letting go leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by. A statement may have a tensor up to its
/// end.
constexpr double kFreedBelow = 0.01, kFreedAbove = 0.03, kFreedReserved = 0.04;

/// The same of lines that are not there: little things that they would have done for others.
constexpr double kRemovedOff = 0.002;

/// A place in the program: what a filter says.
Result<void> readSite(Change& change, Sentence examples)
{
    const auto site = parseFilter(change.value);
    if (!site)
        return fail(
            Error::Kind::Usage, say("--change '%1': %2", change.text, site.error().what), site.error().hint);
    if (site->empty())
        return fail(Error::Kind::Usage, say("--change '%1' names no place in the program", change.text),
            std::move(examples));
    return {};
}

Result<void> readRemoved(Change& change)
{
    return readSite(change, say("give a line, a function or a file, as remove=train.py:57, or a filter"));
}

Result<void> readFreed(Change& change)
{
    change.effect = Does::Frees;
    const std::string& value = change.value;
    change.asked = FreedPlace{ value == "last-use" ? std::string() : value };
    if (value == "last-use")
        return {};
    if (value == "last_use" || value == "lastuse" || value == "last use")
        return fail(
            Error::Kind::Usage, say("--change '%1' is not known", change.text), say("give free=last-use"));
    return readSite(change, say("give free=last-use, or a line, a function or a file, as free=train.py:57"));
}

void weighFreed(Prediction& prediction, const FreedTensors& freed)
{
    weaken(prediction, WhatIfEvidence::Deep);
    addUses(prediction, freed.edits.uses);
    prediction.held = freed.held;
    leaveRoom(prediction, &PeakFigures::requestedBytesPeak, kFreedBelow, kFreedAbove, 0, 0);
    leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, kFreedBelow, kFreedAbove, 0, 0);
    leaveRoom(prediction, &PeakFigures::reservedBytesPeak, kFreedReserved, kFreedReserved, kSegmentBytes,
        kSegmentBytes);
    giveReason(prediction, anEstimate(say("it goes by what the deep step tells of one step")));
}

void weighRemoved(Prediction& prediction, const RemovedBlocks& removed)
{
    weaken(prediction, WhatIfEvidence::Frames);
    addUses(prediction,
        { { BlockRule::Removed, static_cast<std::int64_t>(removed.rows.size()), removed.bytes } });
    prediction.unknownBytes = std::max(prediction.unknownBytes, removed.unknownBytes);
    for (std::int64_t PeakFigures::*peak : { &PeakFigures::requestedBytesPeak,
             &PeakFigures::allocatedBytesPeak, &PeakFigures::reservedBytesPeak })
        prediction.least.*peak = std::max<std::int64_t>(prediction.least.*peak - removed.olderBytes, 0);
    // What is left of a block is not split off, and a segment more or less: where blocks lie decides.
    leaveRoom(
        prediction, { .share = kRemovedOff, .reservedShare = kRemovedOff, .allocatedBytes = kTailBytes });
    if (removed.olderBytes > 0)
        prediction.reason = anEstimate(say("memory older than the recording stands as it was, though those "
                                           "lines may have asked for some of it"));
    if (removed.mayBeOfBackward)
        giveReason(prediction,
            anEstimate(say("what backward asks for on account of those lines, if it does, "
                           "has no line and stays")));
    giveReason(prediction,
        anEstimate(say("without those lines the program is taken to ask for the rest as it did")));
}

Result<void> makeRemoved(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    std::vector<std::string> sites;
    for (const Change& change : scenario.changes)
        if (change.kind == &kRemoveKind)
            sites.push_back(change.value);
    auto made = RemovedBlocks::of(run, sites);
    if (!made)
        return Failure(made.error());
    const auto removed = std::make_shared<const RemovedBlocks>(std::move(*made));
    rewrites.add({ .stage = ChangeStage::Lines,
        .resize =
            [removed](ProgramRun& sized, bool all) {
                for (const std::uint32_t row : removed->rows)
                    sized.blocks[row].bytes = 0; // nobody asks for nothing
                sized.unasked = removed->refused;
                for (std::size_t i = 0; all && i < removed->doubtful.size(); ++i)
                    sized.blocks[removed->doubtful[i]].bytes = 0;
            },
        .leavesDoubt = !removed->doubtful.empty(),
        .weigh = [removed](Prediction& prediction) { weighRemoved(prediction, *removed); } });
    return {};
}

Result<void> makeFreed(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    std::vector<FreedPlace> places;
    for (const Change& change : scenario.changes)
        if (change.does(Does::Frees))
            places.push_back(change.as<FreedPlace>());
    auto made = FreedTensors::of(run, places);
    if (!made)
        return Failure(made.error());
    const auto freed = std::make_shared<const FreedTensors>(std::move(*made));
    rewrites.add({ .stage = ChangeStage::LastUses,
        .edits = freed->edits,
        .weigh = [freed](Prediction& prediction) { weighFreed(prediction, *freed); } });
    return {};
}

std::vector<std::string> placesToFree(const DeviceTrace& trace)
{
    std::vector<std::string> values;
    if (!usableDeepStep(trace))
        return values;
    values.emplace_back("last-use");
    std::ranges::move(busiestLinesOf(trace), std::back_inserter(values));
    return values;
}

} // namespace

extern constinit const ChangeKind kRemoveKind{
    .word = "remove",
    .values = "remove=SITE",
    .help = English("without the line, function or file that allocates"),
    .read = readRemoved,
    .stage = ChangeStage::Lines,
    .make = makeRemoved,
    .madeBy = MadeBy::Hand,
    .timeUnknown = English("how long it takes without some of its lines is not known"),
    .effort = Effort::Leak,
    .worthTrying = busiestLinesOf,
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Without a line"),
        .about = English("What a line, a function or a file allocates is not there, as where a leak is "
                         "mended: train.py:57, or any filter"),
        .needs = English("It takes a recording with stacks.") },
};

extern constinit const ChangeKind kFreeKind{
    .word = "free",
    .values = "free=last-use or free=SITE",
    .help = English("tensors go behind their last use, all or those of a line"),
    .read = readFreed,
    .stage = ChangeStage::LastUses,
    .make = makeFreed,
    .madeBy = MadeBy::Hand,
    .worthTrying = placesToFree,
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Free sooner"),
        .about = English("A del behind the last use of what the program holds: of all of it (last-use), or "
                         "of what a line allocates, as train.py:57"),
        .needs = English("It takes a deep step, which tells what is used when: strata record "
                         "--deep-step 3.") },
};

} // namespace strata::model
