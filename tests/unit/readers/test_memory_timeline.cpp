// SPDX-License-Identifier: GPL-3.0-or-later
// What torch.profiler's export_memory_timeline() writes, as events, blocks and categories.
#include "model/readers/reader.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/profiled_categories.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

namespace {

Result<std::unique_ptr<Recording>> readTimeline(std::string_view text)
{
    return readRecording(std::as_bytes(std::span(text)), {}, {});
}

/// Of the only device: "+512 activation" and "-512" with times, one an event.
std::string eventsOf(Recording& recording)
{
    static constexpr const char* kWords[]
        = { "parameter", "optimizer", "input", "temporary", "activation", "gradient", "detail", "unknown" };
    if (recording.devices.size() != 1)
        return std::to_string(recording.devices.size()) + " devices";
    const EventColumns& events = recording.devices[0].events;
    const auto& categories = recording.parts.find<ProfiledCategories>()->ofEvents.at(0);
    EXPECT_EQ(categories.size(), static_cast<std::size_t>(events.size()));
    std::string text;
    for (std::size_t i = 0; i < categories.size(); ++i) {
        const bool isAlloc = events.action[i] == Action::Alloc;
        text += std::to_string(events.timeNs[i]) + (isAlloc ? " +" : " -") + std::to_string(events.bytes[i]);
        text += isAlloc ? std::string(" ") + kWords[static_cast<int>(categories[i])] + "\n" : "\n";
    }
    return text;
}

TEST(MemoryTimeline, ReadsRowsOfStorages)
{
    auto found
        = readTimeline("[[-1, 1, 4096, 0], [1000, 2, 512, 4], [1500, 2, 256, 7],\n"
                       "[2000, 3, -4096, 0], [2000, 3, 4096, 0], [3000, 3, -256, 7], [3000, 3, 256, 5],"
                       "[4000, 4, -512, 4], [4500, 2, 0, 4]]");
    ASSERT_TRUE(found) << found.error().text();
    Recording& recording = **found;
    EXPECT_EQ(recording.format, "PyTorch memory timeline (JSON)");
    EXPECT_EQ(eventsOf(recording),
        "1000 +4096 parameter\n1000 +512 activation\n1500 +256 unknown\n3000 -256\n3000 +256 gradient\n"
        "4000 -512\n");
    auto trace = DeviceTrace::build(recording, recording.devices[0], {});
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->totals().requestedBytesPeak, 4864);
    EXPECT_EQ(trace->totals().requestedBytesStart, 0);
    EXPECT_FALSE(trace->totals().reservedKnown);
    EXPECT_FALSE(trace->totals().endKnown);
}

TEST(MemoryTimeline, ReadsSumsByCategory)
{
    auto found = readTimeline(
        "[[100, 100, 200, 300], [[0, 4096, 0, 0, 0, 0, 0, 0, 0], [0, 4096, 0, 0, 0, 512, 0, 0, 0],"
        "[0, 4096, 0, 0, 0, 1536, 0, 0, 0], [0, 4096, 0, 0, 0, 256, 64, 0, 0]]]");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(eventsOf(**found),
        "100000 +4096 parameter\n100000 +256 activation\n100000 +256 activation\n200000 +1024 activation\n"
        "300000 -1024\n300000 -256\n300000 +64 gradient\n")
        << "512 came at once, and went in two parts";
}

TEST(MemoryTimeline, WhatGoesWithoutHavingComeWasThereBefore)
{
    auto found = readTimeline("[[10, 2, 512, 4], [20, 4, -1024, 4], [30, 4, -512, 4]]");
    ASSERT_TRUE(found) << found.error().text();
    auto trace = DeviceTrace::build(**found, (*found)->devices[0], {});
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->totals().requestedBytesStart, 1024);
    EXPECT_EQ(trace->totals().requestedBytesPeak, 1536);
    EXPECT_EQ((*found)->devices[0].profiled->untold, 1);
    EXPECT_EQ((*found)->devices[0].profiled->untoldBytes, 1024);
}

TEST(MemoryTimeline, ACutOneIsReadUpToThere)
{
    const std::string rows = "[[10, 2, 512, 4], [20, 2, 1024, 4], [30, 4, -512, 4]]";
    const std::string sums = "[[1, 2, 300], [[0, 4096, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 7]]]";
    for (const std::string& whole : { rows, sums })
        for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
            auto found = readTimeline(std::string_view(whole).substr(0, bytes));
            if (found) {
                EXPECT_TRUE((*found)->truncation) << whole.substr(0, bytes);
                EXPECT_GE((*found)->devices.at(0).events.size(), 1) << whole.substr(0, bytes);
            } else {
                EXPECT_FALSE(found.error().what.empty());
            }
        }
    auto found = readTimeline(rows.substr(0, 40));
    ASSERT_TRUE(found);
    EXPECT_EQ(eventsOf(**found), "10 +512 activation\n20 +1024 activation\n");
}

