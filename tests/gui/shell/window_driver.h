// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/eventually.h"
#include "views/contents/document/document_content.h"
#include "views/contents/document/document_view.h"
#include "views/models/document/document.h"
#include "views/pages/parts/page.h"
#include "views/shell/main_window.h"

#include <QStringList>
#include <QTest>
#include <QTimer>
#include <QUrl>

#include <gtest/gtest.h>

namespace strata::views {
class SearchBox;
}

namespace strata::test {

/// Text as it is read: without markup, entities and shortcut marks.
[[nodiscard]] QString plainText(const QString& text);

/// Every text that the visible labels and buttons below `root` show, in the order of creation.
[[nodiscard]] QStringList shownTexts(const QWidget& root);

/// Whether a visible label or button below `root` shows `part`.
[[nodiscard]] bool shows(const QWidget& root, const QString& part);

/// Answers the file dialog that opens next, while this is there: types the path and presses Enter.
class FileDialogAnswer {
public:
    explicit FileDialogAnswer(const QString& path);

private:
    QTimer m_timer;
};

/// Drives a window of the program the way a person does: keys, mouse and drops go to the window system's
/// window, which finds the widget itself; what is read is what is shown.
class WindowDriver {
public:
    explicit WindowDriver(views::MainWindow& window)
        : m_window(window)
    {
    }

    [[nodiscard]] views::MainWindow& window() const { return m_window; }
    /// What the window has opened; nullptr: nothing.
    [[nodiscard]] views::DocumentContent* documents() const { return views::DocumentContent::of(m_window); }
    /// The active document, and the view of it.
    [[nodiscard]] views::Document& document() const { return documents()->active().document(); }
    [[nodiscard]] views::DocumentView& view() const { return documents()->active().view(); }
    [[nodiscard]] const views::DeviceData& device() const { return *document().device(); }
    [[nodiscard]] views::ViewState& state() const { return document().viewState(); }

    /// Nothing loads, everything is derived and every page has drawn what it has to.
    [[nodiscard]] bool settled() const;
    /// settled(), with this file.
    [[nodiscard]] bool showsFile(const QString& path) const;

    template <class P> [[nodiscard]] P& page(const char* id) const
    {
        return dynamic_cast<P&>(*view().findPage(QLatin1String(id)));
    }
    /// The same, once it is shown and has drawn: pages in the background do not follow.
    template <class P> [[nodiscard]] P& shown(const char* id) const
    {
        if (currentPage() != QLatin1String(id))
            view().showPage(QLatin1String(id));
        EXPECT_TRUE(eventually([this] { return settled(); })) << id;
        return page<P>(id);
    }
    [[nodiscard]] views::SearchBox& searchBox() const; ///< of the content that is shown
    [[nodiscard]] QString currentPage() const { return view().currentPage()->id(); }
    [[nodiscard]] QString statusText() const;

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    void type(const QString& text);

    /// At a point of a widget, in any window.
    static void click(QWidget& on, QPoint at, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    static void click(QWidget& on) { click(on, on.rect().center()); }
    static void move(QWidget& on, QPoint at);
    static void drag(QWidget& on, QPoint from, QPoint to);
    static void wheel(QWidget& on, QPoint at, int notches, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    /// Drags files over a widget and drops them there; false if the drag was refused.
    [[nodiscard]] static bool drop(QWidget& on, const QStringList& paths);

private:
    void takeKeyboard();

    views::MainWindow& m_window;
};

} // namespace strata::test
