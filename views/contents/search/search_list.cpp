// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search/search_list.h"

#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTextLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr qsizetype kFolded = 5; // so many items of a section until it is unfolded
constexpr int kIcon = 16;

/// `text` cut to `room`, its emphasised part bold.
void drawEmphasised(QPainter& painter, const QRect& room, const QFont& font, const QString& text, int at,
    int length, Qt::TextElideMode elide)
{
    QTextLayout layout;
    QFont strong = bold(font);
    const QFontMetrics metrics(length > 0 ? strong : font);
    const QString shown = metrics.elidedText(text, elide, room.width());
    layout.setText(shown);
    layout.setFont(font);
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    option.setTextDirection(Qt::LeftToRight);
    layout.setTextOption(option);
    if (length > 0 && shown == text) {
        QTextLayout::FormatRange range;
        range.start = at;
        range.length = length;
        range.format.setFontWeight(QFont::Bold);
        layout.setFormats({ range });
    }
    layout.beginLayout();
    QTextLine line = layout.createLine();
    line.setLineWidth(room.width() + 1.0);
    layout.endLayout();
    layout.draw(&painter, QPointF(room.x(), room.y() + (room.height() - line.height()) / 2));
}

int emphasisedWidth(const QFont& font, const QString& text, int length)
{
    return QFontMetrics(length > 0 ? bold(font) : font).horizontalAdvance(text) + 1;
}

} // namespace

void SearchRows::setSections(std::vector<SearchSection> sections)
{
    beginResetModel();
    m_sections = std::move(sections);
    m_unfolded.assign(m_sections.size(), false);
    fill();
    endResetModel();
}

void SearchRows::unfold(int row)
{
    const std::size_t section = m_rows[static_cast<std::size_t>(row)].section;
    beginResetModel();
    m_unfolded[section] = true;
    fill();
    endResetModel();
}

void SearchRows::fill()
{
    m_rows.clear();
    for (std::size_t section = 0; section < m_sections.size(); ++section) {
        const qsizetype all = m_sections[section].items.size();
        if (all == 0)
            continue;
        m_rows.push_back({ Kind::Heading, section, 0 });
        // A row that says "1 more" takes as much room as that one.
        const bool whole = m_unfolded[section] || all <= kFolded + 1;
        for (qsizetype item = 0; item < (whole ? all : kFolded); ++item)
            m_rows.push_back({ Kind::Item, section, item });
        if (!whole)
            m_rows.push_back({ Kind::More, section, kFolded });
    }
}

const SearchItem* SearchRows::itemAt(int row) const
{
    if (row < 0 || row >= rowCount())
        return nullptr;
    const Row& at = m_rows[static_cast<std::size_t>(row)];
    return at.kind == Kind::Item ? &m_sections[at.section].items[at.item] : nullptr;
}

QString SearchRows::headingOf(int row) const
{
    const Row& at = m_rows[static_cast<std::size_t>(row)];
    const SearchSection& section = m_sections[at.section];
    if (at.kind == Kind::More) {
        const auto more = static_cast<std::int64_t>(section.items.size() - kFolded);
        const QString shown = text::counted(more, tr("1 more"), tr("%1 more"));
        return section.leftOut == 0
            ? shown
            : tr("%1, of %2 in all")
                  .arg(shown, text::count(static_cast<std::int64_t>(section.leftOut) + section.items.size()));
    }
    return section.leftOut == 0 || !m_unfolded[at.section]
        ? section.title
        : tr("%1: the first %2 of %3")
              .arg(section.title, text::count(section.items.size()),
                  text::count(static_cast<std::int64_t>(section.leftOut) + section.items.size()));
}

std::size_t SearchRows::found() const
{
    std::size_t items = 0;
    for (const SearchSection& section : m_sections)
        items += static_cast<std::size_t>(section.items.size());
    return items;
}

int SearchRows::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant SearchRows::data(const QModelIndex& index, int role) const
{
    const SearchItem* item = itemAt(index.row());
    switch (role) {
    case KindRole:
        return static_cast<int>(kindOf(index.row()));
    case Qt::DisplayRole:
        return item ? item->label : headingOf(index.row());
    case Qt::ToolTipRole:
        return item ? item->toolTip : QString();
    case Qt::AccessibleTextRole: {
        if (!item)
            return headingOf(index.row());
        QStringList parts{ item->label };
        for (const QString& part : { item->detail, item->figure, item->share })
            if (!part.isEmpty())
                parts.append(part);
        if (!item->enabled)
            parts.append(tr("not possible now"));
        return parts.join(QStringLiteral(", "));
    }
    default:
        return {};
    }
}

Qt::ItemFlags SearchRows::flags(const QModelIndex& index) const
{
    return kindOf(index.row()) == Kind::Heading ? Qt::NoItemFlags : Qt::ItemIsSelectable | Qt::ItemIsEnabled;
}

