// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_page.h"

#include "model/trace/filter/filter_conditions.h"
#include "model/trace/filter/grouping.h"
#include "views/models/document/group_colours.h"
#include "views/models/document/shown_instant.h"
#include "views/models/tables/table_cells.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/filter_text.h"
#include "views/pages/tables/flame_export.h"
#include "views/pages/tables/flame_words.h"
#include "views/pages/tables/table_page.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_breadcrumb.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/table_footer.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

using model::TreeCost;

namespace {

constexpr std::size_t kFoldedLimit = 64u << 20; // bytes on the clipboard

} // namespace

FlamePage::FlamePage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_choices([this] { compute(); })
    , m_breadcrumb(new FlameBreadcrumb)
    , m_stack(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Horizontal))
    , m_graph(new FlameGraph)
    , m_search(*m_graph)
    , m_tree(new CallTreeView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_sentence, &QLabel::linkActivated, this, [this](const QString& link) {
        if (const auto page = text::pageOfLink(link))
            Q_EMIT openPage(*page, {});
    });
    m_controls = makeControls();

    m_splitter->addWidget(m_graph);
    m_splitter->addWidget(m_tree);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setSizes({ 600, 400 });
    m_splitter->setHandleWidth(1); // Qt lets the mouse take hold of a few pixels beside it
    m_splitter->setChildrenCollapsible(true);
    m_splitter->setCollapsible(0, false);
    m_stack->addWidget(m_splitter);
    m_stack->addWidget(m_notice);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    layout->addWidget(m_sentence);
    layout->addWidget(m_controls);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_footer);
    setFocusProxy(m_graph);

    m_footer->watch(&m_computing, tr("Adding up stacks"));
    m_footer->watch(&m_copying, tr("Copying stacks"));
    for (const BackgroundJob* job :
        { &std::as_const(m_computing), &m_search.job(), &std::as_const(m_copying) })
        follow(*job);
    connect(m_footer, &TableFooter::gaveUp, this, [this](BackgroundJob* job) {
        if (job == &m_computing)
            m_asked = m_made; // the next change computes again
    });

    connect(m_graph, &FlameGraph::chosen, this, [this](quint32 node) {
        m_tree->setCurrentNode(node);
        frameChosen(node);
    });
    connect(m_graph, &FlameGraph::hovered, this, &Page::hoverText);
    connect(m_graph, &FlameGraph::menuRequested, this, &FlamePage::showMenu);
    connect(m_graph, &FlameGraph::zoomChanged, this, [this] {
        m_breadcrumb->setPath(m_shownTree, m_graph->zoomed());
        Q_EMIT historyChanged();
    });
    connect(m_tree, &CallTreeView::chosen, this, [this](quint32 node) {
        m_graph->setCurrent(node);
        frameChosen(node);
    });
    connect(m_tree, &CallTreeView::opened, m_graph, &FlameGraph::zoomTo);
    connect(m_breadcrumb, &FlameBreadcrumb::chosen, this, [this](quint32 node) {
        m_graph->zoomTo(node);
        m_graph->setCurrent(node);
        m_tree->setCurrentNode(node);
    });
    connect(m_notice, &EmptyNotice::buttonPressed, this, [this] {
        if (!m_document.viewState().filter().empty())
            m_document.viewState().setFilter({});
        else
            m_document.viewState().select(std::nullopt);
    });
    connectDocument();
    makeActions();
    showDevice(document.device());
    showNotice();
}

QWidget* FlamePage::makeControls()
{
    auto* controls = new QWidget;
    auto* rows = new QVBoxLayout(controls);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(kGrid);
    auto* choices = new FlowLayout; // in a narrow window they go on in the next line
    choices->setSpacings(kMargin, kGrid);
    for (QWidget* choice : m_choices.what())
        choices->addWidget(choice);
    auto* ways = new QHBoxLayout;
    ways->setSpacing(kGrid);
    ways->addWidget(&m_choices.direction()); // all four in a row would be wider than many screens
    ways->addWidget(m_breadcrumb, 1);
    ways->addWidget(&m_search.found());
    ways->addWidget(&m_search.field());
    rows->addLayout(choices);
    rows->addLayout(ways);
    return controls;
}

