// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/shell/part_place.h"

class QHBoxLayout;
class QLabel;

namespace strata::views {

/// The line at the bottom: what happened a moment ago, else what is under the mouse, else what the content
/// says of itself; at the right the part of the content that is shown.
class StatusBar : public QWidget {
    Q_OBJECT
public:
    explicit StatusBar(QWidget* parent = nullptr);

    void setPart(QWidget* part); ///< nullptr: none; stays the content's
    void setText(const QString& text); ///< of the content
    void setHover(const QString& text);
    void flash(const QString& text); ///< for a few seconds: "copied 12 lines"
    [[nodiscard]] QString text() const;

private:
    void refresh();

    QString m_content, m_hover, m_flash;
    QLabel* m_text;
    QHBoxLayout* m_row;
    PartPlace m_place;
};

} // namespace strata::views
