// SPDX-License-Identifier: GPL-3.0-or-later
// Five kinds of chunks, one part of a recording: Work.
#include "model/trace/work.h"

#include "model/chunks/chunk_kinds.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

using wire::DeviceWorkKind;
using wire::WorkCallKind;

WorkKind workKindOf(DeviceWorkKind kind)
{
    return kind == DeviceWorkKind::Kernel ? WorkKind::Kernel
        : kind == DeviceWorkKind::Copy    ? WorkKind::Copy
                                          : WorkKind::Set;
}

DeviceWorkKind codeOf(WorkKind kind)
{
    return kind == WorkKind::Kernel ? DeviceWorkKind::Kernel
        : kind == WorkKind::Copy    ? DeviceWorkKind::Copy
                                    : DeviceWorkKind::Set;
}

/// Functions of the driver are called cuLaunchKernel, those of the runtime cudaLaunchKernel.
bool isDriverCall(std::string_view name)
{
    return name.starts_with("cu") && !name.starts_with("cuda");
}

/// Adds pieces of a chunk to what the recording has.
class Adder {
public:
    explicit Adder(Recording& recording)
        : m_strings(recording.strings)
        , m_work(recording.parts.get<Work>())
    {
        m_work.ownRecording = true;
        for (LaneIndex lane = 0; lane < m_work.lanes.size(); ++lane)
            m_lanes.emplace(keyOf(m_work.lanes[lane]), lane);
    }

    [[nodiscard]] Work& work() { return m_work; }
    [[nodiscard]] LaneIndex streamLane(int device, std::int64_t stream)
    {
        WorkLane lane;
        lane.device = device;
        lane.stream = stream;
        return laneOf(lane);
    }
    [[nodiscard]] LaneIndex threadLane(std::int64_t thread)
    {
        WorkLane lane;
        lane.thread = thread;
        return laneOf(lane);
    }
    /// False: its times are none, or its name never came.
    [[nodiscard]] bool add(const WorkSpan& span)
    {
        if (!span.name.valid() || !isWorkTime(span.startNs) || !isWorkTime(span.durationNs)
            || span.durationNs > kMostWorkNs - span.startNs)
            return false;
        m_work.spans.push_back(span);
        const std::string_view category = span.kind == WorkKind::Runtime && isDriverCall(m_strings[span.name])
            ? "cuda_driver"
            : workCategory(span.kind);
        const auto count = m_work.counts.find(category);
        if (count == m_work.counts.end())
            m_work.counts.emplace(category, 1);
        else
            ++count->second;
        return true;
    }

private:
    using Key = std::tuple<bool, int, std::int64_t, std::int64_t>;
    static Key keyOf(const WorkLane& lane)
    {
        return { lane.device.has_value(), lane.device.value_or(0), lane.stream, lane.thread };
    }
    LaneIndex laneOf(const WorkLane& lane)
    {
        const auto [known, isNew]
            = m_lanes.try_emplace(keyOf(lane), static_cast<LaneIndex>(m_work.lanes.size()));
        if (isNew)
            m_work.lanes.push_back(lane);
        return known->second;
    }

    const StringTable& m_strings;
    Work& m_work;
    std::map<Key, LaneIndex> m_lanes;
};

/// What a recording has of its own making; nullptr: nothing.
const Work* ownWork(const Recording& recording)
{
    const auto* const work = recording.parts.find<Work>();
    return work && work->ownRecording ? work : nullptr;
}

