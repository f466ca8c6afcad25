// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/replay.h"

#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/replay/recorded_calls.h"
#include "model/session/simulation.h"
#include "model/trace/allocator_calls.h"
#include "model/wire/info.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

std::optional<TorchVersion> statedVersion(const Recording& recording)
{
    const auto torch = recording.facts.find(wire::info::kTorch);
    return torch == recording.facts.end() ? std::nullopt : TorchVersion::parse(torch->second);
}

const std::string* settingOf(const Recording& recording, std::string_view key)
{
    const std::vector<Setting>& settings = SettingsAtStart::of(recording);
    const auto setting = std::ranges::find(settings, key, &Setting::key);
    return setting == settings.end() ? nullptr : &setting->json;
}

/// The versions that can have written what is there, likeliest first. Within one row all replay alike.
std::vector<TorchVersion> versionsByKeys(const DeviceTrace& trace)
{
    const Recording& recording = trace.recording();
    const EventColumns& events = trace.events();
    bool tellsPools = false;
    for (std::size_t row = 0; !tellsPools && row < events.pool.size(); ++row)
        tellsPools = events.pool[row] != kNoIndex;
    if (tellsPools && recording.host)
        return { { 2, 15 } };
    if (tellsPools)
        return { { 2, 15 }, { 2, 12 } };
    if (settingOf(recording, "graph_capture_record_stream_reuse") != nullptr)
        return { { 2, 11 } };
    if (!recording.settings.empty())
        return { { 2, 8 }, { 2, 4 } };
    return { { 2, 2 }, { 2, 8 } };
}

std::string recordedSettings(const DeviceTrace& trace, ReplayReport::SettingsSource& source)
{
    const Recording& recording = trace.recording();
    source = ReplayReport::SettingsSource::Recorded;
    std::string text;
    if (const std::string* json = settingOf(recording, "PYTORCH_CUDA_ALLOC_CONF")) {
        const auto value = nlohmann::json::parse(*json, nullptr, false);
        if (value.is_string())
            text = value.get<std::string>();
        // A change in mid-run names only what it changes; what this one keeps is said apart.
        const std::string* expandable = settingOf(recording, "expandable_segments");
        if (expandable != nullptr && *expandable == "true" && text.find("expandable_segments") == text.npos)
            text += (text.empty() ? "" : ",") + std::string("expandable_segments:True");
        return text;
    }
    source = ReplayReport::SettingsSource::Assumed;
    const bool expandable = std::ranges::any_of(trace.finalSegments(), &FinalSegment::expandable)
        || trace.totals().actions.contains(std::string(actionName(Action::SegmentMap)));
    return expandable ? "expandable_segments:True" : "";
}

void findCapacity(const DeviceTrace& trace, const ReplayAsked& asked, ReplayReport& report)
{
    using Source = ReplayReport::CapacitySource;
    const auto found = [&](std::int64_t bytes, Source source) {
        report.capacityBytes = bytes;
        report.capacitySource = source;
    };
    const Recording& recording = trace.recording();
    if (asked.capacityBytes)
        return found(*asked.capacityBytes, Source::Option);
    if (const auto simulation = simulationOf(recording); simulation && simulation->capacityBytes > 0)
        return found(simulation->capacityBytes, Source::Session);
    const auto stated = recording.facts.find(
        wire::deviceKey(wire::info::kDevice, trace.device(), wire::info::kDeviceCapacity));
    if (stated != recording.facts.end())
        if (const auto bytes = parseBytes(stated->second); bytes && *bytes > 0)
            return found(*bytes, Source::Session);
    std::int64_t reserved = trace.totals().reservedBytesStart, most = 0;
    if (trace.outOfMemories().empty())
        return;
    const EventColumns& events = trace.events();
    for (EventIndex e = 0; e < trace.eventCount(); ++e) {
        reserved = wrapAdd(reserved, trace.reservedDelta(e));
        if (events.action[static_cast<std::size_t>(e)] == Action::Oom)
            most = std::max(most,
                wrapAdd(reserved, static_cast<std::int64_t>(events.address[static_cast<std::size_t>(e)])));
    }
    found(most, Source::OutOfMemory);
}

/// What the whole card may have, likeliest first; 0: not known. It decides only where ranges of addresses end
/// and what a fraction is a part of.
std::vector<std::int64_t> cardsToTry(const ReplayReport& report)
{
    using Source = ReplayReport::CapacitySource;
    if (report.capacitySource == Source::Session || report.capacitySource == Source::Option)
        return { *report.capacityBytes };
    if (report.capacitySource == Source::OutOfMemory
        && (report.settings.expandableSegments || report.settings.memoryFraction))
        return { *report.capacityBytes, 0 };
    return { 0 };
}

