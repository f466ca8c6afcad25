// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that a profiler's trace tells of, as events, blocks, levels and stacks.
#include "model/readers/reader.h"
#include "model/trace/device_trace.h"
#include "model/trace/frames.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::model {

namespace {

constexpr std::int64_t kAddress = 140'000'000'000'000;

std::string memoryRow(double us, std::int64_t address, std::int64_t bytes, std::int64_t allocated,
    std::int64_t reserved = 1 << 21, int type = 1, int device = 0, int thread = 11)
{
    return fmt::format(R"({{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":10,"tid":{},)"
                       R"("ts":{},"args":{{"Total Reserved":{},"Total Allocated":{},"Bytes":{},"Addr":{},)"
                       R"("Device Id":{},"Device Type":{}}}}})",
        thread, us, reserved, allocated, bytes, address, device, type);
}

std::string spanRow(const char* kind, const char* name, int us, int duration, int thread = 11)
{
    return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":{},"ts":{},"dur":{}}})", kind,
        name, thread, us, duration);
}

std::unique_ptr<Recording> readRows(const std::vector<std::string>& rows)
{
    const std::string text = fmt::format(R"({{"traceEvents": [{}]}})", fmt::join(rows, ",\n"));
    auto found = readRecording(std::as_bytes(std::span(text)), {}, {});
    if (!found) {
        ADD_FAILURE() << found.error().text();
        return std::make_unique<Recording>();
    }
    return std::move(*found);
}

DeviceTrace build(Recording& recording, std::size_t device = 0)
{
    auto built = DeviceTrace::build(recording, recording.devices.at(device), {});
    EXPECT_TRUE(built);
    return std::move(*built);
}

std::vector<std::string> framesOf(const Recording& recording, StackId stack)
{
    std::vector<std::string> names;
    for (const FrameId id : recording.stacks.stack(stack)) {
        const Frame& frame = recording.stacks.frame(id);
        names.push_back(frame.file.valid() ? fmt::format("{}:{} {}", recording.strings[frame.file],
                            frame.line, recording.strings[frame.function])
                                           : std::string(recording.strings[frame.function]));
    }
    return names;
}

bool hasFinding(const DeviceTrace& trace, Check check)
{
    return std::ranges::any_of(trace.findings(), [=](const Finding& f) { return f.check == check; });
}

} // namespace

TEST(TraceMemory, BecomesBlocksByAddress)
{
    // 4096 bytes were there; 1024 of these are freed, and the address is used again.
    const auto recording = readRows({
        memoryRow(1, kAddress, 512, 4608),
        memoryRow(2, kAddress + 4096, -1024, 3584),
        memoryRow(3, kAddress, -512, 3072, 1 << 22),
        memoryRow(4, kAddress, 2048, 5120, 1 << 22),
    });
    ASSERT_EQ(recording->devices.size(), 1u);
    const DeviceTrace trace = build(*recording);
    EXPECT_EQ(trace.eventCount(), 4);
    ASSERT_EQ(trace.blocks().bornCount(), 2u);
    ASSERT_EQ(trace.blocks().olderCount(), 2u); // what stays, and what is freed
    EXPECT_EQ(trace.blocks().requestedBytes.older[0], 3072);
    EXPECT_EQ(trace.blocks().requestedBytes.older[1], 1024);
    EXPECT_EQ(trace.blocks().death(BlockId::older(0)), BlockColumns::kNever);
    EXPECT_EQ(trace.blocks().death(BlockId::older(1)), 1);
    EXPECT_EQ(trace.blocks().death(BlockId::born(0)), 2);
    EXPECT_EQ(trace.blocks().death(BlockId::born(1)), BlockColumns::kNever);
    EXPECT_EQ(trace.totals().requestedBytesStart, 4096);
    EXPECT_EQ(trace.totals().requestedBytesPeak, 5120);
    EXPECT_EQ(trace.totals().reservedBytesStart, 1 << 21);
    EXPECT_EQ(trace.totals().reservedBytesPeak, 1 << 22);
    EXPECT_EQ(trace.totals().reservedPeakEvent, 2);
    EXPECT_EQ(trace.totals().pendingBytesStart, 0);
    EXPECT_FALSE(trace.totals().endKnown);
    EXPECT_TRUE(hasFinding(trace, Check::FromProfiler));
    for (const Finding& finding : trace.findings())
        EXPECT_FALSE(isBreach(finding.check)) << finding.cause.text();
}

