// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/polled_view.h"

#include "app/cli/live/terminal/plot.h"
#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/live/process_files.h"
#include "model/wire/link/process_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace strata::cli {

namespace {

constexpr std::int64_t kMinuteNs = 60 * kSecondNs;

} // namespace

PolledView::PolledView(model::LiveProcess process, const model::Sentence& remedy)
    : m_process(std::move(process))
    , m_remedy(remedy.text())
{
}

void PolledView::take(const std::optional<model::LiveProcess>& read,
    const std::vector<model::GpuReading>& devices, std::int64_t ns)
{
    if (!std::exchange(m_hasBegun, true))
        m_beginNs = ns;
    m_endNs = ns;
    m_isGone = !read;
    if (!read)
        return;
    m_process = *read;
    m_devices = devices;
    std::map<int, std::optional<std::int64_t>> now;
    for (const auto& [device, points] : m_history)
        now[device] = std::nullopt; // it has left it, unless it is told of
    if (read->totals)
        for (const wire::DeviceTotals& totals : read->totals->devices)
            now[totals.device] = totals.usedBytes < 0 ? std::nullopt : std::optional(totals.usedBytes);
    for (const auto& [device, bytes] : now) {
        std::vector<Point>& points = m_history[device];
        if (points.empty() || points.back().bytes != bytes)
            points.push_back({ ns, bytes });
        if (!m_device && bytes)
            m_device = device;
    }
}

void PolledView::nextDevice()
{
    if (m_history.empty())
        return;
    const auto next = m_history.upper_bound(m_device.value_or(-1));
    m_device = (next == m_history.end() ? m_history.begin() : next)->first;
    m_firstLine = 0;
}

void PolledView::addPlot(Picture& picture, int columns, std::int64_t ns) const
{
    const auto history = m_history.find(m_device.value_or(-1));
    if (history == m_history.end() || columns < 1)
        return;
    const std::int64_t now = m_isGone ? m_endNs : ns;
    const std::int64_t passed = std::max<std::int64_t>(now - m_beginNs, 0);
    const bool showsAll = m_showsAll || passed < kMinuteNs;
    const std::int64_t columnNs = showsAll ? niceNs((passed + columns) / columns) : kMinuteNs / columns;
    const std::int64_t behind = (passed + columnNs) / columnNs;
    const std::int64_t begin = m_beginNs + (std::max<std::int64_t>(behind, columns) - columns) * columnNs;
    picture.columns.resize(static_cast<std::size_t>(columns));
    const std::vector<Point>& points = history->second;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!points[i].bytes)
            continue;
        // Until the next point, or now.
        const std::int64_t until = i + 1 < points.size() ? points[i + 1].ns : now + 1;
        const std::int64_t first = std::max<std::int64_t>((points[i].ns - begin) / columnNs, 0);
        const std::int64_t last = std::min<std::int64_t>((until - 1 - begin) / columnNs, columns - 1);
        for (std::int64_t column = first; column <= last && until > begin; ++column) {
            auto& span = picture.columns[static_cast<std::size_t>(column)].reserved;
            if (!span)
                span = PlotSpan{ *points[i].bytes, *points[i].bytes };
            span->min = std::min(span->min, *points[i].bytes);
            span->max = std::max(span->max, *points[i].bytes);
        }
    }
    picture.begin = fmt::format("{} s", (begin - m_beginNs) / kSecondNs);
    const std::int64_t end = begin + columnNs * columns;
    picture.end
        = end - now < 2 * columnNs && !m_isGone ? "now" : fmt::format("{} s", (end - m_beginNs) / kSecondNs);
}

/// Of whom the device is full.
void PolledView::addProcesses(Picture& picture)
{
    const auto device = std::ranges::find(m_devices, m_device.value_or(-1), &model::GpuReading::device);
    if (device == m_devices.end())
        return;
    picture.device += device->name.empty() ? "" : ": " + device->name;
    picture.capacityBytes = device->totalBytes;
    picture.linesTitle = fmt::format("In use on {}: {} of {}, by process", deviceName(device->device),
        model::formatBytes(device->usedBytes), model::formatBytes(device->totalBytes));
    picture.linesBytes = device->usedBytes;
    std::int64_t told = 0;
    for (const model::GpuReading::Process& each : device->processes) {
        const auto [name, isNew] = m_names.try_emplace(each.process);
        if (isNew)
            name->second = wire::programName(model::commandOf(each.process));
        told += each.usedBytes.value_or(0);
        picture.lines.push_back({ each.usedBytes.value_or(0), 1,
            fmt::format("pid {}{}{}{}", each.process, name->second.empty() ? "" : "  ",
                printable(name->second), each.process == m_process.process ? "  (this one)" : "") });
    }
    if (told < device->usedBytes)
        picture.lines.push_back({ device->usedBytes - told, 1, "others, and the driver itself" });
    std::ranges::stable_sort(picture.lines, std::greater(), &Picture::Line::bytes);
    m_firstLine = std::clamp(m_firstLine, 0, std::max(static_cast<int>(picture.lines.size()) - 1, 0));
    picture.firstLine = m_firstLine;
}

Picture PolledView::picture(GridSize size, std::int64_t ns)
{
    Picture picture;
    picture.isPolled = true;
    picture.help = m_help;
    picture.name = m_process.name.empty() ? "?" : m_process.name;
    picture.process = m_process.process;
    picture.rank = m_process.rank;
    picture.worldSize = m_process.worldSize;
    picture.device = m_device ? deviceName(*m_device) : "";
    picture.state = m_isGone ? "gone" : "polled";
    picture.stateIsGood = !m_isGone;
    picture.elapsedNs = (m_isGone ? m_endNs : ns) - m_beginNs;
    if (m_device)
        if (const auto history = m_history.find(*m_device); history != m_history.end())
            picture.reservedBytes = history->second.back().bytes;
    addPlot(picture, plotColumns(size.columns), ns);
    addProcesses(picture);
    picture.verdict
        = "Polled: these are the driver's totals, all that is known of it. To see more: " + m_remedy;
    if (m_isGone)
        picture.warnings.emplace_back("the process is gone");
    return picture;
}

} // namespace strata::cli
