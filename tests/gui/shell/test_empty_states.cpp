// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that lack something: each page says why, and which line of code would change it.
#include "tests/gui/shell/shell_test.h"

using namespace strata;
using namespace strata::views;

namespace {

class EmptyStates : public test::ShellTest {
protected:
    static constexpr const char* kSegments
        = R"([{"device":0,"address":1048576,"total_size":2097152,"allocated_size":1024,"active_size":1024,)"
          R"("requested_size":1000,"stream":0,"segment_type":"small","segment_pool_id":[0,0],"is_expandable":false,"frames":[],)"
          R"("blocks":[{"address":1048576,"size":1024,"requested_size":1000,"state":"active_allocated","frames":[]},)"
          R"({"address":1049600,"size":2096128,"requested_size":0,"state":"inactive","frames":[]}]}])";

    QString snapshot(const char* name, const QByteArray& segments, const QByteArray& traces)
    {
        return file(name, "{\"segments\":" + segments + ",\"device_traces\":" + traces + "}");
    }
    bool pageShows(const char* page, const char* text)
    {
        driver().view().showPage(QLatin1String(page));
        return test::eventually(
            [&] { return test::shows(driver().page<Page>(page), QString::fromUtf8(text)); });
    }
};

TEST_F(EmptyStates, WithoutEvents)
{
    open(snapshot("no_events.json", kSegments, "[[]]"));
    EXPECT_TRUE(pageShows("summary", "No events were recorded, so the peak before it is not known."));
    EXPECT_TRUE(pageShows("summary", "torch.cuda.memory._record_memory_history("));
    EXPECT_TRUE(pageShows("memory", "torch.cuda.memory._record_memory_history("));
    EXPECT_TRUE(pageShows("events", "No events were recorded"));
    EXPECT_TRUE(pageShows("events", "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"));
    EXPECT_TRUE(pageShows("blocks", "1 block"));
}

TEST_F(EmptyStates, WithoutStacks)
{
    open(snapshot("no_stacks.json", kSegments,
        R"([[{"action":"segment_alloc","addr":1048576,"size":2097152,"stream":0,"frames":[],"time_us":1},)"
        R"({"action":"alloc","addr":1048576,"size":1000,"stream":0,"frames":[],"time_us":2}]])"));
    EXPECT_TRUE(pageShows("flame", "No stacks were recorded"));
    EXPECT_TRUE(pageShows("flame", "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"));
    EXPECT_TRUE(pageShows("summary", "No stacks were recorded, so no line of code can be named."));
    EXPECT_TRUE(pageShows("summary", "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"));
}

TEST_F(EmptyStates, InTheListFormOf113)
{
    open(file("list.json", kSegments));
    EXPECT_TRUE(pageShows("summary", "No events were recorded"));
    EXPECT_TRUE(pageShows("memory", "torch.cuda.memory._record_memory_history("));
    EXPECT_TRUE(pageShows("events", "torch.cuda.memory._record_memory_history("));
}

TEST_F(EmptyStates, WithoutADevice)
{
    const QString path = snapshot("nothing.json", "[]", "[[]]");
    window().openFile(path);
    ASSERT_TRUE(test::eventually([&] { return !window().pending(); }));
    ASSERT_TRUE(driver().documents());
    for (const char* page :
        { "summary", "memory", "flame", "leaks", "allocator", "fragmentation", "whatif", "blocks", "events" })
        EXPECT_TRUE(pageShows(page, "_record_memory_history(")) << page;
}

} // namespace
