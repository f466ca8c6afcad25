// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/batch.h"

#include "model/base/wrap.h"
#include "model/replay/allocator_settings.h"
#include "model/whatif/evidence/aligned_runs.h"
#include "model/whatif/evidence/older_pairs.h"
#include "model/whatif/run/start_segments.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace strata::model {

namespace {

/// A size of a block at a batch, or at a length of sequences.
struct Sample {
    std::int64_t items = 0, bytes = 0;
};

struct Fitted {
    std::int64_t bytes = 0, least = 0, most = 0;
    BlockRule rule
        = BlockRule::Interpolated; ///< Linear: whole bytes an item, above 0, as every sample has it
};

constexpr std::int64_t kLargestBlock = std::int64_t{ 1 } << 45; ///< 32 TiB: sums of many fit

/// The line through two samples; nothing where it has no whole bytes, or none above 0.
std::optional<std::int64_t> lineThroughSamples(const Sample& a, const Sample& b, std::int64_t items)
{
    const auto isSize
        = [](const Sample& sample) { return sample.bytes > 0 && sample.bytes <= kLargestBlock; };
    if (!isSize(a) || !isSize(b))
        return std::nullopt;
    const std::int64_t common = std::gcd(items - a.items, b.items - a.items);
    const std::int64_t apart = (b.items - a.items) / common;
    const std::int64_t more = b.bytes - a.bytes;
    std::int64_t at = 0;
    if (more % apart != 0 || __builtin_mul_overflow(more / apart, (items - a.items) / common, &at)
        || __builtin_add_overflow(at, a.bytes, &at) || at < 1 || at > kLargestBlock)
        return std::nullopt;
    return at;
}

std::int64_t roundedLineAt(const Sample& a, const Sample& b, std::int64_t items)
{
    const double rise = static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.items - a.items);
    const double at = static_cast<double>(a.bytes) + rise * static_cast<double>(items - a.items);
    return static_cast<std::int64_t>(std::clamp(std::round(at), 1.0, static_cast<double>(kLargestBlock)));
}

/// The pairs of so many items, or of one more or less: what a matrix of each with each has.
std::int64_t pairsOf(std::int64_t items, int more, int besides)
{
    return (items + more) * (items + besides);
}

/// Whole bytes a pair, the same at every sample. Of more than one way the one with the fewest corrections.
std::optional<std::int64_t> squareAt(const std::vector<Sample>& samples, std::int64_t items)
{
    constexpr std::int64_t kMost = std::int64_t{ 1 } << 31; // items: their pairs fit
    constexpr std::int64_t kEnough = 8; // items: from there on one more or less is no chance
    const auto [fewest, most] = std::ranges::minmax(samples, {}, &Sample::items);
    if (std::max(most.items, items) > kMost || fewest.bytes == most.bytes)
        return std::nullopt;
    constexpr std::pair<int, int> kCorrections[]
        = { { 0, 0 }, { -1, 0 }, { 1, 0 }, { -1, -1 }, { 1, 1 }, { -1, 1 } };
    for (const auto& [more, besides] : kCorrections) {
        const std::int64_t pairs = pairsOf(fewest.items, more, besides);
        if (pairs <= 0 || fewest.bytes <= 0 || fewest.bytes % pairs != 0
            || (fewest.items < kEnough && (more != 0 || besides != 0)))
            continue;
        const std::int64_t each = fewest.bytes / pairs;
        const auto bytesAt = [&](std::int64_t at) {
            std::int64_t bytes = 0;
            return __builtin_mul_overflow(each, pairsOf(at, more, besides), &bytes)
                ? kLargestBlock
                : std::clamp<std::int64_t>(bytes, 1, kLargestBlock);
        };
        if (std::ranges::all_of(
                samples, [&](const Sample& sample) { return bytesAt(sample.items) == sample.bytes; }))
            return bytesAt(items);
    }
    return std::nullopt;
}

/// Grows faster than with items, but for a few that have none, as shifted labels have one less.
bool isSteep(const Sample& a, const Sample& b)
{
    constexpr double kFew = 2;
    const double rise = static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.items - a.items);
    return static_cast<double>(a.bytes) < rise * (static_cast<double>(a.items) - kFew);
}

/// Where it bends: what lies between the nearest sample, the line, and powers through it, the steepness of
/// two samples and the whole ones beside that.
Fitted bentAt(const Sample& a, const Sample& b, std::int64_t items, BatchGrowth growth)
{
    const std::int64_t line = roundedLineAt(a, b, items);
    Fitted fitted{ line, std::min(line, a.bytes), std::max(line, a.bytes), BlockRule::Interpolated };
    if (growth == BatchGrowth::Lines || a.bytes <= 0 || b.bytes <= 0)
        return fitted;
    constexpr double kSteepest = 8; // else it is a jump
    const double power = std::log(static_cast<double>(b.bytes) / static_cast<double>(a.bytes))
        / std::log(static_cast<double>(b.items) / static_cast<double>(a.items));
    if (!(power > 1) || power > kSteepest)
        return fitted;
    const auto powerAt = [&](double of) {
        const double at = static_cast<double>(a.bytes)
            * std::pow(static_cast<double>(items) / static_cast<double>(a.items), of);
        return static_cast<std::int64_t>(std::clamp(std::round(at), 1.0, static_cast<double>(kLargestBlock)));
    };
    fitted.bytes = powerAt(power);
    for (const std::int64_t at : { fitted.bytes, powerAt(std::floor(power)), powerAt(std::ceil(power)) }) {
        fitted.least = std::min(fitted.least, at);
        fitted.most = std::max(fitted.most, at);
    }
    return fitted;
}

