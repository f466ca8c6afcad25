// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace strata::views {

/// What stands where nothing can be shown: what is missing, why, and the line of code or the button that
/// would change it; at most two such lines.
class EmptyNotice : public QWidget {
    Q_OBJECT
public:
    struct Text {
        QString title;
        QString reason;
        QString code; ///< Python, or a command, that records what is missing; empty: none
        QString button; ///< empty: none
        QString otherwise{}; ///< what leads there as well, and its code; empty: nothing
        QString otherCode{};
        friend bool operator==(const Text&, const Text&) = default;
    };

    explicit EmptyNotice(QWidget* parent = nullptr);
    void setText(const Text& text);
    [[nodiscard]] const Text& text() const { return m_shown; }
    [[nodiscard]] QPushButton* button() const { return m_button; }

Q_SIGNALS:
    void buttonPressed();

private:
    struct Code {
        QWidget* box;
        QLabel* text;
    };
    [[nodiscard]] Code makeCode(const QString& accessibleName);
    static void showCode(const Code& code, const QString& text);

    Text m_shown;
    QLabel* m_title;
    QLabel* m_reason;
    QLabel* m_otherwise;
    Code m_code, m_otherCode;
    QPushButton* m_button;
};

} // namespace strata::views
