// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"
#include "model/wire/symbols.h"

#include <span>

namespace strata::model {

/// Gives the frames that the rows are about (FORMAT.md, Symbols) file, function and line, and puts the
/// functions that were inlined there into the stacks. O(frames and stacks).
void applySymbols(std::span<const wire::SymbolRow> rows, Recording& recording);

} // namespace strata::model
