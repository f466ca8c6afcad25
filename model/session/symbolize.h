// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <filesystem>

namespace strata::model {

struct Symbolized {
    std::int64_t places = 0; ///< in the program's own C++ code whose source was not known yet
    std::int64_t withLine = 0; ///< of them, those that have file and line now
};

/// Looks up source and line of the frames of C++ that a session has as build id and offset (find_symbols.h),
/// with the functions that were inlined there; of LibTorch and the system's libraries names only. Appends
/// what it found to the session, which then has it on every machine; nothing that was recorded changes. Fails
/// for a session that is still recorded; one whose recorder was killed takes it. Nothing to do: no places.
/// O(session) and the debug information that is asked.
[[nodiscard]] Result<Symbolized> symbolize(const std::filesystem::path& session);

} // namespace strata::model
