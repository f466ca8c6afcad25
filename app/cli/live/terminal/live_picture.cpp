// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/live_picture.h"

#include "app/cli/live/terminal/plot.h"
#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/live/live_process.h"
#include "model/session/simulation.h"
#include "model/timeline/columns.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace strata::cli {

using model::DeviceTrace;
using model::EventIndex;
using model::LinkState;

namespace {

constexpr std::int64_t kBehindEvents = 1000; ///< fewer are on their way

std::optional<std::int64_t> known(std::int64_t figure)
{
    return figure < 0 ? std::nullopt : std::optional(figure);
}

std::optional<std::int64_t> numberOf(const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

const char* stateText(LinkState state)
{
    switch (state) {
    case LinkState::Connecting:
        return "connecting";
    case LinkState::Following:
        return "connected";
    case LinkState::Reconnecting:
        return "reconnecting";
    case LinkState::Ended:
        return "ended";
    case LinkState::Broken:
        return "gone";
    }
    return "";
}

std::string actionText(const DeviceTrace& trace, std::size_t row)
{
    const model::EventColumns& events = trace.events();
    if (events.action[row] == model::Action::Other)
        if (const model::StringId other = events.otherAction.at(static_cast<EventIndex>(row)); other.valid())
            return std::string(trace.recording().strings[other]);
    return std::string(model::actionName(events.action[row]));
}

} // namespace

std::string momentText(std::int64_t ns, std::int64_t columnNs)
{
    const double seconds = static_cast<double>(ns) / static_cast<double>(kSecondNs);
    if (columnNs < kSecondNs / 20)
        return fmt::format("{:.2f} s", seconds);
    if (columnNs < kSecondNs / 2 && seconds < 600)
        return fmt::format("{:.1f} s", seconds);
    const std::int64_t whole = ns / kSecondNs;
    return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                        : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::optional<int> columnOf(
    const model::Clock& clock, EventIndex event, const PictureWindow& window, int columns)
{
    const std::int64_t column = (clock.timeNs(event) - window.beginNs) / window.columnNs;
    return clock.timeNs(event) >= window.beginNs && column < columns ? std::optional(static_cast<int>(column))
                                                                     : std::nullopt;
}

void describeProcess(Picture& picture, const model::LinkAddress& address,
    const model::LiveSession::Status& status, int device, std::int64_t nowNs)
{
    picture.name = address.text();
    picture.state = stateText(status.state);
    picture.stateIsGood = status.state == LinkState::Following || status.state == LinkState::Ended;
    if (status.greeting) {
        const model::LiveProcess process = model::describe(*status.greeting, address);
        if (!process.name.empty())
            picture.name = process.name;
        picture.process = process.process;
        picture.rank = process.rank;
        picture.worldSize = process.worldSize;
        picture.device = deviceName(device);
        std::int64_t startedNs = 0;
        for (const auto& [key, value] : status.greeting->facts) {
            if (key == wire::deviceKey(wire::info::kDevice, device, wire::info::kDeviceName))
                picture.device += ": " + value;
            else if (key == wire::deviceKey(wire::info::kDevice, device, wire::info::kDeviceCapacity))
                picture.capacityBytes = numberOf(value);
            else if (key == wire::info::kStartedNs)
                startedNs = numberOf(value).value_or(0);
            else if (key == wire::info::kSimulated && value == wire::info::kYes)
                picture.device += " (simulated)";
        }
        if (startedNs > 0 && nowNs > startedNs)
            picture.elapsedNs = nowNs - startedNs;
    }
    if (status.totals) {
        if (status.state == LinkState::Following)
            picture.eventsPerSecond = known(status.totals->eventsPerSecond);
        for (const wire::DeviceTotals& totals : status.totals->devices)
            if (totals.device == device)
                picture.driverBytes = known(totals.usedBytes);
    }
}

void addFigures(Picture& picture, const model::DeviceTimeline& timeline, const model::RoundedCurves* curves,
    EventIndex event)
{
    picture.requestedBytes = timeline.requested().at(event);
    picture.reservedBytes = timeline.reserved().at(event);
    if (curves && event < curves->allocated.eventCount())
        picture.allocated = { curves->allocated.at(event), true };
    else // every block is at least as large as what was asked for
        picture.allocated
            = { std::max<std::int64_t>(*picture.requestedBytes - timeline.pendingFree().at(event), 0),
                  false };
}

void addPlot(Picture& picture, const model::DeviceTimeline& timeline, const model::RoundedCurves* curves,
    const PictureWindow& window, int columns, std::int64_t nowNs)
{
    const model::Clock& clock = timeline.clock();
    const auto begin = static_cast<double>(window.beginNs - clock.startNs());
    const model::ColumnWindow asked{ model::Axis::Time, begin,
        begin + static_cast<double>(window.columnNs) * columns, columns };
    const std::vector<EventIndex> edges = model::columnEdges(asked, clock);
    const auto requested = timeline.requested().columns(edges);
    const auto reserved = timeline.reserved().columns(edges);
    std::vector<model::CurveRange> allocated;
    EventIndex allocatedEvents = 0;
    if (curves) {
        allocated = curves->allocated.columns(edges);
        allocatedEvents = curves->allocated.eventCount();
    }
    picture.columns.resize(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < picture.columns.size(); ++i) {
        const std::int64_t columnBegin = window.beginNs + static_cast<std::int64_t>(i) * window.columnNs;
        if (columnBegin > nowNs || columnBegin + window.columnNs <= clock.startNs())
            continue;
        PlotColumn& column = picture.columns[i];
        column.requested = { requested[i].min, requested[i].max };
        column.reserved = { reserved[i].min, reserved[i].max };
        if (!allocated.empty() && edges[i + 1] <= allocatedEvents)
            column.allocated = { allocated[i].min, allocated[i].max };
    }
    const auto& ooms = timeline.trace().outOfMemories();
    constexpr std::size_t kMostMarks = 1000;
    for (std::size_t i = ooms.size() - std::min(ooms.size(), kMostMarks); i < ooms.size(); ++i)
        if (const auto column = columnOf(clock, ooms[i], window, columns))
            picture.columns[static_cast<std::size_t>(*column)].hasOom = true;
    if (const EventIndex peak = timeline.trace().totals().requestedPeakEvent; peak >= 0)
        picture.peak = columnOf(clock, peak, window, columns);
}

void addAxis(Picture& picture, const PictureWindow& window, int columns, std::int64_t startNs, bool endsNow)
{
    const std::int64_t width = window.columnNs * columns;
    const auto at = [&](std::int64_t ns) { return momentText(ns - startNs, window.columnNs); };
    picture.begin = at(window.beginNs);
    picture.middle = at(window.beginNs + width / 2);
    picture.end = endsNow ? "now" : at(window.beginNs + width);
}

void addEvents(Picture& picture, const model::DeviceTimeline& timeline, EventIndex event, int most)
{
    const DeviceTrace& shown = timeline.trace();
    const model::EventColumns& events = shown.events();
    const model::Recording& recording = shown.recording();
    const std::int64_t start = timeline.clock().startNs();
    for (EventIndex i = event; i >= 0 && i > event - most; --i) {
        const auto row = static_cast<std::size_t>(i);
        Picture::Event& line = picture.latest.emplace_back();
        line.action = printable(actionText(shown, row));
        line.bytes = events.bytes[row];
        if (events.hasTimes())
            line.time = fmt::format(
                "{:.3f} s", static_cast<double>(events.timeNs[row] - start) / static_cast<double>(kSecondNs));
        if (const model::FrameId frame = model::userFrame(recording, events.stack[row]); frame.valid())
            line.label = model::frameShortLabel(recording, frame);
        line.isBad = events.action[row] == model::Action::Oom;
    }
}

void addWarnings(
    Picture& picture, const model::LiveSession::Status& status, const DeviceTrace* shown, bool isPaused)
{
    const auto add = [&](std::string text) { picture.warnings.push_back(printable(text)); };
    if (status.error)
        add(status.error->text());
    else if (status.state == LinkState::Reconnecting || status.state == LinkState::Broken)
        add(status.why.text());
    std::int64_t missing = 0;
    for (const wire::Gap::Missing& each : status.missing)
        missing += static_cast<std::int64_t>(each.events);
    if (missing > 0)
        add(fmt::format(
            "{}: {} events came before what is shown (record to a file, or with more --live-memory)",
            status.sessions > 1 ? "detail was dropped" : "joined late", model::formatCount(missing)));
    if (status.thinned > 0)
        add(fmt::format("{} earlier events are kept as curves alone", model::formatCount(status.thinned)));
    if (!shown)
        return;
    const model::Recording& recording = shown->recording();
    const auto cut = recording.cuts.find(shown->device());
    const std::int64_t before = cut == recording.cuts.end() ? 0 : cut->second.before;
    if (status.totals && !isPaused && status.state == LinkState::Following)
        for (const wire::DeviceTotals& totals : status.totals->devices) {
            if (totals.device != shown->device())
                continue;
            const std::int64_t behind
                = static_cast<std::int64_t>(totals.events) - before - shown->eventCount();
            if (behind > std::max(kBehindEvents, status.totals->eventsPerSecond))
                add(fmt::format("the picture is {} events behind the process", model::formatCount(behind)));
        }
    if (recording.refusal)
        add("the allocator tells of no event: " + *recording.refusal);
    const auto breaches = std::ranges::count_if(
        shown->findings(), [](const model::Finding& found) { return model::isBreach(found.check); });
    if (breaches > 0)
        add(fmt::format(
            "totals are not exact: {} check{} failed, see strata check", breaches, breaches == 1 ? "" : "s"));
}

} // namespace strata::cli
