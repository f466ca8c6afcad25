// SPDX-License-Identifier: GPL-3.0-or-later
// From the records of the device's profiler to rows of a recording.
#include "capture/agent/program/work_rows.h"
#include "capture/cupti/buffers.h"
#include "model/wire/tables.h"
#include "tests/capture/fake_cupti.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace strata::agent {

namespace {

using namespace cupti;
using test::nextRecord;
using testing::ElementsAre;
using testing::HasSubstr;

std::uint64_t g_ahead = 0;

/// Ticks of the tests' clock: 3 in a nanosecond.
std::uint64_t aheadTicks()
{
    return 3 * static_cast<std::uint64_t>(nowNs()) + g_ahead;
}
std::uint64_t ticksSafe() noexcept
{
    return aheadTicks();
}

Status callName(CallDomain domain, std::uint32_t call, const char** name)
{
    *name = domain == CallDomain::Driver ? "cuLaunchKernel"
        : call == 1                      ? "cudaLaunchKernel_v7000"
        : call == 2                      ? "cudaGetLastError_v3020"
                                         : nullptr;
    return *name ? 0 : 1;
}

Status g_enables = 0;
RequestBuffer g_request = nullptr;
CompleteBuffer g_complete = nullptr;
std::vector<std::uint8_t> g_made; // records that wait for a buffer

Status handOver(std::uint32_t)
{
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0, most = 0;
    if (g_made.empty())
        return 0;
    g_request(&buffer, &bytes, &most);
    if (!buffer || bytes < g_made.size())
        return 1;
    std::ranges::copy(g_made, buffer);
    g_complete(nullptr, 0, buffer, bytes, g_made.size());
    g_made.clear();
    return 0;
}

Library fakeLibrary()
{
    Library library;
    library.registerCallbacks = [](RequestBuffer request, CompleteBuffer complete) {
        g_request = request;
        g_complete = complete;
        return 0;
    };
    library.registerClock = [](Clock) { return 0; };
    library.enable = [](RecordKind) { return g_enables; };
    library.disable = [](RecordKind) { return 0; };
    library.flush = handOver;
    library.next = nextRecord;
    library.callName = callName;
    return library;
}

/// What was written, as text.
class Written {
public:
    OperatorLog operators;

    Written()
        : m_sink(std::make_unique<wire::MemorySink>())
        , m_writer(*m_sink)
    {
        m_clock.read();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        m_clock.read();
        m_rows.writeOperatorsOf(operators);
    }

    template <class Record> void add(const Record& record)
    {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&record);
        m_bytes.insert(m_bytes.end(), bytes, bytes + sizeof record);
    }
    std::vector<std::uint8_t>& bytes() { return m_bytes; }
    /// As written; those of all chunks.
    [[nodiscard]] const std::vector<wire::DeviceWorkRow>& work() const { return m_work; }
    /// The clock is read again, and what was written is to be followed by other records.
    void goOn()
    {
        m_bytes.clear();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        m_clock.read();
    }

