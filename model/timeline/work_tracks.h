// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace strata::model {

/// A row of a picture of work: pieces of which none overlaps the next one, by their start.
struct WorkRow {
    std::vector<std::uint32_t> spans; ///< rows of Work::spans
    std::vector<std::int64_t> begins; ///< of the same, since WorkTracks::startNs(): searched without a detour
    std::vector<std::int64_t> ends; ///< likewise
    std::vector<std::int64_t> coarse; ///< begins of each 64th, which stay in the processor's cache

    [[nodiscard]] std::size_t size() const { return spans.size(); }
    /// The first from `from` on that begins at `ns` or later.
    [[nodiscard]] std::size_t firstFrom(std::int64_t ns, std::size_t from = 0) const;
};

/// A thread or a stream: what it did, nested things below what holds them.
struct WorkTrack {
    LaneIndex lane = 0;
    std::vector<WorkRow> rows; ///< the outermost first
    std::int64_t spans = 0; ///< in all of them
    std::int64_t launches = 0; ///< of them, calls of the runtime
};

/// What memory of one kind of device was in use, as the profiler's memory events tell it. By time; what they
/// say of the first change holds from the beginning on.
struct WorkMemory {
    int deviceType = 0, device = -1;
    struct Reading {
        std::int64_t timeNs = 0; ///< since WorkTracks::startNs()
        std::int64_t allocatedBytes = 0, reservedBytes = 0;
    };
    std::vector<Reading> readings;
    bool reservedKnown = false; ///< one of them tells of it; else it is 0, as of a CPU

    /// Lowest and highest of allocated and reserved bytes over [beginNs, endNs), what held before included.
    struct Range {
        std::int64_t allocatedMin = 0, allocatedMax = 0, reservedMin = 0, reservedMax = 0;
        bool known = false; ///< there is a reading at or before its end
    };
    [[nodiscard]] Range range(std::int64_t beginNs, std::int64_t endNs) const; ///< O(log n)

private:
    friend class WorkTracks;
    void makeLevels();
    [[nodiscard]] static Range joined(const Range& a, const Range& b);
    std::vector<std::vector<Range>> m_levels; // of 16, 256, ... readings
};

/// A part of a row as a picture of some width shows it: one piece, or several that are too narrow to be told
/// apart.
struct WorkSegment {
    std::int64_t beginNs = 0, endNs = 0; ///< since WorkTracks::startNs()
    std::uint32_t first = 0; ///< of the pieces: place in its row
    std::uint32_t count = 1;
};

/// Work on lanes, for pictures: streams by device, then threads by how often they call
/// the runtime, so that those that launch stand first. Keeps a pointer to the work,
/// which must outlive it; immutable, any thread. Times are nanoseconds since startNs(), since a double would
/// lose some of the epoch's.
class WorkTracks {
public:
    explicit WorkTracks(const Work& work); ///< O(n log n)

    [[nodiscard]] const Work& work() const { return m_work; }
    [[nodiscard]] std::int64_t startNs() const { return m_startNs; } ///< of the first piece
    [[nodiscard]] std::int64_t lengthNs() const { return m_lengthNs; }
    [[nodiscard]] std::span<const WorkTrack> tracks() const { return m_tracks; }
    [[nodiscard]] std::span<const WorkMemory> memory() const { return m_memory; } ///< those that tell totals

    [[nodiscard]] std::int64_t beginOf(std::uint32_t span) const
    {
        return m_work.spans[span].startNs - m_startNs;
    }
    [[nodiscard]] std::int64_t endOf(std::uint32_t span) const
    {
        return m_work.spans[span].endNs() - m_startNs;
    }

    /// What of a row lies in [beginNs, endNs), from left to right; pieces shorter than `foldNs` come together
    /// with their neighbours, none is left out. O(segments log n).
    template <class See>
    void segments(
        const WorkRow& row, std::int64_t beginNs, std::int64_t endNs, std::int64_t foldNs, See&& see) const
    {
        for (std::size_t at = firstIn(row, beginNs); at < row.size() && row.begins[at] < endNs;) {
            const WorkSegment segment = segmentAt(row, at, foldNs);
            see(segment);
            at += segment.count;
        }
    }
    /// The piece of a row that holds an instant, or lies no further than `nearNs` from it: row of
    /// Work::spans.
    [[nodiscard]] std::optional<std::uint32_t> pick(
        const WorkRow& row, std::int64_t ns, std::int64_t nearNs) const;
    /// Track and row of a piece.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> placeOf(std::uint32_t span) const;

private:
    void addLane(LaneIndex lane, std::vector<std::uint32_t> spans);
    void addMemory();
    [[nodiscard]] std::size_t firstIn(const WorkRow& row, std::int64_t ns) const; ///< that ends behind it
    [[nodiscard]] WorkSegment segmentAt(const WorkRow& row, std::size_t at, std::int64_t foldNs) const;

    const Work& m_work;
    std::int64_t m_startNs = 0, m_lengthNs = 0;
    std::vector<WorkTrack> m_tracks;
    std::vector<WorkMemory> m_memory;
};

} // namespace strata::model
