// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/style/palette.h"

namespace strata::views {

/// A command or setting as code, what it does, and a button that copies it. The code can be selected. Without
/// `what` it has one line, which scrolls.
class CodeRow : public QWidget {
    Q_OBJECT
public:
    CodeRow(const QString& code, const QString& what, const Palette& palette, QWidget* parent = nullptr);
};

} // namespace strata::views
