// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/base/result.h"
#include "views/models/palette.h"

#include <functional>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace strata::views {

/// A strip above the page that says what went wrong, where and what to do; stays until it is closed.
class Banner : public QWidget {
    Q_OBJECT
public:
    enum class Kind { Info, Warning, Error };

    Banner(Kind kind, const QString& what, const QString& hint, QWidget* parent = nullptr);

    void addButton(const QString& text, std::function<void()> action);
    void setPalette(const Palette& palette);
    [[nodiscard]] QString text() const; ///< plain, both parts

Q_SIGNALS:
    void closed();

private:
    Kind m_kind;
    QHBoxLayout* m_layout;
    QLabel* m_icon;
    QLabel* m_what;
    QLabel* m_hint;
    QToolButton* m_close;
};

} // namespace strata::views
