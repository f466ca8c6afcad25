// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/summary_content.h"

#include "views/pages/leaks/leak_texts.h"
#include "views/pages/parts/code_row.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/summary_jumps.h"
#include "views/pages/summary/work_verdict.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kTwoColumns = 760; // from this width on, before scaling
constexpr int kFactsWidth = 352; // of the second one
constexpr int kWidest = 1280;

/// What is left of every card, as rows of a table.
QString roomLeft(const model::Needs& needs)
{
    QString rows;
    for (const model::CardFit& one : needs.cards) {
        const bool fits = one.fit != model::Fit::No;
        const QString left = !fits
            ? SummaryContent::tr("%1 too little")
                  .arg(text::bytes(model::leastOutsideBytesOfProcess() - one.marginBytes))
            : one.fit == model::Fit::Unknown       ? SummaryContent::tr("not known")
            : one.fit == model::Fit::NotComparable ? SummaryContent::tr("other kernels: dry-run on it")
            : one.fit == model::Fit::Tight
            ? SummaryContent::tr("%1 left, which the CUDA context may need").arg(text::bytes(one.marginBytes))
            : SummaryContent::tr("%1 left").arg(text::bytes(one.marginBytes));
        rows += QStringLiteral("<tr><td style='padding-right: 12px'>%1</td><td>%2</td></tr>")
                    .arg(text::utf8(one.card->name).toHtmlEscaped(), left.toHtmlEscaped());
    }
    return QStringLiteral("<table>%1</table>").arg(rows);
}

/// Where a run fits; its tip says what is left of every card. What a dry run would say stands below.
void addNeeds(QVBoxLayout& layout, const model::Needs& needs, const Palette& palette)
{
    QString said = verdictHtml(needs.line, palette[Palette::Role::Accent].name());
    if (!needs.dryRun.empty())
        said += QLatin1Char(' ') + SummaryContent::tr("Dry-run on each:");
    QLabel* label = textLabel(said);
    label->setTextFormat(Qt::RichText);
    label->setAccessibleName(verdictPlain(needs.text()));
    label->setToolTip(roomLeft(needs));
    layout.addWidget(label);
    if (!needs.dryRun.empty())
        layout.addWidget(new CodeRow(text::utf8(needs.dryRun), {}, palette));
}

/// Of what ran when.
QWidget* workVerdict(const Document& document, const Palette& palette, SummaryJumps& jumps)
{
    auto* verdict = new WorkVerdict(document.session(), palette[Palette::Role::Accent].name());
    QObject::connect(verdict, &QLabel::linkActivated, &jumps, &SummaryJumps::follow);
    return verdict;
}

} // namespace

SummaryContent SummaryContent::begin(std::shared_ptr<const SummaryData> data, Document& document,
    const QFont& font, const Palette& palette, SummaryJumps& jumps)
{
    SummaryContent made{ std::move(data), new QWidget };
    auto* outer = new QHBoxLayout(made.widget);
    outer->setContentsMargins(2 * kMargin, 2 * kGrid, 2 * kMargin, 2 * kMargin);
    auto* body = new QWidget;
    body->setMaximumWidth(scaled(kWidest, font));
    outer->addWidget(body, 100);
    outer->addStretch(1);
    auto* page = new QVBoxLayout(body);
    page->setContentsMargins(0, 0, 0, 0);
    page->setSpacing(3 * kGrid);
    if (!made.data) {
        const auto session = document.session();
        const bool empty = session && session->devices().empty();
        if (empty && text::holdsWork(document)) {
            QLabel* told = textLabel(tr("%1: it is on the page %2.")
                                         .arg(text::withoutDevices(document),
                                             text::pageLinked(tr("Timeline"), QStringLiteral("timeline"))));
            told->setTextFormat(Qt::RichText);
            told->setTextInteractionFlags(Qt::TextBrowserInteraction);
            QObject::connect(told, &QLabel::linkActivated, &jumps, &SummaryJumps::follow);
            page->addWidget(told);
            page->addWidget(workVerdict(document, palette, jumps));
            page->addStretch();
            return made;
        }
        page->addWidget(textLabel(!empty ? tr("Working out the totals…")
                : document.isFollowing()
                ? tr("Nothing has been recorded yet.")
                : tr("%1: neither segments nor events. Call %2 before the program allocates.")
                      .arg(text::withoutDevices(document), text::recordLine()),
            true));
        page->addStretch();
        return made;
    }

    QLabel* verdict = made.verdict = textLabel(QString());
    verdict->setTextFormat(Qt::RichText);
    verdict->setTextInteractionFlags(Qt::TextBrowserInteraction);
    verdict->setFont(sized(font, kVerdictPx));
    made.showVerdict(made.data->summary->verdict, palette);
    QObject::connect(verdict, &QLabel::linkActivated, &jumps, &SummaryJumps::follow);
    auto* top = new QVBoxLayout;
    top->setSpacing(kGrid / 2);
    top->addWidget(verdict);
    if (made.data->summary->needs)
        addNeeds(*top, *made.data->summary->needs, palette);
    made.leaks = textLabel(QString());
    made.leaks->setTextFormat(Qt::RichText);
    made.leaks->setTextInteractionFlags(Qt::TextBrowserInteraction);
    QObject::connect(made.leaks, &QLabel::linkActivated, &jumps, &SummaryJumps::follow);
    top->addWidget(made.leaks);
    if (text::holdsWork(document) && !document.isFollowing())
        top->addWidget(workVerdict(document, palette, jumps));
    page->addLayout(top);

    made.columns = new QBoxLayout(QBoxLayout::LeftToRight);
    made.columns->setSpacing(4 * kGrid);
    auto* story = new QVBoxLayout;
    made.facts = new QWidget;
    auto* facts = new QVBoxLayout(made.facts);
    facts->setContentsMargins(0, 0, 0, 0);
    for (QVBoxLayout* column : { story, facts })
        column->setSpacing(3 * kGrid);
    made.columns->addLayout(story, 1);
    made.columns->addWidget(made.facts);
    page->addLayout(made.columns);
    page->addStretch();
    made.showLeaks(document);
    return made;
}

void SummaryContent::showVerdict(const std::vector<model::Sentence>& sentences, const Palette& palette) const
{
    verdict->setText(verdictHtml(sentences, palette[Palette::Role::Accent].name()));
    verdict->setAccessibleName(verdictPlain(sentences));
}

void SummaryContent::showLeaks(const Document& document) const
{
    const auto device = document.device();
    const bool known = leaks && data && device && device->training && device->training->leaks
        && device->trace->device() == data->summary->device;
    if (!leaks)
        return;
    const QString line = known ? leaksLine(*device->training) : QString();
    leaks->setText(line);
    leaks->setVisible(!line.isEmpty());
}

void SummaryContent::arrange(int width, int scrollBar, const QFont& font) const
{
    if (!columns)
        return;
    const double scale = scaleOf(font);
    // Figures do not shrink: what has no room beside them stands below.
    const int around = 4 * kMargin + scrollBar;
    const int least
        = columns->itemAt(0)->minimumSize().width() + columns->spacing() + qRound(kFactsWidth * scale);
    const bool two = width >= std::max(qRound(kTwoColumns * scale), least + around);
    columns->setDirection(two ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    facts->setMinimumWidth(two ? qRound(kFactsWidth * scale) : 0);
    facts->setMaximumWidth(two ? qRound(kFactsWidth * scale) : QWIDGETSIZE_MAX);
}

} // namespace strata::views
