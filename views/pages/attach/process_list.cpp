// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/attach/process_list.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QSet>
#include <QStyledItemDelegate>

#include <algorithm>
#include <map>

namespace strata::views {

using Role = Palette::Role;

namespace {

enum Column { Name, How, Rank, Device, Memory, Requested, Reserved, Used, Rate, Columns };

constexpr int kKey = Qt::UserRole; // address, or the job
constexpr int kRow = Qt::UserRole + 1; // in the list of processes; -1: a job
constexpr int kNote = Qt::UserRole + 2; // in grey behind the text
constexpr int kHistory = Qt::UserRole + 3;
constexpr int kSparkHeight = 16;
constexpr int kHeadRight = 18; // what a header leaves free at its right

struct Spark {
    std::vector<MemorySample> samples;
    std::int64_t nowMs = 0, topBytes = 1;
};

/// Cells with a note in grey, and the sparkline.
class Cells final : public QStyledItemDelegate {
public:
    Cells(const Palette& palette, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_palette(palette)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        size.setHeight(scaled(double(kRowHeight) + 4, option.font));
        return size;
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, m_palette[Role::Selection]);
        else if (option.state & QStyle::State_MouseOver)
            painter->fillRect(option.rect, m_palette[Role::Hover]);
        const QRect inner
            = option.rect.adjusted(kGrid, 0, index.column() >= Requested ? -kHeadRight : -kGrid, 0);
        if (index.column() == Memory)
            return paintSpark(*painter, inner, index.data(kHistory).value<Spark>());
        const bool number = index.column() >= Requested;
        const QString text = index.data().toString(), note = index.data(kNote).toString();
        const QFont font = number          ? numberFont(option.font)
            : index.data(kRow).toInt() < 0 ? bold(option.font)
                                           : option.font;
        const QFontMetrics metrics(font);
        painter->setFont(font);
        painter->setPen(m_palette[Role::Text]);
        const QString shown = metrics.elidedText(text, Qt::ElideMiddle, inner.width());
        if (number) {
            const int noteWidth = metrics.horizontalAdvance(QStringLiteral(" MiB"));
            const QRect figures = inner.adjusted(0, 0, note.isNull() ? 0 : -noteWidth, 0);
            painter->drawText(figures, Qt::AlignRight | Qt::AlignVCenter, shown);
            painter->setPen(m_palette[Role::TextMuted]);
            painter->drawText(inner, Qt::AlignRight | Qt::AlignVCenter, note);
            return;
        }
        painter->drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, shown);
        painter->setPen(m_palette[Role::TextMuted]);
        const int at = metrics.horizontalAdvance(shown) + kGrid;
        painter->drawText(inner.adjusted(at, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(note, Qt::ElideRight, inner.width() - at));
    }

private:
    void paintSpark(QPainter& painter, const QRect& inner, const Spark& spark) const
    {
        const QRect box(inner.left(), inner.center().y() - kSparkHeight / 2, inner.width(), kSparkHeight);
        if (spark.samples.empty())
            return;
        painter.fillRect(QRect(box.left(), box.bottom() + 1, box.width(), 1), m_palette[Role::Line]);
        const auto xOf = [&](std::int64_t atMs) {
            return box.right() + 1
                - static_cast<int>((spark.nowMs - atMs) * box.width() / ProcessFinder::kKeptMs);
        };
        const auto heightOf = [&](std::int64_t bytes) {
            return std::clamp(static_cast<int>(static_cast<double>(std::max<std::int64_t>(bytes, 0))
                                  / static_cast<double>(spark.topBytes) * box.height()),
                bytes > 0 ? 1 : 0, box.height());
        };
        for (std::size_t i = 0; i < spark.samples.size(); ++i) {
            const MemorySample& sample = spark.samples[i];
            const int end = i + 1 < spark.samples.size() ? xOf(spark.samples[i + 1].atMs) : box.right() + 1;
            const int begin = std::min(xOf(sample.atMs), end - 1); // a new one is seen at once
            const int filled = heightOf(sample.requestedBytes), line = heightOf(sample.reservedBytes);
            painter.fillRect(
                begin, box.bottom() + 1 - filled, end - begin, filled, m_palette[Role::Requested]);
            if (sample.reservedBytes >= 0)
                painter.fillRect(begin, box.bottom() - line, end - begin, 2, m_palette[Role::Reserved]);
        }
    }

