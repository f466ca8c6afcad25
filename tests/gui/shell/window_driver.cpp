// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/shell/window_driver.h"

#include "views/contents/search/search_box.h"
#include "views/shell/status_bar.h"

#include <QAbstractButton>
#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QTextDocumentFragment>
#include <QWindow>
#include <qpa/qplatformdrag.h>
#include <qpa/qwindowsysteminterface.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace strata::test {

namespace {

QWindow* windowOf(const QWidget& widget)
{
    return widget.window()->windowHandle();
}

QPoint inWindow(const QWidget& widget, QPoint at)
{
    return widget.mapTo(widget.window(), at);
}

} // namespace

FileDialogAnswer::FileDialogAnswer(const QString& path)
{
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this, path] {
        auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog || !dialog->isVisible())
            return;
        m_timer.stop();
        auto* const name = dialog->findChild<QLineEdit*>();
        ASSERT_TRUE(name);
        name->setText(path);
        QTest::keyClick(name, Qt::Key_Return);
    });
    m_timer.start(20);
}

QString plainText(const QString& text)
{
    return Qt::mightBeRichText(text) ? QTextDocumentFragment::fromHtml(text).toPlainText() : text;
}

QStringList shownTexts(const QWidget& root)
{
    QStringList texts;
    for (const QWidget* widget : root.findChildren<QWidget*>()) {
        if (!widget->isVisibleTo(&root))
            continue;
        if (const auto* label = qobject_cast<const QLabel*>(widget); label && !label->text().isEmpty())
            texts += plainText(label->text());
        else if (const auto* button = qobject_cast<const QAbstractButton*>(widget);
                 button && !button->text().isEmpty())
            texts += QString(button->text()).remove(QLatin1Char('&'));
    }
    return texts;
}

bool shows(const QWidget& root, const QString& part)
{
    const QStringList texts = shownTexts(root);
    return std::any_of(texts.begin(), texts.end(), [&](const QString& text) { return text.contains(part); });
}

views::SearchBox& WindowDriver::searchBox() const
{
    const auto boxes = m_window.findChildren<views::SearchBox*>();
    return **std::ranges::find_if(boxes, &QWidget::isVisible);
}

bool WindowDriver::settled() const
{
    const views::DocumentContent* shown = documents();
    if (m_window.pending() || !shown || shown->pending())
        return false;
    return std::ranges::all_of(shown->panes(), [](const views::DocumentPane* pane) {
        const views::Document& document = pane->document();
        return !document.working() && !document.isBehind() && !document.replaying() && !document.analysing()
            && document.device() && document.device()->blocksIndex
            && std::ranges::none_of(pane->view().pages(), &views::Page::busy);
    });
}

bool WindowDriver::showsFile(const QString& path) const
{
    return settled() && document().path() == path;
}

QString WindowDriver::statusText() const
{
    return m_window.status().text();
}

void WindowDriver::takeKeyboard()
{
    // Where no window manager does, nobody gives the keyboard back when a dialog closes.
    if (m_window.isActiveWindow() || QApplication::activePopupWidget())
        return;
    m_window.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&m_window, kPatienceMs));
}

void WindowDriver::key(Qt::Key key, Qt::KeyboardModifiers modifiers)
{
    takeKeyboard();
    QTest::keyClick(m_window.windowHandle(), key, modifiers);
}

void WindowDriver::type(const QString& text)
{
    takeKeyboard();
    for (const QChar c : text)
        QTest::keyClick(m_window.windowHandle(), c.toLatin1());
}

void WindowDriver::click(QWidget& on, QPoint at, Qt::KeyboardModifiers modifiers)
{
    QTest::mouseClick(windowOf(on), Qt::LeftButton, modifiers, inWindow(on, at));
}

void WindowDriver::move(QWidget& on, QPoint at)
{
    QTest::mouseMove(windowOf(on), inWindow(on, at));
}

void WindowDriver::drag(QWidget& on, QPoint from, QPoint to)
{
    constexpr int kSteps = 8;
    QWindow* window = windowOf(on);
    QTest::mousePress(window, Qt::LeftButton, {}, inWindow(on, from));
    for (int i = 1; i <= kSteps; ++i)
        QTest::mouseMove(window, inWindow(on, from + (to - from) * i / kSteps));
    QTest::mouseRelease(window, Qt::LeftButton, {}, inWindow(on, to));
}

void WindowDriver::wheel(QWidget& on, QPoint at, int notches, Qt::KeyboardModifiers modifiers)
{
    constexpr int kNotch = 120;
    QWindow* window = windowOf(on);
    const QPoint local = inWindow(on, at);
    QWindowSystemInterface::handleWheelEvent(
        window, local, window->mapToGlobal(local), QPoint(), QPoint(0, notches * kNotch), modifiers);
    QWindowSystemInterface::flushWindowSystemEvents();
}

bool WindowDriver::drop(QWidget& on, const QStringList& paths)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths)
        urls.append(QUrl::fromLocalFile(path));
    data.setUrls(urls);
    data.setText(paths.join(QLatin1Char('\n'))); // as file managers do
    const QPoint at = inWindow(on, on.rect().center());
    const Qt::DropActions copy = Qt::CopyAction;
    const auto answer
        = QWindowSystemInterface::handleDrag(windowOf(on), &data, at, copy, Qt::LeftButton, Qt::NoModifier);
    if (!answer.isAccepted())
        return false;
    return QWindowSystemInterface::handleDrop(windowOf(on), &data, at, copy, Qt::NoButton, Qt::NoModifier)
        .isAccepted();
}

} // namespace strata::test
