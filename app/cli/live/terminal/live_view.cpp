// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/live_view.h"

#include "app/cli/live/terminal/plot.h"
#include "app/cli/open.h"
#include "model/analysis/summary/groups.h"
#include "model/base/units.h"
#include "model/live/live_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace strata::cli {

using model::DeviceTrace;
using model::EventIndex;
using model::LinkState;

namespace {

/// What a picture may show; 0: all of it.
constexpr std::array<std::int64_t, 9> kWindows{ 0, 7200 * kSecondNs, 1800 * kSecondNs, 600 * kSecondNs,
    180 * kSecondNs, 60 * kSecondNs, 20 * kSecondNs, 5 * kSecondNs, kSecondNs };
constexpr std::size_t kFirstWindow = 5;

std::int64_t sinceEpoch(const model::Clock& clock, EventIndex event)
{
    return clock.timeNs(event);
}

/// When the last request failed, on whichever device; before all times where none did.
std::int64_t lastOutOfMemoryNs(const model::Session& session)
{
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const DeviceTrace& trace : session.devices())
        if (const auto& all = trace.outOfMemories(); !all.empty() && trace.events().hasTimes())
            last = std::max(last, trace.events().timeNs[all[all.size() - 1]]);
    return last;
}

} // namespace

LiveView::LiveView(model::LinkAddress address)
    : m_address(std::move(address))
    , m_zoom(kFirstWindow)
{
}

void LiveView::take(const model::LiveSession::Status& status, std::shared_ptr<const model::Session> latest,
    Clock::time_point now)
{
    if (status.totals && (!m_status.totals || status.totals->timeNs != m_status.totals->timeNs))
        m_totalsAt = now;
    m_status = status;
    m_latest = std::move(latest);
    if (!m_paused)
        m_shown = m_latest;
    else if (outOfMemorySince())
        return togglePause(); // what somebody waits for is said at once
    derive();
}

/// A request failed on a device since the picture stands still.
bool LiveView::outOfMemorySince() const
{
    return m_latest && m_shown && lastOutOfMemoryNs(*m_latest) > lastOutOfMemoryNs(*m_shown);
}

const DeviceTrace* LiveView::trace() const
{
    return m_derived ? m_derived->trace : nullptr;
}

void LiveView::derive()
{
    if (!m_shown)
        return;
    if (!m_device) // the first that has anything is kept: it does not change under the eyes
        for (const DeviceTrace& device : m_shown->devices())
            if (device.eventCount() > 0 && !m_device)
                m_device = device.device();
    const DeviceTrace* const found = m_device ? m_shown->find(*m_device) : m_shown->defaultDevice();
    if (!found || (m_derived && m_derived->trace == found))
        return;
    Derived next;
    next.session = m_shown;
    next.trace = found;
    const bool goesOn = m_derived && m_derived->trace->device() == found->device();
    next.timeline = model::DeviceTimeline::of(*found, goesOn ? m_derived->timeline.get() : nullptr);
    if (goesOn && found->keepsRowsOf(*m_derived->trace))
        for (const auto& table : m_derived->tables)
            next.tables.push_back(std::make_shared<const model::GroupTable>(*found, *table));
    m_derived = std::move(next);
}

const model::GroupTable& LiveView::groups(model::Grouping grouping)
{
    for (const auto& table : m_derived->tables)
        if (table->grouping() == grouping)
            return *table;
    return *m_derived->tables.emplace_back(
        std::make_shared<const model::GroupTable>(*m_derived->trace, grouping));
}

/// Its own clock, which may be another machine's: the last that it told, and what has passed since.
std::int64_t LiveView::nowNs(Clock::time_point now) const
{
    std::int64_t told = 0;
    if (const DeviceTrace* const shown = trace(); shown && shown->eventCount() > 0)
        told = m_derived->timeline->clock().endNs();
    if (m_paused)
        return std::max(m_pausedNs, told);
    const bool goesOn = m_status.state == model::LinkState::Following;
    if (!goesOn || !m_status.totals || m_status.totals->timeNs == 0)
        return told;
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now - m_totalsAt).count();
    return std::max(told, m_status.totals->timeNs + std::min<std::int64_t>(since, 2 * kSecondNs));
}

