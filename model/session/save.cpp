// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/save.h"

#include "model/base/words.h"
#include "model/chunks/chunk_kinds.h"
#include "model/digest/digest_rows.h"
#include "model/session/output_file.h"
#include "model/trace/program/profiled_categories.h"
#include "model/trace/work.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/events_codec.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <array>
#include <span>

namespace strata::model {
namespace {

constexpr std::size_t kTextBytesAChunk = std::size_t{ 4 } << 20;

std::uint32_t number(std::uint32_t value, std::uint32_t none)
{
    return value == none ? wire::kNone : value;
}

/// What comes of it is said by OutputFile::commit().
class FileSink final : public wire::ChunkSink {
public:
    explicit FileSink(OutputFile& file)
        : m_file(file)
    {
    }

    [[nodiscard]] bool write(std::span<const std::byte> chunk) override
    {
        m_file.write(chunk);
        if (!m_file.isGood())
            fail("it cannot be written");
        return m_file.isGood();
    }
    [[nodiscard]] std::string name() const override { return m_file.path().string(); }

private:
    OutputFile& m_file;
};

void writeInfo(wire::ChunkWriter& writer, const Recording& recording)
{
    namespace info = wire::info;
    std::vector<wire::KeyValue> items = wire::introduction();
    const auto add = [&](std::string key, std::int64_t value) {
        items.emplace_back(std::move(key), std::to_string(value));
    };
    items.emplace_back(info::kFormat, recording.format);
    if (recording.simulated)
        items.emplace_back(info::kSimulated, info::kYes);
    for (const auto& [key, value] : recording.facts)
        items.emplace_back(key, value);
    if (recording.refusal)
        items.emplace_back(info::kRefused, *recording.refusal);
    for (const auto& [device, cut] : recording.cuts) {
        add(wire::deviceKey(info::kCut, device, info::kCutBefore), cut.before);
        add(wire::deviceKey(info::kCut, device, info::kCutAfter), cut.after);
    }
    if (recording.truncation) {
        add(info::kTruncationOffset, static_cast<std::int64_t>(recording.truncation->offset));
        items.emplace_back(info::kTruncationReason, recording.truncation->reason.text());
        if (recording.truncation->interrupted)
            items.emplace_back(info::kTruncationInterrupted, info::kYes);
    }
    if (recording.host) {
        add(info::kHostSegments, recording.host->segments);
        add(info::kHostReservedBytes, recording.host->reservedBytes);
        if (recording.host->reservedBytesPeak)
            add(info::kHostReservedBytesPeak, *recording.host->reservedBytesPeak);
        add(info::kHostAllocatedBytes, recording.host->allocatedBytes);
        add(info::kHostEvents, recording.host->events);
    }
    for (const auto& [key, count] : recording.unknownKeys)
        add(info::kUnknownKey + key, count);
    for (const auto& [action, count] : recording.unknownActions)
        add(info::kUnknownAction + action, count);
    writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void writeStrings(wire::ChunkWriter& writer, const Recording& recording)
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

void writeStacks(wire::ChunkWriter& writer, const Recording& recording)
{
    std::vector<wire::FrameRow> frames;
    const StackTable& table = recording.stacks;
    for (std::uint32_t i = 0; i < table.frameCount();) {
        const std::uint32_t first = i;
        frames.clear();
        for (; i < table.frameCount() && frames.size() < kRowsAChunk; ++i) {
            const Frame& frame = table.frame(FrameId{ i });
            frames.push_back(
                { numberOf(frame.file), numberOf(frame.function), frame.line, numberOf(frame.extras) });
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
                numbers.push_back(numberOf(frame));
            stacks.add(numbers);
        }
        writer.chunk(
            wire::ChunkType::Stacks, [&](wire::Bytes& out) { wire::encodeStacks(first, stacks, out); });
    }
}

void writePlaces(wire::ChunkWriter& writer, const Recording& recording)
{
    if (!recording.streams.empty())
        writer.chunk(wire::ChunkType::Streams,
            [&](wire::Bytes& out) { wire::encodeStreams(0, recording.streams, out); });
    std::vector<wire::PoolRow> pools;
    for (const Pool& pool : recording.pools)
        pools.push_back({ pool.owner, pool.id, pool.kind });
    if (!pools.empty())
        writer.chunk(wire::ChunkType::Pools, [&](wire::Bytes& out) { wire::encodePools(0, pools, out); });
}

bool writeEvents(wire::ChunkWriter& writer, const Recording& recording, const DeviceRecording& device,
    const Progress& progress)
{
    const EventColumns& events = device.events;
    const auto moduleOf = [&](std::size_t row) {
        const ModuleIndex module = events.moduleOf(row);
        return module == kNoIndex ? wire::kNone : numberOf(recording.modules[module]);
    };
    const auto threadOf = [&](std::size_t row) {
        const ThreadIndex thread = events.threadOf(row);
        return thread == kNoIndex ? 0 : recording.threads[thread];
    };
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
            chunk.rows.push_back(
                { events.action[i], events.address[i], events.bytes[i], chunk.hasTimes ? events.timeNs[i] : 0,
                    numberOf(events.stack[i]), number(events.stream[i], kNoIndex),
                    number(events.pool[i], kNoIndex), moduleOf(i), threadOf(i), events.phaseOf(i) });
        for (std::size_t kind = 0; kind < columns.size(); ++kind) {
            chunk.sparse[kind].clear();
            const auto& items = columns[kind]->items();
            for (; next[kind] < items.size() && items[next[kind]].first < end; ++next[kind])
                chunk.sparse[kind].push_back({ static_cast<std::uint32_t>(items[next[kind]].first - first),
                    numberOf(items[next[kind]].second) });
        }
        writer.chunk(wire::ChunkType::Events, [&](wire::Bytes& out) { wire::encodeEvents(chunk, out); });
    }
    return true;
}

void writeState(wire::ChunkWriter& writer, wire::ChunkType type, int device, EventIndex events,
    std::span<const FinalSegment> segments, std::span<const FinalBlock> blocks)
{
    wire::State state;
    state.device = device;
    state.events = static_cast<std::uint64_t>(events);
    for (const FinalSegment& segment : segments) {
        state.segments.push_back({ segment.address, segment.bytes, segment.allocatedBytes,
            segment.activeBytes, segment.requestedBytes, segment.blockCount, numberOf(segment.stack),
            number(segment.stream, kNoIndex), number(segment.pool, kNoIndex), segment.expandable });
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const FinalBlock& block = blocks[segment.firstBlock + i];
            state.blocks.push_back(
                { block.address, block.bytes, block.requestedBytes, block.state, numberOf(block.stack) });
        }
    }
    writer.chunk(type, [&](wire::Bytes& out) { wire::encodeState(state, out); });
}

void writeDigest(wire::ChunkWriter& writer, const DeviceDigest& from)
{
    wire::Digest digest = toWire(from);
    digest.chunks = writer.chunks();
    digest.chain = writer.chain();
    writer.chunk(wire::ChunkType::Digest, [&](wire::Bytes& out) { wire::encodeDigest(digest, out); });
}

} // namespace

