// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search/search_box.h"

#include "views/contents/document/document_view.h"
#include "views/contents/search/finder.h"
#include "views/contents/search/search_list.h"
#include "views/contents/search/search_palette.h"
#include "views/style/type.h"

#include <QApplication>
#include <QKeyEvent>

namespace strata::views {

namespace {

/// The view that the widget is in, windows of torn-off pages included; nullptr: none.
const DocumentView* viewOf(const QWidget* widget)
{
    while (widget && !qobject_cast<const DocumentView*>(widget))
        widget = widget->parentWidget();
    return static_cast<const DocumentView*>(widget);
}

} // namespace

SearchBox::SearchBox(Finder& finder, QWidget* parent)
    : QLineEdit(parent)
    , m_finder(finder)
{
    setPlaceholderText(tr("Search (Ctrl+K)"));
    setAccessibleName(tr("Search"));
    setToolTip(tr("Lines, functions, files, sizes (> 1 MiB, 24.0 MiB), addresses (0x…), pages, actions;\n"
                  "also filters: line:train.py:57, stream:7, pool:large."));
    setFixedWidth(scaled(264.0, font()));
    setClearButtonEnabled(true);
    setAcceptDrops(false); // a file dropped here is to be opened
    connect(this, &QLineEdit::textEdited, this, [this](const QString& text) {
        if (!isOpen() && !text.trimmed().isEmpty())
            open();
        if (isOpen())
            search();
    });
    connect(this, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (text.isEmpty() && isOpen())
            search(); // by the button that clears it too
    });
    connect(&finder, &Finder::proposed, this, [this](const QString& text) {
        setText(text);
        openPalette();
    });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget* before, QWidget* now) {
        if (now == this && before && before != this)
            m_before = before;
    });
}

SearchBox::~SearchBox()
{
    delete m_popup;
}

void SearchBox::setView(DocumentView* view)
{
    if (m_view == view)
        return;
    if (m_view) {
        disconnect(&m_view->document(), nullptr, this, nullptr);
        disconnect(&m_view->document().viewState(), nullptr, this, nullptr);
    }
    m_view = view;
    closePalette();
    clear();
    m_finder.setView(view);
    if (!view)
        return;
    const auto again = [this] {
        if (isOpen())
            search();
    };
    connect(&view->document(), &Document::deviceReady, this, again);
    connect(&view->document().viewState(), &ViewState::selectionChanged, this, again);
    connect(&view->document().viewState(), &ViewState::deviceChanged, this, again);
}

void SearchBox::setPalette(const Palette& palette)
{
    m_palette = palette;
    if (m_popup)
        m_popup->setPalette(palette);
}

bool SearchBox::isOpen() const
{
    return m_popup && m_popup->isVisible();
}

void SearchBox::takeKeyboard()
{
    window()->activateWindow(); // a page of its own window may have had it
    setFocus(Qt::ShortcutFocusReason);
    selectAll();
}

void SearchBox::openPalette()
{
    takeKeyboard();
    open();
    search();
}

SearchPalette* SearchBox::popup() const
{
    return m_popup;
}

void SearchBox::open()
{
    if (!m_popup) {
        m_popup = new SearchPalette(m_finder, window());
        m_popup->setPalette(m_palette);
        connect(m_popup, &SearchPalette::closed, this, [this](bool found, bool narrowed) {
            if (!found || narrowed)
                clear(); // the text of hits stays: F3 walks through them
            leave();
        });
        connect(m_popup, &SearchPalette::currentChanged, this,
            [this] { setAccessibleDescription(m_popup->currentText()); });
    }
    m_popup->open(*this);
}

void SearchBox::search()
{
    m_finder.find(text());
}

void SearchBox::closePalette()
{
    if (m_popup)
        m_popup->hide();
}

void SearchBox::leave()
{
    // Of the document that is searched, lest another one becomes the active one.
    if (m_before && m_before->isVisible() && (!viewOf(m_before) || viewOf(m_before) == m_view)) {
        m_before->window()->activateWindow();
        m_before->setFocus(Qt::OtherFocusReason);
    } else if (m_view) {
        m_view->focusPage();
    } else {
        clearFocus();
    }
}

bool SearchBox::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        // The window has shortcuts on some of these keys too; Ctrl+K would delete to the end of the line.
        const auto* key = static_cast<QKeyEvent*>(event);
        switch (key->key()) {
        case Qt::Key_Escape:
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_PageUp:
        case Qt::Key_PageDown:
        case Qt::Key_Return:
        case Qt::Key_Enter:
            event->accept();
            return true;
        case Qt::Key_C:
        case Qt::Key_K:
            if (key->modifiers() == Qt::ControlModifier) {
                event->accept();
                return true;
            }
            break;
        default:
            break;
        }
    }
    return QLineEdit::event(event);
}

void SearchBox::keyPressEvent(QKeyEvent* event)
{
    const bool control = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
    case Qt::Key_Escape:
        if (isOpen())
            return closePalette();
        clear();
        return leave();
    case Qt::Key_K:
        if (control)
            return openPalette();
        break;
    case Qt::Key_C:
        if (control && isOpen() && !hasSelectedText())
            return m_popup->copyCommand();
        break;
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (!isOpen())
            return openPalette();
        return m_popup->list().move(event->key() == Qt::Key_Down ? 1 : -1);
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        if (isOpen())
            m_popup->list().movePage(event->key() == Qt::Key_PageDown ? 1 : -1);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (isOpen())
            return m_popup->choose(control);
        return openPalette();
    default:
        break;
    }
    QLineEdit::keyPressEvent(event);
}

void SearchBox::focusOutEvent(QFocusEvent* event)
{
    if (event->reason() != Qt::PopupFocusReason)
        closePalette();
    QLineEdit::focusOutEvent(event);
}

} // namespace strata::views
