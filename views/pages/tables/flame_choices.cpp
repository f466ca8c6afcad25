// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_choices.h"

#include "views/widgets/segmented.h"

#include <utility>

namespace strata::views {

FlameChoices::FlameChoices(std::function<void()> changed)
    : m_changed(std::move(changed))
{
    m_query.userFramesOnly = true;
    m_cost = new Segmented(tr("Measured"),
        { { tr("Bytes"), tr("Requested bytes that are live at the instant, or at the peak of the range") },
            { tr("Count"), tr("Allocations in the range, or blocks live at the instant") },
            { tr("Alive at end"),
                tr("Bytes allocated in the range and alive at the end of the trace, what is meant to stay "
                   "included") },
            { tr("Temporary"), tr("Bytes allocated and freed within the range") } });
    m_frames = new Segmented(tr("Frames"),
        { { tr("Your code"), tr("Frames of torch, the standard library and C++ fold into their callers") },
            { tr("All frames"), tr("Everything that the stacks hold") } });
    m_grouping = new Segmented(tr("Grouped"),
        { { tr("Stacks"), tr("Whole stacks") },
            { tr("Lines"), tr("The innermost line of your own code alone") },
            { tr("Categories"), tr("Stacks below what their blocks are for") },
            { tr("Modules"), tr("Stacks below the modules that their blocks belong to") } });
    m_order = new Segmented(tr("Direction"),
        { { tr("Top down"), tr("From the outermost frame to the line that allocates") },
            { tr("Bottom up"), tr("From the line that allocates to its callers") } });
    m_frames->choose(m_query.userFramesOnly ? 0 : 1);
    connect(m_cost, &Segmented::changed, this,
        [this](int index) { setCost(static_cast<model::TreeCost>(index)); });
    connect(m_frames, &Segmented::changed, this, [this](int index) { setUserFramesOnly(index == 0); });
    connect(m_grouping, &Segmented::changed, this, [this](int index) {
        choose(index == 1,
            index == 2       ? std::optional(model::Grouping::Category)
                : index == 3 ? std::optional(model::Grouping::Module)
                             : std::nullopt);
    });
    connect(m_order, &Segmented::changed, this,
        [this](int index) { setOrder(static_cast<model::TreeOrder>(index)); });
}

QList<QWidget*> FlameChoices::what() const
{
    return { m_cost, m_grouping, m_frames };
}

QWidget& FlameChoices::direction() const
{
    return *m_order;
}

void FlameChoices::setCost(model::TreeCost cost)
{
    m_query.cost = cost;
    m_cost->choose(static_cast<int>(cost));
    m_changed();
}

void FlameChoices::setOrder(model::TreeOrder order)
{
    m_query.order = order;
    m_order->choose(static_cast<int>(order));
    m_changed();
}

void FlameChoices::setByLine(bool byLine)
{
    choose(byLine, std::nullopt);
}

void FlameChoices::setRoots(std::optional<model::Grouping> roots)
{
    choose(false, roots);
}

void FlameChoices::choose(bool byLine, std::optional<model::Grouping> roots)
{
    m_query.byLine = byLine;
    m_roots = roots;
    m_grouping->choose(byLine ? 1 : !roots ? 0 : *roots == model::Grouping::Category ? 2 : 3);
    m_frames->setEnabled(!byLine);
    m_order->setEnabled(!byLine);
    m_changed();
}

void FlameChoices::setUserFramesOnly(bool userFramesOnly)
{
    m_query.userFramesOnly = userFramesOnly;
    m_frames->choose(userFramesOnly ? 0 : 1);
    m_changed();
}

void FlameChoices::offerRoots(model::Grouping roots, bool known, const QString& why)
{
    m_grouping->setChoiceEnabled(roots == model::Grouping::Category ? 2 : 3, known, why);
}

} // namespace strata::views
