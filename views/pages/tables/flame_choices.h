// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QList>
#include <QObject>

#include "model/tables/call_tree.h"
#include "model/trace/filter/grouping.h"

#include <functional>
#include <optional>

class QWidget;

namespace strata::views {

class Segmented;

/// What a flame graph measures and how it groups stacks, as the user chooses it. Whoever lays out its widgets
/// owns them. They must outlive it, and call it no more then. GUI thread only.
class FlameChoices : public QObject {
    Q_DECLARE_TR_FUNCTIONS(strata::views::FlamePage)
public:
    explicit FlameChoices(std::function<void()> changed); ///< called after each choice

    [[nodiscard]] QList<QWidget*> what() const; ///< of what, grouped how, which frames
    [[nodiscard]] QWidget& direction() const;
    [[nodiscard]] const model::TreeQuery& query() const { return m_query; } ///< without a range
    /// Category or Module: its groups lie between root and stacks; none: they do not.
    [[nodiscard]] const std::optional<model::Grouping>& roots() const { return m_roots; }

    void setCost(model::TreeCost cost);
    void setOrder(model::TreeOrder order);
    void setByLine(bool byLine);
    void setRoots(std::optional<model::Grouping> roots);
    void setUserFramesOnly(bool userFramesOnly);
    void offerRoots(model::Grouping roots, bool known, const QString& why); ///< grey where not known

private:
    void choose(bool byLine, std::optional<model::Grouping> roots);

    std::function<void()> m_changed;
    model::TreeQuery m_query;
    std::optional<model::Grouping> m_roots;
    Segmented* m_cost;
    Segmented* m_frames;
    Segmented* m_grouping;
    Segmented* m_order;
};

} // namespace strata::views
