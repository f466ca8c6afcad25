// SPDX-License-Identifier: GPL-3.0-or-later
// What the page "Memory over time" is put together from; memory_page.cpp has what it does.
#include "views/pages/memory/memory_page.h"

#include "views/models/document/group_colours.h"
#include "views/pages/memory/memory_verdict.h"
#include "views/pages/parts/document_texts.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/widgets/legend.h"
#include "views/widgets/memory/group_delegate.h"
#include "views/widgets/segmented.h"
#include "views/widgets/table_header.h"
#include "views/widgets/training/steps_view.h"

#include <QAction>
#include <QApplication>
#include <QButtonGroup>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QStyle>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr int kSpacing = 8;

QFont scaledPixels(const QFont& base, double factor)
{
    QFont font = base;
    if (base.pixelSize() > 0)
        font.setPixelSize(static_cast<int>(base.pixelSize() * factor + 0.5));
    else
        font.setPointSizeF(base.pointSizeF() * factor);
    return font;
}

} // namespace

MemoryPage::MemoryPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_canvas(new MemoryCanvas)
    , m_table(new GroupTableModel(this))
    , m_view(new QTableView)
    , m_header(new TableHeader(m_view))
    , m_verdict(new QLabel)
    , m_more(linkButton(tr("All of the verdict")))
    , m_hint(new QFrame)
    , m_hintText(new QLabel)
    , m_tools(new QWidget)
    , m_modes(new QButtonGroup(this))
    , m_groupings(new QComboBox)
    , m_legend(new Legend)
    , m_tableTitle(new QLabel)
    , m_belowModes(new Segmented(tr("Below the picture"),
          { { tr("Groups"), tr("What is alive at the instant (G)") },
              { tr("Steps"), tr("The steps of the training, side by side (Shift+G)") } }))
    , m_below(new QStackedWidget)
    , m_steps(new StepsView)
    , m_splitter(new QSplitter(Qt::Vertical))
{
    m_verdict->setWordWrap(true);
    m_verdict->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setFont(scaledPixels(font(), 15.0 / 13));
    m_verdict->setTextInteractionFlags(Qt::TextBrowserInteraction);
    m_verdict->setAccessibleName(tr("Verdict"));
    connect(m_verdict, &QLabel::linkActivated, this, [this](const QString& link) {
        if (const auto line = text::lineOfLink(link))
            chooseLine(*line);
        else if (const auto group = text::groupOfLink(link))
            chooseGroup(*group);
        else if (const auto event = text::eventOfLink(link))
            select(EventRange{ *event, *event });
    });

    buildTools();
    buildTable();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    layout->setSpacing(kSpacing);
    layout->addWidget(m_verdict);
    layout->addWidget(m_hint);
    layout->addWidget(m_tools);
    layout->addWidget(m_legend);
    layout->addWidget(m_splitter, 1);
    buildActions();
    setFocusProxy(m_canvas);

    connect(m_canvas, &MemoryCanvas::selectionWanted, this, &MemoryPage::select);
    connect(m_canvas, &MemoryCanvas::thingPicked, this, &MemoryPage::pickedThing);
    connect(m_canvas, &MemoryCanvas::hoverText, this, &Page::hoverText);
    connect(&m_canvas->viewport(), &Viewport::historyChanged, this, &Page::historyChanged);
    connect(&m_canvas->store(), &PictureStore::busyChanged, this, &Page::busyChanged);
    connect(&m_canvas->store(), &PictureStore::failed, this, &Page::failed);
    follow(m_subjectJob);
    follow(m_tableJob);

    ViewState& state = document.viewState();
    connect(&document, &Document::outlineReady, this, &MemoryPage::showDevice);
    connect(&document, &Document::deviceReady, this, &MemoryPage::showDevice);
    connect(&document, &Document::stateChanged, this, &MemoryPage::showDevice);
    connect(&document, &Document::progressChanged, this, [this] {
        offerGroupings();
        showHint();
    });
    connect(&state, &ViewState::deviceChanged, this, [this] {
        m_focus = {}; // of the device before
        showDevice();
    });
    connect(&state, &ViewState::selectionChanged, this, &MemoryPage::selectionMoved);
    connect(&state, &ViewState::filterChanged, this, &MemoryPage::filterMoved);
    const auto showNotes = [this, &state] {
        std::vector<model::UserItem> notes = state.user().items;
        std::erase_if(notes,
            [&](const model::UserItem& item) { return !item.isPlaced() || item.device != state.device(); });
        m_canvas->setNotes(std::move(notes));
    };
    connect(&state, &ViewState::userChanged, this, showNotes);
    connect(&state, &ViewState::deviceChanged, this, showNotes);
    showNotes();
    connect(
        &state, &ViewState::axisChanged, this, [this] { m_canvas->setAxis(m_document.viewState().axis()); });
    connect(&state, &ViewState::groupingChanged, this, [this] {
        m_groupings->setCurrentIndex(static_cast<int>(m_document.viewState().grouping()));
        showHint();
        requestSubject();
    });
    showDevice();
}

