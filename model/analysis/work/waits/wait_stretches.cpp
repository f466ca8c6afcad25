// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/waits/wait_stretches.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <tuple>

namespace strata::model {

namespace {

/// A piece of which one asks what fills it. What fills more than half of it lies over its middle.
struct WaitQuery {
    TimeSpan time;
    LaneIndex lane;
    std::uint32_t stretch;
    bool byCaller; ///< by the operator that called it

    [[nodiscard]] std::int64_t middleNs() const { return time.beginNs + time.ns() / 2; }
};

std::vector<WaitQuery> askedOf(std::span<const WaitStretch> stretches)
{
    std::vector<WaitQuery> asked;
    for (std::uint32_t i = 0; i < stretches.size(); ++i) {
        const WaitStretch& stretch = stretches[i];
        if (stretch.lane == WaitStretch::kNoLane)
            continue;
        const bool hasWait = stretch.wait.ns() > 0;
        asked.push_back({ hasWait ? stretch.wait : stretch.time, stretch.lane, i,
            hasWait || stretch.cause == WaitCause::PageableCopy });
    }
    std::ranges::sort(
        asked, {}, [](const WaitQuery& each) { return std::tuple(each.lane, each.middleNs()); });
    return asked;
}

/// What a thread is in, outermost first. What overlaps without lying within is left in until what began
/// behind it has ended.
class Stack {
public:
    Stack(const Work& work, const StringTable& strings)
        : m_work(work)
        , m_strings(strings)
    {
    }
    void open(std::uint32_t row)
    {
        closeUntil(m_work.spans[row].startNs);
        m_open.push_back(row);
    }
    Filling whatFills(const WaitQuery& asked)
    {
        closeUntil(asked.middleNs());
        for (std::size_t i = m_open.size(); i-- > 0;) {
            const std::int64_t ns = commonNs(at(i), asked.time);
            if (ns <= asked.time.ns() - ns)
                continue;
            const WorkSpan& told = at(asked.byCaller ? callerOf(i) : i);
            return { told.name, commonNs(told, asked.time) };
        }
        return {};
    }

private:
    [[nodiscard]] static std::int64_t commonNs(const WorkSpan& span, const TimeSpan& time)
    {
        return TimeSpan{ std::max(span.startNs, time.beginNs), std::min(span.endNs(), time.endNs) }.ns();
    }
    [[nodiscard]] const WorkSpan& at(std::size_t i) const { return m_work.spans[m_open[i]]; }
    void closeUntil(std::int64_t ns)
    {
        while (!m_open.empty() && at(m_open.size() - 1).endNs() <= ns)
            m_open.pop_back();
    }
    [[nodiscard]] std::size_t callerOf(std::size_t call) const
    {
        const auto isAten = [&](std::size_t i) {
            return at(i).kind == WorkKind::Operator && m_strings[at(i).name].starts_with("aten::");
        };
        std::size_t i = call;
        while (i > 0 && at(i).kind == WorkKind::Runtime)
            --i;
        // Times are rounded: what ends within it, by a nanosecond, did not call it.
        if (at(i).kind != WorkKind::Operator || at(i).endNs() < at(call).endNs())
            return call;
        while (i > 0 && isAten(i) && isAten(i - 1))
            --i;
        return i;
    }

    const Work& m_work;
    const StringTable& m_strings;
    std::vector<std::uint32_t> m_open;
};

} // namespace

std::vector<Filling> whatFills(
    std::span<const WaitStretch> stretches, const Work& work, const StringTable& strings)
{
    std::vector<Filling> fillings(stretches.size());
    const std::vector<WaitQuery> asked = askedOf(stretches);
    std::vector<std::vector<std::uint32_t>> byLane(work.lanes.size());
    std::vector<bool> isAsked(work.lanes.size());
    for (const WaitQuery& each : asked)
        isAsked[each.lane] = true;
    for (std::uint32_t row = 0; row < work.spans.size(); ++row)
        if (const WorkSpan& span = work.spans[row]; isAsked[span.lane] && !isDeviceWork(span.kind)
            && !strings[span.name].starts_with("ProfilerStep#"))
            byLane[span.lane].push_back(row);
    for (auto first = asked.begin(); first != asked.end();) {
        std::vector<std::uint32_t>& rows = byLane[first->lane];
        std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) {
            return std::pair(work.spans[row].startNs, -work.spans[row].durationNs);
        });
        Stack stack(work, strings);
        const LaneIndex lane = first->lane;
        for (auto row = rows.begin(); first != asked.end() && first->lane == lane; ++first) {
            for (; row != rows.end() && work.spans[*row].startNs <= first->middleNs(); ++row)
                stack.open(*row);
            Filling& filling = fillings[first->stretch] = stack.whatFills(*first);
            if (const WaitStretch& stretch = stretches[first->stretch]; stretch.wait.ns() > 0)
                filling.ns = filling.name.valid() ? stretch.time.ns() : 0;
        }
        rows = {};
    }
    return fillings;
}

WaitSums sumsOf(std::span<const WaitStretch> stretches, std::span<const Filling> fillings,
    const StringTable& strings, WaitSide side)
{
    WaitSums sums{};
    std::array<boost::unordered_flat_map<std::uint32_t, WaitPlace>, kWaitCauses> places;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const WaitStretch& stretch = stretches[i];
        if (side != WaitSide::Both && stretch.isAround != (side == WaitSide::Around))
            continue;
        const auto cause = static_cast<std::size_t>(stretch.cause);
        const std::int64_t ns = stretch.time.ns();
        WaitTime& sum = sums[cause];
        sum.ns += ns;
        ++sum.stretches;
        sum.longNs += ns >= kLongWaitNs ? ns : 0;
        if (ns > sum.longestNs) {
            sum.longestNs = ns;
            sum.exampleNs = stretch.time.beginNs;
            sum.doing = fillings[i].name;
        }
        if (!fillings[i].name.valid())
            continue;
        WaitPlace& place = places[cause][fillings[i].name.value];
        place.name = fillings[i].name;
        place.ns += fillings[i].ns;
        ++place.stretches;
    }
    for (std::size_t cause = 0; cause < kWaitCauses; ++cause)
        for (const auto& [id, place] : places[cause])
            if (WaitPlace& most = sums[cause].most; !most.name.valid() || place.ns > most.ns
                || (place.ns == most.ns && strings[place.name] < strings[most.name]))
                most = place;
    return sums;
}

} // namespace strata::model
