// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/ranks/merged_ranks.h"

#include "model/trace/thread_names.h"

#include <algorithm>
#include <climits>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace strata::model {

namespace {

/// Numbers of one trace, which others have too, as numbers of all. 0 stays: it is none.
class Numbers {
public:
    explicit Numbers(std::uint32_t& last)
        : m_last(last)
    {
    }
    std::uint32_t of(std::uint32_t number)
    {
        if (number == 0 || m_last == UINT32_MAX)
            return 0;
        const auto [at, isNew] = m_known.try_emplace(number);
        if (isNew)
            at->second = ++m_last;
        return at->second;
    }

private:
    std::uint32_t& m_last;
    std::unordered_map<std::uint32_t, std::uint32_t> m_known;
};

std::set<int> devicesOf(const Work& work)
{
    std::set<int> devices;
    for (const WorkLane& lane : work.lanes)
        if (lane.device && *lane.device >= 0)
            devices.insert(*lane.device);
    for (const MemoryReading& reading : work.memory)
        if (reading.deviceType == kCudaType && reading.device >= 0)
            devices.insert(reading.device);
    return devices;
}

class Merger {
public:
    Merger(std::span<const RankTrace> traces, const RankWork& ranks)
        : m_traces(traces)
        , m_ranks(ranks)
        , m_what(areOfOneRun(ranks) ? "rank" : "trace")
    {
    }

    MergedRanks merge()
    {
        numberDevices();
        findOffsets();
        for (std::size_t place = 0; place < m_ranks.ranks.size(); ++place)
            add(place);
        return std::move(m_merged);
    }

private:
    [[nodiscard]] const RankTrace& traceOf(std::size_t place) const
    {
        return m_traces[m_ranks.traces[place]];
    }

    void numberDevices()
    {
        std::vector<std::set<int>> devices;
        for (std::size_t place = 0; place < m_ranks.ranks.size(); ++place)
            devices.push_back(devicesOf(*traceOf(place).work));
        const bool isOneEach = std::ranges::all_of(devices, [](const auto& of) { return of.size() <= 1; })
            && std::ranges::all_of(
                m_ranks.ranks, [](std::int64_t rank) { return rank >= 0 && rank <= INT_MAX; });
        int next = 0;
        for (std::size_t place = 0; place < devices.size(); ++place)
            for (const int device : devices[place])
                m_devices[{ place, device }] = isOneEach ? static_cast<int>(m_ranks.ranks[place]) : next++;
    }
    [[nodiscard]] int deviceOf(std::size_t place, int device) const
    {
        const auto at = m_devices.find({ place, device });
        return at != m_devices.end() ? at->second : device;
    }

    /// What each rank's clock shows more than that of all. A rank that began before a clock that begins with
    /// 0 moves them all.
    void findOffsets()
    {
        std::int64_t first = 0;
        for (std::size_t place = 0; place < m_ranks.ranks.size(); ++place) {
            const auto& clock = m_ranks.clocks[place];
            if (!clock && place > 0)
                m_merged.unplaced.push_back(m_ranks.ranks[place]);
            m_offsets.push_back(clock && place > 0 ? clock->offsetNs : 0);
            const Work& work = *traceOf(place).work;
            if (!work.spans.empty() || !work.memory.empty())
                first = std::min(first, timeOf(work).beginNs - m_offsets.back());
        }
        for (std::int64_t& offset : m_offsets)
            offset += first;
        m_merged.laterNs = -first;
    }

    StringId intern(std::string_view text) { return m_merged.strings.intern(text); }

    void add(std::size_t place)
    {
        const Work& work = *traceOf(place).work;
        const StringTable& strings = *traceOf(place).strings;
        std::vector<StringId> known(strings.size());
        const auto text = [&](StringId of) {
            if (!of.valid() || of.value >= known.size())
                return StringId{};
            StringId& to = known[of.value];
            return to.valid() ? to : to = intern(strings[of]);
        };
        const std::int64_t offsetNs = m_offsets[place];
        const auto firstLane = static_cast<LaneIndex>(m_merged.work.lanes.size());
        addLanes(place, work, strings);
        addSpans(place, work, offsetNs, firstLane, text);
        addDetails(work, text);
        addRest(place, work, offsetNs, firstLane);
    }

