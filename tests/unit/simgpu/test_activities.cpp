// SPDX-License-Identifier: Apache-2.0
// The simulated CUPTI, read as its clients read it: by offsets in the records of the versions that they were
// built for.
#include "capture/simgpu/entry/activity.h"

#include <gmock/gmock.h>
#include <map>
#include <string>
#include <thread>
#include <vector>

using strata::simgpu::ActivityLog;
using strata::simgpu::api::Dim3;
using strata::simgpu::api::Result;

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFunction(
    void** binary, const char* kernel, char*, const char* name, int, void*, void*, void*, void*, int*);
Result cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t shared, void* stream);
Result cudaMalloc(void** out, std::size_t bytes);
Result cudaFree(void* pointer);
Result cudaMallocManaged(void** out, std::size_t bytes, unsigned flags);
Result cudaMallocAsync(void** out, std::size_t bytes, void* stream);
Result cudaFreeAsync(void* pointer, void* stream);
Result cudaHostAlloc(void** out, std::size_t bytes, unsigned flags);
Result cudaFreeHost(void* pointer);
Result cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
Result cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
Result cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream);
Result cudaStreamCreateWithFlags(void** out, unsigned flags);
Result cudaStreamDestroy(void* stream);
Result cudaStreamSynchronize(void* stream);
Result cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
Result cudaStreamBeginCapture(void* stream, int mode);
Result cudaStreamEndCapture(void* stream, void** graph);
Result cudaGraphInstantiate(void** out, void* graph, unsigned long long flags);
Result cudaGraphLaunch(void* exec, void* stream);
Result cudaGraphExecDestroy(void* exec);
Result cudaGraphDestroy(void* graph);
Result cudaEventCreateWithFlags(void** out, unsigned flags);
Result cudaEventRecord(void* event, void* stream);
Result cudaEventSynchronize(void* event);
Result cudaEventDestroy(void* event);
Result cudaDeviceSynchronize();
Result cuptiActivityRegisterCallbacks(
    ActivityLog::RequestBuffer request, ActivityLog::CompleteBuffer complete);
Result cuptiActivityRegisterTimestampCallback(ActivityLog::Clock clock);
Result cuptiActivityEnable(std::uint32_t kind);
Result cuptiActivityDisable(std::uint32_t kind);
Result cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t enable);
Result cuptiActivityFlushAll(std::uint32_t flag);
Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record);
Result cuptiActivityGetNumDroppedRecords(void* context, std::uint32_t stream, std::size_t* dropped);
Result cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id);
Result cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last);
Result cuptiSubscribe(void** subscriber, void* callback, void* data);
Result cuptiUnsubscribe(void* subscriber);
Result cuptiGetCallbackName(std::uint32_t domain, std::uint32_t call, const char** name);
Result cuptiGetResultString(Result status, const char** text);
Result cuptiGetTimestamp(std::uint64_t* time);
void strata_simgpu_bound_work(int (*listens)(int) noexcept, double (*leastNs)() noexcept);
}

namespace strata::simgpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

enum Kind : std::uint32_t {
    kMemcpy = 1,
    kMemset = 2,
    kRuntime = 5,
    kKernel = 10,
    kOverhead = 17,
    kEvent = 36,
    kWait = 38,
    kExternal = 39,
    kMemory = 49
};
constexpr std::uint32_t kAll[]
    = { kMemcpy, kMemset, kRuntime, kKernel, kOverhead, kEvent, kWait, kExternal, kMemory };

/// A record as bytes.
struct Row {
    std::vector<std::uint8_t> bytes;

    template <class T> T at(std::size_t offset) const
    {
        T value{};
        EXPECT_LE(offset + sizeof value, bytes.size());
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    }
    std::uint32_t kind() const { return at<std::uint32_t>(0); }
};

std::size_t g_bufferBytes = 1 << 16;
int g_buffers = 0;
std::vector<Row> g_rows;

void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* mostRecords)
{
    *buffer = g_bufferBytes > 0 ? new std::uint8_t[g_bufferBytes] : nullptr;
    *bytes = g_bufferBytes;
    *mostRecords = 0;
    ++g_buffers;
    void* pointer = nullptr; // what a client does of CUDA here is not recorded, and does not wait for itself
    cudaMalloc(&pointer, 512);
    cudaFree(pointer);
}

