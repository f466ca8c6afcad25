// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"

#include "model/analysis/allocator/settings_answer.h"
#include "model/analysis/allocator/settings_text.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

using Pairs = SettingsPairs;

bool canTry(const DeviceTrace& trace, const ReplayReport& report)
{
    return trace.eventCount() > 0
        && (!report.check.firstDifference || report.check.eventsEqual >= trace.eventCount() / 2);
}

Result<std::vector<SettingTried>> tryEach(const DeviceTrace& trace, const ReplayReport& report,
    const SettingsAsked& question, std::int64_t recordedPeak, const Progress& progress)
{
    std::vector<SettingTried> tried;
    if (!canTry(trace, report))
        return tried;
    SettingsAsked asked = question;
    asked.ranges = false;
    for (const std::string& settings : settingsWorthTrying(report)) {
        asked.settings = settings;
        const auto answer = answerSettings(trace, report, asked, progress);
        if (!answer)
            return Failure(answer.error());
        if (answer->orderThatFits) // the same for all
            asked.orderThatFits = answer->orderThatFits;
        const std::int64_t peak = answer->replayed.reservedBytesPeak;
        tried.push_back({ settings, peak, recordedPeak - peak, answer->replayed.deviceMallocs,
            answer->replayed.deviceFrees, answer->exact, answer->reason.said(),
            answer->replayed.firstNewOomEvent.has_value(),
            asked.until && answer->replayed.lastOomEvent != asked.until
                && !answer->replayed.firstNewOomEvent });
    }
    std::ranges::stable_sort(tried, {}, [](const SettingTried& setting) {
        return std::pair(setting.refusesMore, setting.reservedBytesPeak);
    });
    return tried;
}

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

Result<std::vector<SettingTried>> trySettings(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress)
{
    return tryEach(trace, report, {}, trace.totals().reservedBytesPeak, progress);
}

Result<std::vector<SettingTried>> trySettingsUpTo(const DeviceTrace& trace, const ReplayReport& report,
    EventIndex last, std::int64_t capacityBytes, const Progress& progress)
{
    SettingsAsked asked;
    asked.availableBytes = capacityBytes;
    asked.until = last;
    return tryEach(trace, report, asked, reservedPeakUpTo(trace, last), progress);
}

std::int64_t reservedPeakUpTo(const DeviceTrace& trace, EventIndex last)
{
    std::int64_t reserved = trace.totals().reservedBytesStart, peak = reserved;
    for (EventIndex e = 0; e <= last; ++e) {
        reserved += trace.reservedDelta(e);
        peak = std::max(peak, reserved);
    }
    return peak;
}

Sentence whySettingsUntried(const DeviceTrace& trace, const ReplayReport& report)
{
    return trace.eventCount() == 0 ? say("no events were recorded that could be replayed") : report.reason();
}

} // namespace strata::model
