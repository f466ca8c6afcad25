// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace strata::model {

/// A 32-bit row number that cannot be mistaken for a row of another table. Default: none.
template <class Tag> struct Id {
    static constexpr std::uint32_t kNone = 0xffffffffu;

    std::uint32_t value = kNone;

    [[nodiscard]] constexpr bool valid() const { return value != kNone; }
    [[nodiscard]] constexpr std::size_t index() const { return value; }
    friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;
using FrameId = Id<struct FrameTag>;
using StackId = Id<struct StackTag>;
using SegmentId = Id<struct SegmentTag>;
using EventId = Id<struct EventTag>;

/// The number of a block of a device, which it keeps while the trace grows. Blocks that the trace allocates
/// are 0, 1, ... in the order of birth; those older than the trace are -1, -2, ... in the order in which the
/// recording tells of them. Default: none.
struct BlockId {
    static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();

    std::int32_t value = kNone;

    /// The row of a block of the trace, or of an older one, among its like.
    [[nodiscard]] static constexpr BlockId born(std::size_t row)
    {
        return { static_cast<std::int32_t>(row) };
    }
    [[nodiscard]] static constexpr BlockId older(std::size_t row)
    {
        return { ~static_cast<std::int32_t>(row) };
    }
    [[nodiscard]] constexpr bool valid() const { return value != kNone; }
    [[nodiscard]] constexpr bool isOlder() const { return value < 0; } ///< of a valid one
    [[nodiscard]] constexpr std::size_t row() const
    {
        return static_cast<std::uint32_t>(value < 0 ? ~value : value);
    }
    /// Blocks of the trace come first, then -1, -2, ...; none is last.
    friend constexpr auto operator<=>(BlockId a, BlockId b) { return a.rank() <=> b.rank(); }
    friend constexpr bool operator==(BlockId, BlockId) = default;

private:
    [[nodiscard]] constexpr std::uint32_t rank() const
    {
        return value < 0 ? static_cast<std::uint32_t>(value) ^ 0x7fffffffu
                         : static_cast<std::uint32_t>(value);
    }
};

/// A position in a device's trace: the state after event i; -1 is before the first event.
using EventIndex = std::int64_t;

} // namespace strata::model

template <class Tag> struct std::hash<strata::model::Id<Tag>> {
    std::size_t operator()(strata::model::Id<Tag> id) const noexcept
    {
        return std::hash<std::uint32_t>{}(id.value);
    }
};

template <> struct std::hash<strata::model::BlockId> {
    std::size_t operator()(strata::model::BlockId id) const noexcept
    {
        return std::hash<std::int32_t>{}(id.value);
    }
};
