// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/needs.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/analysis/summary/summary.h"
#include "model/base/wrap.h"
#include "model/trace/producer.h"

#include <algorithm>
#include <iterator>

namespace strata::model {

namespace {

using CardNames = std::vector<const Card*>;

constexpr std::ptrdiff_t kNamed = 3; // cards in a row; one more rather than "and 1 larger"

CardNames cardsWith(const std::vector<CardFit>& cards, Fit fit)
{
    CardNames names;
    for (const CardFit& one : cards)
        if (one.fit == fit)
            names.push_back(one.card);
    return names;
}

/// "A, B, C", or "A, B, C and 7 larger" in the words of `more`.
SentenceArgument listed(const CardNames& cards, English more)
{
    const std::ptrdiff_t all = std::ssize(cards), named = all > kNamed + 1 ? kNamed : all;
    std::string names;
    for (std::ptrdiff_t i = 0; i < named; ++i)
        names += (i > 0 ? ", " : "") + cards[static_cast<std::size_t>(i)]->name;
    return named == all ? argument(names)
                        : argument(Sentence(more, { argument(names), asCount(all - named) }));
}

/// The nearest to fitting first.
SentenceArgument tooSmall(CardNames cards)
{
    std::ranges::reverse(cards);
    return listed(cards, English("%1 and %2 smaller"));
}

std::size_t comparableCards(const Needs& needs)
{
    return needs.cards.size() - cardsWith(needs.cards, Fit::NotComparable).size();
}

void sayWhatIsCertain(Needs& needs)
{
    const CardNames small = cardsWith(needs.cards, Fit::No);
    SentenceArgument bytes = asBytes(needs.bytes);
    bytes.strong = true;
    const std::size_t comparable = comparableCards(needs);
    if (small.empty())
        needs.line.push_back(comparable == needs.cards.size()
                ? say("Every card of the catalogue has the %1 that are known of, but the run may need more.",
                    bytes)
                : say("Needs at least %1, and may need more.", bytes));
    else if (small.size() == needs.cards.size())
        needs.line.push_back(say("Needs at least %1: no card of the catalogue has as much.", bytes));
    else
        needs.line.push_back(say("Needs at least %1: not on %2.", bytes, tooSmall(small)));
}

void sayWhereItFits(Needs& needs)
{
    const CardNames enough = cardsWith(needs.cards, Fit::Yes), tight = cardsWith(needs.cards, Fit::Tight),
                    small = cardsWith(needs.cards, Fit::No);
    if (enough.size() == needs.cards.size())
        needs.line.push_back(say("*Fits* on all %1 cards of the catalogue.", asCount(std::ssize(enough))));
    else if (!enough.empty())
        needs.line.push_back(say("*Fits* on %1.", listed(enough, English("%1 and %2 larger"))));
    if (!tight.empty())
        needs.line.push_back(say("Tight on %1.", listed(tight, English("%1 and %2 more"))));
    if (small.size() == needs.cards.size() && !small.empty())
        needs.line.push_back(
            say("*Fits* on none of the %1 cards of the catalogue.", asCount(std::ssize(small))));
    else if (!small.empty())
        needs.line.push_back(say("Not on %1.", tooSmall(small)));
}

/// Tails and rounding of blocks are a few percent.
bool isMuch(std::int64_t cached, std::int64_t bytes)
{
    constexpr std::int64_t kPart = 10;
    return cached > 0 && cached >= bytes / kPart && cached <= bytes;
}

/// What was cached when recording began and is still reserved at the peak; 0: little, nothing, or not known,
/// since segments were given back, and a summary may be made without the events that say which.
std::int64_t cachedBefore(const Totals& totals)
{
    const std::int64_t cached = wrapSub(totals.reservedBytesStart, totals.requestedBytesStart);
    const bool frees = totals.actions.contains("segment_free") || totals.actions.contains("segment_unmap");
    return !frees && isMuch(cached, totals.reservedBytesPeak) ? cached : 0;
}

/// `strata dryrun --on-each-card` goes on to other cards only where the program fits the first one. Where it
/// did not, the first is the largest.
std::string dryRunOf(const Recording& recording, const Needs& needs, bool failed)
{
    const Card& first = failed ? *needs.cards.back().card : *needs.ranOn;
    return "strata dryrun --device " + first.name + " --on-each-card -- " + recordedCommand(recording);
}

/// Of cards with other kernels, or which kernels are assumed.
void sayWhatIsAssumed(Needs& needs, const Recording& recording, bool failed)
{
    if (needs.ranOn == nullptr) {
        needs.line.push_back(
            say("This assumes the kernels of the recorded GPU, which the file does not name."));
        return;
    }
    const auto others = static_cast<std::int64_t>(needs.cards.size() - comparableCards(needs));
    if (others == 0)
        return;
    needs.line.push_back(say("Not comparable with %1: other kernels than on %2.",
        sayCounted("%1 card", "%1 cards", others), needs.ranOn->name));
    needs.dryRun = dryRunOf(recording, needs, failed);
}

} // namespace

Sentence Needs::dryRunLine() const
{
    return dryRun.empty() ? Sentence() : say("Dry-run on each: %1", dryRun);
}

std::vector<Sentence> Needs::text() const
{
    std::vector<Sentence> all = line;
    if (!dryRun.empty())
        all.push_back(dryRunLine());
    return all;
}

std::optional<Needs> needsOf(const Recording& recording, const DeviceSummary& summary)
{
    const Totals& totals = summary.totals;
    Needs needs;
    // What was requested lies within that, unless the recording contradicts itself.
    needs.bytes = std::max({ totals.reservedBytesPeak, totals.reservedBytesEnd, totals.requestedBytesPeak });
    if (recording.refusal || needs.bytes <= 0)
        return std::nullopt;
    const bool failed = !summary.outOfMemory.empty();
    // Where memory is enough, the request that failed is served beside all that is reserved.
    for (const OutOfMemory& oom : summary.outOfMemory)
        needs.bytes = std::max(needs.bytes, wrapAdd(oom.reservedBytes, oom.requestedBytes));
    const DeviceRecording* const device = recording.find(totals.device);
    const bool isPart = device != nullptr && device->profiled; // of the run: what the profiler was on for
    needs.atLeast = failed || isPart || recording.truncation || summary.olderEventsGone
        || summary.breaches > 0 || totals.requestedPeakEvent < 0 || !totals.endKnown;
    const bool isWhole = device != nullptr && !isPart && !recording.truncation;
    if (isWhole && totals.reservedKnown && totals.events > 0)
        if (const std::int64_t cached = cachedBefore(totals); cached > 0) {
            needs.cachedBeforeBytes = cached;
            needs.line.push_back(say("%1 reserved, of which %2 cached before recording.",
                asBytes(totals.reservedBytesPeak), asBytes(cached)));
        }
    const Accelerator accelerator = acceleratorOf(recording);
    if (accelerator == Accelerator::Cuda) {
        needs.ranOn = recordedCard(recording, totals.device);
        needs.cards = cardFits(needs.bytes, needs.atLeast, needs.ranOn);
    }
    std::ranges::stable_sort(needs.cards, {}, [](const CardFit& one) { return one.card->capacityBytes; });
    if (failed && summary.capacity)
        needs.line.push_back(summary.capacity->exact
                ? say("*Did not fit* on the %1 of this device.", asBytes(summary.capacity->bytes))
                : say("*Did not fit* on the %1 that this device had for PyTorch.",
                    asBytes(summary.capacity->bytes)));
    if (accelerator != Accelerator::Cuda) {
        needs.line.push_back(say("Recorded on %1: Strata's catalogue has NVIDIA GPUs only.",
            Sentence(acceleratorName(accelerator))));
        return needs;
    }
    if (needs.atLeast)
        sayWhatIsCertain(needs);
    else
        sayWhereItFits(needs);
    sayWhatIsAssumed(needs, recording, failed);
    return needs;
}

} // namespace strata::model
