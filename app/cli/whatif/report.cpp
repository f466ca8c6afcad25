// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/report.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "app/cli/whatif/alternatives_report.h"
#include "app/cli/whatif/held_report.h"
#include "app/cli/whatif/plan_report.h"
#include "model/analysis/summary/recorded_card.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/cards/fits.h"
#include "model/trace/producer.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/calls/call_hints.h"

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace strata::cli {

namespace {

using model::formatBytes;
using model::PeakFigures;
using model::Prediction;
using model::WhatIfDevice;

/// What would be reserved, as a part of a sentence.
std::string reservedOf(const WhatIfDevice& device)
{
    const Prediction& prediction = device.prediction;
    if (const model::Confirmation* const confirmed = device.confirmed())
        return formatBytes(confirmed->changed.reservedBytesPeak);
    if (prediction.predicted)
        return (prediction.exact ? "" : "about ") + formatBytes(prediction.predicted->reservedBytesPeak);
    if (device.needsAtLeast())
        return "at least " + formatBytes(std::max(prediction.least.reservedBytesPeak, device.roomBytes()));
    return fmt::format("something between {} and {}", formatBytes(prediction.least.reservedBytesPeak),
        formatBytes(prediction.most.reservedBytesPeak));
}

/// "1.20 GiB less than was recorded".
std::string comparedWith(std::int64_t recorded, const WhatIfDevice& device)
{
    const Prediction& prediction = device.prediction;
    const auto is = device.confirmed() != nullptr
        ? std::optional(device.confirmed()->changed.reservedBytesPeak)
        : prediction.predicted ? std::optional(prediction.predicted->reservedBytesPeak)
                               : std::nullopt;
    if (!is)
        return fmt::format("{} was recorded", formatBytes(recorded));
    if (const auto& compared = prediction.compared();
        prediction.recordedNeed && device.confirmed() == nullptr)
        return compared.savedBytes() == 0
            ? "as with the recorded settings"
            : fmt::format("{} {} than with the recorded settings",
                formatBytes(std::abs(compared.savedBytes())), compared.savedBytes() > 0 ? "less" : "more");
    if (*is == recorded)
        return "as was recorded";
    return fmt::format("{} {} than the {} that were recorded", formatBytes(std::abs(*is - recorded)),
        *is < recorded ? "less" : "more", formatBytes(recorded));
}

/// "1.20 GiB less than the 3.00 GiB that were recorded".
std::string requestedText(const WhatIfDevice& device)
{
    const std::int64_t is = device.confirmation->changed.requestedBytesPeak,
                       was = device.prediction.recorded.requestedBytesPeak;
    return fmt::format("it requests {}, {}", formatBytes(is),
        is == was ? "as was recorded"
                  : fmt::format("{} {} than the {} that were recorded", formatBytes(std::abs(is - was)),
                      is < was ? "less" : "more", formatBytes(was)));
}

std::string verdictOf(
    const WhatIfDevice& device, const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = device.prediction;
    std::string text = device.isRequestedAlone()
        ? requestedText(device) + "; its reserved peak is not known"
        : fmt::format("it {} {}{}, {}", device.confirmed() != nullptr ? "reserves" : "would reserve",
            device.needsAtLeast() && !prediction.predicted ? "" : "up to ", reservedOf(device),
            comparedWith(prediction.recorded.reservedBytesPeak, device));
    if (device.needsAtLeast() && prediction.predicted && prediction.endsRefused && !device.runsOutOfMemory())
        text += "; there the recording ends, in a request that was refused and now is served";
    if (device.runsOutOfMemory())
        text += fmt::format("; {} it runs out of memory{}",
            scenario.capacityBytes ? fmt::format("with {}", formatBytes(*scenario.capacityBytes))
                                   : "on the device that was recorded",
            prediction.outOfMemoryEvent
                ? fmt::format(", first at {}", momentName(*device.trace, *prediction.outOfMemoryEvent))
                : std::string());
    const std::int64_t context = model::leastOutsideBytesOfProcess();
    if (maxPeakBytes && model::fitOf(*maxPeakBytes, device.neededBytes()) == model::Fit::No)
        text += fmt::format("; with a CUDA context of at least {} that is {} more than --max-peak {}",
            formatBytes(context), formatBytes(device.neededBytes() + context - *maxPeakBytes),
            formatBytes(*maxPeakBytes));
    return text;
}

/// How far the figure that was made of the recording is off.
std::string offBy(std::int64_t estimate, std::int64_t truth)
{
    if (estimate == truth)
        return "the same";
    const double percent
        = truth == 0 ? 0 : static_cast<double>(estimate - truth) / static_cast<double>(truth) * 100;
    return fmt::format(
        "{:+.2f} %, {}{}", percent, estimate < truth ? "-" : "+", formatBytes(std::abs(estimate - truth)));
}

std::string sizeOfBatch(std::int64_t items)
{
    return model::formatCount(items) + (items == 1 ? " item" : " items");
}

/// "A, B, C and 7 larger" of the cards of the catalogue with which it gets on like that, the nearest to its
/// needs first; empty: none does.
std::string cardsWith(const WhatIfDevice& device, model::Fit fit)
{
    const model::Recording& recording = device.trace->recording();
    if (model::acceleratorOf(recording) != model::Accelerator::Cuda)
        return {};
    std::vector<model::CardFit> fits
        = model::cardFits(device.roomBytes(), false, model::recordedCard(recording, device.trace->device()));
    std::erase_if(fits, [&](const model::CardFit& one) { return one.fit != fit; });
    std::ranges::stable_sort(fits, {}, [](const model::CardFit& one) { return std::abs(one.marginBytes); });
    constexpr std::size_t kNamed = 3; // one more rather than "and 1 larger"
    const std::size_t named = fits.size() > kNamed + 1 ? kNamed : fits.size();
    std::string names;
    for (std::size_t i = 0; i < named; ++i)
        names += fmt::format("{}{}", i == 0 ? "" : ", ", fits[i].card->name);
    if (named < fits.size())
        names += fmt::format(" and {} {}", fits.size() - named, fit == model::Fit::No ? "smaller" : "larger");
    return names;
}

/// What stays of a capacity with which it does not run out of memory; or why it gets on with less than what
/// it would reserve where there is room.
std::string leftOf(std::int64_t capacityBytes, const WhatIfDevice& device)
{
    const std::string capacity = formatBytes(capacityBytes);
    const std::int64_t left = capacityBytes - device.roomBytes();
    if (left >= 0)
        return fmt::format("of {} it leaves {}", capacity, formatBytes(left));
    if (device.confirmed() == nullptr && device.prediction.mayRunOutOfMemory)
        return fmt::format(
            "{} is enough by the likeliest sizes alone, by others of its bounds it runs out of memory",
            capacity);
    return fmt::format("{} is enough, though up to {} more may be reserved where there is room: an allocator "
                       "that runs out gives back what it has cached",
        capacity, formatBytes(-left));
}

std::string fitsLine(const WhatIfDevice& device, const model::Scenario& scenario)
{
    const bool atLeast = device.needsAtLeast();
    const std::string names = cardsWith(device, atLeast ? model::Fit::No : model::Fit::Yes);
    const model::Recording& recording = device.trace->recording();
    if (!atLeast) {
        const model::Accelerator accelerator = model::acceleratorOf(recording);
        const model::Card* const ranOn = model::recordedCard(recording, device.trace->device());
        std::string line = accelerator != model::Accelerator::Cuda
            ? "recorded on " + model::Sentence(model::acceleratorName(accelerator)).text()
                + ", and the catalogue has NVIDIA GPUs only"
            : names.empty() ? std::string("fits on no card of the catalogue")
                            : "fits on " + names;
        if (names.empty() && ranOn != nullptr)
            line += fmt::format(" with the kernels of {}", ranOn->name);
        if (ranOn != nullptr)
            line += fmt::format("; on other GPU generations dry-run it: strata dryrun --device CARD -- {}",
                model::recordedCommand(recording));
        if (scenario.capacityBytes && !device.runsOutOfMemory())
            line += "; " + leftOf(*scenario.capacityBytes, device);
        else if (device.runsOutOfMemory())
            line += "; peaks are those of a device with room for all";
        return line;
    }
    std::string line = "needs at least " + formatBytes(device.roomBytes());
    if (!names.empty())
        line += ", more than " + names + " have";
    if (device.prediction.predicted) // else the reason says so
        line += "; " + device.prediction.atLeastBecause.text();
    return line;
}

/// A row for each peak: recorded, predicted, between what it lies; or what the program came to, and how far
/// the prediction is off.
void printPeaks(Output& out, const WhatIfDevice& device)
{
    const Prediction& prediction = device.prediction;
    const model::Confirmation* const confirmed = device.confirmed();
    const bool isRequestedAlone = device.isRequestedAlone();
    out.line(fmt::format("  {:<16}{:>14}{:>14}{:>28}", "", "recorded",
        confirmed != nullptr || isRequestedAlone ? "confirmed" : "predicted",
        confirmed == nullptr       ? (isRequestedAlone ? "" : "between")
            : prediction.predicted ? "the estimate was off by"
                                   : ""));
    const auto row = [&](const char* name, std::int64_t PeakFigures::*peak) {
        const std::int64_t least = prediction.least.*peak, most = prediction.most.*peak;
        std::string figure = "-", more;
        if (confirmed != nullptr) {
            figure = formatBytes(confirmed->changed.*peak);
            if (prediction.predicted)
                more = offBy((*prediction.predicted).*peak, confirmed->changed.*peak);
        } else if (isRequestedAlone) {
            if (peak == &PeakFigures::requestedBytesPeak)
                figure = formatBytes(device.confirmation->changed.*peak);
        } else {
            if (prediction.predicted)
                figure = formatBytes((*prediction.predicted).*peak);
            if (device.needsAtLeast())
                more = fmt::format("at least {}", formatBytes(least));
            else if (least != most)
                more = fmt::format("{} and {}", formatBytes(least), formatBytes(most));
        }
        out.line(fmt::format(
            "  {:<16}{:>14}{:>14}{:>28}", name, formatBytes(prediction.recorded.*peak), figure, more));
    };
    row("requested peak", &PeakFigures::requestedBytesPeak);
    row("allocated peak", &PeakFigures::allocatedBytesPeak);
    row("reserved peak", &PeakFigures::reservedBytesPeak);
}

/// "a step would take 12.3 ms instead of 10.1 ms"
std::string stepTimeLine(const model::PredictedStepTime& time)
{
    const std::string recorded = model::formatDuration(time.recordedNs);
    const char* const least = time.isLowerBound ? " at least" : "";
    std::string line = fmt::format("a step takes{} {}", time.predictedNs ? least : "", recorded);
    if (time.predictedNs && *time.predictedNs != time.recordedNs)
        line = fmt::format("a step would take{} {} instead of {}", least,
            model::formatDuration(*time.predictedNs), recorded);
    return time.note.empty() ? line : line + "; " + printable(time.note.text());
}

void printDevice(Output& out, const std::string& file, const model::WhatIfReport& answer,
    const WhatIfDevice& device, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = device.prediction;
    const model::Confirmation* const confirmed = device.confirmed();
    const auto verdict = [&](const std::string& text) {
        out.line(fmt::format("{}: {}: {}: {}", out.strong(printable(file)),
            deviceName(device.trace->device()), scenarioName(answer.scenario), text));
    };
    if (!device.isAnswered())
        return verdict("no estimate: " + printable(device.refused->text()));
    verdict(verdictOf(device, answer.scenario, maxPeakBytes));
    if (prediction.batchAfter)
        out.line(fmt::format("  a batch of {} instead of {}", sizeOfBatch(*prediction.batchAfter),
            model::formatCount(prediction.batchBefore.value_or(0))));
    if (prediction.sequenceAfter)
        out.line(fmt::format("  sequences of {} instead of {}", model::formatCount(*prediction.sequenceAfter),
            model::formatCount(prediction.sequenceBefore.value_or(0))));
    printPeaks(out, device);
    out.line("  " + fitsLine(device, answer.scenario));
    constexpr std::int64_t kMuch = 1000; // a part of the peak
    if (confirmed == nullptr && prediction.unknownBytes > prediction.recorded.requestedBytesPeak / kMuch)
        out.line(
            fmt::format("  of {} it is not known how they change", formatBytes(prediction.unknownBytes)));
    if (confirmed != nullptr) {
        out.line(fmt::format("  {} by {}{}", out.good("confirmed"),
            confirmed->byCalls ? "its calls" : "the program",
            confirmed->note.empty() ? "" : "; but " + printable(confirmed->note)));
    } else if (!device.isRequestedAlone()) {
        out.line("  "
            + (prediction.exact
                    ? out.good("exact") + fmt::format(", by {}", model::evidenceWord(prediction.evidence))
                    : printable(prediction.reason.said().text())));
    }
    printHeld(out, prediction.held);
    if (device.stepTime)
        out.line("  " + stepTimeLine(*device.stepTime));
    if (device.requestedConfirmed() != nullptr)
        out.line(fmt::format("  {} by its calls: {} requested; not the reserved peak: {}",
            out.good("confirmed"), formatBytes(device.confirmation->changed.requestedBytesPeak),
            printable(device.confirmation->note)));
    else if (device.confirmation && confirmed == nullptr)
        out.line("  not confirmed: " + printable(device.confirmation->note));
    if (answer.plan)
        std::visit([&](const auto& plan) { printPlan(out, plan); }, *answer.plan);
    if (answer.plan && !answer.planIsMet() && !model::anyDoes(answer.scenario.changes, model::Does::Types))
        if (const std::string command = model::autocastCommand(*device.trace, file); !command.empty())
            out.line("  not tried: amp=bf16. Run: " + printable(command));
    if (device.alternatives)
        printAlternatives(out, *device.alternatives);
    for (const model::CallHint& hint : device.hints)
        out.line("  " + printable(hint.sentence().text() + " Run: " + hint.command));
}

} // namespace

std::string scenarioName(const model::Scenario& scenario)
{
    std::string name;
    const auto add = [&](std::string_view text) {
        name += name.empty() ? "" : ", ";
        name += printable(text);
    };
    const auto isModule = [](const model::Change& change) {
        return change.does(model::Does::Checkpoints) && change.as<model::ModuleChoice>().isByPath();
    };
    constexpr std::ptrdiff_t kNamed = 3;
    const std::ptrdiff_t modules = std::ranges::count_if(scenario.changes, isModule);
    for (const model::Change& change : scenario.changes)
        if (modules <= kNamed || !isModule(change))
            add(change.text);
    if (modules > kNamed)
        add(fmt::format("{} modules checkpointed", modules));
    if (scenario.settings)
        add(scenario.settings->empty() ? "default settings" : *scenario.settings);
    return name.empty() ? "nothing changed" : name;
}

model::Error refusedOf(int device, const model::Error& error)
{
    model::Error named = error;
    named.what = model::say("of GPU %1: %2", std::int64_t{ device }, error.what);
    named.hint = error.hint.empty() ? model::say("ask of another GPU, with --device")
                                    : model::say("%1; or ask of another GPU, with --device", error.hint.said);
    return named;
}

void printWhatIf(Output& out, const std::string& file, const model::WhatIfReport& answer,
    std::optional<std::int64_t> maxPeakBytes)
{
    for (const WhatIfDevice& device : answer.devices)
        printDevice(out, file, answer, device, maxPeakBytes);
}

} // namespace strata::cli
