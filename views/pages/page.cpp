// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/page.h"

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
