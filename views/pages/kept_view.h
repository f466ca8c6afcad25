// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QScrollArea;

namespace strata::views {

/// How far a scroll area is scrolled and which of its parts has the keyboard, while its content is made anew.
class KeptView {
public:
    /// As it is; nullptr: nothing is kept. `sameThing`: the new content tells the same, with other figures,
    /// so it is scrolled as far, and the keyboard goes to the part in that place where none says the same.
    explicit KeptView(const QScrollArea* area, bool sameThing = true);
    [[nodiscard]] bool hasFocus() const { return m_focused >= 0; } ///< a part of it
    void restore(QScrollArea& area) const; ///< once its content is there, and visible

private:
    void restoreFocus(const QScrollArea& area) const;

    bool m_sameThing;
    int m_scrolled = 0;
    qsizetype m_focused = -1; // among what can have the keyboard
    QString m_focusedText;
};

} // namespace strata::views
