// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QList>
#include <QObject>

class QMenu;
class QMenuBar;
class QWidget;

namespace strata::views {

/// Every action of the window, with text and shortcut, in its menus. What they do is connected by the window;
/// the list of shortcuts is made from them.
class Actions : public QObject {
    Q_OBJECT
public:
    explicit Actions(QWidget& window);

    void fill(QMenuBar& bar);

    struct Section {
        QString title;
        QList<QAction*> actions;
    };
    [[nodiscard]] const QList<Section>& sections() const { return m_sections; }
    [[nodiscard]] QList<QAction*> all() const;

    // File
    QAction *open, *dryRun, *newWindow, *saveTable, *savePicture, *closeFile, *quit;
    QMenu *recentMenu = nullptr, *sampleMenu = nullptr;
    // Edit
    QAction *undo, *redo, *copy, *copyStack, *copyTable, *copyPicture, *copyCommand, *find, *filter,
        *clearFilter, *addNote, *nameRange, *saveFilter, *deselect, *preferences;
    // View
    QAction *details, *minimap, *axis, *showAll, *tearOff, *fullScreen;
    QList<QAction*> themes; ///< data(): Theme::Choice as int
    // Go
    QAction *back, *forward, *peak, *outOfMemory, *nextStep, *previousStep, *nextEvent, *previousEvent;
    QList<QAction*> pages; ///< Ctrl+1 to Ctrl+9; the window names them
    QMenu* pageMenu = nullptr; ///< actions of the page that is shown
    // Help
    QAction *shortcuts, *recording, *about;

private:
    QAction* make(const QString& text, const QKeySequence& key = {}, const QKeySequence& second = {});
    QMenu* addMenu(QMenuBar& bar, const QString& title, const QList<QAction*>& actions);

    void makeFile();
    void makeEdit();
    void makeView();
    void makeGo();
    void makeHelp();

    QWidget& m_window;
    QList<Section> m_sections;
};

} // namespace strata::views
