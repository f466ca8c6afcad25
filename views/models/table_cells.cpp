// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/table_cells.h"

#include "model/base/units.h"
#include "model/trace/grouping.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <numeric>

namespace strata::views {

QString fromUtf8(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString countText(std::int64_t count)
{
    return fromUtf8(model::formatCount(count));
}

QString counted(std::int64_t count, const QString& one, const QString& many)
{
    return count == 1 ? one : many.arg(countText(count));
}

QString exactBytesText(std::int64_t bytes)
{
    return fromUtf8(model::formatExactBytes(bytes));
}

QString addressText(std::uint64_t address)
{
    return fromUtf8(model::formatAddress(address));
}

QString streamText(const model::Recording& recording, model::StreamIndex stream)
{
    if (stream >= recording.streams.size())
        return {};
    const std::int64_t handle = recording.streams[stream];
    constexpr std::int64_t kLargestNumber = 0xffff; // beyond it, a stream is a pointer
    return handle >= 0 && handle <= kLargestNumber ? QString::number(handle)
                                                   : addressText(static_cast<std::uint64_t>(handle));
}

QString secondsText(std::int64_t nanoseconds)
{
    const std::int64_t us = nanoseconds / 1000;
    const std::int64_t whole = std::abs(us);
    return QStringLiteral("%1%2.%3")
        .arg(us < 0 ? QStringLiteral("-") : QString())
        .arg(countText(whole / 1'000'000))
        .arg(whole % 1'000'000, 6, 10, QLatin1Char('0'));
}

QString stackText(const model::Recording& recording, model::StackId stack)
{
    QStringList lines;
    for (const model::FrameId id : recording.stacks.stack(stack)) {
        const QString where = fromUtf8(model::frameLabel(recording, id));
        const QString function = fromUtf8(recording.strings[recording.stacks.frame(id).function]);
        lines += function.isEmpty() || function == where ? where : function + QStringLiteral("  ") + where;
    }
    return lines.join(QLatin1Char('\n'));
}

TableCell bytesCell(std::int64_t bytes)
{
    const QString text = fromUtf8(model::formatBytes(bytes));
    const qsizetype space = text.lastIndexOf(QLatin1Char(' '));
    return { text.left(space), text.mid(space + 1) };
}

TableCell noteCell(const QString& note)
{
    return { {}, note };
}

TableCell lineCell(const model::Recording& recording, model::StackId stack)
{
    const model::FrameId frame = model::userFrame(recording, stack);
    if (!frame.valid())
        return noteCell(QCoreApplication::translate("Table", "no stack recorded"));
    TableCell cell{ fromUtf8(model::frameShortLabel(recording, frame)), {} };
    cell.note = fromUtf8(model::frameFunction(recording, frame));
    return cell;
}

QString lineTooltip(const model::Recording& recording, model::StackId stack)
{
    constexpr qsizetype kLines = 24;
    if (recording.stacks.stack(stack).empty())
        return QCoreApplication::translate(
            "Table", "No stack: record with torch.cuda.memory._record_memory_history(stacks=\"python\")");
    const QStringList lines = stackText(recording, stack).split(QLatin1Char('\n'));
    QString text = lines.mid(0, kLines).join(QLatin1Char('\n'));
    if (lines.size() > kLines)
        text += QLatin1Char('\n')
            + counted(lines.size() - kLines, QCoreApplication::translate("Table", "and 1 more frame"),
                QCoreApplication::translate("Table", "and %1 more frames"));
    return text;
}

std::vector<std::uint32_t> alphabeticalRanks(const std::vector<std::string>& texts)
{
    std::vector<std::uint32_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
        [&texts](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });
    std::vector<std::uint32_t> ranks(texts.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && texts[order[i]] != texts[order[i - 1]])
            ++rank;
        ranks[order[i]] = rank;
    }
    return ranks;
}

std::vector<std::uint32_t> poolRanks(const model::Recording& recording)
{
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < recording.pools.size(); ++i)
        labels.push_back(model::poolLabel(recording, static_cast<model::PoolIndex>(i)));
    labels.push_back(model::poolLabel(recording, model::kNoIndex));
    return alphabeticalRanks(labels);
}

} // namespace strata::views
