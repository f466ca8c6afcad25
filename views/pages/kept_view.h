// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QScrollArea;

namespace strata::views {

/// How far a scroll area is scrolled and which of its parts has the keyboard, while its content is made anew:
/// the same again, with other figures.
class KeptView {
public:
    explicit KeptView(const QScrollArea* area); ///< as it is; nullptr: nothing is kept
    void restore(QScrollArea& area) const; ///< once its content is there, and again once that is laid out

private:
    int m_scrolled = 0;
    qsizetype m_focused = -1; // among what can have the keyboard
    QString m_focusedText;
};

} // namespace strata::views
