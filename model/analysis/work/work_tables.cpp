// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/work_tables.h"

#include "model/analysis/work/waits/wait_causes.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <map>
#include <utility>

namespace strata::model {

namespace {

/// Files may hold times whose sums are none.
void addTime(std::int64_t& sum, std::int64_t ns)
{
    sum = wrapAdd(sum, ns);
}

/// Of the last call that was added; what one of them does not tell, their sum does not.
void addBytes(auto& sums, std::int64_t bytes)
{
    sums.bytes = sums.calls == 1 ? bytes : bytes < 0 || sums.bytes < 0 ? -1 : wrapAdd(sums.bytes, bytes);
}

std::optional<double> rateOf(std::int64_t bytes, std::int64_t ns)
{
    return bytes < 0 || ns <= 0 ? std::nullopt
                                : std::optional(static_cast<double>(bytes) * 1e9 / static_cast<double>(ns));
}

bool liesIn(const WorkSpan& span, const std::optional<TimeSpan>& range)
{
    return !range || (span.startNs >= range->beginNs && span.startNs < range->endNs);
}

/// Rows by name.
template <class Row> class Sums {
public:
    Row& add(const WorkSpan& span)
    {
        const auto [found, isNew] = m_places.try_emplace(span.name.value, m_rows.size());
        if (isNew)
            m_rows.emplace_back().name = span.name;
        Row& row = m_rows[found->second];
        ++row.calls;
        addTime(row.totalNs, span.durationNs);
        return row;
    }
    [[nodiscard]] std::vector<Row> take(const StringTable& strings)
    {
        std::ranges::sort(m_rows, [&](const Row& a, const Row& b) {
            return a.totalNs != b.totalNs ? a.totalNs > b.totalNs : strings[a.name] < strings[b.name];
        });
        return std::move(m_rows);
    }

private:
    std::vector<Row> m_rows;
    boost::unordered_flat_map<std::uint32_t, std::size_t> m_places;
};

/// When kernels computed on a device.
class Computation {
public:
    Computation() = default;
    explicit Computation(std::map<LaneIndex, std::vector<TimeSpan>> byStream)
    {
        // From one begin or end to the next, which streams compute does not change.
        struct Change {
            std::int64_t ns;
            bool begins;
            LaneIndex stream;
        };
        std::vector<Change> changes;
        for (auto& [stream, spans] : byStream)
            for (const TimeSpan& span : unionOf(std::move(spans))) {
                changes.push_back({ span.beginNs, true, stream });
                changes.push_back({ span.endNs, false, stream });
            }
        std::ranges::sort(changes, {}, &Change::ns);
        std::map<LaneIndex, Times> alone;
        Times any;
        std::size_t busy = 0;
        LaneIndex streams = 0; // the numbers of all that are, by exclusive or: of one, its own
        std::int64_t sinceNs = 0;
        for (const Change& change : changes) {
            const TimeSpan time{ std::exchange(sinceNs, change.ns), change.ns };
            if (busy > 0 && time.ns() > 0)
                any.push_back(time);
            if (busy == 1 && time.ns() > 0)
                alone[streams].push_back(time);
            busy = change.begins ? busy + 1 : busy - 1;
            streams ^= change.stream;
        }
        m_any = CoveredTime(std::move(any));
        for (auto& [stream, times] : alone)
            m_alone.emplace(stream, std::move(times));
    }

