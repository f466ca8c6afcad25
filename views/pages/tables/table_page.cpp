// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/table_page.h"

#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/filter_text.h"
#include "views/style/rich_text.h"
#include "views/style/type.h"
#include "views/widgets/kept_rows.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/table_view.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

TablePage::TablePage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_model(new TableModel(this))
    , m_sentence(new QLabel)
    , m_filterBar(new TableFilterBar)
    , m_stack(new QStackedWidget)
    , m_view(new TableView)
    , m_notice(new EmptyNotice)
    , m_footer(new TableFooter)
    , m_export(*m_model, *m_footer)
{
    m_sentence->setFont(sized(font(), kVerdictPx));
    m_view->setFont(numberFont(font()));
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_sentence, &QLabel::linkActivated, this, [this](const QString& href) {
        if (const auto event = text::eventOfLink(href))
            m_document.viewState().select(EventRange{ *event, *event });
    });

    m_view->setTable(m_model);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_notice);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin / 2);
    layout->setSpacing(kGrid);
    layout->addWidget(m_sentence);
    layout->addWidget(m_filterBar);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_footer);
    setFocusProxy(m_view);

    m_footer->watch(&m_arranging, tr("Sorting and filtering"));
    m_footer->watch(&m_export.job(), tr("Writing CSV"));
    connect(m_footer, &TableFooter::gaveUp, this, [this](BackgroundJob* job) {
        if (job == &m_arranging && m_asked) // the table still shows what was there before
            m_view->setSortIndicator(m_query.sortColumn, m_query.descending);
    });
    for (const BackgroundJob* job : { &m_arranging, &m_refreshing, &m_export.job() })
        follow(*job);

    connect(m_filterBar, &TableFilterBar::filterChanged, this, &TablePage::arrangeRows);
    connect(m_filterBar, &TableFilterBar::scopeChanged, this, &TablePage::arrangeRows);
    connect(m_filterBar, &TableFilterBar::everywhereRequested, this, [this] {
        if (!m_device)
            return;
        const model::BlockFilter filter = ownFilter();
        m_filterBar->clear();
        filterEverywhere(filter);
    });
    connect(m_filterBar, &TableFilterBar::leaveRequested, m_view, [this] { m_view->setFocus(); });
    connect(m_view, &TableView::sortRequested, this, [this](int column, bool descending) {
        m_query.sortColumn = column;
        m_query.descending = descending;
        arrangeRows();
    });
    connect(m_view, &TableView::rowChosen, this, [this](int row) { chosen(m_model->sourceRow(row)); });
    connect(m_view, &QAbstractItemView::activated, this,
        [this](const QModelIndex& index) { opened(m_model->sourceRow(index.row())); });
    connect(m_view, &QWidget::customContextMenuRequested, this, &TablePage::showMenu);
    connect(m_notice, &EmptyNotice::buttonPressed, this, &TablePage::clearFilters);

    ViewState& state = document.viewState();
    connect(&state, &ViewState::filterChanged, this, &TablePage::arrangeRows);
    connect(&state, &ViewState::selectionChanged, this, [this] {
        arrangeRows();
        if (m_device && !m_late)
            selectionMoved();
    });
    connect(&state, &ViewState::axisChanged, this, [this] {
        if (!m_device)
            return;
        m_source = makeSource(m_device);
        m_model->replaceSource(m_shown == m_device ? m_source : makeSource(m_shown));
        m_asked.reset(); // lifetimes may sort differently
        arrangeRows();
    });
    connect(&document, &Document::deviceReady, this, [this] { showDevice(m_document.device()); });
    connect(&document, &Document::outlineReady, this, &TablePage::showNotice);
    connect(&document, &Document::stateChanged, this, [this] {
        showDevice(m_document.device());
        showNotice();
    });
    connect(&state, &ViewState::deviceChanged, this, [this] { showDevice(m_document.device()); });

    makeActions();
    showNotice();
}

void TablePage::makeActions()
{
    addPageAction(tr("Next Row"), { Qt::Key_J }, [this] { m_view->step(1); });
    addPageAction(tr("Previous Row"), { Qt::Key_K }, [this] { m_view->step(-1); });
    addPageAction(tr("Selection or Whole Trace"), { Qt::Key_W }, [this] { m_filterBar->toggleSelection(); });
    addPageAction(
        tr("Filter This Page"), { Qt::CTRL | Qt::SHIFT | Qt::Key_F }, [this] { m_filterBar->focusFilter(); });
    addPageAction(tr("Copy Rows as CSV"), { Qt::CTRL | Qt::ALT | Qt::Key_R },
        [this] { m_export.copyCsv(m_view->selectedRanges()); });
}