    std::vector<std::string> rows()
    {
        std::vector<std::string> out;
        m_work.clear();
        EXPECT_EQ(Activity::one().begin(m_library, { aheadTicks }), "");
        g_made = m_bytes;
        m_rows.collect();
        EXPECT_TRUE(g_made.empty());
        Activity::one().end();
        (void)Activity::one().takeTurns();
        m_rows.write(m_clock, m_writer);
        std::vector<std::string> strings;
        std::span<const std::byte> rest = m_sink->bytes();
        wire::ChunkHead head;
        wire::Bytes payload;
        while (wire::readHead(rest, head) == wire::ChunkStatus::Ok
            && wire::unpack(head, rest.first(wire::kHeadBytes), rest.subspan(wire::kHeadBytes), payload)
                == wire::ChunkStatus::Ok) {
            read(head.type, payload, strings, out);
            rest = rest.subspan(wire::kHeadBytes + head.storedBytes);
        }
        EXPECT_TRUE(rest.empty());
        return out;
    }

private:
    void read(wire::ChunkType type, const wire::Bytes& payload, std::vector<std::string>& strings,
        std::vector<std::string>& out)
    {
        const auto text = [&](std::uint32_t id) { return strings.at(id); };
        if (type == wire::ChunkType::Strings) {
            std::uint32_t first = 0;
            std::vector<std::string_view> views;
            ASSERT_TRUE(wire::decodeStrings(payload, first, views));
            strings.insert(strings.end(), views.begin(), views.end());
        } else if (type == wire::ChunkType::DeviceWork) {
            wire::DeviceWorkChunk chunk;
            ASSERT_TRUE(wire::decodeDeviceWork(payload, chunk));
            m_work.insert(m_work.end(), chunk.rows.begin(), chunk.rows.end());
            for (const wire::DeviceWorkRow& row : chunk.rows) {
                const bool isKernel = row.kind == wire::DeviceWorkKind::Kernel;
                out.push_back(text(isKernel ? chunk.configs[row.what].name : row.what) + " on "
                    + std::to_string(chunk.device) + "/" + std::to_string(row.stream) + " "
                    + std::to_string(row.durationNs) + " ns #" + std::to_string(row.correlation)
                    + (isKernel ? " grid " + std::to_string(chunk.configs[row.what].grid[0])
                                : " " + std::to_string(row.bytes) + " B"));
            }
        } else if (type == wire::ChunkType::WorkCalls) {
            std::vector<wire::WorkCallRow> rows;
            ASSERT_TRUE(wire::decodeWorkCalls(payload, rows));
            for (const wire::WorkCallRow& row : rows)
                out.push_back(text(row.name) + " by " + std::to_string(row.thread) + " #"
                    + std::to_string(row.correlation));
        } else if (type == wire::ChunkType::Operators) {
            wire::OperatorChunk chunk;
            ASSERT_TRUE(wire::decodeOperators(payload, chunk));
            for (const wire::OperatorRow& row : chunk.rows) {
                const wire::OperatorCallRow& call = chunk.calls[row.call];
                out.push_back(text(call.name) + text(call.shapes) + text(call.types) + text(call.values)
                    + text(call.strides) + " by " + std::to_string(row.thread) + " "
                    + std::to_string(row.durationNs) + " ns #" + std::to_string(row.sequence));
            }
        } else if (type == wire::ChunkType::WorkWaits) {
            std::vector<wire::WorkWaitRow> rows;
            ASSERT_TRUE(wire::decodeWorkWaits(payload, rows));
            for (const wire::WorkWaitRow& row : rows)
                out.push_back(
                    text(row.name) + " of " + std::to_string(row.device) + "/" + std::to_string(row.stream));
        } else if (type == wire::ChunkType::DriverAllocations) {
            std::vector<wire::DriverAllocationRow> rows;
            ASSERT_TRUE(wire::decodeDriverAllocations(payload, rows));
            for (const wire::DriverAllocationRow& row : rows)
                out.push_back((row.isRelease ? "released " : "allocated ") + std::to_string(row.bytes)
                    + " at " + std::to_string(row.address) + " of " + std::to_string(row.device) + " kind "
                    + std::to_string(static_cast<int>(row.kind)));
        } else if (type == wire::ChunkType::WorkLosses) {
            std::vector<wire::WorkLossRow> rows;
            ASSERT_TRUE(wire::decodeWorkLosses(payload, rows));
            for (const wire::WorkLossRow& row : rows)
                out.push_back(
                    "lost " + std::to_string(static_cast<int>(row.why)) + " x " + std::to_string(row.count));
        }
    }

    std::vector<std::uint8_t> m_bytes;
    std::vector<wire::DeviceWorkRow> m_work;
    std::unique_ptr<wire::MemorySink> m_sink;
    wire::ChunkWriter m_writer;
    Numbers m_numbers;
    Library m_library = fakeLibrary();
    CounterClock m_clock{ ticksSafe };
    WorkRows m_rows{ m_numbers, m_library, Activity::one(), [](std::uint32_t self) { return self + 1; } };
};

