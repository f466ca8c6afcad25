// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/summary_data.h"

#include "model/analysis/summary/summary.h"
#include "model/base/wrap.h"
#include "views/models/document/document.h"
#include "views/models/document/group_colours.h"

#include <algorithm>
#include <tuple>

namespace strata::views {

namespace {

std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> rowsOf(
    const std::vector<model::GroupSum>& groups, const model::GroupTable& byLine)
{
    std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> rows;
    for (const model::GroupSum& sum : groups)
        rows.emplace_back(byLine.label(sum.group), sum.bytes, sum.blocks);
    return rows;
}

auto figuresOf(const model::Totals& t)
{
    return std::tuple(t.device, t.events, t.segments, t.blocks, t.reservedBytesPeak, t.reservedPeakEvent,
        t.requestedBytesPeak, t.requestedPeakEvent, t.reservedBytesEnd, t.activeBytesEnd, t.allocatedBytesEnd,
        t.requestedBytesEnd, t.requestedBytesStart, t.reservedBytesStart, t.actions);
}

auto figuresOf(const model::OutOfMemory& oom)
{
    return std::tuple(oom.event, oom.requestedBytes, oom.deviceFreeBytes, oom.reservedBytes,
        oom.freeInSegmentsBytes, oom.freeInSegmentsExact, oom.requestedLiveBytes);
}

auto figuresOf(const model::DeviceSummary& s)
{
    return std::tuple(figuresOf(s.totals), s.waste.rounding, s.waste.freeInSegments, s.waste.pendingFree,
        s.peak.event, s.peak.requestedBytes, s.peak.blocks, s.peak.beforeTraceBytes, s.peakTimeNs,
        s.firstTimeNs, s.latestTimeNs, s.capacity, s.peakUse, s.breaches, s.olderEventsGone,
        s.driver, s.needs ? std::optional(std::pair(s.needs->bytes, s.needs->atLeast)) : std::nullopt,
        s.outOfMemory.size());
}

auto figuresOf(const model::Recording& r)
{
    std::vector<std::pair<std::string, std::string>> settings;
    for (const model::Setting& setting : r.settings)
        settings.emplace_back(setting.key, setting.json);
    return std::tuple(r.fileBytes, r.format, r.annotations.size(), r.simulated, r.facts, r.refusal,
        std::move(settings), r.host.has_value(), r.driver.size(), r.stacks.stackCount() == 0);
}

/// Lines that only other instants show take theirs with the events.
void colour(SummaryData& data, DocumentColours& all)
{
    const std::vector<std::uint32_t> largest = largestFirst(data.summary->peak, *data.byLine, {});
    const std::vector<int> colours = coloursOf(all, data.summary->device, *data.byLine, largest);
    data.lineRank.assign(data.byLine->count(), -1);
    for (const std::uint32_t group : largest)
        data.lineRank[group] = colours[group];
    for (std::uint32_t group = 0; group < data.byLine->count(); ++group)
        if (!data.byLine->stackOf(group).valid())
            data.lineRank[group] = colours[group];
}

} // namespace

std::optional<std::int64_t> SummaryData::timeOfPeakNs() const
{
    if (!summary->peakTimeNs || !summary->firstTimeNs)
        return std::nullopt;
    return model::wrapSub(*summary->peakTimeNs, *summary->firstTimeNs);
}

std::shared_ptr<const SummaryData> summaryOf(const DeviceData& device)
{
    auto data = std::make_shared<SummaryData>();
    data->owner = device.session;
    data->source = device.source;
    data->recording = &device.trace->recording();
    data->summary = device.summary;
    data->byLine = device.byLine;
    data->findings = device.trace->findings();
    data->lineRank = device.lineRank;
    data->replay = device.replay;
    return data;
}

std::vector<std::shared_ptr<const SummaryData>> summariesOf(
    const std::shared_ptr<const model::SessionOutline>& outline, DocumentColours& colours)
{
    std::vector<std::shared_ptr<const SummaryData>> all;
    for (std::size_t i = 0; i < outline->devices.size(); ++i) {
        const model::DeviceOutline& device = outline->devices[i];
        auto data = std::make_shared<SummaryData>();
        data->owner = outline;
        data->recording = outline->recording.get();
        data->byLine = std::make_shared<model::GroupTable>(model::linesOf(*data->recording, device));
        data->summary = std::make_shared<model::DeviceSummary>(
            model::summarize(*data->recording, data->recording->devices[i], device, *data->byLine));
        data->findings = device.findings;
        colour(*data, colours);
        all.push_back(std::move(data));
    }
    return all;
}

bool sameFigures(const SummaryData& a, const SummaryData& b)
{
    if (a.replay != b.replay || figuresOf(*a.summary) != figuresOf(*b.summary)
        || figuresOf(*a.recording) != figuresOf(*b.recording)
        || rowsOf(a.summary->peak.groups, *a.byLine) != rowsOf(b.summary->peak.groups, *b.byLine))
        return false;
    for (std::size_t i = 0; i < a.summary->outOfMemory.size(); ++i) {
        const model::OutOfMemory &one = a.summary->outOfMemory[i], &other = b.summary->outOfMemory[i];
        if (figuresOf(one) != figuresOf(other)
            || rowsOf(one.biggest, *a.byLine) != rowsOf(other.biggest, *b.byLine))
            return false;
    }
    return std::ranges::equal(a.findings, b.findings, [](const model::Finding& f, const model::Finding& g) {
        return std::tie(f.check, f.event, f.bytes, f.count) == std::tie(g.check, g.event, g.bytes, g.count);
    });
}

} // namespace strata::views
