// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/caching_allocator.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace strata::model {

/// In which order a driver hands out addresses. It decides between free blocks of one size up to torch 2.11,
/// and between ranges of one stream where expandable segments have several.
struct AddressPolicy {
    enum class Kind : std::uint8_t {
        TopDown, ///< chunks of 32 MiB multiples from high addresses down, first fit within what is left of
                 ///< them
        Ascending, ///< the lowest freed range of that size, else behind all others
        Descending, ///< the highest freed range of that size, else below all others
        Random,
    };
    Kind kind = Kind::TopDown;
    std::uint64_t seed = 0; ///< of Random

    /// "top-down", "ascending", "descending", "random:7".
    [[nodiscard]] static std::optional<AddressPolicy> parse(std::string_view text);
    friend bool operator==(const AddressPolicy&, const AddressPolicy&) = default;
};

/// A device of a capacity that gives memory as long as there is some. Completes pending frees when the
/// allocator waits for all streams. Not thread-safe.
class SimulatedDriver final : public AllocatorDriver {
public:
    /// `capacityBytes`: what segments can take; `rangeBytes`: of an expandable segment's range.
    SimulatedDriver(AddressPolicy policy, std::int64_t capacityBytes, std::int64_t rangeBytes);

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override;
    void freeSegment(const ReplayBlock& segment) override;
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override;
    void releaseRange(const AddressRange& range) override;
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void synchronize(CachingAllocator& allocator, PoolOwner only) override;

    [[nodiscard]] std::int64_t refusals() const { return m_refusals; }
    [[nodiscard]] std::int64_t leftBytes() const { return m_capacityBytes - m_usedBytes; }
    void take(std::int64_t bytes) { m_usedBytes += bytes; } ///< by segments that were there before

private:
    [[nodiscard]] std::uint64_t place(std::int64_t bytes);
    void giveBack(std::uint64_t address, std::int64_t bytes);
    [[nodiscard]] bool fits(std::int64_t bytes);

    AddressPolicy m_policy;
    std::int64_t m_capacityBytes, m_rangeBytes;
    std::int64_t m_usedBytes = 0, m_refusals = 0;
    std::uint64_t m_next, m_top;
    boost::unordered_flat_map<std::int64_t, std::set<std::uint64_t>> m_freed; // by size
    std::map<std::uint64_t, std::uint64_t> m_holes; // of TopDown: begin to end
    std::set<std::uint64_t> m_chunks; // of TopDown: where they begin; no hole reaches over one
    std::set<std::uint64_t> m_slots; // of Random
    std::mt19937_64 m_random;
};

} // namespace strata::model
