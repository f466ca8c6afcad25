// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/shortcut_list.h"

#include "views/shell/dialogs.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QAction>
#include <QCoreApplication>
#include <QDialog>
#include <QGridLayout>
#include <QLabel>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

struct ShortcutWords {
    Q_DECLARE_TR_FUNCTIONS(Dialogs)
};

constexpr int kMostColumns = 3;
constexpr int kGap = 4 * kMargin; // between columns
constexpr qsizetype kLongest = 24; // characters of keys on one line
constexpr int kEdge = 48; // of the screen that a dialog leaves free, with its frame

/// Several keys for one thing, each on a line of its own where all are too long for one.
QString inLines(const QString& keys)
{
    return keys.size() > kLongest ? QString(keys).replace(QStringLiteral(", "), QStringLiteral(",\n")) : keys;
}

QWidget* keyTable(const QString& title, const ShortcutList::Rows& rows)
{
    auto* part = new QWidget;
    part->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto* grid = new QGridLayout(part);
    grid->setContentsMargins(0, 0, 0, kGrid);
    grid->setHorizontalSpacing(2 * kMargin);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(0, 1);
    grid->addWidget(headingLabel(title), 0, 0, 1, 2);
    int line = 1;
    for (const auto& [what, key] : rows) {
        grid->addWidget(textLabel(what), line, 0, Qt::AlignTop);
        QLabel* keys = textLabel(inLines(key), true);
        keys->setWordWrap(false);
        keys->setAlignment(Qt::AlignRight | Qt::AlignTop);
        grid->addWidget(keys, line++, 1, Qt::AlignTop);
    }
    return part;
}

/// Of a table with every text on its lines.
int fullWidth(const QFont& font, const ShortcutList::Rows& rows)
{
    const QFontMetrics metrics(font);
    int what = 0, keys = 0;
    for (const auto& [text, key] : rows) {
        what = std::max(what, metrics.horizontalAdvance(text));
        for (const QString& line : inLines(key).split(QLatin1Char('\n')))
            keys = std::max(keys, metrics.horizontalAdvance(line));
    }
    return what + 2 * kMargin + keys + kGrid; // a little more than the text, lest it breaks
}

} // namespace

ShortcutList::ShortcutList(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, kMargin, 0);
    m_layout->setSpacing(kGap);
}

void ShortcutList::addTable(const QString& title, const Rows& rows)
{
    if (rows.isEmpty())
        return;
    QWidget* table = keyTable(title, rows);
    table->setParent(this);
    m_tables.push_back({ table, static_cast<int>(rows.size()) + 2 });
    m_widest = std::max(m_widest, fullWidth(font(), rows));
    m_columns = 0;
}

int ShortcutList::widthOf(int columns) const
{
    return columns * m_widest + (columns - 1) * kGap + kMargin;
}

void ShortcutList::arrange(int width)
{
    int columns = kMostColumns;
    while (columns > 1 && widthOf(columns) > width)
        --columns;
    if (columns == m_columns)
        return;
    m_columns = columns;
    while (QLayoutItem* item = m_layout->takeAt(0)) // the tables are children of this
        delete item;
    std::vector<QVBoxLayout*> made;
    std::vector<int> lengths(static_cast<std::size_t>(columns), 0);
    for (int c = 0; c < columns; ++c) {
        made.push_back(new QVBoxLayout);
        m_layout->addLayout(made.back(), 1);
    }
    for (const Table& table : m_tables) {
        const auto shortest = static_cast<std::size_t>(std::ranges::min_element(lengths) - lengths.begin());
        made[shortest]->addWidget(table.widget);
        table.widget->show();
        lengths[shortest] += table.lines;
    }
    for (QVBoxLayout* column : made)
        column->addStretch();
}

ShortcutList::Rows shortcutRows(const QList<QAction*>& actions)
{
    ShortcutList::Rows rows;
    for (const QAction* action : actions) {
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys.append(key.toString(QKeySequence::NativeText));
        if (!action->isVisible())
            continue;
        QString text = action->text();
        text.remove(QLatin1Char('&')).remove(QStringLiteral("…"));
        rows.append(
            { text, keys.isEmpty() ? ShortcutWords::tr("menu") : keys.join(ShortcutWords::tr(" or ")) });
    }
    return rows;
}

namespace {

/// Its content is as wide as it is, and arranged for that.
class ShortcutArea : public QScrollArea {
public:
    explicit ShortcutArea(ShortcutList* list)
        : m_list(list)
    {
        setWidgetResizable(true);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setWidget(list);
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        m_list->arrange(viewport()->width());
        QScrollArea::resizeEvent(event);
    }

private:
    ShortcutList* m_list;
};

} // namespace

void showShortcuts(QWidget& parent, const QList<Actions::Section>& sections)
{
    QDialog* shown = makeDialog(parent, ShortcutWords::tr("Keyboard and Mouse"));
    auto* list = new ShortcutList;
    for (const Actions::Section& section : sections)
        list->addTable(section.title, shortcutRows(section.actions));
    list->addTable(ShortcutWords::tr("Mouse, in pictures"),
        { { ShortcutWords::tr("Zoom at the cursor"), ShortcutWords::tr("Wheel") },
            { ShortcutWords::tr("Pan"), ShortcutWords::tr("Shift+Wheel, middle drag, Space+drag") },
            { ShortcutWords::tr("Select a range"), ShortcutWords::tr("Drag") },
            { ShortcutWords::tr("Show in the details"), ShortcutWords::tr("Click") },
            { ShortcutWords::tr("Zoom to the thing"), ShortcutWords::tr("Double click") } });
    auto* area = new ShortcutArea(list);
    shown->layout()->addWidget(area);
    addCloseButton(*shown);
    const QSize room = parent.screen()->availableSize() - QSize(kEdge, kEdge);
    const int around = 4 * kMargin + area->verticalScrollBar()->sizeHint().width() + 2 * area->frameWidth();
    int columns = 2;
    while (columns > 1 && list->widthOf(columns) + around > room.width())
        --columns;
    const int height = scaled(600, shown->font());
    shown->resize(std::min(list->widthOf(columns) + around, room.width()), std::min(height, room.height()));
    shown->show();
}

} // namespace strata::views
