// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/live_view.h"

#include "app/cli/live/terminal/plot.h"
#include "model/live/live_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace strata::cli {

using model::DeviceTrace;
using model::EventIndex;

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

LiveView::Window LiveView::window(int columns, std::int64_t nowNs) const
{
    Window window;
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
EventIndex LiveView::instant(const Window& window, int columns) const
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

std::optional<LiveView::Place> LiveView::toJudge() const
{
    if (!m_verdict.session || m_verdict.event < 0
        || (m_cause.device == m_verdict.device && m_cause.event == m_verdict.event))
        return std::nullopt;
    return Place{ m_verdict.session, m_verdict.device };
}

void LiveView::setCause(int device, EventIndex event, std::string sentence)
{
    m_cause = { device, event, std::move(sentence) };
    m_verdict.session = nullptr; // made anew
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

} // namespace strata::cli
