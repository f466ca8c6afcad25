// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetricsF>
#include <QString>

namespace strata::views {

/// `name` where it fits; else its number, as of "step 12", if that fits; else cut at its end.
[[nodiscard]] QString elidedName(const QFontMetricsF& metrics, const QString& name, double width);

} // namespace strata::views
