// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/event_ring.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::agent {

/// What is kept for one device. All but the ring is written under the allocator's lock of that device.
struct Device {
    explicit Device(unsigned ringBits)
        : ring(ringBits)
    {
    }

    EventRing ring;
    std::atomic<std::uint64_t> events{ 0 }; ///< of the recording that were kept; read by any thread
    bool open = false; ///< between the base state and the end state: its events are recorded
    std::atomic<bool> fractionKnown{ false }; ///< of its memory that may be used, by a mark or a fact
    std::uint64_t requestedAddress = 0; ///< of the last free_requested, and its stack
    std::uint32_t requestedStack = 0;
    std::uint8_t requestedKind = 0;
};
using Devices = std::vector<std::unique_ptr<Device>>;

} // namespace strata::agent
