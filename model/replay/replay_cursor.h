// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_actions.h"
#include "model/replay/event_pools.h"
#include "model/replay/trace_check.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace strata::model {

/// The next event of a recording that a replay has to explain, and where it first led to another one. Only
/// events of the allocator count. The trace must outlive it. Not thread-safe.
class ReplayCursor {
public:
    explicit ReplayCursor(const DeviceTrace& trace)
        : m_trace(&trace)
        , m_events(&trace.events())
        , m_pools(trace)
        , m_count(trace.events().action.size())
    {
        skipOthers();
    }

    [[nodiscard]] std::size_t at() const { return m_at; }
    [[nodiscard]] std::size_t count() const { return m_count; }
    [[nodiscard]] bool atEnd() const { return m_at >= m_count; }
    [[nodiscard]] Action action(std::size_t row) const { return m_events->action[row]; }
    /// What comes next; `otherwise`: what stands for the end.
    [[nodiscard]] Action nextOr(Action otherwise) const { return atEnd() ? otherwise : action(m_at); }
    [[nodiscard]] const EventColumns& events() const { return *m_events; }
    [[nodiscard]] std::uint64_t streamAt(std::size_t row) const
    {
        const StreamIndex stream = m_events->stream[row];
        return stream == kNoIndex ? 0 : static_cast<std::uint64_t>(m_trace->recording().streams[stream]);
    }
    [[nodiscard]] PoolOwner poolAt(std::size_t row) const { return m_pools.at(row); }

    void advance() ///< over the event at the cursor, and what is none of the allocator's
    {
        ++m_at;
        skipOthers();
    }
    /// The row must be one of the allocator's. To replay again from an earlier row, forgetDifference() too.
    void moveTo(std::size_t row) { m_at = row; }
    /// Goes over the event at the cursor, if it is that one; else that is the difference.
    [[nodiscard]] bool expect(const ComparedEvent& got)
    {
        if (m_difference || atEnd() || recorded(m_at) != got) [[unlikely]]
            return isOther(got);
        advance();
        return true;
    }
    /// The replay does something else than the recording, here: the first time counts.
    void differ(const std::optional<ComparedEvent>& got, Sentence cause);
    [[nodiscard]] const std::optional<ReplayDifference>& difference() const { return m_difference; }
    void forgetDifference() { m_difference.reset(); }

private:
    void skipOthers()
    {
        while (!atEnd() && !isOfAllocator(action(m_at)))
            ++m_at;
    }
    [[nodiscard]] ComparedEvent recorded(std::size_t row) const
    {
        const Action what = action(row);
        return { what, what == Action::Oom ? 0 : m_events->address[row], m_events->bytes[row],
            static_cast<std::int64_t>(streamAt(row)) };
    }
    [[nodiscard]] bool isOther(const ComparedEvent& got); ///< false; says why

    const DeviceTrace* m_trace;
    const EventColumns* m_events;
    EventPools m_pools;
    std::size_t m_at = 0, m_count = 0;
    std::optional<ReplayDifference> m_difference;
};

} // namespace strata::model
