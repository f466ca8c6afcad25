// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace strata::views {

/// What stands where nothing can be shown: what is missing, why, and the line of code or the button that
/// would change it.
class EmptyNotice : public QWidget {
    Q_OBJECT
public:
    struct Text {
        QString title;
        QString reason;
        QString code; ///< Python that records what is missing; empty: none
        QString button; ///< empty: none
        friend bool operator==(const Text&, const Text&) = default;
    };

    explicit EmptyNotice(QWidget* parent = nullptr);
    void setText(const Text& text);
    [[nodiscard]] const Text& text() const { return m_shown; }
    [[nodiscard]] QPushButton* button() const { return m_button; }

Q_SIGNALS:
    void buttonPressed();

private:
    Text m_shown;
    QLabel* m_title;
    QLabel* m_reason;
    QWidget* m_codeBox;
    QLabel* m_code;
    QPushButton* m_copy;
    QPushButton* m_button;
};

} // namespace strata::views
