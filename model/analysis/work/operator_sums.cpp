// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/operator_sums.h"

#include "model/analysis/work/self_times.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

/// Files may hold times and bytes whose sums are none.
void addWrapped(std::int64_t& sum, std::int64_t value)
{
    sum = wrapAdd(sum, value);
}

/// Time of a device by what launched it: the call, where it is known, else the operator that is named.
struct LaunchedKernel {
    boost::unordered_flat_map<std::uint32_t, std::int64_t> byCorrelation, byOperator;

    explicit LaunchedKernel(const Work& work)
    {
        boost::unordered_flat_set<std::uint32_t> calls;
        for (const WorkSpan& span : work.spans)
            if (span.kind == WorkKind::Runtime && span.correlation != 0)
                calls.insert(span.correlation);
        for (const WorkSpan& span : work.spans)
            if (isDeviceWork(span.kind)) {
                if (calls.contains(span.correlation))
                    addWrapped(byCorrelation[span.correlation], span.durationNs);
                else if (span.external != 0)
                    addWrapped(byOperator[span.external], span.durationNs);
            }
    }
    /// What an operator or a call is to be charged with: once.
    std::int64_t take(const WorkSpan& span)
    {
        const bool isCall = span.kind == WorkKind::Runtime;
        auto& times = isCall ? byCorrelation : byOperator;
        const auto found = times.find(isCall ? span.correlation : span.external);
        if (found == times.end())
            return 0;
        const std::int64_t ns = found->second;
        times.erase(found);
        return ns;
    }
};

/// What a GPU's allocators gave and took back, by lane and time.
std::vector<const MemoryReading*> changesOf(const Work& work)
{
    std::vector<const MemoryReading*> changes;
    for (const MemoryReading& reading : work.memory)
        if (reading.kind == MemoryReading::Kind::Change && reading.deviceType != kCpuType)
            changes.push_back(&reading);
    std::ranges::stable_sort(
        changes, {}, [](const MemoryReading* reading) { return std::tuple(reading->lane, reading->timeNs); });
    return changes;
}

/// An operator, or an annotation, that has begun.
struct Open {
    const WorkSpan* span;
    std::int64_t selfNs;
    std::int64_t levelBytes; ///< of its lane, when it began
    std::int64_t mostBytes; ///< of that since
    std::int64_t deviceSelfNs = 0, deviceChildrenNs = 0;
    std::int64_t childrenBytes = 0;
};

