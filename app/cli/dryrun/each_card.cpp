// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/each_card.h"

#include "model/base/units.h"
#include "model/cards/generations.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace strata::cli {

namespace {

struct Ran {
    const model::Card* card = nullptr;
    model::OtherCardRun run;
    std::int64_t requestedPeak = 0;
    bool refused = false, touchedDevice = false, interrupted = false;

    [[nodiscard]] bool failed() const { return !refused && (run.exitStatus != 0 || !touchedDevice); }
};

model::Result<Ran> runOn(const model::Card& card, const DryRunOptions& options)
{
    const ScratchFolder scratch;
    DryRunOptions other = options;
    other.device = card.name;
    other.capacityBytes.reset();
    other.record = false;
    other.time = false;
    other.log = (scratch.path() / "log").string();
    const auto ran = runDry(other, scratch);
    if (!ran)
        return model::Failure(ran.error());
    Ran out{ &card,
        { card.name, ran->fits() ? ran->reservedPeak() : ran->neededAtLeast(), {}, ran->exitStatus },
        ran->requestedPeak(), !ran->fits(), !ran->processes.empty(), ran->interrupted() };
    if (!out.failed())
        out.run.fits = model::fitWord(ran->fit());
    return out;
}

void sayRan(const Ran& ran, std::size_t number, std::size_t all)
{
    std::fprintf(stderr, "strata: %zu of %zu: %s: %s %s\n", number, all, ran.card->name.c_str(),
        model::formatBytes(ran.run.reservedPeak).c_str(),
        ran.refused        ? "or more needed"
            : ran.failed() ? "reserved, and the command failed"
                           : "reserved");
}

std::int64_t availableBytes()
{
    std::ifstream file("/proc/meminfo");
    for (std::string key, unit; file >> key;) {
        std::int64_t kib = 0;
        if (key == "MemAvailable:" && file >> kib)
            return kib * 1024;
        std::getline(file, unit);
    }
    return 0;
}

/// Processes of one run share ports, and ranks do: they run alone.
std::size_t widthOf(const DryRunOptions& options, const DryRun& run)
{
    rusage children{};
    if (options.rank || run.processes.size() != 1 || getrusage(RUSAGE_CHILDREN, &children) != 0)
        return 1;
    return runsAtOnce(availableBytes(), std::int64_t{ 1024 } * children.ru_maxrss);
}

bool isInterrupted(const std::vector<Ran>& all)
{
    return std::ranges::any_of(all, &Ran::interrupted);
}

/// In the order of `cards`, so many at once. What fails beside another one runs again alone: both may write
/// the same file. Stops after an interrupt.
std::optional<model::Error> runAll(const std::vector<const model::Card*>& cards, const DryRunOptions& options,
    std::size_t atOnce, std::vector<Ran>& out)
{
    if (!cards.empty())
        std::fprintf(stderr, "strata: running%s on %zu other card%s%s\n",
            options.changes.empty() ? "" : " with the changes", cards.size(), cards.size() == 1 ? "" : "s",
            cards.size() > 1 && atOnce > 1 ? ", two at a time" : "");
    std::size_t number = 0;
    for (std::size_t first = 0; first < cards.size(); first += atOnce) {
        const std::size_t end = std::min(first + atOnce, cards.size());
        std::vector<std::future<model::Result<Ran>>> running;
        for (std::size_t i = first; i < end; ++i)
            running.push_back(std::async(end - first > 1 ? std::launch::async : std::launch::deferred,
                [&cards, &options, i] { return runOn(*cards[i], options); }));
        std::vector<model::Result<Ran>> ended;
        for (auto& each : running)
            ended.push_back(each.get());
        for (auto& each : ended) {
            if (each && each->failed() && !each->interrupted && ended.size() > 1)
                each = runOn(*each->card, options);
            if (!each)
                return each.error();
            sayRan(*each, ++number, cards.size());
            out.push_back(*std::move(each));
        }
        if (isInterrupted(out))
            break;
    }
    return std::nullopt;
}

/// Cards of one compute capability with this one that a run there is not sure of: PyTorch reserved too much,
/// and may free some of it for the next request.
void addUnsure(const Ran& ran, std::vector<const model::Card*>& cards)
{
    if (ran.failed() || ran.refused)
        return;
    for (const model::Card& card : model::cards())
        if (&card != ran.card && model::isComparable(card, ran.card)
            && card.capacityBytes < ran.card->capacityBytes
            && model::fitOf(card.capacityBytes, ran.run.reservedPeak) != model::Fit::Yes
            && model::fitOf(card.capacityBytes, ran.requestedPeak) != model::Fit::No)
            cards.push_back(&card);
}

} // namespace

std::size_t runsAtOnce(std::int64_t availableBytes, std::int64_t hostBytes)
{
    constexpr std::int64_t kTwo = 2, kSpare = 4; // a fourth stays for other programs
    return hostBytes > 0 && hostBytes <= (availableBytes - availableBytes / kSpare) / kTwo ? 2 : 1;
}

model::Result<EachCard> runOnEachCard(const DryRunOptions& options, const DryRun& run)
{
    std::vector<const model::Card*> cards = model::largestOfOtherGenerations(run.card());
    const std::size_t atOnce = widthOf(options, run);
    std::vector<Ran> ran;
    if (auto error = runAll(cards, options, atOnce, ran))
        return model::Failure(*std::move(error));
    cards.clear();
    if (run.card() != nullptr && run.card()->capacityBytes == run.capacityBytes)
        addUnsure({ run.card(), { run.device, run.reservedPeak(), {}, run.exitStatus }, run.requestedPeak(),
                      false, true, false },
            cards);
    for (const Ran& each : ran)
        addUnsure(each, cards);
    if (!isInterrupted(ran))
        if (auto error = runAll(cards, options, atOnce, ran))
            return model::Failure(*std::move(error));
    EachCard out{ {}, isInterrupted(ran) };
    std::erase_if(ran, [](const Ran& each) { return !each.touchedDevice; });
    std::ranges::sort(ran, {}, &Ran::card); // rows of the catalogue
    for (Ran& each : ran)
        out.runs.push_back(std::move(each.run));
    return out;
}

std::vector<model::CardFit> fitsOf(const DryRun& run, const std::vector<model::OtherCardRun>& others)
{
    std::vector<model::CardFit> fits = model::cardFits(run.reservedPeak(), false, run.card());
    for (model::CardFit& one : fits) {
        const model::OtherCardRun* other = nullptr; // on this card, else on the largest that runs the same
        std::int64_t largest = 0;
        for (const model::OtherCardRun& each : others) {
            const model::Card* const card = model::findCard(each.device);
            const bool isSame = card == one.card;
            if (!isSame
                && (one.fit != model::Fit::NotComparable || card == nullptr
                    || !model::isComparable(*one.card, card) || card->capacityBytes <= largest))
                continue;
            other = &each;
            if (isSame)
                break;
            largest = card->capacityBytes;
        }
        if (other == nullptr || other->fits.empty())
            continue;
        one.marginBytes = one.card->capacityBytes - other->reservedPeak;
        // What does not fit on the largest fits on none that runs the same.
        one.fit = other->fits == model::fitWord(model::Fit::No)
            ? model::Fit::No
            : model::fitOf(one.card->capacityBytes, other->reservedPeak);
    }
    return fits;
}

} // namespace strata::cli
