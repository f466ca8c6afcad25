// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/bar_list.h"

#include "views/style/type.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QWheelEvent>

#include <algorithm>

namespace strata::views {

namespace {

enum Column { Label, Bar, FirstFigure };

constexpr int kColourRole = Qt::UserRole;
constexpr int kBarFractionRole = Qt::UserRole + 1;
constexpr int kSwatchRole = Qt::UserRole + 2;
constexpr int kShortRole = Qt::UserRole + 3;
constexpr int kListBarWidth = 48; // before scaling, if names leave it
constexpr int kLeastBarWidth = 16;
constexpr int kBarLabelWidth = 96;
constexpr int kItemMargin = 3; // that the style leaves before a text
constexpr int kSwatch = 10;
constexpr int kSwatchRoom = kSwatch + kGrid;

/// The swatch before the label, and the bar.
class BarDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem cell = option;
        cell.state.setFlag(QStyle::State_HasFocus, false);
        const auto colour = index.data(kColourRole).value<QBrush>();
        const bool swatch = index.column() == Label && index.data(kSwatchRole).toBool();
        if (swatch) {
            // Under the swatch too, so that a selected row is one band.
            QStyleOptionViewItem margin = cell;
            margin.rect.setWidth(kSwatchRoom);
            const QStyle& style = option.widget ? *option.widget->style() : *QApplication::style();
            style.drawPrimitive(QStyle::PE_PanelItemViewItem, &margin, painter, option.widget);
            cell.rect.setLeft(cell.rect.left() + kSwatchRoom);
        } else if (index.column() == Label) // in line with what stands above the list
            cell.rect.setLeft(cell.rect.left() - kItemMargin);
        m_room = cell.rect.width() - 2 * kItemMargin;
        QStyledItemDelegate::paint(painter, cell, index);
        if (swatch)
            painter->fillRect(
                option.rect.left() + 2, option.rect.center().y() - kSwatch / 2 + 1, kSwatch, kSwatch, colour);
        if (index.column() != Bar)
            return;
        const QRectF area = QRectF(option.rect).adjusted(kGrid, 6, -kGrid, -6);
        const double fraction = std::clamp(index.data(kBarFractionRole).toDouble(), 0.0, 1.0);
        const double width = fraction > 0 ? std::max(area.width() * fraction, 1.0) : 0;
        painter->fillRect(QRectF(area.left(), area.top(), width, area.height()), colour);
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        m_room = -1;
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        if (index.data(kSwatchRole).toBool())
            size.rwidth() += kSwatchRoom;
        return size;
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        const QString instead = index.data(kShortRole).toString();
        if (instead.isEmpty() || m_room < 0 || option->fontMetrics.horizontalAdvance(option->text) <= m_room)
            return;
        option->text = instead;
        option->textElideMode = Qt::ElideMiddle; // a file's name begins it, a line ends it
    }

private:
    mutable int m_room = -1; // of the label that is being painted
};

} // namespace

BarList::BarList(QWidget* parent)
    : QTableWidget(parent)
{
    setItemDelegate(new BarDelegate(this));
    verticalHeader()->hide();
    horizontalHeader()->hide();
    horizontalHeader()->setFont(sized(font(), kAxisPx));
    horizontalHeader()->setSectionsClickable(false);
    horizontalHeader()->setHighlightSections(false);
    // In line with the cells; nothing is sorted, so there is no room for an arrow.
    horizontalHeader()->setStyleSheet(
        QStringLiteral("QHeaderView::section { padding: 0 3px; } QHeaderView::down-arrow { width: 0; }"));
    setShowGrid(false);
    setWordWrap(false);
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setTabKeyNavigation(false);
    setTextElideMode(Qt::ElideMiddle);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFrameShape(NoFrame);
}

int BarList::scaled(int px) const
{
    return views::scaled(px, font());
}

void BarList::setColour(int row, const QBrush& colour)
{
    for (int c = 0; c < columnCount(); ++c)
        item(row, c)->setData(kColourRole, colour);
}

void BarList::setHeadings(const QString& label, const QStringList& figures)
{
    m_headings = QStringList{ label, QString() } + figures;
}

int BarList::headingHeight() const
{
    return m_headings.isEmpty() ? 0 : scaled(kRowHeight);
}

