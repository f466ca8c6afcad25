// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace strata::model {

/// What would let a refused question be answered, so that a window can point to where it is given.
enum class Lacks : std::uint8_t {
    Nothing, ///< that is known by name
    BatchItems, ///< how many the recorded batch has
    OtherRecording, ///< of the same program, with another batch
    SequenceLength, ///< how long the sequences of each recording are
    OtherLength, ///< a recording of the same program, with sequences of another length
    Capacity, ///< of the device that it is to fit
    Confirmation, ///< no recording tells it: the program is to be run, or its calls made again
    Program, ///< likewise, but calls do not tell it either
    Calls, ///< likewise, but nobody can write it into a program from outside: its calls tell it
};

/// What to do.
struct Hint {
    Hint() = default;
    Hint(Sentence sentence)
        : said(std::move(sentence))
    {
    }

    [[nodiscard]] bool empty() const { return said.empty(); }

    Sentence said;
    Lacks lacks = Lacks::Nothing;
    /// Where one thing to do is to run the program: what else to do; empty: nothing else helps.
    std::optional<Sentence> besidesRunning;
};

/// What went wrong, in the user's words. Prints as "WHERE: WHAT: WHAT TO DO"; empty parts are left out.
struct Error {
    enum class Kind : std::uint8_t {
        Unreadable, ///< no such file, a directory, a device that fails
        Format, ///< not one of the formats that Strata reads, or a damaged one
        Refused, ///< would call code, or would take more memory than allowed
        Usage, ///< a bad argument
        NotFound, ///< nothing at the position or of the name asked for
        Cancelled, ///< the stop token was set
    };

    Kind kind = Kind::Format;
    Sentence what; ///< what happened, with the byte offset where there is one
    Hint hint;
    std::string where; ///< file name, filled in by whoever knows it

    template <Says May = MaySay> [[nodiscard]] std::string text(const Wording& word = {}) const
    {
        return wholeText(word);
    }

private:
    [[nodiscard]] std::string wholeText(const Wording& word) const;
};

template <class T> using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

[[nodiscard]] inline Failure fail(Error::Kind kind, Sentence what, Hint hint = {})
{
    return Failure(Error{ kind, std::move(what), std::move(hint), {} });
}

} // namespace strata::model
