// SPDX-License-Identifier: GPL-3.0-or-later
// Self times of operators, against looking at each nanosecond.
#include "model/analysis/work/device/launchers.h"
#include "model/analysis/work/self_times.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace strata::model {

namespace {

struct Row {
    LaneIndex lane;
    std::int64_t begin, end;
    WorkKind kind = WorkKind::Operator;
};

Work workOf(const std::vector<Row>& rows)
{
    Work work;
    work.lanes.resize(3);
    for (const Row& row : rows) {
        WorkSpan span;
        span.lane = row.lane;
        span.startNs = row.begin;
        span.durationNs = row.end - row.begin;
        span.kind = row.kind;
        work.spans.push_back(span);
    }
    return work;
}

/// By row of the work.
std::vector<std::int64_t> selfTimesIn(const Work& work)
{
    const std::vector<std::uint32_t> nested = nestedCallsOf(work);
    const std::vector<std::int64_t> times = selfTimesOf(work, nested);
    std::vector<std::int64_t> byRow(work.spans.size(), -1);
    for (std::size_t i = 0; i < nested.size(); ++i)
        byRow[nested[i]] = times[i];
    return byRow;
}

/// Each nanosecond is of who began last, of equal ones the last in their order.
std::vector<std::int64_t> slowTimesOf(const Work& work)
{
    std::vector<std::int64_t> byRow(work.spans.size());
    for (LaneIndex lane = 0; lane < work.lanes.size(); ++lane)
        for (std::int64_t ns = 0; ns < 200; ++ns) {
            std::optional<std::uint32_t> last;
            for (const std::uint32_t row : nestedCallsOf(work))
                if (const WorkSpan& span = work.spans[row];
                    span.lane == lane && span.startNs <= ns && ns < span.endNs())
                    last = row;
            if (last)
                ++byRow[*last];
        }
    return byRow;
}

using Times = std::vector<std::int64_t>;

TEST(SelfTimesTest, OfNestedRowsAreLessWhatTheyCall)
{
    const WorkKind call = WorkKind::Runtime;
    EXPECT_EQ(selfTimesIn(
                  workOf({ { 0, 0, 100 }, { 0, 10, 40 }, { 0, 20, 30, call }, { 0, 50, 70 }, { 1, 0, 5 } })),
        (Times{ 50, 20, 10, 20, 5 }));
}

TEST(SelfTimesTest, OfRowsThatOverlapInPartTheLaterOneHasWhatTheyShare)
{
    EXPECT_EQ(selfTimesIn(workOf({ { 0, 0, 100 }, { 0, 50, 150 } })), (Times{ 50, 100 }));
    EXPECT_EQ(selfTimesIn(workOf({ { 0, 0, 100 }, { 0, 50, 150 }, { 0, 120, 180 } })), (Times{ 50, 70, 60 }));
    // The second has ended when the third does, and the first goes on.
    EXPECT_EQ(selfTimesIn(workOf({ { 0, 0, 100 }, { 0, 50, 60 }, { 0, 55, 95 } })), (Times{ 55, 5, 40 }));
    EXPECT_EQ(selfTimesIn(workOf({ { 0, 0, 100 }, { 0, 90, 130, WorkKind::Runtime } })), (Times{ 90, 40 }));
}

TEST(SelfTimesTest, AddUpToTheUnionWhateverOverlaps)
{
    std::mt19937 draw(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<Row> rows;
        for (int i = 0; i < 12; ++i) {
            const auto begin = static_cast<std::int64_t>(draw() % 150);
            rows.push_back(
                { static_cast<LaneIndex>(draw() % 3), begin, begin + static_cast<std::int64_t>(draw() % 50),
                    draw() % 3 == 0 ? WorkKind::Runtime : WorkKind::Operator });
        }
        const Work work = workOf(rows);
        EXPECT_EQ(selfTimesIn(work), slowTimesOf(work)) << "round " << round;
    }
}

} // namespace

} // namespace strata::model
