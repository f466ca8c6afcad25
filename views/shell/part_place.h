// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBoxLayout>
#include <QPointer>
#include <QWidget>

namespace strata::views {

/// Where a bar of the window has the part of the content that is shown, at the end of a row.
class PartPlace {
public:
    PartPlace(QBoxLayout& row, int stretch)
        : m_row(row)
        , m_stretch(stretch)
    {
    }

    /// Puts `part` in the place of the one before; nullptr: none. Both stay the content's. False: it is there
    /// already.
    bool show(QWidget* part)
    {
        if (part == m_part)
            return false;
        if (m_part) {
            m_row.removeWidget(m_part);
            m_part->hide();
        }
        m_part = part;
        if (part) {
            m_row.addWidget(part, m_stretch);
            part->show();
        }
        return true;
    }

private:
    QBoxLayout& m_row;
    int m_stretch;
    QPointer<QWidget> m_part; // contents come and go
};

} // namespace strata::views