KernelRecord kernel(const char* name, std::uint64_t at)
{
    KernelRecord record;
    record.name = name;
    record.start = at;
    record.end = at + 3 * 2'000;
    record.device = 1;
    record.context = 9;
    record.stream = 7;
    record.grid[0] = 128;
    record.correlation = 5;
    return record;
}

} // namespace

TEST(WorkRows, AreNamedAsPyTorchsProfilerNamesThem)
{
    Written written;
    const std::uint64_t at = aheadTicks();
    written.add(kernel("_Z3addPfi", at));
    MemcpyRecord copy;
    copy.copyKind = CopyKind::HostToDevice;
    copy.from = MemoryKind::Pinned;
    copy.to = MemoryKind::Device;
    copy.bytes = 4096;
    copy.start = at + 9'000;
    copy.end = at + 12'000;
    copy.device = 1;
    copy.stream = 13;
    copy.correlation = 6;
    written.add(copy);
    MemsetRecord set;
    set.bytes = 512;
    set.memory = static_cast<std::uint16_t>(MemoryKind::Device);
    set.start = at + 15'000;
    set.end = at + 15'003;
    set.device = 1;
    set.stream = 7;
    written.add(set);
    ApiRecord call;
    call.call = 1;
    call.start = at - 30'000;
    call.end = at - 3'000;
    call.thread = 76;
    call.correlation = 5;
    written.add(call);
    call.call = 2; // asked after every launch, and tells nothing
    written.add(call);
    call.kind = RecordKind::Driver;
    call.call = 77;
    call.start += 300;
    written.add(call);
    SynchronizationRecord wait;
    wait.type = WaitType::Stream;
    wait.context = 9;
    wait.stream = 7;
    wait.start = at;
    wait.end = at + 30;
    written.add(wait);
    wait.type = WaitType::Context;
    wait.context = 10; // of which nothing ran yet
    wait.stream = kNoneOfThese;
    written.add(wait);
    written.add(ExternalRecord{}); // that nobody asked for
    EXPECT_THAT(written.rows(),
        ElementsAre("add(float*, int) on 1/7 2000 ns #5 grid 128",
            "Memcpy HtoD (Pinned -> Device) on 1/13 1000 ns #6 4096 B",
            "Memset (Device) on 1/7 1 ns #0 512 B", "cudaLaunchKernel by 77 #5", "cuLaunchKernel by 77 #5",
            "Stream Sync of 1/7", "Context Sync of -1/-1"));
}

hook::OperatorSpan operatorSpan(std::string_view call, std::uint64_t begin, std::uint64_t ns)
{
    return { { call.data(), call.size() }, begin, begin + 3 * ns, 12 };
}

/// An operator within another ends before it.
TEST(WorkRows, TellOfOperatorsInTheOrderOfTheirCalls)
{
    Written written;
    const std::uint64_t at = aheadTicks();
    constexpr std::string_view kOuter = "[[8, 4]]\n[\"float\"]\n[\"\"]\n[[4, 1]]\naten::linear";
    constexpr std::string_view kInner = "[]\n[]\n[]\n[]\na name\nof two lines";
    written.operators.add(operatorSpan(kOuter, at, 900), 7); // nobody asked yet
    written.operators.open();
    written.operators.add(operatorSpan(kInner, at + 3 * 100, 200), 7);
    written.operators.add(operatorSpan(kOuter, at, 900), 7);
    written.operators.add(operatorSpan(kInner, at, 100), 8);
    written.operators.add(operatorSpan(kInner, 5, 100), 8); // decades ago
    EXPECT_THAT(written.rows(),
        ElementsAre("aten::linear[[8, 4]][\"float\"][\"\"][[4, 1]] by 7 900 ns #12",
            "a name\nof two lines[][][][] by 8 100 ns #12", "a name\nof two lines[][][][] by 7 200 ns #12",
            "lost 1 x 1"));
    written.goOn();
    written.operators.close();
    written.operators.add(operatorSpan(kOuter, aheadTicks(), 900), 7);
    EXPECT_EQ(written.operators.take().rows.size(), 0u);
}

