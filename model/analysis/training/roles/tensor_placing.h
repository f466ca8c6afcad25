// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/pairing/live_extents.h"
#include "model/trace/program/roles.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace strata::model {

/// A tensor of the program in a block.
struct PlacedTensor {
    BlockId block;
    std::uint32_t row = 0; ///< of the listings of the device

    friend bool operator==(const PlacedTensor&, const PlacedTensor&) = default;
};

/// Places listings in blocks while events pass, one after the other. A copy goes on by itself: with the same
/// trace, or with one that grew out of it, whose new listings are told of no event before event().
///
///     generation 1   events ----------------| event()     a copy of what is known here
///     generation 2   events ----------------+-----------| event()
///
/// It follows only blocks that lie over a listed address. For one thread; the trace and its listings are
/// given to each call.
class TensorPlacing {
public:
    using Rows = RoleListings::Rows;

    /// Makes known what addresses are listed in `rows` from `first` on, and what became of blocks that lived
    /// at the end of the trace of before. Before the first event, and whenever the trace grew. O(live blocks)
    /// where all is known; where addresses are new, a look at each block.
    void prepare(const DeviceTrace& trace, const Rows& rows, std::size_t first);
    /// Lets the events before `event` pass that have not yet.
    void passTo(const DeviceTrace& trace, EventIndex event);
    /// A listing that was told of after as many events as have passed. Adds where it lies to `placed`.
    void take(
        const DeviceTrace& trace, const Rows& rows, std::uint32_t row, std::vector<PlacedTensor>& placed);

    [[nodiscard]] EventIndex event() const { return m_event; } ///< how many have passed
    /// Bits of kinds that were found in a block, and of Stepped.
    [[nodiscard]] unsigned kinds() const { return m_kinds; }
    /// How many events came before the last Stepped; -1: there is none.
    [[nodiscard]] EventIndex lastStepped() const { return m_lastStepped; }
    [[nodiscard]] std::size_t bytesResident() const;

private:
    using Key = std::tuple<wire::RoleKind, StringId, StringId, std::uint32_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const
        {
            const auto& [kind, name, part, optimizer] = key;
            std::uint64_t h = (std::uint64_t{ name.value } << 32 | part.value) * 0x9e3779b97f4a7c15ULL;
            h ^= (std::uint64_t{ optimizer } << 8 | static_cast<std::uint64_t>(kind)) * 0xc2b2ae3d27d4eb4fULL;
            return static_cast<std::size_t>(h ^ (h >> 29));
        }
    };
    struct Standing {
        std::uint32_t row = 0;
        std::uint32_t version = 0; // how often it was replaced
    };
    /// A standing row whose block dies: to be looked for again by the next Stepped after that.
    struct Dying {
        EventIndex death;
        std::uint32_t standing, version;
        friend auto operator<=>(const Dying&, const Dying&) = default;
    };
    using Heap = std::priority_queue<Dying, std::vector<Dying>, std::greater<>>;
    /// The same of a block of which no death is known yet.
    struct Living {
        BlockId block;
        std::uint32_t standing, version, optimizer;
    };

    [[nodiscard]] static bool isOver(
        const DeviceTrace& trace, BlockId block, const std::vector<std::uint64_t>& addresses);
    void follow(const DeviceTrace& trace, BlockId block);
    void followLiving(const DeviceTrace& trace, const std::vector<std::uint64_t>& added);
    void pass(const DeviceTrace& trace);
    void place(
        const DeviceTrace& trace, const Rows& rows, std::uint32_t number, std::vector<PlacedTensor>& placed);
    void sayAgain(const DeviceTrace& trace, const Rows& rows, const RoleListing& stepped,
        std::vector<PlacedTensor>& placed);

    EventIndex m_event = 0;
    std::vector<std::uint64_t> m_addresses; // sorted
    std::vector<bool> m_followed; // by row of blocks of the trace
    LiveExtents m_live; // of those
    boost::unordered_flat_map<Key, std::uint32_t, KeyHash> m_standing;
    std::vector<Standing> m_of;
    std::int64_t m_said = 0; // again, of all
    boost::unordered_flat_map<std::uint32_t, Heap> m_dying; // by optimizer
    std::vector<Living> m_living;
    unsigned m_kinds = 0;
    EventIndex m_lastStepped = -1;
};

} // namespace strata::model
