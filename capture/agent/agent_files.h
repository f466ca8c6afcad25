// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/agent_options.h"
#include "model/wire/chunk_sink.h"
#include "model/wire/info.h"

#include <memory>
#include <string>
#include <vector>

namespace strata::agent {

/// The name of the file that a recording with such options takes first.
[[nodiscard]] std::string fileOf(const AgentOptions& options);

/// A line for `path` in the list of files that were made, where one is kept.
void addToList(const AgentOptions& options, const std::string& path);

/// Where a recording goes: its file, the link for viewers, or both. nullptr: nothing is recorded, which was
/// said.
[[nodiscard]] std::unique_ptr<wire::ChunkSink> createSink(
    const AgentOptions& options, const std::vector<wire::KeyValue>& facts);

} // namespace strata::agent