class SearchList::Painter : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    Palette colours = Palette::light();

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return { 0, scaled(kRowHeight + 2, option.font) };
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto& rows = *static_cast<const SearchRows*>(index.model());
        const auto& list = *static_cast<const SearchList*>(parent());
        const SearchItem* item = rows.itemAt(index.row());
        const QFont font = option.font;
        const int grid = scaled(kGrid, font);
        painter->save();
        if (list.currentIndex() == index) {
            painter->fillRect(option.rect, colours[Palette::Role::Hover]);
            painter->fillRect(QRect(option.rect.topLeft(), QSize(scaled(3, font), option.rect.height())),
                colours[Palette::Role::Accent]);
        }
        QRect room = option.rect.adjusted(grid + grid / 2, 0, -grid - grid / 2, 0);
        if (!item) {
            const bool heading = rows.kindOf(index.row()) == SearchRows::Kind::Heading;
            painter->setFont(heading ? sized(font, kAxisPx) : font);
            painter->setPen(colours[heading ? Palette::Role::TextMuted : Palette::Role::Accent]);
            if (!heading)
                room.setLeft(room.left() + scaled(kIcon, font) + grid);
            painter->drawText(room, Qt::AlignLeft | (heading ? Qt::AlignBottom : Qt::AlignVCenter),
                painter->fontMetrics().elidedText(rows.headingOf(index.row()), Qt::ElideRight, room.width()));
        } else {
            paintItem(*painter, room, font, *item, list.devicePixelRatioF());
        }
        painter->restore();
    }

private:
    void paintItem(
        QPainter& painter, QRect room, const QFont& font, const SearchItem& item, qreal ratio) const
    {
        const QColor muted = colours[Palette::Role::TextMuted];
        const QColor ink = item.enabled ? colours[Palette::Role::Text] : muted;
        const int grid = scaled(kGrid, font), size = scaled(kIcon, font);
        painter.drawPixmap(QPointF(room.left(), room.top() + (room.height() - size) / 2),
            iconPixmap(item.icon, muted, size, ratio));
        room.setLeft(room.left() + size + grid);

        const QFont numbers = numberFont(font);
        painter.setFont(numbers);
        const QFontMetrics metrics(numbers);
        const auto drawRight = [&](const QString& text, int width, const QColor& colour) {
            painter.setPen(colour);
            painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, text);
            room.setRight(room.right() - std::max(width, metrics.horizontalAdvance(text)) - grid);
        };
        if (!item.share.isEmpty())
            drawRight(item.share, metrics.horizontalAdvance(QStringLiteral("< 0.1 %")), muted);
        if (!item.figure.isEmpty())
            drawRight(item.figure,
                item.share.isEmpty() ? 0 : metrics.horizontalAdvance(QStringLiteral("1,023 MiB")),
                item.share.isEmpty() ? muted : ink);

        const int inLabel = item.matchInDetail ? 0 : item.matchLength;
        const int wanted = emphasisedWidth(font, item.label, inLabel);
        const int least = item.detail.isEmpty() ? 0 : std::min(room.width() / 3, 12 * grid);
        QRect label = room;
        label.setWidth(std::min(wanted, room.width() - least));
        painter.setPen(ink);
        drawEmphasised(painter, label, font, item.label, item.matchAt, inLabel, Qt::ElideRight);
        room.setLeft(label.right() + grid + grid / 2);
        if (item.detail.isEmpty() || room.width() <= 0)
            return;
        painter.setPen(muted);
        drawEmphasised(painter, room, font, item.detail, item.matchAt,
            item.matchInDetail ? item.matchLength : 0, Qt::ElideMiddle);
    }
};

SearchList::SearchList(QWidget* parent)
    : QListView(parent)
    , m_rows(new SearchRows(this))
    , m_painter(new Painter(this))
{
    setModel(m_rows);
    setItemDelegate(m_painter);
    setAccessibleName(tr("What was found"));
    setFocusPolicy(Qt::NoFocus);
    setMouseTracking(true);
    setUniformItemSizes(true);
    setSelectionMode(NoSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(ScrollPerPixel);
    setFrameShape(QFrame::NoFrame);
    setEditTriggers(NoEditTriggers);
}

void SearchList::setPalette(const Palette& palette)
{
    m_painter->colours = palette;
    viewport()->update();
}

bool SearchList::canChoose(int row) const
{
    return m_rows->kindOf(row) != SearchRows::Kind::Heading;
}

void SearchList::move(int by)
{
    const int count = m_rows->rowCount();
    if (count == 0)
        return;
    int row = currentIndex().isValid() ? currentIndex().row() : by > 0 ? -1 : count;
    const int step = by > 0 ? 1 : -1;
    for (int left = std::abs(by); left > 0;) {
        int next = row + step;
        if (next < 0 || next >= count) {
            if (std::abs(by) > 1)
                break;
            next = next < 0 ? count - 1 : 0;
        }
        row = next;
        left -= canChoose(row) ? 1 : 0;
    }
    while (!canChoose(row)) // at the top a heading is the last that was met
        ++row;
    setCurrentIndex(m_rows->index(row));
    // A heading above the first row of its section is seen with it.
    scrollTo(m_rows->index(row > 0 && !canChoose(row - 1) ? row - 1 : row));
    scrollTo(m_rows->index(row));
}

void SearchList::movePage(int pages)
{
    move(pages * std::max(1, viewport()->height() / rowHeight() - 1));
}

void SearchList::showFirst()
{
    setCurrentIndex({});
    scrollToTop();
    move(1);
}

int SearchList::rowHeight() const
{
    return scaled(kRowHeight + 2, font());
}

int SearchList::contentHeight() const
{
    return m_rows->rowCount() * rowHeight();
}

void SearchList::mouseMoveEvent(QMouseEvent* event)
{
    const QModelIndex under = indexAt(event->position().toPoint());
    if (under.isValid() && canChoose(under.row()))
        setCurrentIndex(under);
    QListView::mouseMoveEvent(event);
}

} // namespace strata::views
