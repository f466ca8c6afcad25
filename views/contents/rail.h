// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/pages/page.h"

#include <vector>

class QButtonGroup;
class QToolButton;
class QVBoxLayout;

namespace strata::views {

/// The pages of the window at its left edge, icon and word; up and down arrow move between them. A context
/// menu offers to tear a page off.
class Rail : public QWidget {
    Q_OBJECT
public:
    explicit Rail(QWidget* parent = nullptr);

    void addPage(const Page& page);
    void setCurrent(int index);
    void setTornOff(int index, bool tornOff);
    void setCompact(bool compact); ///< icons alone
    void setPalette(const Palette& palette);

Q_SIGNALS:
    void chosen(int index);
    void tearOffChosen(int index);

private:
    struct Entry {
        QToolButton* button;
        QString icon, title;
    };
    QVBoxLayout* m_layout;
    QButtonGroup* m_group;
    std::vector<Entry> m_entries;
    bool m_compact = false;
};

} // namespace strata::views
