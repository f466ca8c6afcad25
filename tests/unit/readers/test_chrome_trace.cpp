// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of a profiler: what is read of them, whole, in odd forms, cut and damaged.
#include "model/readers/kineto/decimal.h"
#include "model/readers/reader.h"
#include "model/trace/work.h"
#include "tests/support/stride.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace strata::model {

namespace {

Result<std::unique_ptr<Recording>> readTrace(const std::string& text)
{
    return readRecording(std::as_bytes(std::span(text)), {}, {});
}

const Work& workOf(const Result<std::unique_ptr<Recording>>& readTrace)
{
    static const Work none;
    if (!readTrace) {
        ADD_FAILURE() << readTrace.error().text();
        return none;
    }
    const Work* const work = (*readTrace)->parts.find<Work>();
    EXPECT_TRUE(work);
    return work ? *work : none;
}

constexpr const char* kOperator
    = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":5.125,"dur":7.5,)"
      R"("args":{"External id":3,"Sequence number":9,"Fwd thread id":1,"Input Dims":[[2, 3],[3,4]],"Input type":["float","float"]}})";
constexpr const char* kCall
    = R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":6,"dur":2,)"
      R"("args":{"cbid":211,"correlation":77,"External id":3}})";
constexpr const char* kKernel
    = R"({"ph":"X","cat":"kernel","name":"gemm \"x\"","pid":0,"tid":7,"ts":9,"dur":4,"args":{"External id":3,)"
      R"("device":0,"stream":7,"correlation":77,"grid":[1,2,3],"block":[128,1,1],"registers per thread":32,)"
      R"("shared memory":1024,"est. achieved occupancy %":41}})";
constexpr const char* kMemory
    = R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":10,"tid":11,"ts":5.5,)"
      R"("args":{"Total Reserved":2097152,"Total Allocated":512,"Bytes":512,"Addr":140000000000000,"Device Id":0,"Device Type":1}})";

std::string traceOf(const std::string& rows, const std::string& before = {})
{
    return "{" + before + "\"traceEvents\": [" + rows + "]}";
}

/// All that is compared of what was read, by content.
std::vector<std::string> linesOf(const Result<std::unique_ptr<Recording>>& readTrace)
{
    const Work& work = workOf(readTrace);
    std::vector<std::string> lines;
    for (const WorkSpan& span : work.spans) {
        const WorkLane& lane = work.lanes[span.lane];
        std::string detail;
        if (span.kind == WorkKind::Operator && span.detail != WorkSpan::kNoWorkDetail)
            detail = (*readTrace)->strings[work.operators[span.detail].shapes];
        lines.push_back(fmt::format("{} {} {}+{} {}/{} {} {} {}", workKindWord(span.kind),
            (*readTrace)->strings[span.name], span.startNs, span.durationNs, lane.process, lane.thread,
            span.correlation, span.external, detail));
    }
    for (const MemoryReading& reading : work.memory)
        lines.push_back(fmt::format("{} {:x} {}", reading.timeNs, reading.address, reading.bytes));
    for (const auto& [category, count] : work.counts)
        lines.push_back(fmt::format("{}: {}", category, count));
    lines.push_back(fmt::format("{} unreadable, {}", work.unreadable, (*readTrace)->truncation.has_value()));
    return lines;
}

} // namespace

TEST(Nanoseconds, AreExact)
{
    EXPECT_EQ(nanosecondsOf("1669783687464181.125"), 1669783687464181125);
    EXPECT_EQ(nanosecondsOf("5"), 5000);
    EXPECT_EQ(nanosecondsOf("-0.5"), -500);
    EXPECT_EQ(nanosecondsOf("0.0019"), 1);
    EXPECT_EQ(nanosecondsOf("1e3"), 1'000'000);
    EXPECT_EQ(nanosecondsOf("9223372036854775.807"), INT64_MAX);
    for (const char* wrong : { "", "-", ".5", "x", "1x", "9223372036854775.808", "1e99", "nan", "inf" })
        EXPECT_FALSE(nanosecondsOf(wrong)) << wrong;
}