void MemoryPage::buildTools()
{
    m_hint->setObjectName(QStringLiteral("banner"));
    auto* hint = new QHBoxLayout(m_hint);
    hint->setContentsMargins(kMargin, kSpacing, kMargin, kSpacing);
    m_hintText->setWordWrap(true);
    m_hintText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* copy = new QToolButton;
    copy->setText(tr("Copy the line"));
    connect(
        copy, &QToolButton::clicked, this, [] { QApplication::clipboard()->setText(text::recordLine()); });
    hint->addWidget(m_hintText, 1);
    hint->addWidget(copy);

    auto* row = new QHBoxLayout(m_tools);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kSpacing);
    auto* segmented = new QWidget;
    segmented->setObjectName(QStringLiteral("segmented"));
    auto* modes = new QHBoxLayout(segmented);
    modes->setContentsMargins(0, 0, 0, 0);
    modes->setSpacing(0);
    const auto addMode = [&](PictureMode mode, const QString& text, const QString& tip, const char* place) {
        auto* button = new QToolButton;
        button->setText(text);
        button->setToolTip(tip);
        button->setCheckable(true);
        button->setProperty("place", QString::fromLatin1(place));
        m_modes->addButton(button, static_cast<int>(mode));
        modes->addWidget(button);
    };
    addMode(PictureMode::Stacked, tr("Stacked"), tr("Who holds how much: groups on top of each other (S)"),
        "first");
    addMode(PictureMode::Blocks, tr("Blocks"), tr("Every block at its address (B)"), "last");
    m_modes->button(0)->setChecked(true);
    connect(
        m_modes, &QButtonGroup::idClicked, this, [this](int id) { setMode(static_cast<PictureMode>(id)); });

    auto* label = new QLabel(tr("Group &by"));
    label->setProperty("muted", true);
    label->setBuddy(m_groupings);
    for (const model::GroupingInfo& info : model::allGroupings())
        m_groupings->addItem(text::said(info.title));
    m_groupings->setCurrentIndex(static_cast<int>(m_document.viewState().grouping()));
    connect(m_groupings, &QComboBox::activated, this,
        [this](int index) { m_document.viewState().setGrouping(static_cast<model::Grouping>(index)); });
    row->addWidget(segmented);
    row->addSpacing(kSpacing);
    row->addWidget(label);
    row->addWidget(m_groupings);
    row->addStretch();
    row->addWidget(m_more);
    m_legend->hide();
    m_more->hide();
    connect(m_more, &QPushButton::clicked, this, [this] {
        m_unfolded = true;
        fitVerdict();
    });
}

void MemoryPage::offerGroupings()
{
    const auto device = m_document.device();
    auto* choices = qobject_cast<QStandardItemModel*>(m_groupings->model());
    for (const model::GroupingInfo& info : model::allGroupings()) {
        if (!info.ofLabels || !choices)
            continue;
        const QString absence = device ? text::groupsAbsence(m_document, *device, info.grouping) : QString();
        QStandardItem* item = choices->item(static_cast<int>(info.grouping));
        item->setEnabled(device && absence.isEmpty());
        item->setToolTip(absence);
    }
}

