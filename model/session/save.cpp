// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/save.h"

#include "model/session/output_file.h"
#include "model/wire/chunk.h"
#include "model/wire/digest.h"
#include "model/wire/events.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"
#include "model/wire/user_data.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace strata::model {
namespace {

constexpr std::size_t kRowsAChunk = 65'536;
constexpr std::size_t kTextBytesAChunk = std::size_t{ 4 } << 20;

std::uint32_t number(std::uint32_t value, std::uint32_t none)
{
    return value == none ? wire::kNone : value;
}
template <class Id> std::uint32_t number(Id id)
{
    return id.valid() ? static_cast<std::uint32_t>(id.value) : wire::kNone;
}

/// Writes chunks and remembers where they are.
class SessionWriter {
public:
    explicit SessionWriter(OutputFile& file)
        : m_file(file)
    {
    }

    /// Encodes a payload by `encode(Bytes&)` and writes it.
    template <class Encode> void chunk(wire::ChunkType type, Encode&& encode)
    {
        m_payload.clear();
        encode(m_payload);
        m_packed.clear();
        const std::uint64_t offset = m_file.offset();
        if (!m_packer.pack(type, m_payload, m_packed)) {
            m_tooLarge = true;
            return;
        }
        m_file.write(m_packed);
        m_index.push_back({ static_cast<std::uint16_t>(type), offset });
    }

    void index()
    {
        const std::vector<Entry> entries = m_index;
        chunk(wire::ChunkType::Index, [&](wire::Bytes& out) {
            wire::ByteWriter writer(out);
            writer.varint(entries.size());
            std::uint64_t last = 0;
            for (const Entry& entry : entries) {
                writer.varint(entry.type);
                writer.varint(entry.offset - last);
                last = entry.offset;
            }
        });
    }
    [[nodiscard]] std::uint64_t chunks() const { return m_packer.sequence(); }
    [[nodiscard]] std::uint64_t chain() const { return m_packer.chain(); }
    [[nodiscard]] bool tooLarge() const { return m_tooLarge; }

private:
    struct Entry {
        std::uint16_t type;
        std::uint64_t offset;
    };
    OutputFile& m_file;
    wire::ChunkPacker m_packer;
    wire::Bytes m_payload, m_packed;
    std::vector<Entry> m_index;
    bool m_tooLarge = false;
};

void writeInfo(SessionWriter& writer, const Recording& recording)
{
    std::vector<wire::KeyValue> items{ { "minor", "1" }, { "creator", "strata " STRATA_VERSION },
        { "format", recording.format } };
    const auto add = [&](std::string key, std::int64_t value) {
        items.emplace_back(std::move(key), std::to_string(value));
    };
    if (recording.simulated)
        items.emplace_back("simulated", "1");
    for (const auto& [key, value] : recording.facts)
        items.emplace_back(key, value);
    for (const auto& [device, cut] : recording.cuts) {
        add(fmt::format("cut.{}.before", device), cut.before);
        add(fmt::format("cut.{}.after", device), cut.after);
    }
    if (recording.truncation) {
        add("truncation.offset", static_cast<std::int64_t>(recording.truncation->offset));
        items.emplace_back("truncation.reason", recording.truncation->reason);
    }
    if (recording.host) {
        add("host.segments", recording.host->segments);
        add("host.reserved_bytes", recording.host->reservedBytes);
        if (recording.host->reservedBytesPeak)
            add("host.reserved_bytes_peak", *recording.host->reservedBytesPeak);
        add("host.allocated_bytes", recording.host->allocatedBytes);
        add("host.events", recording.host->events);
    }
    for (const auto& [key, count] : recording.unknownKeys)
        add("unknown_key." + key, count);
    for (const auto& [action, count] : recording.unknownActions)
        add("unknown_action." + action, count);
    writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });

    items.clear();
    for (const Setting& setting : recording.settings)
        items.emplace_back(setting.key, setting.json);
    if (!items.empty())
        writer.chunk(wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void writeStrings(SessionWriter& writer, const Recording& recording)
{
    std::vector<std::string_view> strings;
    std::uint32_t first = 0;
    std::size_t bytes = 0;
    const auto flush = [&] {
        if (!strings.empty())
            writer.chunk(wire::ChunkType::Strings,
                [&](wire::Bytes& out) { wire::encodeStrings(first, strings, out); });
        first += static_cast<std::uint32_t>(strings.size());
        strings.clear();
        bytes = 0;
    };
    for (std::uint32_t i = 0; i < recording.strings.size(); ++i) {
        strings.push_back(recording.strings[StringId{ i }]);
        bytes += strings.back().size();
        if (strings.size() == kRowsAChunk || bytes >= kTextBytesAChunk)
            flush();
    }
    flush();
}

void writeStacks(SessionWriter& writer, const Recording& recording)
{
    std::vector<wire::FrameRow> frames;
    const StackTable& table = recording.stacks;
    for (std::uint32_t i = 0; i < table.frameCount();) {
        const std::uint32_t first = i;
        frames.clear();
        for (; i < table.frameCount() && frames.size() < kRowsAChunk; ++i) {
            const Frame& frame = table.frame(FrameId{ i });
            frames.push_back(
                { number(frame.file), number(frame.function), frame.line, number(frame.extras) });
        }
        writer.chunk(
            wire::ChunkType::Frames, [&](wire::Bytes& out) { wire::encodeFrames(first, frames, out); });
    }
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < table.stackCount();) {
        const std::uint32_t first = i;
        wire::StackRows stacks;
        for (; i < table.stackCount() && stacks.ends.size() < kRowsAChunk
             && stacks.frames.size() < kTextBytesAChunk;
             ++i) {
            numbers.clear();
            for (const FrameId frame : table.stack(StackId{ i }))
                numbers.push_back(number(frame));
            stacks.add(numbers);
        }
        writer.chunk(
            wire::ChunkType::Stacks, [&](wire::Bytes& out) { wire::encodeStacks(first, stacks, out); });
    }
}

