// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::simgpu {

/// What a piece of work computes in. TensorFloat32 is single precision that tensor cores may round.
enum class NumberType : std::uint8_t { Unknown, Float8, Float16, BFloat16, TensorFloat32, Float32, Float64 };

/// What a call of a library says of its work: at least so much. 0 where it says nothing.
struct WorkSize {
    double flops = 0;
    double bytes = 0; ///< read and written, each operand once
    NumberType type = NumberType::Unknown;
};

struct Extent {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

/// One piece of work of the device: a kernel, a copy or a fill. Points to names and memory of the program,
/// which must outlive it. Costs nothing to make: what takes a look-up (the name of a kernel, where memory
/// lies) is looked up where somebody listens.
struct DeviceWork {
    enum class Kind : std::uint8_t { None, Kernel, Copy, Fill };

    Kind kind = Kind::None;
    bool asynchronous = true;
    const char* name = nullptr; ///< of a kernel of a library
    const void* function = nullptr; ///< of a kernel that was registered: KernelRegistry knows its name
    Extent grid;
    Extent block;
    std::uint32_t sharedBytes = 0;
    std::uint32_t value = 0; ///< of a fill
    const void* to = nullptr;
    const void* from = nullptr;
    std::uint64_t bytes = 0; ///< of a copy or fill
    WorkSize size;

    static DeviceWork kernel(const void* function, Extent grid, Extent block, std::uint64_t sharedBytes);
    static DeviceWork copy(const void* to, const void* from, std::uint64_t bytes, bool asynchronous);
    static DeviceWork fill(const void* to, std::uint32_t value, std::uint64_t bytes, bool asynchronous);
    /// A kernel of a library, of which only the call is known. `name` stays for the life of the process.
    static DeviceWork library(const char* name, const WorkSize& size = {});
};

/// How long the simulated device is busy with it, in nanoseconds, where nobody tells how long a card is at
/// least (entry/least_time.h): round figures of no card, the same in each run, that give each piece of work
/// its place in the order of its stream. No time of a real device follows from it.
double simulatedNs(const DeviceWork& work, bool withHost);

} // namespace strata::simgpu