/// Follows the operators of each lane as they begin and end, with the memory between.
class Calls {
public:
    Calls(const Work& work, const StringTable& strings, OperatorsBy by)
        : m_work(work)
        , m_strings(strings)
        , m_by(by)
        , m_changes(changesOf(work))
        , m_next(m_changes.begin())
        , m_launched(work)
    {
    }
    /// By lane and start, those around others first.
    void add(const WorkSpan& span, std::int64_t selfNs)
    {
        readUpTo(span.lane, span.startNs);
        closeUpTo(span.lane, span.startNs);
        if (span.kind != WorkKind::Runtime)
            m_open.push_back({ &span, selfNs, m_levelBytes, m_levelBytes });
        if (!m_open.empty())
            addWrapped(m_open.back().deviceSelfNs, m_launched.take(span));
    }
    [[nodiscard]] CallTimes finish()
    {
        readUpTo(UINT32_MAX, INT64_MAX);
        while (!m_open.empty())
            close();
        std::erase_if(m_times.annotations, [&](const OperatorSums& row) {
            return m_strings[row.name].starts_with("ProfilerStep#"); // has a table of its own
        });
        for (std::vector<OperatorSums>* const rows : { &m_times.operators, &m_times.annotations })
            std::ranges::sort(*rows, [&](const OperatorSums& a, const OperatorSums& b) {
                return a.selfNs != b.selfNs ? a.selfNs > b.selfNs
                                            : std::pair(textOf(a.name), textOf(a.shapes))
                        < std::pair(textOf(b.name), textOf(b.shapes));
            });
        return std::move(m_times);
    }

private:
    void readUpTo(LaneIndex lane, std::int64_t beforeNs)
    {
        const auto isBefore = [&](const MemoryReading* change) {
            return change->lane < lane || (change->lane == lane && change->timeNs < beforeNs);
        };
        for (; m_next != m_changes.end() && isBefore(*m_next); ++m_next) {
            closeUpTo((*m_next)->lane, (*m_next)->timeNs);
            addWrapped(m_levelBytes, (*m_next)->bytes);
            if (!m_open.empty())
                m_open.back().mostBytes = std::max(m_open.back().mostBytes, m_levelBytes);
        }
    }
    void closeUpTo(LaneIndex lane, std::int64_t timeNs)
    {
        while (!m_open.empty() && (m_open.back().span->lane != lane || m_open.back().span->endNs() <= timeNs))
            close();
    }
    void close()
    {
        const Open done = m_open.back();
        m_open.pop_back();
        OperatorSums& row = rowOf(*done.span);
        const std::int64_t bytes = wrapSub(m_levelBytes, done.levelBytes);
        ++row.calls;
        addWrapped(row.totalNs, done.span->durationNs);
        addWrapped(row.selfNs, done.selfNs);
        addWrapped(row.deviceSelfNs, done.deviceSelfNs);
        addWrapped(row.deviceTotalNs, wrapAdd(done.deviceSelfNs, done.deviceChildrenNs));
        if (row.memory) {
            addWrapped(row.memory->selfBytes, wrapSub(bytes, done.childrenBytes));
            addWrapped(row.memory->totalBytes, bytes);
            row.memory->peakBytes = std::max(row.memory->peakBytes, wrapSub(done.mostBytes, done.levelBytes));
        }
        if (m_open.empty())
            return;
        Open& around = m_open.back();
        addWrapped(around.deviceChildrenNs, wrapAdd(done.deviceSelfNs, done.deviceChildrenNs));
        addWrapped(around.childrenBytes, bytes);
        around.mostBytes = std::max(around.mostBytes, done.mostBytes);
    }
    OperatorSums& rowOf(const WorkSpan& span)
    {
        const bool isOperator = span.kind == WorkKind::Operator;
        std::vector<OperatorSums>& rows = isOperator ? m_times.operators : m_times.annotations;
        StringId shapes;
        if (isOperator && m_by == OperatorsBy::NameAndShapes && span.detail != WorkSpan::kNoWorkDetail)
            if (const StringId told = m_work.operators[span.detail].shapes; !m_strings[told].empty())
                shapes = told;
        const auto [found, isNew]
            = m_places.try_emplace(std::tuple(span.name.value, shapes.value, isOperator), rows.size());
        if (isNew) {
            OperatorSums& row = rows.emplace_back();
            row.name = span.name;
            row.shapes = shapes;
            if (!m_changes.empty())
                row.memory.emplace();
        }
        return rows[found->second];
    }
    [[nodiscard]] std::string_view textOf(StringId id) const
    {
        return id.valid() ? m_strings[id] : std::string_view();
    }

    const Work& m_work;
    const StringTable& m_strings;
    OperatorsBy m_by;
    std::vector<const MemoryReading*> m_changes;
    std::vector<const MemoryReading*>::const_iterator m_next;
    LaunchedKernel m_launched;
    std::vector<Open> m_open;
    std::int64_t m_levelBytes = 0; // what has been given less what has been taken back, over all lanes so far
    CallTimes m_times;
    boost::unordered_flat_map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::size_t> m_places;
};

} // namespace

CallTimes callTimesOf(const Work& work, const StringTable& strings, std::span<const std::uint32_t> nested,
    const std::optional<TimeSpan>& range, OperatorsBy by)
{
    std::vector<std::uint32_t> within(nested.begin(), nested.end());
    if (range)
        std::erase_if(within, [&](std::uint32_t row) {
            const std::int64_t startNs = work.spans[row].startNs;
            return startNs < range->beginNs || startNs >= range->endNs;
        });
    const std::vector<std::int64_t> selfNs = selfTimesOf(work, within);
    Calls calls(work, strings, by);
    for (std::size_t i = 0; i < within.size(); ++i)
        calls.add(work.spans[within[i]], selfNs[i]);
    return calls.finish();
}

} // namespace strata::model
