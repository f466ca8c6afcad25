// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// What the driver says of one device at one moment.
struct GpuReading {
    struct Process {
        std::int64_t process = 0; ///< its number, as the driver counts: on the host, where that is another
        std::optional<std::int64_t> usedBytes; ///< contexts and libraries included; none: it does not say
    };
    int device = 0; ///< as nvidia-smi numbers them
    std::string name; ///< "NVIDIA H100 80GB HBM3"
    std::int64_t totalBytes = 0;
    std::int64_t usedBytes = 0; ///< by all
    std::vector<Process> processes; ///< that compute on it; of a container the driver may tell of none
};

/// Asks NVML, which is loaded at run time and stays loaded: all that there is to know of processes that
/// nobody records. Source: NVML API reference, nvmlDeviceGetMemoryInfo_v2 and
/// nvmlDeviceGetComputeRunningProcesses_v3. One thread; a reading takes milliseconds.
class Nvml {
public:
    static constexpr const char* kLibrary = "libnvidia-ml.so.1";

    explicit Nvml(const std::string& library = kLibrary);

    [[nodiscard]] bool isThere() const { return m_count != nullptr; }
    /// Of every device that answers; nothing where there is no NVML.
    [[nodiscard]] std::vector<GpuReading> read() const;
    /// What the driver calls a process, for one of another container: its path; empty where it does not say.
    [[nodiscard]] std::string nameOf(std::int64_t process) const;

private:
    [[nodiscard]] bool readMemory(void* device, GpuReading& reading) const;
    [[nodiscard]] std::vector<GpuReading::Process> processesOf(void* device) const;
    template <class Function> [[nodiscard]] Function function(const char* name) const;

    void* m_library = nullptr; // never closed: NVML stays initialised
    int (*m_count)(unsigned*) = nullptr; // set once it is initialised
};

} // namespace strata::model