void BarList::setRows(const std::vector<Row>& rows)
{
    clearContents();
    const int figures = rows.empty() ? 0 : static_cast<int>(rows.front().figures.size());
    setColumnCount(FirstFigure + figures);
    setRowCount(static_cast<int>(rows.size()));
    const QFont numbers = numberFont(font());
    m_shortWidth = 0;
    for (int r = 0; r < rowCount(); ++r) {
        const Row& row = rows[static_cast<std::size_t>(r)];
        m_shortWidth = std::max(m_shortWidth,
            fontMetrics().horizontalAdvance(row.shortLabel.isEmpty() ? row.label : row.shortLabel)
                + (row.swatch ? kSwatchRoom : 0) + 2 * kItemMargin + kGrid);
        for (int c = 0; c < columnCount(); ++c) {
            const bool figure = c >= FirstFigure;
            auto* item = new QTableWidgetItem(figure ? row.figures.value(c - FirstFigure)
                    : c == Label                     ? row.label
                                                     : QString());
            item->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled);
            item->setToolTip(row.toolTip);
            if (figure) {
                item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
                item->setFont(numbers);
            }
            if (row.marked) {
                QFont font = item->font();
                font.setBold(true);
                item->setFont(font);
            }
            if (row.ink.isValid())
                item->setForeground(row.ink);
            item->setData(kColourRole, row.colour);
            item->setData(kBarFractionRole, row.fraction);
            item->setData(kSwatchRole, row.swatch && c == Label);
            if (c == Label)
                item->setData(kShortRole, row.shortLabel);
            setItem(r, c, item);
        }
        setRowHeight(r, scaled(kRowHeight));
    }
    QHeaderView* header = horizontalHeader();
    header->setMinimumSectionSize(1);
    header->setSectionResizeMode(QHeaderView::Fixed);
    for (int c = 0; c < std::min<int>(columnCount(), static_cast<int>(m_headings.size())); ++c) {
        auto* heading = new QTableWidgetItem(m_headings[c]);
        heading->setTextAlignment((c < FirstFigure ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        setHorizontalHeaderItem(c, heading);
    }
    const bool headed = !m_headings.isEmpty();
    header->setVisible(headed);
    for (int c = FirstFigure; c < columnCount(); ++c)
        setColumnWidth(
            c, std::max(sizeHintForColumn(c), headed ? header->sectionSizeHint(c) : 0) + scaled(kGrid));
    fitColumns();
    updateGeometry();
}

/// Names in full if there is room for a bar beside them, short ones rather than cut ones where the bar can
/// give way; no bar where it would leave the names nothing.
void BarList::fitColumns()
{
    if (columnCount() == 0)
        return;
    for (int c = FirstFigure; c < columnCount(); ++c)
        setColumnHidden(c, false);
    int room = viewport()->width();
    for (int c = FirstFigure; c < columnCount(); ++c)
        room -= columnWidth(c);
    for (int c = columnCount() - 1; m_lessFrom >= 0 && c >= FirstFigure + m_lessFrom && room < m_shortWidth;
         --c) {
        room += columnWidth(c);
        setColumnHidden(c, true);
    }
    const int least = std::max(scaled(kBarLabelWidth), std::min(m_shortWidth, room));
    const int bar = std::min(scaled(kListBarWidth), room - least);
    const bool bars = bar >= scaled(kLeastBarWidth);
    setColumnHidden(Bar, !bars);
    const int most = bars ? room - bar : room;
    const int label = std::max(bars ? std::min(sizeHintForColumn(Label) + kGrid, most) : most, 1);
    setColumnWidth(Label, label);
    if (bars)
        setColumnWidth(Bar, room - label);
}

void BarList::resizeEvent(QResizeEvent* event)
{
    QTableWidget::resizeEvent(event);
    fitColumns();
}

/// Who comes by keyboard sees where he is.
void BarList::focusInEvent(QFocusEvent* event)
{
    QTableWidget::focusInEvent(event);
    if (event->reason() != Qt::MouseFocusReason && !currentIndex().isValid() && rowCount() > 0)
        setCurrentCell(0, Label);
}

QSize BarList::sizeHint() const
{
    return { scaled(320), headingHeight() + rowCount() * scaled(kRowHeight) + 2 };
}

QSize BarList::minimumSizeHint() const
{
    return { scaled(200), sizeHint().height() };
}

// The page scrolls, not the list.
void BarList::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

} // namespace strata::views
