// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/events_codec.h"
#include "model/wire/link/link_chunks.h"
#include "model/wire/roles_codec.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace strata::agent {

/// What is left of chunks whose detail is dropped: their tables, what Info and Settings came to, and of each
/// device the state of the allocator behind its last event, with the stacks of its blocks, and the tensors
/// that stand. One thread. O(log blocks) an event, memory for what is live and for the tables.
///
/// Where events were lost in the recorder's ring, what it says is not exact, and a Lost chunk says so.
class RetainedState {
public:
    /// The next chunk of the recording, in order.
    void take(std::shared_ptr<const wire::Bytes> chunk);

    /// Appends chunks that stand for all that was taken, the base states at the events that come next. Their
    /// sequence numbers begin at 0. Which events of each device they stand for.
    wire::Gap write(wire::Bytes& out) const;

private:
    struct Segment {
        std::uint64_t end = 0;
        std::uint32_t stack = wire::kNone, stream = wire::kNone, pool = wire::kNone;
        bool expandable = false;
    };
    struct Block {
        std::int64_t bytes = 0, requestedBytes = 0;
        std::uint32_t stack = wire::kNone;
        bool pending = false;
    };
    struct Device {
        std::uint64_t events = 0, lost = 0;
        std::map<std::uint64_t, Segment> segments; // by their begin, disjoint
        std::map<std::uint64_t, Block> blocks;
        std::vector<wire::EventRow> early; // before a base state, which may come behind them
        bool mayGetBase = true;

        void apply(const wire::EventRow& row);
        void map(const wire::EventRow& row);
        void unmap(std::uint64_t begin, std::uint64_t end);
        void begin(const wire::State& base);
        [[nodiscard]] wire::State state(std::int32_t device) const;
    };
    using RoleKey = std::tuple<std::int32_t, wire::RoleKind, std::uint32_t, std::uint32_t, std::uint32_t>;

    void takeEvents(const wire::Bytes& payload);
    void takeBase(const wire::Bytes& payload);
    void takeRoles(const wire::Bytes& payload);
    void takeLost(const wire::Bytes& payload);

    std::vector<std::shared_ptr<const wire::Bytes>> m_tables; // their chunks as they were
    std::map<std::string, std::string> m_info, m_settings;
    std::map<std::int32_t, Device> m_devices;
    std::map<RoleKey, wire::RoleRow> m_roles;
    wire::Bytes m_payload; // kept for its memory, as the next
    wire::EventChunk m_chunk;
};

} // namespace strata::agent
