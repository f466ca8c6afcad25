// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::simgpu {

/// The order in which cudaMalloc hands out addresses. It decides ties of the caching allocator's best fit.
enum class AddressOrder {
    TopDown, ///< as native Linux: chunks of 32 MiB from the top, smaller pieces in the rest of a chunk
    Ascending, ///< as Windows and WSL
    Recorded, ///< inside given ranges, those of a recording
    Random, ///< by seed
};

/// What one process is told about its simulated machine. All devices are alike.
struct Settings {
    int devices = 1;
    std::string name = "Strata simulated device";
    std::uint64_t capacityBytes = std::uint64_t{ 80 } << 30;
    std::uint64_t otherBytes = 0; ///< of each device, that other processes hold all the time
    int computeMajor = 8;
    int computeMinor = 0;
    int multiprocessors = 108;
    int codeCapability = 0; ///< 0: kernels tell, by what they were compiled for
    std::uint64_t l2Bytes = std::uint64_t{ 40 } << 20;
    int memoryBusBits = 5120;

    AddressOrder order = AddressOrder::TopDown;
    std::uint64_t seed = 1;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges; ///< [begin, end), for AddressOrder::Recorded

    int eventLag = 0; ///< queries that an event answers with "not ready" after it was recorded
    std::uint64_t cudnnWorkspaceBytes = 0; ///< of every operation; 0: by rule, see workspaces.h
    bool profilersDenied
        = false; ///< CUPTI refuses activities, as where a driver keeps them to administrators
    int cudnnVersion = 0; ///< 0: that of the stand-in's CUDA version
};

/// Reads "key=value;key=value", the form in which a launcher passes settings through the environment variable
/// STRATA_SIMGPU. Keys: devices, name, capacity, others, cc, code, sms, l2, bus, addresses (top-down,
/// ascending, random:SEED, ranges:0xA-0xB,...), event-lag, cudnn-workspace, cudnn-version, cupti (on or
/// denied). What is missing
/// keeps its default; each entry that cannot be read is added to `problems` and has no effect.
Settings parseSettings(std::string_view text, std::vector<std::string>& problems);

/// The inverse: parseSettings(formatSettings(s)) gives s again.
std::string formatSettings(const Settings& settings);

} // namespace strata::simgpu
