// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/type.h"

#include <QString>

class QLabel;
class QPushButton;

namespace strata::views {

/// Words in the manner of the window, as widgets. Each is new and belongs to the caller; GUI thread only.

/// Plain text that breaks at the end of its line and can be selected with the mouse; grey where it is
/// `muted`.
[[nodiscard]] QLabel* textLabel(const QString& text, bool muted = false);
/// What stands above a part: bold, at one of the sizes of type.h.
[[nodiscard]] QLabel* headingLabel(const QString& text, int px = kBodyPx);
/// What stands above or beside a value: small and grey.
[[nodiscard]] QLabel* captionLabel(const QString& text);
/// A button that looks like a link and is as wide as its text.
[[nodiscard]] QPushButton* linkButton(const QString& text);

} // namespace strata::views
