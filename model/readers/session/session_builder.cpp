// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/session_builder.h"

#include "model/readers/session/symbol_rows.h"
#include "model/wire/link/link_chunks.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace strata::model {
namespace {

constexpr std::int64_t kMostBytesTogether = std::int64_t{ 1 } << 62; // as of a snapshot

/// False: a size that no memory has, or with which sums would not fit.
bool addBytes(std::int64_t bytes, std::int64_t& sum)
{
    if (bytes < 0 || bytes > kMostBytesTogether - sum)
        return false;
    sum += bytes;
    return true;
}

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

void SessionBuilder::takeInfoItem(const std::string& key, const std::string& value)
{
    namespace info = wire::info;
    const auto truncation = [&]() -> Truncation& {
        return m_recording.truncation ? *m_recording.truncation : m_recording.truncation.emplace();
    };
    const auto named = [&](std::string_view prefix) { return key.substr(prefix.size()); };
    if (key == info::kMinor || key == info::kCreator || takeHostItem(key, value))
        return;
    if (key == info::kSimulated)
        m_recording.simulated = value == info::kYes;
    else if (key == info::kFormat)
        m_recording.format = value;
    else if (key == info::kRefused)
        m_recording.refusal = value;
    else if (key == info::kTruncationReason)
        truncation().reason = verbatim(value);
    else if (key == info::kTruncationOffset)
        truncation().offset = static_cast<std::uint64_t>(number(value));
    else if (key == info::kTruncationInterrupted)
        truncation().interrupted = value == info::kYes;
    else if (key.starts_with(info::kUnknownKey))
        m_recording.unknownKeys[named(info::kUnknownKey)] = number(value);
    else if (key.starts_with(info::kUnknownAction))
        m_recording.unknownActions[named(info::kUnknownAction)] = number(value);
    else if (const auto cut = wire::deviceKeyOf(key, info::kCut))
        (cut->field == info::kCutBefore ? m_recording.cuts[cut->device].before
                                        : m_recording.cuts[cut->device].after)
            = number(value);
    else
        m_recording.facts[key] = value;
}

/// False if the key is not of pinned host memory.
bool SessionBuilder::takeHostItem(const std::string& key, const std::string& value)
{
    namespace info = wire::info;
    HostMemory memory = m_recording.host.value_or(HostMemory{});
    if (key == info::kHostSegments)
        memory.segments = number(value);
    else if (key == info::kHostReservedBytes)
        memory.reservedBytes = number(value);
    else if (key == info::kHostReservedBytesPeak)
        memory.reservedBytesPeak = number(value);
    else if (key == info::kHostAllocatedBytes)
        memory.allocatedBytes = number(value);
    else if (key == info::kHostEvents)
        memory.events = number(value);
    else
        return false;
    m_recording.host = memory;
    return true;
}

bool SessionBuilder::takeInfo(std::span<const std::byte> payload)
{
    std::vector<wire::KeyValue> items;
    if (!wire::decodeKeyValues(payload, items))
        return false;
    for (const auto& [key, value] : items)
        takeInfoItem(key, value);
    return true;
}

bool SessionBuilder::takeStrings(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<std::string_view> strings;
    if (!wire::decodeStrings(payload, first, strings) || first != m_tables.strings.size())
        return false;
    for (const std::string_view text : strings)
        m_tables.strings.push_back(m_recording.strings.intern(text));
    return true;
}

bool SessionBuilder::takeFrames(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<wire::FrameRow> frames;
    if (!wire::decodeFrames(payload, first, frames) || first != m_tables.frames.size())
        return false;
    for (const wire::FrameRow& row : frames) {
        Frame frame;
        frame.line = row.line;
        if (!StreamTables::find(m_tables.strings, row.file, frame.file)
            || !StreamTables::find(m_tables.strings, row.function, frame.function)
            || !StreamTables::find(m_tables.strings, row.extras, frame.extras))
            return false;
        m_tables.frames.push_back(m_recording.stacks.internFrame(frame));
    }
    return true;
}

bool SessionBuilder::takeSymbols(std::span<const std::byte> payload)
{
    std::vector<wire::SymbolRow> rows;
    if (!wire::decodeSymbols(payload, rows))
        return false;
    applySymbols(rows, m_recording);
    return true;
}

bool SessionBuilder::takeStacks(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    wire::StackRows stacks;
    if (!wire::decodeStacks(payload, first, stacks) || first != m_tables.stacks.size())
        return false;
    std::vector<FrameId> frames;
    for (std::size_t i = 0; i < stacks.ends.size(); ++i) {
        frames.clear();
        for (const std::uint32_t frame : stacks[i]) {
            if (frame >= m_tables.frames.size())
                return false;
            frames.push_back(m_tables.frames[frame]);
        }
        m_tables.stacks.push_back(m_recording.stacks.internStack(frames));
    }
    return true;
}

bool SessionBuilder::takeStreams(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<std::int64_t> streams;
    if (!wire::decodeStreams(payload, first, streams) || first != m_tables.streams.size())
        return false;
    for (const std::int64_t stream : streams)
        m_tables.streams.push_back(m_streamTable.of(stream, m_recording.streams));
    return true;
}

bool SessionBuilder::takePools(std::span<const std::byte> payload)
{
    std::uint32_t first = 0;
    std::vector<wire::PoolRow> pools;
    if (!wire::decodePools(payload, first, pools) || first != m_tables.pools.size())
        return false;
    for (const wire::PoolRow& pool : pools)
        m_tables.pools.push_back(m_poolTable.of({ pool.owner, pool.id, pool.kind }, m_recording.pools));
    return true;
}

/// Their paths are few, their events many.
bool SessionBuilder::moduleOf(std::uint32_t string, ModuleIndex& module)
{
    StringId path;
    if (string == wire::kNone || !StreamTables::find(m_tables.strings, string, path))
        return string == wire::kNone;
    const auto [known, isNew] = m_modules.try_emplace(string, kNoIndex);
    if (isNew && path.valid())
        known->second = m_moduleTable.of(path, m_recording.modules);
    module = known->second;
    return true;
}

bool SessionBuilder::addRow(DeviceRecording& device, const wire::EventRow& row, bool hasTimes)
{
    EventColumns& events = device.events;
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex;
    ModuleIndex module = kNoIndex;
    if (!addBytes(row.bytes, m_bytes) || !moduleOf(row.module, module)
        || !StreamTables::find(m_tables.stacks, row.stack, stack)
        || !StreamTables::find(m_tables.streams, row.stream, stream)
        || !StreamTables::find(m_tables.pools, row.pool, pool))
        return false;
    events.action.push_back(row.action);
    events.address.push_back(row.address);
    events.bytes.push_back(row.bytes);
    events.stack.push_back(stack);
    events.block.push_back(BlockId{});
    events.stream.push_back(stream);
    events.pool.push_back(pool);
    if (hasTimes)
        events.timeNs.push_back(row.timeNs);
    if (row.thread != m_thread.first)
        m_thread
            = { row.thread, row.thread == 0 ? kNoIndex : m_threadTable.of(row.thread, m_recording.threads) };
    events.tell(row.phase, m_thread.second, module);
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
            if (!StreamTables::find(m_tables.strings, item.string, text))
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
    const auto joined = m_tables.joinedAt.find(m_chunk.device);
    const std::uint64_t before = joined == m_tables.joinedAt.end() ? 0 : joined->second;
    if (m_chunk.firstEvent != before + firstRow
        || (firstRow > 0 && m_chunk.hasTimes != device.events.hasTimes())
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
    std::int64_t unchanging = 0; // a later end state replaces an earlier one
    std::int64_t& bytes = type == wire::ChunkType::BaseState ? m_bytes : unchanging;
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
        const auto addSum = [&](std::int64_t sum) { return sum == -1 || addBytes(sum, bytes); };
        if (!addBytes(row.bytes, bytes) || !addSum(row.allocatedBytes) || !addSum(row.activeBytes)
            || !addSum(row.requestedBytes) || !StreamTables::find(m_tables.stacks, row.stack, segment.stack)
            || !StreamTables::find(m_tables.streams, row.stream, segment.stream)
            || !StreamTables::find(m_tables.pools, row.pool, segment.pool))
            return false;
        for (std::uint32_t i = 0; i < row.blocks; ++i) {
            const wire::BlockRow& from = state.blocks[blocks.size()];
            FinalBlock block;
            block.address = from.address;
            block.bytes = from.bytes;
            block.requestedBytes = from.requestedBytes;
            block.state = from.state;
            if (block.state == BlockState::Inactive) // whatever is left over from the last occupant
                block.requestedBytes
                    = std::clamp<std::int64_t>(from.requestedBytes, 0, std::max<std::int64_t>(0, from.bytes));
            if (!addBytes(block.bytes, bytes) || !addBytes(block.requestedBytes, bytes)
                || !StreamTables::find(m_tables.stacks, from.stack, block.stack))
                return false;
            blocks.push_back(block);
        }
        segments.push_back(segment);
    }
    if (type == wire::ChunkType::BaseState) {
        // A recorder may write it behind the first events.
        if (const auto begun = m_tables.joinedAt.find(state.device);
            begun != m_tables.joinedAt.end() && state.events < begun->second)
            return true; // of events that are not here any more
        if (state.events > 0 && !joinLate(device, state.events))
            return true;
        device.base = { std::move(segments), std::move(blocks) };
        return true;
    }
    m_stateAt[state.device] = m_tables.since(state.device, state.events);
    device.finalSegments = std::move(segments); // a later state of a device replaces an earlier one
    device.finalBlocks = std::move(blocks);
    return true;
}

/// The base state of a device that has nothing yet, and behind so many of its events: they are not in the
/// stream.
bool SessionBuilder::joinLate(const DeviceRecording& device, std::uint64_t events)
{
    constexpr std::uint64_t kMost = std::uint64_t{ 1 } << 62;
    if (device.events.size() > 0 || !device.base.segments.empty() || events > kMost
        || !m_tables.joinedAt.emplace(device.device, events).second)
        return false;
    m_recording.cuts[device.device].before += static_cast<std::int64_t>(events);
    m_recording.facts.insert_or_assign(wire::kJoinedLate, std::string(wire::info::kYes));
    return true;
}

void SessionBuilder::renumber(const RenumberedRows& rows)
{
    const auto all = [](auto& numbers, const auto& into) {
        for (auto& number : numbers)
            if constexpr (requires { number.valid(); }) {
                if (number.valid())
                    number = into[number.index()];
            } else if (number != kNoIndex) {
                number = into[number];
            }
    };
    all(m_tables.strings, rows.strings);
    all(m_tables.frames, rows.frames);
    all(m_tables.stacks, rows.stacks);
    all(m_tables.streams, rows.streams);
    all(m_tables.pools, rows.pools);
    for (const auto& [device, events] : rows.left) {
        m_tables.joinedAt[device] += events;
        if (const auto state = m_stateAt.find(device); state != m_stateAt.end())
            state->second -= std::min(state->second, events);
        m_events -= static_cast<std::int64_t>(events);
    }
    // What does not fit together leaves no room for more.
    m_bytes = 0;
    const auto add = [this](std::int64_t bytes) {
        if (!addBytes(std::max<std::int64_t>(bytes, 0), m_bytes))
            m_bytes = kMostBytesTogether;
    };
    for (const DeviceRecording& device : m_recording.devices) {
        for (std::size_t e = 0; e < static_cast<std::size_t>(device.events.size()); ++e)
            add(device.events.bytes[e]);
        for (const FinalSegment& segment : device.base.segments)
            add(segment.bytes);
        for (const FinalBlock& block : device.base.blocks) {
            add(block.bytes);
            add(block.requestedBytes);
        }
    }
    m_modules.clear();
    m_moduleTable = {};
    m_threadTable = {};
    m_streamTable = {};
    m_poolTable = {};
    m_thread = { 0, kNoIndex };
}

std::optional<std::uint64_t> SessionBuilder::endsAt(int device) const
{
    const auto state = m_stateAt.find(device);
    return state == m_stateAt.end() ? std::nullopt : std::optional(state->second);
}

bool SessionBuilder::isEnded() const
{
    if (m_recording.refusal)
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
    case ChunkType::Symbols:
        return takeSymbols(payload);
    case ChunkType::Index:
        m_hasIndex = true;
        return true;
    default:
        const ChunkKind* const kind = chunkKindOf(type);
        return !kind || kind->take(payload, m_tables, m_recording);
    }
}

void SessionBuilder::finish()
{
    if (m_recording.refusal)
        for (const DriverReading& reading : m_recording.driver)
            deviceOf(reading.device);
    std::sort(m_recording.devices.begin(), m_recording.devices.end(),
        [](const DeviceRecording& a, const DeviceRecording& b) { return a.device < b.device; });
}

} // namespace strata::model
