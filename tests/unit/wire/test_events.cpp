// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/events_codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace strata::wire {
namespace {

/// Anything that fits the types, with the habits of traces now and then: same addresses, ends after begins.
EventChunk randomChunk(std::uint32_t seed)
{
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    EventChunk chunk;
    chunk.device = static_cast<std::int32_t>(below(9));
    chunk.firstEvent = random() >> below(64);
    chunk.hasTimes = below(4) != 0;
    const bool wild = below(3) == 0, tells = below(2) == 0;
    const std::size_t rows = below(400);
    for (std::size_t i = 0; i < rows; ++i) {
        EventRow row;
        row.action = static_cast<EventAction>(below(kActionCount));
        row.address = wild ? random() : 0x7f0000000000 + 512 * below(20);
        row.bytes = wild ? static_cast<std::int64_t>(random()) : static_cast<std::int64_t>(512 * below(9));
        if (chunk.hasTimes)
            row.timeNs = wild
                ? static_cast<std::int64_t>(random())
                : 1'760'000'000'000'000'000 + static_cast<std::int64_t>(i * 7000 + below(3) * 1000);
        row.stack = below(5) == 0 ? kNone : static_cast<std::uint32_t>(below(30));
        row.stream = below(9) == 0 ? kNone : static_cast<std::uint32_t>(below(3));
        row.pool = below(2) == 0 ? kNone : static_cast<std::uint32_t>(random() % kNone);
        if (tells && below(3) != 0) {
            row.thread = static_cast<std::uint32_t>(wild ? random() : below(4));
            row.phase = static_cast<EventPhase>(below(kEventPhases));
            if (row.action == EventAction::Alloc)
                row.module = below(3) == 0 ? kNone : static_cast<std::uint32_t>(below(30));
        }
        chunk.rows.push_back(row);
    }
    for (std::vector<SparseText>& kind : chunk.sparse)
        for (std::uint32_t i = 0; i < rows; ++i)
            if (below(10) == 0)
                kind.push_back({ i, static_cast<std::uint32_t>(below(50)) });
    return chunk;
}

} // namespace

TEST(WireEvents, ComeBackEqual)
{
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        const EventChunk chunk = randomChunk(seed);
        Bytes payload;
        encodeEvents(chunk, payload);
        EventChunk back;
        ASSERT_TRUE(decodeEvents(payload, back));
        ASSERT_TRUE(back == chunk);
    }
}

TEST(WireEvents, ExtremesComeBack)
{
    EventChunk chunk;
    const auto lowest = std::numeric_limits<std::int64_t>::min(),
               highest = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t value : { lowest, highest, std::int64_t{ 0 }, lowest, highest })
        for (const EventAction action : { EventAction::Alloc, EventAction::FreeCompleted })
            chunk.rows.push_back(
                { action, static_cast<std::uint64_t>(value), value, value, kNone - 1, 0, kNone - 1 });
    Bytes payload;
    encodeEvents(chunk, payload);
    EventChunk back;
    ASSERT_TRUE(decodeEvents(payload, back));
    EXPECT_TRUE(back == chunk);
}

TEST(WireEvents, WhatNoRowTellsTakesNoRoom)
{
    EventChunk chunk;
    for (int i = 0; i < 1000; ++i)
        chunk.rows.push_back(
            { .action = i % 2 == 0 ? EventAction::Alloc : EventAction::FreeRequested, .bytes = 512 });
    Bytes bare, telling;
    encodeEvents(chunk, bare);
    for (EventRow& row : chunk.rows) {
        row.thread = 4711;
        row.phase = EventPhase::Backward;
    }
    encodeEvents(chunk, telling);
    EXPECT_GE(telling.size(), bare.size() + 2000) << "a byte each";
    EXPECT_LE(telling.size(), bare.size() + 2020);
}

TEST(WireEvents, TheSizeOfWhatEndsIsADifference)
{
    constexpr std::int64_t kBytes = std::int64_t{ 1 } << 40;
    const auto bytesOf = [](EventAction action) {
        EventChunk chunk;
        chunk.rows.push_back({ .action = EventAction::Alloc, .bytes = kBytes });
        chunk.rows.push_back({ .action = action, .bytes = kBytes });
        Bytes payload;
        encodeEvents(chunk, payload);
        return payload.size();
    };
    for (const EventAction action : { EventAction::FreeRequested, EventAction::FreeCompleted,
             EventAction::SegmentFree, EventAction::SegmentUnmap })
        EXPECT_LT(bytesOf(action), bytesOf(EventAction::SegmentMap)) << static_cast<int>(action);
}

TEST(WireEvents, APhaseThatIsNotKnownIsNone)
{
    EventChunk chunk;
    chunk.rows.push_back({ .action = EventAction::Alloc, .bytes = 512, .phase = EventPhase{ 200 } });
    Bytes payload;
    encodeEvents(chunk, payload);
    EventChunk back;
    ASSERT_TRUE(decodeEvents(payload, back));
    EXPECT_EQ(back.rows[0].phase, EventPhase::Unknown);
}

TEST(WireEvents, ARepeatedStepCostsAlmostNothingEachTime)
{
    // What zstd sees of two equal steps is equal but for the first addresses: no row takes more than ten
    // bytes.
    EventChunk chunk;
    for (int step = 0; step < 50; ++step)
        for (std::uint64_t i = 0; i < 200; ++i) {
            const std::int64_t time = (step * 400 + static_cast<std::int64_t>(i)) * 20'000;
            chunk.rows.push_back({ EventAction::Alloc, 0x7f0000000000 + i * 4096, 4096, time, 1, 0, kNone });
            chunk.rows.push_back(
                { EventAction::FreeCompleted, 0x7f0000000000 + i * 4096, 4096, time, 1, 0, kNone });
        }
    Bytes payload;
    encodeEvents(chunk, payload);
    EXPECT_LT(payload.size(), chunk.rows.size() * 10);
}

TEST(WireEvents, DamageIsRefusedOrReadsAsOtherRows)
{
    const EventChunk chunk = randomChunk(3);
    Bytes payload;
    encodeEvents(chunk, payload);
    EventChunk back;
    for (std::size_t size = 0; size < payload.size(); ++size)
        EXPECT_FALSE(decodeEvents(std::span(payload).first(size), back) && back == chunk) << size;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        Bytes damaged = payload;
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        if (decodeEvents(damaged, back)) {
            EXPECT_LE(back.rows.size(), damaged.size());
        }
    }
}

} // namespace strata::wire
