// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/dryrun/observed_steps.h"
#include "capture/dryrun/operator_counts.h"

#include <gtest/gtest.h>

using namespace strata::dryrun;

namespace {

std::vector<int> observed(int wanted, int steps)
{
    std::vector<int> all;
    for (int step = 0; step <= steps; ++step) {
        if (ObservedSteps(wanted).isObserved(step))
            all.push_back(step);
    }
    return all;
}

TEST(ObservedSteps, TheLastOfThoseAskedForIs)
{
    EXPECT_EQ(observed(1, 9), (std::vector<int>{ 0, 1 }));
    EXPECT_EQ(observed(2, 2), (std::vector<int>{ 0, 2 }));
    EXPECT_EQ(observed(3, 3), (std::vector<int>{ 0, 1, 3 }));
    EXPECT_EQ(observed(4, 4), (std::vector<int>{ 0, 2, 4 }));
    EXPECT_EQ(observed(10, 10), (std::vector<int>{ 0, 2, 10 }));
    EXPECT_EQ(observed(100, 100), (std::vector<int>{ 0, 2, 16, 64, 100 }));
}

TEST(ObservedSteps, OfALongProgramFewAre)
{
    EXPECT_EQ(observed(0, 1100), (std::vector<int>{ 0, 1, 2, 4, 16, 64, 256, 1024 }));
    EXPECT_EQ(observed(0, 8), (std::vector<int>{ 0, 1, 2, 4 }));
}

TEST(ObservedSteps, TheFirstIsTimedWhereThereIsNoOther)
{
    ObservedSteps steps(3);
    EXPECT_FALSE(steps.medianNs());
    EXPECT_EQ(steps.timed(), 0);
    steps.took(1, 900);
    EXPECT_EQ(steps.medianNs(), 900);
    steps.took(2, 30);
    EXPECT_EQ(steps.medianNs(), 30);
    for (const int ns : { 10, 20, 5000 })
        steps.took(3, ns);
    EXPECT_EQ(steps.medianNs(), 20);
    EXPECT_EQ(steps.timed(), 4);
}

TEST(OperatorCounts, TheSameInputsAreOneRow)
{
    OperatorCounts counts;
    EXPECT_TRUE(counts.empty());
    counts.add("aten::mm", "\"Input Dims\": [[2, 3], [3, 4]]", 1);
    counts.add("aten::add", "", 1);
    counts.add("aten::mm", "\"Input Dims\": [[2, 3], [3, 4]]", 2);
    counts.add("aten::mm", "\"Input Dims\": [[9, 3], [3, 4]]", 1);
    counts.addLaunches(7);
    EXPECT_EQ(counts.json(),
        "\"launches\": 7, \"operators\": [\n"
        "{\"name\": \"aten::add\", \"calls\": 1, \"launches\": 1},\n"
        "{\"name\": \"aten::mm\", \"Input Dims\": [[2, 3], [3, 4]], \"calls\": 2, \"launches\": 3},\n"
        "{\"name\": \"aten::mm\", \"Input Dims\": [[9, 3], [3, 4]], \"calls\": 1, \"launches\": 1}], "
        "\"collectives\": []");
}

TEST(OperatorCounts, TwoAddUp)
{
    OperatorCounts one, other;
    one.add("a", "", 1);
    one.addLaunches(1);
    one.addCollective("AllReduce_Sum_f32", { 1, 100 });
    other.add("a", "", 2);
    other.addLaunches(3);
    other.addCollective("AllReduce_Sum_f32", { 2, 50 });
    one.add(other);
    EXPECT_EQ(one.launches(), 4u);
    EXPECT_EQ(one.json(),
        "\"launches\": 4, \"operators\": [\n{\"name\": \"a\", \"calls\": 2, \"launches\": 3}], "
        "\"collectives\": [{\"name\": \"AllReduce_Sum_f32\", \"calls\": 3, \"bytes\": 150}]");
}

TEST(OperatorCounts, NamesOfProgramsStayText)
{
    OperatorCounts counts;
    counts.add("my\"op\\\n", "", 1);
    EXPECT_NE(counts.json().find("{\"name\": \"my\\\"op\\\\ \""), std::string::npos);
}

} // namespace
