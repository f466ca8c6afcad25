// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/replay/plain_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr TorchVersion k23{ 2, 3 }, k211{ 2, 11 };

bool isTaken(const std::string& text, TorchVersion version)
{
    return AllocatorSettings::parse(text, version).has_value();
}

TEST(TorchVersion, IsReadFromWhatPyTorchSays)
{
    EXPECT_EQ(TorchVersion::parse("2.15.0+cu132"), k215);
    EXPECT_EQ(TorchVersion::parse("2.6.0a0+git1234"), k26);
    EXPECT_EQ(TorchVersion::parse("2.3"), k23);
    for (const char* none : { "", "2", "2.", "x.1", ".1", "-2.3", "2.-3" })
        EXPECT_EQ(TorchVersion::parse(none), std::nullopt) << none;
}

TEST(TorchVersion, TellsTheRuleForTies)
{
    EXPECT_EQ(tieRuleOf({ 2, 1 }), TieRule::Address);
    EXPECT_EQ(tieRuleOf({ 2, 11 }), TieRule::Address);
    EXPECT_EQ(tieRuleOf({ 2, 12 }), TieRule::BlockCounter);
    EXPECT_EQ(tieRuleOf({ 2, 13 }), TieRule::SegmentCounter);
    EXPECT_EQ(tieRuleOf({ 3, 0 }), TieRule::SegmentCounter);
}

TEST(AllocatorSettings, RoundsByTable)
{
    struct Row {
        const char* settings;
        std::int64_t requested, rounded;
    };
    constexpr Row rows[] = {
        { "", 1, 512 },
        { "", 511, 512 },
        { "", 512, 512 },
        { "", 513, 1024 },
        { "", 600000, 600064 },
        { "", 3 * kMiB, 3 * kMiB },
        { "", 30 * kMiB + 1, 30 * kMiB + 512 },
        // Four steps between powers of two.
        { "roundup_power2_divisions:4", 1200, 1536 }, // not above 512 * 4
        { "roundup_power2_divisions:4", 2048, 2048 },
        { "roundup_power2_divisions:4", 2049, 2560 },
        { "roundup_power2_divisions:4", 2560, 2560 },
        { "roundup_power2_divisions:4", 2561, 3072 },
        { "roundup_power2_divisions:4", 1200 * kMiB, 1280 * kMiB },
        { "roundup_power2_divisions:4", kGiB, kGiB },
        { "roundup_power2_divisions:4", 3 * kGiB / 2 + 1, 1792 * kMiB },
        { "roundup_power2_divisions:1", 2049, 2560 }, // one: as without
        // By the power of two below: from 1 MiB to 32 GiB, and what lies outside as the ends.
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", 100 * kKiB, 128 * kKiB },
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", kMiB + 1, 3 * kMiB / 2 },
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", 2 * kMiB + 1, 5 * kMiB / 2 },
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", 4 * kMiB + 1, 9 * kMiB / 2 },
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", 8 * kMiB + 1, 17 * kMiB / 2 },
        { "roundup_power2_divisions:[1:2,2:4,4:8,>:16]", 64 * kGiB + 1, 68 * kGiB },
        // Between listed ones there is none.
        { "roundup_power2_divisions:[2:4,16:8]", 4 * kMiB + 1, 4 * kMiB + 512 },
        { "roundup_power2_divisions:[2:4,16:8]", kMiB + 1, 5 * kMiB / 4 },
    };
    for (const Row& row : rows)
        EXPECT_EQ(settingsOf(row.settings).roundedBytes(row.requested), row.rounded)
            << row.settings << " " << row.requested;
}

TEST(AllocatorSettings, LeavesSizesUnroundedWithOneDivisionUpTo23)
{
    EXPECT_EQ(settingsOf("roundup_power2_divisions:1", k23).roundedBytes(2049), 2049);
    EXPECT_EQ(settingsOf("roundup_power2_divisions:1", k23).roundedBytes(100), 512);
    EXPECT_EQ(settingsOf("roundup_power2_divisions:1", { 2, 4 }).roundedBytes(2049), 2560);
}