void FlamePage::makeActions()
{
    addPageAction(tr("Top Down or Bottom Up"), { Qt::Key_B }, [this] {
        setOrder(m_choices.query().order == model::TreeOrder::TopDown ? model::TreeOrder::BottomUp
                                                                      : model::TreeOrder::TopDown);
    });
    addPageAction(tr("Stacks or Lines"), { Qt::Key_L }, [this] { setByLine(!m_choices.query().byLine); });
    const auto addRoots = [this](const QString& text, Qt::Key key, model::Grouping grouping) {
        addPageAction(text, { key }, [this, grouping] {
            if (m_choices.roots() == grouping)
                setRoots(std::nullopt);
            else if (m_device && text::groupsAbsence(m_document, *m_device, grouping).isEmpty())
                setRoots(grouping);
        });
    };
    addRoots(tr("Stacks Below Categories"), Qt::Key_C, model::Grouping::Category);
    addRoots(tr("Stacks Below Modules"), Qt::Key_D, model::Grouping::Module);
    addPageAction(tr("Your Code or All Frames"), { Qt::Key_U },
        [this] { setUserFramesOnly(!m_choices.query().userFramesOnly); });
    addPageAction(tr("Next Measure"), { Qt::Key_M }, [this] {
        setCost(static_cast<model::TreeCost>((static_cast<int>(m_choices.query().cost) + 1) % 4));
    });
    addPageAction(tr("Find in the Flame Graph"), { Qt::CTRL | Qt::SHIFT | Qt::Key_F }, [this] {
        m_search.field().setFocus(Qt::ShortcutFocusReason);
        m_search.field().selectAll();
    });
    addPageAction(tr("Copy Collapsed Stacks"), { Qt::CTRL | Qt::ALT | Qt::Key_S }, [this] { copyFolded(); });
}

void FlamePage::offerRoots()
{
    for (const model::Grouping roots : { model::Grouping::Category, model::Grouping::Module }) {
        const QString absence = m_device ? text::groupsAbsence(m_document, *m_device, roots) : QString();
        m_choices.offerRoots(roots, m_device && absence.isEmpty(), absence);
    }
}

void FlamePage::connectDocument()
{
    ViewState& state = m_document.viewState();
    connect(&state, &ViewState::filterChanged, this, &FlamePage::compute);
    connect(&state, &ViewState::selectionChanged, this, &FlamePage::compute);
    connect(&state, &ViewState::deviceChanged, this, [this] { showDevice(m_document.device()); });
    connect(&m_document, &Document::deviceReady, this, [this] { showDevice(m_document.device()); });
    connect(&m_document, &Document::outlineReady, this, &FlamePage::showNotice);
    connect(&m_document, &Document::progressChanged, this, [this] {
        offerRoots();
        if (!m_shownTree)
            showNotice();
    });
    connect(&m_document, &Document::stateChanged, this, [this] {
        showDevice(m_document.device());
        showNotice();
    });
}

void FlamePage::showDevice(std::shared_ptr<const DeviceData> device)
{
    if (device == m_device)
        return;
    const bool sameTrace = device && m_device && device->trace == m_device->trace;
    const bool goesOn = device && m_device && device->follows(*m_device);
    m_device = std::move(device);
    offerRoots();
    if (sameTrace) {
        refreshSentence(); // leaks may have come
        return compute(); // labels as well
    }
    if (goesOn) { // the old picture stays until the new one is there
        if (m_computing.running())
            m_again = true; // else it might never come to an end
        else
            compute();
        return;
    }
    m_computing.cancel();
    m_again = false;
    m_asked.reset();
    m_made.reset();
    m_shownTree.reset();
    m_shownDevice.reset();
    m_graph->setTree(nullptr);
    m_tree->setTree(nullptr);
    compute();
    showNotice();
}

FlameQuestion FlamePage::wanted() const
{
    FlameQuestion asked{ m_choices.query(), m_choices.roots(), m_document.viewState().filter(),
        m_device->trace, {} };
    if (m_choices.roots() || asked.filter.asksForLabels())
        asked.labels = m_device->labels();
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    const bool needsRange
        = m_choices.query().cost == TreeCost::Leaked || m_choices.query().cost == TreeCost::Temporary;
    if (selection && !(needsRange && selection->isInstant())) {
        asked.query.from = selection->first;
        asked.query.to = selection->last;
    } else if (const auto failed = lastOutOfMemory(*m_device);
               failed && !selection && m_choices.query().cost == TreeCost::Bytes) {
        asked.query.from = asked.query.to = *failed; // as Memory does
    } else {
        asked.query.from = -1;
        asked.query.to = m_device->trace->eventCount() - 1;
    }
    return asked;
}

void FlamePage::compute()
{
    if (!m_device)
        return;
    m_late = inBackground();
    if (m_late)
        return;
    const FlameQuestion asked = wanted();
    if (m_asked == asked || (asked.roots && !asked.labels.module))
        return; // in the latter case they come
    m_asked = asked;
    m_computing.start([device = m_device, asked](
                          const JobContext& context) { return makeFlamePicture(device, asked, context); },
        [this, asked](FlamePicture made) {
            show(asked, std::move(made));
            if (std::exchange(m_again, false))
                compute();
        });
    Q_EMIT busyChanged();
}