Result<void> canBeKept(const Recording& recording)
{
    if (recording.parts.find<ProfiledCategories>())
        return fail(Error::Kind::Refused,
            say("neither a session nor a snapshot keeps what a profiler's memory timeline says: it would be "
                "lost"),
            say("keep the memory timeline itself"));
    const auto* const work = recording.parts.find<Work>();
    if (!work || work->ownRecording)
        return {};
    return fail(Error::Kind::Refused,
        say("neither a session nor a snapshot keeps what ran when: it would be lost"),
        say("keep the trace itself, or write a part of it with strata timeline -o"));
}

Result<void> writeSession(const Recording& recording, wire::ChunkSink& sink,
    std::span<const DeviceDigest> digests, const Progress& progress)
{
    if (const auto kept = canBeKept(recording); !kept)
        return kept;
    wire::ChunkWriter writer(sink);
    writeInfo(writer, recording);
    writeChunks(recording, ChunkKind::Place::Front, writer);
    writeStrings(writer, recording);
    writeStacks(writer, recording);
    writePlaces(writer, recording);
    for (const DeviceRecording& device : recording.devices) {
        if (!device.base.segments.empty())
            writeState(writer, wire::ChunkType::BaseState, device.device, 0, device.base.segments,
                device.base.blocks);
        if (!writeEvents(writer, recording, device, progress))
            return fail(Error::Kind::Cancelled, say("cancelled"));
        writeState(writer, wire::ChunkType::EndState, device.device, device.events.size(),
            device.finalSegments, device.finalBlocks);
    }
    writeChunks(recording, ChunkKind::Place::BehindEvents, writer);
    for (const DeviceDigest& digest : digests)
        writeDigest(writer, digest);
    writer.index();
    writeChunks(recording, ChunkKind::Place::BehindIndex, writer);
    sink.close();
    if (writer.isWriting())
        return {};
    Failure failure = fail(Error::Kind::Refused, say("cannot be written: %1", writer.problem()),
        say("please report it with the recording"));
    failure.value().where = sink.name();
    return failure;
}

Result<void> saveSession(const Recording& recording, const std::filesystem::path& path,
    std::span<const DeviceDigest> digests, const Progress& progress)
{
    if (const auto kept = canBeKept(recording); !kept)
        return kept;
    Result<OutputFile> file = OutputFile::create(path);
    if (!file)
        return Failure(file.error());
    FileSink sink(*file);
    const Result<void> written = writeSession(recording, sink, digests, progress);
    // What the system said of the file is said by commit(), in its words.
    return written || !file->isGood() ? file->commit() : written;
}

Result<SavedFormat> savedFormat(const std::filesystem::path& path)
{
    const std::string suffix = path.extension().string();
    if (suffix == ".strata")
        return SavedFormat::Session;
    if (suffix == ".pickle" || suffix == ".pkl")
        return SavedFormat::Pickle;
    return fail(Error::Kind::Usage, say("-o does not say what to write: '%1'", path),
        say("name it .strata for a session or .pickle for a PyTorch snapshot"));
}

} // namespace strata::model
