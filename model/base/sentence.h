// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A sentence for people is an id, whose English stands in one table, and the things that it speaks of. The
/// command line prints the English; a window may word the same id in another language.

/// One thing that a sentence speaks of, with its figure as it is.
struct SentenceArgument {
    enum class Kind : std::uint8_t {
        Text, ///< a name: `text`
        Bytes, ///< "1.50 GiB"
        Count, ///< "1,234"
        Event, ///< "event 41,207", "before the first event"
    };

    Kind kind = Kind::Text;
    std::int64_t value = 0;
    std::string text = {};
    bool strong = false; ///< stands out
    std::optional<EventIndex> link = {}; ///< the event that a click on it goes to

    friend bool operator==(const SentenceArgument&, const SentenceArgument&) = default;
};

/// A sentence in pieces, so that a window can make its figures bold and link them.
struct SentencePiece {
    std::string text;
    bool strong = false;
    std::optional<EventIndex> link;
};

/// Words English in another language; none: it stays English.
using Wording = std::function<std::string(std::string_view english)>;

/// The pieces of a sentence whose English is `english`: "%1" to "%9" are its arguments, "*words*" stand out.
/// What names an argument that is not there stays as it is written.
[[nodiscard]] std::vector<SentencePiece> piecesOf(
    std::string_view english, std::span<const SentenceArgument> arguments, const Wording& word = {});

/// What a moment is called.
inline constexpr std::string_view kEventText = "event %1";
inline constexpr std::string_view kBeforeFirstText = "before the first event";

[[nodiscard]] std::string plainText(std::span<const SentencePiece> pieces);

} // namespace strata::model
