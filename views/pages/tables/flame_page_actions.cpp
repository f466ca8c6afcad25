// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_conditions.h"
#include "model/trace/filter/grouping.h"
#include "views/models/document/group_colours.h"
#include "views/models/tables/csv.h"
#include "views/models/tables/table_cells.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/filter_text.h"
#include "views/pages/tables/flame_page.h"
#include "views/pages/tables/table_page.h"
#include "views/style/texts.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame_graph.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_footer.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <fmt/format.h>

#include <iterator>

namespace strata::views {

namespace {
constexpr std::size_t kFoldedLimit = 64u << 20; // bytes on the clipboard
}

void FlamePage::makeActions()
{
    addPageAction(tr("Top Down or Bottom Up"), { Qt::Key_B }, [this] {
        setOrder(m_options.order == model::TreeOrder::TopDown ? model::TreeOrder::BottomUp
                                                              : model::TreeOrder::TopDown);
    });
    addPageAction(tr("Stacks or Lines"), { Qt::Key_L }, [this] { setByLine(!m_options.byLine); });
    const auto addRoots = [this](const QString& text, Qt::Key key, model::Grouping grouping) {
        addPageAction(text, { key }, [this, grouping] {
            if (m_roots == grouping)
                setRoots(std::nullopt);
            else if (m_device && text::groupsAbsence(m_document, *m_device, grouping).isEmpty())
                setRoots(grouping);
        });
    };
    addRoots(tr("Stacks Below Categories"), Qt::Key_C, model::Grouping::Category);
    addRoots(tr("Stacks Below Modules"), Qt::Key_D, model::Grouping::Module);
    addPageAction(tr("Your Code or All Frames"), { Qt::Key_U },
        [this] { setUserFramesOnly(!m_options.userFramesOnly); });
    addPageAction(tr("Next Measure"), { Qt::Key_M },
        [this] { setCost(static_cast<model::TreeCost>((static_cast<int>(m_options.cost) + 1) % 4)); });
    addPageAction(tr("Find in the Flame Graph"), { Qt::CTRL | Qt::SHIFT | Qt::Key_F }, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
    addPageAction(tr("Copy Collapsed Stacks"), { Qt::CTRL | Qt::ALT | Qt::Key_S }, [this] { copyFolded(); });
}

void FlamePage::setCost(model::TreeCost cost)
{
    m_options.cost = cost;
    m_cost->choose(static_cast<int>(cost));
    compute();
}

void FlamePage::setOrder(model::TreeOrder order)
{
    m_options.order = order;
    m_order->choose(static_cast<int>(order));
    compute();
}

void FlamePage::setByLine(bool byLine)
{
    choose(byLine, std::nullopt);
}

void FlamePage::setRoots(std::optional<model::Grouping> roots)
{
    choose(false, roots);
}

void FlamePage::offerRoots()
{
    const std::pair<int, model::Grouping> choices[]
        = { { 2, model::Grouping::Category }, { 3, model::Grouping::Module } };
    for (const auto& [index, grouping] : choices) {
        const QString absence = m_device ? text::groupsAbsence(m_document, *m_device, grouping) : QString();
        m_grouping->setChoiceEnabled(index, m_device && absence.isEmpty(), absence);
    }
}

void FlamePage::choose(bool byLine, std::optional<model::Grouping> roots)
{
    m_options.byLine = byLine;
    m_roots = roots;
    m_grouping->choose(byLine ? 1 : !roots ? 0 : *roots == model::Grouping::Category ? 2 : 3);
    m_frames->setEnabled(!byLine);
    m_order->setEnabled(!byLine);
    compute();
}

void FlamePage::setUserFramesOnly(bool userFramesOnly)
{
    m_options.userFramesOnly = userFramesOnly;
    m_frames->choose(userFramesOnly ? 0 : 1);
    compute();
}

void FlamePage::resetView()
{
    m_search->clear();
    m_graph->zoomOut();
}

bool FlamePage::canGoBack() const
{
    return m_graph->canGoBack();
}
bool FlamePage::canGoForward() const
{
    return m_graph->canGoForward();
}
void FlamePage::goBack()
{
    m_graph->goBack();
}
void FlamePage::goForward()
{
    m_graph->goForward();
}
QWidget* FlamePage::pictureWidget()
{
    return m_graph;
}

void FlamePage::search(const QString& text)
{
    m_search->setText(text);
}

QString FlamePage::searchResult() const
{
    return m_found->text();
}

void FlamePage::startSearch()
{
    const QString text = m_search->text().trimmed();
    if (text.isEmpty() || !m_shownTree) {
        m_searching.cancel();
        m_graph->setMatches({});
        m_found->clear();
        return;
    }
    m_searching.start(
        [tree = m_shownTree, text](const JobContext& context) { return tree->find(text, context); },
        [this](FlameTree::Matches found) {
            m_found->setText(found.nodes == 0
                    ? tr("not found")
                    : tr("%1 of the total, %2")
                          .arg(text::share(found.cost, m_shownTree->total(0)),
                              text::counted(found.nodes, tr("1 frame"), tr("%1 frames"))));
            m_graph->setMatches(std::move(found.hits));
        });
}

std::optional<model::GroupKey> FlamePage::lineGroupOf(FlameTree::Node node) const
{
    const model::FrameId frame = m_shownTree->frame(node);
    if (node == 0)
        return std::nullopt;
    const model::GroupKey key{ frame.valid() ? model::frameLabel(m_shownDevice->trace->recording(), frame)
                                             : m_shownTree->function(node).toStdString() }; // without a stack
    return m_shownDevice->byLine->find(key) ? std::optional(key) : std::nullopt;
}

/// A module that only others are within is no group.
std::optional<Focus> FlamePage::groupFocusOf(FlameTree::Node node) const
{
    const auto name = m_shownTree->group(node);
    const auto groups = name ? m_shownDevice->groups(*m_shownTree->tree().roots)
                             : std::shared_ptr<const model::GroupTable>();
    const model::GroupKey key{ name.value_or(std::string()) };
    return groups && groups->find(key)
        ? std::optional(Focus::onGroup(*m_shownTree->tree().roots, key, m_shownTree->tree().at))
        : std::nullopt;
}

void FlamePage::frameChosen(FlameTree::Node node)
{
    if (!m_shownTree)
        return;
    if (const auto group = groupFocusOf(node);
        group && m_shownTree->tree().roots == model::Grouping::Category)
        return Q_EMIT focusChanged(*group);
    if (std::optional<model::GroupKey> group = lineGroupOf(node))
        return Q_EMIT focusChanged(Focus::onGroup(model::Grouping::Line, std::move(*group)));
    FrameFocus frame;
    frame.total = m_shownTree->total(node);
    frame.self = m_shownTree->self(node);
    frame.whole = m_shownTree->total(0);
    frame.blocks = m_shownTree->blocks(node);
    frame.countsBlocks = m_shownTree->countsBlocks();
    const QString place = m_shownTree->place(node);
    const auto group = m_shownTree->group(node);
    frame.title = group   ? groupName(*m_shownTree->tree().roots, *group)
        : place.isEmpty() ? m_shownTree->function(node)
                          : tr("%1 (%2)").arg(m_shownTree->function(node), place);
    for (FlameTree::Node at = node; at != 0; at = m_shownTree->parent(at))
        if (m_shownTree->frame(at).valid())
            frame.frames.push_back(m_shownTree->frame(at));
    if (m_made->query.order == model::TreeOrder::BottomUp)
        std::ranges::reverse(frame.frames);
    const bool ofInstant = m_made->query.cost == model::TreeCost::Bytes;
    Q_EMIT focusChanged(Focus::onFrame(std::move(frame), ofInstant ? m_shownTree->tree().at : -1));
}

void FlamePage::showMenu(FlameTree::Node node, const QPoint& at)
{
    QMenu menu;
    menu.addAction(tr("Zoom In"), this, [this, node] { m_graph->zoomTo(node); });
    menu.addAction(tr("Find This Function"), this, [this, node] { search(m_shownTree->function(node)); });
    if (lineGroupOf(node)) {
        const QString line = m_shownTree->fullPlace(node);
        menu.addAction(tr("Only %1").arg(m_shownTree->place(node)), this, [this, line] {
            model::BlockFilter only;
            only.line = line.toStdString();
            m_document.viewState().setFilter(model::narrowed(m_document.viewState().filter(), only));
        });
    }
    if (const auto group = m_shownTree->group(node)) {
        const model::Grouping grouping = *m_shownTree->tree().roots;
        menu.addAction(tr("Only %1").arg(groupName(grouping, *group)), this, [this, group, grouping] {
            model::BlockFilter only;
            if (grouping == model::Grouping::Category)
                only.category = *group;
            else
                only.module = *group + ".*"; // and what is within it, as the picture has it
            m_document.viewState().setFilter(model::narrowed(m_document.viewState().filter(), only));
        });
    }
    menu.addSeparator();
    menu.addAction(tr("Copy Frame"), this,
        [this, node] { QGuiApplication::clipboard()->setText(m_shownTree->fullPlace(node)); });
    menu.addActions(pageActions());
    menu.exec(at);
}

QString FlamePage::commandLine() const
{
    if (!m_made || !m_shownTree || m_made->query.cost != model::TreeCost::Bytes)
        return {};
    const model::Grouping by
        = m_made->roots.value_or(m_made->query.byLine ? model::Grouping::Line : model::Grouping::Site);
    return QStringLiteral("strata at %1 %2 --device %3 --by %4")
               .arg(text::shellQuoted(m_document.path()))
               .arg(m_shownTree->tree().at)
               .arg(m_shownDevice->trace->device())
               .arg(text::utf8(model::infoOf(by).name))
        + filterOption(m_made->filter, m_shownDevice->trace->recording());
}

QString FlamePage::copyText() const
{
    if (!m_shownTree)
        return {};
    const FlameTree::Node node = m_graph->current();
    return QStringLiteral("%1\t%2\t%3\t%4")
        .arg(m_shownTree->function(node), m_shownTree->fullPlace(node))
        .arg(m_shownTree->total(node))
        .arg(m_shownTree->blocks(node));
}

void FlamePage::copyFolded()
{
    if (!m_shownTree)
        return;
    m_copying.start(
        [tree = m_shownTree](const JobContext& context) {
            return QString::fromStdString(tree->folded(kFoldedLimit, context));
        },
        [this](const QString& text) {
            QGuiApplication::clipboard()->setText(text);
            m_footer->announce(tr("Copied %1 stacks").arg(text::count(text.count(QLatin1Char('\n')))));
        });
}

bool FlamePage::hasCsv() const
{
    return m_shownTree && m_shownTree->total(0) > 0;
}

bool FlamePage::writeCsv(QIODevice& out) const
{
    if (!hasCsv())
        return false;
    constexpr std::size_t kBuffer = 1 << 20;
    std::string text = "node,parent,function,line,total,self,blocks\n";
    for (FlameTree::Node node = 0; node < m_shownTree->size(); ++node) {
        fmt::format_to(std::back_inserter(text), "{},{},", node, m_shownTree->parent(node));
        appendCsvField(text, m_shownTree->group(node).value_or(m_shownTree->function(node).toStdString()));
        text += ',';
        appendCsvField(text, m_shownTree->fullPlace(node).toStdString());
        fmt::format_to(std::back_inserter(text), ",{},{},{}\n", m_shownTree->total(node),
            m_shownTree->self(node), m_shownTree->blocks(node));
        if (text.size() < kBuffer && node + 1 < m_shownTree->size())
            continue;
        if (!writeText(out, text))
            return false;
        text.clear();
    }
    return true;
}

bool FlamePage::saveSvg(const QString& path)
{
    if (!hasCsv())
        return false;
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(m_graph->fullSize());
    svg.setViewBox(QRect(QPoint(0, 0), m_graph->fullSize()));
    svg.setTitle(title());
    svg.setDescription(m_sentence->text());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    m_graph->paintVectors(painter);
    return painter.end() && file.commit();
}

} // namespace strata::views
