// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/segment_lives.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace strata::model {
namespace {

SegmentLife life(std::uint64_t address, std::int64_t bytes, EventIndex birth)
{
    SegmentLife result;
    result.address = address;
    result.bytes = bytes;
    if (birth >= 0)
        result.alloc = EventId{ static_cast<std::uint32_t>(birth) };
    return result;
}

const SegmentLife* naive(const SegmentLives& lives, std::uint64_t address, EventIndex at)
{
    for (const SegmentLife& each : lives.rows())
        if (each.liveAt(at) && each.address <= address && address < each.end())
            return &each;
    return nullptr;
}

constexpr std::uint64_t kAddresses = 60;

void expectNaiveLives(const SegmentLives& lives, EventIndex last)
{
    for (EventIndex at = -1; at <= last + 1; at += 1 + last / 40)
        for (std::uint64_t address = 0; address < kAddresses; ++address)
            ASSERT_EQ(lives.find(address, at), naive(lives, address, at)) << address << " at " << at;
}

} // namespace

TEST(SegmentLives, AreFoundHoweverManyCameAtOnce)
{
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](std::uint64_t n) { return random() % n; };
        SegmentLives lives;
        std::map<std::uint64_t, std::uint32_t> live; // by address
        std::vector<SegmentLives> snapshots;
        std::vector<EventIndex> taken;
        const auto index = [&] {
            std::vector<std::uint32_t> rows;
            for (const auto& [address, row] : live)
                rows.push_back(row);
            lives.index(rows);
        };
        for (EventIndex e = -1; e < 150; ++e) {
            if (!live.empty() && upTo(2) == 0) { // ends one, or a part of it
                const auto ended = std::next(live.begin(), static_cast<std::ptrdiff_t>(upTo(live.size())));
                const SegmentLife whole = lives.rows()[ended->second];
                const auto cut = static_cast<std::int64_t>(upTo(static_cast<std::uint64_t>(whole.bytes)));
                const std::uint32_t row = ended->second;
                live.erase(ended);
                SegmentLife& part = lives.edit(row);
                part.address += static_cast<std::uint64_t>(cut);
                part.bytes -= cut;
                part.free = EventId{ static_cast<std::uint32_t>(e) };
                lives.end(row);
                if (cut > 0) {
                    SegmentLife rest = whole;
                    rest.bytes = cut;
                    live[rest.address] = lives.add(rest);
                }
            } else {
                const SegmentLife next
                    = life(upTo(kAddresses - 10), 1 + static_cast<std::int64_t>(upTo(9)), e);
                bool free = true;
                for (const auto& [address, row] : live)
                    free = free
                        && (lives.rows()[row].end() <= next.address
                            || next.end() <= lives.rows()[row].address);
                if (free)
                    live[next.address] = lives.add(next);
            }
            if (upTo(seed % 10 + 1) == 0) {
                index();
                snapshots.push_back(lives);
                taken.push_back(e);
            }
        }
        index();
        ASSERT_NO_FATAL_FAILURE(expectNaiveLives(lives, 150));
        for (std::size_t i = 0; i < snapshots.size(); i += 1 + snapshots.size() / 5)
            ASSERT_NO_FATAL_FAILURE(expectNaiveLives(snapshots[i], taken[i])) << "disturbed";
        const auto sorted = lives.byAddress();
        EXPECT_EQ(sorted.size(), lives.rows().size());
        for (std::size_t i = 1; i < sorted.size(); ++i)
            ASSERT_FALSE(isBefore(*sorted[i], *sorted[i - 1]));
    }
}

} // namespace strata::model
