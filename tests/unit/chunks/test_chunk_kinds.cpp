// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/readers/session/session_builder.h"
#include "model/trace/driver_allocations.h"
#include "model/trace/earlier_curves.h"
#include "model/trace/program/allocator_calls.h"
#include "model/trace/program/roles.h"
#include "model/trace/work.h"
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/link/link_chunks.h"
#include "model/wire/roles_codec.h"
#include "model/wire/tables.h"
#include "tests/unit/chunks/made_call_list.h"
#include "tests/unit/chunks/made_deep_step.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

namespace strata::model {

namespace {

/// A kernel, a copy, the call that launched both, a wait and a loss, on the clock of the annotations.
void addWork(Recording& recording)
{
    Work& work = recording.parts.get<Work>();
    work.ownRecording = true;
    work.lanes.resize(2);
    work.lanes[0].device = 0;
    work.lanes[0].stream = 7;
    work.lanes[1].thread = 4321;
    KernelDetail kernel;
    kernel.grid[0] = 128;
    kernel.grid[1] = kernel.grid[2] = kernel.block[0] = kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = 32;
    kernel.sharedBytes = 0;
    work.kernels = { kernel };
    work.copies = { { 4096 } };
    const auto add = [&](WorkKind kind, std::int64_t startNs, const char* name, LaneIndex lane,
                         std::uint32_t detail = WorkSpan::kNoWorkDetail) {
        work.spans.push_back({ startNs, 2, recording.strings.intern(name), lane, 11, 0, detail, kind });
    };
    add(WorkKind::Kernel, 3, "gemm", 0, 0);
    add(WorkKind::Copy, 5, "Memcpy HtoD (Pinned -> Device)", 0, 0);
    add(WorkKind::Runtime, 1, "cudaLaunchKernel", 1);
    add(WorkKind::Runtime, 2, "cuLaunchKernel", 1);
    add(WorkKind::Overhead, 2, "Activity Buffer Request", 1);
    add(WorkKind::Synchronisation, 6, "Stream Synchronize", 0);
    OperatorDetail inputs;
    inputs.shapes = recording.strings.intern("[[8, 4], []]");
    inputs.types = recording.strings.intern(R"(["float", "Scalar"])");
    inputs.sequence = 12;
    work.operators = { inputs };
    add(WorkKind::Operator, 1, "aten::mul", 1, 0);
    work.losses = { { WorkLoss::Why::NoRoom, 4, 9 } };
}

/// Something of every kind in the register: whoever adds a kind adds a line here.
Recording recordingWithAll()
{
    Recording recording;
    recording.settings = { { "expandable_segments", "false" } };
    recording.lost = { { 0, 7, 3 } };
    recording.annotations = { { Annotation::Kind::Start, 0, recording.strings.intern("step 1"), 5 },
        { Annotation::Kind::Mark, -1, recording.strings.intern("half way"), 6 } };
    recording.driver = { { 0, 4, 9, 100, 50, std::nullopt } };
    recording.parts.get<AllocatorCalls>().byDevice[0]
        = { { 0, 3, AllocatorCall::Kind::Settings, recording.strings.intern("step 1"), 1, 0, 0, 77 } };
    recording.parts.get<RoleListings>().byDevice[0]
        = { { 3, wire::RoleKind::OptimizerState, 0x7000, recording.strings.intern("h.3.attn.weight"),
                recording.strings.intern("exp_avg"), recording.strings.intern("float32"), 768, 1 },
              { 5, wire::RoleKind::Stepped, 0, recording.strings.intern("AdamW"), {}, {}, 0, 1 } };
    recording.parts.get<EarlierCurves>().add(0, { 0, 40, 1'000, 500, 10, 20, 30, 40 });
    recording.parts.get<EarlierCurves>().add(0, { 40, 2, 1'600, 0, 10, 10, 30, 30 });
    recording.parts.get<DriverAllocations>().rows
        = { { false, wire::DriverMemoryKind::Device, 0, 0x7f0000000000, 4096, 3, 11 },
              { true, wire::DriverMemoryKind::Device, 0, 0x7f0000000000, 4096, 7, 12 } };
    addWork(recording);
    recording.parts.get<DeepSteps>().steps = { test::makeDeepStep(recording) };
    recording.parts.get<CallLists>().lists = { test::makeCallList(recording) };
    for (const UserItem::Kind kind : { UserItem::Kind::Note, UserItem::Kind::Range, UserItem::Kind::Filter,
             UserItem::Kind::Rules, UserItem::Kind::View }) {
        UserItem item;
        item.kind = kind;
        item.key = 10 + static_cast<std::uint64_t>(kind);
        item.text = "mine";
        recording.user.set(item);
    }
    return recording;
}

wire::Bytes written(const ChunkKind& kind, const Recording& recording)
{
    wire::MemorySink sink;
    wire::ChunkWriter writer(sink);
    kind.write(recording, writer);
    return sink.bytes();
}

/// The payload of the one chunk of a stream, and its type.
std::pair<wire::ChunkType, wire::Bytes> payloadOf(const wire::Bytes& stream)
{
    wire::ChunkHead head;
    wire::Bytes payload;
    EXPECT_EQ(wire::readHead(stream, head), wire::ChunkStatus::Ok);
    EXPECT_EQ(wire::unpack(head, std::span(stream).first(wire::kHeadBytes),
                  std::span(stream).subspan(wire::kHeadBytes), payload),
        wire::ChunkStatus::Ok);
    return { head.type, payload };
}

std::string format()
{
    std::ifstream file(STRATA_FORMAT);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

} // namespace

TEST(ChunkKinds, AreEachOfATypeOfTheirOwn)
{
    std::set<wire::ChunkType> types;
    for (const ChunkKind* const kind : chunkKinds()) {
        EXPECT_TRUE(types.insert(kind->type).second) << static_cast<int>(kind->type);
        EXPECT_TRUE(kind->take && kind->write);
        EXPECT_EQ(kind->keep != nullptr, kind->place != ChunkKind::Place::BehindIndex)
            << "strata share would leave out chunks " << static_cast<int>(kind->type);
        EXPECT_EQ(chunkKindOf(kind->type), kind);
    }
    EXPECT_EQ(chunkKindOf(wire::ChunkType::Events), nullptr);
    EXPECT_EQ(chunkKindOf(static_cast<wire::ChunkType>(9999)), nullptr);
}

TEST(ChunkKinds, AreDescribedForStrangers)
{
    const std::string text = format();
    std::set<wire::ChunkType> types(wire::kChunkTypes.begin(), wire::kChunkTypes.end());
    for (const ChunkKind* const kind : chunkKinds())
        types.insert(kind->type);
    types.insert(wire::kLinkTypes.begin(), wire::kLinkTypes.end());
    for (const wire::ChunkType type : types) {
        const std::string number = std::to_string(static_cast<int>(type));
        EXPECT_TRUE(
            text.find("(" + number + ")") != text.npos || text.find("| " + number + " |") != text.npos)
            << "FORMAT.md does not tell of chunk " << number;
    }
}

TEST(ChunkKinds, ComeBackAsTheyWereWritten)
{
    const Recording from = recordingWithAll();
    for (const ChunkKind* const kind : chunkKinds()) {
        SCOPED_TRACE(static_cast<int>(kind->type));
        const wire::Bytes stream = written(*kind, from);
        auto [type, payload] = payloadOf(stream);
        EXPECT_EQ(type, kind->type);
        Recording to;
        StreamTables tables;
        for (std::uint32_t i = 0; i < from.strings.size(); ++i)
            tables.strings.push_back(to.strings.intern(from.strings[StringId{ i }]));
        ASSERT_TRUE(kind->take(payload, tables, to));
        EXPECT_EQ(written(*kind, to), stream);
        EXPECT_TRUE(written(*kind, Recording()).empty()); // nothing of it: no chunk
        payload.pop_back();
        const bool isUserData = kind->place == ChunkKind::Place::BehindIndex;
        EXPECT_EQ(kind->take(payload, tables, to), isUserData); // which is passed over
    }
}

TEST(ChunkKinds, KeepWhatLiesWithinAPart)
{
    const Recording from = recordingWithAll();
    const auto kept
        = [&](const ChunkKind& kind, const std::map<int, EventSpan>& spans, std::optional<KeptTime> time) {
              Recording to;
              for (std::uint32_t i = 0; i < from.strings.size(); ++i)
                  (void)to.strings.intern(from.strings[StringId{ i }]);
              const KeptRows rows{ spans, time,
                  [&](StringId text) { return to.strings.intern(from.strings[text]); },
                  [](const Setting& setting) { return setting; } };
              kind.keep(from, rows, to);
              return to;
          };
    for (const ChunkKind* const kind : chunkKinds())
        if (kind->keep) {
            SCOPED_TRACE(static_cast<int>(kind->type));
            EXPECT_EQ(written(*kind, kept(*kind, { { 0, { 0, 99 } } }, std::nullopt)), written(*kind, from));
        }
    const ChunkKind& lost = *chunkKindOf(wire::ChunkType::Lost);
    EXPECT_EQ(kept(lost, { { 0, { 5, 9 } } }, {}).lost[0].event, 2);
    EXPECT_EQ(kept(lost, { { 0, { 5, 6 } } }, {}).lost[0].event, 2); // behind the last
    EXPECT_TRUE(kept(lost, { { 0, { 8, 9 } } }, {}).lost.empty());
    EXPECT_TRUE(kept(lost, { { 1, { 0, 99 } } }, {}).lost.empty());
    const ChunkKind& annotations = *chunkKindOf(wire::ChunkType::Annotations);
    EXPECT_EQ(kept(annotations, {}, KeptTime{ 6, 7 }).annotations.size(), 2u) << "the step goes on in it";
    EXPECT_EQ(kept(annotations, {}, KeptTime{ 4, 5 }).annotations.size(), 1u);
}

TEST(ChunkKinds, WorkGoesWithItsTimeAndItsDevice)
{
    Recording from;
    addWork(from);
    const auto kept = [&](const std::map<int, EventSpan>& spans, std::optional<KeptTime> time) {
        Recording to;
        for (const wire::ChunkType type : { wire::ChunkType::DeviceWork, wire::ChunkType::WorkCalls,
                 wire::ChunkType::WorkWaits, wire::ChunkType::WorkLosses, wire::ChunkType::Operators })
            chunkKindOf(type)->keep(from,
                { spans, time, [&](StringId text) { return to.strings.intern(from.strings[text]); }, {} },
                to);
        std::string names;
        if (const auto* const work = to.parts.find<Work>()) {
            for (const WorkSpan& span : work->spans)
                names += std::string(to.strings[span.name]).substr(0, 6) + " ";
            for (const auto& [category, count] : work->counts)
                names += category + "=" + std::to_string(count) + " ";
            names += std::to_string(work->losses.size());
        }
        return names;
    };
    const std::map<int, EventSpan> first{ { 0, { 0, 9 } } }, other{ { 1, { 0, 9 } } };
    EXPECT_EQ(kept(first, {}),
        "gemm Memcpy cudaLa cuLaun Activi Stream aten:: cpu_op=1 cuda_driver=1 cuda_runtime=1 cuda_sync=1 "
        "gpu_memcpy=1 "
        "kernel=1 overhead=1 1");
    EXPECT_EQ(kept(first, KeptTime{ 6, 7 }), "Memcpy Stream cuda_sync=1 gpu_memcpy=1 0");
    EXPECT_EQ(
        kept(other, {}), "cudaLa cuLaun Activi aten:: cpu_op=1 cuda_driver=1 cuda_runtime=1 overhead=1 1");
}

TEST(ChunkKinds, OperatorsThatNameNothingAreDamage)
{
    Recording to;
    StreamTables tables;
    tables.strings.push_back(to.strings.intern("aten::mul"));
    const auto taken = [&](const wire::OperatorCallRow& call, const wire::OperatorRow& row) {
        wire::Bytes payload;
        wire::encodeOperators({ { call }, { row } }, payload);
        return chunkKindOf(wire::ChunkType::Operators)->take(payload, tables, to);
    };
    EXPECT_TRUE(taken({ 0 }, { 0, 77, 5, 1, -1 }));
    EXPECT_FALSE(taken({ 0 }, { 1, 77, 5, 1, -1 })) << "no such call";
    EXPECT_FALSE(taken({ 1 }, { 0, 77, 5, 1, -1 })) << "no such string";
    EXPECT_FALSE(taken({ 0, 1 }, { 0, 77, 5, 1, -1 })) << "no such shapes";
    EXPECT_FALSE(taken({ wire::kNone }, { 0, 77, 5, 1, -1 })) << "no name";
    for (const char* const shapes :
        { "[[8, 4], []]", "[]", R"(["float", "", "1.5"])", "[[[1, -2.5e-3], []],0]" }) {
        tables.strings.push_back(to.strings.intern(shapes));
        EXPECT_TRUE(taken({ 0, static_cast<std::uint32_t>(tables.strings.size() - 1) }, { 0, 77, 5, 1, -1 }));
    }
    for (const char* const shapes : { "", "7", "[1", "[1]]", "[1],[2]", "[\"a]", "[\"\\\"]", "[{}]", "[a]",
             "[1 2]", "[,]", "[1,]", "[01]", "[1.]", "[-]", "[1e]", "[\"\x7f\"]", "[[[[[[[[[[1]]]]]]]]]]" }) {
        tables.strings.push_back(to.strings.intern(shapes));
        EXPECT_FALSE(taken({ 0, static_cast<std::uint32_t>(tables.strings.size() - 1) }, { 0, 77, 5, 1, -1 }))
            << shapes;
    }
    EXPECT_FALSE(taken({ 0 }, { 0, 77, INT64_MAX, 1, -1 })) << "it never ends";
    EXPECT_FALSE(taken({ 0 }, { 0, 77, 5, -1, -1 }));
    ASSERT_EQ(to.parts.find<Work>()->spans.size(), 5u);
    EXPECT_FALSE(to.parts.find<Work>()->operators[0].shapes.valid());
}

TEST(ChunkKinds, WorkThatNamesNothingIsDamage)
{
    Recording to;
    StreamTables tables;
    tables.strings.push_back(to.strings.intern("gemm"));
    const auto taken = [&](const wire::DeviceWorkChunk& chunk) {
        wire::Bytes payload;
        wire::encodeDeviceWork(chunk, payload);
        return chunkKindOf(wire::ChunkType::DeviceWork)->take(payload, tables, to);
    };
    using Kind = wire::DeviceWorkKind;
    EXPECT_TRUE(taken({ 0, { { 0 } }, { { Kind::Kernel, 0, 7, 5, 1, 0, 1 } } }));
    EXPECT_FALSE(taken({ 0, { { 0 } }, { { Kind::Kernel, 1, 7, 5, 1, 0, 1 } } })) << "no such configuration";
    EXPECT_FALSE(taken({ 0, { { 1 } }, { { Kind::Kernel, 0, 7, 5, 1, 0, 1 } } })) << "no such string";
    EXPECT_FALSE(taken({ 0, { { wire::kNone } }, { { Kind::Kernel, 0, 7, 5, 1, 0, 1 } } })) << "no name";
    EXPECT_FALSE(taken({ 0, {}, { { Kind::Copy, 3, 7, 5, 1, 8, 1 } } }));
    EXPECT_FALSE(taken({ 0, {}, { { Kind::Copy, 0, 7, INT64_MAX, 1, 8, 1 } } })) << "it never ends";
    EXPECT_FALSE(taken({ 0, {}, { { Kind::Copy, 0, 7, 5, -1, 8, 1 } } }));
    EXPECT_TRUE(taken({ 0, {}, { { static_cast<Kind>(9), 77, 7, 5, 1, 8, 1 } } })) << "of a newer Strata";
    EXPECT_EQ(to.parts.find<Work>()->spans.size(), 1u);
}

TEST(ChunkKinds, WhatTheDriverSaidLastHoldsAtTheBeginningOfAPart)
{
    Recording from;
    for (const auto& [device, event] : { std::pair(0, 2), { 1, 3 }, { 0, 4 }, { 0, 8 }, { 1, 50 }, { 2, 1 } })
        from.driver.push_back(
            { device, event, 1000 + event, 100 * device + event, std::nullopt, std::nullopt });
    const auto kept = [&](EventSpan span) {
        Recording to;
        chunkKindOf(wire::ChunkType::DriverMemory)
            ->keep(from, { { { 0, span }, { 1, { 10, 20 } } }, {}, {}, {} }, to);
        std::vector<std::tuple<int, std::int64_t, std::int64_t>> readings;
        for (const DriverReading& reading : to.driver)
            readings.emplace_back(reading.device, reading.event, reading.usedBytes);
        std::ranges::sort(readings);
        return readings;
    };
    using Readings = std::vector<std::tuple<int, std::int64_t, std::int64_t>>;
    EXPECT_EQ(kept({ 5, 9 }), (Readings{ { 0, 0, 4 }, { 0, 3, 8 }, { 1, 0, 103 } }));
    EXPECT_EQ(kept({ 4, 9 }), (Readings{ { 0, 0, 4 }, { 0, 4, 8 }, { 1, 0, 103 } })) << "said right there";
    EXPECT_EQ(kept({ 9, 12 }), (Readings{ { 0, 0, 8 }, { 1, 0, 103 } }));
    EXPECT_EQ(kept({ 0, 1 }), (Readings{ { 0, 2, 2 }, { 1, 0, 103 } }));
}

/// One chunk of calls, taken in.
bool takeCalls(
    const std::vector<std::tuple<int, std::uint64_t, AllocatorCall::Kind, const char*>>& calls, Recording& to)
{
    std::vector<wire::AllocatorCallRow> rows;
    StreamTables tables;
    for (const auto& [device, event, kind, value] : calls) {
        const bool hasValue = *value != 0;
        rows.push_back({ device, event, kind,
            hasValue ? static_cast<std::uint32_t>(tables.strings.size()) : wire::kNone, 0 });
        if (hasValue)
            tables.strings.push_back(to.strings.intern(value));
    }
    wire::Bytes payload;
    wire::encodeAllocatorCalls(rows, payload);
    return chunkKindOf(wire::ChunkType::AllocatorCalls)->take(payload, tables, to);
}

using CallKind = AllocatorCall::Kind;

std::string callsText(const Recording& recording)
{
    std::string text;
    const auto* const part = recording.parts.find<AllocatorCalls>();
    for (const auto& [device, calls] : part ? part->byDevice : decltype(part->byDevice)())
        for (const AllocatorCall& call : calls)
            text += std::to_string(device) + "/" + std::to_string(call.event) + " "
                + std::string(callName(call.kind)) + " "
                + (call.value.valid() ? std::string(recording.strings[call.value]) : "-") + "\n";
    return text;
}

TEST(AllocatorCalls, SayWhatTheirValuesMean)
{
    Recording to;
    ASSERT_TRUE(takeCalls(
        { { 0, 0, CallKind::MemoryFraction, "0.3" }, { 1, 5, CallKind::EmptyCache, "" },
            { 1, 5, CallKind::EmptyCache, "0,7" }, { 0, 9, CallKind::Settings, "expandable_segments:True" },
            { 1, 6, CallKind::PoolBegin, "12,0" } },
        to));
    EXPECT_EQ(callsText(to),
        "0/0 memory_fraction 0.3\n0/9 settings expandable_segments:True\n1/5 empty_cache -\n1/5 empty_cache "
        "0,7\n1/6 pool_begin 12,0\n");
    EXPECT_EQ(AllocatorCalls::of(to, 0)[0].fraction, 0.3);
    EXPECT_EQ(AllocatorCalls::of(to, 1)[1].poolId, 7);
    EXPECT_EQ(AllocatorCalls::of(to, 1)[2].poolOwner, 12);
    EXPECT_TRUE(AllocatorCalls::of(to, 2).empty());
    EXPECT_TRUE(AllocatorCalls::of(Recording(), 0).empty());
}

TEST(AllocatorCalls, ThatCannotBeAreDamage)
{
    Recording to;
    EXPECT_FALSE(takeCalls({ { 0, 0, CallKind::MemoryFraction, "half" } }, to));
    EXPECT_FALSE(takeCalls({ { 0, 0, CallKind::MemoryFraction, "" } }, to));
    EXPECT_FALSE(takeCalls({ { 0, 0, CallKind::PoolEnd, "" } }, to));
    EXPECT_FALSE(takeCalls({ { 0, 0, CallKind::EmptyCache, "7" } }, to));
    EXPECT_FALSE(takeCalls({ { 0, std::uint64_t{ 1 } << 63, CallKind::EmptyCache, "" } }, to));
    EXPECT_FALSE(takeCalls({ { 0, 5, CallKind::EmptyCache, "" }, { 0, 4, CallKind::EmptyCache, "" } }, to))
        << "one before another that took effect earlier";
    EXPECT_TRUE(takeCalls({ { 3, 5, CallKind::EmptyCache, "" }, { 4, 4, CallKind::EmptyCache, "" } }, to));
}

TEST(AllocatorCalls, GoWithAPartAndWhatHoldsInItStandsAtItsBeginning)
{
    Recording from;
    ASSERT_TRUE(takeCalls({ { 0, 1, CallKind::Settings, "a:1" }, { 0, 2, CallKind::EmptyCache, "" },
                              { 0, 3, CallKind::MemoryFraction, "0.5" }, { 0, 5, CallKind::EmptyCache, "" },
                              { 0, 8, CallKind::Settings, "b:2" }, { 0, 10, CallKind::EmptyCache, "" },
                              { 0, 11, CallKind::Settings, "c:3" }, { 1, 1, CallKind::EmptyCache, "" } },
        from));
    const auto kept = [&](const std::map<int, EventSpan>& spans) {
        Recording to;
        (void)to.strings.intern("another number for each");
        const auto text = [&](StringId id) { return id.valid() ? to.strings.intern(from.strings[id]) : id; };
        chunkKindOf(wire::ChunkType::AllocatorCalls)->keep(from, { spans, {}, text, {} }, to);
        return callsText(to);
    };
    EXPECT_EQ(kept({ { 0, { 5, 9 } } }),
        "0/0 settings a:1\n0/0 memory_fraction 0.5\n0/0 empty_cache -\n0/3 settings b:2\n0/5 empty_cache "
        "-\n");
    EXPECT_EQ(kept({ { 1, { 0, 9 } } }), "1/1 empty_cache -\n");
    EXPECT_EQ(kept({ { 2, { 0, 9 } } }), "");
}

using Role = wire::RoleKind;

/// "event kind address name" of each.
std::string rolesText(const Recording& recording, int device = 0)
{
    std::string text;
    for (const RoleListing& listing : RoleListings::of(recording, device))
        text += std::to_string(listing.event) + " " + std::string(roleName(listing.kind)) + " "
            + std::to_string(listing.address) + " "
            + (listing.name.valid() ? std::string(recording.strings[listing.name]) : "-") + "\n";
    return text;
}

/// A parameter, its state and its gradient, which lies elsewhere in each step; another optimizer's beside.
Recording recordingWithRoles()
{
    Recording from;
    const StringId weight = from.strings.intern("weight"), bias = from.strings.intern("bias"),
                   adam = from.strings.intern("Adam"), moment = from.strings.intern("exp_avg");
    from.parts.get<RoleListings>().byDevice[0] = { { 2, Role::Gradient, 100, weight, {}, {}, 1, 0 },
        { 3, Role::Parameter, 200, weight, {}, {}, 1, 0 },
        { 3, Role::OptimizerState, 300, weight, moment, {}, 1, 0 },
        { 3, Role::Stepped, 0, adam, {}, {}, 0, 0 }, { 4, Role::Parameter, 400, bias, {}, {}, 1, 1 },
        { 4, Role::Gradient, 500, bias, {}, {}, 1, 1 }, { 9, Role::Gradient, 101, weight, {}, {}, 1, 0 },
        { 10, Role::Stepped, 0, adam, {}, {}, 0, 0 }, { 11, Role::Stepped, 0, adam, {}, {}, 0, 1 },
        { 20, Role::Gradient, 0, weight, {}, {}, 1, 0 } };
    return from;
}

std::string keptRoles(const Recording& from, EventSpan span, bool modules)
{
    Recording to;
    KeptRows rows{ { { 0, span } }, {}, [&](StringId id) { return to.strings.intern(from.strings[id]); },
        {} };
    rows.modules = modules;
    chunkKindOf(wire::ChunkType::Roles)->keep(from, rows, to);
    return rolesText(to);
}

TEST(Roles, GoWithAPartAndWhatLivesLongStandsAtItsBeginning)
{
    const Recording from = recordingWithRoles();
    EXPECT_EQ(keptRoles(from, { 0, 99 }, true), rolesText(from));
    EXPECT_EQ(keptRoles(from, { 5, 15 }, true),
        "0 parameter 200 weight\n0 parameter 400 bias\n0 optimizer_state 300 weight\n4 gradient 101 weight\n"
        "5 stepped 0 Adam\n6 gradient 500 bias\n6 stepped 0 Adam\n")
        << "a gradient from before is said again with its optimizer's step, unless another one took its "
           "place";
    EXPECT_EQ(keptRoles(from, { 30, 40 }, true),
        "0 parameter 200 weight\n0 parameter 400 bias\n0 optimizer_state 300 weight\n");
}

TEST(Roles, KeepTheirKindWithoutTheirNames)
{
    EXPECT_EQ(keptRoles(recordingWithRoles(), { 5, 15 }, false),
        "0 parameter 200 #1\n0 parameter 400 #2\n0 optimizer_state 300 #1\n4 gradient 101 #1\n"
        "5 stepped 0 Adam\n6 gradient 500 #2\n6 stepped 0 Adam\n")
        << "numbers tell them apart: a row takes the place of that of the same name";
}

TEST(Roles, OfAKindThatIsNotKnownArePassedOver)
{
    wire::Bytes payload;
    wire::encodeRoles(std::vector<wire::RoleRow>{ { .device = 1, .kind = static_cast<Role>(99) },
                          { .device = 1, .event = 7, .kind = Role::Buffer, .address = 9 } },
        payload);
    Recording to;
    ASSERT_TRUE(chunkKindOf(wire::ChunkType::Roles)->take(payload, StreamTables(), to));
    EXPECT_EQ(rolesText(to, 1), "7 buffer 9 -\n");
}

TEST(Settings, OfTheBeginningAreKeptWhereTheyChange)
{
    const ChunkKind& kind = *chunkKindOf(wire::ChunkType::Settings);
    const auto take = [&](Recording& to, std::vector<wire::KeyValue> items) {
        wire::Bytes payload;
        wire::encodeKeyValues(items, payload);
        ASSERT_TRUE(kind.take(payload, StreamTables(), to));
    };
    const auto text = [](const std::vector<Setting>& settings) {
        std::string all;
        for (const Setting& setting : settings)
            all += setting.key + "=" + setting.json + " ";
        return all;
    };
    Recording recording;
    take(recording, { { "a", "1" }, { "b", "2" } });
    take(recording, { { "a", "1" }, { "c", "3" } });
    EXPECT_EQ(text(SettingsAtStart::of(recording)), "a=1 b=2 c=3 ") << "nothing changed";
    take(recording, { { "a", "7" } });
    take(recording, { { "a", "8" } });
    EXPECT_EQ(text(SettingsAtStart::of(recording)), "a=1 b=2 c=3 ");
    EXPECT_EQ(text(recording.settings), "a=8 b=2 c=3 ");

    // They go into a file and out of it, and with a part.
    wire::MemorySink sink;
    wire::ChunkWriter writer(sink);
    kind.write(recording, writer);
    Recording part;
    kind.keep(recording, { {}, {}, {}, [](const Setting& setting) { return setting; } }, part);
    EXPECT_EQ(written(kind, part), sink.bytes());
    EXPECT_EQ(text(SettingsAtStart::of(part)), "a=1 b=2 c=3 ");
    EXPECT_EQ(text(part.settings), "a=8 b=2 c=3 ");
    Recording back;
    for (std::span<const std::byte> rest(sink.bytes()); !rest.empty();) {
        wire::ChunkHead head;
        ASSERT_EQ(wire::readHead(rest, head), wire::ChunkStatus::Ok);
        wire::Bytes payload;
        ASSERT_EQ(wire::unpack(head, rest.first(wire::kHeadBytes),
                      rest.subspan(wire::kHeadBytes, head.storedBytes), payload),
            wire::ChunkStatus::Ok);
        ASSERT_TRUE(kind.take(payload, StreamTables(), back));
        rest = rest.subspan(wire::kHeadBytes + head.storedBytes);
    }
    EXPECT_EQ(written(kind, back), sink.bytes());
}

TEST(ChunkKinds, NamesThatNeverCameAreDamage)
{
    const Recording from = recordingWithAll();
    const ChunkKind& annotations = *chunkKindOf(wire::ChunkType::Annotations);
    const wire::Bytes payload = payloadOf(written(annotations, from)).second;
    Recording to;
    EXPECT_FALSE(annotations.take(payload, StreamTables(), to));
    EXPECT_TRUE(to.annotations.empty() || to.annotations[0].name.valid());
}

TEST(Parts, AreMadeWhenFirstAskedForAndOneOfEachType)
{
    struct Kernels {
        int count = 0;
    };
    struct Copies {
        int count = 7;
    };
    Parts parts;
    EXPECT_EQ(parts.find<Kernels>(), nullptr);
    parts.get<Kernels>().count = 3;
    EXPECT_EQ(parts.get<Copies>().count, 7);
    ASSERT_NE(parts.find<Kernels>(), nullptr);
    EXPECT_EQ(parts.find<Kernels>()->count, 3);
}

} // namespace strata::model
