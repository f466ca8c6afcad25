// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/allocator_marks.h"

#include "model/analysis/work/join/clock_match.h"
#include "model/base/wrap.h"
#include "model/trace/work.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

bool isMarked(Action action)
{
    switch (action) {
    case Action::SegmentAlloc:
    case Action::SegmentFree:
    case Action::SegmentMap:
    case Action::SegmentUnmap:
    case Action::Oom:
        return true;
    default:
        return false;
    }
}

/// From the first to the last event of an allocator that tells of its segments.
struct Told {
    int device = 0;
    std::int64_t beginNs = 0, endNs = 0;
};

/// What a profiler read, of what happened since `sinceNs`.
struct Read {
    AllocatorMark mark;
    std::int64_t sinceNs = 0;
};

class MarkFinder {
public:
    void add(std::uint32_t place, const AllocatorSource& source)
    {
        m_place = place;
        m_offsetNs = source.offsetNs;
        for (const DeviceTrace& trace : source.session->devices())
            if (trace.events().hasTimes() && trace.eventCount() > 0)
                addDevice(trace);
        const Work* const work = source.session->recording().parts.find<Work>();
        if (work && !work->ownRecording)
            addRefusals(*work);
    }

    std::vector<AllocatorMark> marks()
    {
        for (const Read& read : m_read)
            if (std::ranges::none_of(m_told, [&](const Told& told) { return tells(told, read); }))
                m_marks.push_back(read.mark);
        std::ranges::stable_sort(m_marks, {}, [](const AllocatorMark& mark) {
            return std::tuple(mark.timeNs, mark.source, mark.device, mark.event);
        });
        return std::move(m_marks);
    }

private:
    /// Clocks of two recordings agree within the window in which they are matched.
    static bool tells(const Told& told, const Read& read)
    {
        return told.device == read.mark.device && wrapSub(told.beginNs, kMatchWindowNs) <= read.mark.timeNs
            && read.sinceNs <= wrapAdd(told.endNs, kMatchWindowNs);
    }

    AllocatorMark markAt(std::int64_t timeNs, int device, Action action, std::int64_t bytes) const
    {
        AllocatorMark mark;
        mark.timeNs = wrapAdd(timeNs, m_offsetNs);
        mark.bytes = bytes;
        mark.device = device;
        mark.source = m_place;
        mark.action = action;
        return mark;
    }

    void addDevice(const DeviceTrace& trace)
    {
        const EventColumns& events = trace.events();
        const bool isProfiled = !events.reservedReading.empty();
        Told told{ trace.device(), INT64_MAX, INT64_MIN };
        for (std::size_t row = 0; row < static_cast<std::size_t>(events.size()); ++row) {
            const Action action = events.action[row];
            const std::int64_t timeNs = events.timeNs[row];
            told.beginNs = std::min(told.beginNs, wrapAdd(timeNs, m_offsetNs));
            told.endNs = std::max(told.endNs, wrapAdd(timeNs, m_offsetNs));
            const std::int64_t readBytes = isProfiled ? events.readDelta(row) : 0;
            if (!isMarked(action) && readBytes == 0)
                continue;
            AllocatorMark mark = readBytes == 0
                ? markAt(timeNs, trace.device(), action, events.bytes[row])
                : markAt(timeNs, trace.device(), readBytes > 0 ? Action::SegmentAlloc : Action::SegmentFree,
                    readBytes > 0 ? readBytes : wrapSub(0, readBytes));
            mark.isRead = readBytes != 0;
            mark.event = static_cast<EventIndex>(row);
            if (mark.isOutOfMemory())
                mark.freeBytes = static_cast<std::int64_t>(events.address[row]);
            if (mark.isRead)
                m_read.push_back({ mark, wrapAdd(events.timeNs[row - 1], m_offsetNs) });
            else
                m_marks.push_back(mark);
        }
        if (!isProfiled)
            m_told.push_back(told);
    }

    /// As a profiler tells of them, which has no event for it.
    void addRefusals(const Work& work)
    {
        for (const MemoryReading& reading : work.memory)
            if (reading.kind == MemoryReading::Kind::OutOfMemory && reading.deviceType != kCpuType) {
                const AllocatorMark mark = markAt(reading.timeNs, reading.device, Action::Oom, reading.bytes);
                m_read.push_back({ mark, mark.timeNs });
            }
    }

    std::uint32_t m_place = 0;
    std::int64_t m_offsetNs = 0;
    std::vector<AllocatorMark> m_marks; // as allocators say
    std::vector<Read> m_read; // as profilers do
    std::vector<Told> m_told;
};

} // namespace

std::vector<AllocatorMark> allocatorMarksOf(std::span<const AllocatorSource> sources)
{
    MarkFinder finder;
    for (std::size_t place = 0; place < sources.size(); ++place)
        finder.add(static_cast<std::uint32_t>(place), sources[place]);
    return finder.marks();
}

void AllocatorMarkSums::add(const AllocatorMark& mark)
{
    switch (mark.action) {
    case Action::SegmentAlloc:
    case Action::SegmentMap:
        ++taken;
        takenBytes = wrapAdd(takenBytes, mark.bytes);
        break;
    case Action::SegmentFree:
    case Action::SegmentUnmap:
        ++givenBack;
        givenBackBytes = wrapAdd(givenBackBytes, mark.bytes);
        break;
    default:
        ++outOfMemories;
    }
}

AllocatorMarkSums sumsOf(std::span<const AllocatorMark> marks)
{
    AllocatorMarkSums sums;
    for (const AllocatorMark& mark : marks)
        sums.add(mark);
    return sums;
}

} // namespace strata::model
