// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/details/stack_list.h"

#include "views/style/type.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QWheelEvent>

#include <algorithm>

namespace strata::views {

namespace {

QString placeText(const DetailsFrame& frame)
{
    return frame.line > 0 ? QStringLiteral("%1:%2").arg(frame.file).arg(frame.line) : frame.file;
}

constexpr int kItemMargin = 4; // that the style leaves on either side of a text

/// A line of a stack as the clipboard has it.
QString frameText(const DetailsFrame& frame)
{
    return QStringLiteral("%1 %2").arg(placeText(frame), frame.function);
}

} // namespace

StackList::StackList(QWidget* parent)
    : QTreeWidget(parent)
{
    setAccessibleName(tr("Stack, innermost frame first"));
    setColumnCount(2);
    setHeaderHidden(true);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setTextElideMode(Qt::ElideMiddle);
    setSelectionMode(ExtendedSelection);
    header()->setMinimumSectionSize(1);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    header()->setStretchLastSection(false); // a hidden header does not notice that there is less room
    connect(this, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        if (const DetailsFrame* frame = frameOf(item))
            Q_EMIT openFrame(frame->file, frame->line);
    });
}

int StackList::foldable(const std::vector<DetailsFrame>& frames)
{
    const auto own
        = std::count_if(frames.begin(), frames.end(), [](const DetailsFrame& f) { return f.user; });
    return own == 0 ? 0 : static_cast<int>(frames.size()) - static_cast<int>(own);
}

void StackList::show(const std::vector<DetailsFrame>& frames, bool folded, const Palette& palette)
{
    clear();
    m_frames = frames;
    const bool hide = folded && foldable(frames) > 0;
    QFont strong = font();
    strong.setBold(true);
    QList<QTreeWidgetItem*> items;
    for (std::size_t i = 0; i < m_frames.size(); ++i) {
        const DetailsFrame& frame = m_frames[i];
        if (hide && !frame.user)
            continue;
        auto* item
            = new QTreeWidgetItem({ frame.place.isEmpty() ? frame.function : frame.place, frame.function });
        item->setData(0, Qt::UserRole, static_cast<qulonglong>(i));
        const QString tip = QStringLiteral("%1\n%2").arg(placeText(frame), frame.function);
        item->setToolTip(0, tip);
        item->setToolTip(1, tip);
        if (frame.user)
            item->setFont(0, strong);
        else
            item->setForeground(0, palette[Palette::Role::TextMuted]);
        item->setForeground(1, palette[Palette::Role::TextMuted]);
        items.append(item);
    }
    addTopLevelItems(items);
    const int high = scaled(kRowHeight, font());
    m_placeWidth = m_functionWidth = 0;
    for (QTreeWidgetItem* item : items) {
        const int place = textWidth(*item, 0);
        m_placeWidth = std::max(m_placeWidth, place);
        m_functionWidth = std::max(m_functionWidth, textWidth(*item, 1));
        item->setSizeHint(0, QSize(place, high));
    }
    fitColumns();
    updateGeometry();
}

int StackList::textWidth(const QTreeWidgetItem& item, int column) const
{
    const QVariant own = item.data(column, Qt::FontRole);
    const QFont used = own.isValid() ? own.value<QFont>().resolve(font()) : font();
    return QFontMetrics(used).horizontalAdvance(item.text(column)) + 2 * kItemMargin;
}

/// The place in full and the function in what is left; a place gives way where it would leave nothing to read
/// of the function.
void StackList::fitColumns()
{
    const int room = viewport()->width();
    const int least = std::min(m_functionWidth, room / 4);
    setColumnWidth(0, std::clamp(m_placeWidth + kGrid, 1, std::max(room - least, 1)));
    setColumnWidth(1, std::max(room - columnWidth(0), 1));
}

QSize StackList::sizeHint() const
{
    const int rows = topLevelItemCount();
    const int row = rows > 0 ? scaled(kRowHeight, font()) : 0;
    return { 200, rows * row + 2 * frameWidth() + 2 };
}

QSize StackList::minimumSizeHint() const
{
    return { 80, sizeHint().height() };
}

void StackList::contextMenuEvent(QContextMenuEvent* event)
{
    const DetailsFrame* frame = frameOf(itemAt(viewport()->mapFromGlobal(event->globalPos())));
    if (!frame)
        return;
    const DetailsFrame chosen = *frame;
    const QString place = placeText(chosen);
    QMenu menu;
    menu.addAction(
        tr("Open in Editor"), this, [this, chosen] { Q_EMIT openFrame(chosen.file, chosen.line); });
    menu.addAction(
        tr("Copy %1").arg(chosen.place), this, [place] { QGuiApplication::clipboard()->setText(place); });
    if (chosen.user)
        menu.addAction(tr("Filter by This Line"), this, [this, place] { Q_EMIT filterByLine(place); });
    menu.exec(event->globalPos());
}

void StackList::resizeEvent(QResizeEvent* event)
{
    QTreeWidget::resizeEvent(event);
    fitColumns();
}

bool StackList::event(QEvent* event)
{
    // Copy is of the selected frames while the list has the keyboard, whatever the window copies.
    if (event->type() == QEvent::ShortcutOverride && !selectedItems().isEmpty()
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        event->accept();
        return true;
    }
    return QTreeWidget::event(event);
}

void StackList::keyPressEvent(QKeyEvent* event)
{
    if (!event->matches(QKeySequence::Copy))
        return QTreeWidget::keyPressEvent(event);
    QStringList lines;
    for (int row = 0; row < topLevelItemCount(); ++row)
        if (const QTreeWidgetItem* item = topLevelItem(row); item->isSelected())
            lines.append(frameText(*frameOf(item)));
    if (!lines.isEmpty())
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

void StackList::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

const DetailsFrame* StackList::frameOf(const QTreeWidgetItem* item) const
{
    if (!item)
        return nullptr;
    const auto i = static_cast<std::size_t>(item->data(0, Qt::UserRole).toULongLong());
    return i < m_frames.size() ? &m_frames[i] : nullptr;
}

} // namespace strata::views
