// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

/// What the driver says of one device at one moment.
struct Reading {
    std::int64_t usedBytes
        = 0; ///< by all processes; without what the driver keeps for itself, where it says so
    std::int64_t processBytes = -1; ///< by this process, contexts and libraries included; -1: it does not say
};

/// Asks NVML, which is loaded at run time: what is in use on a device, whoever took it. Devices are
/// found by their PCI bus, since the CUDA runtime numbers them otherwise; one that is divided (MIG) is not
/// read, since NVML tells of the whole. Within a container the driver often knows no process. One thread; a
/// reading takes some microseconds to a millisecond. Source: NVML API reference, nvmlDeviceGetMemoryInfo_v2
/// and nvmlDeviceGetComputeRunningProcesses_v3.
class DriverMemory {
public:
    /// Where each device is, as the CUDA runtime says ("00000000:07:00.0"); empty for one that is not read.
    /// Loads and initialises NVML, which takes milliseconds.
    explicit DriverMemory(const std::vector<std::string>& buses);

    /// None where there is no NVML, or it does not know the device.
    [[nodiscard]] std::optional<Reading> read(int device) const;

private:
    [[nodiscard]] std::int64_t processBytes(void* device) const;

    void* m_library = nullptr; // never closed: NVML stays initialised
    std::vector<void*> m_devices; // handles, nullptr for those that cannot be read
};

} // namespace strata::driver
