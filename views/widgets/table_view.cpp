// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_view.h"

#include "views/style/type.h"
#include "views/widgets/table_accessible.h"
#include "views/widgets/table_cell.h"
#include "views/widgets/table_header.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata::views {

TableView::TableView(QWidget* parent)
    : QAbstractItemView(parent)
    , m_header(new TableHeader(this))
{
    installTableAccessibility();
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setVerticalScrollMode(ScrollPerItem);
    setContextMenuPolicy(Qt::CustomContextMenu);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    measureFonts();

    connect(m_header, &QHeaderView::sectionResized, this, [this](int column, int, int width) {
        const auto at = static_cast<std::size_t>(column);
        if (m_table && m_table->source()->columns()[at].flexible) {
            if (m_header->rect().contains(m_header->mapFromGlobal(QCursor::pos())))
                m_flexibleByHand = true;
        } else if (at < m_wished.size()) {
            m_wished[at] = { width, true };
        }
        updateGeometries();
        viewport()->update();
    });
    connect(m_header, &QHeaderView::sectionMoved, viewport(), [this] { viewport()->update(); });
    connect(m_header, &QHeaderView::sortIndicatorChanged, this, [this](int column, Qt::SortOrder order) {
        Q_EMIT sortRequested(column, order == Qt::DescendingOrder);
    });
}

void TableView::setTable(TableModel* model)
{
    m_table = model;
    m_header->setModel(model);
    setModel(model);
}

void TableView::setColours(const Palette& palette)
{
    m_palette = palette;
    m_header->setColours(palette);
    viewport()->update();
}

void TableView::setSortIndicator(int column, bool descending)
{
    const QSignalBlocker quiet(m_header);
    m_header->setSortIndicator(column, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    m_header->viewport()->update();
}

void TableView::measureFonts()
{
    m_text.emplace(font());
    m_rowHeight = std::max(24, static_cast<int>(m_text->metrics().height()) + 8);
    m_sizedColumns = 0;
}

void TableView::changeEvent(QEvent* event)
{
    QAbstractItemView::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        measureFonts();
        sizeColumns();
        updateGeometries();
    }
}

void TableView::reset()
{
    QAbstractItemView::reset();
    m_hoverRow = -1;
    sizeColumns();
    updateGeometries();
    viewport()->update();
}

void TableView::sizeColumns()
{
    if (!m_table || !m_table->source()) {
        m_sizedColumns = 0; // those of the next source are new sections
        return;
    }
    if (m_sizedColumns == m_table->columnCount())
        return;
    m_sizedColumns = m_table->columnCount();
    const QFontMetrics title = m_header->fontMetrics();
    const QSignalBlocker quiet(m_header);
    m_wished.assign(static_cast<std::size_t>(m_sizedColumns), {});
    for (int i = 0; i < m_sizedColumns; ++i) {
        const TableColumn& column = m_table->source()->columns()[static_cast<std::size_t>(i)];
        const double cell = m_text->width(column.sample)
            + (column.unit.isEmpty() ? 0 : m_text->width(column.unit) + m_text->width(u" "));
        constexpr int kArrow = 12;
        const int width = 2 * kCellPadding
            + std::max(static_cast<int>(cell) + 1, title.horizontalAdvance(column.title) + kArrow);
        m_wished[static_cast<std::size_t>(i)].width = width;
        m_header->resizeSection(i, width);
    }
    m_flexibleByHand = false;
    fitFlexibleColumn();
}

void TableView::fitFlexibleColumn()
{
    if (!m_table || !m_table->source() || m_flexibleByHand)
        return;
    const std::vector<TableColumn>& columns = m_table->source()->columns();
    const auto found
        = std::find_if(columns.begin(), columns.end(), [](const TableColumn& c) { return c.flexible; });
    if (found == columns.end() || m_wished.size() != columns.size())
        return;
    const int index = static_cast<int>(found - columns.begin());
    const int least = 2 * kCellPadding + static_cast<int>(m_text->width(found->sample)) + 1;
    std::vector<int> widths;
    for (const Wished& column : m_wished)
        widths.push_back(column.width);
    widths[static_cast<std::size_t>(index)] = least;
    giveWay(widths);
    const int all = std::accumulate(widths.begin(), widths.end(), 0);
    widths[static_cast<std::size_t>(index)] += std::max(0, viewport()->width() - all);
    const QSignalBlocker quiet(m_header);
    for (int i = 0; i < m_sizedColumns; ++i)
        m_header->resizeSection(i, widths[static_cast<std::size_t>(i)]);
}

