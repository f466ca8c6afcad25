// SPDX-License-Identifier: GPL-3.0-or-later
// Listings against a naive walk: for each of them, and for each time that it is said again, every block is
// looked at.
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using ListedPairs = std::set<std::pair<BlockId, std::uint32_t>>; // block, row

BlockId naiveBlockAt(const DeviceTrace& trace, std::uint64_t address, EventIndex after)
{
    const BlockColumns& blocks = trace.blocks();
    for (const BlockId block : blocks.all()) {
        const auto bytes
            = static_cast<std::uint64_t>(std::max<std::int64_t>(blocks.requestedBytes[block], 1));
        if (blocks.liveAt(block, after) && blocks.address[block] <= address
            && address - blocks.address[block] < bytes)
            return block;
    }
    return {};
}

ListedPairs naive(const DeviceTrace& trace)
{
    const RoleListings::Rows& rows = RoleListings::of(trace.recording(), trace.device());
    std::map<std::tuple<Kind, StringId, StringId, std::uint32_t>, std::pair<std::uint32_t, bool>> standing;
    ListedPairs found;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        const RoleListing& listing = rows[row];
        const auto place = [&](std::uint32_t at, bool& isThere) {
            const BlockId block = naiveBlockAt(trace, rows[at].address, listing.event - 1);
            isThere = rows[at].address != 0 && block.valid();
            if (isThere)
                found.insert({ block, at });
        };
        if (listing.kind == Kind::Stepped) {
            for (auto& [key, stands] : standing)
                if (std::get<3>(key) == listing.optimizer && stands.second)
                    place(stands.first, stands.second);
        } else {
            auto& stands = standing[{ listing.kind, listing.name, listing.part, listing.optimizer }];
            stands.first = row;
            place(row, stands.second);
        }
    }
    return found;
}

ListedPairs indexed(const DeviceTrace& trace)
{
    const ListedTensors tensors = ListedTensors::of(trace).value();
    ListedPairs found;
    for (const ListedTensors::Placed& placed : tensors.all())
        found.insert({ placed.block, placed.row });
    EXPECT_EQ(found.size(), tensors.all().size()) << "each tensor once in a block";
    return found;
}

} // namespace

TEST(ListedTensors, AgreesWithANaiveWalk)
{
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        test::RandomTrace options;
        options.seed = seed;
        options.events = 400;
        auto recording = test::randomRecording(options);
        std::mt19937 random(seed);
        DeviceRecording& device = recording->devices.at(0);
        auto& rows = recording->parts.get<RoleListings>().byDevice[device.device];
        const auto events = static_cast<EventIndex>(device.events.size());
        for (EventIndex event = 0; event <= events; event += 1 + random() % 5) {
            RoleListing listing;
            listing.event = event;
            listing.optimizer = random() % 2;
            listing.kind = random() % 4 == 0 ? Kind::Stepped : static_cast<Kind>(random() % 4);
            listing.name = recording->strings.intern("p" + std::to_string(random() % 6));
            const auto some = static_cast<std::size_t>(random() % std::max<EventIndex>(events, 1));
            listing.address = random() % 8 == 0 ? 0 : device.events.address[some] + random() % 300;
            rows.push_back(listing);
        }
        const test::Opened opened(std::move(recording));
        EXPECT_EQ(indexed(opened.trace()), naive(opened.trace())) << "seed " << seed;
    }
}

TEST(ListedTensors, FindsAGradientAgainThatWasMadeAnewAtItsAddress)
{
    test::Trained t("alloc 0x1000 512\nfree_requested 0x1000 512\nfree_completed 0x1000 512\n"
                    "alloc 0x1000 512\nfree_requested 0x1000 512\nfree_completed 0x1000 512\n"
                    "alloc 0x1000 512",
        "-------");
    t.list(1, Kind::Gradient, 0x1080, "w").list(1, Kind::Stepped, 0, "SGD").list(4, Kind::Stepped, 0, "SGD");
    const ListedTensors tensors = ListedTensors::of(t.trace()).value();
    EXPECT_EQ(tensors.in(BlockId::born(0)).size(), 1u);
    EXPECT_EQ(tensors.in(BlockId::born(1)).size(), 1u);
    EXPECT_EQ(tensors.in(BlockId::born(2)).size(), 0u) << "no step said it again";
    EXPECT_EQ(tensors.lastStepped(), 4);
}

TEST(ListedTensors, DoNotFollowThousandsInABlockThatEachStepMakesAnew)
{
    constexpr int kTensors = 300, kSteps = 300;
    std::string trace = "alloc 0x1000 4096\n", letters = "-";
    for (int i = 0; i < kSteps; ++i) {
        trace += "free_requested 0x1000 4096\nfree_completed 0x1000 4096\nalloc 0x1000 4096\n";
        letters += "---";
    }
    test::Trained t(trace, letters);
    for (int i = 0; i < kTensors; ++i)
        t.list(1, Kind::Gradient, static_cast<std::uint64_t>(0x1000 + i), "w" + std::to_string(i));
    for (int i = 1; i <= kSteps; ++i)
        t.list(1 + 3 * i, Kind::Stepped, 0, "SGD");
    const ListedTensors tensors = ListedTensors::of(t.trace()).value();
    EXPECT_EQ(tensors.in(BlockId::born(0)).size(), std::size_t{ kTensors });
    EXPECT_EQ(tensors.in(BlockId::born(3)).size(), std::size_t{ kTensors });
    EXPECT_LT(tensors.all().size(), 10u * (kTensors + 3 * kSteps)) << "not a tensor for each step";
}

} // namespace strata::model
