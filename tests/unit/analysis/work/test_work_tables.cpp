// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/work_tables.h"

#include "model/analysis/work/device/launchers.h"
#include "model/readers/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

namespace strata::model {

namespace {

/// A row of a trace; times in microseconds.
std::string tableRow(std::string_view category, std::string_view name, int begin, int length,
    const std::string& arguments = {}, int thread = 11)
{
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
        name, thread, begin, length, arguments);
}

std::string onDevice(std::string_view category, std::string_view name, int begin, int length, int stream,
    const std::string& more = {})
{
    return tableRow(category, name, begin, length, fmt::format(R"("device":0,"stream":{}{})", stream, more));
}

std::string memory(int time, int bytes, int thread = 11, int deviceType = 1)
{
    return fmt::format(
        R"({{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":10,"tid":{},"ts":{},)"
        R"("args":{{"Device Type":{},"Device Id":0,"Bytes":{}}}}})",
        thread, time, deviceType, bytes);
}

class WorkTablesTest : public testing::Test {
protected:
    WorkTables of(std::initializer_list<std::string> rows, OperatorsBy by = OperatorsBy::Name,
        const std::optional<TimeSpan>& range = {})
    {
        std::string text;
        for (const std::string& each : rows)
            text += (text.empty() ? R"({"traceEvents":[)" : ",") + each;
        text += "]}";
        auto read = readRecording(std::as_bytes(std::span(text)), {}, {});
        if (!read) {
            ADD_FAILURE() << read.error().text();
            return {};
        }
        m_recording = *std::move(read);
        const Work& work = *m_recording->parts.find<Work>();
        const StringTable& strings = m_recording->strings;
        return tablesOf(work, strings, nestedCallsOf(work), profilerStepsOf(work, strings), range, by);
    }
    template <class Row>
    [[nodiscard]] const Row& named(const std::vector<Row>& rows, std::string_view name) const
    {
        for (const Row& each : rows)
            if (m_recording->strings[each.name] == name)
                return each;
        ADD_FAILURE() << "no " << name;
        static const Row kNone;
        return kNone;
    }

    std::unique_ptr<Recording> m_recording;
};

} // namespace

TEST_F(WorkTablesTest, ChargesMemoryToTheInnermostOperatorOfItsThread)
{
    const WorkTables tables = of({ tableRow("cpu_op", "outer", 0, 100), tableRow("cpu_op", "inner", 10, 40),
        tableRow("cpu_op", "other", 0, 100, {}, 12), tableRow("cpu_op", "inner", 200, 10), memory(5, 100),
        memory(10, 1000), memory(20, 500), memory(30, -1500), memory(50, 7), memory(99, -3),
        memory(100, 9000), memory(40, 64, 12), memory(205, 600), memory(20, 4096, 11, 0) });
    const OperatorSums& outer = named(tables.operators, "outer");
    ASSERT_TRUE(outer.memory);
    EXPECT_EQ(outer.memory->selfBytes, 100 + 7 - 3) << "50 lies behind the inner one, 100 behind this one";
    EXPECT_EQ(outer.memory->totalBytes, 104);
    EXPECT_EQ(outer.memory->peakBytes, 1600);
    const OperatorSums& inner = named(tables.operators, "inner");
    EXPECT_EQ(inner.memory->selfBytes, 600);
    EXPECT_EQ(inner.memory->peakBytes, 1500) << "within one call, above its begin";
    EXPECT_EQ(named(tables.operators, "other").memory->peakBytes, 64);
    EXPECT_FALSE(
        named(of({ tableRow("cpu_op", "outer", 0, 100), memory(5, 9, 11, 0) }).operators, "outer").memory)
        << "of the host alone nothing is told of a GPU";
}

TEST_F(WorkTablesTest, TakesOperatorsApartByShapesWhereAsked)
{
    const auto rows = { tableRow("cpu_op", "mm", 0, 10, R"("Input Dims":[[2,2]])"),
        tableRow("cpu_op", "mm", 20, 30, R"("Input Dims":[[4,4]])"),
        tableRow("cpu_op", "mm", 60, 10, R"("Input Dims":[[2,2]])"), tableRow("cpu_op", "mm", 80, 5) };
    ASSERT_EQ(of(rows).operators.size(), 1u);
    const WorkTables tables = of(rows, OperatorsBy::NameAndShapes);
    ASSERT_EQ(tables.operators.size(), 3u);
    EXPECT_EQ(m_recording->strings[tables.operators[0].shapes], "[[4,4]]");
    EXPECT_EQ(tables.operators[1].calls, 2);
    EXPECT_FALSE(tables.operators[2].shapes.valid()) << "not recorded";
}

TEST_F(WorkTablesTest, TellsTheCommonestLaunchAndTheMeanOccupancy)
{
    const auto kernel
        = [](int begin, const char* more) { return onDevice("kernel", "k", begin, 5, 7, more); };
    const WorkTables tables
        = of({ kernel(0, R"(,"grid":[9,1,1],"block":[64,1,1],"est. achieved occupancy %":10)"),
            kernel(10, R"(,"grid":[2,3,1],"block":[32,1,1],"est. achieved occupancy %":40)"),
            kernel(20, R"(,"grid":[2,3,1],"block":[32,1,1])"), onDevice("kernel", "bare", 30, 1, 7) });
    const KernelSums& tableRow = named(tables.kernels, "k");
    EXPECT_EQ(tableRow.occupancyPercent, 25.0);
    ASSERT_TRUE(tableRow.launch);
    EXPECT_EQ(tableRow.launch->grid, (std::array<std::int32_t, 3>{ 2, 3, 1 }));
    EXPECT_EQ(tableRow.launch->block, (std::array<std::int32_t, 3>{ 32, 1, 1 }));
    EXPECT_FALSE(named(tables.kernels, "bare").launch);
    EXPECT_FALSE(named(tables.kernels, "bare").occupancyPercent);
}

