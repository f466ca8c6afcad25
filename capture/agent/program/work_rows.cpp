// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/work_rows.h"

#include "capture/agent/stacks/symbols.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace strata::agent {

namespace {

using cupti::CopyKind;
using cupti::MemoryKind;
using cupti::RecordKind;
using cupti::WaitType;

/// Further from now no record can be: its times are damaged.
constexpr std::int64_t kFarthestNs = std::int64_t{ 86'400 } * 1'000'000'000;

/// Calls that neither start nor wait for anything, many times a launch. Kineto leaves them out too.
constexpr std::array<std::string_view, 12> kQuietCalls{ "cudaGetDevice", "cudaSetDevice", "cudaGetLastError",
    "cudaPeekAtLastError", "cudaEventCreate", "cudaEventCreateWithFlags", "cudaEventDestroy",
    "cudaStreamIsCapturing", "cudaStreamGetCaptureInfo", "cudaEventQuery", "cuCtxGetCurrent",
    "cuCtxSetCurrent" };

std::string_view textOf(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Pageable:
        return "Pageable";
    case MemoryKind::Pinned:
        return "Pinned";
    case MemoryKind::Device:
        return "Device";
    case MemoryKind::Managed:
        return "Managed";
    }
    return "Unknown";
}

std::string_view textOf(CopyKind kind)
{
    switch (kind) {
    case CopyKind::HostToDevice:
        return "HtoD";
    case CopyKind::DeviceToHost:
        return "DtoH";
    case CopyKind::DeviceToDevice:
        return "DtoD";
    case CopyKind::HostToHost:
        return "HtoH";
    case CopyKind::Peer:
        return "PtoP";
    }
    return "Copy";
}

/// As PyTorch's profiler names them: "Memcpy HtoD (Pinned -> Device)".
std::string copyName(CopyKind kind, MemoryKind from, MemoryKind to)
{
    std::string name = "Memcpy ";
    return name.append(textOf(kind)).append(" (").append(textOf(from)).append(" -> ").append(textOf(to))
        + ")";
}

std::string_view waitName(WaitType type)
{
    switch (type) {
    case WaitType::Event:
        return "Event Sync";
    case WaitType::StreamForEvent:
        return "Stream Wait Event";
    case WaitType::Stream:
        return "Stream Sync";
    case WaitType::Context:
        return "Context Sync";
    }
    return "Sync";
}

/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string_view withoutVersion(std::string_view name)
{
    const std::size_t at = name.rfind("_v");
    const bool isVersion = at != name.npos && at + 2 < name.size()
        && std::ranges::all_of(name.substr(at + 2), [](char c) { return c >= '0' && c <= '9'; });
    return isVersion ? name.substr(0, at) : name;
}

} // namespace

bool WorkRows::turn(Times ticks, std::int64_t& startNs, std::int64_t& durationNs) const
{
    if (ticks.second < ticks.first || !m_clock->isWithin(ticks.first, kFarthestNs)
        || !m_clock->isWithin(ticks.second, kFarthestNs))
        return false;
    startNs = m_clock->toNs(ticks.first);
    durationNs = std::max<std::int64_t>(m_clock->toNs(ticks.second) - startNs, 0);
    return true;
}

void WorkRows::addWork(std::uint32_t device, wire::DeviceWorkRow row, Times ticks)
{
    if (!turn(ticks, row.startNs, row.durationNs))
        return unreadable();
    std::uint64_t& taken = m_ends[{ device, row.stream }].taken;
    taken = std::max(taken, ticks.second);
    m_devices[device].chunk.rows.push_back(row);
}

void WorkRows::kernel(const cupti::KernelRecord& record)
{
    m_deviceOfContext[record.context] = static_cast<std::int32_t>(record.device);
    wire::LaunchConfigRow config;
    config.name = kernelName(record.name);
    for (int i = 0; i < 3; ++i) {
        config.grid[i] = static_cast<std::uint32_t>(record.grid[i]);
        config.block[i] = static_cast<std::uint32_t>(record.block[i]);
    }
    config.registers = record.registersPerThread;
    config.sharedBytes = static_cast<std::uint64_t>(std::max(record.staticSharedBytes, 0))
        + static_cast<std::uint64_t>(std::max(record.dynamicSharedBytes, 0));
    OfDevice& device = m_devices[record.device];
    const auto [known, isNew]
        = device.configs.try_emplace(config, static_cast<std::uint32_t>(device.chunk.configs.size()));
    if (isNew)
        device.chunk.configs.push_back(config);
    addWork(record.device,
        { wire::DeviceWorkKind::Kernel, known->second, record.stream, 0, 0, 0, record.correlation },
        { record.start, record.end });
}

void WorkRows::copy(const cupti::MemcpyRecord& record)
{
    m_deviceOfContext[record.context] = static_cast<std::int32_t>(record.device);
    addWork(record.device,
        { wire::DeviceWorkKind::Copy, m_numbers.string(copyName(record.copyKind, record.from, record.to)),
            record.stream, 0, 0, record.bytes, record.correlation },
        { record.start, record.end });
}