    const Palette& m_palette;
};

QString processStateText(model::ProcessState state)
{
    switch (state) {
    case model::ProcessState::Live:
        return ProcessList::tr("live");
    case model::ProcessState::File:
        return ProcessList::tr("file");
    case model::ProcessState::Attachable:
        return ProcessList::tr("attachable");
    case model::ProcessState::Polled:
        return ProcessList::tr("polled");
    }
    return {};
}

QString stateHint(model::ProcessState state)
{
    switch (state) {
    case model::ProcessState::Live:
        return ProcessList::tr("It is recorded and can be watched");
    case model::ProcessState::File:
        return ProcessList::tr("It is recorded to a file alone: what is there so far can be opened");
    case model::ProcessState::Attachable:
        return ProcessList::tr("It uses PyTorch and nothing records it: a recorder can be brought in");
    case model::ProcessState::Polled:
        return ProcessList::tr("It uses a GPU: the driver's totals are all that is known");
    }
    return {};
}

void setBytes(QTreeWidgetItem& item, int column, std::int64_t bytes)
{
    const QString text = bytes < 0 ? QString() : text::bytes(bytes);
    item.setText(column, text.section(QLatin1Char(' '), 0, 0));
    item.setData(column, kNote, text.section(QLatin1Char(' '), 1));
    item.setToolTip(column, bytes < 0 ? QString() : text::exactBytes(bytes));
}

} // namespace

ProcessList::ProcessList(QWidget* parent)
    : QTreeWidget(parent)
{
    setColumnCount(Columns);
    setHeaderLabels({ tr("Process"), tr("State"), tr("Rank"), tr("GPU"), tr("Memory, last two minutes"),
        tr("Requested"), tr("Reserved"), tr("By the driver"), tr("Events/s") });
    headerItem()->setToolTip(Memory,
        tr("Requested, filled; reserved as a line above it; the height is the most that was reserved"));
    headerItem()->setToolTip(
        Used, tr("What the driver says that the process holds, memory outside PyTorch included"));
    for (int column = Requested; column < Columns; ++column)
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    setAccessibleName(tr("Processes that can be watched"));
    setRootIsDecorated(false);
    setItemsExpandable(false);
    setIndentation(scaled(double(2 * kGrid), font()));
    setUniformRowHeights(true);
    setMouseTracking(true);
    setAllColumnsShowFocus(true);
    setSelectionBehavior(SelectRows);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(ScrollPerPixel);
    header()->setSectionsMovable(false);
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::Fixed);
    setItemDelegate(new Cells(m_palette, this));
    connect(this, &QTreeWidget::currentItemChanged, this, &ProcessList::choiceChanged);
    connect(this, &QTreeWidget::itemDoubleClicked, this, &ProcessList::opened);
    fitColumns();
}

void ProcessList::setColours(const Palette& palette)
{
    m_palette = palette;
    viewport()->update();
}

void ProcessList::resizeEvent(QResizeEvent* event)
{
    QTreeWidget::resizeEvent(event);
    fitColumns();
}

void ProcessList::keyPressEvent(QKeyEvent* event)
{
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentItem())
        Q_EMIT opened();
    else
        QTreeWidget::keyPressEvent(event);
}

void ProcessList::fitColumns()
{
    const QFontMetrics metrics(font());
    const auto width = [&](int column, const QString& sample) {
        return std::max(metrics.horizontalAdvance(sample),
                   metrics.horizontalAdvance(headerItem()->text(column)) + kGrid)
            + kGrid + kHeadRight;
    };
    const QString bytes = QStringLiteral("1,023 MiB ");
    int state = 0;
    for (const auto each : { model::ProcessState::Live, model::ProcessState::File,
             model::ProcessState::Attachable, model::ProcessState::Polled })
        state = std::max(state, width(How, processStateText(each)));
    const int widths[] = { 0, state, width(Rank, QStringLiteral("1024 of 1024")),
        width(Device, QStringLiteral("GPU 10")), 0, width(Requested, bytes), width(Reserved, bytes),
        width(Used, bytes), width(Rate, QStringLiteral("1,000,000")) };
    int rest = viewport()->width();
    for (int column = 0; column < Columns; ++column)
        if (widths[column] > 0) {
            setColumnWidth(column, widths[column]);
            rest -= widths[column];
        }
    setColumnWidth(Name, std::max(rest * 45 / 100, 120));
    setColumnWidth(Memory, std::max(rest - rest * 45 / 100, 80));
}

QTreeWidgetItem* ProcessList::itemOf(const QString& key, QTreeWidgetItem* parent)
{
    for (int i = 0; i < parent->childCount(); ++i)
        if (parent->child(i)->data(0, kKey).toString() == key)
            return parent->child(i);
    return nullptr;
}