TEST(MemoryTimeline, HostileOnesAreRefusedOrReadUpToWhereTheyMakeNoSense)
{
    for (const char* text :
        { "[[10, 2, 512, 4], [20, 9, 512, 4]]", "[[10, 2, 512, 4], [20, 2, 2251799813685248, 4]]",
            "[[10, 2, 512, 4], [20, 2, 99999999999999999999, 4]]", "[[10, 2, 512, 4], [20, 2, 512]]",
            "[[10, 2, 512, 4], {\"a\": 1}]", "[[10, 2, 512, 4], [20, 2, 1.5, 4]]",
            "[[10, 2, 512, 4]] and more" }) {
        auto found = readTimeline(text);
        ASSERT_TRUE(found) << text;
        EXPECT_EQ((*found)->devices.at(0).events.size(), 1) << text;
        EXPECT_EQ((*found)->truncation.has_value(), !std::string_view(text).ends_with("more")) << text;
    }
    for (const char* text :
        { "[[10, 2, 512, 4", "[[1, 2, 3], [[0, 1, 2]]]", "[[9223372036854775807], [[0,1,0,0,0,0,0,0,0]]]",
            "[[10, 20], 5]", "[[], []]", "[[-1], [[0, 0, 0, 0, 0, 0, 0, 0, 0]]]" }) {
        auto found = readTimeline(text);
        EXPECT_FALSE(found) << text;
    }
    auto unknown = readTimeline("[[10, 2, 512, 99], [20, 2, 512, -3]]");
    ASSERT_TRUE(unknown);
    EXPECT_EQ(eventsOf(**unknown), "10 +512 unknown\n20 +512 unknown\n");
}

TEST(MemoryTimeline, OneWithoutMemorySaysWhichDeviceToAskFor)
{
    auto found = readTimeline("[[], []]");
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text().find("device=\"cuda:0\""), std::string::npos) << found.error().text();
}

TEST(MemoryTimeline, ItsPictureIsRefusedWithWords)
{
    auto found = readTimeline(
        "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>\n"
        "<body>\n  <img src='data:image/png;base64,AAAA'>\n</body>\n</html>");
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text().find(".raw.json.gz"), std::string::npos) << found.error().text();
}

/// Sums by category after every event are those of the rows, whatever goes when.
TEST(MemoryTimeline, RandomSumsAreExactAtEveryTime)
{
    std::mt19937 random(7);
    for (int run = 0; run < 50; ++run) {
        std::vector<std::array<std::int64_t, 9>> points(1 + random() % 60);
        std::string times, sums;
        for (std::size_t i = 0; i < points.size(); ++i) {
            times += (i ? "," : "") + std::to_string(1000 + i);
            sums += i ? ",[0" : "[0";
            for (std::size_t c = 1; c < 9; ++c) {
                points[i][c] = i > 0 && random() % 2 ? points[i - 1][c]
                                                     : static_cast<std::int64_t>(random() % 5) * 512;
                sums += "," + std::to_string(points[i][c]);
            }
            sums += "]";
        }
        auto found = readTimeline("[[" + times + "],[" + sums + "]]");
        if (!found) { // nothing but zeros
            EXPECT_EQ(points.size(), 1u);
            continue;
        }
        Recording& recording = **found;
        auto trace = DeviceTrace::build(recording, recording.devices[0], {});
        ASSERT_TRUE(trace);
        const auto& categories = recording.parts.find<ProfiledCategories>()->ofEvents.at(0);
        for (std::size_t i = 0; i < points.size(); ++i) {
            EventIndex last = -1;
            for (EventIndex e = 0; e < trace->eventCount(); ++e)
                if (trace->events().timeNs[static_cast<std::size_t>(e)]
                    <= static_cast<std::int64_t>(1000 + i) * 1000)
                    last = e;
            std::array<std::int64_t, 9> held{};
            for (const BlockId block : trace->blocks().all())
                if (trace->blocks().liveAt(block, last))
                    held[1
                        + static_cast<std::size_t>(
                            categories[static_cast<std::size_t>(trace->blocks().birth(block))])]
                        += trace->blocks().requestedBytes[block];
            points[i][0] = 0;
            EXPECT_EQ(held, points[i]) << "run " << run << ", time " << i;
        }
    }
}

} // namespace

} // namespace strata::model
