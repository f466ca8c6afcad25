// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QStringList>
#include <QWidget>

#include "views/base/background_job.h"
#include "views/models/document/document.h"
#include "views/models/document/work_details.h"
#include "views/style/palette.h"

#include <functional>
#include <memory>
#include <vector>

class QAction;
class QIODevice;

namespace strata::views {

/// A frame of a call tree, with what the tree says of it.
struct FrameFocus {
    std::vector<model::FrameId> frames; ///< from the innermost to the outermost of them
    QString title; ///< "main (train.py:57)"
    std::int64_t total = 0, self = 0, whole = 0; ///< bytes, or blocks where these are counted
    std::int64_t blocks = 0;
    bool countsBlocks = false;
};

/// What a click on a page tells the details dock to show. It means the same in every generation of a session,
/// but for blocks older than the trace (DeviceTrace::sameBlock()).
struct Focus {
    enum class Kind { Nothing, Block, Event, Group, Frame, Work };
    Kind kind = Kind::Nothing;
    model::BlockId block;
    model::EventIndex event = -1;
    model::Grouping grouping = model::Grouping::Line;
    model::GroupKey group{};
    std::shared_ptr<const FrameFocus> frame{};
    std::shared_ptr<const WorkDetails> work{};

    [[nodiscard]] static Focus onBlock(model::BlockId block, model::EventIndex event = -1)
    {
        return { .kind = Kind::Block, .block = block, .event = event };
    }
    [[nodiscard]] static Focus onEvent(model::EventIndex event)
    {
        return { .kind = Kind::Event, .event = event };
    }
    [[nodiscard]] static Focus onGroup(
        model::Grouping grouping, model::GroupKey group, model::EventIndex event = -1)
    {
        return { .kind = Kind::Group, .event = event, .grouping = grouping, .group = std::move(group) };
    }
    /// `event`: the instant that its figures are of; -1 where they are of a range.
    [[nodiscard]] static Focus onFrame(FrameFocus frame, model::EventIndex event)
    {
        return {
            .kind = Kind::Frame, .event = event, .frame = std::make_shared<const FrameFocus>(std::move(frame))
        };
    }
    [[nodiscard]] static Focus onWork(WorkDetails work)
    {
        return { .kind = Kind::Work, .work = std::make_shared<const WorkDetails>(std::move(work)) };
    }
    friend bool operator==(const Focus&, const Focus&) = default;
};

/// A page of the window. It reads the document, writes the ViewState, and keeps its own zoom. The shell
/// creates one of each per document (views/contents/document/page_list.cpp), shows one at a time, and calls the
/// virtuals below on the GUI thread. A page outlives neither its document nor its window.
class Page : public QWidget {
    Q_OBJECT
public:
    explicit Page(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] virtual QString id() const = 0; ///< "memory": for settings, tests and `strata render`
    [[nodiscard]] virtual QString title() const = 0;
    [[nodiscard]] virtual QString iconName() const = 0; ///< file in resources/icons, without ".svg"

    /// How much of the page is of what the document's filter lets through. The window says so where it is not
    /// all.
    enum class FilterReach { All, GroupsAndBlocks, Nothing };
    [[nodiscard]] virtual FilterReach filterReach() const = 0;

    /// Why the file cannot fill the page, and what would record it; empty where it can, or is still read.
    [[nodiscard]] virtual QString absence() const;
    /// Actions of the page, with shortcuts: shown in the menu "Page" and on the list of shortcuts.
    [[nodiscard]] const QList<QAction*>& pageActions() const { return m_actions; }
    /// The shell calls it once after construction and at every change of theme: repaint with colours().
    virtual void setPalette(const Palette& palette);
    /// Parts that the user unfolded, by their names: the window remembers them for all of its documents.
    [[nodiscard]] virtual QStringList unfolded() const { return {}; }
    virtual void setUnfolded(const QStringList& /*parts*/) { }
    virtual void resetView() { } ///< Home: show all
    virtual void goTo(model::EventIndex event); ///< scrolls or zooms so that the event is in view
    /// The dock shows something else now (or nothing): the page may mark it. Not called for its own clicks.
    virtual void showFocus(const Focus& focus);
    [[nodiscard]] virtual bool busy() const { return false; } ///< still drawing: `strata render` waits for it

    /// The page's own history of zooms, which Alt+Left and Alt+Right walk before they leave the page.
    [[nodiscard]] virtual bool canGoBack() const { return false; }
    [[nodiscard]] virtual bool canGoForward() const { return false; }
    virtual void goBack() { }
    virtual void goForward() { }

    /// The `strata` command that prints what the page shows, arguments quoted for a shell; empty if none
    /// does. The file is document().path().
    [[nodiscard]] virtual QString commandLine() const { return {}; }
    /// Edit > Copy: the selected rows as tab-separated text, or what else is selected; empty if nothing is.
    [[nodiscard]] virtual QString copyText() const { return {}; }
    /// Edit > Save Table as CSV: the whole table as it is sorted and filtered, with a header line.
    [[nodiscard]] virtual bool hasCsv() const { return false; }
    [[nodiscard]] virtual bool writeCsv(QIODevice& out) const; ///< false if the device failed
    /// The same for a table of any size: writes on another thread, says on the page how it went, and returns
    /// true. False: nothing was begun, writeCsv() is quick enough.
    virtual bool saveCsvLater(const QString& /*path*/) { return false; }
    /// Edit > Copy Table as CSV of a table of any size: the same, to the clipboard.
    virtual bool copyCsvLater() { return false; }
    /// The widget that Edit > Copy Picture and Save Picture take; the page itself unless told otherwise.
    [[nodiscard]] virtual QWidget* pictureWidget() { return this; }
    [[nodiscard]] virtual bool hasSvg() const { return false; }
    /// Writes the page's picture as vectors; false if the page has none or the file cannot be written.
    [[nodiscard]] virtual bool saveSvg(const QString& /*path*/) { return false; }

    [[nodiscard]] Document& document() const { return m_document; }
    [[nodiscard]] const Palette& colours() const { return m_palette; }

Q_SIGNALS:
    void focusChanged(const strata::views::Focus& focus); ///< a click: for the details dock
    void hoverText(const QString& text); ///< for the status bar; empty when the mouse leaves
    void busyChanged();
    void unfoldedChanged(); ///< by the user
    void failed(const strata::model::Error& error); ///< something of it cannot be shown
    void historyChanged(); ///< canGoBack() or canGoForward() may say something else now
    /// "Show it there": another page (by id) should come up, with the event, if there is one, in view.
    void openPage(const QString& id, std::optional<strata::model::EventIndex> event);

protected:
    [[nodiscard]] QString eventsAbsence() const; ///< absence() of a page that shows events
    [[nodiscard]] QString stacksAbsence() const; ///< absence() of a page that shows stacks
    [[nodiscard]] QString segmentsAbsence() const; ///< absence() of a page that shows segments
    void follow(const BackgroundJob& job); ///< says of it what the window is to know
    /// One more of pageActions(). Its keys count in all of the page, or while `part` has the keyboard.
    QAction* addPageAction(const QString& text, const QList<QKeySequence>& keys, std::function<void()> run,
        QWidget* part = nullptr);
    /// Another page of its window is shown: what costs time can wait until this one is.
    [[nodiscard]] bool inBackground() const { return !isVisible() && window()->isVisible(); }

    Document& m_document;
    Palette m_palette = Palette::light();

private:
    QList<QAction*> m_actions;
};

} // namespace strata::views

Q_DECLARE_METATYPE(strata::views::Focus)