TEST(AllocatorSettings, SizesOfSegments)
{
    const AllocatorSettings plain, big = settingsOf("large_segment_size_mb:64");
    EXPECT_EQ(plain.segmentBytes(512), 2 * kMiB);
    EXPECT_EQ(plain.segmentBytes(kMiB), 2 * kMiB);
    EXPECT_EQ(plain.segmentBytes(kMiB + 512), 20 * kMiB);
    EXPECT_EQ(big.segmentBytes(kMiB + 512), 64 * kMiB);
    EXPECT_EQ(plain.segmentBytes(10 * kMiB - 512), 20 * kMiB);
    EXPECT_EQ(plain.segmentBytes(10 * kMiB), 10 * kMiB);
    EXPECT_EQ(big.segmentBytes(11 * kMiB), 12 * kMiB);
    EXPECT_EQ(big.pageBytes(true), 2 * kMiB);
    EXPECT_EQ(big.pageBytes(false), 64 * kMiB);
}

TEST(AllocatorSettings, RangesOfExpandableSegments)
{
    const std::int64_t page = 20 * kMiB;
    EXPECT_EQ(AllocatorSettings{}.rangeBytes(page, 4 * kGiB), 4620 * kMiB);
    EXPECT_EQ(AllocatorSettings{}.rangeBytes(2 * kMiB, 4 * kGiB), 4608 * kMiB);
    EXPECT_EQ(settingsOf("expandable_segments_reserve:0.5").rangeBytes(page, 4 * kGiB), 2060 * kMiB);
    EXPECT_EQ(settingsOf("expandable_segments_reserve:1G").rangeBytes(page, 4 * kGiB), 1040 * kMiB);
    EXPECT_EQ(settingsOf("expandable_segments_reserve:40G").rangeBytes(page, 4 * kGiB), 4620 * kMiB);
    EXPECT_EQ(settingsOf("expandable_segments_reserve:none").rangeBytes(page, 4 * kGiB), 4620 * kMiB);
}

TEST(AllocatorSettings, ReadsEachOption)
{
    const AllocatorSettings s
        = settingsOf("max_split_size_mb:128, "
                     "garbage_collection_threshold:0.6,expandable_segments:True,large_segment_size_mb:64,"
                     "max_non_split_rounding_mb:100,per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:"
                     "True,backend:native");
    EXPECT_EQ(s.maxSplitBytes, 128 * kMiB);
    EXPECT_DOUBLE_EQ(s.garbageCollectionThreshold, 0.6);
    EXPECT_TRUE(s.expandableSegments);
    EXPECT_EQ(s.largeSegmentBytes, 64 * kMiB);
    EXPECT_EQ(s.maxNonSplitRoundingBytes, 100 * kMiB);
    EXPECT_EQ(s.memoryFraction, 0.5);
    EXPECT_TRUE(s.rejectsAboveFraction);
    EXPECT_THAT(s.roundupDivisions, Each(0));
    EXPECT_EQ(settingsOf("large_segment_size_mb:64").maxNonSplitRoundingBytes, 64 * kMiB);
    EXPECT_EQ(settingsOf(""), AllocatorSettings{});
}

TEST(AllocatorSettings, RestOfTheDivisionsBeginsBehindTheLastFrom210On)
{
    EXPECT_THAT(settingsOf("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", { 2, 9 }).roundupDivisions,
        ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8));
    EXPECT_THAT(settingsOf("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", { 2, 10 }).roundupDivisions,
        ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8));
}

