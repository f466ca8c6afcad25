// SPDX-License-Identifier: Apache-2.0
// The part of a recorder that puts what was taken into chunks.
#include "capture/agent/recorder.h"

#include "model/wire/roles_codec.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace strata::agent {

void Recorder::writeEvents(Stream& stream)
{
    m_numbers.write(m_writer);
    writeLost();
    writeCalls(); // who is killed has those of the events that are written
    m_writer.chunk(wire::ChunkType::Events, [&](wire::Bytes& out) { wire::encodeEvents(stream.chunk, out); });
    stream.chunk.firstEvent += stream.chunk.rows.size();
    stream.chunk.rows.clear();
    for (auto& sparse : stream.chunk.sparse)
        sparse.clear();
}

/// Behind the events that it names.
void Recorder::writeDeepStep()
{
    DeepLog* const log = m_deepLog.load();
    auto step = log ? log->take() : std::nullopt;
    if (!step)
        return;
    for (Stream& stream : m_streams)
        if (!stream.chunk.rows.empty())
            writeEvents(stream);
    wire::DeepStepChunk& chunk = step->chunk;
    std::vector<std::uint32_t> numbers;
    for (const std::string& text : step->texts)
        numbers.push_back(m_numbers.string(text));
    const auto toStream = [&](std::uint32_t& text) {
        if (text != wire::kNone)
            text = numbers[text];
    };
    toStream(chunk.unusable);
    for (wire::DeepTensorRow& tensor : chunk.tensors)
        toStream(tensor.type);
    for (wire::DeepRow& row : chunk.rows) {
        toStream(row.name);
        toStream(row.detail);
    }
    m_numbers.write(m_writer);
    m_writer.chunk(wire::ChunkType::DeepStep, [&](wire::Bytes& out) { wire::encodeDeepStep(chunk, out); });
    writeCallList();
}

/// Of the deep step that was written last.
void Recorder::writeCallList()
{
    CallLog* const log = m_callLog.load();
    auto list = log ? log->take() : std::nullopt;
    if (!list)
        return;
    wire::CallListChunk& chunk = list->chunk;
    std::vector<std::uint32_t> numbers;
    for (const std::string& text : list->texts)
        numbers.push_back(m_numbers.string(text));
    const auto toStream = [&](std::uint32_t& text) {
        if (text != wire::kNone)
            text = numbers[text];
    };
    toStream(chunk.unusable);
    for (wire::CallTensorRow& tensor : chunk.tensors)
        toStream(tensor.type);
    for (wire::CallRow& row : chunk.rows) {
        toStream(row.name);
        toStream(row.detail);
    }
    m_numbers.write(m_writer);
    m_writer.chunk(wire::ChunkType::CallList, [&](wire::Bytes& out) { wire::encodeCallList(chunk, out); });
}

void Recorder::writeLost()
{
    if (!m_lostRows.empty())
        m_writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& out) { wire::encodeLost(m_lostRows, out); });
    m_lostRows.clear();
}

void Recorder::writeState(const TakenState& state)
{
    for (std::size_t device = 0; device < m_devices.size(); ++device) {
        const auto cut = m_cuts.find({ state.number, device });
        if (cut == m_cuts.end())
            continue;
        wire::State out;
        out.device = static_cast<std::int32_t>(device);
        out.events = cut->second;
        std::size_t block = 0;
        for (std::size_t i = 0; i < state.segments.size(); ++i) {
            const hook::Segment& segment = state.segments[i];
            const std::size_t end = block + state.blockCounts[i];
            if (segment.device != out.device) {
                block = end;
                continue;
            }
            const wire::PoolKind kind = segment.large ? wire::PoolKind::Large : wire::PoolKind::Small;
            out.segments.push_back({ segment.address, segment.bytes, segment.allocatedBytes,
                segment.activeBytes, segment.requestedBytes, state.blockCounts[i], wire::kNone,
                m_numbers.stream(segment.stream),
                m_numbers.pool({ static_cast<std::int64_t>(segment.poolOwner),
                    static_cast<std::int64_t>(segment.poolId), kind }),
                segment.expandable });
            for (; block < end; ++block) {
                const hook::Block& from = state.blocks[block];
                const wire::BlockState blockState = from.allocated ? wire::BlockState::Allocated
                    : from.active                                  ? wire::BlockState::PendingFree
                                                                   : wire::BlockState::Inactive;
                out.blocks.push_back(
                    { from.address, from.bytes, from.requestedBytes, blockState, wire::kNone });
            }
        }
        wire::Follower& follower = m_streams[device].follower;
        if (state.purpose == StatePurpose::Base) {
            follower.begin(out);
            m_totals.onBase(out);
            m_driver.onBase(device,
                std::transform_reduce(out.segments.begin(), out.segments.end(), std::int64_t{ 0 },
                    std::plus<>(), [](const wire::SegmentRow& segment) { return segment.bytes; }));
        }
        if (state.purpose == StatePurpose::End)
            m_streams[device].digest = follower.finish(out);
        // A device that was never used is none.
        if (out.segments.empty() && m_streams[device].chunk.firstEvent == 0)
            continue;
        m_streams[device].hasState = true;
        m_numbers.write(m_writer);
        m_writer.chunk(
            state.purpose == StatePurpose::Base ? wire::ChunkType::BaseState : wire::ChunkType::EndState,
            [&](wire::Bytes& bytes) { wire::encodeState(out, bytes); });
    }
}