/// What the layers are, the ground first.
void MemoryPage::showLegend()
{
    const GroupData* const groups = m_subject.groups.get();
    const bool shown = groups && model::infoOf(groups->table->grouping()).fixedOrder;
    std::vector<Legend::Entry> entries;
    if (shown)
        for (const std::uint32_t group : groups->order->groups())
            entries.push_back({ groupName(*groups->table, group),
                [style = m_canvas->styles().group(group)](int scale) { return style.brush(scale); } });
    m_legend->setEntries(std::move(entries), colours());
    m_legend->setVisible(shown);
}

void MemoryPage::showHint()
{
    const auto device = m_document.device();
    const auto session = m_document.session();
    const text::Waiting waiting = text::waiting(m_document);
    const model::Grouping grouping = m_document.viewState().grouping();
    const bool grouped = m_subject.groups && m_subject.groups->table->grouping() == grouping;
    const QString absence
        = device && !grouped ? text::groupsAbsence(m_document, *device, grouping) : QString();
    const bool nothing = device ? device->trace->eventCount() == 0 : session && session->devices().empty();
    // Where the allocator tells of no event, the verdict says what there is.
    const bool refused = device && device->trace->recording().refusal;
    m_hint->setVisible((nothing && !refused) || !waiting.title.isEmpty() || !absence.isEmpty());
    m_hint->findChild<QToolButton*>()->setVisible(
        waiting.title.isEmpty() && absence.isEmpty() && !m_document.isFollowing());
    if (!waiting.title.isEmpty())
        return m_hintText->setText(tr("%1. %2").arg(waiting.title, waiting.reason));
    if (!absence.isEmpty())
        return m_hintText->setText(tr("%1.").arg(absence));
    if (!device && m_document.isFollowing())
        return m_hintText->setText(tr("Nothing has been recorded yet."));
    const QString why = device
        ? tr("This file has no events, so what you see is the state at its end.")
        : tr("%1: there are neither segments nor events.").arg(text::withoutDevices(m_document));
    m_hintText->setText(
        tr("%1 To see memory over time, call <code>%2</code> before the training loop and take "
           "the snapshot after it.")
            .arg(why, text::recordLine()));
}

void MemoryPage::buildTable()
{
    m_header->setPadding(style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1); // as cells have it
    m_header->setSectionsMovable(false);
    m_view->setHorizontalHeader(m_header);
    m_view->setModel(m_table);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(GroupTableModel::BytesColumn, Qt::DescendingOrder);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setItemDelegateForColumn(GroupTableModel::GroupColumn, new GroupDelegate(m_view));
    m_view->setTabKeyNavigation(false);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setAccessibleName(tr("Groups at the instant"));
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_header->setSectionResizeMode(GroupTableModel::GroupColumn, QHeaderView::Stretch);
    for (const int column :
        { GroupTableModel::BytesColumn, GroupTableModel::ShareColumn, GroupTableModel::BlocksColumn })
        m_header->resizeSection(column, 112);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &MemoryPage::rowSelected);
    connect(m_view, &QTableView::doubleClicked, this,
        [this](const QModelIndex& index) { filterByGroup(m_table->groupAt(index.row())); });

    m_splitter->addWidget(m_canvas);
    m_splitter->addWidget(buildLower());
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setObjectName(QStringLiteral("memory")); // under which the window remembers it
    m_splitter->setSizes({ 260, 260 }); // eight rows in a window of 800 pixels; pictures take what is more
}

