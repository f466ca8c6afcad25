// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/window_content.h"

namespace strata::views {
class MainWindow;
class RunRanksContent;
} // namespace strata::views

namespace strata::gui {

/// What windows of the program can show: the one place that knows all contents by name. A new one is a line
/// here.
[[nodiscard]] views::ContentList windowContents();

/// Shows the ranks of a run in a window of those contents.
views::RunRanksContent& openRanks(views::MainWindow& window, const QStringList& files);

} // namespace strata::gui
