// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/style/palette.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace strata::views {

/// A part of a page that folds away below its heading, which goes on to say the essence of it. A click
/// anywhere on the heading folds or unfolds it; its button has the keyboard.
class FoldSection : public QWidget {
    Q_OBJECT
public:
    FoldSection(
        const QString& title, const QString& essence, const Palette& palette, QWidget* parent = nullptr);

    [[nodiscard]] QVBoxLayout& inside() const { return *m_inside; }
    [[nodiscard]] bool isOpen() const;
    void setOpen(bool open);

Q_SIGNALS:
    void foldedByUser(bool open);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    QPushButton* m_heading;
    QLabel* m_essence;
    QWidget* m_content;
    QVBoxLayout* m_inside;
    QColor m_ink;
};

} // namespace strata::views
