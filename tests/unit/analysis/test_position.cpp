// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/position.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>
#include <string>

namespace strata::model {

using test::Opened;

namespace {

constexpr const char* kTwoOoms = R"(
    alloc 0x1000 512 time=1000000000
    alloc 0x2000 1024 time=1500000000
    oom size=4096 free=100 time=2000000000
    free_requested 0x2000 1024 time=3000000000
    free_completed 0x2000 1024 time=3000000000
    oom size=8192 free=200 time=4000000000
    segment 0x1000 2097152 small
    block 0x1000 512 allocated
)";

/// The event, or "usage: ..." or "not found: ...".
std::string find(const Opened& opened, std::string_view text)
{
    const auto quick = parsePosition(text, opened.trace());
    const auto indexed = parsePosition(text, opened.timeline());
    EXPECT_EQ(quick.has_value(), indexed.has_value()) << text;
    if (!quick)
        return (quick.error().kind == Error::Kind::Usage ? "usage: " : "not found: ") + quick.error().text();
    EXPECT_EQ(*quick, *indexed) << text;
    return std::to_string(*quick);
}

} // namespace

TEST(Position, NamesEvents)
{
    const Opened opened(kTwoOoms);
    EXPECT_EQ(find(opened, "0"), "0");
    EXPECT_EQ(find(opened, "5"), "5");
    EXPECT_EQ(find(opened, "-1"), "-1");
    EXPECT_EQ(find(opened, "peak"), "1");
    EXPECT_EQ(find(opened, "end"), "5");
    EXPECT_EQ(find(opened, "oom"), "5");
    EXPECT_EQ(find(opened, "oom:1"), "2");
    EXPECT_EQ(find(opened, "oom:2"), "5");
    EXPECT_EQ(find(opened, "1,000").substr(0, 31), "usage: there is no event 1000: ")
        << "as Strata prints it";
}

TEST(Position, NamesTimes)
{
    const Opened opened(kTwoOoms);
    EXPECT_EQ(find(opened, "t:0"), "0");
    EXPECT_EQ(find(opened, "t:0.4999"), "0");
    EXPECT_EQ(find(opened, "t:0.5"), "1");
    EXPECT_EQ(find(opened, "t:2"), "4");
    EXPECT_EQ(find(opened, "t:-0.1"), "-1");
    EXPECT_EQ(find(opened, "t:1e6"), "5");
    EXPECT_EQ(find(opened, "us:2000000"), "2");
    EXPECT_EQ(find(opened, "us:999999"), "-1");
}

TEST(Position, SaysWhatIsWrong)
{
    const Opened opened(kTwoOoms);
    for (const char* nonsense : { "", "peaks", "1.5", "0x10", "+1", "--1", "oom:", "oom:0", "oom:-1", "oom:x",
             "t:", "t:nan", "t:inf", "t:1e300", "t:1s", "us:", "us:1.5", "us:99999999999999999999", " 1",
             "1 ", "9223372036854775808", "1,2", "0,001", "," })
        EXPECT_EQ(find(opened, nonsense).substr(0, 6), "usage:") << nonsense;
    EXPECT_EQ(
        find(opened, "6"), "usage: there is no event 6: device 0 has events 0 to 5; -1 is before the first");
    EXPECT_EQ(find(opened, "-2").substr(0, 6), "usage:");
    EXPECT_EQ(find(opened, "oom:3"),
        "not found: no out-of-memory number 3 on device 0: there are 2: give oom:1 to oom:2");
}

TEST(Position, NamesStepsAndTheirRanges)
{
    const Opened opened(R"(
        alloc 0x1000 512 time=100
        alloc 0x2000 1024 time=200
        alloc 0x3000 4096 time=300
        free_requested 0x3000 4096 time=400
        free_completed 0x3000 4096 time=400
        alloc 0x4000 512 time=500
        alloc 0x5000 512 time=600
        annotation start "step 0" time=150 thread=1
        annotation start forward time=160 thread=1
        annotation end forward time=250 thread=1
        annotation start "part of it" time=260 thread=2
        annotation end "part of it" time=270 thread=2
        annotation start "part of it" time=290 thread=1
        annotation end "part of it" time=410 thread=1
        annotation end "step 0" time=450 thread=1
        annotation start "step 1" time=480 thread=1
        annotation end "step 1" time=510 thread=1
        annotation start "step 1" time=590 thread=2
        annotation end "step 1" time=610 thread=2
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
        block 0x2000 1024 allocated
        block 0x4000 512 allocated
        block 0x5000 512 allocated
    )");
    EXPECT_EQ(find(opened, "step 0"), "2") << "its peak";
    EXPECT_EQ(find(opened, "peak of step 0"), "2");
    EXPECT_EQ(find(opened, "start of step 0"), "0") << "steps tile the trace";
    EXPECT_EQ(find(opened, "end of step 0"), "4");
    EXPECT_EQ(find(opened, "forward of step 0"), "1");
    EXPECT_EQ(find(opened, "start of part of it of step 0"), "2") << "of the thread of the step";
    EXPECT_EQ(find(opened, "end of part of it of step 0"), "4");
    EXPECT_EQ(find(opened, "step 1"), "5");
    EXPECT_EQ(find(opened, "step 2"), "6") << "that another thread calls step 1, too";
    EXPECT_EQ(parsePosition("step 1", opened.trace(), PositionUse::From).value(), 5);
    EXPECT_EQ(parsePosition("step 0", opened.timeline(), PositionUse::To).value(), 4);
    EXPECT_EQ(parsePosition("start of step 0", opened.trace(), PositionUse::To).value(), 0);
    EXPECT_EQ(find(opened, "step 1,234"), "not found: there is no step 1234: there are steps 0 to 2");
    EXPECT_EQ(find(opened, "step 7"), "not found: there is no step 7: there are steps 0 to 2");
    EXPECT_EQ(
        find(opened, "backward of step 0").substr(0, 45), "not found: step 0 has no range 'backward': st");
    for (const char* nonsense :
        { "step", "step ", "step x", "step -1x", "step 1:", "step 1:1", "of step 1", "forward" })
        EXPECT_EQ(find(opened, nonsense).substr(0, 6), "usage:") << nonsense;

    const Opened noSteps(
        "alloc 0x1000 512 time=1\nsegment 0x1000 2097152 small\nblock 0x1000 512 allocated\n");
    EXPECT_EQ(find(noSteps, "step 0").substr(0, 32), "not found: nothing tells of step");
}

TEST(Position, KnowsWhatATraceLacks)
{
    const Opened noTimes("alloc 0x1000 512\nsegment 0x1000 2097152 small\nblock 0x1000 512 allocated\n");
    EXPECT_EQ(find(noTimes, "t:0").substr(0, 10), "not found:");
    EXPECT_EQ(find(noTimes, "oom").substr(0, 10), "not found:");

    const Opened noEvents("segment 0x1000 2097152 small\nblock 0x1000 512 allocated\n");
    EXPECT_EQ(find(noEvents, "peak"), "-1");
    EXPECT_EQ(find(noEvents, "-1"), "-1");
    EXPECT_EQ(find(noEvents, "0").substr(0, 6), "usage:");
    EXPECT_EQ(find(noEvents, "us:5").substr(0, 10), "not found:");
}

} // namespace strata::model
