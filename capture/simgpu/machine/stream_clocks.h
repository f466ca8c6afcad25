// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace strata::simgpu {

/// Until when each stream is busy, in units of whichever clock the caller reads: work of one stream never
/// overlaps, and the legacy default stream and those that were made to wait for it take turns. Nothing moves
/// but by a call. Not thread-safe. A look-up in a map each, untilAll() and work of the default stream one for
/// each stream.
class StreamClocks {
public:
    struct Lane {
        int device = 0;
        std::uintptr_t stream = 0; ///< its handle; 0 and 1 are the legacy default stream
        bool blocking = true; ///< takes turns with the legacy default stream
    };
    struct Span {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
    };

    /// Work that is issued now comes behind all that its stream has, and not before `earliest`.
    Span occupy(const Lane& lane, std::uint64_t earliest, std::uint64_t length);
    /// What is issued from now on comes behind `until`.
    void wait(const Lane& lane, std::uint64_t until);
    std::uint64_t until(const Lane& lane) const;
    std::uint64_t untilAll(int device) const;
    /// As CUPTI numbers streams: 7 for the legacy default stream of a device, others in the order of their
    /// first use.
    std::uint32_t numberOf(const Lane& lane);
    /// For another clock: every stream is idle, and keeps its number.
    void restart();

private:
    struct Clock {
        std::uint64_t busyUntil = 0;
        std::uint32_t number = 0;
        bool blocking = true;
    };
    using Key = std::pair<int, std::uintptr_t>;

    static Key keyOf(const Lane& lane) { return { lane.device, lane.stream <= 1 ? 0 : lane.stream }; }
    Clock& clockOf(const Lane& lane);
    std::uint64_t turnOf(const Lane& lane) const;

    std::map<Key, Clock> m_clocks;
    std::map<int, std::uint32_t> m_numbers;
};

} // namespace strata::simgpu