void ProcessList::setProcesses(const std::vector<ProcessFinder::Seen>& processes, std::int64_t nowMs)
{
    m_processes.clear();
    std::map<std::string, int> ranks;
    for (const ProcessFinder::Seen& seen : processes)
        if (seen.process.job)
            ++ranks[*seen.process.job];
    QTreeWidgetItem* const root = invisibleRootItem();
    QSet<QTreeWidgetItem*> kept;
    int place = 0, inJob = 0;
    for (const ProcessFinder::Seen& seen : processes) {
        const model::LiveProcess& process = seen.process;
        QTreeWidgetItem* parent = root;
        if (process.job && ranks[*process.job] > 1) {
            const QString key = QStringLiteral("job:") + text::utf8(*process.job);
            parent = itemOf(key, root);
            if (!parent) {
                parent = new QTreeWidgetItem;
                parent->setData(0, kKey, key);
                for (int column = 0; column < Columns; ++column)
                    parent->setData(column, kRow, -1);
                root->insertChild(place, parent);
                parent->setExpanded(true);
            }
            if (!kept.contains(parent)) {
                ++place;
                inJob = 0;
            }
            kept.insert(parent);
            parent->setText(Name, text::utf8(process.name));
            parent->setData(Name, kNote, tr("%n rank(s)", nullptr, ranks[*process.job]));
        }
        const QString key = QString::fromStdString(keyOf(process));
        QTreeWidgetItem* item = itemOf(key, parent);
        if (!item) {
            item = new QTreeWidgetItem;
            item->setData(0, kKey, key);
            parent->insertChild(parent == root ? place : inJob, item);
        }
        ++(parent == root ? place : inJob);
        kept.insert(item);
        for (int column = 0; column < Columns; ++column)
            item->setData(column, kRow, static_cast<int>(m_processes.size()));
        const bool answers = process.totals || process.state != model::ProcessState::Live;
        item->setText(Name, process.name.empty() ? key : text::utf8(process.name));
        item->setData(Name, kNote,
            !answers              ? tr("does not answer")
                : process.process ? tr("process %1").arg(*process.process)
                                  : QString());
        item->setToolTip(Name, process.file.empty() ? key : text::utf8(process.file));
        item->setText(How, processStateText(process.state));
        item->setToolTip(How, stateHint(process.state));

        item->setText(Rank,
            !process.rank           ? QString()
                : process.worldSize ? tr("%1 of %2").arg(*process.rank).arg(*process.worldSize)
                                    : QString::number(*process.rank));
        const wire::DeviceTotals* const device = busiestDevice(process);
        item->setText(Device, device ? tr("GPU %1").arg(device->device) : QString());
        Spark spark{ seen.history, nowMs };
        for (const MemorySample& sample : seen.history)
            spark.topBytes = std::max({ spark.topBytes, sample.reservedBytes, sample.requestedBytes });
        item->setData(Memory, kHistory, QVariant::fromValue(spark));
        setBytes(*item, Requested, device ? device->requestedBytes : -1);
        setBytes(*item, Reserved, device ? device->reservedBytes : -1);
        setBytes(*item, Used, device ? device->usedBytes : -1);
        item->setText(Rate,
            process.totals && process.totals->eventsPerSecond >= 0
                ? text::count(process.totals->eventsPerSecond)
                : QString());
        m_processes.push_back(process);
    }
    const auto removeGone = [&](QTreeWidgetItem* parent, const auto& self) -> void {
        for (int i = parent->childCount() - 1; i >= 0; --i) {
            self(parent->child(i), self);
            if (!kept.contains(parent->child(i)))
                delete parent->takeChild(i);
        }
    };
    removeGone(root, removeGone);
    if (!currentItem() && root->childCount() > 0)
        setCurrentItem(root->child(0));
    viewport()->update();
    Q_EMIT choiceChanged();
}

std::vector<model::LiveProcess> ProcessList::chosen() const
{
    const QTreeWidgetItem* const item = currentItem();
    if (!item)
        return {};
    const int row = item->data(0, kRow).toInt();
    if (row >= 0 && static_cast<std::size_t>(row) < m_processes.size())
        return { m_processes[static_cast<std::size_t>(row)] };
    return chosenJob();
}

std::vector<model::LiveProcess> ProcessList::chosenJob() const
{
    const QTreeWidgetItem* item = currentItem();
    if (item && item->parent())
        item = item->parent();
    std::vector<model::LiveProcess> ranks;
    for (int i = 0; item && i < item->childCount(); ++i)
        if (const int row = item->child(i)->data(0, kRow).toInt();
            row >= 0 && static_cast<std::size_t>(row) < m_processes.size())
            ranks.push_back(m_processes[static_cast<std::size_t>(row)]);
    return ranks;
}

QString ProcessList::copyText() const
{
    QStringList lines;
    for (const model::LiveProcess& process : m_processes) {
        QStringList cells{ text::utf8(process.name),
            process.process ? QString::number(*process.process) : QString(),
            process.rank ? QString::number(*process.rank) : QString() };
        if (const wire::DeviceTotals* const device = busiestDevice(process))
            cells += { QString::number(device->device), QString::number(device->requestedBytes),
                QString::number(device->reservedBytes) };
        lines.append(cells.join(QLatin1Char('\t')));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace strata::views
