// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/pictures.h"

#include "model/timeline/layer_order.h"

#include "tests/unit/timeline/traced.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;
using Kind = StackedPicture::Layer::Kind;

struct IndexedCurves {
    explicit IndexedCurves(Traced made)
        : t(std::move(made))
        , clock(t.trace)
        , requested(t.trace, CurveKind::Requested)
        , live(t.trace)
    {
    }

    Traced t;
    Clock clock;
    Curve requested;
    LiveIndex live;
};

std::vector<ColumnWindow> columnWindows(const Clock& clock, std::uint32_t seed)
{
    std::vector<ColumnWindow> made;
    std::mt19937 random(seed);
    for (const Axis axis : { Axis::Events, Axis::Time }) {
        const ColumnWindow whole = wholeTrace(axis, clock, 60);
        made.push_back(whole);
        for (int i = 0; i < 6; ++i) {
            std::uniform_real_distribution<double> any(whole.begin - 3, whole.end + 3);
            const double width = (whole.end - whole.begin) * std::pow(0.2, i);
            const double begin = any(random);
            made.push_back({ whole.axis, begin, begin + width, 1 + 8 * i });
        }
    }
    return made;
}

class PicturesOfRandomTrace : public testing::TestWithParam<RandomCase> { };

TEST_P(PicturesOfRandomTrace, CurveColumnsShowEveryEventOfTheColumn)
{
    const IndexedCurves i(traced(GetParam()));
    for (const ColumnWindow& window : columnWindows(i.clock, 1)) {
        const std::vector<CurveRange> columns = curveColumns(i.requested, i.clock, window);
        ASSERT_EQ(columns.size(), static_cast<std::size_t>(window.columns));
        for (int column = 0; column < window.columns; ++column) {
            const double begin = window.begin + (window.end - window.begin) * column / window.columns;
            const double end = window.begin + (window.end - window.begin) * (column + 1) / window.columns;
            EventIndex carried = -1;
            CurveRange expected;
            bool any = false;
            for (EventIndex e = 0; e < i.t.trace.eventCount(); ++e) {
                const double position = axisPosition(window.axis, i.clock, e);
                if (position < begin)
                    carried = e;
                if (position < begin || position >= end)
                    continue;
                const std::int64_t value = i.requested.at(e);
                if (!any || value > expected.max) {
                    expected.max = value;
                    expected.maxEvent = e;
                }
                expected.min = any ? std::min(expected.min, value) : value;
                any = true;
            }
            if (!any)
                expected = { i.requested.at(carried), i.requested.at(carried), carried };
            ASSERT_EQ(columns[static_cast<std::size_t>(column)].min, expected.min) << "column " << column;
            ASSERT_EQ(columns[static_cast<std::size_t>(column)].max, expected.max) << "column " << column;
            ASSERT_EQ(columns[static_cast<std::size_t>(column)].maxEvent, expected.maxEvent)
                << "column " << column;
        }
    }
}

/// What is live after an event, by layer; groups beyond `shown` are Other.
std::map<std::pair<Kind, std::uint32_t>, std::int64_t> naiveLayers(const DeviceTrace& trace, EventIndex e,
    const GroupTable& groups, const BlockMatcher* filter, const std::set<std::uint32_t>& shown)
{
    std::map<std::pair<Kind, std::uint32_t>, std::int64_t> layers;
    for (const BlockId block : trace.blocks().all()) {
        if (!trace.blocks().liveAt(block, e))
            continue;
        const std::uint32_t group = groups.groupOf(block);
        Kind kind = block.isOlder() ? Kind::BeforeTrace : Kind::Group;
        if (kind == Kind::Group && !shown.contains(group))
            kind = Kind::Other;
        if (filter && !(*filter)(block))
            kind = Kind::FilteredOut;
        layers[{ kind, kind == Kind::Group ? group : 0xffffffffu }] += trace.blocks().requestedBytes[block];
    }
    return layers;
}

