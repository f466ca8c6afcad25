// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/outside_memory.h"
#include "model/trace/driver_allocations.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace strata::model {

namespace {

using Kind = wire::DriverMemoryKind;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint64_t kA = 0x7f0000000000, kB = 0x7f0000200000;

class OutsideMemoryTest : public testing::Test {
protected:
    OutsideMemoryTest() { recording.devices.emplace_back(); }

    void driver(bool isRelease, std::uint64_t address, std::uint64_t bytes, std::int64_t atMs,
        Kind kind = Kind::Device, std::int32_t device = 0)
    {
        recording.parts.get<DriverAllocations>().rows.push_back(
            { isRelease, kind, device, address, bytes, atMs * kMs, 0 });
    }
    void allocate(std::uint64_t address, std::uint64_t bytes, std::int64_t atMs, Kind kind = Kind::Device,
        std::int32_t device = 0)
    {
        driver(false, address, bytes, atMs, kind, device);
    }
    void release(std::uint64_t address, std::int64_t atMs) { driver(true, address, 512, atMs); }
    /// Of PyTorch.
    void segment(std::uint64_t address, std::int64_t atNs)
    {
        EventColumns& events = recording.devices[0].events;
        events.action.push_back(Action::SegmentAlloc);
        events.address.push_back(address);
        events.bytes.push_back(1);
        events.timeNs.push_back(atNs);
    }
    [[nodiscard]] OutsideMemory of(int device = 0) const
    {
        for (const OutsideMemory& each : outsideMemoryOf(recording))
            if (each.device == device)
                return each;
        return {};
    }

    Recording recording;
};

TEST_F(OutsideMemoryTest, NothingIsToldWhereTheDriverTellsNothing)
{
    EXPECT_TRUE(outsideMemoryOf(recording).empty());
    allocate(kA, 100, 1, Kind::Pinned); // of the host
    EXPECT_TRUE(outsideMemoryOf(recording).empty());
}

TEST_F(OutsideMemoryTest, SegmentsAreNotOutside)
{
    allocate(kA, 2 << 20, 10);
    segment(kA, 10 * kMs + 10'000);
    allocate(kB, 300, 20);
    release(kB, 30);
    allocate(kB, 200, 40);
    const OutsideMemory outside = of();
    EXPECT_EQ(outside.allocations, 3);
    EXPECT_EQ(outside.segments, 1);
    EXPECT_EQ(outside.outside(), 2);
    EXPECT_EQ(outside.releases, 1);
    EXPECT_EQ(outside.releasedOutside, 1);
    EXPECT_EQ(outside.peakBytes, 300);
    EXPECT_EQ(outside.peakNs, 20 * kMs);
    EXPECT_EQ(outside.endBytes, 200);
    EXPECT_FALSE(outside.mayBeSegments);
    const auto said = sayOutsideMemory(outsideMemoryOf(recording));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].text(),
        "Beside PyTorch the driver handed out memory of GPU 0 in 2 allocations, at most 300 B at once; 200 B "
        "of it was not released by the end.");
}