void WorkRows::copy(const cupti::MemcpyPeerRecord& record)
{
    addWork(record.device,
        { wire::DeviceWorkKind::Copy, m_numbers.string(copyName(CopyKind::Peer, record.from, record.to)),
            record.stream, 0, 0, record.bytes, record.correlation },
        { record.start, record.end });
}

void WorkRows::set(const cupti::MemsetRecord& record)
{
    std::string name = "Memset (";
    name.append(textOf(static_cast<MemoryKind>(record.memory))).append(")");
    addWork(record.device,
        { wire::DeviceWorkKind::Set, m_numbers.string(name), record.stream, 0, 0, record.bytes,
            record.correlation },
        { record.start, record.end });
}

void WorkRows::call(const cupti::ApiRecord& record)
{
    const std::uint32_t name = callName(record);
    if (name == wire::kNone)
        return;
    wire::WorkCallRow row;
    row.kind = record.kind == RecordKind::Driver ? wire::WorkCallKind::Driver : wire::WorkCallKind::Runtime;
    row.name = name;
    row.thread = m_threadOf(record.thread);
    row.correlation = record.correlation;
    if (!turn({ record.start, record.end }, row.startNs, row.durationNs))
        return unreadable();
    m_calls.push_back(row);
}

void WorkRows::wait(const cupti::SynchronizationRecord& record)
{
    wire::WorkWaitRow row;
    row.name = m_numbers.string(waitName(record.type));
    const auto device = m_deviceOfContext.find(record.context);
    row.device = device == m_deviceOfContext.end() ? -1 : device->second;
    row.stream = record.stream == cupti::kNoneOfThese ? -1 : std::int64_t{ record.stream };
    row.correlation = record.correlation;
    if (!turn({ record.start, record.end }, row.startNs, row.durationNs))
        return unreadable();
    m_waits.push_back(row);
}

void WorkRows::overhead(const cupti::OverheadRecord& record)
{
    constexpr std::uint32_t kOfThread = 2;
    wire::WorkCallRow row;
    row.kind = wire::WorkCallKind::Overhead;
    row.name = m_numbers.string("Profiler");
    row.thread = record.object == kOfThread ? m_threadOf(record.thread) : 0;
    if (!turn({ record.start, record.end }, row.startNs, row.durationNs))
        return unreadable();
    m_calls.push_back(row);
}

void WorkRows::memory(const cupti::MemoryRecord& record)
{
    wire::DriverAllocationRow row;
    std::int64_t none = 0;
    const bool isRelease = record.operation == cupti::MemoryOperation::Release;
    if ((!isRelease && record.operation != cupti::MemoryOperation::Allocation)
        || record.bytes > wire::kMostDriverBytes || !turn({ record.time, record.time }, row.timeNs, none))
        return unreadable();
    row.isRelease = isRelease;
    row.kind = record.memory < wire::kDriverMemoryKinds ? static_cast<wire::DriverMemoryKind>(record.memory)
                                                        : wire::DriverMemoryKind::Unknown;
    row.device = static_cast<std::int32_t>(record.device);
    row.address = record.address;
    row.bytes = record.bytes;
    row.correlation = record.correlation;
    m_allocations.push_back(row);
}

std::uint32_t WorkRows::kernelName(const char* name)
{
    const auto [known, isNew] = m_kernelNames.try_emplace(name ? name : "", wire::kNone);
    if (isNew)
        known->second = m_numbers.string(known->first.empty() ? "unnamed kernel" : demangled(known->first));
    return known->second;
}

std::uint32_t WorkRows::callName(const cupti::ApiRecord& record)
{
    const auto [known, isNew] = m_callNames.try_emplace({ record.kind, record.call }, wire::kNone);
    if (!isNew)
        return known->second;
    const bool isDriver = record.kind == RecordKind::Driver;
    const char* text = nullptr;
    if (m_library.callName)
        m_library.callName(
            isDriver ? cupti::CallDomain::Driver : cupti::CallDomain::Runtime, record.call, &text);
    const std::string name = text ? std::string(withoutVersion(text))
                                  : (isDriver ? "cu call " : "cuda call ") + std::to_string(record.call);
    if (std::ranges::find(kQuietCalls, name) == kQuietCalls.end())
        known->second = m_numbers.string(name);
    return known->second;
}

/// The clock is read anew for each chunk: work that begins where that of the chunk before ended in its stream
/// could seem to begin a microsecond earlier. It is put behind it, and what follows closely too.
void WorkRows::keepApart(
    const CounterClock& clock, std::uint32_t device, std::vector<wire::DeviceWorkRow>& rows)
{
    struct Ends {
        std::int64_t read = 0, written = 0; ///< by the clock of now, and as it stands in the recording
    };
    std::map<std::uint32_t, Ends> streams;
    for (wire::DeviceWorkRow& row : rows) {
        const StreamEnd& before = m_ends[{ device, row.stream }];
        const auto [entry, isNew] = streams.try_emplace(row.stream);
        Ends& ends = entry->second;
        if (isNew && before.ticks != 0)
            ends = { clock.toNs(before.ticks), before.ns };
        const std::int64_t readEnd = row.startNs + row.durationNs;
        if (row.startNs >= ends.read)
            row.startNs = std::max(row.startNs, ends.written);
        ends = { std::max(ends.read, readEnd), std::max(ends.written, row.startNs + row.durationNs) };
    }
    for (const auto& [stream, ends] : streams) {
        StreamEnd& end = m_ends[{ device, stream }];
        end.ticks = end.taken;
        end.ns = ends.written;
    }
}

