// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/window_driver.h"

namespace strata::bench {

/// Takes a page from everything to one event and back, in each way that it has, and prints a line for each.
/// False if a bar was missed.
bool drivePage(Driver& driver, const QString& page);

} // namespace strata::bench