    void addLanes(std::size_t place, const Work& work, const StringTable& strings)
    {
        for (const WorkLane& lane : work.lanes) {
            const auto named = [&](std::string_view name) {
                return intern(fmt::format("{} {}: {}", m_what, m_ranks.ranks[place], name));
            };
            WorkLane& to = m_merged.work.lanes.emplace_back(lane);
            to.process
                = m_processes
                      .try_emplace({ place, lane.process }, static_cast<std::int64_t>(m_processes.size()) + 1)
                      .first->second;
            if (lane.device)
                to.device = deviceOf(place, *lane.device);
            const std::string_view kind = lane.device ? "GPU" : "process";
            to.processName = named(lane.processName.valid() ? strings[lane.processName] : kind);
            const std::string_view own
                = lane.threadName.valid() ? strings[lane.threadName] : std::string_view(lane.ownName);
            if (lane.device)
                to.threadName = own.empty() ? intern(fmt::format("stream {}", lane.stream)) : intern(own);
            else
                to.threadName = named(own.empty() ? "thread" : withoutThreadNumber(own));
            to.ownName.clear();
            to.processLabels = lane.processLabels.valid() ? intern(strings[lane.processLabels]) : StringId{};
            to.processSort.reset(); // a rank's processes stand together
        }
    }

    template <class Text>
    void addSpans(
        std::size_t place, const Work& work, std::int64_t offsetNs, LaneIndex firstLane, const Text& text)
    {
        Numbers correlations(m_lastCorrelation), externals(m_lastExternal);
        const Work& before = m_merged.work;
        const auto first = [&](WorkKind kind) {
            const std::size_t rows = kind == WorkKind::Kernel ? before.kernels.size()
                : kind == WorkKind::Operator                  ? before.operators.size()
                                                              : before.copies.size();
            return static_cast<std::uint32_t>(rows);
        };
        std::unordered_map<std::uint32_t, StringId> steps; // of a rank that is not the first
        for (WorkSpan span : work.spans) {
            const StringId name = span.name;
            span.startNs -= offsetNs;
            span.name = text(name);
            span.lane += firstLane;
            span.correlation = correlations.of(span.correlation);
            span.external = externals.of(span.external);
            if (span.detail != WorkSpan::kNoWorkDetail)
                span.detail += first(span.kind);
            if (place > 0 && m_merged.strings[span.name].starts_with("ProfilerStep")) {
                StringId& renamed = steps[name.value];
                if (!renamed.valid())
                    renamed = intern(
                        fmt::format("{} {}: {}", m_what, m_ranks.ranks[place], m_merged.strings[span.name]));
                span.name = renamed;
            }
            m_merged.work.spans.push_back(span);
        }
    }

    template <class Text> void addDetails(const Work& work, const Text& text)
    {
        Work& to = m_merged.work;
        to.kernels.insert(to.kernels.end(), work.kernels.begin(), work.kernels.end());
        to.copies.insert(to.copies.end(), work.copies.begin(), work.copies.end());
        for (OperatorDetail called : work.operators) {
            for (StringId* each : { &called.shapes, &called.types, &called.values, &called.strides })
                *each = text(*each);
            to.operators.push_back(called);
        }
    }

    void addRest(std::size_t place, const Work& work, std::int64_t offsetNs, LaneIndex firstLane)
    {
        Work& to = m_merged.work;
        for (MemoryReading reading : work.memory) {
            reading.timeNs -= offsetNs;
            reading.lane += firstLane;
            if (reading.deviceType == kCudaType)
                reading.device = deviceOf(place, reading.device);
            to.memory.push_back(reading);
        }
        Numbers flows(m_lastFlow);
        for (WorkFlow flow : work.flows) {
            const auto process = m_processes.find({ place, flow.process });
            if (process == m_processes.end())
                continue; // nothing ran there
            flow.timeNs -= offsetNs;
            flow.process = process->second;
            flow.id = flows.of(flow.id);
            to.flows.push_back(flow);
        }
        for (WorkDevice device : work.devices)
            if (const auto at = m_devices.find({ place, device.device }); at != m_devices.end()) {
                device.device = at->second;
                to.devices.push_back(std::move(device));
            }
        for (const auto& [category, rows] : work.counts)
            to.counts[category] += rows;
        for (WorkLoss loss : work.losses) {
            loss.timeNs -= offsetNs;
            to.losses.push_back(loss);
        }
        to.unreadable += work.unreadable;
        to.simulated = to.simulated || work.simulated;
        if (place > 0)
            return;
        to.steps = work.steps;
        for (WorkStep& step : to.steps) {
            step.startNs -= offsetNs;
            step.endNs -= offsetNs;
        }
    }

    std::span<const RankTrace> m_traces;
    const RankWork& m_ranks;
    std::string_view m_what; // that a number is of
    MergedRanks m_merged;
    std::vector<std::int64_t> m_offsets; // ns
    std::map<std::pair<std::size_t, int>, int> m_devices;
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> m_processes;
    std::uint32_t m_lastCorrelation = 0, m_lastExternal = 0, m_lastFlow = 0;
};

} // namespace

MergedRanks mergeRanks(std::span<const RankTrace> traces, const RankWork& ranks)
{
    return Merger(traces, ranks).merge();
}

} // namespace strata::model
