// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/nvml.h"

#include <algorithm>
#include <dlfcn.h>

namespace strata::model {

namespace {

// As nvml.h has them; a status of 0 is success.
constexpr int kInsufficientSize = 7;
struct Memory {
    unsigned long long total, free, used;
};
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct Process {
    unsigned pid;
    unsigned long long usedBytes;
    unsigned gpuInstance, computeInstance;
};
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned kMostDevices = 1024, kFirstProcesses = 64, kMostProcesses = 1 << 16;
constexpr std::size_t kNameBytes = 1024;

} // namespace

template <class Function> Function Nvml::function(const char* name) const
{
    return m_library ? reinterpret_cast<Function>(dlsym(m_library, name)) : nullptr;
}

Nvml::Nvml(const std::string& library)
    : m_library(dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL))
{
    if (const auto start = function<int (*)()>("nvmlInit_v2"); start && start() == 0)
        m_count = function<int (*)(unsigned*)>("nvmlDeviceGetCount_v2");
}

std::vector<GpuReading> Nvml::read() const
{
    std::vector<GpuReading> readings;
    unsigned count = 0;
    const auto get = function<int (*)(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
    if (!isThere() || !get || m_count(&count) != 0)
        return readings;
    const auto name = function<int (*)(void*, char*, unsigned)>("nvmlDeviceGetName");
    for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
        void* device = nullptr;
        GpuReading reading;
        reading.device = static_cast<int>(i);
        if (get(i, &device) != 0 || !readMemory(device, reading))
            continue;
        char text[96] = "";
        if (name && name(device, text, sizeof text) == 0)
            reading.name = text;
        reading.processes = processesOf(device);
        readings.push_back(std::move(reading));
    }
    return readings;
}

bool Nvml::readMemory(void* device, GpuReading& reading) const
{
    MemoryV2 newer{ kMemoryV2, 0, 0, 0, 0 };
    if (const auto ask = function<int (*)(void*, void*)>("nvmlDeviceGetMemoryInfo_v2");
        ask && ask(device, &newer) == 0) {
        reading.totalBytes = static_cast<std::int64_t>(newer.total);
        reading.usedBytes = static_cast<std::int64_t>(newer.used);
        return true;
    }
    Memory older{};
    const auto ask = function<int (*)(void*, void*)>("nvmlDeviceGetMemoryInfo");
    if (!ask || ask(device, &older) != 0)
        return false;
    reading.totalBytes = static_cast<std::int64_t>(older.total);
    reading.usedBytes = static_cast<std::int64_t>(older.used);
    return true;
}

std::vector<GpuReading::Process> Nvml::processesOf(void* device) const
{
    using Ask = int (*)(void*, unsigned*, void*);
    auto ask = function<Ask>("nvmlDeviceGetComputeRunningProcesses_v3");
    if (!ask) // of drivers before 510; the same structure
        ask = function<Ask>("nvmlDeviceGetComputeRunningProcesses_v2");
    std::vector<Process> rows(kFirstProcesses);
    auto count = static_cast<unsigned>(rows.size());
    int status = ask ? ask(device, &count, rows.data()) : -1;
    while (status == kInsufficientSize && rows.size() < kMostProcesses) { // some may have begun meanwhile
        rows.resize(std::min<std::size_t>(std::max<std::size_t>(count, rows.size()) * 2, kMostProcesses));
        count = static_cast<unsigned>(rows.size());
        status = ask(device, &count, rows.data());
    }
    std::vector<GpuReading::Process> processes;
    if (status != 0)
        return processes;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, rows.size()); ++i)
        processes.push_back({ rows[i].pid,
            rows[i].usedBytes == kNotAvailable
                ? std::nullopt
                : std::optional(static_cast<std::int64_t>(rows[i].usedBytes)) });
    return processes;
}

std::string Nvml::nameOf(std::int64_t process) const
{
    const auto ask = function<int (*)(unsigned, char*, unsigned)>("nvmlSystemGetProcessName");
    std::string name(kNameBytes, '\0');
    if (!isThere() || !ask
        || ask(static_cast<unsigned>(process), name.data(), static_cast<unsigned>(name.size() - 1)) != 0)
        return {};
    name.resize(name.find('\0'));
    return name;
}

} // namespace strata::model