    [[nodiscard]] std::int64_t within(const WorkSpan& span) const
    {
        return m_any.within({ span.startNs, span.endNs() });
    }
    [[nodiscard]] std::int64_t besidesStreamOf(const WorkSpan& span) const
    {
        const auto own = m_alone.find(span.lane);
        return within(span) - (own == m_alone.end() ? 0 : own->second.within({ span.startNs, span.endNs() }));
    }

private:
    CoveredTime m_any;
    std::map<LaneIndex, CoveredTime> m_alone; // by stream: while no other computes
};

using Computations = std::map<int, Computation>; // by device

Computations computationsOf(const Work& work, const std::vector<bool>& isCollective)
{
    std::map<int, std::map<LaneIndex, std::vector<TimeSpan>>> spans;
    for (std::size_t row = 0; row < work.spans.size(); ++row)
        if (const WorkSpan& span = work.spans[row]; span.kind == WorkKind::Kernel && !isCollective[row])
            spans[work.lanes[span.lane].device.value_or(-1)][span.lane].push_back(
                { span.startNs, span.endNs() });
    Computations computations;
    for (auto& [device, byStream] : spans)
        computations.emplace(device, std::move(byStream));
    return computations;
}

const KernelDetail* detailOf(const Work& work, const WorkSpan& span)
{
    return span.detail == WorkSpan::kNoWorkDetail ? nullptr : &work.kernels[span.detail];
}

void addLaunches(std::vector<KernelSums>& rows, const Work& work, const std::optional<TimeSpan>& range)
{
    struct Told {
        std::int64_t occupied = 0;
        double percent = 0;
        std::map<KernelLaunch, std::int64_t> launches;
    };
    boost::unordered_flat_map<std::uint32_t, Told> byName;
    for (const WorkSpan& span : work.spans) {
        const KernelDetail* const detail
            = span.kind == WorkKind::Kernel && liesIn(span, range) ? detailOf(work, span) : nullptr;
        if (!detail)
            continue;
        Told& told = byName[span.name.value];
        if (detail->occupancyPercent >= 0) {
            ++told.occupied;
            told.percent += static_cast<double>(detail->occupancyPercent);
        }
        const KernelLaunch launch{ std::to_array(detail->grid), std::to_array(detail->block) };
        const auto isTold = [](std::int32_t number) { return number >= 0; };
        if (std::ranges::all_of(launch.grid, isTold) && std::ranges::all_of(launch.block, isTold))
            ++told.launches[launch];
    }
    for (KernelSums& row : rows) {
        const Told& told = byName[row.name.value];
        if (told.occupied > 0)
            row.occupancyPercent = told.percent / static_cast<double>(told.occupied);
        if (!told.launches.empty())
            row.launch = std::ranges::max_element(told.launches, {}, [](const auto& each) {
                return each.second;
            })->first;
    }
}

bool isLoading(const WorkSpan& span, const StringTable& strings)
{
    return (span.kind == WorkKind::Annotation || span.kind == WorkKind::Operator)
        && isLoaderWait(strings[span.name]);
}

std::vector<LoadingSums> loadingOf(const Work& work, const StringTable& strings,
    std::span<const ProfilerStep> steps, const std::optional<TimeSpan>& range)
{
    Sums<LoadingSums> sums;
    boost::unordered_flat_map<std::uint32_t, std::vector<TimeSpan>> times;
    for (const WorkSpan& span : work.spans)
        if (isLoading(span, strings) && liesIn(span, range)) {
            sums.add(span);
            times[span.name.value].push_back({ span.startNs, span.endNs() });
        }
    std::vector<TimeSpan> all;
    for (const ProfilerStep& step : steps)
        all.push_back(!range ? step.time
                             : TimeSpan{ std::max(step.time.beginNs, range->beginNs),
                                 std::min(step.time.endNs, range->endNs) });
    const Times inSteps = unionOf(std::move(all));
    std::vector<LoadingSums> rows = sums.take(strings);
    if (const std::int64_t ofNs = lengthOf(inSteps); ofNs > 0)
        for (LoadingSums& row : rows)
            row.shareOfSteps = static_cast<double>(lengthOf(
                                   intersectionOf(unionOf(std::move(times[row.name.value])), inSteps)))
                / static_cast<double>(ofNs);
    return rows;
}

HostPages hostPagesOf(std::string_view copy)
{
    return copy.find("Pageable") != copy.npos ? HostPages::Pageable
        : copy.find("Pinned") != copy.npos    ? HostPages::Pinned
                                              : HostPages::NotTold;
}

} // namespace

std::string_view hostPagesWord(HostPages pages)
{
    static constexpr std::array<std::string_view, kHostPages> kWords{ "", "pinned", "pageable" };
    return kWords[static_cast<std::size_t>(pages)];
}

std::int64_t CallSums::meanNs() const
{
    const std::int64_t whole = totalNs / calls, rest = totalNs % calls;
    return whole + (rest >= calls - rest ? 1 : 0);
}

std::optional<double> CopySums::bytesPerSecond() const
{
    return isTimed ? rateOf(bytes, totalNs) : std::nullopt;
}

std::optional<double> CollectiveSums::bytesPerSecond() const
{
    return isTimed ? rateOf(bytes, totalNs) : std::nullopt;
}

WorkTables tablesOf(const Work& work, const StringTable& strings, std::span<const std::uint32_t> nested,
    std::span<const ProfilerStep> steps, const std::optional<TimeSpan>& range, OperatorsBy by)
{
    std::vector<bool> isCollective(work.spans.size());
    boost::unordered_flat_map<std::uint32_t, bool> byName;
    for (std::size_t row = 0; row < work.spans.size(); ++row)
        if (const WorkSpan& span = work.spans[row]; span.kind == WorkKind::Kernel) {
            const auto [found, isNew] = byName.try_emplace(span.name.value);
            if (isNew)
                found->second = useOf(strings[span.name]) == WorkUse::Communication;
            isCollective[row] = found->second;
        }
    // A copy to memory that the device cannot write by itself: the call returns when it is done.
    boost::unordered_flat_set<std::uint32_t> pageable; // by correlation
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Copy && span.correlation != 0
            && strings[span.name].find("-> Pageable") != std::string_view::npos)
            pageable.insert(span.correlation);
    const Computations computations = computationsOf(work, isCollective);
    const auto computationOf = [&](const WorkSpan& span) -> const Computation& {
        static const Computation kNone;
        const auto found = computations.find(work.lanes[span.lane].device.value_or(-1));
        return found == computations.end() ? kNone : found->second;
    };
    WorkTables tables;
    Sums<KernelSums> kernels;
    Sums<CallSums> calls, waits;
    Sums<CopySums> copies;
    Sums<CollectiveSums> collectives;
    for (std::size_t row = 0; row < work.spans.size(); ++row) {
        const WorkSpan& span = work.spans[row];
        if (!liesIn(span, range))
            continue;
        if (span.kind == WorkKind::Kernel) {
            kernels.add(span);
            if (isCollective[row]) {
                CollectiveSums& sums = collectives.add(span);
                const KernelDetail* const detail = detailOf(work, span);
                addBytes(sums, detail ? detail->messageBytes : -1);
                addTime(sums.underComputationNs, computationOf(span).within(span));
            }
        } else if (span.kind == WorkKind::Runtime) {
            calls.add(span);
            if (isWaiting(strings[span.name]) || pageable.contains(span.correlation))
                waits.add(span);
        } else if (span.kind == WorkKind::Copy || span.kind == WorkKind::Set) {
            CopySums& sums = copies.add(span);
            addBytes(sums, work.copies[span.detail].bytes);
            addTime(sums.underComputationNs, computationOf(span).besidesStreamOf(span));
        }
    }
    CallTimes times = callTimesOf(work, strings, nested, range, by);
    tables.operators = std::move(times.operators);
    tables.annotations = std::move(times.annotations);
    tables.kernels = kernels.take(strings);
    addLaunches(tables.kernels, work, range);
    tables.copies = copies.take(strings);
    for (CopySums& row : tables.copies) {
        row.host = hostPagesOf(strings[row.name]);
        row.isTimed = !work.simulated;
    }
    tables.calls = calls.take(strings);
    tables.synchronisations = waits.take(strings);
    tables.collectives = collectives.take(strings);
    for (CollectiveSums& row : tables.collectives)
        row.isTimed = !work.simulated;
    tables.loading = loadingOf(work, strings, steps, range);
    return tables;
}

} // namespace strata::model
