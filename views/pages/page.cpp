// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/page.h"

#include <QAction>

namespace strata::views {

Page::Page(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
{
    setObjectName(QStringLiteral("page")); // as the style sheet knows it
    setAttribute(Qt::WA_StyledBackground);
}

void Page::follow(const BackgroundJob& job)
{
    connect(&job, &BackgroundJob::runningChanged, this, &Page::busyChanged);
    connect(&job, &BackgroundJob::failed, this, &Page::failed);
}

QAction* Page::addPageAction(
    const QString& text, const QList<QKeySequence>& keys, std::function<void()> run, QWidget* part)
{
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    action->setShortcutContext(part ? Qt::WidgetShortcut : Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, std::move(run));
    (part ? part : this)->addAction(action);
    m_actions.append(action);
    return action;
}

void Page::setPalette(const Palette& palette)
{
    m_palette = palette;
    update();
}

void Page::goTo(model::EventIndex) { }

void Page::showFocus(const Focus&) { }

bool Page::writeCsv(QIODevice&) const
{
    return false;
}

} // namespace strata::views
