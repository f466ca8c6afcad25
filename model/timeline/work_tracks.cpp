// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/work_tracks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kFan = 16; // readings, or nodes, in a node of the next level
constexpr std::size_t kCoarse = 64;

/// On streams what spans others lies above them: annotations, then kernels, then what waits.
int rankOf(WorkKind kind)
{
    return kind == WorkKind::DeviceAnnotation ? 0 : kind == WorkKind::Synchronisation ? 2 : 1;
}

/// The first free row below the deepest piece that holds this one, as calls hold what they call. What
/// overlaps in part, as annotations of a device do, since the work of one still runs while that of the next
/// begins, has a row beside it, and a chain of such pieces two in turns. `ends`: of the last piece of each
/// row; a new row: its size.
std::size_t rowFor(const WorkSpan& span, const std::vector<std::int64_t>& ends, std::size_t ground)
{
    std::size_t free = ends.size();
    for (std::size_t row = ends.size(); row > ground; --row) {
        const std::int64_t end = ends[row - 1];
        if (end <= span.startNs)
            free = row - 1;
        else if (end >= span.endNs())
            break;
    }
    return free;
}

} // namespace

std::size_t WorkRow::firstFrom(std::int64_t ns, std::size_t from) const
{
    const std::size_t block = std::min((from + kCoarse - 1) / kCoarse, coarse.size());
    const auto behind = static_cast<std::size_t>(
        std::lower_bound(coarse.begin() + static_cast<std::ptrdiff_t>(block), coarse.end(), ns)
        - coarse.begin());
    const std::size_t begin = std::max(from, behind == 0 ? 0 : (behind - 1) * kCoarse);
    const std::size_t end = std::min(behind * kCoarse + 1, begins.size());
    return static_cast<std::size_t>(
        std::lower_bound(begins.begin() + static_cast<std::ptrdiff_t>(begin),
            begins.begin() + static_cast<std::ptrdiff_t>(std::max(begin, end)), ns)
        - begins.begin());
}

WorkTracks::WorkTracks(const Work& work)
    : m_work(work)
{
    if (!work.spans.empty() || !work.memory.empty()) {
        std::int64_t beginNs = INT64_MAX, endNs = INT64_MIN;
        for (const WorkSpan& span : work.spans) {
            beginNs = std::min(beginNs, span.startNs);
            endNs = std::max(endNs, span.endNs());
        }
        for (const MemoryReading& reading : work.memory) {
            beginNs = std::min(beginNs, reading.timeNs);
            endNs = std::max(endNs, reading.timeNs);
        }
        m_startNs = beginNs;
        m_lengthNs = endNs - beginNs;
    }
    std::vector<std::vector<std::uint32_t>> byLane(work.lanes.size());
    for (std::uint32_t span = 0; span < work.spans.size(); ++span)
        byLane[work.spans[span].lane].push_back(span);
    std::vector<LaneIndex> lanes;
    for (LaneIndex lane = 0; lane < byLane.size(); ++lane)
        if (!byLane[lane].empty())
            lanes.push_back(lane);
    for (const LaneIndex lane : lanes)
        addLane(lane, std::move(byLane[lane]));
    std::ranges::stable_sort(m_tracks, {}, [&](const WorkTrack& track) {
        const WorkLane& lane = work.lanes[track.lane];
        const bool isMain = !lane.device && lane.thread == lane.process; // as Linux numbers them
        return std::tuple(!lane.device, lane.device.value_or(0), !isMain, -track.launches, lane.process,
            lane.device ? lane.stream : lane.thread);
    });
    addMemory();
}