/// Texts are cut where all columns fit then: their tooltips have them whole. The widest gives way first, and
/// the flexible one last: it says what the row is about.
void TableView::giveWay(std::vector<int>& widths) const
{
    constexpr int kLeastText = 104; // before scaling
    const QFontMetrics title = m_header->fontMetrics();
    const std::vector<TableColumn>& columns = m_table->source()->columns();
    std::vector<int> least = widths;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const int titled = 2 * kCellPadding + title.horizontalAdvance(columns[i].title);
        if (!columns[i].number && !m_wished[i].byHand)
            least[i]
                = std::min(widths[i], std::max(columns[i].flexible ? 0 : titled, scaled(kLeastText, font())));
    }
    const int wanted = viewport()->width();
    if (std::accumulate(least.begin(), least.end(), 0) > wanted)
        return;
    int over = std::accumulate(widths.begin(), widths.end(), 0) - wanted;
    for (const bool isFlexible : { false, true })
        while (over > 0) {
            std::size_t widest = widths.size();
            for (std::size_t i = 0; i < widths.size(); ++i)
                if (columns[i].flexible == isFlexible && widths[i] > least[i]
                    && (widest == widths.size() || widths[i] > widths[widest]))
                    widest = i;
            if (widest == widths.size())
                break;
            int next = least[widest];
            for (std::size_t i = 0; i < widths.size(); ++i)
                if (columns[i].flexible == isFlexible && widths[i] > least[i] && widths[i] < widths[widest])
                    next = std::max(next, widths[i]);
            const int less = std::min(widths[widest] - next, over);
            widths[widest] -= less;
            over -= less;
        }
}

