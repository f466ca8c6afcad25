// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/device_memory.h"
#include "capture/simgpu/machine/fat_binary.h"
#include "capture/simgpu/machine/host_memory.h"
#include "capture/simgpu/machine/properties.h"
#include "capture/simgpu/machine/stream_clocks.h"
#include "capture/simgpu/machine/streams.h"
#include "capture/simgpu/machine/virtual_memory.h"

#include <mutex>

namespace strata::simgpu {

/// All of one process's simulated GPUs. The parts are not thread-safe: whoever uses one holds `mutex`, except
/// for `settings`, `limits`, `kernels`, Streams::anyCapture() and copy()/fill(), which take it themselves.
class Machine {
public:
    explicit Machine(Settings settings);

    const Settings settings;
    const ArchitectureLimits limits;

    std::mutex mutex;
    DeviceMemory memory;
    VirtualMemory virtualMemory;
    HostMemory host;
    Streams streams;
    StreamClocks clocks; ///< of work that somebody listens to
    KernelRegistry kernels;

    /// Copies of up to this many bytes from or to a device are real.
    static constexpr std::size_t kRealBytes = std::size_t{ 64 } << 10;

    /// Between host addresses: always real. With a device: real up to kRealBytes. Larger ones write nothing
    /// to a device; a host destination reads zeros up to kZeroedBytes and in memory of ours, beyond that it
    /// is untouched (allocations of that size are fresh, that is zero, with glibc).
    void copy(void* to, const void* from, std::size_t bytes);
    void fill(void* to, int value, std::size_t bytes);

private:
    static constexpr std::size_t kZeroedBytes = std::size_t{ 32 } << 20;

    void copyToHost(void* to, const void* from, std::size_t bytes);
};

} // namespace strata::simgpu