void TablePage::showDevice(std::shared_ptr<const DeviceData> device)
{
    if (device == m_device)
        return;
    m_device = std::move(device);
    const auto before = std::exchange(m_source, m_device ? makeSource(m_device) : nullptr);
    if (m_device && m_shown && m_device->trace == m_shown->trace) {
        const bool rearranges = dependsOnLabels() && m_device->labels() != m_shown->labels();
        m_shown = m_device;
        m_model->replaceSource(m_source);
        refreshSentence();
        if (rearranges)
            arrangeRows();
        else if (m_askedOf == before)
            m_askedOf = m_source;
        return;
    }
    if (m_device && m_shown && m_device->follows(*m_shown))
        return arrangeRows();
    m_arranging.cancel();
    m_refreshing.cancel();
    m_again = false;
    m_shown = m_device;
    m_asked.reset();
    m_query = {};
    m_view->setSortIndicator(0, false);
    m_model->show(m_source, std::make_shared<const TableRows>());
    arrangeRows();
    showNotice();
}

std::optional<EventRange> TablePage::range() const
{
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    if (!selection || !m_filterBar->selectionWanted())
        return std::nullopt;
    return restriction(*selection);
}

/// Whether which rows there are, or their order, is another once it is known what blocks are for.
bool TablePage::dependsOnLabels() const
{
    const auto by = model::groupingFromName(m_source->sortName(m_query.sortColumn).toStdString());
    return (by && model::infoOf(*by).ofLabels)
        || std::ranges::any_of(filters(), &model::BlockFilter::asksForLabels);
}

std::vector<model::BlockFilter> TablePage::filters() const
{
    std::vector<model::BlockFilter> all;
    for (const model::BlockFilter& filter : { m_document.viewState().filter(), ownFilter() }) {
        if (!filter.empty())
            all.push_back(filter);
    }
    return all;
}

model::BlockFilter TablePage::ownFilter() const
{
    return m_device ? model::filterOf(m_device->trace->recording(), m_filterBar->filter())
                    : model::BlockFilter{};
}

QString TablePage::rowsCommandLine(const QString& command) const
{
    if (!m_device)
        return {};
    QString line = QStringLiteral("strata %1 %2 --device %3")
                       .arg(command, text::shellQuoted(m_document.path()))
                       .arg(m_device->trace->device());
    if (const std::optional<EventRange> selected = range())
        line += QStringLiteral(" --from %1 --to %2").arg(selected->first).arg(selected->last);
    for (const model::BlockFilter& filter : filters())
        line += filterOption(filter, m_device->trace->recording());
    if (m_query.sortColumn != 0 || m_query.descending)
        line
            += QStringLiteral(" --sort=%1%2")
                   .arg(QLatin1String(m_query.descending ? "-" : ""), m_source->sortName(m_query.sortColumn));
    return line;
}

bool TablePage::filtered() const
{
    return !m_document.viewState().filter().empty() || !m_filterBar->filter().empty();
}

void TablePage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (!m_late)
        return;
    arrangeRows();
    showNotice();
    if (m_device)
        selectionMoved();
}

void TablePage::arrangeRows()
{
    m_late = inBackground();
    if (m_late)
        return;
    const std::optional<EventRange>& selection = m_document.viewState().selection();
    m_filterBar->setSelectionAvailable(selection && restriction(*selection));
    m_query.filters = filters();
    m_query.range = range();
    if (!m_source || (m_asked == m_query && m_askedOf == m_source)) {
        refreshSentence();
        return;
    }
    if (m_asked != m_query) {
        m_refreshing.cancel();
        m_again = false;
        arrange(m_arranging);
    } else if (m_arranging.running() || m_refreshing.running()) {
        m_again = true; // else it might never come to an end
    } else {
        arrange(m_refreshing);
    }
    Q_EMIT busyChanged();
}

void TablePage::arrange(BackgroundJob& job)
{
    m_asked = m_query;
    m_askedOf = m_source;
    job.start(
        [source = m_source, query = m_query](const JobContext& context) {
            return std::make_shared<const TableRows>(views::arrange(*source, query, context));
        },
        [this, device = m_device, source = m_source, isSameQuery = &job == &m_refreshing](
            std::shared_ptr<const TableRows> rows) {
            show(device, source, std::move(rows), isSameQuery);
            if (std::exchange(m_again, false))
                arrangeRows();
        });
}

void TablePage::show(std::shared_ptr<const DeviceData> device, std::shared_ptr<const TableSource> source,
    std::shared_ptr<const TableRows> rows, bool isSameQuery)
{
    if (isSameQuery || device->trace != m_shown->trace) { // the same rows, and more
        const KeptRows kept(*m_model, *m_view);
        m_shown = std::move(device);
        m_model->show(std::move(source), std::move(rows));
        kept.restore(*m_model, *m_view);
    } else {
        const std::optional<std::uint32_t> current = currentRow();
        // More may be known of the same rows than when they were asked for.
        m_model->show(m_device->trace == device->trace ? m_source : std::move(source), std::move(rows));
        if (current) {
            if (const std::optional<std::uint32_t> position = m_model->rows()->positionOf(*current))
                m_view->setCurrentRow(static_cast<int>(*position), QAbstractItemView::PositionAtCenter);
        }
    }
    showNotice();
    refreshSentence();
    rowsShown();
    Q_EMIT busyChanged();
}

