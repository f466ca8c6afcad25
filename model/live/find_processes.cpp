// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/find_processes.h"

#include "model/live/process_files.h"
#include "model/wire/link/process_names.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

namespace fs = std::filesystem;

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Of whom NVML alone may know; then the name is all that is found.
LiveProcess describeProcess(
    std::int64_t number, const ProcessFiles* files, const FindOptions& options, const Nvml& nvml)
{
    LiveProcess process;
    process.process = number;
    process.state = ProcessState::Polled;
    if (files) {
        process.state
            = files->hasRecorder && !files->session.empty() ? ProcessState::File : ProcessState::Attachable;
        process.file = files->session;
        process.rank = files->rank;
        process.worldSize = files->worldSize;
        if (!files->job.empty())
            process.job = files->job;
    }
    std::string command = files ? files->command : commandOf(number, options.proc);
    if (command.empty())
        command = nvml.nameOf(number);
    process.name = wire::programName(command);
    return process;
}

/// What the driver says of a process, on all devices that it uses; none: it does not know it.
std::optional<wire::Totals> totalsOf(
    std::int64_t process, const std::vector<GpuReading>& readings, std::int64_t now)
{
    wire::Totals totals;
    totals.timeNs = now;
    for (const GpuReading& reading : readings) {
        std::optional<wire::DeviceTotals> device;
        for (const GpuReading::Process& each : reading.processes) {
            if (each.process != process)
                continue;
            if (!device)
                device.emplace().device = reading.device;
            if (each.usedBytes) // parts of a device that is divided add up
                device->usedBytes = std::max<std::int64_t>(device->usedBytes, 0) + *each.usedBytes;
        }
        if (device)
            totals.devices.push_back(*device);
    }
    return totals.devices.empty() ? std::nullopt : std::optional(std::move(totals));
}

} // namespace

std::vector<LiveProcess> findProcesses(std::string& why, const FindOptions& options)
{
    std::vector<LiveProcess> processes = findLiveProcesses(why);
    std::set<std::int64_t> known;
    for (const LiveProcess& process : processes)
        if (process.process)
            known.insert(*process.process);
    const Nvml nvml(options.nvml);
    const std::vector<GpuReading> readings = nvml.read();
    const std::int64_t now = nowNs();
    std::vector<LiveProcess> others;
    const auto add = [&](std::int64_t number, const ProcessFiles* files) {
        if (!known.insert(number).second)
            return;
        others.push_back(describeProcess(number, files, options, nvml));
        others.back().totals = totalsOf(number, readings, now);
    };
    for (const ProcessFiles& files : findTorchProcesses(options.proc))
        add(files.process, &files);
    for (const GpuReading& reading : readings)
        for (const GpuReading::Process& each : reading.processes)
            add(each.process, nullptr);
    std::ranges::sort(others, {}, [](const LiveProcess& process) {
        return std::tuple(process.state, process.job, process.rank, process.process);
    });
    std::ranges::move(others, std::back_inserter(processes));
    return processes;
}

PolledProcess::PolledProcess(std::int64_t process, FindOptions options)
    : m_options(std::move(options))
    , m_nvml(m_options.nvml)
{
    const std::vector<ProcessFiles> all = findTorchProcesses(m_options.proc);
    const auto files = std::ranges::find(all, process, &ProcessFiles::process);
    m_process = describeProcess(process, files == all.end() ? nullptr : &*files, m_options, m_nvml);
}

std::optional<LiveProcess> PolledProcess::read()
{
    const std::int64_t number = *m_process.process;
    const std::vector<GpuReading> readings = m_nvml.read();
    m_process.totals = totalsOf(number, readings, nowNs());
    m_devices.clear();
    if (m_process.totals)
        for (const GpuReading& reading : readings)
            if (std::ranges::count(m_process.totals->devices, reading.device, &wire::DeviceTotals::device)
                > 0)
                m_devices.push_back(reading);
    std::error_code error;
    if (!m_process.totals && !fs::exists(m_options.proc / std::to_string(number), error))
        return std::nullopt;
    return m_process;
}

} // namespace strata::model