TEST(WorkRows, CountOperatorsThatFindNoRoom)
{
    OperatorLog log;
    log.open();
    constexpr std::size_t kRoom = std::size_t{ 1 } << 19;
    for (std::size_t i = 0; i < kRoom + 5; ++i)
        log.add(operatorSpan("[]\n[]\n[]\n[]\nf", i, 1), 7);
    const OperatorLog::Taken taken = log.take();
    EXPECT_EQ(taken.rows.size(), kRoom);
    EXPECT_EQ(taken.calls.size(), 1u);
    EXPECT_EQ(taken.lost, 5u);
    EXPECT_EQ(log.take().lost, 0u);
}

TEST(WorkRows, TellWhatTheDriverHandsOut)
{
    Written written;
    MemoryRecord memory;
    memory.operation = MemoryOperation::Allocation;
    memory.memory = static_cast<std::uint32_t>(MemoryKind::Device);
    memory.address = 4096;
    memory.bytes = 300;
    memory.time = aheadTicks();
    memory.device = 1;
    written.add(memory);
    memory.operation = MemoryOperation::Release;
    memory.memory = 99; // of a CUPTI to come
    written.add(memory);
    memory.operation = static_cast<MemoryOperation>(3);
    written.add(memory);
    memory.operation = MemoryOperation::Release;
    memory.bytes = ~std::uint64_t{ 0 };
    written.add(memory);
    memory.bytes = 300;
    memory.time = 0;
    written.add(memory);
    EXPECT_THAT(written.rows(),
        ElementsAre("allocated 300 at 4096 of 1 kind 3", "released 300 at 4096 of 1 kind 0", "lost 1 x 3"));
}

TEST(WorkRows, OfDamagedRecordsAreCounted)
{
    Written written;
    const std::uint64_t now = aheadTicks();
    KernelRecord wild = kernel("f", now);
    wild.end = now - 3; // before it began
    written.add(wild);
    wild = kernel("f", 0); // never began
    written.add(wild);
    wild = kernel("f", now / 2); // decades ago
    written.add(wild);
    wild = kernel("f", UINT64_MAX - 5);
    wild.end = UINT64_MAX;
    written.add(wild);
    written.add(kernel("g", now));
    EXPECT_THAT(written.rows(), ElementsAre("g on 1/7 2000 ns #5 grid 128", "lost 1 x 4"));
}

