// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

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
using BlockId = Id<struct BlockTag>;
using SegmentId = Id<struct SegmentTag>;
using EventId = Id<struct EventTag>;

/// A position in a device's trace: the state after event i; -1 is before the first event.
using EventIndex = std::int64_t;

} // namespace strata::model

template <class Tag> struct std::hash<strata::model::Id<Tag>> {
    std::size_t operator()(strata::model::Id<Tag> id) const noexcept
    {
        return std::hash<std::uint32_t>{}(id.value);
    }
};