void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid)
{
    std::uint8_t* record = nullptr;
    std::vector<std::uint8_t*> starts;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
        starts.push_back(record);
    starts.push_back(buffer + valid);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
        g_rows.push_back({ { starts[i], starts[i + 1] } });
    delete[] buffer;
}

class Activities : public testing::Test {
protected:
    Activities()
    {
        g_bufferBytes = 1 << 16;
        g_rows.clear();
        cuptiActivityRegisterCallbacks(request, complete);
        void** binary = __cudaRegisterFatBinary(nullptr);
        __cudaRegisterFunction(
            binary, &m_kernel, nullptr, "_Z6kernelv", 0, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    ~Activities() override
    {
        for (const std::uint32_t kind : kAll)
            cuptiActivityDisable(kind);
        cuptiActivityFlushAll(0);
    }
    static void listen()
    {
        for (const std::uint32_t kind : kAll)
            EXPECT_EQ(cuptiActivityEnable(kind), 0);
    }
    void launch(void* stream = nullptr)
    {
        cudaLaunchKernel(&m_kernel, { 3, 2, 1 }, { 64, 1, 1 }, nullptr, 48, stream);
    }
    static std::vector<Row> rows(std::uint32_t kind)
    {
        cuptiActivityFlushAll(1);
        std::vector<Row> found;
        for (const Row& row : g_rows) {
            if (row.kind() == kind)
                found.push_back(row);
        }
        return found;
    }

    char m_kernel = 0;
};

TEST_F(Activities, NothingIsRecordedWhileNobodyListens)
{
    launch();
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    EXPECT_THAT(g_rows, IsEmpty());
    EXPECT_FALSE(anybodyListens());
}

TEST_F(Activities, EveryVersionReadsItsPartOfAKernel)
{
    listen();
    launch();
    const auto kernels = rows(kKernel);
    ASSERT_EQ(kernels.size(), 1u);
    const Row& kernel = kernels[0];
    // Kernel4, which torch 2.6 reads.
    EXPECT_STREQ(kernel.at<const char*>(104), "_Z6kernelv");
    EXPECT_LT(kernel.at<std::uint64_t>(16), kernel.at<std::uint64_t>(24));
    EXPECT_EQ(kernel.at<std::uint32_t>(40), 0u);
    EXPECT_EQ(kernel.at<std::uint32_t>(44), 1u);
    EXPECT_EQ(kernel.at<std::uint32_t>(48), 7u);
    EXPECT_EQ(kernel.at<std::int32_t>(52), 3);
    EXPECT_EQ(kernel.at<std::int32_t>(56), 2);
    EXPECT_EQ(kernel.at<std::int32_t>(64), 64);
    EXPECT_EQ(kernel.at<std::int32_t>(80), 48);
    // Kernel9 ends at 208, Kernel10 at 216, Kernel11, which torch 2.15 reads, at 224, Kernel13 at 248.
    EXPECT_EQ(kernel.bytes.size(), 248u);
    EXPECT_EQ(kernel.at<std::uint64_t>(144), 0u);
    const auto calls = rows(kRuntime);
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].at<std::uint32_t>(4), 211u);
    EXPECT_EQ(calls[0].at<std::uint32_t>(32), kernel.at<std::uint32_t>(92));
    EXPECT_LE(calls[0].at<std::uint64_t>(8), kernel.at<std::uint64_t>(16));
}

