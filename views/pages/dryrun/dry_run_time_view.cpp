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

QString flops(double count)
{
    return text::utf8(model::formatFlops(count));
}

double fractionOf(qint64 part, qint64 whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace

DryRunTimeView::DryRunTimeView(const DryRunStepTime& time, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(kGrid);
    column->addWidget(headingLabel(time.step ? tr("Least time of a step") : tr("Least time of the program")));
    if (!time.problem.isEmpty()) {
        column->addWidget(textLabel(tr("Not known: %1.").arg(time.problem)));
        return;
    }
    const QString what
        = time.step ? tr("Step %1").arg(*time.step) : tr("The program, which made no whole step,");
    column->addWidget(textLabel(
        tr("%1 takes at least %2 on %3: %4, operands and results of %5, in %n launch(es).", nullptr,
            static_cast<int>(time.launches))
            .arg(what, text::duration(time.leastNs), time.card, flops(time.flops), text::bytes(time.bytes))));
    addKinds(time, palette);
    addCards(time, palette);
    addRest(time);
}

void DryRunTimeView::addKinds(const DryRunStepTime& time, const Palette& palette)
{
    if (time.kinds.empty())
        return;
    const qint64 longest = std::max(time.kinds.front().leastNs, qint64{ 1 });
    std::vector<BarList::Row> rows;
    for (std::size_t i = 0; i < time.kinds.size(); ++i) {
        const DryRunStepTime::Kind& kind = time.kinds[i];
        rows.push_back({ kind.name,
            tr("%1, operands and results of %2, %n launch(es)", nullptr, static_cast<int>(kind.launches))
                .arg(flops(kind.flops), text::exactBytes(kind.bytes)),
            fractionOf(kind.leastNs, longest), palette.groupFill(static_cast<int>(i)),
            { text::share(kind.leastNs, time.leastNs), text::duration(kind.leastNs) }, {} });
    }
    auto* list = new BarList;
    list->setAccessibleName(tr("Kinds of operators by the least time that they take"));
    list->setRows(rows);
    layout()->addWidget(list);
}

void DryRunTimeView::addCards(const DryRunStepTime& time, const Palette& palette)
{
    std::vector<DryRunStepTime::Card> cards;
    qint64 longest = 1;
    for (const DryRunStepTime::Card& card : time.cards) {
        if (!card.fits)
            continue;
        cards.push_back(card);
        longest = std::max(longest, card.leastNs);
    }
    if (cards.empty())
        return;
    std::ranges::stable_sort(cards, {}, &DryRunStepTime::Card::leastNs);
    layout()->addWidget(headingLabel(tr("At least, on the cards that it fits on")));
    std::vector<BarList::Row> rows;
    for (const DryRunStepTime::Card& card : cards)
        rows.push_back({ card.name, {}, fractionOf(card.leastNs, longest), palette[Role::Requested],
            { text::duration(card.leastNs) }, {}, card.name == time.card });
    auto* list = new BarList;
    list->setAccessibleName(tr("Cards that it fits on, by the least time of a step"));
    list->setRows(rows);
    layout()->addWidget(list);
}

void DryRunTimeView::addRest(const DryRunStepTime& time)
{
    const auto add = [&](const QString& words) { layout()->addWidget(textLabel(words, true)); };
    if (time.cpuStepNs)
        add(tr("Launching it took %1 on this machine's CPU (%n step(s) timed).", nullptr,
            static_cast<int>(time.stepsTimed))
                .arg(text::duration(*time.cpuStepNs)));
    if (time.unknownLaunches > 0) {
        QStringList names;
        for (const auto& [name, launches] : time.unknown)
            names << tr("%1 (%2)").arg(name, text::count(launches));
        if (time.outsideLaunches > 0)
            names << tr("outside of operators (%1)").arg(text::count(time.outsideLaunches));
        if (names.size() > static_cast<qsizetype>(kMostNames)) {
            const int more = static_cast<int>(names.size() - static_cast<qsizetype>(kMostNames));
            names.resize(static_cast<qsizetype>(kMostNames));
            names << tr("%n more", nullptr, more);
        }
        add(tr("Of unknown cost, and in no figure: %1 of %2 launches: %3.")
                .arg(text::count(time.unknownLaunches), text::count(time.launches),
                    names.join(QStringLiteral(", "))));
    }
    for (const DryRunStepTime::Collective& each : time.collectives)
        add(tr("Over the wire, and in no figure: %1 by %2.").arg(text::bytes(each.bytes), each.name));
    add(tr("Simulated: order, names, counts, streams and launches are real; the duration is at least that, "
           "by FLOPs or bytes on the card's peaks; real kernels took 1.4 to 10 times that, tiny ones more, "
           "in two H100 traces. Causal attention is counted as it is done: half. Operands that the card's L2 "
           "cache can hold cost no time."));
}

QStringList DryRunTimeView::asLines(const DryRunStepTime& time)
{
    QStringList lines;
    if (!time.problem.isEmpty())
        return lines;
    lines << QStringLiteral("%1\tat least ns %2\tFLOP %3\tbytes %4")
                 .arg(time.card)
                 .arg(time.leastNs)
                 .arg(time.flops, 0, 'f', 0)
                 .arg(time.bytes);
    for (const DryRunStepTime::Kind& kind : time.kinds)
        lines << QStringLiteral("%1\t%2").arg(kind.name).arg(kind.leastNs);
    for (const DryRunStepTime::Card& card : time.cards)
        lines << QStringLiteral("%1\t%2").arg(card.name).arg(card.leastNs);
    return lines;
}

} // namespace strata::views