void WorkTracks::addLane(LaneIndex lane, std::vector<std::uint32_t> spans)
{
    const bool isStream = m_work.lanes[lane].device.has_value();
    // What the program names stands above what its threads call: a frame of Python that ends within a step
    // would move all that follows down.
    const auto rank = [&](const WorkSpan& span) {
        return isStream ? rankOf(span.kind) : span.kind == WorkKind::Annotation ? 0 : 1;
    };
    // What holds others comes before them, at the same start too.
    std::ranges::stable_sort(spans, [&](std::uint32_t a, std::uint32_t b) {
        const WorkSpan &one = m_work.spans[a], &other = m_work.spans[b];
        return std::tuple(rank(one), one.startNs, -one.durationNs)
            < std::tuple(rank(other), other.startNs, -other.durationNs);
    });
    WorkTrack track;
    track.lane = lane;
    track.spans = std::ssize(spans);
    track.launches = std::ranges::count_if(
        spans, [&](std::uint32_t span) { return m_work.spans[span].kind == WorkKind::Runtime; });
    std::vector<std::int64_t> ends; // of the last piece of each row
    std::size_t ground = 0; // rows of a lower rank, below which the next ones stand
    int last = -1;
    for (const std::uint32_t place : spans) {
        const WorkSpan& span = m_work.spans[place];
        if (rank(span) != std::exchange(last, rank(span)))
            ground = ends.size();
        const std::size_t row = rowFor(span, ends, ground);
        if (row == ends.size()) {
            ends.push_back(0);
            track.rows.emplace_back();
        }
        ends[row] = span.endNs();
        WorkRow& pieces = track.rows[row];
        if (pieces.spans.size() % kCoarse == 0)
            pieces.coarse.push_back(beginOf(place));
        pieces.spans.push_back(place);
        pieces.begins.push_back(beginOf(place));
        pieces.ends.push_back(endOf(place));
    }
    m_tracks.push_back(std::move(track));
}

void WorkTracks::addMemory()
{
    std::map<std::pair<int, int>, WorkMemory> found;
    for (const MemoryReading& reading : m_work.memory) {
        if (reading.kind != MemoryReading::Kind::Change || reading.totalAllocatedBytes < 0)
            continue;
        WorkMemory& memory = found[{ reading.deviceType, reading.device }];
        memory.reservedKnown
            = memory.reservedKnown || (reading.deviceType != 0 && reading.totalReservedBytes >= 0);
        // What was there before the first one, from the beginning on.
        if (memory.readings.empty() && reading.timeNs > m_startNs)
            memory.readings.push_back(
                { 0, std::max<std::int64_t>(reading.totalAllocatedBytes - reading.bytes, 0),
                    std::max<std::int64_t>(reading.totalReservedBytes, 0) });
        // One that does not tell is taken for no change.
        const std::int64_t before = memory.readings.empty() ? 0 : memory.readings.back().reservedBytes;
        memory.readings.push_back({ reading.timeNs - m_startNs, reading.totalAllocatedBytes,
            reading.totalReservedBytes >= 0 ? reading.totalReservedBytes : before });
    }
    for (auto& [key, memory] : found) {
        std::tie(memory.deviceType, memory.device) = key;
        std::ranges::stable_sort(memory.readings, {}, &WorkMemory::Reading::timeNs);
        memory.makeLevels();
        m_memory.push_back(std::move(memory));
    }
}

std::size_t WorkTracks::firstIn(const WorkRow& row, std::int64_t ns) const
{
    // They do not overlap: of those that begin before it only the last one can end behind it.
    const std::size_t at = row.firstFrom(ns);
    return at > 0 && row.ends[at - 1] > ns ? at - 1 : at;
}

WorkSegment WorkTracks::segmentAt(const WorkRow& row, std::size_t at, std::int64_t foldNs) const
{
    WorkSegment segment{ row.begins[at], row.ends[at], static_cast<std::uint32_t>(at), 1 };
    if (segment.endNs - segment.beginNs >= foldNs)
        return segment;
    std::size_t behind = row.firstFrom(segment.beginNs + foldNs, at + 1);
    if (behind - at > 1 && row.ends[behind - 1] - row.begins[behind - 1] >= foldNs)
        --behind; // it can stand alone
    segment.count = static_cast<std::uint32_t>(behind - at);
    segment.endNs = row.ends[behind - 1];
    return segment;
}

