// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/stacks/sequence_table.h"

#include <cstring>
#include <string_view>

namespace strata::agent {

/// Texts in a table of sequences: their length, then their bytes, padded.
inline constexpr std::size_t kLongestText = 4096; ///< bytes; longer ones are cut

inline std::uint32_t internText(SequenceTable& table, std::string_view text) noexcept
{
    if (text.empty())
        return 0;
    text = text.substr(0, kLongestText);
    std::uint64_t words[1 + kLongestText / 8];
    const std::size_t count = (text.size() + 7) / 8;
    words[0] = text.size();
    words[count] = 0;
    std::memcpy(words + 1, text.data(), text.size());
    return table.intern({ words, count + 1 });
}

inline std::string_view textAt(const SequenceTable& table, std::uint32_t number)
{
    const std::span<const std::uint64_t> words = table[number];
    return { reinterpret_cast<const char*>(words.data() + 1), static_cast<std::size_t>(words[0]) };
}

} // namespace strata::agent
