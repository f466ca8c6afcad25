// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QScrollArea;
class QWidget;

namespace strata::views {

/// Which part of a content has the keyboard, while the content is made anew.
class KeptFocus {
public:
    explicit KeptFocus(const QWidget* content); ///< as it is; nullptr: nothing is kept
    [[nodiscard]] bool any() const { return m_place >= 0; } ///< a part of it has the keyboard
    /// The keyboard goes to the part that says the same; where none does, and `sameThing`, to the one in that
    /// place.
    void restore(const QWidget& content, bool sameThing) const;

private:
    qsizetype m_place = -1; // among what can have the keyboard
    QString m_text;
};

/// How far a scroll area is scrolled and which of its parts has the keyboard, while its content is made anew.
class KeptView {
public:
    /// As it is; nullptr: nothing is kept. `sameThing`: the new content tells the same, with other figures,
    /// so it is scrolled as far, and the keyboard goes to the part in that place where none says the same.
    explicit KeptView(const QScrollArea* area, bool sameThing = true);
    [[nodiscard]] bool hasFocus() const { return m_focus.any(); } ///< a part of it
    void restore(QScrollArea& area) const; ///< once its content is there, and visible

private:
    bool m_sameThing;
    int m_scrolled = 0;
    KeptFocus m_focus;
};

} // namespace strata::views
