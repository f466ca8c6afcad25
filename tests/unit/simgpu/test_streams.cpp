// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/streams.h"

#include <gtest/gtest.h>

namespace strata::simgpu {
namespace {

TEST(Streams, WorkIsFinishedAtOnce)
{
    Streams streams(0);
    const auto stream = streams.create(0, 0, -1);
    Streams::Event event;
    EXPECT_EQ(streams.record(event, stream), Status::Ok);
    EXPECT_EQ(streams.query(event), Status::Ok);
    EXPECT_EQ(streams.destroy(stream), Status::Ok);
    EXPECT_EQ(streams.record(event, stream), Status::InvalidHandle);
    EXPECT_EQ(streams.destroy(stream), Status::InvalidHandle);
    EXPECT_NE(streams.find(0), nullptr);
}

TEST(Streams, EventsAreLateByANumberOfQueries)
{
    Streams streams(2);
    const auto stream = streams.create(0, 0, 0);
    Streams::Event event;
    ASSERT_EQ(streams.record(event, stream), Status::Ok);
    EXPECT_EQ(streams.query(event), Status::NotReady);
    EXPECT_EQ(streams.query(event), Status::NotReady);
    EXPECT_EQ(streams.query(event), Status::Ok);
}

TEST(Streams, SynchronisingFinishesLateEvents)
{
    Streams streams(100);
    const auto stream = streams.create(0, 0, 0);
    Streams::Event event;
    ASSERT_EQ(streams.record(event, stream), Status::Ok);
    ASSERT_EQ(streams.synchronize(stream), Status::Ok);
    EXPECT_EQ(streams.query(event), Status::Ok);
    ASSERT_EQ(streams.record(event, stream), Status::Ok);
    streams.synchronizeAll();
    EXPECT_EQ(streams.query(event), Status::Ok);
    ASSERT_EQ(streams.record(event, stream), Status::Ok);
    EXPECT_EQ(streams.query(event), Status::NotReady);
    streams.synchronize(event);
    EXPECT_EQ(streams.query(event), Status::Ok);
}

TEST(Streams, ElapsedTimeNeedsRecordedEventsWithTiming)
{
    Streams streams(0);
    Streams::Event a;
    Streams::Event b;
    float milliseconds = -1;
    EXPECT_EQ(streams.elapsed(a, b, milliseconds), Status::InvalidHandle);
    ASSERT_EQ(streams.record(a, 0), Status::Ok);
    ASSERT_EQ(streams.record(b, 0), Status::Ok);
    EXPECT_EQ(streams.elapsed(a, b, milliseconds), Status::Ok);
    EXPECT_GE(milliseconds, 0);
    b.flags = 2;
    EXPECT_EQ(streams.elapsed(a, b, milliseconds), Status::InvalidHandle);
}

class Capturing : public testing::Test {
protected:
    Streams streams{ 0 };
    Streams::StreamHandle main = streams.create(0, 0, 0);
    Streams::StreamHandle side = streams.create(0, 0, 0);
};

TEST_F(Capturing, RecordsInsteadOfRunning)
{
    int ran = 0;
    const auto work = [&] { ++ran; };
    EXPECT_FALSE(streams.append(main, NodeType::Kernel, work));
    ASSERT_EQ(streams.beginCapture(main, nullptr, {}), Status::Ok);
    EXPECT_TRUE(streams.anyCapture());
    EXPECT_TRUE(streams.append(main, NodeType::Kernel, work));
    EXPECT_TRUE(streams.append(main, NodeType::Host, work));
    EXPECT_FALSE(streams.append(side, NodeType::Kernel, work));
    Graph* graph = nullptr;
    ASSERT_EQ(streams.endCapture(main, graph), Status::Ok);
    const std::unique_ptr<Graph> owned(graph);
    EXPECT_FALSE(streams.anyCapture());
    ASSERT_EQ(graph->nodes().size(), 2u);
    EXPECT_EQ(graph->nodes()[1]->dependencies, std::vector<GraphNode*>{ graph->nodes()[0].get() });
    EXPECT_EQ(ran, 0);
    for (const auto& step : graph->program().runs)
        step();
    EXPECT_EQ(ran, 2);
}

TEST_F(Capturing, StreamsJoinByEventsAndMustComeBack)
{
    Streams::Event forked;
    Streams::Event joined;
    ASSERT_EQ(streams.beginCapture(main, nullptr, {}), Status::Ok);
    ASSERT_TRUE(streams.append(main, NodeType::Kernel));
    ASSERT_EQ(streams.record(forked, main), Status::Ok);
    ASSERT_EQ(streams.wait(side, forked), Status::Ok);
    ASSERT_TRUE(streams.append(side, NodeType::Kernel));
    Graph* graph = nullptr;
    EXPECT_EQ(streams.endCapture(side, graph), Status::CaptureUnmatched);
    ASSERT_EQ(streams.record(joined, side), Status::Ok);
    ASSERT_EQ(streams.wait(main, joined), Status::Ok);
    ASSERT_EQ(streams.endCapture(main, graph), Status::Ok);
    const std::unique_ptr<Graph> owned(graph);
    EXPECT_EQ(graph->nodes().size(), 2u);
    EXPECT_FALSE(streams.capture(side));
}

TEST_F(Capturing, UnjoinedWorkIsAnError)
{
    Streams::Event forked;
    ASSERT_EQ(streams.beginCapture(main, nullptr, {}), Status::Ok);
    ASSERT_EQ(streams.record(forked, main), Status::Ok);
    ASSERT_EQ(streams.wait(side, forked), Status::Ok);
    ASSERT_TRUE(streams.append(side, NodeType::Kernel));
    Graph* graph = nullptr;
    EXPECT_EQ(streams.endCapture(main, graph), Status::CaptureUnjoined);
    EXPECT_EQ(graph, nullptr);
}

TEST_F(Capturing, SynchronisingBreaksIt)
{
    ASSERT_EQ(streams.beginCapture(main, nullptr, {}), Status::Ok);
    EXPECT_EQ(streams.beginCapture(main, nullptr, {}), Status::IllegalState);
    EXPECT_EQ(streams.beginCapture(0, nullptr, {}), Status::CaptureUnsupported);
    Streams::Event event;
    ASSERT_EQ(streams.record(event, main), Status::Ok);
    EXPECT_EQ(streams.query(event), Status::CapturedEvent);
    EXPECT_EQ(streams.synchronize(main), Status::CaptureUnsupported);
    Graph* graph = nullptr;
    EXPECT_EQ(streams.endCapture(main, graph), Status::CaptureInvalidated);
    EXPECT_EQ(streams.query(event), Status::Ok);
    EXPECT_EQ(streams.endCapture(main, graph), Status::IllegalState);
}

TEST(UserObjects, LiveAsLongAsGraphsHoldThem)
{
    int destroyed = 0;
    auto* object = new UserObject(
        &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1);
    auto graph = std::make_unique<Graph>();
    graph->hold(*object, 1);
    auto exec = std::make_unique<GraphExec>();
    graph->shareObjects(exec->objects);
    graph.reset();
    EXPECT_EQ(destroyed, 0);
    exec.reset();
    EXPECT_EQ(destroyed, 1);
}

} // namespace
} // namespace strata::simgpu
