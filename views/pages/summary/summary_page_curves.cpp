// SPDX-License-Identifier: GPL-3.0-or-later
// What the page "Summary" says of the whole recording, below its verdict: where it fits, and its curves.
#include "views/pages/summary/summary_page.h"

#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/labels.h"
#include "views/widgets/memory/curve_overview.h"
#include "views/widgets/memory/curve_scale.h"

#include <QLabel>
#include <QVBoxLayout>

namespace strata::views {

namespace {

/// What is left of every card, as rows of a table.
QString roomLeft(const model::Needs& needs)
{
    QString rows;
    for (const model::CardFit& one : needs.cards) {
        const bool fits = one.fit != model::Fit::No;
        const QString left = !fits ? SummaryPage::tr("%1 too little").arg(text::bytes(-one.marginBytes))
            : one.fit == model::Fit::Unknown ? SummaryPage::tr("not known")
            : one.fit == model::Fit::Tight
            ? SummaryPage::tr("%1 left, which CUDA itself may need").arg(text::bytes(one.marginBytes))
            : SummaryPage::tr("%1 left").arg(text::bytes(one.marginBytes));
        rows += QStringLiteral("<tr><td style='padding-right: 12px'>%1</td><td>%2</td></tr>")
                    .arg(text::utf8(one.card->name).toHtmlEscaped(), left.toHtmlEscaped());
    }
    return QStringLiteral("<table>%1</table>").arg(rows);
}

/// What the lines of the picture mean.
QString legend(const model::DeviceSummary& summary, const Palette& palette)
{
    const auto entry = [&](Palette::Role role, const char* line, const QString& name) {
        return QStringLiteral("<span style='color: %1'><b>%2</b></span>&nbsp;%3")
            .arg(palette[role].name(), QString::fromUtf8(line),
                name.toHtmlEscaped().replace(QLatin1Char(' '), QLatin1String("&nbsp;")));
    };
    QStringList all{ entry(Palette::Role::Requested, "━━", SummaryPage::tr("requested")) };
    if (summary.totals.reservedKnown)
        all += entry(Palette::Role::Reserved, "━━", SummaryPage::tr("reserved"));
    if (reachesCapacity(summary, highestCurve(summary)))
        all += entry(Palette::Role::Warning, "╍╍",
            (summary.capacity->exact ? SummaryPage::tr("capacity %1") : SummaryPage::tr("capacity ≥ %1"))
                .arg(text::bytes(summary.capacity->bytes)));
    return all.join(QStringLiteral(" &nbsp; "));
}

/// What keeps the picture from being there.
QString waitingFor(const Document& document)
{
    const bool ended
        = document.state() == Document::State::Stopped || document.state() == Document::State::Failed;
    return ended ? text::waiting(document).title : SummaryPage::tr("Reading events…");
}

} // namespace

QWidget* SummaryPage::needsLabel(const model::Needs& needs)
{
    QLabel* label = textLabel(verdictHtml(needs.line, m_palette[Palette::Role::Accent].name()));
    label->setTextFormat(Qt::RichText);
    label->setAccessibleName(verdictPlain(needs.line));
    label->setToolTip(roomLeft(needs));
    return label;
}

void SummaryPage::fillCurves(QVBoxLayout& part, const SummaryData& device)
{
    const model::DeviceSummary& summary = *device.summary;
    if (summary.totals.events == 0 || device.recording->refusal)
        return;
    auto* top = new QHBoxLayout;
    top->setSpacing(kMargin);
    QLabel* heading = headingLabel(tr("Memory over time"));
    heading->setWordWrap(false);
    top->addWidget(heading);
    QLabel* lines = captionLabel(legend(summary, m_palette));
    lines->setTextFormat(Qt::RichText);
    lines->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    top->addWidget(lines, 1);
    part.addLayout(top);
    auto* picture = new CurveOverview;
    picture->setColours(m_palette);
    picture->setAxis(m_document.viewState().axis());
    picture->setWaitingFor(waitingFor(m_document));
    if (const auto events = m_document.device(); events && events->trace->device() == summary.device)
        picture->setDevice(events);
    connect(picture, &CurveOverview::hoverText, this, &SummaryPage::hoverText);
    connect(picture, &CurveOverview::eventChosen, this, &SummaryPage::showInstant);
    part.addWidget(picture);
}

CurveOverview* SummaryPage::curves(const QWidget* content) const
{
    return content ? content->findChild<CurveOverview*>() : nullptr;
}

/// As the document has them now. The figures beside them are the same, or follow within the second where the
/// trace grows.
void SummaryPage::showCurves()
{
    for (const Content* content : { &m_shown, &m_next })
        if (CurveOverview* picture = curves(content->widget)) {
            picture->setWaitingFor(waitingFor(m_document));
            picture->setAxis(m_document.viewState().axis());
            const auto events = m_document.device();
            if (content == &m_shown && events && events->trace->device() == content->data->summary->device
                && (picture->waits() || m_shown.data == m_data || m_data->follows(*m_shown.data)))
                picture->setDevice(events);
        }
}

} // namespace strata::views