PictureWindow LiveView::window(int columns, std::int64_t nowNs) const
{
    PictureWindow window;
    const DeviceTrace* const shown = trace();
    if (!shown || columns < 1)
        return window;
    const std::int64_t start = m_derived->timeline->clock().startNs();
    const std::int64_t width = kWindows[m_zoom];
    if (width == 0 || nowNs - start < width) {
        window.beginNs = start;
        window.columnNs = niceNs((std::max<std::int64_t>(nowNs - start, 0) + columns) / columns);
        return window;
    }
    // Whole columns since the start, so that what is drawn moves on and does not change.
    window.columnNs = std::max<std::int64_t>(width / columns, 1);
    std::int64_t end = nowNs;
    if (m_at == At::Time)
        end = m_endNs;
    else if (m_at != At::End)
        end = std::min(nowNs, sinceEpoch(m_derived->timeline->clock(), instant({}, 0)) + width / 2);
    const std::int64_t behind = (end - start + window.columnNs) / window.columnNs;
    window.beginNs = start + (std::max<std::int64_t>(behind, columns) - columns) * window.columnNs;
    return window;
}

/// Whose state the tables show.
EventIndex LiveView::instant(const PictureWindow& window, int columns) const
{
    const DeviceTrace& shown = *m_derived->trace;
    switch (m_at) {
    case At::Peak:
        return shown.totals().requestedPeakEvent;
    case At::OutOfMemory:
        if (!shown.outOfMemories().empty())
            return shown.outOfMemories()[shown.outOfMemories().size() - 1];
        break;
    case At::Time:
        if (columns > 0)
            return m_derived->timeline->clock().eventAt(
                std::min(m_endNs, window.beginNs + columns * window.columnNs - 1));
        break;
    case At::End:
        break;
    }
    return shown.eventCount() - 1;
}

void LiveView::togglePause()
{
    if (!m_paused)
        m_pausedNs = m_lastNowNs;
    m_paused = !m_paused;
    if (!m_paused) {
        m_shown = m_latest;
        derive();
    }
}

void LiveView::scroll(double pictures)
{
    if (!trace() || m_lastNowNs == 0)
        return;
    const std::int64_t start = m_derived->timeline->clock().startNs();
    if (m_at != At::Time)
        m_endNs = m_at == At::End ? m_lastNowNs : sinceEpoch(m_derived->timeline->clock(), instant({}, 0));
    m_endNs += static_cast<std::int64_t>(std::llround(pictures * static_cast<double>(m_widthNs)));
    m_endNs = std::max(m_endNs, start);
    m_at = m_endNs >= m_lastNowNs ? At::End : At::Time;
    m_firstLine = 0;
}

void LiveView::toBegin()
{
    if (!trace())
        return;
    m_endNs = m_derived->timeline->clock().startNs() + (kWindows[m_zoom] == 0 ? 0 : m_widthNs);
    m_at = m_endNs >= m_lastNowNs ? At::End : At::Time;
}

void LiveView::toEnd()
{
    m_at = At::End;
    m_firstLine = 0;
    if (m_paused)
        togglePause();
}

void LiveView::togglePeak()
{
    m_at = m_at == At::Peak ? At::End : At::Peak;
    m_firstLine = 0;
}

bool LiveView::toOutOfMemory()
{
    if (!trace() || trace()->outOfMemories().empty())
        return false;
    m_at = At::OutOfMemory;
    m_firstLine = 0;
    return true;
}

void LiveView::zoom(int steps)
{
    const auto last = static_cast<int>(kWindows.size()) - 1;
    m_zoom = static_cast<std::size_t>(std::clamp(static_cast<int>(m_zoom) + steps, 0, last));
}

void LiveView::showAll()
{
    m_zoom = 0;
}