/// `samples` by their nearness to `items`, two or more.
Fitted fit(const std::vector<Sample>& samples, std::int64_t items, BatchGrowth growth)
{
    const auto known = [](std::int64_t bytes, BlockRule rule) { return Fitted{ bytes, bytes, bytes, rule }; };
    if (const auto square = squareAt(samples, items))
        return known(*square, BlockRule::Squared);
    const Sample &a = samples[0], &b = samples[1];
    const auto line = lineThroughSamples(a, b, items);
    const bool isLine = line && std::ranges::all_of(samples, [&](const Sample& sample) {
        return lineThroughSamples(a, b, sample.items) == sample.bytes;
    });
    if (growth == BatchGrowth::Powers && isSteep(a, b))
        return bentAt(a, b, items, growth);
    if (isLine)
        return known(*line, BlockRule::Linear);
    // Libraries round what they compute: of three samples the third shows that.
    constexpr std::int64_t kRounding = 512;
    const bool isNearLine = samples.size() > 2 && std::ranges::all_of(samples, [&](const Sample& sample) {
        return std::abs(roundedLineAt(a, b, sample.items) - sample.bytes) <= kRounding;
    });
    if (!isNearLine)
        return bentAt(a, b, items, growth);
    const std::int64_t near = roundedLineAt(a, b, items);
    return { near, std::max<std::int64_t>(near - kRounding, 1), near + kRounding, BlockRule::Interpolated };
}

/// Of the blocks that both have and that differ.
struct Differing {
    std::int64_t larger = 0, smaller = 0; ///< in the recording with more items
};

Differing differingOf(const BatchRecording& base, const BatchRecording& other, const AlignedRuns& aligned)
{
    Differing differing;
    for (std::size_t row = 0; row < aligned.other.size(); ++row)
        if (const std::uint32_t it = aligned.other[row]; it != AlignedRuns::kNone) {
            const std::int64_t before = base.trace->blocks().requestedBytes.born[row];
            const std::int64_t after = other.trace->blocks().requestedBytes.born[it];
            if (before != after)
                ++((after > before) == (other.items > base.items) ? differing.larger : differing.smaller);
        }
    return differing;
}

/// Of something from before recording: `bytes` in the first recording, `bytesIn(pairs)` in the others; by
/// nearness to `to` items.
template <class BytesIn>
std::vector<Sample> olderSamples(const std::vector<BatchRecording>& recordings,
    const std::vector<OlderPairs>& pairs, std::int64_t to, std::int64_t bytes, const BytesIn& bytesIn)
{
    std::vector<Sample> samples{ { recordings.front().items, bytes } };
    for (std::size_t other = 0; other < pairs.size(); ++other)
        samples.push_back({ recordings[other + 1].items, bytesIn(pairs[other]) });
    std::ranges::stable_sort(samples, {}, [&](const Sample& sample) { return std::abs(sample.items - to); });
    return samples;
}

/// What was there when recording began, by the samples that recordings have of it.
void fitOlder(const std::vector<BatchRecording>& recordings, const std::vector<AlignedRuns>& aligned,
    std::int64_t to, BatchGrowth growth, RuleSums& sums, BatchSizes& sizes)
{
    const BatchRecording& base = recordings.front();
    const BlockColumns& blocks = base.trace->blocks();
    std::vector<OlderPairs> pairs;
    for (std::size_t other = 0; other < aligned.size(); ++other)
        pairs.push_back(pairOlder(*base.trace, *recordings[other + 1].trace, aligned[other]));
    const auto add = [&](std::int64_t bytes, const auto& bytesIn) {
        const Fitted fitted = fit(olderSamples(recordings, pairs, to, bytes, bytesIn), to, growth);
        sums.add(fitted.rule, bytes);
        sizes.older.add(fitted.bytes, fitted.least, fitted.most);
        sizes.olderChange = wrapAdd(sizes.olderChange, wrapSub(fitted.bytes, bytes));
    };
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        add(blocks.requestedBytes[BlockId::older(row)], [&](const OlderPairs& of) { return of.bytes[row]; });
    if (std::ranges::any_of(pairs, [](const OlderPairs& of) { return of.besides > 0; }))
        add(0, [](const OlderPairs& of) { return of.besides; });
}