void TableView::updateGeometries()
{
    const int headerHeight = m_header->sizeHint().height();
    setViewportMargins(0, headerHeight, 0, 0);
    m_header->setGeometry(viewport()->x(), viewport()->y() - headerHeight, viewport()->width(), headerHeight);
    fitFlexibleColumn();

    const int rows = m_table ? m_table->rowCount() : 0;
    const int visible = std::max(1, fullyVisibleRows());
    verticalScrollBar()->setRange(0, std::max(0, rows - visible));
    verticalScrollBar()->setPageStep(visible);
    verticalScrollBar()->setSingleStep(1);
    horizontalScrollBar()->setRange(0, std::max(0, m_header->length() - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(m_rowHeight);
    m_header->setOffset(horizontalScrollBar()->value());
    QAbstractItemView::updateGeometries();
}

int TableView::firstVisibleRow() const
{
    return verticalScrollBar()->value();
}

int TableView::fullyVisibleRows() const
{
    return viewport()->height() / m_rowHeight;
}

int TableView::rowAt(int y) const
{
    return firstVisibleRow() + (y >= 0 ? y / m_rowHeight : -1 - (-y - 1) / m_rowHeight);
}

int TableView::horizontalOffset() const
{
    return horizontalScrollBar()->value();
}

int TableView::verticalOffset() const
{
    const qint64 pixels = qint64{ firstVisibleRow() } * m_rowHeight;
    return static_cast<int>(std::min<qint64>(pixels, std::numeric_limits<int>::max() / 2));
}

QRect TableView::visualRect(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    // Far away rows are clamped: whoever asks only wants to know that they are not visible.
    const qint64 y = qint64{ index.row() - firstVisibleRow() } * m_rowHeight;
    constexpr qint64 kFar = std::numeric_limits<int>::max() / 4;
    return { m_header->sectionViewportPosition(index.column()), static_cast<int>(std::clamp(y, -kFar, kFar)),
        m_header->sectionSize(index.column()), m_rowHeight };
}

void TableView::scrollTo(const QModelIndex& index, ScrollHint hint)
{
    if (!index.isValid())
        return;
    const int first = firstVisibleRow();
    const int visible = std::max(1, fullyVisibleRows());
    const int row = index.row();
    const bool seen = row >= first && row < first + visible;
    if (hint == PositionAtCenter && !seen)
        verticalScrollBar()->setValue(row - visible / 2);
    else if (hint == PositionAtTop || (row < first && hint == EnsureVisible))
        verticalScrollBar()->setValue(row);
    else if (hint == PositionAtBottom || (row >= first + visible && hint == EnsureVisible))
        verticalScrollBar()->setValue(row - visible + 1);

    const QRect rect = visualRect(index);
    if (rect.left() < 0 || rect.width() > viewport()->width())
        horizontalScrollBar()->setValue(horizontalOffset() + rect.left());
    else if (rect.right() > viewport()->width())
        horizontalScrollBar()->setValue(horizontalOffset() + rect.right() - viewport()->width());
}

QModelIndex TableView::indexAt(const QPoint& point) const
{
    const int row = rowAt(point.y());
    const int column = m_header->logicalIndexAt(point.x());
    if (!m_table || row < 0 || row >= m_table->rowCount())
        return {};
    return m_table->index(row, column < 0 ? 0 : column);
}

void TableView::keyboardSearch(const QString&) { }

QModelIndex TableView::moveCursor(CursorAction action, Qt::KeyboardModifiers)
{
    const int rows = m_table ? m_table->rowCount() : 0;
    if (rows == 0)
        return {};
    const QModelIndex current = currentIndex();
    int row = current.isValid() ? current.row() : -1;
    int visualColumn = current.isValid() ? m_header->visualIndex(current.column()) : 0;
    const int page = std::max(1, fullyVisibleRows() - 1);
    switch (action) {
    case MoveUp:
    case MovePrevious:
        row -= 1;
        break;
    case MoveDown:
    case MoveNext:
        row += 1;
        break;
    case MoveLeft:
        visualColumn -= 1;
        break;
    case MoveRight:
        visualColumn += 1;
        break;
    case MovePageUp:
        row -= page;
        break;
    case MovePageDown:
        row += page;
        break;
    case MoveHome:
        row = 0;
        break;
    case MoveEnd:
        row = rows - 1;
        break;
    }
    visualColumn = std::clamp(visualColumn, 0, m_header->count() - 1);
    return m_table->index(std::clamp(row, 0, rows - 1), m_header->logicalIndex(visualColumn));
}

void TableView::step(int rows)
{
    if (!m_table || m_table->rowCount() == 0)
        return;
    const int row = currentIndex().isValid() ? currentIndex().row() + rows : firstVisibleRow();
    const int column = currentIndex().isValid() ? currentIndex().column() : 0;
    setCurrentIndex(m_table->index(std::clamp(row, 0, m_table->rowCount() - 1), column));
}

void TableView::setCurrentRow(int row, ScrollHint hint)
{
    m_quiet = true;
    if (row < 0 || !m_table) {
        clearSelection();
        setCurrentIndex({});
    } else {
        const QModelIndex index = m_table->index(row, currentIndex().isValid() ? currentIndex().column() : 0);
        selectionModel()->setCurrentIndex(
            index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        const int x = horizontalOffset();
        scrollTo(index, hint);
        horizontalScrollBar()->setValue(x);
    }
    m_quiet = false;
}

void TableView::restore(
    int currentRow, int currentColumn, const std::vector<std::pair<int, int>>& selected, int firstRow)
{
    m_quiet = true;
    const int x = horizontalOffset();
    QItemSelection rows;
    for (const auto& [first, last] : selected)
        rows.append(
            QItemSelectionRange(m_table->index(first, 0), m_table->index(last, m_table->columnCount() - 1)));
    selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    if (currentRow >= 0)
        selectionModel()->setCurrentIndex(
            m_table->index(currentRow, currentColumn), QItemSelectionModel::NoUpdate);
    verticalScrollBar()->setValue(firstRow);
    horizontalScrollBar()->setValue(x);
    m_quiet = false;
}

void TableView::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QAbstractItemView::currentChanged(current, previous);
    viewport()->update();
    announceCurrentRow(*this);
    if (!m_quiet && current.isValid() && current.row() != previous.row())
        Q_EMIT rowChosen(current.row());
}

void TableView::setSelection(const QRect& rect, QItemSelectionModel::SelectionFlags flags)
{
    const int rows = m_table ? m_table->rowCount() : 0;
    const int top = std::max(0, rowAt(std::min(rect.top(), rect.bottom())));
    const int bottom = std::min(rows - 1, rowAt(std::max(rect.top(), rect.bottom())));
    if (top > bottom) {
        selectionModel()->select(QItemSelection(), flags);
        return;
    }
    const QItemSelection selection(
        m_table->index(top, 0), m_table->index(bottom, m_table->columnCount() - 1));
    selectionModel()->select(selection, flags);
}

QRegion TableView::visualRegionForSelection(const QItemSelection&) const
{
    return viewport()->rect();
}

std::vector<std::pair<int, int>> TableView::selectedRanges() const
{
    std::vector<std::pair<int, int>> ranges;
    if (!selectionModel())
        return ranges;
    for (const QItemSelectionRange& range : selectionModel()->selection()) {
        if (range.isValid())
            ranges.emplace_back(range.top(), range.bottom());
    }
    std::sort(ranges.begin(), ranges.end());
    std::vector<std::pair<int, int>> joined;
    for (const auto& [top, bottom] : ranges) {
        if (!joined.empty() && top <= joined.back().second + 1)
            joined.back().second = std::max(joined.back().second, bottom);
        else
            joined.emplace_back(top, bottom);
    }
    return joined;
}

std::vector<char> TableView::selectedAmong(int first, int count) const
{
    std::vector<char> selected(static_cast<std::size_t>(std::max(0, count)));
    for (const auto& [top, bottom] : selectedRanges()) {
        for (int row = std::max(top, first); row <= std::min(bottom, first + count - 1); ++row)
            selected[static_cast<std::size_t>(row - first)] = 1;
    }
    return selected;
}

void TableView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), m_palette[Palette::Role::Surface]);
    if (!m_table || !m_table->source())
        return;

    const int first = rowAt(event->rect().top());
    const int last = std::min(rowAt(event->rect().bottom()), m_table->rowCount() - 1);
    const std::vector<char> selected = selectedAmong(first, last - first + 1);
    const std::vector<TableColumn>& columns = m_table->source()->columns();
    const int width = std::min(viewport()->width(), m_header->length() - m_header->offset());

    for (int row = first; row <= last; ++row) {
        const QRect line(0, (row - firstVisibleRow()) * m_rowHeight, width, m_rowHeight);
        if (selected[static_cast<std::size_t>(row - first)])
            painter.fillRect(line, m_palette[Palette::Role::Selection]);
        else if (row == m_hoverRow)
            painter.fillRect(line, m_palette[Palette::Role::Hover]);
        for (int visual = 0; visual < m_header->count(); ++visual) {
            const int column = m_header->logicalIndex(visual);
            const QRect rect(m_header->sectionViewportPosition(column), line.top(),
                m_header->sectionSize(column), m_rowHeight);
            if (rect.right() < event->rect().left() || rect.left() > event->rect().right())
                continue;
            paintCell(painter, rect, columns[static_cast<std::size_t>(column)], m_table->cell(row, column),
                *m_text, m_palette);
        }
    }

    const QModelIndex current = currentIndex();
    if (current.isValid() && current.row() >= first && current.row() <= last) {
        const QRect line(0, (current.row() - firstVisibleRow()) * m_rowHeight, width, m_rowHeight);
        painter.fillRect(QRect(0, line.top(), 3, line.height()), m_palette[Palette::Role::Accent]);
        if (hasFocus()) {
            painter.setPen(m_palette[Palette::Role::Accent]);
            painter.drawRect(visualRect(current).adjusted(0, 0, -1, -1));
        }
    }
}

