// SPDX-License-Identifier: GPL-3.0-or-later
// A session whose older events go while it grows, against a cut of all of it.
#include "model/live/thin.h"

#include "model/session/cut.h"
#include "model/session/save.h"
#include "model/timeline/device_timeline.h"
#include "model/trace/earlier_curves.h"
#include "model/trace/frames.h"
#include "tests/support/grow.h"
#include "tests/support/little_chunks.h"
#include "tests/support/random_recording.h"
#include "tests/support/session_text.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace strata::model {
namespace {

std::shared_ptr<const Session> opened(std::unique_ptr<Recording> recording)
{
    auto session = Session::fromRecording(std::move(recording));
    EXPECT_TRUE(session);
    return session ? *session : nullptr;
}

wire::Bytes bytesOf(const Recording& recording)
{
    wire::MemorySink sink;
    EXPECT_TRUE(writeSession(recording, sink));
    return sink.bytes();
}

std::string stackText(const Recording& recording, StackId stack)
{
    std::string text;
    if (stack.valid())
        for (const FrameId frame : recording.stacks.stack(stack))
            text += frameLabel(recording, frame) + "\n";
    return text;
}

/// The states that devices begin with may come behind the first events.
bool basesCame(const Session& so, const Session& whole)
{
    return std::ranges::all_of(whole.recording().devices, [&](const DeviceRecording& device) {
        const DeviceRecording* const known = so.recording().find(device.device);
        return known && known->base.segments.size() == device.base.segments.size();
    });
}

/// Least and most of the curve after events first..last, one by one.
std::pair<std::int64_t, std::int64_t> naive(const Curve& curve, std::int64_t first, std::int64_t count)
{
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    for (std::int64_t e = first; e < first + count; ++e) {
        least = std::min(least, curve.at(e));
        most = std::max(most, curve.at(e));
    }
    return { least, most };
}

class Thinning : public testing::TestWithParam<std::uint32_t> { };

TEST_P(Thinning, WhatIsLeftIsTheNewestPartAndTheCurvesOfTheRest)
{
    std::mt19937 random(GetParam());
    test::RandomTrace options;
    options.seed = GetParam();
    options.devices = 1 + static_cast<int>(GetParam() % 3);
    options.events = 400 + static_cast<int>(random() % 1200);
    options.streams = 1 + static_cast<int>(random() % 3);
    options.deferredFrees = GetParam() % 2 == 0 ? 0 : 0.1;
    options.privatePools = GetParam() % 3 == 0 ? 0.2 : 0;
    options.outOfMemory = 0.01;
    options.expandable = GetParam() % 4 == 1;
    options.times = GetParam() % 5 != 0;
    const auto recording = test::withBase(test::randomRecording(options));
    const wire::Bytes stream = test::inLittleChunks(bytesOf(*recording), GetParam());
    const auto whole = opened(test::withBase(test::randomRecording(options)));

    SessionStream follower;
    std::map<int, std::int64_t> left;
    int thinned = 0;
    for (std::size_t at = 0; at < stream.size();) {
        const std::size_t piece = std::min<std::size_t>(1 + random() % 500, stream.size() - at);
        ASSERT_TRUE(follower.feed(std::span(stream).subspan(at, piece)));
        at += piece;
        ASSERT_TRUE(follower.publish());
        if (random() % 4 != 0 || !basesCame(*follower.latest(), *whole))
            continue;
        SessionPart part = newestOf(*follower.latest(), static_cast<std::int64_t>(random() % 600));
        for (const auto& [device, events] : part.left)
            left[device] += static_cast<std::int64_t>(events);
        follower.goOnFrom(std::move(part));
        ASSERT_TRUE(follower.publish());
        ++thinned;
    }
    ASSERT_TRUE(follower.finish());
    const auto end = follower.publish();
    ASSERT_TRUE(end);
    ASSERT_GT(thinned, 0);

    CutOptions cutting;
    for (const DeviceTrace& trace : whole->devices())
        cutting.spans[trace.device()] = { left[trace.device()], std::numeric_limits<EventIndex>::max() };
    const auto expected = opened(std::move(cut(*whole, cutting).recording));
    ASSERT_EQ((*end)->devices().size(), expected->devices().size());
    const auto* const curves = (*end)->recording().parts.find<EarlierCurves>();
    ASSERT_NE(curves, nullptr);
    for (const DeviceTrace& trace : (*end)->devices()) {
        const int device = trace.device();
        SCOPED_TRACE(device);
        const DeviceTrace& other = *expected->find(device);
        ASSERT_EQ(trace.eventCount(), other.eventCount());
        for (EventIndex e = 0; e < trace.eventCount(); ++e) {
            const auto row = static_cast<std::size_t>(e);
            ASSERT_EQ(trace.events().action[row], other.events().action[row]) << e;
            ASSERT_EQ(trace.events().address[row], other.events().address[row]) << e;
            ASSERT_EQ(trace.events().bytes[row], other.events().bytes[row]) << e;
            ASSERT_EQ(stackText((*end)->recording(), trace.events().stack[row]),
                stackText(expected->recording(), other.events().stack[row]))
                << e;
        }
        const DeviceTimeline is(trace), was(other);
        for (EventIndex e = -1; e < trace.eventCount(); ++e) {
            ASSERT_EQ(is.requested().at(e), was.requested().at(e)) << e;
            ASSERT_EQ(is.reserved().at(e), was.reserved().at(e)) << e;
            ASSERT_EQ(is.pendingFree().at(e), was.pendingFree().at(e)) << e;
        }
        EXPECT_EQ(trace.totals().requestedBytesEnd, other.totals().requestedBytesEnd);
        EXPECT_EQ(trace.totals().allocatedBytesEnd, other.totals().allocatedBytesEnd);
        EXPECT_EQ(trace.totals().reservedBytesStart, other.totals().reservedBytesStart);
        EXPECT_EQ(trace.findings().size(), other.findings().size());
        const auto cuts = (*end)->recording().cuts.find(device);
        EXPECT_EQ(cuts == (*end)->recording().cuts.end() ? 0 : cuts->second.before, left[device]);

        const DeviceTimeline all(*whole->find(device));
        std::int64_t next = 0;
        const auto found = curves->byDevice.find(device);
        if (found != curves->byDevice.end())
            for (const EarlierStretch& stretch : found->second) {
                ASSERT_EQ(stretch.firstEvent, next);
                ASSERT_GT(stretch.events, 0);
                next += stretch.events;
                const auto [asked, askedMost] = naive(all.requested(), stretch.firstEvent, stretch.events);
                ASSERT_EQ(stretch.requestedMin, asked);
                ASSERT_EQ(stretch.requestedMax, askedMost);
                const auto [held, heldMost] = naive(all.reserved(), stretch.firstEvent, stretch.events);
                ASSERT_EQ(stretch.reservedMin, held);
                ASSERT_EQ(stretch.reservedMax, heldMost);
            }
        EXPECT_EQ(next, left[device]);
    }

    // What is saved of it has the same, curves included.
    const auto again = opened([&] {
        auto read = std::make_unique<SessionStream>();
        EXPECT_TRUE(read->feed(bytesOf((*end)->recording())));
        EXPECT_TRUE(read->publish());
        return std::make_unique<Recording>(read->latest()->recording());
    }());
    const auto* const read = again->recording().parts.find<EarlierCurves>();
    EXPECT_EQ(read ? read->byDevice : EarlierCurves().byDevice, curves->byDevice);
}

INSTANTIATE_TEST_SUITE_P(Random, Thinning, testing::Range(1u, 41u));

/// What `strata check` says of what is not there.
std::string cutNote(const Session& session)
{
    for (const Finding& finding : session.find(0)->findings())
        if (finding.check == Check::Cut)
            return finding.cause.text();
    return {};
}

TEST(ThinnedSession, SaysWhatIsNotInIt)
{
    test::RandomTrace options;
    options.events = 2'000;
    SessionStream follower;
    const auto recording = test::withBase(test::randomRecording(options));
    ASSERT_TRUE(follower.feed(bytesOf(*recording)));
    ASSERT_TRUE(follower.publish());
    SessionPart part = newestOf(*follower.latest(), 500);
    const auto left = static_cast<std::int64_t>(part.left.at(0));
    ASSERT_EQ(left + 500, follower.latest()->find(0)->eventCount());
    follower.goOnFrom(std::move(part));
    ASSERT_TRUE(follower.publish());
    const std::string note = cutNote(*follower.latest());
    EXPECT_EQ(note.find("1,000 events before were watched and are not in it, but for their curves"), 0u)
        << note;
    EXPECT_EQ(note.find("more are not in it either"), note.npos) << note;
    // Of a part of it that is shared: the curves are not of what was left out then.
    const auto shared
        = opened(std::move(cut(*follower.latest(), { { { 0, { 100, 499 } } }, {}, nullptr }).recording));
    EXPECT_NE(cutNote(*shared).find("100 more are not in it either"), note.npos) << cutNote(*shared);
}

TEST(EarlierCurves, AreBoundedAndStayExact)
{
    EarlierCurves curves;
    for (int i = 0; i < 100'000; ++i)
        curves.add(0, { i, 1, 1'000 + i, 0, i % 977, i % 1009, i % 17, 20 + i % 19 });
    const auto& all = curves.byDevice[0];
    EXPECT_LE(all.size(), EarlierCurves::kMost);
    std::int64_t next = 0;
    for (const EarlierStretch& stretch : all) {
        ASSERT_EQ(stretch.firstEvent, next);
        std::int64_t least = INT64_MAX, most = 0;
        for (std::int64_t i = next; i < next + stretch.events; ++i) {
            least = std::min(least, i % 977);
            most = std::max(most, i % 1009);
        }
        ASSERT_EQ(stretch.requestedMin, least);
        ASSERT_EQ(stretch.requestedMax, most);
        next += stretch.events;
    }
    EXPECT_EQ(next, 100'000);
    const EarlierStretch whole = wholeOf(all);
    EXPECT_EQ(whole.events, 100'000);
    EXPECT_EQ(whole.requestedMax, 1008);
    EXPECT_EQ(whole.durationNs, 99'999);
}

} // namespace
} // namespace strata::model
