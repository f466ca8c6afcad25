// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of NVML that Strata makes, of devices and processes that a test describes: the file that
// STRATA_FAKE_NVML names, read anew at each call, of lines
//
//     device NAME TOTAL_BYTES USED_BYTES
//     process PID USED_BYTES|-          of the last device; -: the driver does not say
//     name PID PATH                     as the driver calls a process of another container
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kInvalidArgument = 2, kNotFound = 6, kInsufficientSize = 7, kArgumentVersionMismatch = 25;

struct Process {
    unsigned pid;
    unsigned long long usedBytes;
    unsigned gpuInstance, computeInstance;
};
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct Device {
    std::string name;
    unsigned long long total = 0, used = 0;
    std::vector<Process> processes;
};
struct Machine {
    std::vector<Device> devices;
    std::vector<std::pair<unsigned, std::string>> names;
};

Machine machine()
{
    Machine read;
    const char* const path = std::getenv("STRATA_FAKE_NVML");
    std::ifstream file(path ? path : "");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind, first, bytes;
        words >> kind >> first;
        if (kind == "device") {
            Device& device = read.devices.emplace_back();
            device.name = first;
            words >> device.total >> device.used;
        } else if (kind == "process" && !read.devices.empty()) {
            words >> bytes;
            read.devices.back().processes.push_back({ static_cast<unsigned>(std::stoul(first)),
                bytes == "-" ? ~0ULL : std::stoull(bytes), ~0U, ~0U });
        } else if (kind == "name") {
            words >> bytes;
            read.names.emplace_back(static_cast<unsigned>(std::stoul(first)), bytes);
        }
    }
    return read;
}

std::size_t indexOf(const void* handle)
{
    return reinterpret_cast<std::size_t>(handle) - 1;
}

} // namespace

FAKE int nvmlInit_v2()
{
    return std::getenv("STRATA_FAKE_NVML") ? 0 : kNotFound;
}

FAKE int nvmlDeviceGetCount_v2(unsigned* count)
{
    *count = static_cast<unsigned>(machine().devices.size());
    return 0;
}

FAKE int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle)
{
    *handle = reinterpret_cast<void*>(std::size_t{ index } + 1); // NOLINT: it is a number
    return index < machine().devices.size() ? 0 : kInvalidArgument;
}

FAKE int nvmlDeviceGetName(void* handle, char* name, unsigned length)
{
    const Machine read = machine();
    if (indexOf(handle) >= read.devices.size())
        return kInvalidArgument;
    std::snprintf(name, length, "%s", read.devices[indexOf(handle)].name.c_str());
    return 0;
}

// Records are void* here as in who asks: each has types of its own, and a sanitizer compares them.
FAKE int nvmlDeviceGetMemoryInfo_v2(void* handle, void* record)
{
    auto* const memory = static_cast<MemoryV2*>(record);
    const Machine read = machine();
    if (indexOf(handle) >= read.devices.size())
        return kInvalidArgument;
    if (memory->version != (sizeof(MemoryV2) | 2U << 24))
        return kArgumentVersionMismatch;
    const Device& device = read.devices[indexOf(handle)];
    memory->total = device.total;
    memory->used = device.used;
    memory->free = device.total - device.used;
    return 0;
}

FAKE int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, void* records)
{
    auto* const processes = static_cast<Process*>(records);
    const Machine read = machine();
    if (indexOf(handle) >= read.devices.size())
        return kInvalidArgument;
    const std::vector<Process>& all = read.devices[indexOf(handle)].processes;
    const unsigned room = *count;
    *count = static_cast<unsigned>(all.size());
    if (room < all.size())
        return kInsufficientSize;
    std::copy(all.begin(), all.end(), processes);
    return 0;
}

FAKE int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length)
{
    for (const auto& [number, path] : machine().names)
        if (number == pid) {
            std::snprintf(name, length, "%s", path.c_str());
            return 0;
        }
    return kNotFound;
}
