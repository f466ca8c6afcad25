// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_page.h"

#include "views/models/document/group_colours.h"
#include "views/models/document/shown_instant.h"
#include "views/models/tables/table_cells.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/tables/table_page.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame_breadcrumb.h"
#include "views/widgets/flame_graph.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_footer.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

using model::EventIndex;
using model::TreeCost;

namespace {

bool sameQuery(const model::TreeQuery& a, const model::TreeQuery& b)
{
    return a.from == b.from && a.to == b.to && a.cost == b.cost && a.order == b.order
        && a.userFramesOnly == b.userFramesOnly && a.byLine == b.byLine;
}

} // namespace

bool FlamePage::Shown::operator==(const Shown& other) const
{
    return sameQuery(query, other.query) && roots == other.roots && filter == other.filter
        && trace == other.trace && labels == other.labels;
}

FlamePage::FlamePage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_sentence(new QLabel)
    , m_breadcrumb(new FlameBreadcrumb)
    , m_search(new QLineEdit)
    , m_found(new QLabel)
    , m_stack(new QStackedWidget)
    , m_splitter(new QSplitter(Qt::Horizontal))
    , m_graph(new FlameGraph)
    , m_tree(new CallTreeView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
{
    m_options.userFramesOnly = true;
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
    for (const BackgroundJob* job : { &m_computing, &m_searching, &m_copying })
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
    m_frames->choose(m_options.userFramesOnly ? 0 : 1);
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

    m_search->setPlaceholderText(tr("Find a function or file"));
    m_search->setAccessibleName(tr("Find in the flame graph"));
    m_search->setClearButtonEnabled(true);
    m_search->setAcceptDrops(false); // a file dropped here is to be opened
    m_search->setFixedWidth(200);
    m_found->setProperty("muted", true);
    connect(m_search, &QLineEdit::textChanged, this, &FlamePage::startSearch);
    connect(m_search, &QLineEdit::returnPressed, m_graph, [this] { m_graph->setFocus(); });

    auto* controls = new QWidget;
    auto* rows = new QVBoxLayout(controls);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(kGrid);
    auto* choices = new FlowLayout; // in a narrow window they go on in the next line
    choices->setSpacings(kMargin, kGrid);
    for (Segmented* choice : { m_cost, m_grouping, m_frames })
        choices->addWidget(choice);
    auto* ways = new QHBoxLayout;
    ways->setSpacing(kGrid);
    ways->addWidget(m_order); // a row of all four would make the window wider than many screens
    ways->addWidget(m_breadcrumb, 1);
    ways->addWidget(m_found);
    ways->addWidget(m_search);
    rows->addLayout(choices);
    rows->addLayout(ways);
    return controls;
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

FlamePage::Shown FlamePage::wanted() const
{
    Shown shown{ m_options, m_roots, m_document.viewState().filter(), m_device->trace, {} };
    if (m_roots || shown.filter.asksForLabels())
        shown.labels = m_device->labels();
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    const bool needsRange = m_options.cost == TreeCost::Leaked || m_options.cost == TreeCost::Temporary;
    if (selection && !(needsRange && selection->isInstant())) {
        shown.query.from = selection->first;
        shown.query.to = selection->last;
    } else if (const auto failed = lastOutOfMemory(*m_device);
               failed && !selection && m_options.cost == TreeCost::Bytes) {
        shown.query.from = shown.query.to = *failed; // as Memory does
    } else {
        shown.query.from = -1;
        shown.query.to = m_device->trace->eventCount() - 1;
    }
    return shown;
}

void FlamePage::compute()
{
    if (!m_device)
        return;
    m_late = inBackground();
    if (m_late)
        return;
    const Shown shown = wanted();
    if (m_asked == shown || (shown.roots && !shown.labels.module))
        return; // in the latter case they come
    m_asked = shown;
    m_computing.start(
        [device = m_device, shown](const JobContext& context) { return make(device, shown, context); },
        [this, shown](Made made) {
            show(shown, std::move(made));
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

FlamePage::Made FlamePage::make(
    std::shared_ptr<const DeviceData> of, const Shown& shown, const JobContext& context)
{
    const DeviceData& device = *of;
    std::optional<model::BlockMatcher> matcher;
    if (!shown.filter.empty())
        matcher.emplace(*device.trace, shown.filter, device.labels());
    const auto roots = shown.roots ? device.groups(*shown.roots) : nullptr;
    Made made;
    made.device = std::move(of);
    const model::BlockMatcher* const filter = matcher ? &*matcher : nullptr;
    made.tree = std::make_shared<const FlameTree>(device.session,
        roots ? model::callTree(*device.timeline, shown.query, *roots, filter, context.stop())
              : model::callTree(*device.timeline, shown.query, filter, context.stop()));
    if (roots || shown.query.byLine)
        made.ranks = ranksOf(*made.tree, device, roots ? *roots : *device.byLine);
    return made;
}

/// The colours of the groups that lie upon the root, as everywhere; those of modules follow their names.
std::map<FlameTree::Node, int> FlamePage::ranksOf(
    const FlameTree& tree, const DeviceData& device, const model::GroupTable& groups)
{
    const std::vector<int> ranks
        = groups.grouping() == model::Grouping::Line ? device.lineRank : fixedColoursOf(groups);
    std::map<std::string_view, int> rankOfLabel;
    for (std::uint32_t group = 0; group < ranks.size(); ++group)
        if (groups.grouping() != model::Grouping::Module || ranks[group] == Palette::kHatched)
            rankOfLabel.emplace(groups.label(group), ranks[group]);
    std::map<FlameTree::Node, int> found;
    for (const FlameTree::Node node : tree.children(0)) {
        const std::string label = tree.isGroup(node) ? *tree.group(node)
            : tree.frame(node).valid() ? model::frameLabel(device.trace->recording(), tree.frame(node))
                                       : std::string();
        if (const auto rank = rankOfLabel.find(label); rank != rankOfLabel.end())
            found.emplace(node, rank->second);
    }
    return found;
}

void FlamePage::show(const Shown& shown, Made made)
{
    const bool goesOn
        = m_shownDevice && m_shownDevice->trace != made.device->trace && made.device->follows(*m_shownDevice);
    m_made = shown;
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
    startSearch();
    Q_EMIT busyChanged();
}

void FlamePage::refreshSentence()
{
    const bool any = m_shownTree != nullptr;
    m_sentence->setVisible(any);
    m_footer->setVisible(any);
    if (!any)
        return;
    m_sentence->setText(sentence());
    m_footer->setText(text::counted(m_shownTree->size() - 1, tr("1 frame"), tr("%1 frames"))
        + (m_shownTree->tree().complete ? QString() : tr("; cut: the stacks hold more than can be shown")));
}

QString FlamePage::rangeText() const
{
    const model::TreeQuery& query = m_made->query;
    if (!m_document.viewState().selection() || query.from < 0)
        return query.to + 1 == m_shownDevice->trace->eventCount()
            ? tr("in the whole trace")
            : tr("up to event %1").arg(text::count(query.to));
    return tr("between event %1 and event %2").arg(text::count(query.from), text::count(query.to));
}

/// What is alive at the end, which is no leak for that.
QString FlamePage::aliveText() const
{
    const model::TreeQuery& query = m_made->query;
    const QString bytes = text::strong(text::bytes(m_shownTree->total(0)));
    const bool whole
        = query.from < 0 && query.to + 1 == m_shownDevice->trace->eventCount() && m_made->filter.empty();
    QString text = whole ? tr("%1 is alive at the end").arg(bytes)
                         : tr("%1, allocated %2, is alive at the end").arg(bytes, rangeText());
    const TrainingData* const training
        = m_device->follows(*m_shownDevice) ? m_device->training.get() : nullptr;
    if (!training || !training->leaks)
        return text;
    std::int64_t leaking = 0;
    for (const model::LeakSite& site : training->leaks->sites)
        if (site.kind == model::LeakKind::Leak)
            for (const model::LeakGrowth& left : site.survivors)
                leaking += left.requestedBytes;
    if (whole && leaking < m_shownTree->total(0) / 2)
        text += tr(", most of it meant to stay");
    if (training->leaks->verdict == model::LeakReport::Verdict::Found)
        text += tr(" (%1 has what grows)").arg(text::pageLinked(tr("Leaks"), QStringLiteral("leaks")));
    return text;
}

QString FlamePage::sentence() const
{
    const FlameTree& tree = *m_shownTree;
    const model::TreeQuery& query = m_made->query;
    const QString bytes = text::strong(text::bytes(tree.total(0)));
    const QString blocks = text::strong(text::count(tree.blocks(0)));
    QString text;
    switch (query.cost) {
    case TreeCost::Bytes: {
        const EventIndex at = tree.tree().at;
        const bool failed = !m_document.viewState().selection() && at == lastOutOfMemory(*m_shownDevice);
        const QString when = at < 0 ? tr("before the first event")
            : failed                ? tr("at the out-of-memory, event %1").arg(text::count(at))
                                    : tr("at event %1").arg(text::count(at));
        text = query.from == query.to ? tr("%1 in %2 blocks live %3").arg(bytes, blocks, when)
                                      : tr("%1 in %2 blocks live at the peak, %3").arg(bytes, blocks, when);
        break;
    }
    case TreeCost::Count:
        text = query.from == query.to ? tr("%1 blocks live at event %2").arg(blocks, text::count(query.to))
                                      : tr("%1 allocations %2").arg(blocks, rangeText());
        break;
    case TreeCost::Leaked:
        text = aliveText();
        break;
    case TreeCost::Temporary:
        text = tr("%1 in %2 blocks, allocated and freed %3").arg(bytes, blocks, rangeText());
        break;
    }

    // The first frame below which not nearly everything lies: what tells one part of the program from
    // another.
    constexpr double kNearlyAll = 0.9;
    FlameTree::Node node = 0;
    while (!tree.children(node).empty()
        && static_cast<double>(tree.total(node)) > kNearlyAll * static_cast<double>(tree.total(0)))
        node = tree.children(node).front();
    if (node != 0 && tree.total(0) > 0 && (tree.isGroup(node) || tree.frame(node).valid())) {
        const QString function = tree.function(node), place = tree.place(node);
        const bool isPlainName = place.isEmpty() || place == function; // C++ is known by its function alone
        text += (tree.isGroup(node) ? tr("; %1 of it: %2") : tr("; %1 of it below %2"))
                    .arg(text::strong(text::share(tree.total(node), tree.total(0))),
                        (isPlainName ? function : tr("%1 (%2)").arg(function, place)).toHtmlEscaped());
    }
    if (!m_made->filter.empty())
        text += tr(" (of what the filter lets through)");
    return text + QLatin1Char('.');
}

void FlamePage::showNotice()
{
    EmptyNotice::Text text;
    const bool filtered = !m_document.viewState().filter().empty();
    if (!m_device) {
        text = noticeWithoutDevice(m_document);
    } else if (!m_shownTree && m_roots) {
        text.title = text::groupsAbsence(m_document, *m_device, *m_roots);
    } else if (m_shownTree && m_shownTree->total(0) == 0 && !m_computing.running()) {
        if (filtered)
            text = { tr("No block matches the filter"), {}, {}, tr("Clear the filter") };
        else if (m_made && m_made->query.cost == TreeCost::Leaked)
            text.title = tr("Nothing that was allocated %1 is alive at the end").arg(rangeText());
        else if (m_made && m_made->query.cost == TreeCost::Temporary)
            text.title = tr("Nothing was both allocated and freed %1").arg(rangeText());
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