TEST(TraceMemory, TellsOfDevicesWithAddressesAndTotalsAlone)
{
    EXPECT_TRUE(readRows({ memoryRow(1, kAddress, 512, 512, 0, 0, -1) })->devices.empty()) << "of a CPU";
    EXPECT_TRUE(readRows({ memoryRow(1, 0, 512, 512) })->devices.empty()) << "no address";
    EXPECT_TRUE(readRows({ memoryRow(1, kAddress, 512, -1) })->devices.empty()) << "no total";
    EXPECT_TRUE(readRows({ memoryRow(1, kAddress, std::int64_t{ 1 } << 60, 512) })->devices.empty());
    EXPECT_TRUE(readRows({ spanRow("cpu_op", "aten::mm", 1, 2) })->devices.empty());

    const auto several = readRows({ memoryRow(1, kAddress, 512, 512, 1 << 21, 6, 3),
        memoryRow(2, kAddress, 256, 256, 1 << 21, 1, 0), memoryRow(3, kAddress, 8, 8, 0, 0, -1) });
    ASSERT_EQ(several->devices.size(), 2u);
    EXPECT_EQ(several->devices[0].device, 0);
    EXPECT_EQ(several->devices[1].device, 3) << "of ROCm";
    EXPECT_EQ(several->devices[1].events.size(), 1);
}