TEST_F(Activities, MemoryIsToldAsItIsHandedOutAndTakenBack)
{
    listen();
    void *device = nullptr, *host = nullptr, *managed = nullptr, *pooled = nullptr;
    cudaMalloc(&device, 1024);
    cudaHostAlloc(&host, 4096, 0);
    cudaMallocManaged(&managed, 8192, 1);
    cudaMallocAsync(&pooled, 512, nullptr);
    cudaFree(device);
    cudaFree(nullptr);
    cudaFreeHost(host);
    cudaFree(managed);
    cudaFreeAsync(pooled, nullptr);
    using Told
        = std::tuple<std::uint32_t, std::uint32_t, void*, std::uint64_t>; // operation, kind, where, bytes
    constexpr std::uint32_t kAllocation = 1, kRelease = 2, kPinned = 2, kDevice = 3, kManaged = 5;
    const auto memory = rows(kMemory);
    std::vector<Told> told;
    for (const Row& row : memory)
        told.emplace_back(
            row.at<std::uint32_t>(4), row.at<std::uint32_t>(8), row.at<void*>(16), row.at<std::uint64_t>(24));
    ASSERT_THAT(told,
        testing::ElementsAre(Told(kAllocation, kDevice, device, 1024), Told(kAllocation, kPinned, host, 4096),
            Told(kAllocation, kManaged, managed, 8192), Told(kAllocation, kDevice, pooled, 512),
            Told(kRelease, kDevice, device, 1024), Told(kRelease, kPinned, host, 4096),
            Told(kRelease, kManaged, managed, 8192), Told(kRelease, kDevice, pooled, 512)));
    const Row call = rows(kRuntime).at(0);
    EXPECT_EQ(call.at<std::uint32_t>(32), memory[0].at<std::uint32_t>(12)) << "that of its call";
    EXPECT_LE(memory[0].at<std::uint64_t>(32), call.at<std::uint64_t>(16)) << "before its call ends";
}

TEST_F(Activities, ExternalCorrelationsComeBeforeTheWorkInnermostOfEachKind)
{
    listen();
    cuptiActivityPushExternalCorrelationId(3, 10);
    cuptiActivityPushExternalCorrelationId(4, 20);
    cuptiActivityPushExternalCorrelationId(3, 11);
    launch();
    std::uint64_t last = 0;
    EXPECT_EQ(cuptiActivityPopExternalCorrelationId(3, &last), 0);
    EXPECT_EQ(last, 11u);
    EXPECT_EQ(cuptiActivityPopExternalCorrelationId(3, &last), 0);
    EXPECT_EQ(cuptiActivityPopExternalCorrelationId(3, &last), 18);
    EXPECT_EQ(cuptiActivityPopExternalCorrelationId(4, &last), 0);
    EXPECT_EQ(last, 20u);
    cuptiActivityFlushAll(0);
    std::vector<std::uint32_t> order;
    std::map<std::uint32_t, std::uint64_t> ids;
    for (const Row& row : g_rows) {
        order.push_back(row.kind());
        if (row.kind() == kExternal)
            ids[row.at<std::uint32_t>(4)] = row.at<std::uint64_t>(8);
    }
    EXPECT_THAT(order, ElementsAre(kExternal, kExternal, kKernel, kRuntime));
    EXPECT_THAT(ids, ElementsAre(std::pair(3u, 11u), std::pair(4u, 20u)));
}

TEST_F(Activities, CopiesAndFillsSayWhereMemoryLies)
{
    void* device = nullptr;
    void* pinned = nullptr;
    std::vector<char> pageable(4096);
    cudaMalloc(&device, 4096);
    cudaHostAlloc(&pinned, 4096, 0);
    listen();
    cudaMemcpyAsync(device, pageable.data(), 4096, 1, nullptr);
    cudaMemcpyAsync(device, pinned, 4096, 1, nullptr);
    cudaMemcpy(pageable.data(), device, 100, 2);
    cudaMemcpyAsync(device, static_cast<char*>(device) + 2048, 64, 3, nullptr);
    cudaMemsetAsync(device, 7, 4096, nullptr);
    std::vector<std::vector<int>> copies; // direction, from, to, asynchronous, bytes
    for (const Row& row : rows(kMemcpy))
        copies.push_back({ row.at<std::uint8_t>(4), row.at<std::uint8_t>(5), row.at<std::uint8_t>(6),
            row.at<std::uint8_t>(7), static_cast<int>(row.at<std::uint64_t>(8)) });
    EXPECT_THAT(copies,
        ElementsAre(ElementsAre(1, 1, 3, 1, 4096), ElementsAre(1, 2, 3, 1, 4096),
            ElementsAre(2, 3, 1, 0, 100), ElementsAre(8, 3, 3, 1, 64)));
    const auto fills = rows(kMemset);
    ASSERT_EQ(fills.size(), 1u);
    EXPECT_EQ(fills[0].at<std::uint32_t>(4), 7u);
    EXPECT_EQ(fills[0].at<std::uint64_t>(8), 4096u);
    EXPECT_EQ(fills[0].at<std::uint16_t>(50), 3);
    cudaFree(device);
    cudaFreeHost(pinned);
}