void writePlaces(SessionWriter& writer, const Recording& recording)
{
    if (!recording.streams.empty())
        writer.chunk(wire::ChunkType::Streams,
            [&](wire::Bytes& out) { wire::encodeStreams(0, recording.streams, out); });
    std::vector<wire::PoolRow> pools;
    for (const Pool& pool : recording.pools)
        pools.push_back({ pool.owner, pool.id, static_cast<std::uint8_t>(pool.kind) });
    if (!pools.empty())
        writer.chunk(wire::ChunkType::Pools, [&](wire::Bytes& out) { wire::encodePools(0, pools, out); });
}

bool writeEvents(SessionWriter& writer, const DeviceRecording& device, const Progress& progress)
{
    const EventColumns& events = device.events;
    const std::array columns{ &events.compileContext, &events.userMetadata, &events.otherAction,
        &events.extras };
    std::array<std::size_t, 4> next{};
    const auto total = static_cast<std::size_t>(events.size());
    wire::EventChunk chunk;
    chunk.device = device.device;
    chunk.hasTimes = events.hasTimes();
    for (std::size_t first = 0; first < total; first += wire::kEventsAChunk) {
        if (progress.cancelled())
            return false;
        progress({ Stage::Building, static_cast<std::int64_t>(first), static_cast<std::int64_t>(total),
            static_cast<std::int64_t>(first) });
        const std::size_t end = std::min(total, first + wire::kEventsAChunk);
        chunk.firstEvent = first;
        chunk.rows.clear();
        for (std::size_t i = first; i < end; ++i)
            chunk.rows.push_back({ static_cast<wire::EventAction>(events.action[i]), events.address[i],
                events.bytes[i], chunk.hasTimes ? events.timeNs[i] : 0, number(events.stack[i]),
                number(events.stream[i], kNoIndex), number(events.pool[i], kNoIndex) });
        for (std::size_t kind = 0; kind < columns.size(); ++kind) {
            chunk.sparse[kind].clear();
            const auto& items = columns[kind]->items();
            for (; next[kind] < items.size() && items[next[kind]].first < end; ++next[kind])
                chunk.sparse[kind].push_back({ static_cast<std::uint32_t>(items[next[kind]].first - first),
                    number(items[next[kind]].second) });
        }
        writer.chunk(wire::ChunkType::Events, [&](wire::Bytes& out) { wire::encodeEvents(chunk, out); });
    }
    return true;
}

