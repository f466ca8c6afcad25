// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/confirm_doubts.h"

#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace strata::cli {

namespace {

using model::Confirmation;
using model::PeakFigures;

constexpr double kMostApart = 0.005;

/// Two figures that differ, in bytes where they would read the same.
std::pair<std::string, std::string> asApart(std::int64_t one, std::int64_t other)
{
    std::pair texts(model::formatBytes(one), model::formatBytes(other));
    if (one != other && texts.first == texts.second)
        texts = { model::formatCount(one) + " B", model::formatCount(other) + " B" };
    return texts;
}

/// Why calls that request as much as was recorded reserve another amount, as far as events show it.
std::string whyReservedDiffers(const ConfirmAsked::Device& device, const PeakFigures& unchanged)
{
    const model::DeviceTrace& trace = *device.trace;
    std::int64_t before = trace.totals().reservedBytesStart;
    for (model::EventIndex event = 0; event < std::min(device.firstStep, trace.eventCount()); ++event)
        before = model::wrapAdd(before, trace.reservedDelta(event));
    if (device.firstStep > 0 && before > unchanged.reservedBytesPeak)
        return fmt::format(": the program had reserved {} before its first step", model::formatBytes(before));
    const model::EventIndex last = trace.totals().reservedPeakEvent;
    return device.recorded.reservedBytesPeak > unchanged.reservedBytesPeak && last >= 0
        ? fmt::format(": the allocator put blocks elsewhere; at event {} the recorded steps needed one more "
                      "segment",
            model::formatCount(last))
        : ": the allocator put blocks elsewhere in the recorded steps";
}

} // namespace

std::string noteOf(
    const ConfirmAsked& asked, const ConfirmAsked::Device& device, const PeakFigures& unchanged)
{
    const PeakFigures& recorded = device.recorded;
    if (unchanged == recorded)
        return {};
    const bool byCalls = asked.command.empty();
    const bool ranOut = std::ranges::any_of(
        asked.devices, [](const ConfirmAsked::Device& one) { return !one.trace->outOfMemories().empty(); });
    if (ranOut && !byCalls)
        return fmt::format(
            "the recording ends where memory ran out: with room for all, the program unchanged "
            "comes to {} requested and {} reserved",
            model::formatBytes(unchanged.requestedBytesPeak),
            model::formatBytes(unchanged.reservedBytesPeak));
    if (unchanged.requestedBytesPeak == recorded.requestedBytesPeak
        && unchanged.reservedBytesPeak == recorded.reservedBytesPeak) {
        const auto [came, was] = asApart(unchanged.allocatedBytesPeak, recorded.allocatedBytesPeak);
        return fmt::format("unchanged, the {} to {} allocated, where {} were recorded",
            byCalls ? "calls come" : "program comes", came, was);
    }
    const auto [requested, wasRequested] = asApart(unchanged.requestedBytesPeak, recorded.requestedBytesPeak);
    const auto [reserved, wasReserved] = asApart(unchanged.reservedBytesPeak, recorded.reservedBytesPeak);
    return fmt::format("unchanged, the {} to {} requested and {} reserved, where {} and {} were recorded{}",
        byCalls ? "calls come" : "program comes", requested, reserved, wasRequested, wasReserved,
        !byCalls
            ? (asked.steps > 0 ? ": perhaps since --steps ends it"
                               : ": another program, other data, or another PyTorch than the recorded one")
            : unchanged.requestedBytesPeak == recorded.requestedBytesPeak
            ? whyReservedDiffers(device, unchanged)
            : ": its calls do not tell all that the program does");
}

bool isRequestedConfirmedBy(const PeakFigures& recorded, const PeakFigures& unchanged)
{
    return unchanged.requestedBytesPeak == recorded.requestedBytesPeak;
}

bool isConfirmedBy(const PeakFigures& recorded, const PeakFigures& unchanged)
{
    const auto off = static_cast<double>(std::abs(unchanged.reservedBytesPeak - recorded.reservedBytesPeak));
    return isRequestedConfirmedBy(recorded, unchanged)
        && off <= kMostReservedOff * static_cast<double>(recorded.reservedBytesPeak);
}

void holdAgainst(const std::vector<PeakFigures>& other, double mostReservedApart, std::string_view why,
    std::vector<Confirmation>& confirmed)
{
    for (std::size_t i = 0; i < confirmed.size(); ++i) {
        Confirmation& one = confirmed[i];
        const auto isApart = [&](std::int64_t PeakFigures::*figure, double most) {
            return static_cast<double>(std::abs(other[i].*figure - one.changed.*figure))
                > most * static_cast<double>(one.changed.*figure);
        };
        const bool isRequestedApart = isApart(&PeakFigures::requestedBytesPeak, kMostApart);
        if ((!isRequestedApart || !one.isRequestedConfirmed)
            && (!one.isConfirmed || !isApart(&PeakFigures::reservedBytesPeak, mostReservedApart)))
            continue;
        one.isConfirmed = false;
        one.isRequestedConfirmed = one.isRequestedConfirmed && !isRequestedApart;
        one.note = fmt::format("{} requested and {} reserved, or {} and {}: it hangs on {}",
            model::formatBytes(one.changed.requestedBytesPeak),
            model::formatBytes(one.changed.reservedBytesPeak),
            model::formatBytes(other[i].requestedBytesPeak), model::formatBytes(other[i].reservedBytesPeak),
            why);
    }
}

void holdAgainst(std::int64_t otherBytes, std::vector<Confirmation>& confirmed)
{
    for (Confirmation& one : confirmed) {
        if (!one.isRequestedConfirmed
            || static_cast<double>(otherBytes)
                <= kMostApart * static_cast<double>(one.changed.requestedBytesPeak))
            continue;
        one.isConfirmed = one.isRequestedConfirmed = false;
        one.note
            = fmt::format("before it trained the program had {} at once that no call of the recorded step "
                          "makes: of another type that may be as many bytes, or not",
                model::formatBytes(otherBytes));
    }
}

} // namespace strata::cli
