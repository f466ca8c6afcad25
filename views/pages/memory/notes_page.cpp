// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/memory/notes_page.h"

#include "model/session/filter_text.h"
#include "model/tables/notes_answer.h"
#include "views/models/tables/csv.h"
#include "views/pages/memory/notes_model.h"
#include "views/pages/parts/document_texts.h"
#include "views/style/type.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <fmt/format.h>

namespace strata::views {

using NoteKind = model::UserItem::Kind;

namespace {

enum PageAction { Show, Rename, Remove };

constexpr int kChangedWidth = 168; // before scaling
constexpr int kLeastText = 240;

} // namespace

NotesPage::NotesPage(Document& document, QWidget* parent)
    : Page(document, parent)
    , m_model(new NotesModel(document, this))
    , m_table(new QTableView)
    , m_verdict(new QLabel)
    , m_empty(new QLabel)
    , m_stack(new QStackedWidget)
{
    setAccessibleName(title());
    buildTable();
    m_verdict->setFont(sized(font(), kVerdictPx));
    m_verdict->setWordWrap(true);
    m_empty->setWordWrap(true);
    m_empty->setProperty("muted", true);
    m_empty->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_nothing = tr("Nothing has been added to this recording yet.\n\nA adds a note to the block or event "
                   "that was clicked last, else to what is selected. R names the selected range. "
                   "Ctrl+B saves the filter. They are kept with the recording, and a colleague who "
                   "gets its session sees them too.");
    m_empty->setFocusPolicy(Qt::StrongFocus); // the keyboard stays on the page
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    auto* tools = new QHBoxLayout;
    tools->setSpacing(kGrid);
    buildTools(*tools);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    layout->setSpacing(kGrid);
    layout->addWidget(m_verdict);
    layout->addLayout(tools);
    layout->addWidget(m_stack, 1);

    connect(m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        const QModelIndex current = m_table->currentIndex();
        if (current.isValid())
            m_current = m_model->item(current.row()).key;
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &NotesPage::refresh);
    refresh();
}

void NotesPage::buildTable()
{
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::EditKeyPressed);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Notes, named ranges and filters"));
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    QHeaderView& header = *m_table->horizontalHeader();
    header.setHighlightSections(false);
    header.setStyleSheet(QStringLiteral("QHeaderView::section { padding: 4px 3px; }")); // as the cells
    header.setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    header.setStretchLastSection(true); // its text stays at its left
    connect(
        m_table, &QTableView::clicked, this, [this](const QModelIndex& index) { go(index.row(), false); });
    connect(m_table, &QTableView::doubleClicked, this,
        [this](const QModelIndex& index) { go(index.row(), true); });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &NotesPage::updateTools);
}

/// As wide as the longest text, so that what belongs together stands together in a wide window; where there
/// is less room, what the other columns leave.
void NotesPage::fitColumns()
{
    const double scale = scaleOf(font());
    const QAbstractItemView& cells = *m_table;
    QHeaderView& header = *m_table->horizontalHeader();
    const auto wanted = [&](int column) {
        return std::max(cells.sizeHintForColumn(column), header.sectionSizeHint(column)) + 3 * kGrid;
    };
    int room = m_table->viewport()->width() - qRound(kChangedWidth * scale);
    for (const int column : { NotesModel::KindColumn, NotesModel::WhereColumn }) {
        header.resizeSection(column, wanted(column));
        room -= header.sectionSize(column);
    }
    const int least = qRound(kLeastText * scale);
    header.resizeSection(
        NotesModel::TextColumn, std::max(least, std::min(wanted(NotesModel::TextColumn), room)));
}

void NotesPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    QMetaObject::invokeMethod(this, &NotesPage::fitColumns, Qt::QueuedConnection); // once laid out
}

void NotesPage::buildTools(QBoxLayout& row)
{
    const auto add = [&](const QString& text, const QString& tip, const QKeySequence& key, auto&& run) {
        QAction* action = addPageAction(text, { key }, run);
        action->setToolTip(tip);
        auto* button = new QToolButton;
        button->setText(text);
        button->setToolTip(QStringLiteral("%1 (%2)").arg(tip, key.toString(QKeySequence::NativeText)));
        connect(button, &QToolButton::clicked, action, &QAction::trigger);
        m_buttons.append(button);
        row.addWidget(button);
    };
    add(tr("Show"), tr("Selects it and shows it on the page Memory; a filter is applied"),
        QKeySequence(Qt::Key_Return), [this] {
            if (const auto rows = selectedRows(); rows.size() == 1)
                go(rows.front(), true);
        });
    add(tr("Rename"), tr("Another text for it"), QKeySequence(Qt::Key_F2), [this] {
        if (const auto rows = selectedRows(); rows.size() == 1)
            m_table->edit(m_model->index(rows.front(), NotesModel::TextColumn));
    });
    add(tr("Delete"), tr("Takes it out; Ctrl+Z brings it back"), QKeySequence(Qt::Key_Delete),
        [this] { removeSelected(); });
    row.addStretch();
}

