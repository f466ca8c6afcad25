// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QList>
#include <QObject>

#include <vector>

class QMenu;
class QMenuBar;
class QWidget;

namespace strata::views {

struct ContentKind;

/// Property of an action: the file of its icon in resources/icons, without ".svg".
inline constexpr const char* kIconName = "iconName";

/// Every action of the window, with text and shortcut, in its menus. The window does some of them, the
/// content that it shows says which of the others it serves; the list of shortcuts is made from them.
class Actions : public QObject {
    Q_OBJECT
public:
    Actions(QWidget& window, const std::vector<ContentKind>& kinds);

    void fill(QMenuBar& bar);

    struct Section {
        QString title;
        QList<QAction*> actions;
    };
    [[nodiscard]] const QList<Section>& sections() const { return m_sections; }
    [[nodiscard]] QList<QAction*> all() const;

    // File
    QAction *open, *openBeside, *newWindow, *saveSession, *saveTable, *savePicture, *closeFile, *quit;
    QMenu *recentMenu = nullptr, *sampleMenu = nullptr;
    QList<QAction*> kinds; ///< of contents that every window can show, in their order
    // Edit
    QAction *undo, *redo, *copy, *copyStack, *copyTable, *copyPicture, *copyCommand, *find, *findAll,
        *nextHit, *previousHit, *filter, *clearFilter, *addNote, *nameRange, *saveFilter, *deselect,
        *preferences;
    // View
    QAction *details, *minimap, *follow, *axis, *showAll, *tearOff, *fullScreen;
    QList<QAction*> themes; ///< data(): Theme::Choice as int
    // Go
    QAction *back, *forward, *peak, *outOfMemory, *nextStep, *previousStep, *nextEvent, *previousEvent;
    QList<QAction*> pages; ///< Ctrl+1 to Ctrl+0; the window names them
    QMenu* pageMenu = nullptr; ///< actions of the page that is shown
    // Help
    QAction *shortcuts, *recording, *about;

private:
    QAction* make(const QString& text, const QKeySequence& key = {}, const QKeySequence& second = {});
    QMenu* addMenu(QMenuBar& bar, const QString& title, const QList<QAction*>& actions);

    void makeFile(const std::vector<ContentKind>& contents);
    void makeEdit();
    void makeView();
    void makeGo();
    void makeHelp();

    QWidget& m_window;
    QList<Section> m_sections;
};

} // namespace strata::views
