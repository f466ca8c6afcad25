// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/replay.h"

#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/replay/played_calls.h"
#include "model/session/simulation.h"
#include "model/trace/producer.h"
#include "model/trace/program/allocator_calls.h"
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

const std::string* recordedSettingOf(const Recording& recording, std::string_view key)
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
    if (recordedSettingOf(recording, "graph_capture_record_stream_reuse") != nullptr)
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
    if (const std::string* json = recordedAllocConf(SettingsAtStart::of(recording))) {
        const auto value = nlohmann::json::parse(*json, nullptr, false);
        if (value.is_string())
            text = value.get<std::string>();
        // A change in mid-run names only what it changes; what this one keeps is said apart.
        const std::string* expandable = recordedSettingOf(recording, "expandable_segments");
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

RecordedAllocator recordedAllocator(const DeviceTrace& trace, const ReplayAsked& asked)
{
    ReplayReport report;
    findCapacity(trace, asked, report);
    const auto stated = asked.version ? asked.version : statedVersion(trace.recording());
    const TorchVersion version = stated ? *stated : versionsByKeys(trace).front();
    const auto settings = AllocatorSettings::parse(
        asked.settings ? *asked.settings : recordedSettings(trace, report.settingsSource), version);
    return { .settings = settings ? *settings : AllocatorSettings{}, .capacityBytes = report.capacityBytes };
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

} // namespace strata::model
