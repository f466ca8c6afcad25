// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/mark_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views::text {

namespace {

using model::Action;

struct MarkTexts {
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

/// What PyTorch calls for it; HIP's names for the same begin with another word.
QString callOf(Action action)
{
    switch (action) {
    case Action::SegmentAlloc:
        return QStringLiteral("cudaMalloc");
    case Action::SegmentFree:
        return QStringLiteral("cudaFree");
    case Action::SegmentMap:
        return QStringLiteral("cuMemMap");
    case Action::SegmentUnmap:
        return QStringLiteral("cuMemUnmap");
    default:
        return {};
    }
}

QString placeOf(const model::AllocatorMark& mark)
{
    return MarkTexts::tr("GPU %1").arg(mark.device);
}

} // namespace

QString markTitle(const model::AllocatorMark& mark)
{
    if (mark.isRead)
        return mark.action == Action::SegmentAlloc ? MarkTexts::tr("Reserved memory had grown")
                                                   : MarkTexts::tr("Reserved memory had shrunk");
    switch (mark.action) {
    case Action::SegmentAlloc:
        return MarkTexts::tr("Segment allocated");
    case Action::SegmentFree:
        return MarkTexts::tr("Segment freed");
    case Action::SegmentMap:
        return MarkTexts::tr("Part of a segment mapped");
    case Action::SegmentUnmap:
        return MarkTexts::tr("Part of a segment unmapped");
    default:
        return MarkTexts::tr("Out of memory");
    }
}

QStringList markLines(const model::AllocatorMark& mark, std::int64_t ns)
{
    QString first = MarkTexts::tr("%1: %2").arg(markTitle(mark), bytes(mark.bytes));
    QString second = placeOf(mark);
    if (mark.isOutOfMemory()) {
        first = MarkTexts::tr("Out of memory: %1 asked for").arg(bytes(mark.bytes));
        if (mark.freeBytes)
            second = MarkTexts::tr("%1, %2 free").arg(second, bytes(*mark.freeBytes));
    } else if (mark.isRead) {
        second = MarkTexts::tr("%1, as the profiler read it").arg(second);
    } else {
        second = MarkTexts::tr("%1, %2").arg(second, callOf(mark.action));
    }
    return { first, second, MarkTexts::tr("at %1 s").arg(seconds(ns)) };
}

QStringList markLines(const MarkTrack& marks, const MarkGroup& group)
{
    if (group.count == 1)
        return markLines(marks[group.first], marks.timeOf(group.first));
    const model::AllocatorMarkSums sums = marks.sumsOf(group);
    QStringList lines;
    if (sums.outOfMemories > 0)
        lines += MarkTexts::tr("%1 times out of memory").arg(count(sums.outOfMemories));
    if (sums.taken > 0)
        lines += MarkTexts::tr("%1 taken of the driver: %2")
                     .arg(counted(sums.taken, MarkTexts::tr("1 time"), MarkTexts::tr("%1 times")),
                         bytes(sums.takenBytes));
    if (sums.givenBack > 0)
        lines += MarkTexts::tr("%1 given back: %2")
                     .arg(counted(sums.givenBack, MarkTexts::tr("1 time"), MarkTexts::tr("%1 times")),
                         bytes(sums.givenBackBytes));
    lines += MarkTexts::tr("within %1, from %2 s on")
                 .arg(duration(group.endNs - group.beginNs), seconds(group.beginNs));
    return lines;
}

WorkDetails markDetails(const model::AllocatorMark& mark, std::int64_t ns)
{
    WorkDetails details;
    details.kind = MarkTexts::tr("Allocator");
    details.title = markTitle(mark);
    details.size.emplace_back(mark.isOutOfMemory() ? MarkTexts::tr("asked for") : MarkTexts::tr("bytes"),
        MarkTexts::tr("%1 (%2)").arg(bytes(mark.bytes), exactBytes(mark.bytes)));
    if (mark.freeBytes)
        details.size.emplace_back(MarkTexts::tr("free then"),
            MarkTexts::tr("%1 (%2)").arg(bytes(*mark.freeBytes), exactBytes(*mark.freeBytes)));
    details.life.emplace_back(MarkTexts::tr("at"), MarkTexts::tr("%1 s").arg(seconds(ns)));
    details.place.emplace_back(MarkTexts::tr("on"), placeOf(mark));
    if (mark.isRead)
        details.recorded.emplace_back(MarkTexts::tr("read"),
            MarkTexts::tr("by the profiler, when the next block came or went: of one segment or several"));
    else if (const QString call = callOf(mark.action); !call.isEmpty())
        details.recorded.emplace_back(MarkTexts::tr("call"), call);
    if (mark.event >= 0)
        details.recorded.emplace_back(MarkTexts::tr("event"), count(mark.event));
    return details;
}

} // namespace strata::views::text
