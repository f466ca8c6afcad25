// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QButtonGroup;

namespace strata::views {

/// A choice of a few, side by side: one is on. Left and Right move it.
class Segmented : public QWidget {
    Q_OBJECT
public:
    struct Choice {
        QString text;
        QString tip;
    };

    /// `name`: what is chosen, for screen readers.
    Segmented(const QString& name, const QList<Choice>& choices, QWidget* parent = nullptr);

    [[nodiscard]] int chosen() const;
    void choose(int index); ///< not told as the user's choice
    void setChoiceEnabled(int index, bool enabled);
    /// The same, and why not: a tip in place of its own.
    void setChoiceEnabled(int index, bool enabled, const QString& why);

Q_SIGNALS:
    void changed(int index); ///< by the user

private:
    QButtonGroup* m_buttons;
    QList<Choice> m_choices;
};

} // namespace strata::views
