// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/page.h"

#include <QRegularExpression>

namespace strata::views {

Page::Page(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
{
    setObjectName(QStringLiteral("page")); // as the style sheet knows it
    setAttribute(Qt::WA_StyledBackground);
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

QString shellQuoted(const QString& text)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(text).hasMatch())
        return text;
    QString inside = text;
    return QLatin1Char('\'') + inside.replace(QLatin1Char('\''), QLatin1String("'\\''")) + QLatin1Char('\'');
}

} // namespace strata::views