TEST_F(OutsideMemoryTest, AnAddressMayBePyTorchsAtOneTimeAndOutsideAtAnother)
{
    allocate(kA, 100, 10);
    release(kA, 20);
    allocate(kA, 2 << 20, 30);
    segment(kA, 30 * kMs + 10'000);
    release(kA, 40);
    allocate(kA, 70, 50);
    const OutsideMemory outside = of();
    EXPECT_EQ(outside.segments, 1);
    EXPECT_EQ(outside.outside(), 2);
    EXPECT_EQ(outside.releases, 2);
    EXPECT_EQ(outside.releasedOutside, 1);
    EXPECT_EQ(outside.peakBytes, 100);
    EXPECT_EQ(outside.endBytes, 70);
    EXPECT_EQ(outside.olderBytes, 0);
}

TEST_F(OutsideMemoryTest, TheClockMayErr)
{
    allocate(kA, 100, 10);
    release(kA, 20);
    allocate(kA, 2 << 20, 30);
    segment(kA, 30 * kMs - 900'000); // seems to come before the call that made it, and behind the release
    EXPECT_EQ(of().segments, 1);
    EXPECT_EQ(of().endBytes, 0);
    EXPECT_EQ(of().peakBytes, 100);
    recording.devices[0].events.timeNs = { 28 * kMs }; // that it does not
    EXPECT_EQ(of().segments, 0);
    EXPECT_EQ(of().endBytes, 2 << 20);
}

TEST_F(OutsideMemoryTest, WhatWasThereBeforeIsOutsideUnlessASegmentWas)
{
    FinalSegment old;
    old.address = kA;
    recording.devices[0].base.segments = { old };
    release(kA, 10);
    release(kB, 11);
    release(kB, 12); // of nothing that can be there
    const OutsideMemory outside = of();
    EXPECT_EQ(outside.allocations, 0);
    EXPECT_EQ(outside.releases, 3);
    EXPECT_EQ(outside.releasedOutside, 0);
    EXPECT_EQ(outside.olderBytes, 512);
    EXPECT_EQ(outside.endBytes, 0);
    EXPECT_FALSE(outside.peakNs);
    EXPECT_TRUE(sayOutsideMemory(outsideMemoryOf(recording)).empty());
}

TEST_F(OutsideMemoryTest, WhatIsMadeWhereSomethingLiesTakesItsPlace)
{
    allocate(kA, 100, 10); // whose release was not seen
    allocate(kA, 60, 20);
    EXPECT_EQ(of().peakBytes, 100);
    EXPECT_EQ(of().endBytes, 60);
}

TEST_F(OutsideMemoryTest, WithEventsMissingItSaysSo)
{
    allocate(kA, 100, 10);
    recording.lost.push_back({ 1, 0, 5 }); // of another device
    EXPECT_FALSE(of().mayBeSegments);
    recording.lost.push_back({ 0, 0, 5 });
    EXPECT_TRUE(of().mayBeSegments);
    EXPECT_EQ(sayOutsideMemory(outsideMemoryOf(recording)).size(), 2u);
}

TEST_F(OutsideMemoryTest, DevicesAreTheirOwn)
{
    allocate(kA, 100, 10, Kind::Managed, 1);
    allocate(kA, 50, 11);
    segment(kA, 11 * kMs + 10'000);
    EXPECT_EQ(of(0).segments, 1);
    EXPECT_EQ(of(0).peakBytes, 0);
    EXPECT_EQ(of(1).outside(), 1);
    EXPECT_EQ(of(1).peakBytes, 100);
}

/// A driver and an allocator that do as they please, counted as they go; the file has the rows in any order.
TEST_F(OutsideMemoryTest, AgreesWithWhatWasDone)
{
    std::mt19937 random(16);
    for (int round = 0; round < 100; ++round) {
        recording = {};
        recording.devices.emplace_back();
        struct Held {
            std::int64_t bytes;
            bool isSegment;
        };
        std::map<std::uint64_t, Held> held;
        OutsideMemory wanted;
        std::int64_t bytes = 0;
        for (std::int64_t atMs = 1; atMs < 300; ++atMs) {
            const std::uint64_t address = kA + (random() % 6) * 4096;
            if (const auto there = held.find(address); there != held.end()) {
                release(address, atMs);
                ++wanted.releases;
                if (!there->second.isSegment) {
                    ++wanted.releasedOutside;
                    bytes -= there->second.bytes;
                }
                held.erase(there);
                continue;
            }
            const Held made{ static_cast<std::int64_t>(random() % 1000 + 1), random() % 2 == 0 };
            allocate(address, static_cast<std::uint64_t>(made.bytes), atMs);
            ++wanted.allocations;
            held[address] = made;
            if (made.isSegment) {
                segment(address, atMs * kMs + 10'000);
                ++wanted.segments;
            } else if ((bytes += made.bytes) > wanted.peakBytes) {
                wanted.peakBytes = bytes;
                wanted.peakNs = atMs * kMs;
            }
        }
        auto& rows = recording.parts.get<DriverAllocations>().rows;
        std::vector<wire::DriverAllocationRow> shuffled(rows.begin(), rows.end());
        std::ranges::shuffle(shuffled, random);
        rows = {};
        for (const wire::DriverAllocationRow& row : shuffled)
            rows.push_back(row);
        const OutsideMemory found = of();
        EXPECT_EQ(found.allocations, wanted.allocations);
        EXPECT_EQ(found.segments, wanted.segments);
        EXPECT_EQ(found.releases, wanted.releases);
        EXPECT_EQ(found.releasedOutside, wanted.releasedOutside);
        EXPECT_EQ(found.peakBytes, wanted.peakBytes);
        EXPECT_EQ(found.peakNs, wanted.peakNs);
        EXPECT_EQ(found.endBytes, bytes);
    }
}

} // namespace

} // namespace strata::model