/// Of segments that were cached when recording began: lines through whole segments, rounded as these are.
std::vector<std::int64_t> fitCached(const std::vector<BatchRecording>& recordings, std::int64_t to)
{
    constexpr std::int64_t kRound = AllocatorSettings::kRoundLarge;
    const std::vector<std::int64_t> ours = cachedAtStart(*recordings.front().trace);
    std::vector<OlderPairs> pairs;
    for (std::size_t other = 1; other < recordings.size(); ++other)
        pairs.push_back(pairSizes(ours, cachedAtStart(*recordings[other].trace)));
    std::vector<std::int64_t> cached;
    for (std::size_t row = 0; row < ours.size(); ++row) {
        const auto samples = olderSamples(
            recordings, pairs, to, ours[row], [&](const OlderPairs& of) { return of.bytes[row]; });
        cached.push_back(samples[0].bytes == samples[1].bytes
                ? samples[0].bytes
                : (roundedLineAt(samples[0], samples[1], to) + kRound / 2) / kRound * kRound);
    }
    return cached;
}

} // namespace

Result<BatchSizes> batchByRecordings(
    const std::vector<BatchRecording>& recordings, std::int64_t to, BatchGrowth growth)
{
    const BatchRecording& base = recordings.front();
    const BlockColumns& blocks = base.trace->blocks();
    std::vector<AlignedRuns> aligned;
    bool allEqual = true;
    std::int64_t alone = 0, all = 0;
    for (std::size_t other = 1; other < recordings.size(); ++other) {
        aligned.push_back(
            alignRuns(*base.trace, *base.steps, *recordings[other].trace, *recordings[other].steps));
        allEqual = allEqual && aligned.back().equal;
        alone += aligned.back().alone;
        all += static_cast<std::int64_t>(blocks.bornCount() + recordings[other].trace->blocks().bornCount());
    }
    constexpr std::int64_t kOfWhichOneMayBeAlone = 5;
    if (alone * kOfWhichOneMayBeAlone > all)
        return fail(Error::Kind::Refused,
            say("the recordings do not do the same: %1 of their %2 blocks have no counterpart",
                asCount(alone), asCount(all)),
            say("record the same program, as many steps, with nothing but the batch, or the length of its "
                "sequences, changed"));
    for (std::size_t other = 0; other < aligned.size(); ++other)
        // Few items may be computed in another way, which takes more: what most blocks do tells.
        if (const Differing differing = differingOf(base, recordings[other + 1], aligned[other]);
            differing.smaller > differing.larger)
            return fail(Error::Kind::Refused,
                say("the recording that has more of what changes has smaller blocks: %1 of the %2 that "
                    "differ",
                    asCount(differing.smaller), asCount(differing.smaller + differing.larger)),
                say("say what FILE has, and then each --with, in their order; nothing else may be changed"));

    BatchSizes sizes;
    sizes.evidence = WhatIfEvidence::Recordings;
    RuleSums sums;
    std::vector<bool> undecided(blocks.bornCount());
    std::int64_t bent = 0;
    std::vector<Sample> samples;
    const auto farness = [&](const Sample& sample) { return std::abs(sample.items - to); };
    for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
        const std::int64_t bytes = blocks.requestedBytes.born[row];
        samples.assign(1, { base.items, bytes });
        for (std::size_t other = 0; other < aligned.size(); ++other)
            if (const std::uint32_t it = aligned[other].other[row]; it != AlignedRuns::kNone)
                samples.push_back({ recordings[other + 1].items,
                    recordings[other + 1].trace->blocks().requestedBytes.born[it] });
        std::ranges::stable_sort(samples, {}, farness);
        if (samples.size() < 2) {
            sums.add(BlockRule::NotAligned, bytes);
            // It may be missing with that batch, too, or go with it.
            sizes.add(bytes, std::min<std::int64_t>(bytes, 1),
                std::max(bytes, roundedLineAt({ 0, 0 }, { base.items, bytes }, to)));
            undecided[row] = true;
            continue;
        }
        const Fitted fitted = fit(samples, to, growth);
        if (fitted.bytes >= kLargestBlock && bytes < kLargestBlock)
            return fail(Error::Kind::Usage,
                say("a single block would have 32 TiB and more, which no device has"), say("ask for less"));
        sums.add(fitted.rule, bytes);
        sizes.add(fitted.bytes, fitted.least, fitted.most);
        // Where it bends, anything between is as likely.
        undecided[row] = fitted.rule == BlockRule::Interpolated;
        bent += undecided[row] ? 1 : 0;
    }
    fitOlder(recordings, aligned, to, growth, sums, sizes);
    sizes.cached = fitCached(recordings, to);
    sizes.uses = sums.used();
    sizes.unknownBytes = mostLiveBytes(*base.trace, undecided);
    sizes.differs = !aligned.front().equal;
    if (!allEqual)
        sizes.flag
            = say("the recordings differ in what they ask for: %1 of their %2 blocks have no counterpart",
                asCount(alone), asCount(all));
    else if (bent > 0)
        sizes.flag = sayCounted("the size of %1 block does not go linearly with what changes",
            "the sizes of %1 blocks do not go linearly with what changes", bent);
    return sizes;
}

} // namespace strata::model