TEST(ChromeTrace, IsReadIntoColumns)
{
    const auto found = readTrace(traceOf(fmt::format("{},\n {} ,{},{}", kOperator, kCall, kKernel, kMemory),
        R"("schemaVersion": 1, "deviceProperties": [{"id":0,"name":"Card","totalGlobalMem":1000,"numSms":8}],
           "distributedInfo": {"backend":"nccl","rank":1,"world_size":2}, "baseTimeNanoseconds": 1000000,)"));
    const Work& work = workOf(found);
    const StringTable& strings = (*found)->strings;
    ASSERT_EQ(work.spans.size(), 3u);
    EXPECT_EQ(work.unreadable, 0);
    EXPECT_EQ(work.counts,
        (decltype(work.counts){
            { "cpu_op", 1 }, { "cuda_runtime", 1 }, { "kernel", 1 }, { "cpu_instant_event", 1 } }));
    EXPECT_EQ(work.rank, 1);
    EXPECT_EQ(work.ranks, 2);
    ASSERT_EQ(work.devices.size(), 1u);
    EXPECT_EQ(work.devices[0].name, "Card");
    EXPECT_EQ(work.devices[0].multiprocessors, 8);

    const WorkSpan& op = work.spans[0];
    EXPECT_EQ(op.kind, WorkKind::Operator);
    EXPECT_EQ(op.startNs, 1'005'125);
    EXPECT_EQ(op.durationNs, 7'500);
    EXPECT_EQ(strings[op.name], "aten::mm");
    EXPECT_EQ(strings[work.operators[op.detail].shapes], "[[2, 3],[3,4]]");
    EXPECT_EQ(work.operators[op.detail].sequence, 9);
    EXPECT_EQ(work.spans[1].correlation, 77u);

    const WorkSpan& kernel = work.spans[2];
    EXPECT_EQ(kernel.kind, WorkKind::Kernel);
    EXPECT_EQ(kernel.correlation, 77u);
    EXPECT_EQ(kernel.external, 3u);
    EXPECT_EQ(strings[kernel.name], "gemm \"x\"");
    EXPECT_EQ(work.lanes[kernel.lane].device, 0);
    EXPECT_EQ(work.lanes[kernel.lane].stream, 7);
    EXPECT_EQ(work.kernels[kernel.detail].grid[2], 3);
    EXPECT_EQ(work.kernels[kernel.detail].registers, 32);
    EXPECT_EQ(work.kernels[kernel.detail].sharedBytes, 1024);

    ASSERT_EQ(work.memory.size(), 1u);
    EXPECT_EQ(work.memory[0].timeNs, 1'005'500);
    EXPECT_EQ(work.memory[0].bytes, 512);
    EXPECT_EQ(work.memory[0].totalReservedBytes, 2097152);
    EXPECT_EQ(work.memory[0].address, 140000000000000u);
}

TEST(ChromeTrace, MayBeAListAndHaveOddForms)
{
    // A list; arguments first; numbers as texts; begin and end; a stream by name; names; a last comma.
    const auto found = readTrace(R"([
        {"args":{"correlation":5,"stream":3,"device":1},"ts":"2.5","dur":"1","name":"k","cat":"kernel","tid":"stream 3","pid":1,"ph":"X"},
        {"ph":"B","name":"outer","pid":"Main","tid":4,"ts":1},{"ph":"B","name":"inner","pid":"Main","tid":4,"ts":2},
        {"ph":"E","pid":"Main","tid":4,"ts":3},{"ph":"E","pid":"Main","tid":4,"ts":9},{"ph":"E","pid":"Main","tid":4,"ts":10},
        {"ph":"M","name":"thread_name","pid":"Main","tid":4,"args":{"name":"worker"}},
        {"ph":"X","cat":"Memset","name":"Memset","pid":2,"tid":"stream 7","ts":1,"dur":1,"args":{"bytes":64}},
        {"ph":"C","name":"counter","pid":1,"ts":1,"args":{"a":1}},
    ])");
    const Work& work = workOf(found);
    const StringTable& strings = (*found)->strings;
    EXPECT_FALSE((*found)->truncation);
    ASSERT_EQ(work.spans.size(), 4u);
    EXPECT_EQ(work.spans[0].correlation, 5u);
    EXPECT_EQ(work.spans[0].startNs, 2'500);
    EXPECT_EQ(work.lanes[work.spans[0].lane].stream, 3);
    EXPECT_EQ(work.spans[1].durationNs, 8'000);
    EXPECT_EQ(work.spans[2].durationNs, 1'000);
    EXPECT_EQ(strings[work.lanes[work.spans[1].lane].threadName], "worker");
    EXPECT_EQ(strings[work.lanes[work.spans[1].lane].processName], "Main");
    EXPECT_EQ(work.lanes[work.spans[3].lane].device, 2);
    EXPECT_EQ(work.lanes[work.spans[3].lane].stream, 7);
    EXPECT_EQ(work.copies[work.spans[3].detail].bytes, 64);
}

TEST(ChromeTrace, LongerThanTheBufferIsTheSame)
{
    std::string rows;
    constexpr int kRows = 20'000; // some MiB
    for (int i = 0; i < kRows; ++i)
        rows += fmt::format(
            R"({}{{"ph":"X","cat":"cpu_op","name":"op {} \\\" {{","pid":1,"tid":2,"ts":{}.25,"dur":1}})",
            i == 0 ? "" : ",\n", i % 100, i);
    const auto found = readTrace(traceOf(rows));
    const Work& work = workOf(found);
    ASSERT_EQ(work.spans.size(), static_cast<std::size_t>(kRows));
    for (int i = 0; i < kRows; ++i)
        ASSERT_EQ(work.spans[static_cast<std::size_t>(i)].startNs, i * 1000 + 250);
    EXPECT_EQ((*found)->strings[work.spans[7].name], "op 7 \\\" {");
}

TEST(ChromeTrace, RowsReadTogetherAreAsReadOneByOne)
{
    const std::string kinds[] = { kOperator, kCall, kKernel, kMemory,
        R"({"args":{"list":[{"a":1},{"b":[{},{}]}],"External id":8},"cat":"cpu_op","dur":1,"name":"sorted }, {","ph":"X","pid":1,"tid":2,"ts":3})",
        R"({"ph":"X","cat":"cpu_op","name":"no time"})", R"({"ph" "X"})",
        R"({"ph":"X","ts":1,"dur":2,"name":"half"]})",
        R"({"ph":"X","ts":1,"dur":2,"name":"unquoted}, {"dur":2})", "7", R"("text")", "{}", "null",
        fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":2,"ts":4,"dur":1}})",
            std::string(300 << 10, 'x')) };
    constexpr std::size_t kWhole = 5; // the first of them: nothing wrong
    std::mt19937 random(2);
    for (int round = 0; round < 40; ++round) {
        std::string together, apart; // as much space as is read at once, so that nothing is beside a row
        for (int row = 0; row < 24; ++row) {
            const bool odd = random() % 4 == 0 && round != 0;
            const std::string& text = kinds[odd ? random() % std::size(kinds) : random() % kWhole];
            together += (row == 0 ? "" : ", ") + text;
            apart += (row == 0 ? std::string() : "," + std::string(256 << 10, ' ')) + text;
        }
        EXPECT_EQ(linesOf(readTrace(traceOf(together))), linesOf(readTrace(traceOf(apart))))
            << together.substr(0, 9000);
    }
}