std::optional<std::uint32_t> WorkTracks::pick(const WorkRow& row, std::int64_t ns, std::int64_t nearNs) const
{
    const std::size_t behind = row.firstFrom(ns + 1);
    std::optional<std::uint32_t> found;
    std::int64_t nearest = nearNs + 1;
    // It begins at or before the instant, or is the next one.
    for (const std::size_t at : { behind - 1, behind }) {
        if (at >= row.size())
            continue;
        const std::int64_t begin = row.begins[at], end = row.ends[at];
        const std::int64_t away = ns < begin ? begin - ns : std::max<std::int64_t>(ns - end, 0);
        if (away < nearest) {
            nearest = away;
            found = row.spans[at];
        }
    }
    return found;
}

std::optional<std::pair<std::size_t, std::size_t>> WorkTracks::placeOf(std::uint32_t span) const
{
    const std::int64_t begin = beginOf(span);
    for (std::size_t track = 0; track < m_tracks.size(); ++track) {
        if (m_tracks[track].lane != m_work.spans[span].lane)
            continue;
        for (std::size_t row = 0; row < m_tracks[track].rows.size(); ++row) {
            const WorkRow& pieces = m_tracks[track].rows[row];
            for (std::size_t at = pieces.firstFrom(begin); at < pieces.size() && pieces.begins[at] == begin;
                 ++at)
                if (pieces.spans[at] == span)
                    return std::pair(track, row);
        }
    }
    return std::nullopt;
}

WorkMemory::Range WorkMemory::joined(const Range& a, const Range& b)
{
    if (!a.known || !b.known)
        return a.known ? a : b;
    return { std::min(a.allocatedMin, b.allocatedMin), std::max(a.allocatedMax, b.allocatedMax),
        std::min(a.reservedMin, b.reservedMin), std::max(a.reservedMax, b.reservedMax), true };
}

void WorkMemory::makeLevels()
{
    std::vector<Range> below;
    for (const Reading& reading : readings)
        below.push_back({ reading.allocatedBytes, reading.allocatedBytes, reading.reservedBytes,
            reading.reservedBytes, true });
    while (below.size() > kFan) {
        std::vector<Range> level((below.size() + kFan - 1) / kFan);
        for (std::size_t i = 0; i < below.size(); ++i)
            level[i / kFan] = joined(level[i / kFan], below[i]);
        m_levels.push_back(level);
        below = std::move(level);
    }
}

WorkMemory::Range WorkMemory::range(std::int64_t beginNs, std::int64_t endNs) const
{
    const auto placeOf = [&](std::int64_t ns) {
        return static_cast<std::size_t>(std::ranges::partition_point(readings, [&](const Reading& each) {
            return each.timeNs < ns;
        }) - readings.begin());
    };
    std::size_t first = placeOf(beginNs), last = placeOf(endNs);
    if (first > 0 && (first == readings.size() || readings[first].timeNs > beginNs))
        --first; // it holds at the begin
    const auto ofOne = [&](std::size_t i) {
        const Reading& reading = readings[i];
        return Range{ reading.allocatedBytes, reading.allocatedBytes, reading.reservedBytes,
            reading.reservedBytes, true };
    };
    Range found;
    const auto add = [&](std::size_t level, std::size_t i) {
        found = joined(found, level == 0 ? ofOne(i) : m_levels[level - 1][i]);
    };
    for (std::size_t level = 0; first < last; ++level) {
        if (level == m_levels.size()) {
            while (first < last)
                add(level, first++);
            break;
        }
        while (first < last && first % kFan != 0)
            add(level, first++);
        while (first < last && last % kFan != 0)
            add(level, --last);
        first /= kFan;
        last /= kFan;
    }
    return found;
}

} // namespace strata::model
