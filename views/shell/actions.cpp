// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/actions.h"

#include "views/shell/theme.h"
#include "views/shell/window_content.h"

#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>

namespace strata::views {

namespace {

constexpr int kPageKeys = 10; // the tenth is 0, as on the keyboard

} // namespace

Actions::Actions(QWidget& window, const std::vector<ContentKind>& contents)
    : QObject(&window)
    , m_window(window)
{
    makeFile(contents);
    makeEdit();
    makeView();
    makeGo();
    makeHelp();
}

QAction* Actions::make(const QString& text, const QKeySequence& key, const QKeySequence& second)
{
    auto* action = new QAction(text, this);
    QList<QKeySequence> keys;
    for (const QKeySequence& candidate : { key, second })
        if (!candidate.isEmpty())
            keys.append(candidate);
    action->setShortcuts(keys);
    m_window.addAction(action);
    return action;
}

void Actions::makeFile(const std::vector<ContentKind>& contents)
{
    open = make(tr("&Open…"), QKeySequence(Qt::CTRL | Qt::Key_O));
    open->setIconText(tr("Open"));
    open->setProperty(kIconName, QStringLiteral("open"));
    openBeside = make(tr("Open &Beside…"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_O));
    for (const ContentKind& kind : contents) {
        QAction* action = make(kind.menuText, kind.key);
        action->setIconText(kind.buttonText);
        action->setStatusTip(kind.about);
        action->setProperty(kIconName, kind.iconName);
        action->setData(kind.id);
        kinds.append(action);
    }
    newWindow = make(tr("&New Window"), QKeySequence(Qt::CTRL | Qt::Key_N));
    saveSession = make(tr("Save as a Sess&ion…"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_W));
    saveTable = make(tr("Save &Table as CSV…"), QKeySequence(Qt::CTRL | Qt::Key_S));
    savePicture = make(tr("Save &Picture…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S));
    closeFile = make(tr("&Close File"), QKeySequence(Qt::CTRL | Qt::Key_W));
    quit = make(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q));
}

void Actions::makeEdit()
{
    undo = make(tr("&Undo"), QKeySequence(Qt::CTRL | Qt::Key_Z));
    redo = make(
        tr("&Redo"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y));
    copy = make(tr("&Copy"), QKeySequence(Qt::CTRL | Qt::Key_C));
    copyStack = make(tr("Copy &Stack"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
    copyTable = make(tr("Copy Ta&ble as CSV"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_T));
    copyPicture = make(tr("Copy &Picture"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_C));
    copyCommand = make(tr("Copy as Command &Line"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_L));
    find = make(tr("&Find…"), QKeySequence(Qt::Key_Slash), QKeySequence(Qt::CTRL | Qt::Key_F));
    findAll = make(tr("Find An&ything…"), QKeySequence(Qt::CTRL | Qt::Key_K));
    nextHit = make(tr("Find Ne&xt"), QKeySequence(Qt::Key_F3));
    previousHit = make(tr("Find Previ&ous"), QKeySequence(Qt::SHIFT | Qt::Key_F3));
    filter = make(tr("F&ilter by What Is Selected"), QKeySequence(Qt::Key_F));
    clearFilter = make(tr("Clear &All Filters"), QKeySequence(Qt::SHIFT | Qt::Key_F));
    addNote = make(tr("Add a &Note…"), QKeySequence(Qt::Key_A));
    nameRange = make(tr("Na&me This Range…"), QKeySequence(Qt::Key_R));
    saveFilter = make(tr("Sa&ve This Filter…"), QKeySequence(Qt::CTRL | Qt::Key_B));
    deselect = make(tr("&Drop the Selection"), QKeySequence(Qt::Key_Escape));
    preferences = make(tr("Pr&eferences…"), QKeySequence(Qt::CTRL | Qt::Key_Comma));
}

void Actions::makeView()
{
    details = make(tr("&Details"), QKeySequence(Qt::CTRL | Qt::Key_D));
    minimap = make(tr("&Minimap"), QKeySequence(Qt::CTRL | Qt::Key_M));
    for (QAction* toggle : { details, minimap }) {
        toggle->setCheckable(true);
        toggle->setChecked(true);
    }
    follow = make(tr("Follow What Is Watc&hed"), QKeySequence(Qt::CTRL | Qt::Key_G));
    follow->setCheckable(true);
    axis = make(tr("Switch between &Time and Events"), QKeySequence(Qt::Key_T));
    showAll = make(tr("Show &All"), QKeySequence(Qt::Key_Home));
    tearOff = make(tr("Page in a &Window of Its Own"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N));
    fullScreen = make(tr("&Full Screen"), QKeySequence(Qt::Key_F11));
    fullScreen->setCheckable(true);
    auto* group = new QActionGroup(this);
    const std::pair<QString, Theme::Choice> choices[] = { { tr("Like the Deskt&op"), Theme::Choice::Desktop },
        { tr("&Light"), Theme::Choice::Light }, { tr("Dar&k"), Theme::Choice::Dark } };
    for (const auto& [text, choice] : choices) {
        QAction* action = make(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(choice));
        group->addAction(action);
        themes.append(action);
    }
}

void Actions::makeGo()
{
    back = make(tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left));
    forward = make(tr("&Forward"), QKeySequence(Qt::ALT | Qt::Key_Right));
    peak = make(tr("&Peak"), QKeySequence(Qt::Key_P));
    outOfMemory = make(tr("&Out of Memory"), QKeySequence(Qt::Key_O));
    nextStep = make(tr("&Next Step"), QKeySequence(Qt::Key_N));
    previousStep = make(tr("P&revious Step"), QKeySequence(Qt::SHIFT | Qt::Key_N));
    nextEvent = make(tr("Next &Event"), QKeySequence(Qt::Key_Right));
    previousEvent = make(tr("Previous E&vent"), QKeySequence(Qt::Key_Left));
    for (QAction* action : { nextEvent, previousEvent, nextStep, previousStep })
        action->setAutoRepeat(true);
    for (int i = 0; i < kPageKeys; ++i)
        pages.append(make(tr("Page %1").arg(i + 1),
            QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + (i + 1) % kPageKeys))));
}

void Actions::makeHelp()
{
    shortcuts = make(tr("&Keyboard and Mouse"), QKeySequence(Qt::Key_F1));
    recording = make(tr("How to &Record a Snapshot"));
    about = make(tr("&About Strata"));
}

QMenu* Actions::addMenu(QMenuBar& bar, const QString& title, const QList<QAction*>& actions)
{
    QMenu* menu = bar.addMenu(title);
    Section section{ title, {} };
    section.title.remove(QLatin1Char('&'));
    for (QAction* action : actions) {
        if (!action) {
            menu->addSeparator();
            continue;
        }
        menu->addAction(action);
        section.actions.append(action);
    }
    m_sections.append(section);
    return menu;
}

void Actions::fill(QMenuBar& bar)
{
    QList<QAction*> files{ open, openBeside };
    files += kinds;
    files += { nullptr, newWindow, nullptr, saveSession, saveTable, savePicture, nullptr, closeFile, quit };
    QMenu* file = addMenu(bar, tr("&File"), files);
    recentMenu = new QMenu(tr("Open &Recent"), file);
    sampleMenu = new QMenu(tr("Open &Sample"), file);
    file->insertMenu(openBeside, recentMenu);
    file->insertMenu(openBeside, sampleMenu);
    addMenu(bar, tr("&Edit"),
        { undo, redo, nullptr, copy, copyStack, copyTable, copyPicture, copyCommand, nullptr, find, findAll,
            nextHit, previousHit, nullptr, filter, clearFilter, deselect, nullptr, addNote, nameRange,
            saveFilter, nullptr, preferences });
    QList<QAction*> view{ details, minimap, follow, nullptr, axis, showAll, nullptr };
    view += themes;
    view += { nullptr, tearOff, fullScreen };
    addMenu(bar, tr("&View"), view);
    QList<QAction*> go{ back, forward, nullptr, peak, outOfMemory, nextStep, previousStep, nextEvent,
        previousEvent, nullptr };
    go += pages;
    addMenu(bar, tr("&Go"), go);
    pageMenu = bar.addMenu(tr("&Page"));
    addMenu(bar, tr("&Help"), { shortcuts, recording, nullptr, about });
}

QList<QAction*> Actions::all() const
{
    QList<QAction*> actions;
    for (const Section& section : m_sections)
        actions += section.actions;
    return actions;
}

} // namespace strata::views
