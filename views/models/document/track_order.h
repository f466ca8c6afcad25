// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::views {

/// How the user arranged the lanes of a timeline, by keys that mean the same whenever the recording is
/// opened: those that are pinned to the top, and the order of the others. Lanes that it does not know come
/// behind the one before them in their own order. A value.
struct TrackOrder {
    std::vector<std::string> pinned, order;

    [[nodiscard]] bool empty() const { return pinned.empty() && order.empty(); }

    /// As model::UserData::view() keeps it; what cannot be read is empty. An empty order is an empty text.
    [[nodiscard]] static TrackOrder fromText(const std::string& json);
    [[nodiscard]] std::string text() const;

    /// Lanes as they are shown, by their places in `keys`, which are in their own order; the first `pinned`
    /// of them stand at the top.
    struct Arranged {
        std::vector<std::size_t> lanes;
        std::size_t pinned = 0;
    };
    [[nodiscard]] Arranged arrange(std::span<const std::string> keys) const;

    /// The lane goes to that place among those that are shown, as far as it can: pinned ones stay above
    /// others.
    [[nodiscard]] TrackOrder moved(
        std::span<const std::string> keys, std::size_t lane, std::size_t place) const;
    /// Below those that are pinned, or first among the others.
    [[nodiscard]] TrackOrder withPinned(
        std::span<const std::string> keys, std::size_t lane, bool isPinned) const;

    friend bool operator==(const TrackOrder&, const TrackOrder&) = default;

private:
    static TrackOrder of(std::span<const std::string> keys, const Arranged& arranged);
};

} // namespace strata::views