bool takeDeviceWork(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::DeviceWorkChunk chunk;
    if (!wire::decodeDeviceWork(payload, chunk))
        return false;
    Adder adder(recording);
    Work& work = adder.work();
    const auto firstDetail = static_cast<std::uint32_t>(work.kernels.size());
    std::vector<StringId> names;
    for (const wire::LaunchConfigRow& config : chunk.configs) {
        KernelDetail detail;
        for (int i = 0; i < 3; ++i) {
            detail.grid[i] = static_cast<std::int32_t>(config.grid[i]);
            detail.block[i] = static_cast<std::int32_t>(config.block[i]);
        }
        detail.registers = static_cast<std::int32_t>(config.registers);
        detail.sharedBytes = static_cast<std::int64_t>(config.sharedBytes);
        work.kernels.push_back(detail);
        names.emplace_back();
        if (!StreamTables::find(tables.strings, config.name, names.back()))
            return false;
    }
    for (const wire::DeviceWorkRow& row : chunk.rows) {
        WorkSpan span;
        span.kind = workKindOf(row.kind);
        span.startNs = row.startNs;
        span.durationNs = row.durationNs;
        span.lane = adder.streamLane(chunk.device, row.stream);
        span.correlation = row.correlation;
        if (row.kind == DeviceWorkKind::Kernel) {
            span.name = names[row.what];
            span.detail = firstDetail + row.what;
        } else {
            constexpr std::uint64_t kMostBytes = std::uint64_t{ 1 } << 62;
            if (!StreamTables::find(tables.strings, row.what, span.name) || row.bytes > kMostBytes)
                return false;
            span.detail = static_cast<std::uint32_t>(work.copies.size());
            work.copies.push_back({ static_cast<std::int64_t>(row.bytes) });
        }
        if (!adder.add(span))
            return false;
    }
    return true;
}

wire::LaunchConfigRow configOf(const Work& work, const WorkSpan& span)
{
    wire::LaunchConfigRow config;
    config.name = numberOf(span.name);
    const KernelDetail& detail = work.kernels[span.detail];
    for (int i = 0; i < 3; ++i) {
        config.grid[i] = static_cast<std::uint32_t>(detail.grid[i]);
        config.block[i] = static_cast<std::uint32_t>(detail.block[i]);
    }
    config.registers = static_cast<std::uint32_t>(detail.registers);
    config.sharedBytes = static_cast<std::uint64_t>(detail.sharedBytes);
    return config;
}

void writeDeviceWork(const Recording& recording, wire::ChunkWriter& writer)
{
    const Work* const work = ownWork(recording);
    if (!work)
        return;
    std::map<int, std::vector<const WorkSpan*>> byDevice;
    for (const WorkSpan& span : work->spans)
        if (isDeviceWork(span.kind))
            byDevice[work->lanes[span.lane].device.value_or(-1)].push_back(&span);
    for (const auto& [device, spans] : byDevice) {
        for (std::size_t first = 0; first < spans.size(); first += kRowsAChunk) {
            wire::DeviceWorkChunk chunk;
            chunk.device = device;
            std::map<wire::LaunchConfigRow, std::uint32_t> configs;
            for (std::size_t i = first; i < std::min(first + kRowsAChunk, spans.size()); ++i) {
                const WorkSpan& span = *spans[i];
                wire::DeviceWorkRow row;
                row.kind = codeOf(span.kind);
                row.stream = static_cast<std::uint32_t>(work->lanes[span.lane].stream);
                row.startNs = span.startNs;
                row.durationNs = span.durationNs;
                row.correlation = span.correlation;
                if (span.kind == WorkKind::Kernel) {
                    const auto [known, isNew] = configs.try_emplace(
                        configOf(*work, span), static_cast<std::uint32_t>(chunk.configs.size()));
                    if (isNew)
                        chunk.configs.push_back(known->first);
                    row.what = known->second;
                } else {
                    row.what = numberOf(span.name);
                    row.bytes = static_cast<std::uint64_t>(work->copies[span.detail].bytes);
                }
                chunk.rows.push_back(row);
            }
            writer.chunk(
                wire::ChunkType::DeviceWork, [&](wire::Bytes& out) { wire::encodeDeviceWork(chunk, out); });
        }
    }
}

OperatorDetail keptDetail(OperatorDetail detail, const KeptRows& kept)
{
    for (StringId* text : { &detail.shapes, &detail.types, &detail.values, &detail.strides })
        if (text->valid())
            *text = kept.text(*text);
    return detail;
}

