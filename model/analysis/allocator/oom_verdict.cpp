// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/oom_verdict.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::size_t kMostAdvice = 3;
constexpr std::size_t kMostPins = 20;

/// What the driver said of other processes, at the last reading before the event.
std::optional<std::int64_t> otherProcessesBytes(const DeviceTrace& trace, EventIndex event)
{
    std::optional<std::int64_t> bytes;
    EventIndex latest = -1;
    for (const DriverReading& reading : trace.recording().driver)
        if (reading.device == trace.device() && reading.processBytes && reading.event <= event + 1
            && reading.event >= latest) {
            latest = reading.event;
            bytes = std::max<std::int64_t>(0, wrapSub(reading.usedBytes, *reading.processBytes));
        }
    return bytes;
}

void addMapTo(OomParts& parts, const DeviceTrace& trace, const AllocatorMap& map)
{
    for (const MapSegment& segment : map.segments) {
        const bool isPrivate = !poolOwnerOf(trace.recording(), segment.pool).isDefault();
        const bool small = isSmall(trace.recording(), segment);
        std::int64_t& free = isPrivate ? parts.freePrivateBytes
            : small                    ? parts.freeSmallBytes
                                       : parts.freeLargeBytes;
        for (const MapBlock& block : map.blocksOf(segment)) {
            if (block.isFree()) {
                free += block.bytes;
            } else if (block.pending) {
                parts.pendingFreeBytes += block.bytes;
            } else {
                parts.requestedBytes += block.requestedBytes;
                parts.roundingBytes += block.bytes - block.requestedBytes;
            }
        }
    }
}

std::int64_t liveInDefaultPools(const DeviceTrace& trace, const AllocatorMap& map)
{
    std::int64_t live = 0;
    for (const MapSegment& segment : map.segments)
        if (poolOwnerOf(trace.recording(), segment.pool).isDefault())
            live += segment.allocatedBytes;
    return live;
}

std::vector<Pin> pinsOf(const Fragmentation& fragmentation)
{
    std::vector<Pin> pins;
    for (const PinnedSegment& segment : fragmentation.pinned) {
        if (pins.size() >= kMostPins)
            break;
        for (std::size_t i = 0; i < std::min(segment.pins.size(), kMostPins - pins.size()); ++i)
            pins.push_back(segment.pins[i]);
    }
    std::ranges::stable_sort(pins, std::greater{}, &Pin::givesBackBytes);
    return pins;
}

} // namespace

std::string_view causeName(OomCause cause)
{
    constexpr std::array<std::string_view, 7> kNames{ "too_big", "fragmented", "private_pools",
        "pending_free", "outside_pytorch", "other_process", "unknown" };
    return kNames[static_cast<std::size_t>(cause)];
}

Sentence verdictSentence(const OomVerdict& verdict)
{
    const auto cause = std::ranges::find(verdict.causes, verdict.cause, &OomCauseBytes::cause);
    const SentenceArgument withheld = asBytes(cause == verdict.causes.end() ? 0 : cause->bytes);
    switch (verdict.cause) {
    case OomCause::TooBig:
        return say("too big: what is in use and the %1 asked for together exceed the device",
            asBytes(verdict.roundedBytes));
    case OomCause::Fragmented:
        return say("fragmented: %1 are free within segments, but no piece of them holds %2", withheld,
            asBytes(verdict.roundedBytes));
    case OomCause::PrivatePools:
        return say("private pools keep %1 free for themselves: graphs, or a MemPool", withheld);
    case OomCause::PendingFree:
        return say("%1 are freed, but another stream may still use them", withheld);
    case OomCause::OutsidePyTorch:
        return say("%1 are used by this process outside PyTorch's allocator", withheld);
    case OomCause::OtherProcess:
        return say("%1 are used by other processes", withheld);
    case OomCause::Unknown:
        break;
    }
    return cause == verdict.causes.end() || !cause->wouldHaveServed
        ? say("unknown: nothing that the recording tells of would have served the request alone")
        : say("unknown: %1 are used outside PyTorch's allocator, by whom is not recorded", withheld);
}

Sentence remedySentence(const OomVerdict& verdict)
{
    if (!verdict.advice.empty())
        return {};
    switch (verdict.cause) {
    case OomCause::TooBig: {
        const OomParts& parts = verdict.parts;
        const std::int64_t missing = verdict.roundedBytes - parts.deviceFreeBytes - parts.freeSmallBytes
            - parts.freeLargeBytes - parts.pendingFreeBytes;
        if (missing > 0)
            return say("No allocator setting serves it: the program has to hold at least %1 less, or the "
                       "card has to be larger.",
                asBytes(missing));
        break;
    }
    case OomCause::PrivatePools:
        return say("No allocator setting gives memory of private pools to other requests.");
    case OomCause::OutsidePyTorch:
    case OomCause::OtherProcess:
        return say("No allocator setting frees memory that PyTorch does not hold.");
    case OomCause::Fragmented:
    case OomCause::PendingFree:
    case OomCause::Unknown:
        break;
    }
    return say("No allocator setting that was tried serves the request when this recording is replayed.");
}

