// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_time_view.h"

#include "model/base/units.h"
#include "views/pages/parts/bar_list.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr std::size_t kMostNames = 6;

QString flops(std::int64_t count)
{
    return text::utf8(model::formatFlops(static_cast<double>(count)));
}

double fractionOf(qint64 part, qint64 whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace

DryRunTimeView::DryRunTimeView(const model::DryRunTime& time, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(kGrid);
    const model::DryRunTimeFigures step = time.figures.value.value_or(model::DryRunTimeFigures());
    column->addWidget(headingLabel(step.step ? tr("Least time of a step") : tr("Least time of the program")));
    if (time.problem) {
        column->addWidget(textLabel(tr("Not known: %1.").arg(text::utf8(*time.problem))));
        return;
    }
    const QString what
        = step.step ? tr("Step %1").arg(*step.step) : tr("The program, which made no whole step,");
    column->addWidget(
        textLabel(tr("%1 takes at least %2 on %3: %4, operands and results of %5, in %n launch(es).", nullptr,
            static_cast<int>(step.launches))
                      .arg(what, text::duration(step.leastNs), text::utf8(time.card), flops(step.flops),
                          text::bytes(step.bytes))));
    addKinds(step, palette);
    addCards(step, text::utf8(time.card), palette);
    addRest(step);
}

void DryRunTimeView::addKinds(const model::DryRunTimeFigures& step, const Palette& palette)
{
    if (step.kinds.empty())
        return;
    const qint64 longest = std::max<qint64>(step.kinds.front().leastNs, 1);
    std::vector<BarList::Row> rows;
    for (std::size_t i = 0; i < step.kinds.size(); ++i) {
        const model::DryRunKind& kind = step.kinds[i];
        rows.push_back({ text::utf8(kind.kind),
            tr("%1, operands and results of %2, %n launch(es)", nullptr, static_cast<int>(kind.launches))
                .arg(flops(kind.flops), text::exactBytes(kind.bytes)),
            fractionOf(kind.leastNs, longest), palette.groupFill(static_cast<int>(i)),
            { text::share(kind.leastNs, step.leastNs), text::duration(kind.leastNs) }, {} });
    }
    auto* list = new BarList;
    list->setAccessibleName(tr("Kinds of operators by the least time that they take"));
    list->setRows(rows);
    layout()->addWidget(list);
}

void DryRunTimeView::addCards(
    const model::DryRunTimeFigures& step, const QString& simulated, const Palette& palette)
{
    std::vector<model::DryRunCardTime> cards;
    qint64 longest = 1;
    for (const model::DryRunCardTime& card : step.cards) {
        if (!card.fits)
            continue;
        cards.push_back(card);
        longest = std::max<qint64>(longest, card.leastNs);
    }
    if (cards.empty())
        return;
    std::ranges::stable_sort(cards, {}, &model::DryRunCardTime::leastNs);
    layout()->addWidget(headingLabel(tr("At least, on the cards that it fits on")));
    std::vector<BarList::Row> rows;
    for (const model::DryRunCardTime& card : cards) {
        const QString name = text::utf8(card.name);
        rows.push_back({ name, {}, fractionOf(card.leastNs, longest), palette[Role::Requested],
            { text::duration(card.leastNs) }, {}, name == simulated });
    }
    auto* list = new BarList;
    list->setAccessibleName(tr("Cards that it fits on, by the least time of a step"));
    list->setRows(rows);
    layout()->addWidget(list);
}

void DryRunTimeView::addRest(const model::DryRunTimeFigures& step)
{
    const auto add = [&](const QString& words) { layout()->addWidget(textLabel(words, true)); };
    if (step.cpuStepNs)
        add(tr("Launching it took %1 on this machine's CPU (%n step(s) timed).", nullptr,
            static_cast<int>(step.stepsTimed))
                .arg(text::duration(*step.cpuStepNs)));
    if (step.unknown.launches > 0) {
        QStringList names;
        for (const model::DryRunUnknownOperator& each : step.unknown.operators)
            names << tr("%1 (%2)").arg(text::utf8(each.name), text::count(each.launches));
        if (step.unknown.outsideLaunches > 0)
            names << tr("outside of operators (%1)").arg(text::count(step.unknown.outsideLaunches));
        if (names.size() > static_cast<qsizetype>(kMostNames)) {
            const int more = static_cast<int>(names.size() - static_cast<qsizetype>(kMostNames));
            names.resize(static_cast<qsizetype>(kMostNames));
            names << tr("%n more", nullptr, more);
        }
        add(tr("Of unknown cost, and in no figure: %1 of %2 launches: %3.")
                .arg(text::count(step.unknown.launches), text::count(step.launches),
                    names.join(QStringLiteral(", "))));
    }
    for (const model::DryRunCollective& each : step.collectives)
        add(tr("Over the wire, and in no figure: %1 by %2.")
                .arg(text::bytes(each.bytes), text::utf8(each.name)));
    add(tr("Simulated: order, names, counts, streams and launches are real; the duration is at least that, "
           "by FLOPs or bytes on the card's peaks; real kernels took 1.4 to 10 times that, tiny ones more, "
           "in two H100 traces. Causal attention is counted as it is done: half. Operands that the card's L2 "
           "cache can hold cost no time."));
}

QStringList DryRunTimeView::asLines(const model::DryRunTime& time)
{
    QStringList lines;
    if (time.problem || !time.figures.value)
        return lines;
    const model::DryRunTimeFigures& step = *time.figures.value;
    lines << QStringLiteral("%1\tat least ns %2\tFLOP %3\tbytes %4")
                 .arg(text::utf8(time.card))
                 .arg(step.leastNs)
                 .arg(step.flops)
                 .arg(step.bytes);
    for (const model::DryRunKind& kind : step.kinds)
        lines << QStringLiteral("%1\t%2").arg(text::utf8(kind.kind)).arg(kind.leastNs);
    for (const model::DryRunCardTime& card : step.cards)
        lines << QStringLiteral("%1\t%2").arg(text::utf8(card.name)).arg(card.leastNs);
    return lines;
}

} // namespace strata::views
