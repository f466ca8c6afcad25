// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace strata::views {

/// Keeps the window's shortcuts on arrows and Home from widgets that need these keys to move in themselves:
/// tables, trees, lists, combo boxes, sliders, tabs. Installed on the application.
class KeyGuard : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace strata::views
