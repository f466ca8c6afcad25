// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/chrome_trace.h"

#include "model/session/output_file.h"
#include "model/wire/info.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kBlock = std::size_t{ 1 } << 20; // written at once

class Writer {
public:
    Writer(const Work& work, const StringTable& strings, OutputFile& file)
        : m_work(work)
        , m_strings(strings)
        , m_file(file)
    {
    }

    void write(const std::optional<TimeSpan>& range, const std::string& simulation)
    {
        const auto isIn = [&](std::int64_t beginNs, std::int64_t endNs) {
            return !range || (endNs >= range->beginNs && beginNs < range->endNs);
        };
        m_baseNs = baseOf();
        add(R"({{"schemaVersion":1,"baseTimeNanoseconds":{},"displayTimeUnit":"ms",)", m_baseNs);
        if (m_work.rank)
            add(R"("distributedInfo":{{"rank":{}{}}},)", *m_work.rank,
                m_work.ranks ? fmt::format(R"(,"world_size":{})", *m_work.ranks) : std::string());
        if (!simulation.empty())
            add(R"("{}":{},)", wire::settings::kSimulatedDevice, simulation);
        addDevices();
        add(R"("traceEvents":[)");
        for (const WorkLane& lane : m_work.lanes)
            addLane(lane);
        for (const WorkSpan& span : m_work.spans)
            if (isIn(span.startNs, span.endNs()))
                addSpan(span);
        addSteps(isIn);
        for (const MemoryReading& reading : m_work.memory)
            if (isIn(reading.timeNs, reading.timeNs))
                addMemory(reading);
        for (const WorkFlow& flow : m_work.flows)
            if (isIn(flow.timeNs, flow.timeNs))
                addFlow(flow);
        add("\n]}}\n");
        flush(0);
    }

private:
    template <class... Parts> void add(fmt::format_string<Parts...> form, Parts&&... parts)
    {
        fmt::format_to(std::back_inserter(m_text), form, std::forward<Parts>(parts)...);
        flush(kBlock);
    }
    void flush(std::size_t from)
    {
        if (m_text.size() < from)
            return;
        m_file.write(std::as_bytes(std::span(m_text.data(), m_text.size())));
        m_text.clear();
    }

    /// Times of rows are written since then: what reads them as floating-point numbers keeps their digits.
    [[nodiscard]] std::int64_t baseOf() const
    {
        std::int64_t first = INT64_MAX;
        for (const WorkSpan& span : m_work.spans)
            first = std::min(first, span.startNs);
        for (const MemoryReading& reading : m_work.memory)
            first = std::min(first, reading.timeNs);
        for (const WorkStep& step : m_work.steps)
            first = std::min(first, step.startNs);
        for (const WorkFlow& flow : m_work.flows)
            first = std::min(first, flow.timeNs);
        return first == INT64_MAX ? 0 : first;
    }
    [[nodiscard]] static std::string microseconds(std::int64_t ns)
    {
        return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
    }
    [[nodiscard]] std::string time(std::int64_t ns) const { return microseconds(ns - m_baseNs); }

