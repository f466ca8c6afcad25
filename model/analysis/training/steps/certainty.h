// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::model {

/// How sure a statement about a recording is, the surest first.
enum class Certainty : std::uint8_t {
    Recorded, ///< the program or the recorder noted it
    ShownByStack, ///< stack traces show it
    Likely, ///< sizes, lifetimes or repetition suggest it: a guess
    Unknown, ///< nothing in the recording decides
};
inline constexpr std::size_t kCertainties = 4;

/// "recorded", "shown_by_stack", "likely", "unknown".
[[nodiscard]] constexpr std::string_view certaintyWord(Certainty certainty)
{
    constexpr std::array<std::string_view, kCertainties> kWords{ "recorded", "shown_by_stack", "likely",
        "unknown" };
    return kWords[static_cast<std::size_t>(certainty)];
}

/// Whether it may be stated as a fact.
[[nodiscard]] constexpr bool isSure(Certainty certainty)
{
    return certainty <= Certainty::ShownByStack;
}

} // namespace strata::model
