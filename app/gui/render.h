// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/options.h"
#include "views/shell/theme.h"

namespace strata::gui {

/// Loads the file, waits until the pages have drawn, writes DIR/PAGE.png (and .svg), prints each path.
/// Returns the exit status: 0, 2 for an unknown page, 3 for input that cannot be read or a folder that cannot
/// be written.
[[nodiscard]] int renderPages(const Options& options, views::Theme& theme);

} // namespace strata::gui