QWidget* MemoryPage::buildLower()
{
    m_tableTitle->setTextFormat(Qt::RichText);
    m_tableTitle->setWordWrap(true);
    m_belowModes->setProperty("compact", true); // as high as a line of text
    m_below->addWidget(m_view);
    m_below->addWidget(m_steps);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(0, 0, 0, 0);
    head->setSpacing(kSpacing);
    head->addWidget(m_tableTitle, 1);
    head->addWidget(m_belowModes, 0, Qt::AlignTop);
    auto* lower = new QWidget;
    auto* layout = new QVBoxLayout(lower);
    layout->setContentsMargins(0, kSpacing, 0, 0);
    layout->setSpacing(4);
    layout->addLayout(head);
    layout->addWidget(m_below, 1);

    ViewState& state = m_document.viewState();
    connect(
        m_belowModes, &Segmented::changed, this, [this](int part) { showBelow(static_cast<Below>(part)); });
    connect(m_steps, &StepsView::shown, this, &MemoryPage::updateTableTitle);
    connect(m_steps, &StepsView::hovered, this, &Page::hoverText);
    connect(m_steps, &StepsView::rangeChosen, this, [this](const EventRange& range) { select(range); });
    connect(m_steps, &StepsView::instantChosen, this, [this](model::EventIndex event) {
        select(EventRange{ event, event });
        Q_EMIT focusChanged(Focus::onEvent(event));
    });
    follow(m_steps->job());
    const auto showDevice = [this] { m_steps->setDevice(m_document.device(), m_document.analysing()); };
    connect(&m_document, &Document::deviceReady, m_steps, showDevice);
    connect(&m_document, &Document::stateChanged, m_steps, showDevice);
    connect(&m_document, &Document::progressChanged, m_steps, showDevice);
    connect(&state, &ViewState::deviceChanged, m_steps, showDevice);
    connect(&state, &ViewState::selectionChanged, m_steps,
        [this] { m_steps->setSelection(m_document.viewState().selection()); });
    showDevice();
    return lower;
}

void MemoryPage::buildActions()
{
    constexpr double kZoomStep = 0.5;
    addPageAction(tr("Groups below the Picture"), { Qt::Key_G }, [this] { showBelow(Below::Groups); });
    addPageAction(
        tr("Steps below the Picture"), { Qt::SHIFT | Qt::Key_G }, [this] { showBelow(Below::Steps); });
    addPageAction(tr("Stacked Picture"), { Qt::Key_S }, [this] { setMode(PictureMode::Stacked); });
    addPageAction(tr("Blocks Picture"), { Qt::Key_B }, [this] { setMode(PictureMode::Blocks); });
    addPageAction(tr("Zoom In"), { Qt::Key_Plus, Qt::Key_Equal }, [this] { m_canvas->zoomBy(kZoomStep); });
    addPageAction(tr("Zoom Out"), { Qt::Key_Minus }, [this] { m_canvas->zoomBy(1 / kZoomStep); });
    addPageAction(
        tr("Zoom to What Is Pinned or Selected"), { Qt::Key_Z }, [this] { m_canvas->zoomToThing(); });
    // Arrows belong to the picture: in the table they move the row.
    addPageAction(
        tr("Ten Events On"), { Qt::SHIFT | Qt::Key_Right }, [this] { stepEvents(10); }, m_canvas);
    addPageAction(
        tr("Ten Events Back"), { Qt::SHIFT | Qt::Key_Left }, [this] { stepEvents(-10); }, m_canvas);
    addPageAction(
        tr("Next Allocation"), { Qt::CTRL | Qt::Key_Right }, [this] { stepToAlloc(1); }, m_canvas);
    addPageAction(
        tr("Previous Allocation"), { Qt::CTRL | Qt::Key_Left }, [this] { stepToAlloc(-1); }, m_canvas);
    addPageAction(tr("Next Note"), { Qt::Key_M }, [this] { stepNote(1); });
    addPageAction(tr("Previous Note"), { Qt::SHIFT | Qt::Key_M }, [this] { stepNote(-1); });
    addPageAction(
        tr("Layer or Block Above"), { Qt::Key_Up }, [this] { m_canvas->stepThing(1); }, m_canvas);
    addPageAction(
        tr("Layer or Block Below"), { Qt::Key_Down }, [this] { m_canvas->stepThing(-1); }, m_canvas);
}

} // namespace strata::views
