// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/share_list.h"

#include "views/pages/texts.h"
#include "views/pages/type.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QWheelEvent>

#include <algorithm>

namespace strata::views {

namespace {

enum Column { Label, Bar, Share, Bytes, Blocks, ColumnCount };

constexpr int kColourRole = Qt::UserRole;
constexpr int kFractionRole = Qt::UserRole + 1;
constexpr int kSwatch = 10;
constexpr int kBarWidth = 64; // at least, before scaling
constexpr int kLabelWidth = 120;

/// The swatch before the label, and the bar.
class ShareDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem cell = option;
        cell.state.setFlag(QStyle::State_HasFocus, false);
        const auto colour = index.data(kColourRole).value<QColor>();
        if (index.column() == Label) {
            const int inset = kSwatch + kGrid;
            cell.rect.adjust(inset, 0, 0, 0);
            QStyledItemDelegate::paint(painter, cell, index);
            // Under the swatch too, so that a selected row is one band.
            QStyleOptionViewItem margin = option;
            margin.rect.setRight(option.rect.left() + inset - 1);
            QStyledItemDelegate::paint(painter, margin, QModelIndex());
            painter->fillRect(
                option.rect.left() + 2, option.rect.center().y() - kSwatch / 2 + 1, kSwatch, kSwatch, colour);
            return;
        }
        QStyledItemDelegate::paint(painter, cell, index);
        if (index.column() == Bar) {
            const QRectF area = QRectF(option.rect).adjusted(kGrid, 6, -kGrid, -6);
            const double width = std::max(area.width() * index.data(kFractionRole).toDouble(), 1.0);
            painter->fillRect(QRectF(area.left(), area.top(), width, area.height()), colour);
        }
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        if (index.column() == Label)
            size.rwidth() += kSwatch + kGrid;
        return size;
    }
};

} // namespace

ShareList::ShareList(QWidget* parent)
    : QTableWidget(parent)
{
    setColumnCount(ColumnCount);
    setItemDelegate(new ShareDelegate(this));
    verticalHeader()->hide();
    horizontalHeader()->hide();
    setShowGrid(false);
    setWordWrap(false);
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setTabKeyNavigation(false);
    setTextElideMode(Qt::ElideRight); // file and line stand first
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFrameShape(NoFrame);
    connect(this, &QTableWidget::cellClicked, this, [this](int row) {
        if (const ShareRow* chosen = rowAt(row))
            Q_EMIT groupChosen(chosen->group);
    });
    connect(this, &QTableWidget::cellDoubleClicked, this, [this](int row) {
        if (const ShareRow* chosen = rowAt(row))
            Q_EMIT groupFiltered(chosen->group);
    });
}

void ShareList::setRows(const std::vector<ShareRow>& rows, std::int64_t whole, const Palette& palette)
{
    m_rows = rows;
    std::int64_t longest = 1;
    for (const ShareRow& row : rows)
        longest = std::max(longest, row.bytes);
    const QFont numbers = numberFont(font());
    clearContents();
    setRowCount(static_cast<int>(rows.size()));
    for (int r = 0; r < rowCount(); ++r) {
        const ShareRow& row = rows[static_cast<std::size_t>(r)];
        const QString cells[ColumnCount] = { row.label, {}, text::share(row.bytes, whole),
            text::bytes(row.bytes), tr("%n block(s)", nullptr, static_cast<int>(row.blocks)) };
        for (int c = 0; c < ColumnCount; ++c) {
            auto* item = new QTableWidgetItem(cells[c]);
            item->setFlags(row.clickable ? Qt::ItemIsSelectable | Qt::ItemIsEnabled : Qt::ItemIsEnabled);
            item->setToolTip(c == Bytes ? text::exactBytes(row.bytes) : row.toolTip);
            if (c >= Share) {
                item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
                item->setFont(numbers);
            }
            if (c == Blocks || !row.clickable)
                item->setForeground(palette[Palette::Role::TextMuted]);
            item->setData(kColourRole, row.colour);
            item->setData(kFractionRole, static_cast<double>(row.bytes) / static_cast<double>(longest));
            setItem(r, c, item);
        }
        setRowHeight(r, qRound(kRowHeight * font().pixelSize() / double(kBodyPx)));
    }
    QHeaderView* header = horizontalHeader();
    header->setMinimumSectionSize(1);
    for (const int c : { Label, Bar })
        header->setSectionResizeMode(c, QHeaderView::Fixed);
    for (const int c : { Share, Bytes, Blocks })
        header->setSectionResizeMode(c, QHeaderView::ResizeToContents);
    fitColumns();
    updateGeometry();
}

void ShareList::resizeEvent(QResizeEvent* event)
{
    QTableWidget::resizeEvent(event);
    fitColumns();
}

/// Labels in full if there is room for a bar beside them; no bar where it would leave the labels nothing.
void ShareList::fitColumns()
{
    const double scale = font().pixelSize() / double(kBodyPx);
    int room = viewport()->width();
    for (const int c : { Share, Bytes, Blocks })
        room -= horizontalHeader()->sectionSize(c);
    const bool bars = room >= (kBarWidth + kLabelWidth) * scale;
    setColumnHidden(Bar, !bars);
    const int most = bars ? room - qRound(kBarWidth * scale) : room;
    const int label = std::max(bars ? std::min(sizeHintForColumn(Label) + kGrid, most) : most, 1);
    setColumnWidth(Label, label);
    if (bars)
        setColumnWidth(Bar, room - label);
}

QSize ShareList::sizeHint() const
{
    return { 400, rowCount() * qRound(kRowHeight * font().pixelSize() / double(kBodyPx)) + 2 };
}

QSize ShareList::minimumSizeHint() const
{
    return { 240, sizeHint().height() };
}

void ShareList::keyPressEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter)
        return QTableWidget::keyPressEvent(event);
    const ShareRow* chosen = rowAt(currentRow());
    if (!chosen)
        return;
    if (event->modifiers() & Qt::ShiftModifier)
        Q_EMIT groupFiltered(chosen->group);
    else
        Q_EMIT groupChosen(chosen->group);
}

// The page scrolls, not the list.
void ShareList::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

const ShareRow* ShareList::rowAt(int row) const
{
    if (row < 0 || row >= static_cast<int>(m_rows.size()))
        return nullptr;
    const ShareRow& found = m_rows[static_cast<std::size_t>(row)];
    return found.clickable ? &found : nullptr;
}

} // namespace strata::views
