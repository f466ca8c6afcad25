// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

#include "views/style/palette.h"

namespace strata::views {

/// An icon of resources/icons drawn in `colour`, sharp at any size and scale; a disabled one is half as
/// strong. GUI thread.
[[nodiscard]] QIcon icon(const QString& name, const QColor& colour);

/// As above in the colour of text, in the accent where a button is checked.
[[nodiscard]] QIcon icon(const QString& name, const Palette& palette);

/// The same as a picture of `size` logical pixels for a label.
[[nodiscard]] QPixmap iconPixmap(const QString& name, const QColor& colour, int size, qreal devicePixelRatio);

} // namespace strata::views
