// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/live/process_finder.h"

#include "model/live/find_processes.h"
#include "views/style/texts.h"

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kFindMs = 1'000;

} // namespace

std::string keyOf(const model::LiveProcess& process)
{
    return process.state == model::ProcessState::Live ? process.address.text()
                                                      : std::to_string(process.process.value_or(-1));
}

const wire::DeviceTotals* busiestDevice(const model::LiveProcess& process)
{
    if (!process.totals || process.totals->devices.empty())
        return nullptr;
    const auto bytes = [](const wire::DeviceTotals& device) { // the driver alone tells of no segments
        return std::max(device.reservedBytes, device.usedBytes);
    };
    return &*std::ranges::max_element(process.totals->devices, {}, bytes);
}

ProcessFinder::ProcessFinder(QObject* parent)
    : QObject(parent)
{
    m_clock.start();
    m_timer.setInterval(kFindMs);
    connect(&m_timer, &QTimer::timeout, this, &ProcessFinder::look);
}

void ProcessFinder::setLooking(bool looking)
{
    if (looking == m_timer.isActive())
        return;
    if (looking) {
        m_timer.start();
        look();
    } else {
        m_timer.stop();
    }
}

void ProcessFinder::look()
{
    if (m_job.running())
        return;
    m_job.start(
        [](const JobContext&) {
            Found found;
            found.processes = model::findProcesses(found.why);
            return found;
        },
        [this](Found found) { take(std::move(found)); });
}

void ProcessFinder::take(Found found)
{
    m_hasLooked = true;
    m_refusals = text::utf8(found.why).trimmed();
    const std::int64_t now = nowMs();
    m_seen.clear();
    std::map<std::string, std::vector<MemorySample>> histories;
    for (model::LiveProcess& process : found.processes) {
        const std::string key = keyOf(process);
        std::vector<MemorySample> history = std::move(m_histories[key]);
        if (const wire::DeviceTotals* const device = busiestDevice(process))
            history.push_back({ now, device->requestedBytes,
                device->reservedBytes >= 0 ? device->reservedBytes : device->usedBytes });
        std::erase_if(history, [&](const MemorySample& sample) { return sample.atMs < now - kKeptMs; });
        histories[key] = history;
        m_seen.push_back({ std::move(process), std::move(history) });
    }
    m_histories = std::move(histories);
    Q_EMIT changed();
}

} // namespace strata::views