/// What a summary says, so that it can be had without the events: for all devices or for none.
void Recorder::writeDigests()
{
    const auto isUsed = [](const Stream& stream) { return stream.hasState; };
    if (!std::ranges::all_of(
            m_streams, [&](const Stream& stream) { return !isUsed(stream) || stream.digest.has_value(); }))
        return;
    for (Stream& stream : m_streams) {
        if (!isUsed(stream))
            continue;
        stream.digest->chunks = m_writer.chunks();
        stream.digest->chain = m_writer.chain();
        m_writer.chunk(
            wire::ChunkType::Digest, [&](wire::Bytes& out) { wire::encodeDigest(*stream.digest, out); });
    }
}

void Recorder::writeSettings(const TakenState& state)
{
    if (state.settings == m_settings || state.settings.empty())
        return;
    m_settings = state.settings;
    m_writer.chunk(
        wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(m_settings, out); });
}

void Recorder::writeHost(const hook::HostMemory& host)
{
    namespace info = wire::info;
    const std::vector<wire::KeyValue> items{ { info::kHostSegments, std::to_string(host.segments) },
        { info::kHostReservedBytes, std::to_string(host.reservedBytes) },
        { info::kHostReservedBytesPeak, std::to_string(host.reservedBytesPeak) },
        { info::kHostAllocatedBytes, std::to_string(host.allocatedBytes) } };
    m_writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void Recorder::writeDriver()
{
    const std::vector<wire::DriverRow> rows = m_driver.take();
    m_totals.onDriver(rows);
    if (!rows.empty())
        m_writer.chunk(
            wire::ChunkType::DriverMemory, [&](wire::Bytes& out) { wire::encodeDriver(rows, out); });
}

bool Recorder::isWorkDue(bool writeAll) const
{
    if (!m_work)
        return false;
    const std::int64_t now = nowNs();
    const std::int64_t patience
        = m_sink->isWatched() ? std::min(m_options.watchedWorkFlushNs, m_options.flushNs) : m_options.flushNs;
    return writeAll || now - m_workNs >= patience || now < m_workNs;
}

void Recorder::writeWork()
{
    m_work->write(m_clock, m_writer);
    m_workNs = nowNs();
}

void Recorder::tellTotals()
{
    constexpr std::int64_t kEveryNs = 100'000'000;
    const std::int64_t now = nowNs();
    if (now - m_totalsNs < kEveryNs && now >= m_totalsNs)
        return;
    m_totalsNs = now;
    m_sink->tell(m_totals.at(now, m_options.totalsOf == 0));
}

void Recorder::writeQueued()
{
    std::vector<TakenState> states;
    std::vector<wire::KeyValue> info;
    std::vector<Queued> annotations;
    std::vector<ListedTensor> listed;
    {
        const std::lock_guard lock(m_mutex);
        states.swap(m_states);
        info.swap(m_info);
        annotations.swap(m_annotations);
        listed.swap(m_listed);
    }
    if (!info.empty())
        m_writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(info, out); });
    if (!annotations.empty()) {
        std::vector<wire::AnnotationRow> rows;
        for (const Queued& queued : annotations)
            rows.push_back({ queued.kind, -1, m_numbers.string(queued.name), queued.timeNs, queued.thread });
        m_numbers.write(m_writer);
        m_writer.chunk(
            wire::ChunkType::Annotations, [&](wire::Bytes& out) { wire::encodeAnnotations(rows, out); });
    }
    writeRoles(listed);
    if (states.empty())
        return;
    // The marks of a state are in the rings before the state is handed over: now they are taken too, and
    // with them all events before them.
    for (std::size_t i = 0; i < m_devices.size(); ++i)
        take(i, m_devices[i]->ring.waiting());
    for (Stream& stream : m_streams) {
        if (!stream.chunk.rows.empty())
            writeEvents(stream);
    }
    writeLost();
    writeCalls();
    for (const TakenState& state : states) {
        writeSettings(state);
        if (state.host)
            writeHost(*state.host);
        writeState(state);
    }
}

void Recorder::writeRoles(std::span<const ListedTensor> tensors)
{
    constexpr std::size_t kRowsAChunk = 65'536;
    const auto numberOf
        = [&](const std::string& text) { return text.empty() ? wire::kNone : m_numbers.string(text); };
    for (std::size_t first = 0; first < tensors.size(); first += kRowsAChunk) {
        std::vector<wire::RoleRow> rows;
        for (const ListedTensor& each :
            tensors.subspan(first, std::min(kRowsAChunk, tensors.size() - first))) {
            const Tensor& tensor = *each.tensor;
            rows.push_back({ tensor.device, each.event, tensor.kind, each.address, numberOf(tensor.name),
                numberOf(tensor.part), numberOf(tensor.dtype), tensor.elements, tensor.optimizer });
        }
        m_numbers.write(m_writer);
        m_writer.chunk(wire::ChunkType::Roles, [&](wire::Bytes& out) { wire::encodeRoles(rows, out); });
    }
}

} // namespace strata::agent
