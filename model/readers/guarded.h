// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/base/sentence.h"

#include <new>
#include <stdexcept>

namespace strata::model {

/// What `read` does, with what the system says of memory as an error.
template <class Read> [[nodiscard]] Result<void> guarded(Read&& read)
{
    try {
        return read();
    } catch (const std::bad_alloc&) {
        return fail(Error::Kind::Refused, say("this machine has not enough memory to read it"),
            say("open it on a machine with more memory"));
    } catch (const std::length_error&) {
        return fail(Error::Kind::Refused, say("it is larger than this machine can hold"));
    }
}

} // namespace strata::model