TEST_F(Activities, AGraphTellsOfEachNodeAtEachLaunch)
{
    void* stream = nullptr;
    void* graph = nullptr;
    void* exec = nullptr;
    void* device = nullptr;
    cudaStreamCreateWithFlags(&stream, 1);
    cudaMalloc(&device, 4096);
    cudaStreamBeginCapture(stream, 0);
    launch(stream);
    cudaMemsetAsync(device, 0, 4096, stream);
    launch(stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    listen();
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    const auto kernels = rows(kKernel);
    const auto fills = rows(kMemset);
    ASSERT_EQ(kernels.size(), 4u);
    ASSERT_EQ(fills.size(), 2u);
    const auto calls = rows(kRuntime);
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].at<std::uint32_t>(4), 311u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(kernels[i].at<std::uint32_t>(92), calls[i / 2].at<std::uint32_t>(32));
        EXPECT_GT(kernels[i].at<std::uint32_t>(156), 0u);
    }
    EXPECT_EQ(kernels[0].at<std::uint64_t>(144), kernels[2].at<std::uint64_t>(144));
    EXPECT_NE(kernels[0].at<std::uint64_t>(144), kernels[1].at<std::uint64_t>(144));
    EXPECT_GE(fills[0].at<std::uint64_t>(16), kernels[0].at<std::uint64_t>(24))
        << "in the order of the capture";
    EXPECT_GE(kernels[1].at<std::uint64_t>(16), fills[0].at<std::uint64_t>(24));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(device);
}

/// As a dry run tells of least times; takes it back at its end.
struct Told {
    explicit Told(int willTell)
    {
        tells = willTell;
        listened.clear();
        strata_simgpu_bound_work(
            [](int on) noexcept {
                listened.push_back(on);
                return tells;
            },
            []() noexcept { return leastNs; });
    }
    ~Told() { strata_simgpu_bound_work(nullptr, nullptr); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;

    static inline int tells = 1;
    static inline double leastNs = 0;
    static inline std::vector<int> listened;
};

TEST_F(Activities, WorkLastsAsLongAsIsToldThatItTakesAtLeast)
{
    const Told told(1);
    EXPECT_THAT(Told::listened, IsEmpty());
    listen();
    EXPECT_THAT(Told::listened, ElementsAre(1));
    for (const double least : { 5'000'000.0, -1.0, 0.0, 700.0 }) {
        Told::leastNs = least;
        launch();
    }
    std::vector<std::uint64_t> took;
    std::uint64_t before = 0;
    for (const Row& kernel : rows(kKernel)) {
        EXPECT_GE(kernel.at<std::uint64_t>(16), before);
        before = kernel.at<std::uint64_t>(24);
        took.push_back(before - kernel.at<std::uint64_t>(16));
    }
    // What is not known has no length, and what is has one.
    EXPECT_THAT(took, ElementsAre(5'000'000, 0, 2, 700));
    for (const std::uint32_t kind : kAll)
        cuptiActivityDisable(kind);
    EXPECT_THAT(Told::listened, ElementsAre(1, 0));
}

TEST_F(Activities, NodesOfGraphsAreOfNoOperator)
{
    const Told told(1);
    Told::leastNs = 700;
    void *stream = nullptr, *graph = nullptr, *exec = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
    listen();
    cudaStreamBeginCapture(stream, 0);
    launch(stream);
    cudaStreamEndCapture(stream, &graph);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
    cudaGraphLaunch(exec, stream);
    const auto kernels = rows(kKernel);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].at<std::uint64_t>(16), kernels[0].at<std::uint64_t>(24));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_F(Activities, WhereNobodyTellsWorkHasItsRoundLength)
{
    const Told told(0); // asked, and knows nothing
    Told::leastNs = -1;
    listen();
    EXPECT_THAT(Told::listened, ElementsAre(1));
    launch();
    const auto kernels = rows(kKernel);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].at<std::uint64_t>(24) - kernels[0].at<std::uint64_t>(16), 1000u);
}