/// Labels by the last digits of sizes: of all blocks but the youngest ones.
std::shared_ptr<const BlockLabels> labelsOf(const DeviceTrace& trace)
{
    auto labels = std::make_shared<BlockLabels>();
    labels->names = { "parameter", "buffer", "activation" };
    const auto add = [&](const Column<std::int64_t>& sizes, Column<std::uint32_t>& rows, std::size_t count) {
        for (std::size_t row = 0; row < count; ++row)
            rows.push_back(static_cast<std::uint32_t>(sizes[row] / 512 % 3));
    };
    const BlockColumn<std::int64_t>& bytes = trace.blocks().requestedBytes;
    add(bytes.born, labels->rows.born, trace.blocks().bornCount() / 2);
    add(bytes.older, labels->rows.older, trace.blocks().olderCount());
    return labels;
}

/// Older blocks lie in their groups, and the groups of categories in the order of categories.
TEST_P(PicturesOfRandomTrace, StackedByLabelsHasNoLayerOfOlderBlocks)
{
    const IndexedCurves i(traced(GetParam()));
    const DeviceTrace& trace = i.t.trace;
    const GroupTable groups(trace, Grouping::Category, labelsOf(trace));
    const std::vector<std::uint32_t> order = LayerOrder(trace, i.live, groups).groups();
    std::vector<std::string> names;
    for (const std::uint32_t group : order)
        names.push_back(groups.label(group));
    const std::vector<std::string> fixed{ "parameter", "buffer", "activation", "unknown" };
    auto next = fixed.begin();
    for (const std::string& name : names) {
        next = std::find(next, fixed.end(), name);
        ASSERT_NE(next, fixed.end()) << name << " is out of order";
    }
    for (const ColumnWindow& window : columnWindows(i.clock, 2)) {
        const StackedPicture picture
            = stackedPicture(trace, i.clock, i.requested, i.live, groups, order, nullptr, window, {});
        const auto columns = static_cast<std::size_t>(picture.columns);
        for (std::size_t column = 0; column < columns; ++column) {
            std::map<std::uint32_t, std::int64_t> expected, shown;
            for (const BlockId block : trace.blocks().all())
                if (trace.blocks().liveAt(block, picture.event[column]))
                    expected[groups.groupOf(block)] += trace.blocks().requestedBytes[block];
            for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
                ASSERT_EQ(picture.layers[layer].kind, Kind::Group);
                if (const std::int64_t bytes = picture.bytes[layer * columns + column]; bytes != 0)
                    shown[picture.layers[layer].group] = bytes;
            }
            std::erase_if(expected, [](const auto& entry) { return entry.second == 0; });
            ASSERT_EQ(shown, expected) << "column " << column;
        }
    }
}

TEST_P(PicturesOfRandomTrace, StackedPictureAddsUp)
{
    const IndexedCurves i(traced(GetParam()));
    const DeviceTrace& trace = i.t.trace;
    for (const Grouping grouping : { Grouping::Line, Grouping::Size }) {
        const GroupTable groups(trace, grouping);
        const std::vector<std::uint32_t> order = LayerOrder(trace, i.live, groups).groups();
        BlockFilter large;
        large.minBytes = 4096;
        const BlockMatcher matcher(trace, large);
        for (const BlockMatcher* filter : { static_cast<const BlockMatcher*>(nullptr), &matcher })
            for (const ColumnWindow& window : columnWindows(i.clock, 2)) {
                const StackedPicture picture
                    = stackedPicture(trace, i.clock, i.requested, i.live, groups, order, filter, window, {});
                ASSERT_EQ(picture.columns, window.columns);
                const auto columns = static_cast<std::size_t>(picture.columns);
                ASSERT_EQ(picture.bytes.size(), picture.layers.size() * columns);
                const std::vector<CurveRange> curve = curveColumns(i.requested, i.clock, window);
                std::set<std::uint32_t> shown;
                for (const StackedPicture::Layer& layer : picture.layers)
                    if (layer.kind == Kind::Group)
                        shown.insert(layer.group);
                for (std::size_t column = 0; column < columns; ++column) {
                    ASSERT_EQ(picture.event[column], curve[column].maxEvent);
                    ASSERT_EQ(picture.total[column], curve[column].max);
                    std::int64_t sum = 0;
                    auto expected = naiveLayers(trace, picture.event[column], groups, filter, shown);
                    for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
                        const std::int64_t bytes = picture.bytes[layer * columns + column];
                        sum += bytes;
                        const auto& [group, kind] = picture.layers[layer];
                        ASSERT_EQ(bytes, (expected[{ kind, group }]))
                            << "layer " << layer << " column " << column;
                        expected.erase({ kind, group });
                    }
                    ASSERT_EQ(sum, picture.total[column]) << "column " << column;
                    for (const auto& [key, bytes] : expected)
                        ASSERT_EQ(bytes, 0) << "not shown";
                }
            }
    }
}