/// The second reading of the clock finds that it runs faster than the first said.
TEST(WorkRows, OfOneStreamDoNotOverlapBecauseTheClockIsReadAnew)
{
    Written written;
    const std::uint64_t at = aheadTicks();
    written.add(kernel("f", at));
    KernelRecord ahead = kernel("g", at + 3 * 2'000);
    ahead.end = at + 3 * 4'000'000;
    written.add(ahead);
    (void)written.rows();
    g_ahead += 3 * 500'000;
    written.goOn();
    KernelRecord behind = kernel("h", ahead.end); // as soon as it could
    written.add(behind);
    behind = kernel("i", behind.end);
    written.add(behind);
    behind = kernel("elsewhere", ahead.end);
    behind.stream = 13;
    written.add(behind);
    (void)written.rows();
    ASSERT_EQ(written.work().size(), 5u);
    std::int64_t end = 0, elsewhere = 0;
    for (const wire::DeviceWorkRow& row : written.work()) {
        if (row.stream == 13) {
            elsewhere = row.startNs;
            continue;
        }
        EXPECT_GE(row.startNs, end);
        end = row.startNs + row.durationNs;
    }
    EXPECT_LT(elsewhere, written.work()[1].startNs + written.work()[1].durationNs) << "there was a seam";
}

TEST(WorkRows, OfACutBufferAreReadToTheCut)
{
    Written written;
    written.add(kernel("g", aheadTicks()));
    written.add(kernel("h", aheadTicks()));
    written.bytes().resize(written.bytes().size() - 150);
    EXPECT_THAT(written.rows(), ElementsAre("g on 1/7 2000 ns #5 grid 128", "lost 1 x 1"));
}

TEST(WorkRows, OfAnyBytesAreWellFormed)
{
    std::mt19937 random(16);
    constexpr RecordKind kKinds[] = { RecordKind::ConcurrentKernel, RecordKind::Memcpy, RecordKind::Memset,
        RecordKind::MemcpyPeer, RecordKind::Runtime, RecordKind::Driver, RecordKind::Synchronization,
        RecordKind::Overhead, RecordKind::CudaEvent, RecordKind::Memory, static_cast<RecordKind>(77) };
    for (int round = 0; round < 300; ++round) {
        Written written;
        std::vector<std::uint8_t>& bytes = written.bytes();
        for (int record = 0; record < 5; ++record) {
            const RecordKind kind = kKinds[random() % std::size(kKinds)];
            const std::size_t begin = bytes.size();
            bytes.resize(begin + std::max<std::size_t>(recordBytes(kind), 8));
            std::ranges::generate(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(),
                [&] { return static_cast<std::uint8_t>(random()); });
            std::memcpy(&bytes[begin], &kind, sizeof kind);
            if (kind == RecordKind::ConcurrentKernel) // the one field that is an address
                std::memset(&bytes[begin + offsetof(KernelRecord, name)], 0, sizeof(void*));
        }
        bytes.resize(random() % (bytes.size() + 1));
        (void)written.rows(); // each chunk is read again
    }
}

TEST(WorkRows, KeepOnlyWhatAnotherProfilerAskedFor)
{
    Written written;
    written.add(kernel("g", aheadTicks()));
    written.add(ApiRecord{});
    written.add(kernel("h", aheadTicks()));
    std::vector<std::uint8_t> bytes = written.bytes();
    const std::size_t kept = keepRecords(
        bytes, nextRecord, std::uint64_t{ 1 } << static_cast<int>(RecordKind::ConcurrentKernel));
    EXPECT_EQ(kept, 2 * sizeof(KernelRecord));
    KernelRecord second;
    std::memcpy(static_cast<void*>(&second), &bytes[sizeof second], sizeof second);
    EXPECT_STREQ(second.name, "h");
    EXPECT_EQ(keepRecords(bytes, nextRecord, 0), 0u);
}

TEST(ActivityBuffers, AreLentUntilThereAreNoMore)
{
    Buffers buffers(4096, 2);
    std::uint8_t* const one = buffers.take();
    std::uint8_t* const other = buffers.take();
    ASSERT_TRUE(one && other);
    EXPECT_EQ(buffers.take(), nullptr);
    EXPECT_TRUE(buffers.isOurs(other));
    std::uint8_t stranger[8]{};
    EXPECT_FALSE(buffers.isOurs(stranger));
    EXPECT_TRUE(buffers.front().empty());
    buffers.fill(one, 0);
    EXPECT_TRUE(buffers.front().empty()) << "nothing was in it";
    EXPECT_TRUE(buffers.copy(stranger));
    EXPECT_FALSE(buffers.copy(stranger)) << "no room";
    const auto filled = buffers.front();
    EXPECT_EQ(filled.size(), sizeof stranger);
    buffers.giveBack(filled);
    EXPECT_NE(buffers.take(), nullptr);
    std::vector<std::uint8_t> large(5000);
    buffers.fill(other, 0);
    EXPECT_FALSE(buffers.copy(large)) << "more than one holds";
}

TEST(Activity, SaysWhyItIsRefused)
{
    static const Library library = fakeLibrary();
    Activity& activity = Activity::one();
    g_enables = 35;
    EXPECT_THAT(activity.begin(library, { aheadTicks }), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    g_enables = 39;
    EXPECT_THAT(activity.begin(library, { aheadTicks }), HasSubstr("another profiler has CUPTI"));
    g_enables = 7;
    EXPECT_THAT(activity.begin(library, { aheadTicks }), HasSubstr("CUPTI refuses: 7"));
    g_enables = 0;
    EXPECT_EQ(activity.begin(library, { aheadTicks }), "");
    activity.end();
}

} // namespace strata::agent