TEST_F(Activities, AGraphWithinAGraphTellsOfItsNodesToo)
{
    void* stream = nullptr;
    void* graphs[2] = {};
    void* execs[2] = {};
    cudaStreamCreateWithFlags(&stream, 1);
    cudaStreamBeginCapture(stream, 0);
    launch(stream);
    launch(stream);
    cudaStreamEndCapture(stream, &graphs[0]);
    cudaGraphInstantiate(&execs[0], graphs[0], 0);
    cudaStreamBeginCapture(stream, 0);
    launch(stream);
    cudaGraphLaunch(execs[0], stream);
    cudaStreamEndCapture(stream, &graphs[1]);
    cudaGraphInstantiate(&execs[1], graphs[1], 0);
    listen();
    cudaGraphLaunch(execs[1], stream);
    EXPECT_EQ(rows(kKernel).size(), 3u);
    for (int i = 0; i < 2; ++i) {
        cudaGraphExecDestroy(execs[i]);
        cudaGraphDestroy(graphs[i]);
    }
    cudaStreamDestroy(stream);
}

TEST_F(Activities, AStreamThatWaitsComesBehindTheEvent)
{
    void* first = nullptr;
    void* second = nullptr;
    void* event = nullptr;
    cudaStreamCreateWithFlags(&first, 1);
    cudaStreamCreateWithFlags(&second, 1);
    cudaEventCreateWithFlags(&event, 2);
    listen();
    for (int i = 0; i < 50; ++i)
        launch(first);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    launch(second);
    cudaEventSynchronize(event);
    cudaStreamSynchronize(second);
    cudaDeviceSynchronize();
    const auto kernels = rows(kKernel);
    ASSERT_EQ(kernels.size(), 51u);
    for (std::size_t i = 1; i < kernels.size(); ++i)
        EXPECT_GE(kernels[i].at<std::uint64_t>(16), kernels[i - 1].at<std::uint64_t>(24)) << i;
    EXPECT_NE(kernels[0].at<std::uint32_t>(48), kernels[50].at<std::uint32_t>(48));
    const auto events = rows(kEvent);
    ASSERT_EQ(events.size(), 1u);
    std::vector<std::uint32_t> types;
    for (const Row& row : rows(kWait)) {
        types.push_back(row.at<std::uint32_t>(4));
        EXPECT_LE(row.at<std::uint64_t>(8), row.at<std::uint64_t>(16));
    }
    EXPECT_THAT(types, ElementsAre(2u, 1u, 3u, 4u));
    const Row device = rows(kWait).back();
    EXPECT_GE(device.at<std::uint64_t>(16), kernels[50].at<std::uint64_t>(24)) << "returns when all is done";
    EXPECT_EQ(rows(kWait)[0].at<std::uint32_t>(36), events[0].at<std::uint32_t>(16)) << "the same event";
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

TEST_F(Activities, BuffersAreHandedOverFullAndRecordsWithoutOneCounted)
{
    g_bufferBytes = 1024;
    g_buffers = 0;
    listen();
    for (int i = 0; i < 40; ++i)
        launch();
    EXPECT_EQ(rows(kKernel).size(), 40u);
    EXPECT_EQ(rows(kRuntime).size(), 40u) << "calls within the callbacks are not recorded";
    EXPECT_GT(g_buffers, 10);
    EXPECT_GT(rows(kOverhead).size(), 9u);
    g_bufferBytes = 0;
    launch();
    std::size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    EXPECT_EQ(dropped, 2u);
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    EXPECT_EQ(dropped, 0u);
}

TEST_F(Activities, CallsCanBeLeftOutButTheirWorkStays)
{
    listen();
    cuptiActivityEnableRuntimeApi(211, 0);
    launch();
    EXPECT_EQ(rows(kRuntime).size(), 0u);
    EXPECT_EQ(rows(kKernel).size(), 1u);
    cuptiActivityEnableRuntimeApi(211, 1);
    launch();
    EXPECT_EQ(rows(kRuntime).size(), 1u);
}

std::uint64_t ticks()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()) * 3; // three a nanosecond
}

