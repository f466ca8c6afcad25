// SPDX-License-Identifier: GPL-3.0-or-later
// What is surprising in a ledger: more than the textbook says, by type or by number, and what nobody knows.
#include "model/analysis/training/ledger/kept_iteration.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/base/nearest.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

constexpr double kMuch = 1.1; // times what is expected
constexpr std::int64_t kUnknownShare = 10; // one part in so many of what was requested
constexpr std::int64_t kCopiesShare = 20, kKeptShare = 10; // likewise

std::string perParameter(double bytes)
{
    return formatFigure(bytes) + " B";
}

/// A type that is wider than that of the parameters; none.
std::string_view widerType(
    const Recording& recording, const TensorSums::Elements& of, const TensorSums::Elements& parameters)
{
    const StringId type = of.mostly(), own = parameters.mostly();
    if (!type.valid() || !own.valid())
        return {};
    const std::string_view name = recording.strings[type];
    return elementBytes(name) > elementBytes(recording.strings[own]) ? name : std::string_view();
}

Sentence surpriseOf(const Recording& recording, const TensorSums& sums, const LedgerRow& row)
{
    if (!row.bytesPerParameter || !row.expectedBytesPerParameter
        || *row.bytesPerParameter <= *row.expectedBytesPerParameter * kMuch)
        return {};
    const TensorSums::Elements& parameters = sums.of(Kind::Parameter);
    const StringId type = parameters.mostly();
    const std::string_view own = type.valid() ? recording.strings[type] : std::string_view();
    const std::string is = perParameter(*row.bytesPerParameter);
    const std::string expected = perParameter(*row.expectedBytesPerParameter);
    switch (row.category) {
    case Category::OptimizerState: {
        const std::string_view wider = widerType(recording, sums.of(Kind::OptimizerState), parameters);
        return wider.empty()
            ? say("Optimizer state takes %1 a parameter; the optimizer needs %2", is, expected)
            : say("Optimizer state is in %1 although parameters are in %2: %3 a parameter", wider, own, is);
    }
    case Category::Gradient: {
        const std::string_view wider = widerType(recording, sums.of(Kind::Gradient), parameters);
        return wider.empty()
            ? say("Gradients take %1 a parameter although %2 would hold them", is, expected)
            : say("Gradients are in %1 although parameters are in %2: %3 a parameter", wider, own, is);
    }
    case Category::Parameter:
        return say("The blocks of parameters take %1 a parameter although %2 would hold them", is, expected);
    default:
        return {};
    }
}

/// Autocast's cache. Where a graph holds the copies, no setting frees them sooner.
std::optional<LedgerSurprise> surpriseOfCopies(const DeviceTrace& trace, const Categories& categories,
    std::span<const BlockId> active, std::int64_t requestedBytes)
{
    const std::vector<WeightCopy>& copies = categories.weightCopies();
    LedgerSurprise surprise;
    std::int64_t blocks = 0, heldBytes = 0, shownBytes = 0;
    for (const BlockId block : active) {
        if (block.isOlder())
            continue;
        const auto copy = std::ranges::lower_bound(
            copies, block.row(), {}, [](const WeightCopy& each) { return each.block.row(); });
        if (copy == copies.end() || copy->block != block)
            continue;
        const std::int64_t bytes = trace.blocks().requestedBytes[block];
        surprise.bytes = wrapAdd(surprise.bytes, bytes);
        heldBytes = wrapAdd(heldBytes, copy->heldByGraph ? bytes : 0);
        shownBytes = wrapAdd(shownBytes, copy->byCode ? bytes : 0);
        surprise.category = categories.of(block).category;
        blocks += 1;
    }
    if (heldBytes > 0 || surprise.bytes <= requestedBytes / kCopiesShare)
        return std::nullopt;
    const auto counted = sayCounted("%1 block", "%1 blocks", blocks);
    surprise.said = shownBytes == surprise.bytes
        ? say("%1 in %2 are autocast's copies of weights; cache_enabled=False frees each after its use",
            asBytes(surprise.bytes), counted)
        : say("%1 in %2 are probably autocast's copies of weights; cache_enabled=False would free each after "
              "its use",
            asBytes(surprise.bytes), counted);
    return surprise;
}

