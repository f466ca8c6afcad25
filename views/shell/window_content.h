// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/shell/action_map.h"
#include "views/shell/actions.h"
#include "views/shell/notice.h"
#include "views/style/palette.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

class QMimeData;
class QSettings;

namespace strata::views {

class ColourTable;
class RecentFiles;

/// What a window shows between its bars: the start page, a dry run, documents. The window knows none of them
/// by name: it asks for what is declared here, and does what the signals ask for. A content may need time
/// before it can be shown (Preparing); what was shown before stays until then. Owned by the window, which
/// deletes it before its actions, and never outlives it. GUI thread only.
class WindowContent : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    /// In the title of the window: "train.pickle", "Dry run"; empty: the program's name alone.
    [[nodiscard]] virtual QString title() const { return {}; }
    /// Of the button that shows it, of a kind; empty: the usual one.
    [[nodiscard]] virtual QString buttonText() const { return {}; }
    /// Once after it was made, and at every change of theme.
    virtual void setPalette(const Palette& palette) = 0;

    /// Parts that stand in the window's bars while this is shown; nullptr: none. The content deletes them.
    [[nodiscard]] virtual QWidget* topPart() { return nullptr; }
    [[nodiscard]] virtual QWidget* statusPart() { return nullptr; }
    /// What the status bar says while nothing is under the mouse.
    [[nodiscard]] virtual QString statusText() const { return {}; }

    /// What it does of the window's actions while it is shown; the others are disabled then.
    [[nodiscard]] const ActionMap& served() const { return m_served; }
    /// Actions of its own, of what it shows now: the menu "Page".
    [[nodiscard]] virtual QList<QAction*> pageActions() const { return {}; }
    /// The same of all that it can show, for the list of shortcuts.
    [[nodiscard]] virtual QList<Actions::Section> sections() const { return {}; }
    /// Names of what Ctrl+1 to Ctrl+0 lead to, in their order; also while it stands behind another content.
    [[nodiscard]] virtual QStringList places() const { return {}; }
    virtual void goToPlace(int /*index*/) { }

    /// Edit > Copy: what is selected, as text; empty: nothing is.
    [[nodiscard]] virtual bool canCopy() const { return false; }
    [[nodiscard]] virtual QString copyText() const { return {}; }
    /// The `strata` command that prints or does what is shown, quoted for a shell; empty if none does.
    [[nodiscard]] virtual QString commandLine() const { return {}; }

    /// It is about to be shown; `behind` is the title of what is shown again when it is left.
    virtual void enter(const QString& /*behind*/) { }
    /// It is shown: gives the keyboard to the part of it that takes it.
    virtual void takeKeyboard() { }
    /// The window closes, or this is about to be deleted: keeps what is to be there the next time.
    virtual void closing() { }
    /// A file that was asked for beside what is shown; false: it cannot, the window opens it in its place.
    [[nodiscard]] virtual bool openBeside(const QString& /*path*/) { return false; }

    /// On its way: how far it is, as a whole page or as a strip above what is shown meanwhile. The caller
    /// owns it.
    enum class Shape { Page, Strip };
    [[nodiscard]] virtual bool preparing() const { return false; }
    [[nodiscard]] virtual QWidget* makeProgress(Shape /*shape*/) { return nullptr; }

Q_SIGNALS:
    void changed(); ///< what can be done, copied or undone may be something else now
    void rearranged(); ///< so may title, parts, places and pageActions()
    void statusChanged(); ///< statusText() says something else now
    void hoverText(const QString& text); ///< for the status bar; empty when the mouse leaves
    void flash(const QString& text); ///< for the status bar, for a few seconds: "copied 12 lines"
    void noticed(const strata::views::Notice& notice); ///< a strip above the page
    void noticesGone(); ///< what they said does not hold any more

    void prepared(); ///< it can be shown
    /// It never will be. `mayForce`: it was refused, and might be with openFile(path, true).
    void failed(const strata::views::Notice& notice, bool mayForce);
    void cancelled(); ///< nor will it, as somebody wished

    void showWanted(); ///< bring it to the front
    void leaveWanted(); ///< close it: show what stands behind it
    void fileWanted(const QString& path, bool force); ///< open this in the window
    void filesDropped(const QMimeData& files); ///< on a window of its own

protected:
    void serve(const QAction* action, ActionMap::Run run, ActionMap::Test possible = {},
        ActionMap::Test checked = {})
    {
        m_served.add(action, std::move(run), std::move(possible), std::move(checked));
    }
    void serve(ActionMap more) { m_served.add(std::move(more)); }

private:
    ActionMap m_served;
};

/// What a content may use of its window and of the program; all of it outlives the content.
struct ContentContext {
    Actions& actions;
    RecentFiles& recent;
    QSettings& settings;
    std::shared_ptr<ColourTable> colours; ///< of the window: a name looks the same wherever it stands
};

/// A content that every window can show on request, by an action in the menu File and a button in the top
/// bar. The window makes it when it is first asked for, and keeps it.
struct ContentKind {
    QString id; ///< "dryrun"
    QString menuText, buttonText; ///< "&Dry Run a Program…", "Dry run"
    QString about; ///< a sentence for the start page
    QString iconName; ///< file in resources/icons, without ".svg"
    QKeySequence key;
    std::function<WindowContent*(const ContentContext& context)> make;
};

/// The contents that windows of the program can show. The program fills it; windows make what they need.
struct ContentList {
    std::function<WindowContent*(const ContentContext& context)> start; ///< of a window without a file
    std::function<WindowContent*(const ContentContext& context, const QString& path, bool force)> file;
    std::vector<ContentKind> kinds;
};

} // namespace strata::views
