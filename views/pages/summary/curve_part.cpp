// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/curve_part.h"

#include "views/pages/parts/document_texts.h"
#include "views/style/labels.h"
#include "views/widgets/memory/curve_overview.h"
#include "views/widgets/memory/curve_scale.h"

#include <QCoreApplication>
#include <QLabel>
#include <QVBoxLayout>

namespace strata::views {

namespace {

class CurvePart {
    Q_DECLARE_TR_FUNCTIONS(strata::views::SummaryPage)
};

/// What the lines of the picture mean.
QString legend(const model::DeviceSummary& summary, const Palette& palette)
{
    const auto entry = [&](Palette::Role role, const char* line, const QString& name) {
        return QStringLiteral("<span style='color: %1'><b>%2</b></span>&nbsp;%3")
            .arg(palette[role].name(), QString::fromUtf8(line),
                name.toHtmlEscaped().replace(QLatin1Char(' '), QLatin1String("&nbsp;")));
    };
    QStringList all{ entry(Palette::Role::Requested, "━━", CurvePart::tr("requested")) };
    if (summary.totals.reservedKnown)
        all += entry(Palette::Role::Reserved, "━━", CurvePart::tr("reserved"));
    if (reachesCapacity(summary, highestCurve(summary)))
        all += entry(Palette::Role::Warning, "╍╍",
            (summary.capacity->exact ? CurvePart::tr("capacity %1") : CurvePart::tr("capacity ≥ %1"))
                .arg(text::bytes(summary.capacity->bytes)));
    return all.join(QStringLiteral(" &nbsp; "));
}

} // namespace

QString waitingFor(const Document& document)
{
    const bool ended
        = document.state() == Document::State::Stopped || document.state() == Document::State::Failed;
    return ended ? text::waiting(document).title : CurvePart::tr("Reading events…");
}

CurveOverview* addCurves(
    QVBoxLayout& part, Document& document, const SummaryData& device, const Palette& palette)
{
    const model::DeviceSummary& summary = *device.summary;
    if (summary.totals.events == 0 || device.recording->refusal)
        return nullptr;
    auto* top = new QHBoxLayout;
    top->setSpacing(kMargin);
    QLabel* heading = headingLabel(CurvePart::tr("Memory over time"));
    heading->setWordWrap(false);
    top->addWidget(heading);
    QLabel* lines = captionLabel(legend(summary, palette));
    lines->setTextFormat(Qt::RichText);
    lines->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    top->addWidget(lines, 1);
    part.addLayout(top);
    auto* picture = new CurveOverview;
    picture->setColours(palette);
    picture->setAxis(document.viewState().axis());
    picture->setWaitingFor(waitingFor(document));
    if (const auto events = document.device(); events && events->trace->device() == summary.device)
        picture->setDevice(events);
    part.addWidget(picture);
    return picture;
}

} // namespace strata::views