/// The graph of the step before.
std::optional<LedgerSurprise> surpriseOfKept(const KeptIteration& kept, std::int64_t requestedBytes)
{
    if (kept.bytes <= requestedBytes / kKeptShare)
        return std::nullopt;
    const auto bytes = asBytes(kept.bytes);
    const auto blocks = sayCounted("%1 block", "%1 blocks", kept.blocks);
    LedgerSurprise surprise{ kept.category, kept.bytes, {} };
    if (kept.kind == StepKind::Train)
        surprise.said
            = say("%1 in %2 are held from the step before until this step makes the same again; del "
                  "loss and outputs sooner",
                bytes, blocks);
    else if (kept.kind == StepKind::Forward)
        surprise.said = say("%1 in %2 are held from the forward before until this one makes the same again; "
                            "torch.no_grad() keeps no graph",
            bytes, blocks);
    else
        surprise.said = say(
            "%1 in %2 are held from the forward before until this one makes the same again", bytes, blocks);
    return surprise;
}

/// DDP's buckets beside gradients of their own. With views, the listed gradients are in the buckets.
std::optional<LedgerSurprise> surpriseOfBuckets(const DeviceTrace& trace, const Categories& categories,
    std::span<const BlockId> active, std::int64_t requestedBytes)
{
    std::int64_t buckets = 0, gradients = 0;
    for (const BlockId block : active) {
        if (block.isOlder())
            continue;
        const BlockCategory of = categories.of(block);
        const std::int64_t bytes = trace.blocks().requestedBytes[block];
        if (of.rule == CategoryRule::CommunicationBuckets)
            buckets = wrapAdd(buckets, bytes);
        else if (of.category == Category::Gradient && of.recorded)
            gradients = wrapAdd(gradients, bytes);
    }
    const std::int64_t saved = std::min(buckets, gradients);
    if (saved <= requestedBytes / kCopiesShare)
        return std::nullopt;
    return LedgerSurprise{ Category::Communication, saved,
        say("DDP's buckets repeat the gradients: gradient_as_bucket_view=True saves at most %1 here",
            asBytes(saved)) };
}

} // namespace

void tellSurprises(const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active,
    const TrainingSteps* steps, const TensorSums& sums, Ledger& ledger)
{
    const Recording& recording = trace.recording();
    if (auto copies = surpriseOfCopies(trace, categories, active, ledger.requestedBytes))
        ledger.surprises.push_back(std::move(*copies));
    if (const auto kept
        = steps ? keptIteration(trace, categories, *steps, ledger.event, active) : std::nullopt)
        if (auto surprise = surpriseOfKept(*kept, ledger.requestedBytes))
            ledger.surprises.push_back(std::move(*surprise));
    if (auto buckets = surpriseOfBuckets(trace, categories, active, ledger.requestedBytes))
        ledger.surprises.push_back(std::move(*buckets));
    for (LedgerRow& row : ledger.rows) {
        if (Sentence sentence = surpriseOf(recording, sums, row); !sentence.empty()) {
            const double more = *row.bytesPerParameter - *row.expectedBytesPerParameter;
            row.note = sentence;
            ledger.surprises.push_back({ row.category,
                nearestWhole(more * static_cast<double>(*ledger.parameters)), std::move(sentence) });
        }
        if (row.category == Category::Unknown && row.bytes > ledger.requestedBytes / kUnknownShare) {
            row.note = say("What %1 are for is not known", asBytes(row.bytes));
            ledger.surprises.push_back({ row.category, row.bytes, row.note });
        }
    }
    std::ranges::stable_sort(ledger.surprises, std::greater<>{}, &LedgerSurprise::bytes);
}

} // namespace strata::model