std::optional<std::uint32_t> TablePage::currentRow() const
{
    const QModelIndex index = m_view->currentIndex();
    if (!index.isValid() || index.row() >= m_model->rowCount())
        return std::nullopt;
    return m_model->sourceRow(index.row());
}

void TablePage::showRow(std::uint32_t row)
{
    const std::optional<std::uint32_t> position = m_model->rows()->nearest(row);
    if (position)
        m_view->setCurrentRow(static_cast<int>(*position), QAbstractItemView::PositionAtCenter);
}

void TablePage::refreshSentence()
{
    const bool any = m_shown && m_model->source()->rowCount() > 0;
    m_sentence->setVisible(any);
    m_footer->setVisible(any);
    if (!any)
        return;
    m_sentence->setText(sentence());
    m_footer->setText(sums(m_model->rows()->sums()));
}

void TablePage::showNotice()
{
    EmptyNotice::Text text;
    const bool empty = m_model->rowCount() == 0 && !m_arranging.running() && !m_late;
    if (!m_shown)
        text = noticeWithoutDevice(m_document);
    else if (m_model->source()->rowCount() == 0)
        text = nothingRecorded();
    else if (empty)
        text = { nothingMatches(), {}, {}, filtered() ? tr("Clear the filter") : tr("Show the whole trace") };
    m_notice->setText(text);
    m_filterBar->setVisible(m_shown && m_model->source()->rowCount() > 0);
    m_stack->setCurrentWidget(text.title.isEmpty() ? static_cast<QWidget*>(m_view) : m_notice);
    refreshSentence();
}

void TablePage::clearFilters()
{
    if (!filtered()) {
        if (m_filterBar->selectionWanted())
            m_filterBar->toggleSelection();
        return;
    }
    m_filterBar->clear();
    m_document.viewState().setFilter({});
}

void TablePage::filterEverywhere(const model::BlockFilter& filter)
{
    m_document.viewState().setFilter(model::narrowed(m_document.viewState().filter(), filter));
}

void TablePage::resetView()
{
    m_filterBar->clear();
    if (m_filterBar->selectionWanted())
        m_filterBar->toggleSelection();
    m_query.sortColumn = 0;
    m_query.descending = false;
    m_view->setSortIndicator(0, false);
    arrangeRows();
    m_view->scrollToTop();
}

void TablePage::setPalette(const Palette& palette)
{
    Page::setPalette(palette);
    m_view->setColours(palette);
    refreshSentence();
}

QString TablePage::sentenceText() const
{
    return m_sentence->text();
}

void TablePage::showMenu(const QPoint& at)
{
    const QModelIndex index = m_view->indexAt(at);
    QMenu menu;
    if (index.isValid()) {
        const std::uint32_t row = m_model->sourceRow(index.row());
        for (const RowFilter& filter : rowFilters(row))
            menu.addAction(filter.text, this, [this, filter] { filterEverywhere(filter.filter); });
        menu.addSeparator();
        menu.addAction(tr("Copy Rows"), this, [this] {
            if (const QString text = copyText(); !text.isEmpty())
                QGuiApplication::clipboard()->setText(text);
        });
    }
    menu.addActions(pageActions());
    menu.exec(m_view->viewport()->mapToGlobal(at));
}

QString TablePage::copyText() const
{
    return m_export.text(m_view->selectedRanges());
}

bool TablePage::hasCsv() const
{
    return m_model->rowCount() > 0;
}

bool TablePage::writeCsv(QIODevice& out) const
{
    return m_model->source()
        && views::writeCsv(*m_model->source(), *m_model->rows(), allRows(*m_model->rows()), out, {});
}

bool TablePage::saveCsvLater(const QString& path)
{
    if (!hasCsv())
        return false;
    m_export.saveCsv(path);
    return true;
}

bool TablePage::copyCsvLater()
{
    if (!hasCsv())
        return false;
    m_export.copyCsv(allRows(*m_model->rows()));
    return true;
}

EmptyNotice::Text noticeWithoutSegments()
{
    return { TablePage::tr("A profiler does not tell of segments"),
        TablePage::tr(
            "It tells of blocks, not of where they lie and what is free beside them. A memory snapshot of "
            "the same run does:"),
        text::recordLines(), {} };
}

EmptyNotice::Text noticeWithoutDevice(const Document& document)
{
    if (const text::Waiting waiting = text::waiting(document); !waiting.title.isEmpty())
        return { waiting.title, waiting.reason, {}, {} };
    if (document.state() == Document::State::Loading)
        return { TablePage::tr("Reading…"), {}, {}, {} };
    const auto session = document.session();
    if (!session)
        return { TablePage::tr("Nothing is open"), {}, {}, {} };
    if (!session->devices().empty())
        return { TablePage::tr("Working out the totals…"), {}, {}, {} };
    if (document.isFollowing())
        return { TablePage::tr("Nothing has been recorded yet"),
            TablePage::tr("What the program allocates is shown here as soon as it is recorded."), {}, {} };
    return { text::withoutDevices(document),
        TablePage::tr(
            "There are neither segments nor events in it. Switch the recorder on before the program "
            "allocates:"),
        text::recordLine(), {} };
}

} // namespace strata::views
