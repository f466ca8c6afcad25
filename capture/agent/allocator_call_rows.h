// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/event_ring.h"
#include "capture/agent/numbers.h"
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/chunk_writer.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::agent {

/// Calls of the allocator that are not written yet. One thread.
class AllocatorCallRows {
public:
    /// `record`: its mark, behind so many events of the device; `text`: what it says.
    void add(std::int32_t device, std::uint64_t event, const EventRecord& record, std::string_view text,
        std::int64_t timeNs, Numbers& numbers);
    void write(Numbers& numbers, wire::ChunkWriter& writer);
    [[nodiscard]] std::size_t size() const { return m_rows.size(); }
    [[nodiscard]] std::int64_t sinceNs() const { return m_sinceNs; } ///< when the first of them came

private:
    std::vector<wire::AllocatorCallRow> m_rows;
    std::int64_t m_sinceNs = 0;
};

} // namespace strata::agent