/// That the program might use before any call told otherwise. It was written as allowed bytes of all, so that
/// half a byte more leads to the very same bytes again.
std::optional<double> fractionAtStart(const DeviceTrace& trace, std::optional<std::int64_t> deviceBytes)
{
    const auto& facts = trace.recording().facts;
    const auto stated
        = facts.find(wire::deviceKey(wire::info::kDevice, trace.device(), wire::info::kDeviceFraction));
    if (stated == facts.end() || !deviceBytes)
        return std::nullopt;
    double fraction = 0;
    const char* const end = stated->second.data() + stated->second.size();
    const auto [read, error] = std::from_chars(stated->second.data(), end, fraction);
    if (error != std::errc{} || read != end || !(fraction > 0 && fraction < 1))
        return std::nullopt;
    const auto bytes = static_cast<double>(*deviceBytes);
    return (std::round(fraction * bytes) + 0.5) / bytes;
}

using Kind = AddressPolicy::Kind;
constexpr AddressPolicy kOrdersOfDrivers[]{ { Kind::TopDown }, { Kind::Ascending }, { Kind::Descending } };

/// Orders of addresses to be tried; fewer where each takes long.
std::vector<AddressPolicy> ordersOf(const DeviceTrace& trace)
{
    constexpr EventIndex kFewest = 2, kMost = 10, kEvents = 10'000'000;
    const EventIndex random
        = std::clamp(kEvents / std::max<EventIndex>(trace.eventCount(), 1), kFewest, kMost);
    std::vector<AddressPolicy> orders(std::begin(kOrdersOfDrivers), std::end(kOrdersOfDrivers));
    for (EventIndex seed = 1; seed <= random; ++seed)
        orders.push_back({ Kind::Random, static_cast<std::uint64_t>(seed) });
    return orders;
}

/// Of the orders of real drivers the one under which the recorded settings come to what was recorded.
Result<AddressPolicy> orderThatFits(
    const DeviceTrace& trace, const ReplayReport& report, WhatIf question, const Progress& progress)
{
    question.settings = report.settings;
    question.capacityBytes = report.capacityBytes;
    question.until.reset();
    ReplayFigures recorded = recordedFigures(trace, report.check.rounding);
    for (const AddressPolicy& order : kOrdersOfDrivers) {
        question.addresses = order;
        const auto replayed = replayUnder(trace, question, progress);
        if (!replayed)
            return Failure(replayed.error());
        recorded.byAddress = replayed->byAddress;
        if (*replayed == recorded)
            return order;
    }
    return AddressPolicy{};
}

/// Where the order of the driver's addresses decides, or when frees end that wait for other streams: the
/// range of what other orders and moments come to, widened by half of itself on both sides, by a segment at
/// least. (tests/truth/test_replay.py holds it to runs under random orders, and to such whose frees wait.)
Result<void> findRanges(const DeviceTrace& trace, bool byOrder, bool byPendingFrees, const WhatIf& question,
    WhatIfAnswer& answer, const Progress& progress)
{
    std::vector<ReplayFigures> figures{ answer.replayed };
    std::vector<WhatIf> questions;
    if (byPendingFrees)
        for (const PendingFrees frees :
            { PendingFrees::AtOnce, PendingFrees::HalfLate, PendingFrees::Late }) {
            questions.push_back(question);
            questions.back().pendingFrees = frees;
        }
    if (byOrder)
        for (const AddressPolicy& order : ordersOf(trace)) {
            questions.push_back(question);
            questions.back().addresses = order;
        }
    for (const WhatIf& other : questions) {
        const auto replayed = replayUnder(trace, other, progress);
        if (!replayed)
            return Failure(replayed.error());
        figures.push_back(*replayed);
    }
    const auto range = [&](std::int64_t ReplayFigures::*peak, std::int64_t leastMore) {
        const auto [least, most] = std::ranges::minmax_element(figures, {}, peak);
        const std::int64_t low = (*least).*peak, high = (*most).*peak;
        const std::int64_t more = std::max((high - low) / 2, leastMore);
        return std::pair(std::max<std::int64_t>(low - more, 0), high + more);
    };
    // What was not tried may need a segment more or less, and leave other tails that are not split off.
    constexpr std::int64_t kTails = 4 * AllocatorSettings::kSmallSize;
    const std::int64_t segments = (byPendingFrees ? 2 : 1) * question.settings.largeSegmentBytes;
    answer.reservedPeakRange = range(&ReplayFigures::reservedBytesPeak, segments);
    answer.allocatedPeakRange = range(&ReplayFigures::allocatedBytesPeak, kTails);
    return {};
}

} // namespace

