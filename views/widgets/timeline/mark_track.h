// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/join/allocator_marks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::views {

/// Marks that lie too close to be told apart, or one.
struct MarkGroup {
    std::int64_t beginNs = 0, endNs = 0; ///< of the first and the last; since the start of the axis
    std::uint32_t first = 0, last = 0; ///< marks: all of the same part from the one to the other
    std::uint32_t count = 1, taken = 0; ///< of them, segments or parts of such that were taken
};

/// What the allocator asked of the driver, for pictures: segments taken and given back, and out-of-memories,
/// which are never hidden among them. Immutable, any thread. Times are nanoseconds since the start of the
/// axis.
class MarkTrack {
public:
    enum class Part { Segments, OutOfMemories };

    MarkTrack() = default;
    MarkTrack(std::vector<model::AllocatorMark> marks, std::int64_t startNs); ///< by time

    [[nodiscard]] bool empty() const { return m_marks.empty(); }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(m_marks.size()); }
    [[nodiscard]] const model::AllocatorMark& operator[](std::uint32_t mark) const { return m_marks[mark]; }
    [[nodiscard]] std::int64_t timeOf(std::uint32_t mark) const { return m_marks[mark].timeNs - m_startNs; }
    [[nodiscard]] bool has(Part part) const { return !rows(part).times.empty(); }

    /// What of a part lies in [beginNs, endNs], from left to right: marks of which each is nearer than
    /// `foldNs` to the next one come together, none is left out. O(groups + width / foldNs, log n each).
    template <class See>
    void groups(Part part, std::int64_t beginNs, std::int64_t endNs, std::int64_t foldNs, See&& see) const
    {
        const Rows& rows = this->rows(part);
        const std::size_t end = behind(rows, endNs);
        for (std::size_t at = from(rows, beginNs); at < end;) {
            std::size_t last = at;
            for (std::size_t next = at; (next = lastNear(rows, last, foldNs, end)) != last;)
                last = next;
            see(groupOf(rows, at, last));
            at = last + 1;
        }
    }
    /// The marks of a part from one to another, both included. O(n) of what lies between.
    [[nodiscard]] model::AllocatorMarkSums sumsOf(const MarkGroup& group) const;
    /// The nearest within `nearNs`; an out-of-memory before all others.
    [[nodiscard]] std::optional<std::uint32_t> pick(std::int64_t ns, std::int64_t nearNs) const;
    /// The nearest of all.
    [[nodiscard]] std::optional<std::uint32_t> nearest(std::int64_t ns) const;
    [[nodiscard]] std::optional<std::uint32_t> find(const model::AllocatorMark& mark) const; ///< the same one
    /// The group of its own part that holds a mark. O(groups).
    [[nodiscard]] MarkGroup groupOf(std::uint32_t mark, std::int64_t foldNs) const;
    [[nodiscard]] Part partOf(std::uint32_t mark) const
    {
        return m_marks[mark].isOutOfMemory() ? Part::OutOfMemories : Part::Segments;
    }

private:
    struct Rows {
        std::vector<std::int64_t> times;
        std::vector<std::uint32_t> marks;
        std::vector<std::uint32_t> taken{ 0 }; ///< before each of them
    };
    [[nodiscard]] const Rows& rows(Part part) const
    {
        return part == Part::Segments ? m_segments : m_refusals;
    }
    static MarkGroup groupOf(const Rows& rows, std::size_t first, std::size_t last);
    static std::size_t from(const Rows& rows, std::int64_t ns); ///< the first at or behind it
    static std::size_t behind(const Rows& rows, std::int64_t ns); ///< the first behind it
    /// The last below `end` that is nearer than `foldNs` to the one at `at`.
    static std::size_t lastNear(const Rows& rows, std::size_t at, std::int64_t foldNs, std::size_t end);
    static std::optional<std::uint32_t> nearestIn(const Rows& rows, std::int64_t ns, std::int64_t nearNs);

    std::vector<model::AllocatorMark> m_marks;
    std::int64_t m_startNs = 0;
    Rows m_segments, m_refusals;
};

} // namespace strata::views
