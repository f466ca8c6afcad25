// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/page.h"

#include "views/pages/parts/document_texts.h"
#include "views/style/texts.h"

#include <QAction>
#include <QLabel>

namespace strata::views {

Page::Page(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
{
    setObjectName(QStringLiteral("page")); // as the style sheet knows it
    setAttribute(Qt::WA_StyledBackground);
}

QString Page::absence() const
{
    return m_document.recording() && m_document.devices().empty()
        ? tr("%1. %2 records it.").arg(text::withoutDevices(m_document), text::recordLine())
        : QString();
}

QString Page::eventsAbsence() const
{
    for (const DeviceBrief& device : m_document.devices())
        if (device.device == m_document.viewState().device() && device.totals->events == 0)
            return tr("No events were recorded. %1 records them.").arg(text::recordLine());
    return Page::absence();
}

QString Page::stacksAbsence() const
{
    const model::Recording* recording = m_document.recording();
    return recording && !recording->devices.empty() && recording->stacks.stackCount() == 0
        ? tr("No stacks were recorded. %1 records them.").arg(text::recordLine())
        : Page::absence();
}

QString Page::segmentsAbsence() const
{
    return text::lacksSegments(m_document)
        ? tr("A profiler does not tell of segments. %1 records them.").arg(text::recordLine())
        : Page::absence();
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
    for (QLabel* label : findChildren<QLabel*>()) // links take their colour when the text is set
        if (const QString text = label->text(); text.contains(QLatin1String("<a "))) {
            label->clear();
            label->setText(text);
        }
    update();
}

void Page::goTo(model::EventIndex) { }

void Page::showFocus(const Focus&) { }

bool Page::writeCsv(QIODevice&) const
{
    return false;
}

} // namespace strata::views
