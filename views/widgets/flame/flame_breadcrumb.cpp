// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_breadcrumb.h"

#include "views/style/texts.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace strata::views {

namespace {
constexpr std::size_t kLastSteps = 3;
constexpr int kStepWidth = 180;
constexpr int kMenuRows = 60;
} // namespace

FlameBreadcrumb::FlameBreadcrumb(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(2);
    m_layout->setSizeConstraint(QLayout::SetNoConstraint);
    setMinimumHeight(28);
    setAccessibleName(tr("Frames that the graph is zoomed into"));
}

void FlameBreadcrumb::setPath(std::shared_ptr<const FlameTree> tree, FlameTree::Node zoomed)
{
    m_tree = std::move(tree);
    m_zoomed = zoomed;
    fit();
}

QSize FlameBreadcrumb::minimumSizeHint() const
{
    return { 0, m_layout->minimumSize().height() };
}

void FlameBreadcrumb::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (width() != m_builtFor)
        fit();
}

void FlameBreadcrumb::fit()
{
    std::size_t lastSteps = kLastSteps;
    for (build(lastSteps); isVisible() && lastSteps > 0 && m_layout->minimumSize().width() > width();)
        build(--lastSteps);
    m_builtFor = width();
}

void FlameBreadcrumb::build(std::size_t lastSteps)
{
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    if (!m_tree)
        return;
    std::vector<FlameTree::Node> path;
    for (FlameTree::Node node = m_zoomed; node != 0; node = m_tree->parent(node))
        path.push_back(node);
    std::reverse(path.begin(), path.end());

    if (path.empty()) {
        if (lastSteps == 0)
            return;
        auto* hint = new QLabel(tr("Click a frame to zoom in"));
        hint->setProperty("muted", true);
        m_layout->addWidget(hint);
        m_layout->addStretch();
        return;
    }
    addStep(0, false);
    std::size_t first = 0;
    if (path.size() > lastSteps + (lastSteps == kLastSteps ? 1 : 0)) {
        first = path.size() - lastSteps;
        addArrow();
        addRest({ path.begin(), path.begin() + static_cast<std::ptrdiff_t>(first) });
    }
    for (std::size_t i = first; i < path.size(); ++i) {
        addArrow();
        addStep(path[i], i + 1 == path.size());
    }
    m_layout->addStretch();
}

void FlameBreadcrumb::addStep(FlameTree::Node node, bool last)
{
    auto* button = new QToolButton;
    const QString name = m_tree->function(node);
    button->setText(button->fontMetrics().elidedText(name, Qt::ElideMiddle, kStepWidth));
    button->setToolTip(node == 0 ? tr("Show all") : name + QLatin1Char('\n') + m_tree->fullPlace(node));
    button->setAccessibleName(name);
    button->setEnabled(!last);
    connect(button, &QToolButton::clicked, this, [this, node] { Q_EMIT chosen(node); });
    m_layout->addWidget(button);
}

void FlameBreadcrumb::addRest(const std::vector<FlameTree::Node>& nodes)
{
    auto* button = new QToolButton;
    button->setText(QStringLiteral("…"));
    button->setAccessibleName(
        text::counted(static_cast<std::int64_t>(nodes.size()), tr("1 more frame"), tr("%1 more frames")));
    button->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(button);
    const std::size_t shown = std::min(nodes.size(), static_cast<std::size_t>(kMenuRows));
    for (std::size_t i = nodes.size() - shown; i < nodes.size(); ++i) {
        const FlameTree::Node node = nodes[i];
        menu->addAction(m_tree->function(node), this, [this, node] { Q_EMIT chosen(node); });
    }
    button->setMenu(menu);
    m_layout->addWidget(button);
}

void FlameBreadcrumb::addArrow()
{
    auto* arrow = new QLabel(QStringLiteral("›"));
    arrow->setProperty("muted", true);
    m_layout->addWidget(arrow);
}

QStringList FlameBreadcrumb::steps() const
{
    QStringList texts;
    for (int i = 0; i < m_layout->count(); ++i) {
        if (const auto* button = qobject_cast<QToolButton*>(m_layout->itemAt(i)->widget()))
            texts += button->accessibleName();
    }
    return texts;
}

} // namespace strata::views
