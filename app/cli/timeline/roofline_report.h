// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/work/costs/roofline.h"

#include <cstddef>

namespace strata::cli {

/// The section of `strata timeline`: what is said, and the operators that take longest.
void printRoofline(Output& out, const model::Roofline& roofline, const model::StringTable& strings,
    bool isSimulated, std::size_t most);

} // namespace strata::cli
