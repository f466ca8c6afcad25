// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

#include "views/pages/parts/page.h"

#include <vector>

class QBoxLayout;
class QButtonGroup;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace strata::views {

/// The pages of the window at its left edge, icon and word, in groups; up and down arrow move between them. A
/// click on the heading of a group folds it to its icons. A page that the file cannot fill is grey and says
/// why. A context menu offers to tear a page off.
class Rail : public QWidget {
    Q_OBJECT
public:
    explicit Rail(QWidget* parent = nullptr);

    /// Pages of a group come one after the other.
    void addPage(const Page& page, const QString& group);
    void setCurrent(int index);
    void setTornOff(int index, bool tornOff);
    void setAbsence(int index, const QString& why); ///< why the file cannot fill it; empty: it can
    void setCompact(bool compact); ///< icons alone
    void setPalette(const Palette& palette);

    /// Groups that show their icons alone, each by the id of its first page: the same in every language.
    [[nodiscard]] QStringList folded() const;
    void setFolded(const QStringList& groups);

Q_SIGNALS:
    void chosen(int index);
    void tearOffChosen(int index);
    void foldedChanged();

private:
    struct Entry {
        QToolButton* button;
        QString icon, title, toolTip, absence;
    };
    struct Group {
        QString title, id;
        QPushButton* heading;
        QBoxLayout* row; // its buttons: below each other, or beside each other while it is folded
        std::vector<int> pages;
        bool folded = false;
    };
    void addGroup(const QString& title, const QString& id);
    void arrange();
    void showEntry(const Entry& entry);

    QVBoxLayout* m_layout;
    QButtonGroup* m_group;
    std::vector<Entry> m_entries;
    std::vector<Group> m_groups;
    Palette m_palette = Palette::light();
    bool m_compact = false;
};

} // namespace strata::views