void TableView::scrollContentsBy(int dx, int)
{
    if (dx != 0)
        m_header->setOffset(horizontalScrollBar()->value());
    setHoverRow(-1);
    viewport()->update();
}

void TableView::setHoverRow(int row)
{
    if (row == m_hoverRow)
        return;
    m_hoverRow = row;
    viewport()->update();
}

void TableView::focusInEvent(QFocusEvent* event)
{
    m_quiet = true; // Qt makes the first row the current one: nobody chose it
    QAbstractItemView::focusInEvent(event);
    m_quiet = false;
    viewport()->update();
}

bool TableView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::MouseMove)
        setHoverRow(rowAt(static_cast<QMouseEvent*>(event)->position().toPoint().y()));
    else if (event->type() == QEvent::Leave)
        setHoverRow(-1);
    return QAbstractItemView::viewportEvent(event);
}

bool TableView::event(QEvent* event)
{
    // Keys that walk the table belong to it while it has the focus, whatever the window does with them.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
        const bool sorts
            = key->modifiers() == Qt::AltModifier && (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down);
        switch (key->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Home:
        case Qt::Key_End:
        case Qt::Key_PageUp:
        case Qt::Key_PageDown:
            if (plain || sorts) {
                event->accept();
                return true;
            }
            break;
        default:
            break;
        }
    }
    return QAbstractItemView::event(event);
}

void TableView::mousePressEvent(QMouseEvent* event)
{
    const int before = currentIndex().isValid() ? currentIndex().row() : -1;
    QAbstractItemView::mousePressEvent(event);
    if (event->button() == Qt::LeftButton && before >= 0
        && indexAt(event->position().toPoint()).row() == before)
        Q_EMIT rowChosen(before);
}

void TableView::keyPressEvent(QKeyEvent* event)
{
    const bool up = event->key() == Qt::Key_Up;
    if (event->modifiers() == Qt::AltModifier && (up || event->key() == Qt::Key_Down)) {
        const int column = currentIndex().isValid() ? currentIndex().column() : 0;
        m_header->setSortIndicator(column, up ? Qt::AscendingOrder : Qt::DescendingOrder);
        return;
    }
    QAbstractItemView::keyPressEvent(event);
}

} // namespace strata::views
