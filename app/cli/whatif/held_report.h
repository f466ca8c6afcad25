// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/whatif/kinds/last_uses.h"

#include <vector>

namespace strata::cli {

/// Lines whose tensors a step has beyond their last use: where to write `del`. The first of them, a line
/// each; nothing for none.
void printHeld(Output& out, const std::vector<model::HeldLine>& held);

} // namespace strata::cli
