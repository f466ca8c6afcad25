// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/attach_content.h"

#include "views/pages/attach_page.h"

#include <QVBoxLayout>

namespace strata::views {

ContentKind AttachContent::kind()
{
    return { .id = QLatin1String(kId),
        .menuText = tr("&Attach to a Process…"),
        .buttonText = tr("Attach"),
        .about = tr("Watch the memory of a training process while it runs"),
        .iconName = QStringLiteral("attach"),
        .key = QKeySequence(Qt::CTRL | Qt::Key_L),
        .make = [](const ContentContext&) { return new AttachContent; } };
}

AttachContent::AttachContent(QWidget* parent)
    : WindowContent(parent)
    , m_page(new AttachPage)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_page);
    connect(m_page, &AttachPage::placeWanted, this,
        [this](const QString& place) { Q_EMIT fileWanted(place, false); });
    connect(m_page, &AttachPage::backRequested, this, &AttachContent::leaveWanted);
    connect(m_page, &AttachPage::changed, this, &AttachContent::changed);
}

void AttachContent::setPalette(const Palette& palette)
{
    m_page->setPalette(palette);
}

QString AttachContent::copyText() const
{
    return m_page->copyText();
}

QString AttachContent::commandLine() const
{
    return m_page->commandLine();
}

void AttachContent::enter(const QString& behind)
{
    m_page->setBackTo(behind);
}

void AttachContent::takeKeyboard()
{
    m_page->focusList();
}

} // namespace strata::views
