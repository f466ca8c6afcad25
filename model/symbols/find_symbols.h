// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"
#include "model/wire/symbols.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What debug information says of a recording's frames of C++.
struct FoundSymbols {
    std::vector<wire::SymbolRow> rows;
    std::int64_t places = 0; ///< in the program's own C++ code whose source was not known yet
    std::int64_t withLine = 0; ///< of them, those that have file and line now
};

enum class SymbolsOf : std::uint8_t {
    Program, ///< its own code, with source and line
    All, ///< the names of LibTorch's functions and the system's too: these have up to a million
};

/// Looks up the frames that have build id and offset and no line yet, in the libraries and programs where
/// they lie now and their debug information (beside them, or below /usr/lib/debug), by elfutils' libdw. A
/// file with another build id than the one that ran is not believed. O(frames) and the debug information that
/// is asked; nothing of it where the program's files are not here.
[[nodiscard]] FoundSymbols findSymbols(const Recording& recording, SymbolsOf of);

} // namespace strata::model