void writeState(SessionWriter& writer, wire::ChunkType type, int device, EventIndex events,
    std::span<const FinalSegment> segments, std::span<const FinalBlock> blocks)
{
    wire::State state;
    state.device = device;
    state.events = static_cast<std::uint64_t>(events);
    for (const FinalSegment& segment : segments) {
        state.segments.push_back({ segment.address, segment.bytes, segment.allocatedBytes,
            segment.activeBytes, segment.requestedBytes, segment.blockCount, number(segment.stack),
            number(segment.stream, kNoIndex), number(segment.pool, kNoIndex), segment.expandable });
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const FinalBlock& block = blocks[segment.firstBlock + i];
            state.blocks.push_back({ block.address, block.bytes, block.requestedBytes,
                static_cast<std::uint8_t>(block.state), number(block.stack) });
        }
    }
    writer.chunk(type, [&](wire::Bytes& out) { wire::encodeState(state, out); });
}

void writeAnnotations(SessionWriter& writer, const Recording& recording)
{
    std::vector<wire::AnnotationRow> rows;
    for (std::size_t i = 0; i < recording.annotations.size();) {
        rows.clear();
        for (; i < recording.annotations.size() && rows.size() < kRowsAChunk; ++i) {
            const Annotation& annotation = recording.annotations[i];
            rows.push_back({ static_cast<std::uint8_t>(annotation.kind), annotation.device,
                number(annotation.name), annotation.timeNs });
        }
        writer.chunk(
            wire::ChunkType::Annotations, [&](wire::Bytes& out) { wire::encodeAnnotations(rows, out); });
    }
}

void writeDriver(SessionWriter& writer, const Recording& recording)
{
    std::vector<wire::DriverRow> rows;
    for (const DriverReading& reading : recording.driver)
        rows.push_back({ reading.device, static_cast<std::uint64_t>(reading.event), reading.timeNs,
            reading.usedBytes, reading.processBytes.value_or(-1), reading.reservedBytes.value_or(-1) });
    if (!rows.empty())
        writer.chunk(wire::ChunkType::DriverMemory, [&](wire::Bytes& out) { wire::encodeDriver(rows, out); });
}

void writeLost(SessionWriter& writer, const Recording& recording)
{
    std::vector<wire::LostRow> rows;
    for (const LostEvents& lost : recording.lost)
        rows.push_back(
            { lost.device, static_cast<std::uint64_t>(lost.event), static_cast<std::uint64_t>(lost.count) });
    if (!rows.empty())
        writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& out) { wire::encodeLost(rows, out); });
}

std::vector<wire::StackSum> sums(const std::vector<StackSum>& from)
{
    std::vector<wire::StackSum> list;
    for (const StackSum& sum : from)
        list.push_back({ number(sum.stack), sum.bytes, sum.blocks });
    return list;
}

void writeDigest(SessionWriter& writer, const DeviceDigest& from)
{
    wire::Digest digest;
    digest.chunks = writer.chunks();
    digest.chain = writer.chain();
    digest.device = from.device;
    digest.events = static_cast<std::uint64_t>(from.events);
    std::ranges::copy(from.actions, digest.actions.begin());
    for (const auto& [name, count] : from.otherActions)
        digest.otherActions.emplace_back(number(name), static_cast<std::uint64_t>(count));
    digest.hasTimes = from.firstTimeNs.has_value();
    digest.firstTimeNs = from.firstTimeNs.value_or(0);
    digest.peakTimeNs = from.peakTimeNs.value_or(0);
    digest.latestTimeNs = from.latestTimeNs.value_or(0);
    digest.backwards = from.notes.backwards;
    digest.firstBackwards = from.notes.firstBackwards;
    digest.requestedStart = from.requestedStart;
    digest.requestedPeak = from.requestedPeak;
    digest.requestedPeakEvent = from.requestedPeakEvent;
    digest.pendingStart = from.pendingStart;
    digest.reservedStart = from.reservedStart;
    digest.reservedPeak = from.reservedPeak;
    digest.reservedPeakEvent = from.reservedPeakEvent;
    digest.olderFrees = from.notes.olderFrees;
    digest.olderFreedBytes = from.notes.olderFreedBytes;
    digest.firstOlderFree = from.notes.firstOlderFree;
    digest.olderBytes = from.olderBytes;
    digest.peak = sums(from.peak);
    for (const OutOfMemoryDigest& oom : from.outOfMemory)
        digest.outOfMemory.push_back({ oom.event, oom.requestedBytes, oom.deviceFreeBytes, oom.reservedBytes,
            oom.requestedLiveBytes, oom.freeInSegmentsBytes, oom.freeInSegmentsExact, sums(oom.stacks) });
    writer.chunk(wire::ChunkType::Digest, [&](wire::Bytes& out) { wire::encodeDigest(digest, out); });
}

