// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/shell/actions.h"

#include <utility>
#include <vector>

class QHBoxLayout;

namespace strata::views {

/// Tables of keys below each other, in as many columns as there is room for in full; one at least, whose
/// words go over several lines where it is narrow.
class ShortcutList : public QWidget {
    Q_OBJECT
public:
    using Rows = QList<std::pair<QString, QString>>;

    explicit ShortcutList(QWidget* parent = nullptr);

    void addTable(const QString& title, const Rows& rows); ///< one without rows is left out
    [[nodiscard]] int columns() const { return m_columns; }
    [[nodiscard]] int widthOf(int columns) const; ///< that so many need
    /// For this width; what it is shown in tells it.
    void arrange(int width);

private:
    struct Table {
        QWidget* widget;
        int lines;
    };
    std::vector<Table> m_tables;
    QHBoxLayout* m_layout;
    int m_columns = 0;
    int m_widest = 0; // of the tables, each word on one line
};

/// A list of every action with its shortcut, made from the actions themselves, and of what the mouse does in
/// pictures. As large as it needs to be where the screen has the room, else it scrolls. Deletes itself when
/// closed.
void showShortcuts(QWidget& parent, const QList<Actions::Section>& sections);

/// Lines of a key list: "Undo", "Ctrl+Z"; actions that are not visible now are left out.
[[nodiscard]] ShortcutList::Rows shortcutRows(const QList<QAction*>& actions);

} // namespace strata::views
