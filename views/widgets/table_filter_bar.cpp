// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_filter_bar.h"

#include "model/trace/filter/filter_language.h"
#include "views/style/texts.h"
#include "views/widgets/segmented.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace strata::views {

namespace {

constexpr int kTypingMs = 250;
constexpr int kSelection = 0; // segments of the switch
constexpr int kWholeTrace = 1;

} // namespace

TableFilterBar::TableFilterBar(QWidget* parent)
    : QWidget(parent)
    , m_scope(new Segmented(tr("Shown"),
          { { tr("Selection"), tr("Only what belongs to the selected instant or range (W)") },
              { tr("Whole trace"), tr("Everything that the recording holds (W)") } }))
    , m_edit(new QLineEdit)
    , m_everywhere(new QToolButton)
    , m_problem(new QLabel)
{
    m_edit->setPlaceholderText(tr("Filter: file, function, 0x address, > 1 MiB"));
    m_edit->setAccessibleName(tr("Filter of this page"));
    m_edit->setToolTip(
        tr("Text: part of a file or function name of the stack, or an address inside the block.\n"
           "Size: > 1 MiB, <= 512, = 20 MiB, 1MiB..4MiB, 24.0 MiB.\n"
           "Place: line:train.py:57, stream:7, pool:large, pool:(0,1)/small."));
    m_edit->setClearButtonEnabled(true);
    m_edit->setAcceptDrops(false); // a file dropped here is to be opened
    m_edit->setMinimumWidth(200);
    m_edit->setMaximumWidth(420);
    m_edit->installEventFilter(this);
    m_everywhere->setText(tr("Filter all pages"));
    m_everywhere->setToolTip(tr("Make this a filter of every page (Ctrl+Enter)"));
    m_everywhere->hide();
    m_problem->setProperty("muted", true);
    m_problem->hide();

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(m_scope);
    layout->addWidget(m_edit, 1);
    layout->addWidget(m_everywhere);
    layout->addWidget(m_problem);
    layout->addStretch();

    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingMs);
    connect(&m_typing, &QTimer::timeout, this, &TableFilterBar::parse);
    connect(m_edit, &QLineEdit::textChanged, this, [this] { m_typing.start(); });
    connect(m_everywhere, &QToolButton::clicked, this, &TableFilterBar::everywhereRequested);
    connect(m_scope, &Segmented::changed, this, [this](int index) { chooseScope(index == kSelection); });
    showScope();
}

void TableFilterBar::setSelectionAvailable(bool available)
{
    m_selectionAvailable = available;
    showScope();
}

void TableFilterBar::toggleSelection()
{
    if (m_selectionAvailable)
        chooseScope(!m_selectionWanted);
}

void TableFilterBar::chooseScope(bool selection)
{
    const bool changed = selection != m_selectionWanted;
    m_selectionWanted = selection;
    showScope();
    if (changed)
        Q_EMIT scopeChanged();
}

void TableFilterBar::showScope()
{
    const bool selection = m_selectionWanted && m_selectionAvailable;
    m_scope->setChoiceEnabled(kSelection, m_selectionAvailable);
    m_scope->choose(selection ? kSelection : kWholeTrace);
}

QString TableFilterBar::text() const
{
    return m_edit->text();
}

void TableFilterBar::setText(const QString& text)
{
    m_edit->setText(text);
    parse();
}

void TableFilterBar::clear()
{
    setText({});
}

void TableFilterBar::focusFilter()
{
    m_edit->setFocus(Qt::ShortcutFocusReason);
    m_edit->selectAll();
}

void TableFilterBar::parse()
{
    m_typing.stop();
    const model::Result<model::FilterConditions> parsed = model::parseFilter(m_edit->text().toStdString());
    m_problem->setVisible(!parsed);
    if (!parsed) {
        m_problem->setText(text::said(parsed.error()));
        return; // what is shown stays until the box makes sense again
    }
    m_everywhere->setVisible(!parsed->empty());
    if (*parsed == m_filter)
        return;
    m_filter = *parsed;
    Q_EMIT filterChanged();
}

bool TableFilterBar::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_edit || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && key->modifiers() & Qt::ControlModifier) {
        parse();
        Q_EMIT everywhereRequested();
        return true;
    }
    if (enter || key->key() == Qt::Key_Down) {
        parse();
        Q_EMIT leaveRequested();
        return true;
    }
    if (key->key() == Qt::Key_Escape && !m_edit->text().isEmpty()) {
        clear();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace strata::views
