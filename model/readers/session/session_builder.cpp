// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/session_builder.h"

#include "model/wire/state.h"
#include "model/wire/symbols.h"
#include "model/wire/tables.h"
#include "model/wire/user_data.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

namespace strata::model {
namespace {

std::int64_t number(std::string_view text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace

DeviceRecording& SessionBuilder::deviceOf(int device)
{
    auto& devices = m_recording.devices;
    const auto found = std::find_if(
        devices.begin(), devices.end(), [device](const DeviceRecording& d) { return d.device == device; });
    if (found != devices.end())
        return *found;
    devices.emplace_back().device = device;
    return devices.back();
}

bool SessionBuilder::takeInfo(std::span<const std::byte> payload)
{
    std::vector<wire::KeyValue> items;
    if (!wire::decodeKeyValues(payload, items))
        return false;
    for (const auto& [key, value] : items) {
        const auto prefixed = [&, k = std::string_view(key)](std::string_view prefix) {
            return k.starts_with(prefix) ? std::optional(std::string(k.substr(prefix.size()))) : std::nullopt;
        };
        if (key == "simulated") {
            m_recording.simulated = value == "1";
        } else if (key == "format") {
            m_recording.format = value;
        } else if (key == "truncation.reason") {
            m_recording.truncation.emplace(m_recording.truncation.value_or(Truncation{})).reason = value;
        } else if (key == "truncation.offset") {
            m_recording.truncation.emplace(m_recording.truncation.value_or(Truncation{})).offset
                = static_cast<std::uint64_t>(number(value));
        } else if (const auto host = prefixed("host.")) {
            HostMemory& memory = m_recording.host ? *m_recording.host : m_recording.host.emplace();
            if (*host == "segments")
                memory.segments = number(value);
            else if (*host == "reserved_bytes")
                memory.reservedBytes = number(value);
            else if (*host == "reserved_bytes_peak")
                memory.reservedBytesPeak = number(value);
            else if (*host == "allocated_bytes")
                memory.allocatedBytes = number(value);
            else if (*host == "events")
                memory.events = number(value);
        } else if (const auto unknownKey = prefixed("unknown_key.")) {
            m_recording.unknownKeys[*unknownKey] = number(value);
        } else if (const auto unknownAction = prefixed("unknown_action.")) {
            m_recording.unknownActions[*unknownAction] = number(value);
        } else if (const auto cut = prefixed("cut.")) {
            CutOff& off = m_recording.cuts[static_cast<int>(number(*cut))];
            (cut->ends_with(".before") ? off.before : off.after) = number(value);
        } else if (key != "minor" && key != "creator") {
            m_recording.facts[key] = value;
        }
    }
    return true;
}

bool SessionBuilder::takeStrings(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<std::string_view> strings;
    if (!wire::decodeStrings(payload, first, strings) || first != m_strings.size())
        return false;
    for (const std::string_view text : strings)
        m_strings.push_back(m_recording.strings.intern(text));
    return true;
}

bool SessionBuilder::takeFrames(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<wire::FrameRow> frames;
    if (!wire::decodeFrames(payload, first, frames) || first != m_frames.size())
        return false;
    for (const wire::FrameRow& row : frames) {
        Frame frame;
        frame.line = row.line;
        if (!find(m_strings, row.file, frame.file) || !find(m_strings, row.function, frame.function)
            || !find(m_strings, row.extras, frame.extras))
            return false;
        m_frames.push_back(m_recording.stacks.internFrame(frame));
    }
    return true;
}

bool SessionBuilder::takeSymbols(std::span<const std::byte> payload)
{
    std::vector<wire::SymbolRow> rows;
    if (!wire::decodeSymbols(payload, rows))
        return false;
    std::unordered_map<std::uint32_t, const wire::SymbolRow*> byPlace;
    for (const wire::SymbolRow& row : rows)
        if (const StringId place = m_recording.strings.find(row.place); place.valid())
            byPlace.emplace(static_cast<std::uint32_t>(place.index()), &row);
    for (std::uint32_t i = 0; i < m_recording.stacks.frameCount(); ++i) {
        Frame frame = m_recording.stacks.frame(FrameId{ i });
        const auto row = frame.extras.valid() ? byPlace.find(static_cast<std::uint32_t>(frame.extras.index()))
                                              : byPlace.end();
        if (row == byPlace.end())
            continue;
        frame.file = m_recording.strings.intern(row->second->file);
        frame.function = m_recording.strings.intern(row->second->function);
        frame.line = static_cast<std::int64_t>(std::min<std::uint64_t>(row->second->line, INT32_MAX));
        m_recording.stacks.replaceFrame(FrameId{ i }, frame);
    }
    return true;
}

bool SessionBuilder::takeStacks(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    wire::StackRows stacks;
    if (!wire::decodeStacks(payload, first, stacks) || first != m_stacks.size())
        return false;
    std::vector<FrameId> frames;
    for (std::size_t i = 0; i < stacks.ends.size(); ++i) {
        frames.clear();
        for (const std::uint32_t frame : stacks[i]) {
            if (frame >= m_frames.size())
                return false;
            frames.push_back(m_frames[frame]);
        }
        m_stacks.push_back(m_recording.stacks.internStack(frames));
    }
    return true;
}

bool SessionBuilder::takeStreams(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<std::int64_t> streams;
    if (!wire::decodeStreams(payload, first, streams) || first != m_streams.size())
        return false;
    for (const std::int64_t stream : streams)
        m_streams.push_back(m_recording.internStream(stream));
    return true;
}

bool SessionBuilder::takePools(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<wire::PoolRow> pools;
    if (!wire::decodePools(payload, first, pools) || first != m_pools.size())
        return false;
    for (const wire::PoolRow& pool : pools)
        m_pools.push_back(
            m_recording.internPool({ pool.owner, pool.id, static_cast<SegmentKind>(pool.kind) }));
    return true;
}

bool SessionBuilder::addRow(DeviceRecording& device, const wire::EventRow& row, bool hasTimes)
{
    EventColumns& events = device.events;
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex;
    if (!find(m_stacks, row.stack, stack) || !find(m_streams, row.stream, stream)
        || !find(m_pools, row.pool, pool))
        return false;
    events.action.push_back(static_cast<Action>(row.action));
    events.address.push_back(row.address);
    events.bytes.push_back(row.bytes);
    events.stack.push_back(stack);
    events.block.push_back(BlockId{});
    events.stream.push_back(stream);
    events.pool.push_back(pool);
    if (hasTimes)
        events.timeNs.push_back(row.timeNs);
    ++m_events;
    return true;
}

bool SessionBuilder::addSparse(DeviceRecording& device, const wire::EventChunk& chunk, std::size_t firstRow)
{
    EventColumns& events = device.events;
    SparseText* const columns[wire::kSparseKinds]
        = { &events.compileContext, &events.userMetadata, &events.otherAction, &events.extras };
    for (std::size_t kind = 0; kind < wire::kSparseKinds; ++kind) {
        for (const wire::SparseText& item : chunk.sparse[kind]) {
            StringId text;
            if (!find(m_strings, item.string, text))
                return false;
            columns[kind]->set(static_cast<std::uint32_t>(firstRow) + item.row, text);
        }
    }
    return true;
}

bool SessionBuilder::takeEvents(std::span<const std::byte> payload)
{
    if (!wire::decodeEvents(payload, m_chunk))
        return false;
    DeviceRecording& device = deviceOf(m_chunk.device);
    const std::size_t firstRow = device.events.action.size();
    // Times are there for all events of a device or for none.
    if (m_chunk.firstEvent != firstRow || (firstRow > 0 && m_chunk.hasTimes != device.events.hasTimes())
        || firstRow + m_chunk.rows.size() > UINT32_MAX / 2)
        return false;
    for (const wire::EventRow& row : m_chunk.rows)
        if (!addRow(device, row, m_chunk.hasTimes))
            return false;
    return addSparse(device, m_chunk, firstRow);
}

bool SessionBuilder::takeState(wire::ChunkType type, std::span<const std::byte> payload)
{
    wire::State state;
    if (!wire::decodeState(payload, state))
        return false;
    DeviceRecording& device = deviceOf(state.device);
    std::vector<FinalSegment> segments;
    std::vector<FinalBlock> blocks;
    segments.reserve(state.segments.size());
    blocks.reserve(state.blocks.size());
    for (const wire::SegmentRow& row : state.segments) {
        FinalSegment segment;
        segment.address = row.address;
        segment.bytes = row.bytes;
        segment.allocatedBytes = row.allocatedBytes;
        segment.activeBytes = row.activeBytes;
        segment.requestedBytes = row.requestedBytes;
        segment.firstBlock = static_cast<std::uint32_t>(blocks.size());
        segment.blockCount = row.blocks;
        segment.expandable = row.expandable;
        if (!find(m_stacks, row.stack, segment.stack) || !find(m_streams, row.stream, segment.stream)
            || !find(m_pools, row.pool, segment.pool))
            return false;
        for (std::uint32_t i = 0; i < row.blocks; ++i) {
            const wire::BlockRow& from = state.blocks[blocks.size()];
            FinalBlock block;
            block.address = from.address;
            block.bytes = from.bytes;
            block.requestedBytes = from.requestedBytes;
            block.state = static_cast<BlockState>(from.state);
            if (!find(m_stacks, from.stack, block.stack))
                return false;
            blocks.push_back(block);
        }
        segments.push_back(segment);
    }
    if (type == wire::ChunkType::BaseState) {
        // A recorder may write it behind the first events.
        if (state.events == 0)
            device.base = { std::move(segments), std::move(blocks) };
        return true;
    }
    m_stateAt[state.device] = state.events;
    device.finalSegments = std::move(segments); // a later state of a device replaces an earlier one
    device.finalBlocks = std::move(blocks);
    return true;
}

bool SessionBuilder::takeAnnotations(std::span<const std::byte> payload)
{
    std::vector<wire::AnnotationRow> rows;
    if (!wire::decodeAnnotations(payload, rows))
        return false;
    for (const wire::AnnotationRow& row : rows) {
        Annotation annotation;
        annotation.kind = static_cast<Annotation::Kind>(row.kind);
        annotation.device = row.device;
        annotation.timeNs = row.timeNs;
        if (!find(m_strings, row.name, annotation.name))
            return false;
        m_recording.annotations.push_back(annotation);
    }
    return true;
}

bool SessionBuilder::takeSettings(std::span<const std::byte> payload)
{
    std::vector<wire::KeyValue> items;
    if (!wire::decodeKeyValues(payload, items))
        return false;
    for (auto& [key, json] : items) {
        auto& settings = m_recording.settings;
        const auto known = std::find_if(
            settings.begin(), settings.end(), [&k = key](const Setting& each) { return each.key == k; });
        if (known != settings.end())
            known->json = std::move(json);
        else
            settings.push_back({ std::move(key), std::move(json) });
    }
    return true;
}

bool SessionBuilder::takeLost(std::span<const std::byte> payload)
{
    std::vector<wire::LostRow> rows;
    if (!wire::decodeLost(payload, rows))
        return false;
    for (const wire::LostRow& row : rows)
        m_recording.lost.push_back(
            { row.device, static_cast<std::int64_t>(row.event), static_cast<std::int64_t>(row.count) });
    return true;
}

bool SessionBuilder::takeDriver(std::span<const std::byte> payload)
{
    std::vector<wire::DriverRow> rows;
    if (!wire::decodeDriver(payload, rows))
        return false;
    const auto known = [](std::int64_t bytes) { return bytes < 0 ? std::nullopt : std::optional(bytes); };
    for (const wire::DriverRow& row : rows)
        m_recording.driver.push_back({ row.device, static_cast<std::int64_t>(row.event), row.timeNs,
            row.usedBytes, known(row.processBytes), known(row.reservedBytes) });
    return true;
}

/// Rows of user data may be damaged or of a later version without harm to the recording.
void SessionBuilder::takeUserData(wire::ChunkType type, std::span<const std::byte> payload)
{
    std::vector<wire::UserRow> rows;
    if (!wire::decodeUserRows(payload, rows))
        return;
    const UserItem::Kind kind = type == wire::ChunkType::Note ? UserItem::Kind::Note
        : type == wire::ChunkType::Range                      ? UserItem::Kind::Range
                                                              : UserItem::Kind::Filter;
    for (wire::UserRow& row : rows) {
        if (row.removed)
            m_recording.user.remove(row.key, row.changedNs);
        else
            m_recording.user.set({ kind, row.key, row.changedNs, row.device, row.first, row.last, row.address,
                std::move(row.text), std::move(row.conditions) });
    }
}

bool SessionBuilder::findSums(const std::vector<wire::StackSum>& from, std::vector<StackSum>& sums) const
{
    sums.reserve(from.size());
    for (const wire::StackSum& sum : from) {
        StackSum& to = sums.emplace_back(StackSum{ {}, sum.bytes, sum.blocks });
        if (!find(m_stacks, sum.stack, to.stack))
            return false;
    }
    return true;
}

std::optional<DeviceDigest> SessionBuilder::digestOf(const wire::Digest& from) const
{
    DeviceDigest digest;
    digest.device = from.device;
    digest.events = static_cast<std::int64_t>(from.events);
    for (std::size_t i = 0; i < from.actions.size(); ++i)
        digest.actions[i] = static_cast<std::int64_t>(from.actions[i]);
    for (const auto& [name, count] : from.otherActions) {
        if (name >= m_strings.size())
            return std::nullopt;
        digest.otherActions.emplace_back(m_strings[name], static_cast<std::int64_t>(count));
    }
    if (from.hasTimes && from.events > 0)
        digest.firstTimeNs = from.firstTimeNs, digest.latestTimeNs = from.latestTimeNs;
    if (from.hasTimes && from.requestedPeakEvent >= 0)
        digest.peakTimeNs = from.peakTimeNs;
    digest.notes
        = { from.olderFrees, from.olderFreedBytes, from.firstOlderFree, from.backwards, from.firstBackwards };
    digest.requestedStart = from.requestedStart;
    digest.requestedPeak = from.requestedPeak;
    digest.requestedPeakEvent = from.requestedPeakEvent;
    digest.pendingStart = from.pendingStart;
    digest.reservedStart = from.reservedStart;
    digest.reservedPeak = from.reservedPeak;
    digest.reservedPeakEvent = from.reservedPeakEvent;
    digest.olderBytes = from.olderBytes;
    if (!findSums(from.peak, digest.peak))
        return std::nullopt;
    for (const wire::Digest::OutOfMemory& oom : from.outOfMemory) {
        OutOfMemoryDigest& to = digest.outOfMemory.emplace_back(OutOfMemoryDigest{ oom.event, oom.asked,
            oom.deviceFree, oom.reserved, oom.requested, oom.freeInSegments, oom.freeIsExact, {} });
        if (!findSums(oom.stacks, to.stacks))
            return std::nullopt;
    }
    return digest;
}

std::optional<std::uint64_t> SessionBuilder::endsAt(int device) const
{
    const auto state = m_stateAt.find(device);
    return state == m_stateAt.end() ? std::nullopt : std::optional(state->second);
}

bool SessionBuilder::isEnded() const
{
    if (m_recording.facts.contains("refused"))
        return m_hasIndex;
    const bool hasContent = m_hasIndex || !m_recording.devices.empty();
    return hasContent
        && std::all_of(
            m_recording.devices.begin(), m_recording.devices.end(), [&](const DeviceRecording& device) {
                const auto state = m_stateAt.find(device.device);
                return state != m_stateAt.end() && state->second == device.events.action.size();
            });
}

bool SessionBuilder::take(wire::ChunkType type, std::span<const std::byte> payload)
{
    using wire::ChunkType;
    switch (type) {
    case ChunkType::Info:
        return takeInfo(payload);
    case ChunkType::Strings:
        return takeStrings(payload);
    case ChunkType::Frames:
        return takeFrames(payload);
    case ChunkType::Stacks:
        return takeStacks(payload);
    case ChunkType::Streams:
        return takeStreams(payload);
    case ChunkType::Pools:
        return takePools(payload);
    case ChunkType::Events:
        return takeEvents(payload);
    case ChunkType::EndState:
    case ChunkType::BaseState:
        return takeState(type, payload);
    case ChunkType::Annotations:
        return takeAnnotations(payload);
    case ChunkType::Settings:
        return takeSettings(payload);
    case ChunkType::Lost:
        return takeLost(payload);
    case ChunkType::DriverMemory:
        return takeDriver(payload);
    case ChunkType::Symbols:
        return takeSymbols(payload);
    case ChunkType::Index:
        m_hasIndex = true;
        return true;
    case ChunkType::Note:
    case ChunkType::Range:
    case ChunkType::Filter:
        takeUserData(type, payload);
        return true;
    default:
        return true;
    }
}

void SessionBuilder::finish()
{
    if (m_recording.facts.contains("refused"))
        for (const DriverReading& reading : m_recording.driver)
            deviceOf(reading.device);
    std::sort(m_recording.devices.begin(), m_recording.devices.end(),
        [](const DeviceRecording& a, const DeviceRecording& b) { return a.device < b.device; });
}

} // namespace strata::model
