// SPDX-License-Identifier: Apache-2.0
#include "capture/driver/driver_memory.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <unistd.h>

namespace strata::driver {

namespace {

// As nvml.h has them; a status of 0 is success.
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
constexpr std::size_t kMostProcesses = 256;

template <class Function> Function function(void* library, const char* name)
{
    return reinterpret_cast<Function>(dlsym(library, name));
}

bool isDivided(void* library, void* device)
{
    const auto modeOf = function<int (*)(void*, unsigned*, unsigned*)>(library, "nvmlDeviceGetMigMode");
    unsigned current = 0, pending = 0;
    return modeOf && modeOf(device, &current, &pending) == 0 && current != 0;
}

} // namespace

DriverMemory::DriverMemory(const std::vector<std::string>& buses)
    : m_library(dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL))
{
    if (!m_library)
        return;
    const auto start = function<int (*)()>(m_library, "nvmlInit_v2");
    const auto find = function<int (*)(const char*, void**)>(m_library, "nvmlDeviceGetHandleByPciBusId_v2");
    if (!start || !find || start() != 0)
        return;
    for (const std::string& bus : buses) {
        void* device = nullptr;
        if (bus.empty() || find(bus.c_str(), &device) != 0 || isDivided(m_library, device))
            device = nullptr;
        m_devices.push_back(device);
    }
}

std::optional<Reading> DriverMemory::read(int device) const
{
    const auto index = static_cast<std::size_t>(device);
    if (device < 0 || index >= m_devices.size() || !m_devices[index])
        return std::nullopt;
    void* const handle = m_devices[index];
    MemoryV2 newer{ kMemoryV2, 0, 0, 0, 0 };
    if (const auto ask = function<int (*)(void*, MemoryV2*)>(m_library, "nvmlDeviceGetMemoryInfo_v2");
        ask && ask(handle, &newer) == 0)
        return Reading{ static_cast<std::int64_t>(newer.used), processBytes(handle) };
    Memory older{};
    if (const auto ask = function<int (*)(void*, Memory*)>(m_library, "nvmlDeviceGetMemoryInfo");
        ask && ask(handle, &older) == 0)
        return Reading{ static_cast<std::int64_t>(older.used), processBytes(handle) };
    return std::nullopt;
}

std::int64_t DriverMemory::processBytes(void* device) const
{
    const auto ask
        = function<int (*)(void*, unsigned*, Process*)>(m_library, "nvmlDeviceGetComputeRunningProcesses_v3");
    std::array<Process, kMostProcesses> processes;
    unsigned count = kMostProcesses;
    if (!ask || ask(device, &count, processes.data()) != 0)
        return -1;
    const auto end = processes.begin() + std::min<std::size_t>(count, kMostProcesses);
    const auto own = std::find_if(processes.begin(), end,
        [pid = static_cast<unsigned>(getpid())](const Process& process) { return process.pid == pid; });
    return own == end || own->usedBytes == kNotAvailable ? -1 : static_cast<std::int64_t>(own->usedBytes);
}

} // namespace strata::driver