TEST_P(PicturesOfRandomTrace, LayersKeepTheirOrder)
{
    const IndexedCurves i(traced(GetParam()));
    const GroupTable groups(i.t.trace, Grouping::Size);
    const std::vector<std::uint32_t> order = LayerOrder(i.t.trace, i.live, groups).groups();
    std::vector<std::uint32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> all(groups.count());
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(sorted, all);

    for (const ColumnWindow& window : columnWindows(i.clock, 3)) {
        const StackedPicture picture
            = stackedPicture(i.t.trace, i.clock, i.requested, i.live, groups, order, nullptr, window, {});
        auto next = order.begin();
        int shown = 0;
        Kind last = Kind::BeforeTrace;
        for (const StackedPicture::Layer& layer : picture.layers) {
            EXPECT_LE(last, layer.kind);
            last = layer.kind;
            if (layer.kind != Kind::Group)
                continue;
            ++shown;
            next = std::find(next, order.end(), layer.group);
            ASSERT_NE(next, order.end());
        }
        EXPECT_LE(shown, kStackedGroups);
    }
}

INSTANTIATE_TEST_SUITE_P(All, PicturesOfRandomTrace, testing::ValuesIn(test::randomCases()),
    [](const auto& each) { return each.param.name; });

TEST(StackedPicture, OfSmallTrace)
{
    const IndexedCurves i(Traced(R"(
        alloc 0x1000 100 stack=f@a.py:1
        alloc 0x2000 200 stack=f@b.py:1
        free_completed 0x9000 50
        alloc 0x3000 400 stack=f@a.py:1
        free_completed 0x2000 200
    )"));
    const GroupTable groups(i.t.trace, Grouping::Line);
    const std::vector<std::uint32_t> order = LayerOrder(i.t.trace, i.live, groups).groups();
    ASSERT_GE(order.size(), 2u);
    EXPECT_EQ(groups.label(order[0]), "a.py:1");
    const StackedPicture picture = stackedPicture(
        i.t.trace, i.clock, i.requested, i.live, groups, order, nullptr, { Axis::Events, -1, 5, 6 }, {});
    ASSERT_EQ(picture.layers.size(), 3u);
    EXPECT_EQ(picture.layers[0].kind, Kind::BeforeTrace);
    EXPECT_EQ(groups.label(picture.layers[1].group), "a.py:1");
    EXPECT_EQ(groups.label(picture.layers[2].group), "b.py:1");
    EXPECT_EQ(picture.total, (std::vector<std::int64_t>{ 50, 150, 350, 300, 700, 500 }));
    EXPECT_EQ(picture.bytes,
        (std::vector<std::int64_t>{
            50, 50, 50, 0, 0, 0, 0, 100, 100, 100, 500, 500, 0, 0, 200, 200, 200, 0 }));
}

TEST(StackedPicture, StopsEmpty)
{
    const IndexedCurves i(Traced("alloc 0x1000 100"));
    const GroupTable groups(i.t.trace, Grouping::Line);
    std::stop_source stop;
    stop.request_stop();
    const StackedPicture picture = stackedPicture(i.t.trace, i.clock, i.requested, i.live, groups, {},
        nullptr, { Axis::Events, -1, 5, 6 }, stop.get_token());
    EXPECT_EQ(picture.columns, 0);
    EXPECT_TRUE(picture.layers.empty());
    EXPECT_TRUE(stackedPicture(
        i.t.trace, i.clock, i.requested, i.live, groups, {}, nullptr, { Axis::Events, 0, 1, 0 }, {})
                    .layers.empty());
}

} // namespace
} // namespace strata::model
