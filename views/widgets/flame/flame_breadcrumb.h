// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/tables/flame_tree.h"
#include "views/style/palette.h"

#include <memory>

class QHBoxLayout;

namespace strata::views {

/// The way from all to the frame that a flame graph is zoomed into; a click goes back to any step. Long ways
/// keep their first and last steps, the rest is in a menu; where there is little room, fewer last ones.
class FlameBreadcrumb : public QWidget {
    Q_OBJECT
public:
    explicit FlameBreadcrumb(QWidget* parent = nullptr);

    void setPath(std::shared_ptr<const FlameTree> tree, FlameTree::Node zoomed);
    [[nodiscard]] QStringList steps() const; ///< what stands there
    [[nodiscard]] QSize minimumSizeHint() const override; ///< a way never makes a window wider

Q_SIGNALS:
    void chosen(quint32 node);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build(std::size_t lastSteps);
    void fit();
    void addStep(FlameTree::Node node, bool last);
    void addRest(const std::vector<FlameTree::Node>& nodes);
    void addArrow();

    std::shared_ptr<const FlameTree> m_tree;
    FlameTree::Node m_zoomed = 0;
    int m_builtFor = -1; ///< that width
    QHBoxLayout* m_layout;
};

} // namespace strata::views