void writeUserData(SessionWriter& writer, const UserData& user)
{
    for (const auto& [kind, type] : { std::pair(UserItem::Kind::Note, wire::ChunkType::Note),
             { UserItem::Kind::Range, wire::ChunkType::Range },
             { UserItem::Kind::Filter, wire::ChunkType::Filter } }) {
        std::vector<wire::UserRow> rows;
        for (const UserItem& item : user.items)
            if (item.kind == kind)
                rows.push_back({ item.key, false, item.changedNs, item.device, item.first, item.last,
                    item.address, item.text, item.conditions });
        if (!rows.empty())
            writer.chunk(type, [&](wire::Bytes& out) { wire::encodeUserRows(rows, out); });
    }
}

// The codes in files never change; those of the model are the same today, which spares a table.
static_assert(static_cast<int>(Action::Other) == static_cast<int>(wire::EventAction::Other));
static_assert(static_cast<int>(Action::Annotate) == static_cast<int>(wire::EventAction::Annotate));
static_assert(static_cast<int>(Action::Oom) == static_cast<int>(wire::EventAction::Oom));
static_assert(static_cast<int>(Action::SegmentUnmap) == static_cast<int>(wire::EventAction::SegmentUnmap));
static_assert(static_cast<int>(BlockState::Inactive) == 2 && static_cast<int>(SegmentKind::Unknown) == 2);

} // namespace

Result<void> saveSession(const Recording& recording, const std::filesystem::path& path,
    std::span<const DeviceDigest> digests, const Progress& progress)
{
    Result<OutputFile> file = OutputFile::create(path);
    if (!file)
        return Failure(file.error());
    SessionWriter writer(*file);
    writeInfo(writer, recording);
    writeStrings(writer, recording);
    writeStacks(writer, recording);
    writePlaces(writer, recording);
    for (const DeviceRecording& device : recording.devices) {
        if (!device.base.segments.empty())
            writeState(writer, wire::ChunkType::BaseState, device.device, 0, device.base.segments,
                device.base.blocks);
        if (!writeEvents(writer, device, progress))
            return fail(Error::Kind::Cancelled, "cancelled");
        writeState(writer, wire::ChunkType::EndState, device.device, device.events.size(),
            device.finalSegments, device.finalBlocks);
    }
    writeLost(writer, recording);
    writeAnnotations(writer, recording);
    writeDriver(writer, recording);
    for (const DeviceDigest& digest : digests)
        writeDigest(writer, digest);
    writer.index();
    writeUserData(writer, recording.user);
    if (writer.tooLarge())
        return fail(Error::Kind::Refused, "a part of this recording is too large for a session",
            "please report it with the recording");
    return file->commit();
}

Result<SavedFormat> savedFormat(const std::filesystem::path& path)
{
    const std::string suffix = path.extension().string();
    if (suffix == ".strata")
        return SavedFormat::Session;
    if (suffix == ".pickle" || suffix == ".pkl")
        return SavedFormat::Pickle;
    return fail(Error::Kind::Usage, fmt::format("-o does not say what to write: '{}'", path.string()),
        "name it .strata for a session or .pickle for a PyTorch snapshot");
}

} // namespace strata::model
