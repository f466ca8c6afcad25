// SPDX-License-Identifier: GPL-3.0-or-later
// What a LiveView shows, as the figures and words of a Picture.
#include "app/cli/live/terminal/live_view.h"
#include "app/cli/live/terminal/plot.h"
#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/analysis/summary/groups.h"
#include "model/analysis/summary/verdict.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/live/live_process.h"
#include "model/session/simulation.h"
#include "model/timeline/columns.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <span>

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

/// "12.3 s", "2:04", "1:02:03": a moment since the first event, as fine as the picture tells.
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

void LiveView::describeProcess(Picture& picture, std::int64_t nowNs) const
{
    picture.name = m_address.text();
    picture.state = stateText(m_status.state);
    picture.stateIsGood = m_status.state == LinkState::Following || m_status.state == LinkState::Ended;
    const int device = m_device.value_or(0);
    if (m_status.greeting) {
        const model::LiveProcess process = model::describe(*m_status.greeting, m_address);
        if (!process.name.empty())
            picture.name = process.name;
        picture.process = process.process;
        picture.rank = process.rank;
        picture.worldSize = process.worldSize;
        picture.device = deviceName(device);
        std::int64_t startedNs = 0;
        for (const auto& [key, value] : m_status.greeting->facts) {
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
    if (m_status.totals) {
        if (m_status.state == LinkState::Following)
            picture.eventsPerSecond = known(m_status.totals->eventsPerSecond);
        for (const wire::DeviceTotals& totals : m_status.totals->devices)
            if (totals.device == device)
                picture.driverBytes = known(totals.usedBytes);
    }
    if (const DeviceTrace* const shown = trace())
        picture.events = shown->eventCount();
}

void LiveView::addFigures(Picture& picture, EventIndex event) const
{
    const model::DeviceTimeline& timeline = *m_derived->timeline;
    picture.requestedBytes = timeline.requested().at(event);
    picture.reservedBytes = timeline.reserved().at(event);
    const Replayed* const replay = replayed();
    if (replay && event < replay->curves->allocated.eventCount())
        picture.allocated = { replay->curves->allocated.at(event), true };
    else // every block is at least as large as what was asked for
        picture.allocated
            = { std::max<std::int64_t>(*picture.requestedBytes - timeline.pendingFree().at(event), 0),
                  false };
}

void LiveView::addPlot(Picture& picture, const Window& window, int columns, std::int64_t nowNs) const
{
    const model::DeviceTimeline& timeline = *m_derived->timeline;
    const model::Clock& clock = timeline.clock();
    const auto begin = static_cast<double>(window.beginNs - clock.startNs());
    const model::ColumnWindow asked{ model::Axis::Time, begin,
        begin + static_cast<double>(window.columnNs) * columns, columns };
    const std::vector<EventIndex> edges = model::columnEdges(asked, clock);
    const auto requested = timeline.requested().columns(edges);
    const auto reserved = timeline.reserved().columns(edges);
    std::vector<model::CurveRange> allocated;
    EventIndex allocatedEvents = 0;
    if (const Replayed* const replay = replayed()) {
        allocated = replay->curves->allocated.columns(edges);
        allocatedEvents = replay->curves->allocated.eventCount();
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
    const auto columnOf = [&](EventIndex event) -> std::optional<int> {
        const std::int64_t column = (clock.timeNs(event) - window.beginNs) / window.columnNs;
        return clock.timeNs(event) >= window.beginNs && column < columns
            ? std::optional(static_cast<int>(column))
            : std::nullopt;
    };
    const auto& ooms = m_derived->trace->outOfMemories();
    constexpr std::size_t kMostMarks = 1000;
    for (std::size_t i = ooms.size() - std::min(ooms.size(), kMostMarks); i < ooms.size(); ++i)
        if (const auto column = columnOf(ooms[i]))
            picture.columns[static_cast<std::size_t>(*column)].hasOom = true;
    if (const EventIndex peak = m_derived->trace->totals().requestedPeakEvent; peak >= 0)
        picture.peak = columnOf(peak);
    if (m_at != At::End)
        if (const EventIndex event = instant(window, columns); event >= 0)
            picture.instant = m_at == At::Time ? std::optional(static_cast<int>(std::clamp<std::int64_t>(
                                  (m_endNs - window.beginNs) / window.columnNs, 0, columns - 1)))
                                               : columnOf(event);
}

void LiveView::addAxis(Picture& picture, const Window& window, int columns, std::int64_t nowNs) const
{
    const std::int64_t start = m_derived->timeline->clock().startNs();
    const std::int64_t width = window.columnNs * columns;
    const auto at = [&](std::int64_t ns) { return momentText(ns - start, window.columnNs); };
    picture.begin = at(window.beginNs);
    picture.middle = at(window.beginNs + width / 2);
    const bool isNow = m_at == At::End && m_status.state == LinkState::Following && !m_paused
        && window.beginNs + width - nowNs < 2 * window.columnNs;
    picture.end = isNow ? "now" : at(window.beginNs + width);
}

void LiveView::addLines(Picture& picture, EventIndex event)
{
    const model::GroupTable& table = groups(m_grouping);
    const model::LiveGroups live = model::groupsAt(*m_derived->timeline, table, event);
    picture.linesBytes = live.requestedBytes;
    for (const model::GroupSum& sum : live.groups)
        picture.lines.push_back({ sum.bytes, sum.blocks, table.label(sum.group) });
    m_firstLine = std::clamp(m_firstLine, 0, std::max(static_cast<int>(picture.lines.size()) - 1, 0));
    picture.firstLine = m_firstLine;
    const std::string by
        = m_grouping == model::Grouping::Line ? "line of code" : std::string(model::infoOf(m_grouping).name);
    const std::string what = fmt::format("{} in {} block{}", model::formatBytes(live.requestedBytes),
        model::formatCount(live.blocks), live.blocks == 1 ? "" : "s");
    const bool isNow = m_at == At::End && !m_paused;
    const std::string when = isNow ? (m_status.state == LinkState::Following ? "now" : "at the end")
        : m_at == At::Peak         ? "at the peak, " + momentName(*m_derived->trace, event)
                                   : stateName(*m_derived->trace, event);
    picture.linesTitle = fmt::format("Live by {}, {}: {}", by, when, what);
}

void LiveView::addEvents(Picture& picture, EventIndex event, int most) const
{
    const DeviceTrace& shown = *m_derived->trace;
    const model::EventColumns& events = shown.events();
    const model::Recording& recording = shown.recording();
    const std::int64_t start = m_derived->timeline->clock().startNs();
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

/// What a summary says of an out-of-memory as soon as it happens, on whichever device, and of all when it has
/// ended.
void LiveView::addVerdict(Picture& picture)
{
    const DeviceTrace* judged = nullptr;
    for (const DeviceTrace& device : m_shown->devices()) {
        if (device.outOfMemories().empty())
            continue;
        const auto lastOf = [](const DeviceTrace& of) {
            return model::timeOf(of, of.outOfMemories()[of.outOfMemories().size() - 1]).value_or(0);
        };
        if (!judged || lastOf(device) > lastOf(*judged))
            judged = &device;
    }
    const bool isOver = m_status.state == LinkState::Ended || m_status.state == LinkState::Broken;
    const bool isBad = judged != nullptr;
    if (!judged && isOver)
        judged = m_derived->trace;
    if (!judged) {
        m_verdict = {};
        return;
    }
    const auto count = static_cast<std::int64_t>(judged->outOfMemories().size());
    const bool isSame = m_verdict.session && m_verdict.device == judged->device()
        && m_verdict.outOfMemories == count && (m_verdict.session == m_shown || (isBad && !isOver));
    if (!isSame) {
        const bool isShown = judged == m_derived->trace;
        const auto timeline = isShown ? m_derived->timeline : model::DeviceTimeline::of(*judged, nullptr);
        const model::GroupTable own(*judged, model::Grouping::Line);
        const model::GroupTable& byLine = isShown ? groups(model::Grouping::Line) : own;
        const model::DeviceSummary summary = model::summarize(*timeline, byLine);
        m_verdict = { m_shown, count, judged->device(), isBad ? summary.outOfMemory.back().event : -1,
            isShown ? std::string() : deviceName(judged->device()) + ": ", isBad };
        // Why comes behind what happened, before the figures.
        const std::span<const model::Sentence> sentences(summary.verdict);
        const std::size_t first = std::min<std::size_t>(sentences.size(), 1);
        m_verdict.text += model::plainText(model::piecesOf(sentences.first(first)));
        if (isBad && m_cause.device == m_verdict.device && m_cause.event == m_verdict.event
            && !m_cause.sentence.empty())
            m_verdict.text += " Why: " + m_cause.sentence + ".";
        if (first < sentences.size())
            m_verdict.text += " " + model::plainText(model::piecesOf(sentences.subspan(first)));
    }
    picture.verdict = printable(m_verdict.text);
    picture.verdictIsBad = m_verdict.isBad;
}

void LiveView::addWarnings(Picture& picture) const
{
    const auto add = [&](std::string text) { picture.warnings.push_back(printable(text)); };
    if (m_status.error)
        add(m_status.error->text());
    else if (m_status.state == LinkState::Reconnecting || m_status.state == LinkState::Broken)
        add(m_status.why.text());
    const DeviceTrace* const shown = trace();
    std::int64_t missing = 0;
    for (const wire::Gap::Missing& each : m_status.missing)
        missing += static_cast<std::int64_t>(each.events);
    if (missing > 0)
        add(fmt::format(
            "{}: {} events came before what is shown (record to a file, or with more --live-memory)",
            m_status.sessions > 1 ? "detail was dropped" : "joined late", model::formatCount(missing)));
    if (m_status.thinned > 0)
        add(fmt::format("{} earlier events are kept as curves alone", model::formatCount(m_status.thinned)));
    if (!shown)
        return;
    const model::Recording& recording = shown->recording();
    const auto cut = recording.cuts.find(shown->device());
    const std::int64_t before = cut == recording.cuts.end() ? 0 : cut->second.before;
    if (m_status.totals && !m_paused && m_status.state == LinkState::Following)
        for (const wire::DeviceTotals& totals : m_status.totals->devices) {
            if (totals.device != shown->device())
                continue;
            const std::int64_t behind
                = static_cast<std::int64_t>(totals.events) - before - shown->eventCount();
            if (behind > std::max(kBehindEvents, m_status.totals->eventsPerSecond))
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

std::string LiveView::modeText(std::int64_t instantNs, std::int64_t nowNs) const
{
    std::string text;
    if (m_at == At::Peak)
        text = "at the peak";
    else if (m_at == At::OutOfMemory)
        text = "at the out-of-memory";
    else if (m_at == At::Time)
        text = fmt::format(
            "back {}", momentText(std::max<std::int64_t>(nowNs - instantNs, 0), kSecondNs / 10));
    if (!m_paused)
        return text;
    const EventIndex shown = trace() ? trace()->eventCount() : 0;
    const DeviceTrace* const latest = m_latest && m_device ? m_latest->find(*m_device) : nullptr;
    const std::int64_t since = latest ? std::max<std::int64_t>(latest->eventCount() - shown, 0) : 0;
    return fmt::format(
        "{}paused, {} events since", text.empty() ? "" : text + ", ", model::formatCount(since));
}

Picture LiveView::picture(GridSize size, Clock::time_point now)
{
    Picture picture;
    picture.help = m_help;
    const std::int64_t time = nowNs(now);
    m_lastNowNs = time;
    describeProcess(picture, time);
    if (trace()) {
        const int columns = plotColumns(size.columns);
        const Window shown = window(columns, time);
        const EventIndex event = instant(shown, columns);
        m_widthNs = shown.columnNs * columns;
        if (columns > 0 && trace()->eventCount() > 0) {
            addPlot(picture, shown, columns, time);
            addAxis(picture, shown, columns, time);
        }
        addFigures(picture, event);
        addLines(picture, event);
        addEvents(picture, event, mostRows(size));
        addVerdict(picture);
        picture.mode = modeText(m_at == At::Time ? m_endNs : time, time);
    } else {
        picture.linesTitle = m_status.state == LinkState::Following ? "Nothing has been allocated yet" : "";
    }
    addWarnings(picture);
    return picture;
}

} // namespace strata::cli
