// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/oom_verdict.h"

#include "model/base/wrap.h"
#include "model/cards/fits.h"
#include "model/trace/program/allocator_calls.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::size_t kMostAdvice = 3;
constexpr std::size_t kMostPins = 20;
/// A driver that has so much more than what was asked for free serves it, whatever it needs for itself.
constexpr std::int64_t kDriverSlack = 64 << 20;

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

bool usesPools(const DeviceTrace& trace, EventIndex event)
{
    using Kind = AllocatorCall::Kind;
    return std::ranges::any_of(
        AllocatorCalls::of(trace.recording(), trace.device()), [&](const AllocatorCall& call) {
            return call.event <= event && (call.kind == Kind::PoolBegin || call.kind == Kind::PoolCreate);
        });
}

void addMapTo(OomParts& parts, const DeviceTrace& trace, const AllocatorMap& map)
{
    // Events of older versions do not name their pool. PyTorch gives back segments of the default pools that
    // are free as a whole before it refuses a request.
    const bool hidesPools = !map.exact && usesPools(trace, map.event);
    for (const MapSegment& segment : map.segments) {
        const bool isPrivate = !poolOwnerOf(trace.recording(), segment.pool).isDefault()
            || (hidesPools && segment.isCached() && !segment.expandable);
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

/// How sure it is that nothing else uses the device, by what PyTorch can have of it. A whole number of GiB
/// has no room for a CUDA context: a simulated device. The memory of a card beside its context may as well be
/// a part of a larger card.
Certainty isAlone(std::int64_t availableBytes)
{
    constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;
    if (availableBytes > 0 && availableBytes % kGiB == 0)
        return Certainty::Recorded;
    const bool isCard = std::ranges::any_of(cards(), [&](const Card& card) {
        const std::int64_t missing = card.capacityBytes - availableBytes;
        // Drivers differ by a hundredth in what they keep.
        return missing >= -card.capacityBytes / 100
            && missing <= outsideBytesOfProcess() + card.capacityBytes / 100;
    });
    return isCard ? Certainty::Likely : Certainty::Unknown;
}

std::int64_t largestCardBytes()
{
    return std::ranges::max(cards(), {}, &Card::capacityBytes).capacityBytes;
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

Sentence sayCause(const OomVerdict& verdict)
{
    const auto cause = std::ranges::find(verdict.causes, verdict.cause, &OomCauseBytes::cause);
    const SentenceArgument withheld = asBytes(cause == verdict.causes.end() ? 0 : cause->bytes);
    switch (verdict.cause) {
    case OomCause::TooBig:
        if (verdict.statesToComeBytes > 0)
            return say("too big: the optimizer still has to make %1 of state, and %2 are free in all",
                asBytes(verdict.statesToComeBytes), asBytes(verdict.packedSpareBytes + verdict.roundedBytes));
        if (verdict.packedSpareBytes >= 0)
            return say(
                "too big: nearly full. Without any fragmentation, the request would leave %1 of %2 free",
                asBytes(verdict.packedSpareBytes), asBytes(verdict.limitBytes));
        return say("too big: what is in use and the %1 asked for together exceed the device",
            asBytes(verdict.roundedBytes));
    case OomCause::Leak:
        return say("leak: each step keeps %1 of allocated memory, and %2 were kept by now",
            asBytes(verdict.leakedBytesPerStep), asBytes(verdict.leakedBytes));
    case OomCause::MemoryFraction:
        return verdict.allowedBytes
            ? say("memory fraction: PyTorch may use %1 of this device, and the driver had %2 free",
                asBytes(*verdict.allowedBytes), asBytes(verdict.parts.deviceFreeBytes))
            : say("memory fraction: the driver had %1 free, but PyTorch was not allowed to use %2 more",
                asBytes(verdict.parts.deviceFreeBytes), asBytes(verdict.roundedBytes));
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
    if (verdict.capacityDoubtful)
        return say(
            "unknown: PyTorch could use %1, the memory of no GPU that Strata knows; another process or a "
            "library may hold the rest",
            asBytes(verdict.parts.availableBytes()));
    return cause == verdict.causes.end() || !cause->wouldHaveServed
        ? say("unknown: nothing that the recording tells of would have served the request alone")
        : say("unknown: %1 are used outside PyTorch's allocator, by whom is not recorded", withheld);
}

} // namespace

std::int64_t OomVerdict::spareBytes(const SettingTried& tried) const
{
    return std::max<std::int64_t>(0, wrapSub(parts.availableBytes() - unusableBytes, tried.need.afterBytes));
}

std::string_view causeName(OomCause cause)
{
    constexpr std::array<std::string_view, 9> kNames{ "too_big", "leak", "memory_fraction", "fragmented",
        "private_pools", "pending_free", "outside_pytorch", "other_process", "unknown" };
    return kNames[static_cast<std::size_t>(cause)];
}

Sentence verdictSentence(const OomVerdict& verdict)
{
    Sentence cause = sayCause(verdict);
    return verdict.certainty == Certainty::Likely ? say("probably %1", std::move(cause)) : cause;
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
        if (missing <= 0)
            return say(
                "No allocator setting helps for long: the program has to hold less, or the card has to "
                "be larger.");
        return say(
            "No allocator setting serves it: the program has to hold at least %1 less, or the card has "
            "to be larger.",
            asBytes(missing));
    }
    case OomCause::Leak:
        return say("No allocator setting helps for long: each step keeps more.");
    case OomCause::MemoryFraction:
        return say("No allocator setting that was tried serves the request within the limit of PyTorch.");
    case OomCause::PendingFree:
        return say("No allocator setting gives memory to other requests before its stream is done.");
    case OomCause::PrivatePools:
        return say("No allocator setting gives memory of private pools to other requests.");
    case OomCause::OutsidePyTorch:
    case OomCause::OtherProcess:
        return say("No allocator setting frees memory that PyTorch does not hold.");
    case OomCause::Fragmented:
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
    addMapTo(parts, trace, map);
    const std::int64_t reserved = parts.reservedBytes();
    const RefusedRequest refused = refusedRequestAt(trace, report, event, reserved);
    parts.deviceFreeBytes = refused.deviceFreeBytes;
    const std::int64_t available = refused.availableBytes();
    verdict.capacitySource = report.capacitySource;
    verdict.capacityBytes = refused.capacityBytes;
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
    const std::int64_t segment = report.settings.segmentBytes(verdict.roundedBytes), left = refused.leftBytes;
    std::int64_t limit = verdict.capacityBytes.value_or(available);
    verdict.allowedBytes = refused.allowedBytes;
    if (verdict.allowedBytes)
        limit = std::min(limit, *verdict.allowedBytes);
    const bool isLimited = refused.isLimited;
    if (isLimited && !verdict.allowedBytes) { // by what is not recorded: it allows what was reserved at least
        limit = reserved;
        if (parts.deviceFreeBytes < segment + kDriverSlack)
            verdict.certainty = Certainty::Likely;
    }
    const auto add = [&](OomCause cause, std::int64_t bytes) {
        if (bytes > 0)
            verdict.causes.push_back({ cause, bytes, bytes >= verdict.roundedBytes - left });
    };
    add(OomCause::MemoryFraction, parts.deviceFreeBytes - left);
    add(OomCause::Fragmented, parts.freeSmallBytes + parts.freeLargeBytes);
    add(OomCause::PrivatePools, parts.freePrivateBytes);
    add(OomCause::PendingFree, parts.pendingFreeBytes);
    add(OomCause::OutsidePyTorch, parts.outsideBytes.value_or(0));
    add(OomCause::OtherProcess, parts.otherProcessesBytes.value_or(0));
    add(OomCause::Unknown, parts.unknownBytes.value_or(0));
    std::ranges::stable_sort(verdict.causes, std::greater{}, &OomCauseBytes::bytes);
    verdict.limitBytes = limit;
    verdict.packedSpareBytes = limit - parts.requestedBytes - parts.roundingBytes - verdict.roundedBytes;
    const bool isTooBig
        = static_cast<double>(verdict.packedSpareBytes) < kNearlyFull * static_cast<double>(limit);
    // Where the recording has no capacity, others may use the device, unless no card is as large as all this.
    const bool isCapacityOpen = verdict.capacitySource == ReplayReport::CapacitySource::OutOfMemory
        && limit - verdict.packedSpareBytes <= largestCardBytes();
    const Certainty alone = isCapacityOpen ? isAlone(available) : Certainty::Recorded;
    verdict.capacityDoubtful = isTooBig && !isLimited && alone == Certainty::Unknown;
    if (isLimited) {
        verdict.cause = OomCause::MemoryFraction;
    } else if (isTooBig) {
        verdict.cause = verdict.capacityDoubtful ? OomCause::Unknown : OomCause::TooBig;
    } else {
        const auto first = std::ranges::find(verdict.causes, true, &OomCauseBytes::wouldHaveServed);
        verdict.cause = first != verdict.causes.end() ? first->cause : OomCause::Unknown;
    }
    if (verdict.cause == OomCause::TooBig)
        verdict.certainty = alone;
    if (verdict.cause == OomCause::Unknown)
        verdict.certainty = Certainty::Unknown;
    if (verdict.cause == OomCause::Fragmented
        && static_cast<double>(verdict.packedSpareBytes) < kFewLeft * static_cast<double>(limit))
        verdict.certainty = Certainty::Likely;

    verdict.missingBytes = std::max<std::int64_t>(0, segment - left);
    verdict.unusableBytes = parts.deviceFreeBytes - left;
    verdict.pins = pinsOf(fragmentationOf(trace, map, report.settings));
    auto tried = trySettings(trace, report, refused, progress);
    if (!tried)
        return Failure(tried.error());
    const auto onePool = tryOnePool(trace, report, refused, progress);
    if (!onePool)
        return Failure(onePool.error());
    verdict.onePool = *onePool;
    // Frees that wait for another stream wait under any settings, and not every recording shows their end.
    const bool mayHelp = verdict.cause != OomCause::PendingFree;
    for (SettingTried& setting : *tried)
        if (mayHelp && setting.servesRequest.value_or(false) && verdict.advice.size() < kMostAdvice)
            verdict.advice.push_back(std::move(setting));
    return verdict;
}

} // namespace strata::model
