// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/reserved_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

namespace strata::agent {

/// What is kept of an event on the spot. Actions are those of model/wire/events_codec.h, and three of our own.
struct EventRecord {
    /// A call of the allocator: its kind as `stackKind`, its fraction as the bits of `bytes`, text as
    /// `userMetadata`.
    static constexpr std::uint8_t kCall = 253;
    static constexpr std::uint8_t kLost = 254; ///< `bytes` events did not fit here
    static constexpr std::uint8_t kCut = 255; ///< the state number `bytes` was taken here

    std::uint64_t address;
    std::int64_t bytes;
    std::uint64_t stream;
    std::uint64_t counter;
    std::uint64_t poolOwner;
    std::uint32_t poolId;
    std::uint32_t stack; ///< number in a table of sequences, 0 none; likewise the texts
    std::uint32_t userMetadata;
    std::uint32_t compileContext;
    std::uint32_t internalMetadata : 24; ///< few differ
    std::uint32_t action : 8;
    std::uint8_t stackKind; ///< of which table `stack` is
    bool hasPool;
    std::uint16_t phase : 3 = 0; ///< code of model/wire/kinds.h (EventPhase)
    std::uint16_t thread : 13 = 0; ///< of ThreadTable
};
static_assert(sizeof(EventRecord) == 64);

/// Events of one device on their way to the sender. One thread at a time pushes (the allocator's lock of the
/// device sees to that), one takes. Never blocks and never allocates: what does not fit is counted, and the
/// count takes its place in the ring as soon as there is room. 2^bits records of 64 bytes.
class EventRing {
public:
    explicit EventRing(unsigned bits)
        : m_mask((std::uint64_t{ 1 } << bits) - 1)
        , m_memory(sizeof(EventRecord) << bits)
        , m_records(m_memory.as<EventRecord>())
    {
    }

    [[nodiscard]] bool usable() const { return m_records != nullptr; }

    /// Room for one more, to be filled and then handed over by commit(); nullptr, and counted, if there is
    /// none. `mustFit`: takes the room that is kept for records that say what the others mean.
    [[nodiscard]] EventRecord* reserve(bool mustFit = false) noexcept
    {
        const std::uint64_t head = m_head.load(std::memory_order_relaxed);
        const std::uint64_t kept = mustFit ? 0 : kKept;
        const std::uint64_t needed = (m_lost > 0 ? 2 : 1) + kept;
        if (head + needed - m_tailSeen > m_mask + 1) [[unlikely]] {
            m_tailSeen = m_tail.load(std::memory_order_acquire);
            if (head + needed - m_tailSeen > m_mask + 1) {
                ++m_lost;
                m_lostInAll.fetch_add(1, std::memory_order_relaxed);
                return nullptr;
            }
        }
        m_reserved = head;
        if (m_lost > 0) [[unlikely]] {
            EventRecord lost{};
            lost.action = EventRecord::kLost;
            lost.bytes = static_cast<std::int64_t>(m_lost);
            m_records[m_reserved++ & m_mask] = lost;
            m_lost = 0;
        }
        return &m_records[m_reserved & m_mask];
    }
    void commit() noexcept { m_head.store(m_reserved + 1, std::memory_order_release); }

    /// How many wait to be taken.
    [[nodiscard]] std::uint64_t waiting() const
    {
        return m_head.load(std::memory_order_acquire) - m_tail.load(std::memory_order_relaxed);
    }

    /// The oldest of them, as many as lie in one piece; valid until release().
    [[nodiscard]] std::span<const EventRecord> front(std::uint64_t most) const
    {
        const std::uint64_t tail = m_tail.load(std::memory_order_relaxed);
        const std::uint64_t toEdge = m_mask + 1 - (tail & m_mask);
        return { m_records + (tail & m_mask), std::min({ most, waiting(), toEdge }) };
    }
    void release(std::uint64_t count)
    {
        m_tail.store(m_tail.load(std::memory_order_relaxed) + count, std::memory_order_release);
    }

    /// Lost since the ring was made, whether or not the ring tells of them already.
    [[nodiscard]] std::uint64_t lostInAll() const { return m_lostInAll.load(std::memory_order_relaxed); }

private:
    static constexpr std::uint64_t kKept = 8;

    std::uint64_t m_mask;
    ReservedMemory m_memory;
    EventRecord* m_records;
    alignas(64) std::atomic<std::uint64_t> m_head{ 0 };
    std::uint64_t m_reserved = 0; // by the thread that pushes, likewise the next two
    std::uint64_t m_tailSeen = 0;
    std::uint64_t m_lost = 0;
    std::atomic<std::uint64_t> m_lostInAll{ 0 };
    alignas(64) std::atomic<std::uint64_t> m_tail{ 0 };
};

} // namespace strata::agent