void LiveView::nextDevice()
{
    if (!m_shown || m_shown->devices().empty())
        return;
    const auto& devices = m_shown->devices();
    const auto next = std::ranges::find_if(
        devices, [&](const DeviceTrace& device) { return device.device() > m_device.value_or(-1); });
    m_device = (next == devices.end() ? devices.front() : *next).device();
    m_firstLine = 0;
    derive();
}

void LiveView::groupBy(model::Grouping grouping)
{
    m_grouping = grouping;
    m_firstLine = 0;
}

void LiveView::scrollLines(int rows)
{
    m_firstLine = std::max(m_firstLine + rows, 0);
}

std::string LiveView::suggestedName() const
{
    std::string name = "run";
    std::optional<std::int64_t> process;
    if (m_status.greeting) {
        const model::LiveProcess told = model::describe(*m_status.greeting, m_address);
        process = told.process;
        if (!told.name.empty())
            name = told.name;
    }
    for (char& c : name)
        if (c == '/' || c == ' ' || static_cast<unsigned char>(c) < 0x20)
            c = '_';
    return process ? fmt::format("{}-{}.strata", name, *process) : name + ".strata";
}

std::optional<LiveView::Place> LiveView::toReplay() const
{
    // A replay goes through all events: of more than these it is for `strata summary --replay`.
    constexpr EventIndex kMostReplayed = 5'000'000;
    if (!trace() || trace()->eventCount() == 0 || trace()->eventCount() > kMostReplayed
        || trace()->recording().refusal)
        return std::nullopt;
    if (m_replayed && m_replayed->session == m_derived->session && m_replayed->device == trace()->device())
        return std::nullopt;
    return Place{ m_derived->session, trace()->device() };
}

/// Where it is of the device, and of a trace that is the beginning of what is shown.
const Replayed* LiveView::replayed() const
{
    if (!m_replayed || !m_replayed->curves || !trace() || m_replayed->device != trace()->device())
        return nullptr;
    const DeviceTrace* const known = m_replayed->session->find(m_replayed->device);
    return known && (known == trace() || trace()->continues(*known)) ? m_replayed.get() : nullptr;
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
    describeProcess(picture, m_address, m_status, m_device.value_or(0), time);
    if (trace()) {
        const model::DeviceTimeline& timeline = *m_derived->timeline;
        const Replayed* const replay = replayed();
        const model::RoundedCurves* const curves = replay ? &*replay->curves : nullptr;
        picture.events = trace()->eventCount();
        const int columns = plotColumns(size.columns);
        const PictureWindow shown = window(columns, time);
        const EventIndex event = instant(shown, columns);
        m_widthNs = shown.columnNs * columns;
        if (columns > 0 && trace()->eventCount() > 0) {
            addPlot(picture, timeline, curves, shown, columns, time);
            if (m_at != At::End && event >= 0)
                picture.instant = m_at == At::Time ? std::optional(static_cast<int>(std::clamp<std::int64_t>(
                                      (m_endNs - shown.beginNs) / shown.columnNs, 0, columns - 1)))
                                                   : columnOf(timeline.clock(), event, shown, columns);
            const bool endsNow = m_at == At::End && m_status.state == LinkState::Following && !m_paused
                && shown.beginNs + m_widthNs - time < 2 * shown.columnNs;
            addAxis(picture, shown, columns, timeline.clock().startNs(), endsNow);
        }
        addFigures(picture, timeline, curves, event);
        addLines(picture, event);
        addEvents(picture, timeline, event, mostRows(size));
        m_verdict.addTo(picture,
            { m_shown, m_derived->timeline,
                [this]() -> const model::GroupTable& { return groups(model::Grouping::Line); } },
            m_status.state == LinkState::Ended || m_status.state == LinkState::Broken);
        picture.mode = modeText(m_at == At::Time ? m_endNs : time, time);
    } else {
        picture.linesTitle = m_status.state == LinkState::Following ? "Nothing has been allocated yet" : "";
    }
    addWarnings(picture, m_status, trace(), m_paused);
    return picture;
}

} // namespace strata::cli
