// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/summary.h"
#include "model/analysis/summary/verdict.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {

using test::Opened;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;

const std::string kAssumed = " This assumes the kernels of the recorded GPU, which the file does not name.";

/// A run that reserves `bytes` and, after them, `more`.
std::string reserving(std::int64_t bytes, const char* more = "")
{
    return fmt::format("segment_alloc 0x10000000 {0}\nalloc 0x10000000 {1}\n{2}\n"
                       "segment 0x10000000 {0} large\nblock 0x10000000 {1} req={1} allocated\n",
        bytes, bytes / 2, more);
}

std::optional<Needs> needsOf(const Opened& opened)
{
    return summarize(opened.trace(), GroupTable(opened.trace(), Grouping::Line)).needs;
}

std::string lineOf(const std::string& text)
{
    const auto needs = needsOf(Opened(text));
    return needs ? textOf(needs->text()) : std::string("none");
}

} // namespace

TEST(Needs, NamesTheSmallestCardsThatItFitsOn)
{
    const std::int64_t bytes = 22118 * (kGiB / 1024);
    const auto needs = needsOf(Opened(reserving(bytes)));
    ASSERT_TRUE(needs);
    EXPECT_EQ(needs->bytes, bytes);
    EXPECT_FALSE(needs->atLeast);
    ASSERT_EQ(needs->cards.size(), cards().size());
    for (std::size_t i = 1; i < needs->cards.size(); ++i)
        EXPECT_LE(needs->cards[i - 1].card->capacityBytes, needs->cards[i].card->capacityBytes);
    // An L4 has 22.03 GiB, of which the CUDA context takes 0.27 to 0.51; an A10 21.99.
    EXPECT_EQ(textOf(needs->text()),
        "Fits on RTX-4090-24GB, RTX-3090-24GB, RTX-5090-32GB and 7 larger. Tight on A10-24GB, L4-24GB. "
        "Not on V100-16GB, RTX-4080-16GB, RTX-4060-Ti-16GB and 8 smaller."
            + kAssumed);
}

TEST(Needs, SaysWhereAllCardsAgree)
{
    EXPECT_EQ(lineOf(reserving(kGiB)),
        fmt::format("Fits on all {} cards of the catalogue.", cards().size()) + kAssumed);
    EXPECT_EQ(lineOf(reserving(500 * kGiB)),
        fmt::format("Fits on none of the {} cards of the catalogue.", cards().size()) + kAssumed);
    EXPECT_EQ(lineOf("other:workspace 0x1000 1\n"), "none");
}

TEST(Needs, NamesOneMoreRatherThanCountOne)
{
    const std::string line = lineOf(reserving(78 * kGiB));
    EXPECT_THAT(line, StartsWith("Fits on H100-80GB, A100-80GB, H200-141GB, B200-180GB. Not on "));
}

TEST(Needs, IsALowerBoundOfWhatDidNotEnd)
{
    const auto needs = needsOf(Opened(reserving(20 * kGiB, "oom size=6442450944 free=3865470566")));
    ASSERT_TRUE(needs);
    EXPECT_TRUE(needs->atLeast);
    EXPECT_EQ(needs->bytes, 26 * kGiB) << "what was reserved and what was asked for";
    EXPECT_EQ(textOf(needs->text()),
        "Did not fit on the 23.6 GiB that this device had for PyTorch. Needs at least 26.0 GiB: not on "
        "RTX-3090-24GB, RTX-4090-24GB, L4-24GB and 12 smaller."
            + kAssumed);
    const std::string cut = lineOf(reserving(20 * kGiB) + "truncated 4096 \"unexpected end of file\"\n");
    EXPECT_THAT(cut, StartsWith("Needs at least 20.0 GiB: not on "));
    EXPECT_THAT(cut, Not(HasSubstr("Fits")));
    EXPECT_THAT(lineOf(reserving(kGiB) + "truncated 4096 \"unexpected end of file\"\n"),
        HasSubstr("the run may need more"));
}

TEST(Needs, SaysHowMuchWasCachedBeforeRecording)
{
    const auto late = [](const char* events) {
        return fmt::format("{}alloc 0x10000000 1073741824\n"
                           "segment 0x10000000 32857129779 large\nblock 0x10000000 1073741824 req=1073741824 "
                           "allocated\nblock 0x100000000 13000000000 req=13000000000 allocated\n",
            events);
    };
    const auto needs = needsOf(Opened(late("")));
    ASSERT_TRUE(needs);
    EXPECT_EQ(needs->bytes, 32857129779);
    EXPECT_EQ(needs->cachedBeforeBytes, 32857129779 - 13000000000);
    EXPECT_THAT(
        textOf(needs->text()), StartsWith("30.6 GiB reserved, of which 18.5 GiB cached before recording. "));
    // After a segment_free the sentence is left out.
    const std::string freed
        = lineOf(late("segment_free 0x900000000 20000000000\nsegment_alloc 0x10000000 32857129779\n"));
    EXPECT_THAT(freed, Not(HasSubstr("cached before recording")));
    // A tenth of it may be rounding.
    EXPECT_THAT(lineOf(reserving(22 * kGiB)), Not(HasSubstr("cached before recording")));
}

TEST(Needs, ComparesCardsWithTheKernelsOfTheRecordedOneAlone)
{
    const auto onA100 = [](const std::string& events) {
        auto recording = test::makeRecording(events);
        recording->facts = { { "device.0.name", "NVIDIA A100-SXM4-80GB" },
            { "device.0.capacity", "84975550464" }, { "command", "python train.py --big" } };
        return needsOf(Opened(std::move(recording)));
    };
    const auto needs = onA100(reserving(30 * kGiB));
    ASSERT_TRUE(needs);
    ASSERT_NE(needs->ranOn, nullptr);
    EXPECT_EQ(needs->ranOn->name, "A100-80GB");
    EXPECT_EQ(textOf(needs->text()),
        fmt::format("Fits on A100-40GB, A100-80GB. Not comparable with {} cards: other kernels than on "
                    "A100-80GB. Dry-run on each: strata dryrun --device A100-80GB --on-each-card -- python "
                    "train.py --big",
            cards().size() - 2));
    // Where it did not fit, a dry run on that card ends without the others: it begins with the largest.
    const auto failed = onA100(reserving(70 * kGiB, "oom size=21474836480 free=0"));
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->dryRun,
        "strata dryrun --device " + failed->cards.back().card->name + " --on-each-card -- python train.py --big");
    EXPECT_GE(failed->cards.back().card->capacityBytes, 150 * kGiB);
}

TEST(Needs, OfASnapshotWithoutEventsIsWhatItHeld)
{
    EXPECT_EQ(lineOf("segment 0x10000000 42949672960 large\nblock 0x10000000 512 req=512 allocated\n"),
        "Needs at least 40.0 GiB: not on A100-40GB, V100-32GB, RTX-5090-32GB and 15 smaller." + kAssumed);
}

TEST(Needs, OfFiguresThatAreNoneIsNothingToCompare)
{
    const std::string line = lineOf(reserving(20 * kGiB, "oom size=9223372036854775807 free=0"));
    EXPECT_THAT(line, HasSubstr("Needs at least 20.0 GiB"));
}

} // namespace strata::model
