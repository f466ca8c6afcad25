// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/replay/plain_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace strata::model {
namespace {

/// Random requests to one allocator, as a seed draws them.
class Requests {
public:
    Requests(CachingAllocator& allocator, PlainDriver& driver)
        : m_allocator(&allocator)
        , m_driver(&driver)
    {
    }

    /// What it did, as text.
    std::string one(std::mt19937_64& random)
    {
        const std::uint64_t draw = random() % 1000;
        const std::uint64_t stream = random() % 3, size = random();
        if (draw < 5) {
            m_allocator->emptyCache();
            return "empty";
        }
        if (draw < 520 || m_live.empty()) {
            const std::int64_t bytes = 1 + static_cast<std::int64_t>(size % (1ULL << (9 + size / 97 % 18)));
            const PoolOwner pool{ 0, draw < 100 ? 1 : 0 };
            ReplayBlock* const block = m_allocator->allocate(bytes, stream, pool);
            if (block == nullptr)
                return "out of memory";
            block->tag = ++m_tag;
            m_live[m_tag] = block;
            return std::to_string(block->address) + " " + std::to_string(block->bytes);
        }
        const auto which = std::next(m_live.begin(), static_cast<std::ptrdiff_t>(size % m_live.size()));
        ReplayBlock* const block = which->second;
        m_live.erase(which);
        m_allocator->requestFree(*block);
        if (draw < 600)
            m_driver->pending.push_back(block);
        else
            m_allocator->completeFree(*block);
        return "free";
    }

    /// The same, of the clone.
    [[nodiscard]] Requests moveTo(CachingAllocator& clone, PlainDriver& driver) const
    {
        Requests copy(clone, driver);
        copy.m_tag = m_tag;
        std::map<std::uint64_t, ReplayBlock*> places;
        clone.forEachBlock([&](ReplayBlock& block) {
            places[block.address] = &block;
            if (block.allocated)
                copy.m_live[block.tag] = &block;
        });
        for (ReplayBlock*& block : driver.pending)
            block = places.at(block->address);
        return copy;
    }

private:
    CachingAllocator* m_allocator;
    PlainDriver* m_driver;
    std::map<std::int32_t, ReplayBlock*> m_live;
    std::int32_t m_tag = 0;
};

void expectSameSums(const CachingAllocator& a, const CachingAllocator& b)
{
    EXPECT_EQ(a.allocatedBytes(), b.allocatedBytes());
    EXPECT_EQ(a.activeBytes(), b.activeBytes());
    EXPECT_EQ(a.reservedBytes(), b.reservedBytes());
    EXPECT_EQ(a.deviceMallocs(), b.deviceMallocs());
    EXPECT_EQ(a.deviceFrees(), b.deviceFrees());
    EXPECT_EQ(a.pendingBlocks(), b.pendingBlocks());
    EXPECT_EQ(a.rejections(), b.rejections());
}

TEST(Clone, GoesOnAsTheOriginalDoes)
{
    const char* const settings[] = { "", "expandable_segments:True", "max_split_size_mb:30",
        "garbage_collection_threshold:0.3,per_process_memory_fraction:0.9",
        "expandable_segments:True,throw_on_cudamalloc_oom:True" };
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const TorchVersion version{ 2, 12 + static_cast<int>(seed % 4) };
        SCOPED_TRACE("seed " + std::to_string(seed));
        PlainDriver driver(kGiB);
        CachingAllocator allocator(settingsOf(settings[seed % 5], version), driver, kGiB);
        Requests requests(allocator, driver);
        std::mt19937_64 random(seed);
        for (int i = 0; i < 1500; ++i)
            (void)requests.one(random);

        PlainDriver twin = driver;
        CachingAllocator clone = allocator.clone(twin);
        expectSameSums(allocator, clone);
        ASSERT_EQ(layoutOf(allocator), layoutOf(clone));
        Requests same = requests.moveTo(clone, twin);
        std::mt19937_64 again = random;
        for (int i = 0; i < 1500; ++i)
            ASSERT_EQ(requests.one(random), same.one(again)) << "request " << i;
        EXPECT_EQ(driver.events, twin.events);
        EXPECT_EQ(layoutOf(allocator), layoutOf(clone));
        expectSameSums(allocator, clone);
    }
}

TEST(Clone, LeavesTheOriginalAlone)
{
    PlainDriver driver(kGiB);
    CachingAllocator allocator(settingsOf("expandable_segments:True"), driver, kGiB);
    Requests requests(allocator, driver);
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i)
        (void)requests.one(random);
    const auto before = layoutOf(allocator);
    const auto events = driver.events;
    {
        PlainDriver twin = driver;
        CachingAllocator clone = allocator.clone(twin);
        Requests other = requests.moveTo(clone, twin);
        for (int i = 0; i < 1000; ++i)
            (void)other.one(random);
        EXPECT_NE(layoutOf(clone), before);
    }
    EXPECT_EQ(layoutOf(allocator), before);
    EXPECT_EQ(driver.events, events);
}

} // namespace
} // namespace strata::model