const char* sourceName(ReplayReport::VersionSource source)
{
    switch (source) {
    case ReplayReport::VersionSource::Session:
        return "session";
    case ReplayReport::VersionSource::Keys:
        return "keys";
    case ReplayReport::VersionSource::Tried:
        return "tried";
    case ReplayReport::VersionSource::Option:
        break;
    }
    return "option";
}

const char* sourceName(ReplayReport::SettingsSource source)
{
    switch (source) {
    case ReplayReport::SettingsSource::Recorded:
        return "recorded";
    case ReplayReport::SettingsSource::Option:
        return "option";
    case ReplayReport::SettingsSource::Assumed:
        break;
    }
    return "assumed";
}

const char* sourceName(ReplayReport::CapacitySource source)
{
    switch (source) {
    case ReplayReport::CapacitySource::Session:
        return "session";
    case ReplayReport::CapacitySource::Option:
        return "option";
    case ReplayReport::CapacitySource::OutOfMemory:
        return "out_of_memory";
    case ReplayReport::CapacitySource::None:
        break;
    }
    return "none";
}

Sentence ReplayReport::reason() const
{
    if (check.firstDifference && settings.memoryFraction && !capacityBytes)
        return say("a memory fraction was set, of a device whose capacity the recording does not tell");
    if (check.firstDifference && settings.garbageCollectionThreshold > 0 && settings.memoryFraction
        && !fromStart)
        return say(
            "the trace begins late, and garbage collection goes by how long free memory lay there before");
    if (lostEvents > 0)
        return say("%1 before %2 were lost while it was recorded: from there on nothing can be replayed",
            asEvents(lostEvents), asEvent(firstLostEvent));
    if (check.firstDifference)
        return say("from event %1 on the replay is another than the recording: %2",
            asCount(check.firstDifference->event), check.firstDifference->cause);
    if (!check.finalBlocksEqual)
        return say("the recording does not tell what there was at its end");
    if (!*check.finalBlocksEqual)
        return say("the blocks at the end are others than those recorded");
    if (check.open.empty())
        return {};
    const Sentence open
        = sayCounted("nothing tells the rounded size of %1 block that is older than the trace",
            "nothing tells the rounded size of %1 blocks that are older than the trace",
            static_cast<std::int64_t>(check.open.size()));
    if (const auto from = exactFrom())
        return say("%1; from event %2 on all is exact", open, asCount(*from));
    return open;
}

std::optional<EventIndex> ReplayReport::exactFrom() const
{
    return agrees() && check.determinedFrom < events ? std::optional(check.determinedFrom) : std::nullopt;
}

Result<ReplayReport> checkReplay(const DeviceTrace& trace, const ReplayAsked& asked, const Progress& progress)
{
    const Recording& recording = trace.recording();
    ReplayReport base;
    base.device = trace.device();
    base.events = trace.eventCount();
    base.settingsText = asked.settings ? *asked.settings : recordedSettings(trace, base.settingsSource);
    if (asked.settings)
        base.settingsSource = ReplayReport::SettingsSource::Option;
    findCapacity(trace, asked, base);
    for (const LostEvents& lost : recording.lost)
        if (lost.device == trace.device()) {
            base.firstLostEvent
                = base.lostEvents == 0 ? lost.event : std::min(base.firstLostEvent, lost.event);
            base.lostEvents = wrapAdd(base.lostEvents, lost.count);
        }

    std::vector<TorchVersion> versions;
    if (asked.version) {
        versions = { *asked.version };
        base.versionSource = ReplayReport::VersionSource::Option;
    } else if (const auto stated = statedVersion(recording)) {
        versions = { *stated };
        base.versionSource = ReplayReport::VersionSource::Session;
    } else {
        versions = versionsByKeys(trace);
        base.versionSource
            = versions.size() == 1 ? ReplayReport::VersionSource::Keys : ReplayReport::VersionSource::Tried;
    }

    std::optional<ReplayReport> best;
    std::optional<Error> refused;
    for (const TorchVersion version : versions) {
        ReplayReport report = base;
        report.version = version;
        const auto settings = AllocatorSettings::parse(report.settingsText, version);
        if (!settings) {
            refused = settings.error();
            continue;
        }
        report.settings = *settings;
        if (const auto fraction = fractionAtStart(trace, report.capacityBytes))
            report.settings.memoryFraction = fraction;
        for (const std::int64_t deviceBytes : cardsToTry(report)) {
            auto check = checkTrace(trace, { report.settings, deviceBytes }, progress);
            if (!check)
                return Failure(check.error());
            report.check = std::move(*check);
            report.fromStart = report.check.rank.empty();
            report.emptyCachesMarked = RecordedCalls(trace).areComplete();
            const bool isBetter = !best || report.check.eventsEqual > best->check.eventsEqual
                || (report.check.eventsEqual == best->check.eventsEqual && report.exact());
            if (isBetter)
                best = report;
            if (best->exact())
                break;
        }
        if (best->exact())
            break;
    }
    if (!best)
        return Failure(*refused);
    return std::move(*best);
}

