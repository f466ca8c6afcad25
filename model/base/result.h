// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace strata::model {

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
    Sentence hint; ///< what to do
    std::string where; ///< file name, filled in by whoever knows it

    [[nodiscard]] std::string text(const Wording& word = {}) const;
};

template <class T> using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

[[nodiscard]] inline Failure fail(Error::Kind kind, Sentence what, Sentence hint = {})
{
    return Failure(Error{ kind, std::move(what), std::move(hint), {} });
}

} // namespace strata::model
