// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"

#include "model/analysis/allocator/settings_text.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

using Pairs = SettingsPairs;

/// Of settings `text`, which stand for `stands`: one of them another.
std::vector<std::string> settingsOn(
    const ReplayReport& report, const std::string& text, const AllocatorSettings& stands)
{
    const Pairs withoutSplit{ { "expandable_segments", "True" }, { "max_split_size_mb", "" },
        { "max_non_split_rounding_mb", "" } };
    const auto plus = [](Pairs pairs, const char* key, const char* value) {
        pairs.emplace_back(key, value);
        return pairs;
    };
    const std::string noExpandable = withSettings(text, { { "expandable_segments", "" } });
    std::vector<std::string> texts{ withSettings(text, withoutSplit),
        withSettings(text, plus(withoutSplit, "roundup_power2_divisions", "8")),
        withSettings(noExpandable, { { "max_split_size_mb", "64" } }),
        withSettings(noExpandable, { { "max_split_size_mb", "256" } }),
        withSettings(noExpandable, { { "max_split_size_mb", "1024" } }),
        withSettings(text, { { "roundup_power2_divisions", "4" } }),
        withSettings(text, { { "roundup_power2_divisions", "8" } }),
        withSettings(text, { { "large_segment_size_mb", "64" } }), "" };
    std::vector<std::string> worth;
    std::vector<AllocatorSettings> known{ report.settings, stands };
    for (const std::string& candidate : texts) {
        const auto settings = AllocatorSettings::parse(candidate, report.version);
        if (!settings || std::ranges::find(known, *settings) != known.end())
            continue;
        known.push_back(*settings);
        worth.push_back(candidate);
    }
    return worth;
}

} // namespace

std::vector<std::string> settingsWorthTrying(const ReplayReport& report)
{
    return settingsOn(report, report.settingsText, report.settings);
}

std::vector<std::string> settingsWorthTrying(const ReplayReport& report, const std::string& asked)
{
    const auto settings = AllocatorSettings::parse(asked, report.version);
    return settings ? settingsOn(report, asked, *settings) : std::vector<std::string>{};
}

bool canTrySettings(const DeviceTrace& trace, const ReplayReport& report)
{
    return trace.eventCount() > 0
        && (!report.check.firstDifference || report.check.eventsEqual >= trace.eventCount() / 2);
}

SettingsAsked askedAbout(const DeviceTrace& trace, const std::optional<RefusedRequest>& refused)
{
    SettingsAsked asked;
    if (!refused)
        return asked;
    asked.availableBytes = refused->roomBytes();
    if (refused->event < static_cast<EventIndex>(trace.outOfMemories().back()))
        asked.until = refused->event;
    return asked;
}

Result<std::vector<SettingTried>> trySettings(const DeviceTrace& trace, const ReplayReport& report,
    const std::optional<RefusedRequest>& refused, const Progress& progress)
{
    std::vector<SettingTried> tried;
    if (!canTrySettings(trace, report))
        return tried;
    SettingsAsked asked = askedAbout(trace, refused);
    asked.ranges = false;
    std::vector<NeededBytes> needed;
    for (const std::string& settings : settingsWorthTrying(report)) {
        asked.settings = settings;
        const auto need = needOf(asked, false,
            [&](const SettingsAsked& with) { return answerSettings(trace, report, with, progress); });
        if (!need)
            return Failure(need.error());
        const SettingsAnswer& answer = need->answer;
        if (answer.orderThatFits) // the same for all
            asked.orderThatFits = answer.orderThatFits;
        needed.push_back(need->needed);
        tried.push_back({ .settings = settings,
            .deviceMallocs = answer.replayed.deviceMallocs,
            .deviceFrees = answer.replayed.deviceFrees,
            .exact = answer.exact,
            .reason = answer.reason.said(),
            .refusesMore = need->there.firstNewOomEvent.has_value(),
            .servesRequest = refused ? std::optional(need->serves(*refused)) : std::nullopt });
    }
    const auto recorded = recordedNeed(trace, report, asked, progress);
    if (!recorded)
        return Failure(recorded.error());
    for (std::size_t i = 0; i < tried.size(); ++i)
        tried[i].need = compareNeeds(*recorded, needed[i]);
    std::ranges::stable_sort(tried, {}, [](const SettingTried& setting) {
        return std::pair(!setting.servesRequest.value_or(!setting.refusesMore), setting.need.afterBytes);
    });
    return tried;
}

Result<std::vector<SettingTried>> trySettings(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress)
{
    return trySettings(trace, report, lastRefusedRequest(trace, report), progress);
}

Sentence sayPeaksAreEndless(bool all, const ComparedNeed& one)
{
    return all
        ? say("Peaks are with endless memory: the recorded settings would reserve %1.",
            asBytes(one.beforeBytes))
        : say("Peaks of settings that run out of memory are with endless memory: the recorded settings would "
              "reserve %1.",
            asBytes(one.beforeBytes));
}

Sentence sayPeaksAreEndless(const std::vector<SettingTried>& tried)
{
    const auto one = std::ranges::find_if(
        tried, [](const SettingTried& of) { return of.servesRequest || of.refusesMore; });
    return one == tried.end() ? Sentence() : sayPeaksAreEndless(one->servesRequest.has_value(), one->need);
}

Sentence whySettingsUntried(const DeviceTrace& trace, const ReplayReport& report)
{
    return trace.eventCount() == 0 ? say("no events were recorded that could be replayed") : report.reason();
}

} // namespace strata::model