TEST_F(Activities, TimesAreOfTheClockThatWasRegistered)
{
    void* event = nullptr;
    cudaEventCreateWithFlags(&event, 2);
    listen();
    launch();
    cudaEventRecord(
        event, nullptr); // by nanoseconds since the epoch, which the other clock will take long to reach
    cuptiActivityRegisterTimestampCallback(ticks);
    g_rows.clear();
    const std::uint64_t before = ticks();
    cudaStreamWaitEvent(nullptr, event, 0);
    for (int i = 0; i < 100; ++i)
        launch();
    cudaEventSynchronize(event);
    cudaDeviceSynchronize();
    const std::uint64_t after = ticks();
    std::uint64_t end = before;
    std::uint64_t busy = 0;
    cuptiActivityFlushAll(0);
    std::vector<Row> kernels = rows(kKernel);
    kernels.erase(kernels.begin()); // the one before
    for (const Row& kernel : kernels) {
        EXPECT_GE(kernel.at<std::uint64_t>(16), end);
        end = kernel.at<std::uint64_t>(24);
        busy += end - kernel.at<std::uint64_t>(16);
    }
    EXPECT_LE(end, after);
    EXPECT_NEAR(static_cast<double>(busy), 100 * 3000.0, 3000.0);
    std::uint64_t now = 0;
    cuptiGetTimestamp(&now);
    EXPECT_GE(now, after);
    cuptiActivityRegisterTimestampCallback(nullptr);
    cuptiGetTimestamp(&now);
    EXPECT_GT(now, 1'500'000'000'000'000'000u);
    cudaEventDestroy(event);
}

TEST_F(Activities, ThreadsHaveCorrelationsOfTheirOwn)
{
    listen();
    const auto run = [this](std::uint64_t id) {
        void* stream = nullptr;
        cudaStreamCreateWithFlags(&stream, 1);
        cuptiActivityPushExternalCorrelationId(3, id);
        for (int i = 0; i < 500; ++i)
            launch(stream);
        std::uint64_t last = 0;
        cuptiActivityPopExternalCorrelationId(3, &last);
        cudaStreamDestroy(stream);
    };
    std::thread one(run, 1);
    std::thread two(run, 2);
    one.join();
    two.join();
    std::map<std::uint32_t, std::uint64_t> idOf;
    for (const Row& row : rows(kExternal))
        idOf[row.at<std::uint32_t>(16)] = row.at<std::uint64_t>(8);
    std::map<std::uint32_t, std::map<std::uint64_t, int>> streams;
    for (const Row& row : rows(kKernel))
        ++streams[row.at<std::uint32_t>(48)][idOf[row.at<std::uint32_t>(92)]];
    ASSERT_EQ(streams.size(), 2u);
    for (const auto& [stream, ids] : streams)
        EXPECT_EQ(ids.size(), 1u);
}

TEST_F(Activities, OneSubscriberAtATime)
{
    void* first = nullptr;
    void* second = nullptr;
    EXPECT_EQ(cuptiSubscribe(&first, nullptr, nullptr), 0);
    EXPECT_EQ(cuptiSubscribe(&second, nullptr, nullptr), 39);
    EXPECT_EQ(cuptiUnsubscribe(second), 1);
    EXPECT_EQ(cuptiUnsubscribe(first), 0);
    EXPECT_EQ(cuptiSubscribe(&second, nullptr, nullptr), 0);
    EXPECT_EQ(cuptiUnsubscribe(second), 0);
}

TEST_F(Activities, NamesAndWords)
{
    const char* text = nullptr;
    EXPECT_EQ(cuptiGetCallbackName(2, 211, &text), 0);
    EXPECT_STREQ(text, "cudaLaunchKernel_v7000");
    EXPECT_EQ(cuptiGetCallbackName(1, 307, &text), 0);
    EXPECT_STREQ(text, "cuLaunchKernel");
    EXPECT_EQ(cuptiGetCallbackName(2, 1999, &text), 1);
    cuptiGetResultString(39, &text);
    EXPECT_STREQ(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
    EXPECT_EQ(cuptiActivityEnable(0), 21);
    EXPECT_EQ(cuptiActivityEnable(1000), 21);
}

} // namespace
} // namespace strata::simgpu