TEST_F(WorkTablesTest, CountsWhatRanBesideKernelsThatCompute)
{
    const char* const copy = "Memcpy HtoD (Pageable -> Device)";
    const char* const reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
    // Streams 7 and 8 compute at 0..50 and 40..60; the copy on 7 has a damaged overlap with its own stream.
    const WorkTables tables = of({ onDevice("kernel", "a", 0, 50, 7), onDevice("kernel", "b", 40, 20, 8),
        onDevice("gpu_memcpy", copy, 30, 25, 7, R"(,"bytes":1000)"),
        onDevice("gpu_memcpy", copy, 100, 75, 9, R"(,"bytes":1000)"), onDevice("kernel", reduce, 45, 30, 20),
        onDevice("kernel", reduce, 58, 10, 21) });
    const CopySums& copies = named(tables.copies, copy);
    EXPECT_EQ(copies.underComputationNs, 15'000) << "40 to 55, under b";
    EXPECT_EQ(copies.host, HostPages::Pageable);
    ASSERT_TRUE(copies.bytesPerSecond());
    EXPECT_DOUBLE_EQ(*copies.bytesPerSecond(), 2000 / 100e-6);
    ASSERT_EQ(tables.collectives.size(), 1u);
    EXPECT_EQ(tables.collectives[0].calls, 2);
    EXPECT_EQ(tables.collectives[0].underComputationNs, 17'000) << "45 to 60, and 58 to 60";
    EXPECT_EQ(tables.collectives[0].exposedNs(), 23'000);
}

TEST_F(WorkTablesTest, TellsWaitsForTheDeviceAndForData)
{
    const char* const load = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    const auto rows = { tableRow("user_annotation", "ProfilerStep#1", 0, 100),
        tableRow("user_annotation", load, 10, 20), tableRow("user_annotation", load, 90, 30),
        tableRow("cuda_runtime", "cudaDeviceSynchronize", 40, 5),
        tableRow("cuda_runtime", "cudaLaunchKernel", 50, 5) };
    const WorkTables tables = of(rows);
    ASSERT_EQ(tables.loading.size(), 1u);
    EXPECT_EQ(tables.loading[0].totalNs, 50'000);
    EXPECT_EQ(tables.loading[0].shareOfSteps, 0.3) << "what lies behind the step is of none";
    ASSERT_EQ(tables.synchronisations.size(), 1u);
    EXPECT_EQ(tables.synchronisations[0].totalNs, 5'000);
    EXPECT_EQ(tables.calls.size(), 2u);
    const std::int64_t base = m_recording->parts.find<Work>()->spans[0].startNs;
    const WorkTables first = of(rows, OperatorsBy::Name, TimeSpan{ base, base + 50'000 });
    EXPECT_EQ(first.loading.at(0).totalNs, 20'000);
    EXPECT_EQ(first.loading.at(0).shareOfSteps, 0.4) << "of the part of the step in the range";
    EXPECT_FALSE(of({ tableRow("user_annotation", load, 10, 20) }).loading.at(0).shareOfSteps);
}

TEST_F(WorkTablesTest, SumsWhatCollectivesMove)
{
    const auto reduce = [](int begin, const std::string& told) {
        return onDevice("kernel", "ncclDevKernel_AllReduce", begin, 10, 20, told);
    };
    const std::string gather = R"(,"Collective name":"allgather","In msg nelems":100,"Out msg nelems":800,)"
                               R"("dtype":"BFloat16")";
    const WorkTables tables
        = of({ reduce(0, R"(,"In msg nelems":1000,"Out msg nelems":1000,"dtype":"Float")"),
            reduce(20, R"(,"dtype":"Half","Out msg nelems":500,"In msg nelems":500)"),
            onDevice("kernel", "ncclDevKernel_AllGather", 40, 4, 20, gather),
            onDevice("kernel", "ncclDevKernel_Broadcast", 50, 10, 20,
                R"(,"In msg nelems":9,"Out msg nelems":9,"dtype":"Secret")"),
            onDevice("kernel", "ncclDevKernel_SendRecv", 60, 10, 20,
                R"(,"In msg nelems":9223372036854775807,"Out msg nelems":9,"dtype":"Double")") });
    const CollectiveSums& all = named(tables.collectives, "ncclDevKernel_AllReduce");
    EXPECT_EQ(all.bytes, 1000 * 4 + 500 * 2);
    EXPECT_DOUBLE_EQ(*all.bytesPerSecond(), 5000 / 20e-6);
    EXPECT_EQ(named(tables.collectives, "ncclDevKernel_AllGather").bytes, 1600) << "the larger one";
    EXPECT_EQ(named(tables.collectives, "ncclDevKernel_Broadcast").bytes, -1) << "a type that nobody knows";
    EXPECT_EQ(named(tables.collectives, "ncclDevKernel_SendRecv").bytes, -1) << "more than there can be";
    const WorkTables partly = of({ reduce(0, R"(,"In msg nelems":8,"dtype":"Float")"), reduce(20, "") });
    EXPECT_EQ(named(partly.collectives, "ncclDevKernel_AllReduce").bytes, -1) << "one of them tells nothing";
}

} // namespace strata::model