    [[nodiscard]] static std::string quoted(std::string_view text)
    {
        return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    [[nodiscard]] const std::string& quoted(StringId text)
    {
        const auto [at, isNew] = m_quoted.try_emplace(text.value);
        if (isNew)
            at->second = quoted(text.valid() ? m_strings[text] : std::string_view());
        return at->second;
    }

    void row() { add("{}", std::exchange(m_isFirst, false) ? "\n" : ",\n"); }

    void addDevices()
    {
        if (m_work.devices.empty())
            return;
        add(R"("deviceProperties":[)");
        for (std::size_t i = 0; i < m_work.devices.size(); ++i) {
            const WorkDevice& device = m_work.devices[i];
            add(R"({}{{"id":{},"name":{},"totalGlobalMem":{},"numSms":{}}})", i == 0 ? "" : ",",
                device.device, quoted(device.name), device.totalBytes, device.multiprocessors);
        }
        add("],");
    }

    void addLane(const WorkLane& lane)
    {
        const auto tell = [&](std::string_view kind, std::string_view member, const auto& value) {
            row();
            add(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"{}":{}}}}})", kind, lane.process,
                lane.thread, member, value);
        };
        const auto name = [&](std::string_view kind, const std::string& text) { tell(kind, "name", text); };
        if (lane.processLabels.valid())
            tell("process_labels", "labels", quoted(lane.processLabels));
        if (lane.processSort)
            tell("process_sort_index", "sort_index", *lane.processSort);
        if (lane.threadSort)
            tell("thread_sort_index", "sort_index", *lane.threadSort);
        if (lane.processName.valid())
            name("process_name", quoted(lane.processName));
        else if (m_work.ownRecording && lane.device)
            name("process_name", quoted(fmt::format("GPU {}", *lane.device)));
        if (lane.threadName.valid())
            name("thread_name", quoted(lane.threadName));
        else if (!lane.ownName.empty())
            name("thread_name", quoted(lane.ownName));
    }

    /// Those that no annotation tells of, as the profiler would: on a thread of their own.
    template <class IsIn> void addSteps(const IsIn& isIn)
    {
        const auto isStep = [&](const WorkSpan& span) {
            return span.kind == WorkKind::Annotation && m_strings[span.name].starts_with("ProfilerStep");
        };
        if (m_work.steps.empty() || std::ranges::any_of(m_work.spans, isStep))
            return;
        std::int64_t process = 0, thread = 1;
        for (const WorkLane& lane : m_work.lanes)
            if (!lane.device) {
                process = lane.process;
                break;
            }
        for (const WorkLane& lane : m_work.lanes)
            if (lane.process == process)
                thread = std::max(thread, lane.thread + 1);
        row();
        add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"steps"}}}})", process,
            thread);
        for (const WorkStep& step : m_work.steps) {
            if (!isIn(step.startNs, step.endNs))
                continue;
            row();
            add(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":{},"tid":{},"ts":{},)"
                R"("dur":{},"args":{{}}}})",
                step.number, process, thread, time(step.startNs), microseconds(step.endNs - step.startNs));
        }
    }

    void addSpan(const WorkSpan& span)
    {
        const WorkLane& lane = m_work.lanes[span.lane];
        row();
        add(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{)",
            workCategory(span.kind), quoted(span.name), lane.process, lane.thread, time(span.startNs),
            microseconds(span.durationNs));
        m_isBare = true;
        if (lane.device) {
            argument("device", *lane.device);
            argument("stream", lane.stream);
        }
        if (span.correlation != 0)
            argument("correlation", span.correlation);
        if (span.external != 0)
            argument("External id", span.external);
        if (span.detail != WorkSpan::kNoWorkDetail)
            addDetail(span);
        add("}}}}");
        addArrow(span, lane);
    }

    template <class Value> void argument(std::string_view name, const Value& value)
    {
        add(R"({}"{}":{})", std::exchange(m_isBare, false) ? "" : ",", name, value);
    }

    void addDetail(const WorkSpan& span)
    {
        if (span.kind == WorkKind::Kernel) {
            const KernelDetail& kernel = m_work.kernels[span.detail];
            const auto triple
                = [](const std::int32_t(&of)[3]) { return fmt::format("[{},{},{}]", of[0], of[1], of[2]); };
            if (kernel.grid[0] >= 0)
                argument("grid", triple(kernel.grid));
            if (kernel.block[0] >= 0)
                argument("block", triple(kernel.block));
            if (kernel.registers >= 0)
                argument("registers per thread", kernel.registers);
            if (kernel.sharedBytes >= 0)
                argument("shared memory", kernel.sharedBytes);
            if (kernel.occupancyPercent >= 0)
                argument("est. achieved occupancy %", kernel.occupancyPercent);
        } else if (span.kind == WorkKind::Operator) {
            const OperatorDetail& called = m_work.operators[span.detail];
            const auto text = [&](std::string_view name, StringId json) { // as it stood in the file
                if (json.valid() && !m_strings[json].empty())
                    argument(name, m_strings[json]);
            };
            text("Input Dims", called.shapes);
            text("Input type", called.types);
            text("Concrete Inputs", called.values);
            text("Input Strides", called.strides);
            if (called.sequence >= 0) {
                argument("Sequence number", called.sequence);
                argument("Fwd thread id", called.forwardThread);
            }
        } else if (m_work.copies[span.detail].bytes >= 0) {
            argument("bytes", m_work.copies[span.detail].bytes);
        }
    }

    void addArrow(const WorkSpan& span, const WorkLane& lane)
    {
        const bool isWork = isDeviceWork(span.kind);
        if (span.correlation == 0 || (!isWork && span.kind != WorkKind::Runtime))
            return;
        row();
        add(R"({{"ph":"{}","id":{},"cat":"ac2g","name":"ac2g","pid":{},"tid":{},"ts":{}{}}})",
            isWork ? "f" : "s", span.correlation, lane.process, lane.thread, time(span.startNs),
            isWork ? R"(,"bp":"e")" : "");
    }

    void addFlow(const WorkFlow& flow)
    {
        row();
        add(R"({{"ph":"{}","id":{},"cat":"fwdbwd","name":"fwdbwd","pid":{},"tid":{},"ts":{}{}}})",
            flow.isEnd ? "f" : "s", flow.id, flow.process, flow.thread, time(flow.timeNs),
            flow.isEnd ? R"(,"bp":"e")" : "");
    }

    void addMemory(const MemoryReading& reading)
    {
        const WorkLane& lane = m_work.lanes[reading.lane];
        const bool isRefused = reading.kind == MemoryReading::Kind::OutOfMemory;
        row();
        add(R"({{"ph":"i","s":"t","cat":"cpu_instant_event","name":"{}","pid":{},"tid":{},"ts":{},)"
            R"("args":{{"Device Type":{},"Device Id":{},"Bytes":{})",
            isRefused ? "[OutOfMemory]" : "[memory]", lane.process, lane.thread, time(reading.timeNs),
            reading.deviceType, reading.device, reading.bytes);
        m_isBare = false;
        if (reading.address != 0)
            argument("Addr", reading.address);
        if (reading.totalAllocatedBytes >= 0)
            argument("Total Allocated", reading.totalAllocatedBytes);
        if (reading.totalReservedBytes >= 0)
            argument("Total Reserved", reading.totalReservedBytes);
        add("}}}}");
        if (isRefused || reading.totalAllocatedBytes < 0)
            return;
        row();
        add(R"({{"ph":"C","name":"{} {} memory","pid":{},"ts":{},"args":{{"allocated":{},"reserved":{}}}}})",
            reading.deviceType == 0 ? "CPU" : "GPU", reading.device, lane.process, time(reading.timeNs),
            reading.totalAllocatedBytes, std::max<std::int64_t>(reading.totalReservedBytes, 0));
    }

    const Work& m_work;
    const StringTable& m_strings;
    OutputFile& m_file;
    std::string m_text;
    std::unordered_map<std::uint32_t, std::string> m_quoted;
    std::int64_t m_baseNs = 0;
    bool m_isFirst = true; // no row yet
    bool m_isBare = true; // no argument of the row yet
};

} // namespace

Result<void> saveChromeTrace(const Work& work, const StringTable& strings, const std::filesystem::path& path,
    const std::optional<TimeSpan>& range, const std::string& simulation)
{
    auto file = OutputFile::create(path);
    if (!file)
        return Failure(file.error());
    Writer(work, strings, *file).write(range, simulation);
    return file->commit();
}

} // namespace strata::model
