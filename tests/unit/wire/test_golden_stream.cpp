// SPDX-License-Identifier: GPL-3.0-or-later
// A stream with a chunk of every type, against the bytes that lie in tests/data: whoever changes them makes
// sessions that Stratas of before do not open. Where a change is meant, FORMAT.md and the file change with
// it.
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/call_list_codec.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/deep_step_codec.h"
#include "model/wire/digest_codec.h"
#include "model/wire/events_codec.h"
#include "model/wire/roles_codec.h"
#include "model/wire/state.h"
#include "model/wire/symbols.h"
#include "model/wire/tables.h"
#include "model/wire/user_data_codec.h"
#include "model/wire/work_codec.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace strata::wire {
namespace {

const std::string kGolden = STRATA_TEST_DATA "/sessions/every_chunk.strata";

constexpr std::int64_t kStartNs = 1'760'000'000'000'000'000;

/// Two blocks of one segment: the first is freed, the second stays.
EventChunk events()
{
    EventChunk chunk;
    constexpr std::uint64_t kAt = 0x7f0000000000;
    const auto add = [&](EventAction action, std::uint64_t address, std::int64_t bytes, std::uint32_t stack) {
        chunk.rows.push_back({ action, address, bytes,
            kStartNs + 1'000'000 * static_cast<std::int64_t>(chunk.rows.size()), stack, 0, 0 });
    };
    add(EventAction::SegmentAlloc, kAt, 2 << 20, 0);
    add(EventAction::Alloc, kAt, 1000, 0);
    add(EventAction::Alloc, kAt + 1024, 4096, 1);
    add(EventAction::FreeRequested, kAt, 1000, 1);
    add(EventAction::FreeCompleted, kAt, 1000, 1);
    add(EventAction::UserDefined, 0, 0, kNone);
    add(EventAction::Oom, 1 << 20, 1 << 30, 1);
    chunk.sparse[static_cast<std::size_t>(SparseKind::UserMetadata)].push_back({ 5, 4 });
    return chunk;
}

State endState()
{
    constexpr std::uint64_t kAt = 0x7f0000000000;
    return { 0, 7, { { kAt, 2 << 20, 4096, 4096, 4096, 3, 0, 0, 0, false } },
        { { kAt, 1024, 0, BlockState::Inactive, kNone }, { kAt + 1024, 4096, 4096, BlockState::Allocated, 1 },
            { kAt + 5120, (2 << 20) - 5120, 0, BlockState::Inactive, kNone } } };
}

Digest digest(const ChunkWriter& writer)
{
    Digest digest;
    digest.chunks = writer.chunks();
    digest.chain = writer.chain();
    digest.events = 7;
    digest.actions = { 2, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0 };
    digest.hasTimes = true;
    digest.firstTimeNs = kStartNs;
    digest.peakTimeNs = kStartNs + 2'000'000;
    digest.latestTimeNs = kStartNs + 6'000'000;
    digest.requestedPeak = 5096;
    digest.requestedPeakEvent = 2;
    digest.reservedPeak = 2 << 20;
    digest.reservedPeakEvent = 0;
    digest.peakReserved = 2 << 20;
    digest.peakLeast = 5120;
    digest.peak = { { 0, 1000, 1 }, { 1, 4096, 1 } };
    digest.outOfMemory
        = { { 6, 1 << 30, 1 << 20, 2 << 20, 4096, (2 << 20) - 4096, true, 0, 1, { { 1, 4096, 1 } } } };
    return digest;
}

Bytes stream()
{
    MemorySink sink;
    ChunkWriter writer(sink);
    const auto add = [&](ChunkType type, auto encode, const auto&... rows) {
        writer.chunk(type, [&](Bytes& out) { encode(rows..., out); });
    };
    const std::vector<KeyValue> facts{ { info::kMinor, "1" }, { info::kCreator, "strata" },
        { info::kFormat, "a chunk of every type" }, { info::kHost, "node7" }, { info::kCommand, "train.py" },
        { info::kStartedNs, std::to_string(kStartNs) },
        { deviceKey(info::kDevice, 0, info::kDeviceName), "T4" },
        { deviceKey(info::kDevice, 0, info::kDeviceCapacity), "15843721216" }, { info::kHostSegments, "1" },
        { info::kHostReservedBytes, "4096" } };
    const std::vector<KeyValue> settings{ { "expandable_segments", "false" } };
    const std::vector<std::string_view> strings{ "train.py", "forward", "backward", "step 1", "a note of it",
        R"({"build_id": "ab", "offset": "0x10"})", "[[8, 4], []]" };
    const std::vector<FrameRow> frames{ { 0, 1, 10, kNone }, { 0, 2, 20, kNone }, { 0, 2, 0, 5 } };
    StackRows stacks;
    stacks.add(std::vector<std::uint32_t>{ 1, 0 });
    stacks.add(std::vector<std::uint32_t>{ 2, 1, 0 });
    add(ChunkType::Info, encodeKeyValues, facts);
    add(ChunkType::Settings, encodeKeyValues, settings);
    writer.chunk(ChunkType::Strings, [&](Bytes& out) { encodeStrings(0, strings, out); });
    writer.chunk(ChunkType::Frames, [&](Bytes& out) { encodeFrames(0, frames, out); });
    writer.chunk(ChunkType::Stacks, [&](Bytes& out) { encodeStacks(0, stacks, out); });
    writer.chunk(
        ChunkType::Streams, [&](Bytes& out) { encodeStreams(0, std::vector<std::int64_t>{ 0 }, out); });
    writer.chunk(ChunkType::Pools, [&](Bytes& out) {
        encodePools(0, std::vector<PoolRow>{ { 0, 0, PoolKind::Small } }, out);
    });
    add(ChunkType::BaseState, encodeState, State{});
    add(ChunkType::Events, encodeEvents, events());
    add(ChunkType::Annotations, encodeAnnotations,
        std::vector<AnnotationRow>{ { AnnotationKind::Start, 0, 3, kStartNs },
            { AnnotationKind::End, 0, 3, kStartNs + 5'000'000 },
            { AnnotationKind::Mark, -1, 4, kStartNs + 6'000'000 } });
    add(ChunkType::DriverMemory, encodeDriver,
        std::vector<DriverRow>{ { 0, 7, kStartNs + 6'000'000, 400 << 20, 300 << 20, 2 << 20 } });
    add(ChunkType::AllocatorCalls, encodeAllocatorCalls,
        std::vector<AllocatorCallRow>{ { 0, 5, AllocatorCallKind::EmptyCache, kNone, kStartNs + 4'000'000 },
            { 0, 6, AllocatorCallKind::Settings, 4, kStartNs + 5'000'000 } });
    add(ChunkType::Roles, encodeRoles,
        std::vector<RoleRow>{ { 0, 3, RoleKind::Parameter, 0x7f0000000400, 3, kNone, kNone, 1024, kNone },
            { 0, 4, RoleKind::OptimizerState, 0x7f0000000500, 3, 1, 2, 512, 0 },
            { 0, 7, RoleKind::Stepped, 0, 4, kNone, kNone, 0, 0 } });
    add(ChunkType::Earlier, encodeEarlier,
        std::vector<EarlierRow>{ { 0, 0, 40, kStartNs - 9'000'000, 5'000'000, 0, 4096, 1 << 20, 2 << 20 },
            { 0, 40, 2, kStartNs - 3'000'000, 1'000'000, 4096, 4096, 2 << 20, 2 << 20 } });
    add(ChunkType::DeviceWork, encodeDeviceWork,
        DeviceWorkChunk{ 0, { { 3, { 128, 2, 1 }, { 256, 1, 1 }, 32, 4096 } },
            { { DeviceWorkKind::Kernel, 0, 7, kStartNs + 1'000, 2'000, 0, 11 },
                { DeviceWorkKind::Copy, 4, 13, kStartNs + 1'500, 9'000, 1 << 20, 12 },
                { DeviceWorkKind::Set, 4, 7, kStartNs + 2'900, 0, 512, 13 } } });
    add(ChunkType::WorkCalls, encodeWorkCalls,
        std::vector<WorkCallRow>{ { WorkCallKind::Runtime, 3, 4321, kStartNs + 500, 300, 11 },
            { WorkCallKind::Driver, 4, 4322, kStartNs + 100, 200, 12 },
            { WorkCallKind::Overhead, 4, 4321, kStartNs + 900, 50, 0 } });
    add(ChunkType::WorkWaits, encodeWorkWaits,
        std::vector<WorkWaitRow>{ { 4, 0, 7, kStartNs + 3'000, 4'000, 14 }, { 4, -1, -1, kStartNs, 1, 0 } });
    add(ChunkType::WorkLosses, encodeWorkLosses,
        std::vector<WorkLossRow>{
            { WorkLoss::NoRoom, kStartNs + 5, 77 }, { WorkLoss::AnotherProfiler, kStartNs + 6, 0 } });
    add(ChunkType::DriverAllocations, encodeDriverAllocations,
        std::vector<DriverAllocationRow>{
            { false, DriverMemoryKind::Device, 0, 0x7f0000200000, 2 << 20, kStartNs + 200, 15 },
            { false, DriverMemoryKind::Pinned, 0, 0x7e0000001000, 4096, kStartNs + 300, 16 },
            { true, DriverMemoryKind::Device, 0, 0x7f0000200000, 2 << 20, kStartNs + 7'000, 17 } });
    add(ChunkType::Operators, encodeOperators,
        OperatorChunk{ { { 3, 6, kNone, kNone, kNone }, { 4, kNone, 6, 6, 6 } },
            { { 1, 4321, kStartNs + 400, 900, 12 }, { 0, 4321, kStartNs + 450, 300, -1 },
                { 1, 4322, kStartNs + 90, 0, 12 } } });
    add(ChunkType::DeepStep, encodeDeepStep,
        DeepStepChunk{ 0, kNone, 2, 7, { { 0x7f0000000400, 4 }, { 0x7f0000000600, kNone }, { 0, 4 } },
            { { DeepKind::Enters, 4321, 2, 3, 4, kNone, 1 },
                { DeepKind::Operator, 4321, 2, 3, kNone, kNone, 2 },
                { DeepKind::Saved, 4321, 3, kNone, kNone, 0, 1 },
                { DeepKind::Returns, 4321, 3, kNone, kNone, kNone, 1 },
                { DeepKind::Leaves, 4321, 3, 3, 4, kNone, 1 },
                { DeepKind::Gone, 4321, 4, kNone, kNone, kNone, 1 },
                { DeepKind::Unpacked, 4322, 5, kNone, kNone, 0, 1 },
                { DeepKind::Released, 4322, 6, kNone, kNone, 0, 0 } },
            { 0, 0, 1, 1, 2, 1, 1, 0 } });
    add(ChunkType::CallList, encodeCallList,
        CallListChunk{ 0, kNone, 2, 7,
            { { 0x7f0000000400, 4, 0, kNone, 2 }, { 0x7f0000000600, 4, 5, kNone, 0 },
                { 0x7f0000000800, 4, 0, 0, 2 } },
            { 2, 3, 3, 1, 2, 3, 3, 1 },
            { { CallKind::Known, 2, false, 3, kNone, 1, 0 }, { CallKind::Enters, 2, false, 3, 4, 0, 0 },
                { CallKind::Call, 2, true, 3, 6, 1, 1 }, { CallKind::Leaves, 3, false, 3, 4, 0, 0 },
                { CallKind::Backward, 3, false, kNone, 6, 1, 0 },
                { CallKind::BackwardEnds, 6, false, kNone, kNone, 0, 1 },
                { CallKind::Gone, 7, false, kNone, kNone, 1, 0 } },
            { 1, 1, 3, 3, 4, 2 } });
    add(ChunkType::Lost, encodeLost, std::vector<LostRow>{});
    add(ChunkType::EndState, encodeState, endState());
    add(ChunkType::Digest, encodeDigest, digest(writer));
    writer.index();
    add(ChunkType::Symbols, encodeSymbols,
        std::vector<SymbolRow>{ { R"({"build_id": "ab", "offset": "0x10"})", "train.cpp", "f(int)", 57 } });
    add(ChunkType::Note, encodeUserRows,
        std::vector<UserRow>{ { 17, false, kStartNs, 0, 2, 2, 0x7f0000000400, "here", "" } });
    add(ChunkType::Range, encodeUserRows,
        std::vector<UserRow>{ { 18, false, kStartNs, 0, 1, 4, 0, "a part", "" } });
    add(ChunkType::Filter, encodeUserRows,
        std::vector<UserRow>{ { 19, false, kStartNs, 0, -1, -1, 0, "large", R"({"min_bytes": 1024})" },
            { 20, true, kStartNs } });
    add(ChunkType::Rules, encodeUserRows,
        std::vector<UserRow>{ { 1, false, kStartNs, 0, -1, -1, 0, "",
            R"({"rules": [{"category": "workspace", "min_bytes": "1KiB"}]})" } });
    add(ChunkType::View, encodeUserRows,
        std::vector<UserRow>{ { 2, false, kStartNs, 0, -1, -1, 0, "",
            R"({"lanes":{"pinned":["0:7:0:7"],"order":["77:4321"]}})" } });
    EXPECT_TRUE(writer.isWriting());
    return sink.bytes();
}

Bytes golden()
{
    std::ifstream file(kGolden, std::ios::binary);
    const std::string content{ std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
    const auto bytes = std::as_bytes(std::span(content));
    return { bytes.begin(), bytes.end() };
}

/// Type, sequence number and payload of each chunk: how well zstd packs is not ours to hold.
std::vector<std::tuple<ChunkType, std::uint32_t, Bytes>> chunkTuplesOf(std::span<const std::byte> rest)
{
    std::vector<std::tuple<ChunkType, std::uint32_t, Bytes>> chunks;
    ChunkHead head;
    Bytes payload;
    while (readHead(rest, head) == ChunkStatus::Ok
        && unpack(head, rest.first(kHeadBytes), rest.subspan(kHeadBytes), payload) == ChunkStatus::Ok) {
        chunks.emplace_back(head.type, head.sequence, payload);
        rest = rest.subspan(kHeadBytes + head.storedBytes);
    }
    EXPECT_TRUE(rest.empty());
    return chunks;
}

} // namespace

TEST(GoldenStream, EveryChunkIsWrittenAsItAlwaysWas)
{
    const Bytes written = stream();
    const auto now = chunkTuplesOf(written), before = chunkTuplesOf(golden());
    if (now != before) // to look at, and to lie there if the change is meant
        std::ofstream("every_chunk.strata", std::ios::binary)
            .write(
                reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(written.size()));
    ASSERT_EQ(now.size(), before.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
        const auto type = static_cast<int>(std::get<ChunkType>(now[i]));
        // Where chunks lie, and their hashes, follow from how zstd packs.
        if (std::get<ChunkType>(now[i]) == ChunkType::Index)
            EXPECT_EQ(std::get<ChunkType>(before[i]), ChunkType::Index);
        else if (std::get<ChunkType>(now[i]) == ChunkType::Digest)
            EXPECT_EQ(std::get<2>(now[i]).size(), std::get<2>(before[i]).size());
        else
            EXPECT_TRUE(now[i] == before[i]) << "type " << type;
    }
}

TEST(GoldenStream, HasAChunkOfEveryType)
{
    std::set<ChunkType> types;
    for (const auto& [type, sequence, payload] : chunkTuplesOf(golden()))
        types.insert(type);
    EXPECT_EQ(types.size(), kChunkTypes.size());
    for (const ChunkType type : kChunkTypes)
        EXPECT_TRUE(types.contains(type)) << static_cast<int>(type);
}

} // namespace strata::wire
