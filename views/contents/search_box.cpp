// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search_box.h"

#include "views/contents/search.h"
#include "views/style/texts.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QStringListModel>
#include <QTimer>
#include <QToolTip>

namespace strata::views {

SearchBox::SearchBox(QWidget* parent)
    : QLineEdit(parent)
    , m_proposals(new QStringListModel(this))
{
    setPlaceholderText(tr("Search frame, file, size, address"));
    setAccessibleName(tr("Search"));
    setToolTip(tr("Part of a function or file name, a size (> 1 MiB, 24.0 MiB) or an address (0x…);\n"
                  "line:train.py:57, stream:7 or pool:large. Enter makes a filter of it."));
    setClearButtonEnabled(true);
    setAcceptDrops(false); // a file dropped here is to be opened
    auto* completer = new QCompleter(m_proposals, this);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setMaxVisibleItems(12);
    setCompleter(completer);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this, [this](const QString& line) {
        if (!m_document)
            return;
        model::BlockFilter filter = m_document->viewState().filter();
        filter.line = line.toStdString();
        m_document->viewState().setFilter(filter);
        // The completer writes the text after this signal.
        QTimer::singleShot(0, this, &QLineEdit::clear);
    });
    connect(this, &QLineEdit::returnPressed, this, &SearchBox::apply);
}

void SearchBox::setDocument(Document* document)
{
    if (m_document)
        disconnect(m_document, nullptr, this, nullptr);
    m_document = document;
    clear();
    if (m_document)
        connect(m_document, &Document::deviceReady, this, [this] {
            if (hasFocus() && m_proposals->rowCount() == 0)
                refreshProposals();
        });
    m_proposals->setStringList({});
    if (hasFocus())
        refreshProposals();
}

/// Proposals are those of now, and stay while somebody chooses among them.
void SearchBox::focusInEvent(QFocusEvent* event)
{
    if (event->reason() != Qt::PopupFocusReason)
        refreshProposals();
    QLineEdit::focusInEvent(event);
}

bool SearchBox::event(QEvent* event)
{
    // The window has a shortcut on Escape too.
    if (event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QLineEdit::event(event);
}

void SearchBox::keyPressEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Escape)
        return QLineEdit::keyPressEvent(event);
    if (!text().isEmpty())
        clear();
    else
        clearFocus();
}

void SearchBox::apply()
{
    if (!m_document || !m_document->recording() || completer()->popup()->currentIndex().isValid())
        return;
    ViewState& state = m_document->viewState();
    const auto filter = searchFilter(state.filter(), *m_document->recording(), text());
    if (!filter) {
        QToolTip::showText(mapToGlobal(rect().bottomLeft()), text::said(filter.error()), this);
        return;
    }
    state.setFilter(*filter);
    clear();
}

void SearchBox::refreshProposals()
{
    QStringList lines;
    if (const auto device = m_document ? m_document->device() : nullptr)
        for (const std::uint32_t group : device->lineOrder->groups())
            if (device->byLine->stackOf(group).valid())
                lines.append(text::utf8(device->byLine->label(group)));
    m_proposals->setStringList(lines);
}

} // namespace strata::views