void WorkRows::write(const CounterClock& clock, wire::ChunkWriter& writer)
{
    m_clock = &clock;
    m_activity.drain(
        [&](std::span<std::uint8_t> buffer) { cupti::parseRecords(buffer, m_library.next, *this); });
    writeOperators(writer);
    m_clock = nullptr;
    m_numbers.write(writer);
    for (auto& [number, device] : m_devices) {
        wire::DeviceWorkChunk& chunk = device.chunk;
        if (chunk.rows.empty())
            continue;
        chunk.device = static_cast<std::int32_t>(number);
        std::ranges::stable_sort(chunk.rows, {}, &wire::DeviceWorkRow::startNs);
        keepApart(clock, number, chunk.rows);
        m_rows += chunk.rows.size();
        writer.chunk(
            wire::ChunkType::DeviceWork, [&](wire::Bytes& out) { wire::encodeDeviceWork(chunk, out); });
        device = {};
    }
    if (!m_calls.empty()) {
        std::ranges::stable_sort(m_calls, {}, &wire::WorkCallRow::startNs);
        writer.chunk(
            wire::ChunkType::WorkCalls, [&](wire::Bytes& out) { wire::encodeWorkCalls(m_calls, out); });
        m_calls.clear();
    }
    if (!m_waits.empty()) {
        writer.chunk(
            wire::ChunkType::WorkWaits, [&](wire::Bytes& out) { wire::encodeWorkWaits(m_waits, out); });
        m_waits.clear();
    }
    if (!m_allocations.empty()) {
        std::ranges::stable_sort(m_allocations, {}, &wire::DriverAllocationRow::timeNs);
        writer.chunk(wire::ChunkType::DriverAllocations,
            [&](wire::Bytes& out) { wire::encodeDriverAllocations(m_allocations, out); });
        m_allocations.clear();
    }
    writeLosses(clock, writer);
}

wire::OperatorCallRow WorkRows::operatorCall(std::string_view text)
{
    wire::OperatorCallRow call;
    for (std::uint32_t* part : { &call.shapes, &call.types, &call.values, &call.strides }) {
        const std::size_t end = text.find('\n');
        *part = m_numbers.string(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    call.name = m_numbers.string(text);
    return call;
}

/// Within write(), while the clock is known.
void WorkRows::writeOperators(wire::ChunkWriter& writer)
{
    if (!m_operatorLog)
        return;
    const OperatorLog::Taken taken = m_operatorLog->take();
    m_operatorsLost += taken.lost;
    wire::OperatorChunk chunk;
    for (const std::string& call : taken.calls)
        chunk.calls.push_back(operatorCall(call));
    for (const OperatorLog::Row& from : taken.rows) {
        wire::OperatorRow row{ from.call, from.thread, 0, 0, from.sequence };
        if (turn({ from.begin, from.end }, row.startNs, row.durationNs))
            chunk.rows.push_back(row);
        else
            unreadable();
    }
    if (chunk.rows.empty())
        return;
    // Those around others first, as they were called.
    std::ranges::stable_sort(
        chunk.rows, {}, [](const wire::OperatorRow& row) { return std::pair(row.startNs, -row.durationNs); });
    m_rows += chunk.rows.size();
    m_numbers.write(writer);
    writer.chunk(wire::ChunkType::Operators, [&](wire::Bytes& out) { wire::encodeOperators(chunk, out); });
}

void WorkRows::writeLosses(const CounterClock& clock, wire::ChunkWriter& writer)
{
    std::vector<wire::WorkLossRow> rows;
    for (const cupti::Activity::Turn& turn : m_activity.takeTurns())
        rows.push_back({ turn.theirs ? wire::WorkLoss::AnotherProfiler : wire::WorkLoss::Ended,
            clock.toNs(turn.ticks), 0 });
    if (const std::uint64_t lost = m_activity.takeLost() + std::exchange(m_operatorsLost, 0); lost > 0)
        rows.push_back({ wire::WorkLoss::NoRoom, nowNs(), lost });
    if (m_unreadable > 0)
        rows.push_back({ wire::WorkLoss::Unreadable, nowNs(), std::exchange(m_unreadable, 0) });
    if (!rows.empty())
        writer.chunk(
            wire::ChunkType::WorkLosses, [&](wire::Bytes& out) { wire::encodeWorkLosses(rows, out); });
}

} // namespace strata::agent