void FlamePage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_late)
        compute();
}

void FlamePage::show(const FlameQuestion& asked, FlamePicture made)
{
    const bool goesOn
        = m_shownDevice && m_shownDevice->trace != made.device->trace && made.device->follows(*m_shownDevice);
    m_made = asked;
    m_shownDevice = std::move(made.device);
    m_shownTree = std::move(made.tree);
    m_graph->setRanks(std::move(made.ranks));
    if (goesOn) {
        m_graph->goOn(m_shownTree);
        m_tree->goOn(m_shownTree);
    } else {
        m_graph->setTree(m_shownTree);
        m_tree->setTree(m_shownTree);
        if (m_graph->current() != 0)
            m_tree->setCurrentNode(m_graph->current());
    }
    showNotice();
    m_search.start();
    Q_EMIT busyChanged();
}

void FlamePage::refreshSentence()
{
    const bool any = m_shownTree != nullptr;
    m_sentence->setVisible(any);
    m_footer->setVisible(any);
    if (!any)
        return;
    const TrainingData* const training
        = m_device->follows(*m_shownDevice) ? m_device->training.get() : nullptr;
    m_sentence->setText(words().sentence(training ? training->leaks.get() : nullptr));
    m_footer->setText(text::counted(m_shownTree->size() - 1, tr("1 frame"), tr("%1 frames"))
        + (m_shownTree->tree().complete ? QString() : tr("; cut: the stacks hold more than can be shown")));
}

FlameWords FlamePage::words() const
{
    return { *m_made, *m_shownDevice, *m_shownTree, m_document.viewState().selection().has_value() };
}

void FlamePage::showNotice()
{
    EmptyNotice::Text text;
    const bool filtered = !m_document.viewState().filter().empty();
    if (!m_device) {
        text = noticeWithoutDevice(m_document);
    } else if (!m_shownTree && m_choices.roots()) {
        text.title = text::groupsAbsence(m_document, *m_device, *m_choices.roots());
    } else if (m_shownTree && m_shownTree->total(0) == 0 && !m_computing.running()) {
        if (filtered)
            text = { tr("No block matches the filter"), {}, {}, tr("Clear the filter") };
        else if (m_made && m_made->query.cost == TreeCost::Leaked)
            text.title = tr("Nothing that was allocated %1 is alive at the end").arg(words().range());
        else if (m_made && m_made->query.cost == TreeCost::Temporary)
            text.title = tr("Nothing was both allocated and freed %1").arg(words().range());
        else
            text.title = tr("No memory was in use here");
        if (!filtered && m_document.viewState().selection())
            text.button = tr("Show the whole trace");
    } else if (m_shownTree && m_shownTree->size() == 2 && !m_shownTree->isGroup(1)
        && !m_shownTree->frame(1).valid()) {
        text = { tr("No stacks were recorded"),
            tr("The recording says what was allocated, but not by which code. Record the history with "
               "stacks:"),
            text::recordLine(), {} };
    }
    m_notice->setText(text);
    m_controls->setVisible(m_device != nullptr);
    m_stack->setCurrentWidget(text.title.isEmpty() ? static_cast<QWidget*>(m_splitter) : m_notice);
    refreshSentence();
}

void FlamePage::resetView()
{
    m_search.field().clear();
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

void FlamePage::frameChosen(FlameTree::Node node)
{
    if (m_shownTree)
        Q_EMIT focusChanged(focusOf(*m_shownTree, *m_shownDevice, m_made->query, node));
}

void FlamePage::showMenu(FlameTree::Node node, const QPoint& at)
{
    QMenu menu;
    menu.addAction(tr("Zoom In"), this, [this, node] { m_graph->zoomTo(node); });
    menu.addAction(tr("Find This Function"), this, [this, node] { search(m_shownTree->function(node)); });
    if (lineGroupOf(*m_shownTree, *m_shownDevice, node)) {
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
    return hasCsv() && writeFlameCsv(*m_shownTree, out);
}

bool FlamePage::saveSvg(const QString& path)
{
    return hasCsv() && saveFlameSvg(*m_graph, path, title(), m_sentence->text());
}

void FlamePage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_graph->setColours(palette);
    m_tree->setColours(palette);
}

QString FlamePage::sentenceText() const
{
    return m_sentence->text();
}

} // namespace strata::views