TEST(TraceMemory, IsInOrderOfTime)
{
    // One thread after another, as the profiler writes them.
    const auto recording = readRows({ memoryRow(1, kAddress, 512, 512, 1 << 21, 1, 0, 11),
        memoryRow(4, kAddress, -512, 256, 1 << 21, 1, 0, 11),
        memoryRow(2, kAddress + 512, 256, 768, 1 << 21, 1, 0, 12) });
    const DeviceTrace trace = build(*recording);
    EXPECT_EQ(trace.events().timeNs[1], 2'000);
    EXPECT_EQ(trace.totals().requestedBytesStart, 0);
    EXPECT_EQ(recording->devices[0].profiled->untold, 0);
    EXPECT_EQ(recording->threads[trace.events().threadOf(1)], 12u);
}

TEST(TraceMemory, SaysWhatOthersAllocated)
{
    const auto recording
        = readRows({ memoryRow(1, kAddress, 512, 512), memoryRow(2, kAddress + 512, 512, 3072) });
    EXPECT_EQ(recording->devices[0].profiled->untold, 1);
    EXPECT_EQ(recording->devices[0].profiled->untoldBytes, 2048);
}

TEST(TraceMemory, HasStacksOfWhatIsOpenOnItsThread)
{
    const auto recording = readRows({ memoryRow(25, kAddress, 512, 512),
        memoryRow(45, kAddress + 512, 512, 1024), memoryRow(95, kAddress + 1024, 512, 1536),
        memoryRow(99, kAddress, -512, 1024), spanRow("user_annotation", "ProfilerStep#3", 0, 100),
        spanRow("user_annotation", "forward", 5, 45),
        spanRow("python_function", "/home/u/train.py(12): step", 1, 60),
        spanRow("python_function", "torch/nn/modules/linear.py(120): forward", 10, 30),
        spanRow("python_function", "<built-in function linear at 0x7f1A2b>", 15, 20),
        spanRow("cpu_op", "aten::linear", 20, 10), spanRow("cpu_op", "aten::mm", 20, 8),
        spanRow("cpu_op", "aten::other", 20, 8, 12) });
    const DeviceTrace trace = build(*recording);
    const auto stackOf = [&](std::size_t e) { return framesOf(*recording, trace.events().stack[e]); };
    EXPECT_EQ(stackOf(0),
        (std::vector<std::string>{ "aten::mm", "aten::linear", "<built-in function linear>",
            "torch/nn/modules/linear.py:120 forward", "forward", "/home/u/train.py:12 step" }));
    EXPECT_EQ(stackOf(1), (std::vector<std::string>{ "forward", "/home/u/train.py:12 step" }));
    EXPECT_TRUE(stackOf(2).empty());
    EXPECT_TRUE(stackOf(3).empty()) << "of a free";
    EXPECT_EQ(frameLabel(*recording, userFrame(*recording, trace.events().stack[0])), "/home/u/train.py:12");

    ASSERT_EQ(recording->annotations.size(), 4u);
    EXPECT_EQ(recording->strings[recording->annotations[0].name], "ProfilerStep#3");
    EXPECT_EQ(recording->annotations[1].kind, Annotation::Kind::Start);
    EXPECT_EQ(recording->annotations[2].kind, Annotation::Kind::End);
    EXPECT_EQ(recording->strings[recording->annotations[2].name], "forward");
}

TEST(TraceMemory, OneThatEndsWhereTheNextBeginsDoesNotHoldIt)
{
    const auto recording = readRows({ spanRow("cpu_op", "aten::a", 0, 5), spanRow("cpu_op", "aten::b", 5, 5),
        memoryRow(5, kAddress, 512, 512), memoryRow(10, kAddress + 512, 512, 1024) });
    const DeviceTrace trace = build(*recording);
    for (const std::size_t e : { 0u, 1u })
        EXPECT_EQ(framesOf(*recording, trace.events().stack[e]), std::vector<std::string>{ "aten::b" });
}

TEST(TraceMemory, MarksARefusedRequest)
{
    std::string refused = memoryRow(2, 0, 4096, 512);
    refused.replace(refused.find("[memory]"), 8, "[OutOfMemory]");
    const auto recording = readRows({ memoryRow(1, kAddress, 512, 512), refused });
    const DeviceTrace trace = build(*recording);
    EXPECT_EQ(trace.events().action[1], Action::UserDefined);
    EXPECT_EQ(recording->strings[trace.events().userMetadata.at(1)], "OutOfMemory: asked for 4096 bytes");
    EXPECT_EQ(recording->devices[0].profiled->outOfMemories, 1);
}

TEST(TraceMemory, CurvesAreTheTotalsAtEveryEvent)
{
    std::mt19937 random(7);
    std::vector<std::string> rows;
    std::vector<std::int64_t> allocated, reserved;
    std::unordered_map<std::int64_t, std::int64_t> live;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < 40; ++i)
        total += live[kAddress + i * 4096] = 512 * (i % 8 + 1);
    for (int e = 0; e < 3'000; ++e) {
        const std::int64_t address = kAddress + static_cast<std::int64_t>(random() % 64) * 4096;
        const auto found = live.find(address);
        const bool isFree = found != live.end();
        const std::int64_t bytes
            = isFree ? -found->second : 512 * static_cast<std::int64_t>(random() % 8 + 1);
        if (isFree)
            live.erase(found);
        else
            live[address] = bytes;
        total += bytes;
        allocated.push_back(total);
        reserved.push_back((1 << 21) + (e / 100 % 5) * (1 << 20));
        rows.push_back(memoryRow(e, address, bytes, total, reserved.back()));
    }
    const auto recording = readRows(rows);
    const DeviceTrace trace = build(*recording);
    ASSERT_EQ(trace.eventCount(), 3'000);
    std::int64_t requested = trace.totals().requestedBytesStart, held = trace.totals().reservedBytesStart;
    for (EventIndex e = 0; e < trace.eventCount(); ++e) {
        ASSERT_EQ(requested += trace.requestedDelta(e), allocated[static_cast<std::size_t>(e)]) << e;
        ASSERT_EQ(held += trace.reservedDelta(e), reserved[static_cast<std::size_t>(e)]) << e;
    }
    EXPECT_EQ(trace.totals().reservedBytesPeak, (1 << 21) + 4 * (1 << 20));
    for (const Finding& finding : trace.findings())
        EXPECT_FALSE(isBreach(finding.check)) << finding.cause.text();
}

} // namespace strata::model
