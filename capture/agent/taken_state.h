// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/program/tensor_table.h"
#include "capture/hook/torch_hook.h"
#include "model/wire/info.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::agent {

/// When the state of the allocator was taken.
enum class StatePurpose : std::uint8_t { Base, OutOfMemory, End };

/// The state of the allocator on all devices, as the hook reported it. Records kCut with the same number
/// give its place among the events.
struct TakenState {
    std::uint32_t number = 0;
    StatePurpose purpose = StatePurpose::Base;
    std::vector<hook::Segment> segments;
    std::vector<std::uint32_t> blockCounts; ///< of each segment
    std::vector<hook::Block> blocks; ///< by segment
    std::vector<wire::KeyValue> settings;
    std::optional<hook::HostMemory> host;
};

/// Where a tensor is after some events of its device.
struct ListedTensor {
    const Tensor* tensor = nullptr; ///< for good
    std::uint64_t address = 0;
    std::uint64_t event = 0; ///< how many of the device came before
};

} // namespace strata::agent
