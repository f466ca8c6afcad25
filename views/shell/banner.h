// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/shell/notice.h"
#include "views/style/palette.h"

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace strata::views {

/// The strip above the page that shows a notice; stays until it is closed or its button was used.
class Banner : public QWidget {
    Q_OBJECT
public:
    explicit Banner(const Notice& notice, QWidget* parent = nullptr);

    void setPalette(const Palette& palette);
    [[nodiscard]] QString text() const; ///< plain, both parts

Q_SIGNALS:
    void closed();

private:
    Notice::Kind m_kind;
    QHBoxLayout* m_layout;
    QLabel* m_icon;
    QLabel* m_what;
    QLabel* m_hint;
    QToolButton* m_close;
};

} // namespace strata::views