std::vector<int> NotesPage::selectedRows() const
{
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::ranges::sort(rows);
    return rows;
}

void NotesPage::removeSelected()
{
    std::vector<std::uint64_t> keys;
    const std::vector<int> rows = selectedRows();
    for (const int row : rows)
        keys.push_back(m_model->item(row).key);
    if (keys.empty())
        return;
    m_model->remove(keys);
    // The row that moved up into the place of the first one.
    if (m_model->rowCount() > 0)
        m_table->selectRow(std::min(rows.front(), m_model->rowCount() - 1));
}

void NotesPage::refresh()
{
    int counts[4] = {};
    for (int row = 0; row < m_model->rowCount(); ++row)
        ++counts[static_cast<int>(m_model->item(row).kind)];
    QStringList parts;
    if (counts[0] > 0)
        parts.append(tr("%n note(s)", nullptr, counts[0]));
    if (counts[1] > 0)
        parts.append(tr("%n named range(s)", nullptr, counts[1]));
    if (counts[2] > 0)
        parts.append(tr("%n saved filter(s)", nullptr, counts[2]));
    if (counts[3] > 0)
        parts.append(tr("categories of your own"));
    const text::Waiting waiting = text::waiting(m_document);
    const bool late = !m_document.session() && !waiting.title.isEmpty();
    m_empty->setText(late ? waiting.reason : m_nothing);
    m_verdict->setText(late   ? waiting.title
            : parts.isEmpty() ? tr("No notes")
                              : parts.join(QStringLiteral(", ")));
    m_stack->setCurrentWidget(parts.isEmpty() ? static_cast<QWidget*>(m_empty) : m_table);
    setFocusProxy(m_stack->currentWidget());
    for (QToolButton* button : m_buttons)
        button->setVisible(!parts.isEmpty());
    if (m_model->rowCount() > 0)
        m_table->selectRow(std::max(0, m_model->rowOf(m_current)));
    updateTools();
    fitColumns();
    Q_EMIT busyChanged(); // whether there is a table to copy may differ
}

void NotesPage::updateTools()
{
    const std::size_t selected = selectedRows().size();
    for (int i = 0; i < m_buttons.size(); ++i) {
        const bool possible = i == Remove ? selected > 0 : selected == 1;
        pageActions()[i]->setEnabled(possible);
        m_buttons[i]->setEnabled(possible);
    }
}

void NotesPage::go(int row, bool show)
{
    const model::UserItem item = m_model->item(row);
    const auto session = m_document.session();
    if (!session || !model::isInRecording(item, *session))
        return;
    ViewState& state = m_document.viewState();
    if (item.kind == NoteKind::Rules) {
        if (show)
            Q_EMIT openPage(QStringLiteral("summary"), {}); // which has them under "Categories..."
        return;
    }
    if (item.kind == NoteKind::Filter) {
        if (!show)
            return; // what is shown changes only when asked for
        state.setFilter(*model::filterFromText(session->recording(), item.conditions));
        Q_EMIT openPage(QStringLiteral("memory"), {});
        return;
    }
    state.select(item.device, EventRange{ item.first, item.last });
    focusBlock(item);
    if (show)
        Q_EMIT openPage(QStringLiteral("memory"), item.first);
}

/// Shows the block of a note in the details, once its device is there.
void NotesPage::focusBlock(const model::UserItem& item)
{
    const auto device = m_document.device();
    if (item.address == 0 || !device || device->trace->device() != item.device)
        return;
    if (const auto block = device->timeline->live().blockAt(item.address, item.first); block.valid())
        Q_EMIT focusChanged(Focus::onBlock(block));
}

QString NotesPage::commandLine() const
{
    return QStringLiteral("strata notes %1").arg(text::shellQuoted(m_document.path()));
}

QString NotesPage::copyText() const
{
    QStringList lines;
    for (const int row : selectedRows()) {
        QStringList cells;
        for (int column = 0; column < NotesModel::ColumnCount; ++column)
            cells.append(m_model->index(row, column).data().toString());
        lines.append(cells.join(QLatin1Char('\t')));
    }
    return lines.join(QLatin1Char('\n'));
}

bool NotesPage::hasCsv() const
{
    return m_model->rowCount() > 0;
}

bool NotesPage::writeCsv(QIODevice& out) const
{
    std::string all = "kind,device,from,to,address,text,conditions\n";
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const model::UserItem& item = m_model->item(row);
        all += fmt::format("{},{},", userItemKind(item.kind).toStdString(), item.device);
        all += item.isPlaced() ? fmt::format("{},{},", item.first, item.last) : ",,";
        all += item.address != 0 ? text::address(item.address).toStdString() + ',' : ",";
        appendCsvField(all, item.text);
        all += ',';
        appendCsvField(all, item.conditions);
        all += '\n';
    }
    return writeText(out, all);
}

} // namespace strata::views