Result<OomVerdict> oomVerdictOf(
    const DeviceTrace& trace, const AllocatorMap& map, const ReplayReport& report, const Progress& progress)
{
    const EventIndex event = map.event;
    const auto row = static_cast<std::size_t>(event);
    OomVerdict verdict;
    verdict.event = event;
    verdict.roundedBytes = trace.events().bytes[row];
    verdict.request = trace.events().stack[row];
    verdict.exact = map.exact;
    OomParts& parts = verdict.parts;
    parts.deviceFreeBytes = static_cast<std::int64_t>(trace.events().address[row]);
    addMapTo(parts, trace, map);
    const std::int64_t reserved = parts.reservedBytes();
    const std::int64_t available = wrapAdd(reserved, parts.deviceFreeBytes);

    // What an out-of-memory tells is what was available at this one.
    verdict.capacitySource = report.capacitySource;
    verdict.capacityBytes = report.capacityBytes;
    if (report.capacitySource == ReplayReport::CapacitySource::OutOfMemory)
        verdict.capacityBytes = available;
    if (verdict.capacitySource == ReplayReport::CapacitySource::Session
        || verdict.capacitySource == ReplayReport::CapacitySource::Option) {
        const std::int64_t rest = std::max<std::int64_t>(0, wrapSub(*verdict.capacityBytes, available));
        const auto others = otherProcessesBytes(trace, event);
        if (others || rest == 0) {
            parts.otherProcessesBytes = std::min(others.value_or(0), rest);
            parts.outsideBytes = rest - *parts.otherProcessesBytes;
            parts.unknownBytes = 0;
        } else {
            parts.unknownBytes = rest;
        }
    } else if (verdict.capacitySource == ReplayReport::CapacitySource::OutOfMemory) {
        parts.unknownBytes = 0;
    }

    // A memory fraction leaves less than the driver has.
    std::int64_t left = parts.deviceFreeBytes, limit = verdict.capacityBytes.value_or(available);
    if (report.settings.memoryFraction && verdict.capacityBytes) {
        const auto allowed = static_cast<std::int64_t>(
            *report.settings.memoryFraction * static_cast<double>(*verdict.capacityBytes));
        limit = std::min(limit, allowed);
        left = std::clamp<std::int64_t>(allowed - reserved, 0, left);
    }
    const auto add = [&](OomCause cause, std::int64_t bytes) {
        if (bytes > 0)
            verdict.causes.push_back({ cause, bytes, bytes >= verdict.roundedBytes - left });
    };
    add(OomCause::Fragmented, parts.freeSmallBytes + parts.freeLargeBytes);
    add(OomCause::PrivatePools, parts.freePrivateBytes);
    add(OomCause::PendingFree, parts.pendingFreeBytes);
    add(OomCause::OutsidePyTorch, parts.outsideBytes.value_or(0));
    add(OomCause::OtherProcess, parts.otherProcessesBytes.value_or(0));
    add(OomCause::Unknown, parts.unknownBytes.value_or(0));
    std::ranges::stable_sort(verdict.causes, std::greater{}, &OomCauseBytes::bytes);
    if (liveInDefaultPools(trace, map) > limit - verdict.roundedBytes) {
        verdict.cause = OomCause::TooBig;
    } else {
        const auto first = std::ranges::find(verdict.causes, true, &OomCauseBytes::wouldHaveServed);
        verdict.cause = first != verdict.causes.end() ? first->cause : OomCause::Unknown;
    }

    verdict.missingBytes
        = std::max<std::int64_t>(0, report.settings.segmentBytes(verdict.roundedBytes) - left);
    verdict.unusableBytes = parts.deviceFreeBytes - left;
    verdict.pins = pinsOf(fragmentationOf(trace, map, report.settings));
    auto tried = trySettingsUpTo(trace, report, event, std::min(available, reserved + left), progress);
    if (!tried)
        return Failure(tried.error());
    const auto onePool = tryOnePoolUpTo(trace, report, event, std::min(available, reserved + left), progress);
    if (!onePool)
        return Failure(onePool.error());
    verdict.onePool = *onePool;
    for (SettingTried& setting : *tried)
        if (setting.servesRequest && verdict.advice.size() < kMostAdvice)
            verdict.advice.push_back(std::move(setting));
    return verdict;
}

} // namespace strata::model