Result<WhatIfAnswer> answerWhatIf(
    const DeviceTrace& trace, const ReplayReport& report, const WhatIfAsked& asked, const Progress& progress)
{
    const auto settings = AllocatorSettings::parse(asked.settings, report.version);
    if (!settings)
        return Failure(settings.error());
    WhatIf question;
    question.settings = *settings;
    // A fraction that the recorded settings named goes with them; one that the program set stays.
    const auto recorded = AllocatorSettings::parse(report.settingsText, report.version);
    if (const auto fraction = fractionAtStart(trace, report.capacityBytes);
        fraction && !(recorded && recorded->memoryFraction))
        question.settings.memoryFraction = fraction;
    question.capacityBytes = asked.capacityBytes ? asked.capacityBytes : report.capacityBytes;
    const bool knowsCard = asked.capacityBytes
        || report.capacitySource == ReplayReport::CapacitySource::Session
        || report.capacitySource == ReplayReport::CapacitySource::Option;
    if (knowsCard || (settings->memoryFraction && question.capacityBytes)) // a fraction is one of something
        question.deviceBytes = *question.capacityBytes;
    if (asked.emptyCaches)
        question.emptyCaches = asked.emptyCaches;
    else if (!report.emptyCachesMarked)
        question.emptyCaches = report.check.emptyCaches;
    question.poolEnds = report.check.poolEnds;
    question.rank = report.check.rank;
    question.until = asked.until;
    if (asked.availableBytes)
        question.capacityBytes = asked.availableBytes;

    WhatIfAnswer answer;
    answer.recorded = recordedFigures(trace, report.check.rounding);
    question.addresses = asked.addresses.value_or(AddressPolicy{});
    auto replayed = replayUnder(trace, question, progress);
    if (!replayed)
        return Failure(replayed.error());
    const bool byOrder = replayed->byAddress && !asked.addresses;
    if (byOrder) {
        const auto fits = orderThatFits(trace, report, question, progress);
        if (!fits)
            return Failure(fits.error());
        if (*fits != question.addresses) {
            question.addresses = *fits;
            if (replayed = replayUnder(trace, question, progress); !replayed)
                return Failure(replayed.error());
        }
    }
    answer.replayed = *replayed;
    answer.reservedPeakRange = { replayed->reservedBytesPeak, replayed->reservedBytesPeak };
    answer.allocatedPeakRange = { replayed->allocatedBytesPeak, replayed->allocatedBytesPeak };
    if (asked.ranges && (byOrder || report.check.hasPendingFrees))
        if (const auto found
            = findRanges(trace, byOrder, report.check.hasPendingFrees, question, answer, progress);
            !found)
            return Failure(found.error());

    const bool fitsAnyway = answer.replayed.reservedBytesPeak <= answer.recorded.reservedBytesPeak;
    if (settings->memoryFraction && !question.capacityBytes)
        answer.reason
            = say("an estimate without the memory fraction: the recording does not tell the capacity of its "
                  "device; give it with --capacity");
    else if (settings->memoryFraction && !knowsCard)
        answer.reason = say(
            "an estimate: the fraction is taken of what PyTorch had, as an out-of-memory tells; the device "
            "has more");
    else if (!report.exact())
        answer.reason = say("an estimate: %1", report.reason());
    else if (!report.fromStart)
        answer.reason
            = say("an estimate: the trace begins late, with memory that the other settings would have "
                  "placed otherwise");
    else if (report.check.hasPendingFrees)
        answer.reason
            = say("an estimate: blocks waited for other streams, and under other settings their frees may "
                  "end at other moments");
    else if (!question.capacityBytes && !fitsAnyway)
        answer.reason
            = say("an estimate: the capacity of the device is not known, and this needs more than was "
                  "recorded");
    else if (!report.emptyCachesMarked && !asked.emptyCaches)
        answer.reason
            = say("an estimate: calls of empty_cache() that released nothing are not recorded here, and "
                  "under other settings they may");
    else if (byOrder)
        answer.reason
            = say("an estimate: where several free blocks fit alike, PyTorch %1 takes the one at the lowest "
                  "address, and the order in which the driver hands out addresses is not known",
                report.version.text());
    else
        answer.exact = true;
    return answer;
}

} // namespace strata::model
