// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/driver_track.h"
#include "model/wire/events_codec.h"

#include <array>
#include <gtest/gtest.h>

namespace strata::agent {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr auto kMap = static_cast<std::uint8_t>(wire::EventAction::SegmentMap);
constexpr auto kFree = static_cast<std::uint8_t>(wire::EventAction::SegmentFree);
constexpr auto kAlloc = static_cast<std::uint8_t>(wire::EventAction::Alloc);

/// A driver that says what a test sets.
class DriverTrackTest : public testing::Test {
protected:
    DriverTrack track(bool followed = true)
    {
        return { [this](int device) {
                    ++m_reads;
                    return m_says[static_cast<std::size_t>(device)];
                },
            m_says.size(), followed };
    }

    std::array<std::optional<driver::Reading>, 2> m_says{ driver::Reading{ 900, 700 }, std::nullopt };
    int m_reads = 0;
};

TEST_F(DriverTrackTest, SetsWhatIsReservedBesideWhatTheDriverSays)
{
    DriverTrack one = track();
    one.onBase(0, 100);
    one.onEvent(0, kMap, 50);
    one.onEvent(0, kAlloc, 7);
    one.onEvent(0, kFree, 30);
    one.look(0, false, false);
    EXPECT_TRUE(one.take().empty()); // it does not count before the ring was looked into again
    one.look(kSecond / 100, false, false);
    EXPECT_EQ(one.take(), (std::vector<wire::DriverRow>{ { 0, 3, 0, 900, 700, 120 } }));
    EXPECT_EQ(m_reads, 1);
}

TEST_F(DriverTrackTest, ForgetsAReadingWhileMemoryMoves)
{
    DriverTrack one = track();
    one.onBase(0, 0);
    one.onEvent(0, kMap, 50);
    one.look(0, false, false);
    one.onEvent(0, kMap, 50);
    one.look(10, false, false);
    EXPECT_TRUE(one.take().empty());
    m_says[0] = { { 1000, 800 } };
    one.look(kSecond / 5, false, false); // again before its time
    one.onEvent(0, kAlloc, 9); // which moves nothing
    one.look(kSecond / 5 + 1, false, false);
    EXPECT_EQ(one.take(), (std::vector<wire::DriverRow>{ { 0, 2, kSecond / 5, 1000, 800, 100 } }));
}

TEST_F(DriverTrackTest, LeavesOutWhatDidNotChange)
{
    DriverTrack one = track();
    one.onBase(0, 10);
    for (int second = 0; second < 5; ++second)
        one.look(second * kSecond, false, false);
    EXPECT_EQ(m_reads, 5);
    EXPECT_EQ(one.take().size(), 1u);
    m_says[0]->usedBytes = 901;
    one.look(5 * kSecond, false, true);
    EXPECT_EQ(one.take().size(), 1u); // the last look need not wait for another
}

TEST_F(DriverTrackTest, KnowsNothingReservedOnceEventsAreLost)
{
    DriverTrack one = track();
    one.onBase(0, 10);
    one.onLost(0);
    one.look(0, true, true);
    EXPECT_EQ(one.take(), (std::vector<wire::DriverRow>{ { 0, 0, 0, 900, 700, -1 } }));
}

TEST_F(DriverTrackTest, AsksNotForDevicesThatAreNotUsed)
{
    DriverTrack one = track();
    one.onBase(0, 0);
    one.look(0, false, true);
    EXPECT_EQ(m_reads, 0);
    // Where nobody tells events, the driver says which are used.
    m_says[1] = { { 500, 0 } };
    DriverTrack totals = track(false);
    totals.look(0, false, true);
    EXPECT_EQ(totals.take(), (std::vector<wire::DriverRow>{ { 0, 0, 0, 900, 700, -1 } }));
}

TEST_F(DriverTrackTest, IsSilentWithoutADriver)
{
    DriverTrack none({}, 2, true);
    none.onBase(0, 10);
    none.look(0, true, true);
    EXPECT_TRUE(none.take().empty());
}

} // namespace

} // namespace strata::agent