/// Those pieces of `from` that lie within what is kept and that are wanted.
void keepSpans(
    const Recording& from, const KeptRows& kept, Recording& to, const std::function<bool(WorkKind)>& isWanted)
{
    const Work* const work = ownWork(from);
    if (!work)
        return;
    Adder adder(to);
    std::map<std::uint32_t, std::uint32_t> kernels;
    for (WorkSpan span : work->spans) {
        const WorkLane& lane = work->lanes[span.lane];
        if (!isWanted(span.kind) || (lane.device && *lane.device >= 0 && !kept.spans.contains(*lane.device)))
            continue;
        if (kept.time && (span.startNs > kept.time->lastNs || span.endNs() < kept.time->firstNs))
            continue;
        span.name = kept.text(span.name);
        span.lane = lane.device ? adder.streamLane(*lane.device, lane.stream) : adder.threadLane(lane.thread);
        if (span.kind == WorkKind::Operator) {
            adder.work().operators.push_back(keptDetail(work->operators[span.detail], kept));
            span.detail = static_cast<std::uint32_t>(adder.work().operators.size() - 1);
        } else if (span.kind == WorkKind::Kernel) {
            const auto [known, isNew]
                = kernels.try_emplace(span.detail, static_cast<std::uint32_t>(adder.work().kernels.size()));
            if (isNew)
                adder.work().kernels.push_back(work->kernels[span.detail]);
            span.detail = known->second;
        } else if (isDeviceWork(span.kind)) {
            adder.work().copies.push_back(work->copies[span.detail]);
            span.detail = static_cast<std::uint32_t>(adder.work().copies.size() - 1);
        }
        (void)adder.add(span);
    }
}

void keepDeviceWork(const Recording& from, const KeptRows& kept, Recording& to)
{
    keepSpans(from, kept, to, isDeviceWork);
}

bool takeCalls(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::WorkCallRow> rows;
    if (!wire::decodeWorkCalls(payload, rows))
        return false;
    Adder adder(recording);
    for (const wire::WorkCallRow& row : rows) {
        WorkSpan span;
        span.kind = row.kind == WorkCallKind::Overhead ? WorkKind::Overhead : WorkKind::Runtime;
        span.startNs = row.startNs;
        span.durationNs = row.durationNs;
        span.lane = adder.threadLane(row.thread);
        span.correlation = row.correlation;
        if (!StreamTables::find(tables.strings, row.name, span.name) || !adder.add(span))
            return false;
    }
    return true;
}

bool isCall(WorkKind kind)
{
    return kind == WorkKind::Runtime || kind == WorkKind::Overhead;
}

/// Chunks of rows that `rowOf` makes of the pieces that are wanted.
template <class Row, class Wanted, class RowOf, class Encode>
void writeRows(const Recording& recording, wire::ChunkWriter& writer, wire::ChunkType type, Wanted wanted,
    RowOf rowOf, Encode encode)
{
    const Work* const work = ownWork(recording);
    if (!work)
        return;
    std::vector<Row> rows;
    const auto flush = [&] {
        if (!rows.empty())
            writer.chunk(type, [&](wire::Bytes& out) { encode(rows, out); });
        rows.clear();
    };
    for (const WorkSpan& span : work->spans) {
        if (!wanted(span.kind))
            continue;
        rows.push_back(rowOf(*work, span));
        if (rows.size() >= kRowsAChunk)
            flush();
    }
    flush();
}

void writeCalls(const Recording& recording, wire::ChunkWriter& writer)
{
    writeRows<wire::WorkCallRow>(
        recording, writer, wire::ChunkType::WorkCalls, isCall,
        [&](const Work& work, const WorkSpan& span) {
            const WorkCallKind kind = span.kind == WorkKind::Overhead ? WorkCallKind::Overhead
                : isDriverCall(recording.strings[span.name])          ? WorkCallKind::Driver
                                                                      : WorkCallKind::Runtime;
            return wire::WorkCallRow{ kind, numberOf(span.name),
                static_cast<std::uint32_t>(work.lanes[span.lane].thread), span.startNs, span.durationNs,
                span.correlation };
        },
        [](const auto& rows, wire::Bytes& out) { wire::encodeWorkCalls(rows, out); });
}

void keepCalls(const Recording& from, const KeptRows& kept, Recording& to)
{
    keepSpans(from, kept, to, isCall);
}

