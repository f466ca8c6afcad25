// SPDX-License-Identifier: GPL-3.0-or-later
// What is painted, of which no text says the figures: flame graphs, maps and curves, and what the search
// finds.
#include "tests/gui/figures/agreement_test.h"
#include "views/contents/search/search_box.h"
#include "views/contents/search/search_list.h"
#include "views/contents/search/search_palette.h"
#include "views/models/whatif/what_if_curves.h"
#include "views/pages/allocator/allocator_page.h"
#include "views/pages/allocator/fragmentation_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/style/texts.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/whatif/run_chart.h"

#include <set>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;
using PicturesAgree = test::AgreementTest;

TEST_P(PicturesAgree, InFlameGraphs)
{
    auto& page = driver().shown<FlamePage>("flame");
    for (const model::Grouping by : { model::Grouping::Line, model::Grouping::Category }) {
        page.setByLine(by == model::Grouping::Line);
        if (by != model::Grouping::Line)
            page.setRoots(by);
        for (const model::EventIndex event : instants()) {
            SCOPED_TRACE(event);
            select(event);
            const Json& told = ask(page.commandLine()).head();
            const FlameTree& tree = *page.graph().tree();
            std::multiset<std::pair<std::int64_t, std::int64_t>> roots, want; // bytes and blocks of each
            for (const FlameTree::Node node : tree.children(0))
                roots.emplace(tree.total(node), tree.blocks(node));
            for (const Json& group : told["groups"])
                want.emplace(group["bytes"].get<std::int64_t>(), group["blocks"].get<std::int64_t>());
            if (by == model::Grouping::Line) { // modules lie between others and their blocks
                EXPECT_EQ(roots, want);
            }
            EXPECT_EQ(tree.total(0), told["requested_bytes"].get<std::int64_t>());
            EXPECT_EQ(tree.blocks(0), told["blocks"].get<std::int64_t>());
        }
    }
}

TEST_P(PicturesAgree, InFlameGraphsOfARange)
{
    auto& page = driver().shown<FlamePage>("flame");
    const model::EventIndex from = trace().eventCount() / 4, to = trace().eventCount() / 4 * 3;
    std::map<model::TreeCost, std::int64_t> sums{ { model::TreeCost::Count, 0 },
        { model::TreeCost::Leaked, 0 }, { model::TreeCost::Temporary, 0 } };
    for (const Json& block : ask("blocks", ofDevice()).lines) {
        const auto event
            = [&](const char* key) { return block[key].is_null() ? -1 : block[key].get<std::int64_t>(); };
        if (!block.contains("block") || event("alloc_event") < from || event("alloc_event") > to)
            continue;
        const std::int64_t freed = event("free_completed_event");
        ++sums[model::TreeCost::Count];
        if (freed <= to) // those that go later are neither
            sums[freed < 0 ? model::TreeCost::Leaked : model::TreeCost::Temporary]
                += block["requested_bytes"].get<std::int64_t>();
    }
    driver().state().select(EventRange{ from, to });
    for (const auto& [cost, sum] : sums) {
        page.setCost(cost);
        settle();
        EXPECT_EQ(page.graph().tree()->total(0), sum) << static_cast<int>(cost);
    }
}

TEST_P(PicturesAgree, InTheAddressMapAndOverTime)
{
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        select(event);
        const auto& page = driver().shown<AllocatorPage>("allocator");
        const auto& map = page.map().picture()->map;
        std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::string>>> shown,
            want; // of segments
        for (const model::MapSegment& segment : map.segments)
            for (const model::MapBlock& block : map.blocksOf(segment))
                shown[segment.address].emplace_back(block.address, model::stateName(block));
        for (const Json& segment : ask(page.commandLine()).head()["segments"])
            for (const Json& block : segment["blocks"])
                want[segment["address"]].emplace_back(block["address"], block["state"]);
        EXPECT_EQ(shown, want);
    }
    const auto samples = driver().shown<FragmentationPage>("fragmentation").chart().samples();
    if (!samples)
        return;
    const Json& told
        = ask("fragmentation", QStringLiteral("%1 --over %2").arg(ofDevice()).arg(samples->at.size())).head();
    ASSERT_EQ(samples->at.size(), told["over"].size());
    for (std::size_t i = 0; i < samples->at.size(); ++i) {
        const Json& want = told["over"][i];
        EXPECT_EQ(samples->at[i].event, want["event"].get<std::int64_t>());
        EXPECT_EQ(samples->at[i].reservedBytes, want["reserved_bytes"].get<std::int64_t>());
        EXPECT_EQ(samples->at[i].freeBytes, want["free_bytes"].get<std::int64_t>());
        EXPECT_EQ(samples->at[i].largestFreeBytes, want["largest_free_bytes"].get<std::int64_t>());
    }
}

TEST_P(PicturesAgree, InTheCurvesOfWhatIf)
{
    auto& page = driver().shown<WhatIfPage>("whatif");
    page.setScenario({ .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} });
    settle();
    const auto& curves = page.run().curves();
    if (!curves || !curves->isPredicted)
        return;
    const Json& device = ask(page.commandLine()).head()["devices"][0];
    EXPECT_EQ(curves->recordedPeak.bytes, device["recorded"]["requested_bytes_peak"].get<qint64>());
    EXPECT_EQ(curves->predictedPeak.bytes, device["predicted"]["requested_bytes_peak"].get<qint64>());
}

TEST_P(PicturesAgree, InWhatTheSearchFinds)
{
    SearchBox& box = driver().searchBox();
    for (const char* typed : { "train", "forward > 1 MiB", ".py:1", "= 512" }) {
        box.openPalette();
        box.clear();
        QTest::keyClicks(&box, QLatin1String(typed));
        ASSERT_TRUE(test::eventually([&] { return box.popup()->shownText() == QLatin1String(typed); }));
        const SearchRows& rows = box.popup()->list().rows();
        for (int row = 0; row < std::min(rows.rowCount(), 8); ++row) {
            const SearchItem* item = rows.itemAt(row);
            if (!item || item->command.isEmpty())
                continue;
            const Json& told = ask(item->command).head();
            const auto bytes = told["requested_bytes"].get<std::int64_t>();
            EXPECT_TRUE(item->toolTip.contains(text::exactBytes(bytes) + QStringLiteral(" requested in ")))
                << qPrintable(item->toolTip) << ": " << bytes;
            EXPECT_TRUE(item->toolTip.contains(text::count(told["blocks"].get<std::int64_t>())));
            EXPECT_TRUE(item->figure.isEmpty() || item->figure == text::bytes(bytes))
                << qPrintable(item->figure) << ": " << bytes;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Our, PicturesAgree, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
