// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/numbers.h"
#include "capture/agent/program/call_log.h"
#include "capture/agent/program/deep_log.h"
#include "capture/agent/taken_state.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/state.h"

#include <cstdint>
#include <span>

namespace strata::agent {

// Writes chunks of a session that are not rows of events: states, host memory, deep steps and roles. Their
// strings get numbers first. On the recorder's thread.

/// What a state has of a device, behind so many of its events.
[[nodiscard]] wire::State stateOf(
    const TakenState& state, std::int32_t device, std::uint64_t events, Numbers& numbers);
void writeHost(const hook::HostMemory& host, wire::ChunkWriter& writer);
void writeDeepStep(DeepLog::Step step, Numbers& numbers, wire::ChunkWriter& writer);
/// Of the deep step that was written last.
void writeCallList(CallLog::List list, Numbers& numbers, wire::ChunkWriter& writer);
void writeRoles(std::span<const ListedTensor> tensors, Numbers& numbers, wire::ChunkWriter& writer);

} // namespace strata::agent