/// Takes a value of JSON off the front of a text: a list, a number, or a text of printable ASCII without
/// escapes, which is all that a recorder writes of inputs. False: it begins with none.
bool takeValue(std::string_view& text, int depth)
{
    constexpr int kDeepest = 8;
    const auto takes = [&](char c) {
        const bool isThere = text.starts_with(c);
        text.remove_prefix(isThere ? 1 : 0);
        return isThere;
    };
    const auto takesDigits = [&] {
        const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(count);
        return count > 0;
    };
    if (takes('"')) {
        while (!text.empty() && text.front() >= ' ' && text.front() <= '~' && text.front() != '"'
            && text.front() != '\\')
            text.remove_prefix(1);
        return takes('"');
    }
    if (takes('[')) {
        if (takes(']'))
            return true;
        do {
            takes(' ');
            if (depth == kDeepest || !takeValue(text, depth + 1))
                return false;
        } while (takes(','));
        return takes(']');
    }
    takes('-');
    if (!takes('0') && !takesDigits())
        return false;
    if (takes('.') && !takesDigits())
        return false;
    if (takes('e') || takes('E')) {
        if (!takes('-'))
            takes('+');
        return takesDigits();
    }
    return true;
}

/// Who writes a document takes them into it as they are.
bool isList(std::string_view text)
{
    return text.starts_with('[') && takeValue(text, 0) && text.empty();
}

bool takeOperators(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::OperatorChunk chunk;
    if (!wire::decodeOperators(payload, chunk))
        return false;
    struct Call {
        StringId name;
        OperatorDetail detail;
    };
    std::vector<Call> calls;
    for (const wire::OperatorCallRow& row : chunk.calls) {
        Call& call = calls.emplace_back();
        const auto find = [&](std::uint32_t number, StringId& id) {
            return StreamTables::find(tables.strings, number, id)
                && (!id.valid() || isList(recording.strings[id]));
        };
        if (!StreamTables::find(tables.strings, row.name, call.name) || !find(row.shapes, call.detail.shapes)
            || !find(row.types, call.detail.types) || !find(row.values, call.detail.values)
            || !find(row.strides, call.detail.strides))
            return false;
    }
    Adder adder(recording);
    std::vector<OperatorDetail>& details = adder.work().operators;
    for (const wire::OperatorRow& row : chunk.rows) {
        WorkSpan span;
        span.kind = WorkKind::Operator;
        span.startNs = row.startNs;
        span.durationNs = row.durationNs;
        span.lane = adder.threadLane(row.thread);
        span.name = calls[row.call].name;
        span.detail = static_cast<std::uint32_t>(details.size());
        details.push_back(calls[row.call].detail);
        details.back().sequence = row.sequence;
        if (!adder.add(span))
            return false;
    }
    return true;
}

bool isOperator(WorkKind kind)
{
    return kind == WorkKind::Operator;
}

void writeOperators(const Recording& recording, wire::ChunkWriter& writer)
{
    const Work* const work = ownWork(recording);
    if (!work)
        return;
    wire::OperatorChunk chunk;
    std::map<wire::OperatorCallRow, std::uint32_t> calls;
    const auto flush = [&] {
        if (!chunk.rows.empty())
            writer.chunk(
                wire::ChunkType::Operators, [&](wire::Bytes& out) { wire::encodeOperators(chunk, out); });
        chunk = {};
        calls.clear();
    };
    for (const WorkSpan& span : work->spans) {
        if (!isOperator(span.kind))
            continue;
        const OperatorDetail& detail = work->operators[span.detail];
        const wire::OperatorCallRow call{ numberOf(span.name), numberOf(detail.shapes),
            numberOf(detail.types), numberOf(detail.values), numberOf(detail.strides) };
        const auto [known, isNew] = calls.try_emplace(call, static_cast<std::uint32_t>(chunk.calls.size()));
        if (isNew)
            chunk.calls.push_back(call);
        chunk.rows.push_back({ known->second, static_cast<std::uint32_t>(work->lanes[span.lane].thread),
            span.startNs, span.durationNs, detail.sequence });
        if (chunk.rows.size() >= kRowsAChunk)
            flush();
    }
    flush();
}

