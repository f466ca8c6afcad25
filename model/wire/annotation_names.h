// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::wire {

/// A mark of this name and a text behind it is a note of the program (strata::capture::note()).
inline constexpr std::string_view kNotePrefix = "note: ";

} // namespace strata::wire
