// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/lives.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

/// A valley is this deep, of what is before and behind it.
constexpr double kValleyShare = 0.35;

/// A rise of less than this share of the usual is none.
constexpr double kSmallestRise = 0.004;

/// Local bytes of a backward: at least this share of the most of a step. Less is an evaluation.
constexpr double kBackwardShare = 0.3;

/// The gradient of a loss is asked for near where local bytes turn: so many allocs before, and behind.
constexpr std::size_t kLossBefore = 8, kLossBehind = 4;
constexpr std::int64_t kLivesLossBytes = 8;

/// Bytes before each alloc of [first, end), and behind the last, of blocks that are born and go in it.
std::vector<std::int64_t> localBytes(
    const DeviceTrace& trace, std::size_t first, std::size_t end, EventIndex last)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<std::int64_t> bytes(end - first + 1);
    for (std::size_t alloc = first; alloc < end; ++alloc) {
        const EventIndex death = blocks.death(BlockId::born(alloc));
        if (death > last + 1)
            continue;
        const auto gone = static_cast<std::size_t>(allocsBefore(trace, death));
        std::int64_t& rises = bytes[alloc + 1 - first];
        std::int64_t& falls = bytes[std::clamp(gone, alloc + 1, end) - first];
        rises = wrapAdd(rises, blocks.requestedBytes.born[alloc]);
        falls = wrapSub(falls, blocks.requestedBytes.born[alloc]);
    }
    std::int64_t sum = 0;
    for (std::int64_t& each : bytes)
        each = sum = wrapAdd(sum, each);
    return bytes;
}

} // namespace

std::vector<Valley> valleysOf(const std::vector<std::int64_t>& curve, bool tail)
{
    std::vector<Valley> found;
    if (curve.empty())
        return found;
    std::vector<std::int64_t> sorted = curve;
    const auto middle = sorted.begin() + std::ssize(sorted) / 2;
    std::ranges::nth_element(sorted, middle);
    const double least = kSmallestRise * static_cast<double>(*middle) + 1;
    bool falls = false;
    double most = 0, lowest = 0;
    Valley valley;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        const double value = static_cast<double>(curve[i]) + least;
        if (!falls) {
            most = std::max(most, value);
            falls = value <= most * kValleyShare;
            if (!falls)
                continue;
            lowest = value;
            valley = { i, curve[i] };
        }
        if (value <= lowest) {
            lowest = value;
            valley = { i, curve[i] };
        } else if (value >= lowest / kValleyShare) {
            found.push_back(valley);
            falls = false;
            most = value;
        }
    }
    if (tail && falls)
        found.push_back({ curve.size() - 1, valley.bytes });
    return found;
}

namespace {

/// Makes the runs of one step.
class StepLives {
public:
    StepLives(const DeviceTrace& trace, EventIndex first, EventIndex last, WorkHistory& history)
        : m_trace(trace)
        , m_first(static_cast<std::size_t>(allocsBefore(trace, first)))
        , m_history(history)
    {
        const auto end = static_cast<std::size_t>(allocsBefore(trace, last + 1));
        m_bytes = localBytes(trace, m_first, end, last);
        EventIndex begin = first;
        const std::int64_t most = *std::ranges::max_element(m_bytes);
        std::size_t from = 0;
        for (const Valley& valley : valleysOf(m_bytes, true)) {
            const std::size_t top = turn(from, valley.alloc);
            if (most > 0 && static_cast<double>(m_bytes[top]) >= kBackwardShare * static_cast<double>(most)) {
                const EventIndex backward = eventOf(nearLoss(top));
                const EventIndex behind
                    = valley.alloc + 1 < m_bytes.size() ? eventOf(valley.alloc) : last + 1;
                add(RunKind::Forward, begin, backward - 1);
                add(RunKind::Backward, backward, behind - 1);
                begin = std::max(begin, behind);
            }
            from = valley.alloc;
        }
        add(RunKind::Forward, begin, last);
    }

private:
    [[nodiscard]] EventIndex eventOf(std::size_t alloc) const
    {
        const auto row = m_first + alloc;
        return row < m_trace.blocks().alloc.size()
            ? static_cast<EventIndex>(m_trace.blocks().alloc[row].value)
            : m_trace.eventCount();
    }

    /// Where they are most.
    [[nodiscard]] std::size_t turn(std::size_t from, std::size_t to) const
    {
        return static_cast<std::size_t>(std::max_element(m_bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                            m_bytes.begin() + static_cast<std::ptrdiff_t>(to) + 1)
            - m_bytes.begin());
    }

    /// The last alloc as small as the gradient of a loss near one; else that one.
    [[nodiscard]] std::size_t nearLoss(std::size_t alloc) const
    {
        const std::size_t from = alloc > kLossBefore ? alloc - kLossBefore : 0;
        const auto& bytes = m_trace.blocks().requestedBytes.born;
        for (std::size_t i = std::min(alloc + kLossBehind, m_bytes.size() - 1); i-- > from;)
            if (m_first + i < bytes.size() && bytes[m_first + i] <= kLivesLossBytes && bytes[m_first + i] > 0)
                return i;
        return alloc;
    }

    void add(RunKind work, EventIndex first, EventIndex last)
    {
        if (last < first)
            return;
        m_history.runs.push_back({ work, work == RunKind::Backward, first, last, last });
        if (work == RunKind::Backward)
            m_history.backwards.push_back({ first, last });
    }

    const DeviceTrace& m_trace;
    std::size_t m_first;
    WorkHistory& m_history;
    std::vector<std::int64_t> m_bytes;
};

} // namespace

WorkHistory workFromLives(const DeviceTrace& trace, const StepEnds& ends)
{
    WorkHistory history;
    history.isGuess = true;
    EventIndex first = 0;
    for (const EventIndex end : ends) {
        StepLives(trace, first, end, history);
        first = end + 1;
    }
    if (first < trace.eventCount())
        history.runs.push_back(
            { RunKind::Unknown, false, first, trace.eventCount() - 1, trace.eventCount() - 1 });
    return history;
}

} // namespace strata::model