void keepOperators(const Recording& from, const KeptRows& kept, Recording& to)
{
    keepSpans(from, kept, to, isOperator);
}

bool takeWaits(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::WorkWaitRow> rows;
    if (!wire::decodeWorkWaits(payload, rows))
        return false;
    Adder adder(recording);
    for (const wire::WorkWaitRow& row : rows) {
        WorkSpan span;
        span.kind = WorkKind::Synchronisation;
        span.startNs = row.startNs;
        span.durationNs = row.durationNs;
        span.lane = adder.streamLane(row.device, row.stream);
        span.correlation = row.correlation;
        if (!StreamTables::find(tables.strings, row.name, span.name) || !adder.add(span))
            return false;
    }
    return true;
}

bool isWait(WorkKind kind)
{
    return kind == WorkKind::Synchronisation;
}

void writeWaits(const Recording& recording, wire::ChunkWriter& writer)
{
    writeRows<wire::WorkWaitRow>(
        recording, writer, wire::ChunkType::WorkWaits, isWait,
        [](const Work& work, const WorkSpan& span) {
            const WorkLane& lane = work.lanes[span.lane];
            return wire::WorkWaitRow{ numberOf(span.name), lane.device.value_or(-1), lane.stream,
                span.startNs, span.durationNs, span.correlation };
        },
        [](const auto& rows, wire::Bytes& out) { wire::encodeWorkWaits(rows, out); });
}

void keepWaits(const Recording& from, const KeptRows& kept, Recording& to)
{
    keepSpans(from, kept, to, isWait);
}

bool takeLosses(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::WorkLossRow> rows;
    if (!wire::decodeWorkLosses(payload, rows))
        return false;
    Work& work = Adder(recording).work();
    for (const wire::WorkLossRow& row : rows) {
        const auto count = static_cast<std::int64_t>(row.count);
        if (count < 0)
            return false;
        work.losses.push_back({ row.why, row.timeNs, count });
    }
    return true;
}

void writeLosses(const Recording& recording, wire::ChunkWriter& writer)
{
    const Work* const work = ownWork(recording);
    if (!work || work->losses.empty())
        return;
    std::vector<wire::WorkLossRow> rows;
    for (const WorkLoss& loss : work->losses)
        rows.push_back({ loss.why, loss.timeNs, static_cast<std::uint64_t>(loss.count) });
    writer.chunk(wire::ChunkType::WorkLosses, [&](wire::Bytes& out) { wire::encodeWorkLosses(rows, out); });
}

void keepLosses(const Recording& from, const KeptRows& kept, Recording& to)
{
    const Work* const work = ownWork(from);
    if (!work)
        return;
    for (const WorkLoss& loss : work->losses)
        if (!kept.time || (loss.timeNs >= kept.time->firstNs && loss.timeNs <= kept.time->lastNs))
            Adder(to).work().losses.push_back(loss);
}

} // namespace

extern const ChunkKind kDeviceWorkChunk, kWorkCallsChunk, kWorkWaitsChunk, kWorkLossesChunk, kOperatorsChunk;
const ChunkKind kDeviceWorkChunk{ wire::ChunkType::DeviceWork, ChunkKind::Place::BehindEvents, takeDeviceWork,
    writeDeviceWork, keepDeviceWork };
const ChunkKind kWorkCallsChunk{ wire::ChunkType::WorkCalls, ChunkKind::Place::BehindEvents, takeCalls,
    writeCalls, keepCalls };
const ChunkKind kWorkWaitsChunk{ wire::ChunkType::WorkWaits, ChunkKind::Place::BehindEvents, takeWaits,
    writeWaits, keepWaits };
const ChunkKind kWorkLossesChunk{ wire::ChunkType::WorkLosses, ChunkKind::Place::BehindEvents, takeLosses,
    writeLosses, keepLosses };
const ChunkKind kOperatorsChunk{ wire::ChunkType::Operators, ChunkKind::Place::BehindEvents, takeOperators,
    writeOperators, keepOperators };

} // namespace strata::model
