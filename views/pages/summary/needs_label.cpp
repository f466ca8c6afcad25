// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/needs_label.h"

#include "views/pages/parts/summary_facts.h"
#include "views/style/labels.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QLabel>

namespace strata::views {

namespace {

class NeedsLabel {
    Q_DECLARE_TR_FUNCTIONS(strata::views::SummaryPage)
};

/// What is left of every card, as rows of a table.
QString roomLeft(const model::Needs& needs)
{
    QString rows;
    for (const model::CardFit& one : needs.cards) {
        const bool fits = one.fit != model::Fit::No;
        const QString left = !fits ? NeedsLabel::tr("%1 too little").arg(text::bytes(-one.marginBytes))
            : one.fit == model::Fit::Unknown ? NeedsLabel::tr("not known")
            : one.fit == model::Fit::Tight
            ? NeedsLabel::tr("%1 left, which CUDA itself may need").arg(text::bytes(one.marginBytes))
            : NeedsLabel::tr("%1 left").arg(text::bytes(one.marginBytes));
        rows += QStringLiteral("<tr><td style='padding-right: 12px'>%1</td><td>%2</td></tr>")
                    .arg(text::utf8(one.card->name).toHtmlEscaped(), left.toHtmlEscaped());
    }
    return QStringLiteral("<table>%1</table>").arg(rows);
}

} // namespace

QWidget* needsLabel(const model::Needs& needs, const Palette& palette)
{
    QLabel* label = textLabel(verdictHtml(needs.line, palette[Palette::Role::Accent].name()));
    label->setTextFormat(Qt::RichText);
    label->setAccessibleName(verdictPlain(needs.line));
    label->setToolTip(roomLeft(needs));
    return label;
}

} // namespace strata::views