TEST(AllocatorSettings, RefusesWhatEachVersionRefuses)
{
    struct Row {
        const char* text;
        bool by23, by26, by211, by215; // taken
    };
    constexpr Row rows[] = {
        { "max_split_size_mb:21", true, true, true, true },
        { "max_split_size_mb:20", false, false, true, true },
        { "max_split_size_mb:19", false, false, false, false },
        { "max_split_size_mb:64MB", true, true, true, true },
        { "max_split_size_mb:0x40", false, false, false, false },
        { "max_split_size_mb:", false, false, false, false },
        { "max_split_size_mb", false, false, false, false },
        { "max_split_size_mb,64", false, false, true, true },
        { "max_split_size_mb:64,", true, true, true, true },
        { ",max_split_size_mb:64", false, false, false, false },
        { "max_split_size_mb:9999999999", false, false, true, true },
        { "max_split_size_mb:99999999999999999999", false, false, false, false },
        { "max_non_split_rounding_mb:21", false, true, true, true },
        { "max_non_split_rounding_mb:20", false, false, true, true },
        { "large_segment_size_mb:11", false, false, true, true },
        { "large_segment_size_mb:10", false, false, false, false },
        { "max_split_size_mb:30,large_segment_size_mb:64", false, false, false, false },
        { "garbage_collection_threshold:0", false, false, false, false },
        { "garbage_collection_threshold:1.0", false, false, false, false },
        { "garbage_collection_threshold:0.5x", true, true, true, true },
        { "garbage_collection_threshold:nan", false, false, false, false },
        { "per_process_memory_fraction:1", false, false, true, true },
        { "per_process_memory_fraction:1.1", false, false, false, false },
        { "expandable_segments:true", false, false, false, false },
        { "expandable_segments:False", true, true, true, true },
        { "throw_on_cudamalloc_oom:True", false, false, false, true },
        { "roundup_power2_divisions:3", false, false, false, false },
        { "roundup_power2_divisions:0", false, false, false, false },
        { "roundup_power2_divisions:[1:0]", false, true, true, true },
        { "roundup_power2_divisions:[3:2]", false, false, false, false },
        { "roundup_power2_divisions:[1:2", false, false, false, false },
        { "roundup_power2_divisions:[", true, true, false, false },
        { "pinned_num_register_threads:128", true, true, true, true },
        { "pinned_num_register_threads:256", false, false, false, false },
        { "pinned_use_background_threads:True", false, true, true, true },
        { "expandable_segments_reserve_by_class:[a:0.5]", false, false, false, true },
        { "backend:cudaMallocAsync", false, false, false, false },
        { "roundup_bypass_threshold_mb:64", false, false, false, false },
        { "nothing:1", false, false, false, false },
    };
    for (const Row& row : rows) {
        EXPECT_EQ(isTaken(row.text, k23), row.by23) << row.text;
        EXPECT_EQ(isTaken(row.text, k26), row.by26) << row.text;
        EXPECT_EQ(isTaken(row.text, k211), row.by211) << row.text;
        EXPECT_EQ(isTaken(row.text, k215), row.by215) << row.text;
    }
}

TEST(AllocatorSettings, SaysWhatIsWrong)
{
    const auto unknown = AllocatorSettings::parse("max_splits:3", k215);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, Error::Kind::Usage);
    EXPECT_EQ(unknown.error().text(),
        "'max_splits' is no allocator setting of PyTorch: settings are key:value pairs: "
        "expandable_segments:True,max_split_size_mb:128");
    const auto misspelt = AllocatorSettings::parse("expandable_segment:True", k215);
    ASSERT_FALSE(misspelt);
    EXPECT_EQ(misspelt.error().text(),
        "'expandable_segment' is no allocator setting of PyTorch: did you mean 'expandable_segments'?");
    const auto early = AllocatorSettings::parse("large_segment_size_mb:64", k26);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().kind, Error::Kind::Usage);
}

TEST(AllocatorSettings, AChangeInMidRunKeepsWhatPyTorchDoesNotReset)
{
    const AllocatorSettings before
        = settingsOf("max_split_size_mb:128,garbage_collection_threshold:0.6,expandable_segments:True,"
                     "roundup_power2_divisions:4,large_segment_size_mb:64,max_non_split_rounding_mb:100,"
                     "throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5");
    const auto after = AllocatorSettings::parse("", k215, &before);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->maxSplitBytes, AllocatorSettings::kUnlimited);
    EXPECT_EQ(after->garbageCollectionThreshold, 0);
    EXPECT_THAT(after->roundupDivisions, Each(0));
    EXPECT_EQ(after->roundedBytes(2049), 2560);
    EXPECT_EQ(after->maxNonSplitRoundingBytes, 64 * kMiB);
    EXPECT_EQ(after->largeSegmentBytes, 64 * kMiB);
    EXPECT_TRUE(after->expandableSegments);
    EXPECT_TRUE(after->rejectsAboveFraction);
    EXPECT_EQ(after->memoryFraction, 0.5);

    const AllocatorSettings older = settingsOf("max_non_split_rounding_mb:100", k26);
    EXPECT_EQ(AllocatorSettings::parse("", k26, &older)->maxNonSplitRoundingBytes, 100 * kMiB);
}

} // namespace
} // namespace strata::model