TEST(ChromeTrace, ThatIsCutOpensUpToTheBreak)
{
    const std::string rows = fmt::format("{},{},{}", kOperator, kCall, kKernel);
    const std::string whole = traceOf(rows);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto found = readTrace(whole.substr(0, size));
        const std::size_t first = whole.find(kOperator) + std::string(kOperator).size();
        if (size < first) {
            EXPECT_FALSE(found) << size;
            continue;
        }
        ASSERT_TRUE(found) << size << ": " << found.error().text();
        const std::size_t rowsThere = size < whole.find(kCall) + std::string(kCall).size() ? 1
            : size < whole.find(kKernel) + std::string(kKernel).size()                     ? 2
                                                                                           : 3;
        EXPECT_EQ((*found)->parts.find<Work>()->spans.size(), rowsThere) << size;
        EXPECT_TRUE((*found)->truncation) << size;
    }
    EXPECT_FALSE((*readTrace(whole))->truncation);
}

TEST(ChromeTrace, RowsThatAreNoneAreCounted)
{
    const auto found = readTrace(traceOf(fmt::format(
        R"({},{{"ph":"X","cat":"cpu_op","name":"no time"}},7,"text",{{"ph":"X","ts":9223372036854775807,"dur":1}},{{"ph" "X"}},{})",
        kOperator, kKernel)));
    const Work& work = workOf(found);
    EXPECT_EQ(work.spans.size(), 2u);
    EXPECT_EQ(work.unreadable, 5);
    EXPECT_FALSE(readTrace("{\"schemaVersion\": 1}"));
    EXPECT_FALSE(readTrace("[{\"ph\""));
}

TEST(ChromeTrace, TheSimulatedDeviceIsKnownByItsName)
{
    for (const bool simulated : { false, true }) {
        const auto found = readTrace(traceOf(kKernel,
            fmt::format(R"("deviceProperties": [{{"id": 0, "name": "{}"}}], )",
                simulated ? "Strata simulated device" : "NVIDIA H100")));
        ASSERT_TRUE(found);
        EXPECT_EQ((*found)->simulated, simulated);
    }
}

TEST(ChromeTrace, ADryRunTellsOfItself)
{
    const auto told
        = readTrace(traceOf(kKernel, R"("simulated_device":{"device":"T4-16GB","durations":"at least"},)"));
    ASSERT_TRUE(told);
    EXPECT_TRUE((*told)->simulated);
    ASSERT_EQ((*told)->settings.size(), 1);
    EXPECT_EQ((*told)->settings[0].key, "simulated_device");
    EXPECT_EQ((*told)->settings[0].json, R"({"device":"T4-16GB","durations":"at least"})");
    for (const char* none : { "", R"("simulated_device":null,)", R"("simulated_device":"x",)" }) {
        const auto other = readTrace(traceOf(kKernel, none));
        ASSERT_TRUE(other);
        EXPECT_FALSE((*other)->simulated) << none;
        EXPECT_TRUE((*other)->settings.empty()) << none;
    }
}

TEST(ChromeTrace, AnyBytesAreReadOrRefused)
{
    std::mt19937 random(1);
    const std::string whole = traceOf(fmt::format("{},{},{},{}", kOperator, kCall, kKernel, kMemory));
    for (std::size_t i = 0; i < 20'000 / test::stride(); ++i) {
        std::string damaged = whole;
        for (std::size_t change = 0; change < 1 + i % 4; ++change) {
            const std::size_t at = random() % damaged.size();
            if (i % 3 == 0)
                damaged.erase(at, 1 + random() % 8);
            else if (i % 3 == 1)
                damaged[at] = "{}[]\",:0-e\\ \xff"[random() % 13];
            else
                damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
        }
        const auto found = readTrace(damaged);
        if (!found) {
            EXPECT_FALSE(found.error().text().empty());
        }
    }
}

} // namespace strata::model
