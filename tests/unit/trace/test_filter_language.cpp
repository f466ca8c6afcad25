// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_language.h"

#include "model/trace/frames.h"
#include "tests/support/make_recording.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace strata::model {

using testing::HasSubstr;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMost = FilterConditions::kAnySize;

FilterConditions parsed(std::string_view text)
{
    const auto conditions = parseFilter(text);
    EXPECT_TRUE(conditions) << text << ": " << (conditions ? "" : conditions.error().text());
    return conditions.value_or(FilterConditions{});
}

FilterConditions sizes(std::int64_t least, std::int64_t most)
{
    FilterConditions conditions;
    conditions.minBytes = least;
    conditions.maxBytes = most;
    return conditions;
}

FilterConditions text(std::string words)
{
    FilterConditions conditions;
    conditions.text = std::move(words);
    return conditions;
}

} // namespace

TEST(FilterLanguage, NothingTypedKeepsAll)
{
    EXPECT_TRUE(parsed("").empty());
    EXPECT_TRUE(parsed(" \t\n ").empty());
    EXPECT_EQ(printFilter(FilterConditions{}), "");
}

TEST(FilterLanguage, ReadsSizes)
{
    EXPECT_EQ(parsed("> 1 MiB"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed(">1MiB"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed(">1m"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed(">1 MB"), sizes(1'000'001, kMost));
    EXPECT_EQ(parsed(">= 512"), sizes(512, kMost));
    EXPECT_EQ(parsed("\xe2\x89\xa5 512 b"), sizes(512, kMost));
    EXPECT_EQ(parsed("\xe2\x89\xa4"
                     "512"),
        sizes(0, 512));
    EXPECT_EQ(parsed("<2GiB"), sizes(0, (std::int64_t{ 2 } << 30) - 1));
    EXPECT_EQ(parsed("<= 1.5 MiB"), sizes(0, kMiB * 3 / 2));
    EXPECT_EQ(parsed("= 20 MiB"), sizes(20 * kMiB, 20 * kMiB));
    EXPECT_EQ(parsed("1MiB..4MiB"), sizes(kMiB, 4 * kMiB));
    EXPECT_EQ(parsed("1..4"), sizes(1, 4));
    EXPECT_EQ(parsed("> 1 MiB < 4 MiB"), sizes(kMiB + 1, 4 * kMiB - 1));
    EXPECT_EQ(parsed("> 1,048,576"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed("<8e3"), sizes(0, 7999));
    EXPECT_EQ(parsed("<0"), sizes(0, -1));
    EXPECT_EQ(parsed(">=9223372036854775807"), sizes(kMost, kMost));
    EXPECT_EQ(parsed("=9007199254740993"), sizes(9007199254740993, 9007199254740993)); // no double has it
}

TEST(FilterLanguage, LikeASizeIsWithinHalfOfItsLastDigit)
{
    const std::int64_t tenth = kMiB / 20;
    EXPECT_EQ(parsed("~ 24.0 MiB"), sizes(24 * kMiB - tenth, 24 * kMiB + tenth));
    EXPECT_EQ(parsed("24.0 MiB"), parsed("~24.0MiB"));
    EXPECT_EQ(parsed("  24.0   MiB "), parsed("~24.0MiB"));
    EXPECT_EQ(parsed("\xe2\x89\x88"
                     "24.0 MiB"),
        parsed("~24.0MiB"));
    EXPECT_EQ(parsed("24 MiB"), sizes(24 * kMiB - kMiB / 2, 24 * kMiB + kMiB / 2));
    EXPECT_EQ(parsed("25165824"), sizes(25165824, 25165824));
    EXPECT_EQ(parsed("25,165,824 b"), sizes(25165824, 25165824));
    EXPECT_EQ(parsed("0 KiB"), sizes(0, 512));
    EXPECT_EQ(parsed("layer 24"), text("layer 24"));
    EXPECT_EQ(parsed("\"24\""), text("24"));
}

TEST(FilterLanguage, TheRestIsText)
{
    EXPECT_EQ(parsed("attention"), text("attention"));
    EXPECT_EQ(parsed("  model.py   forward "), text("model.py forward"));
    EXPECT_EQ(parsed("\"model.py   forward \""), text("model.py   forward "));
    EXPECT_EQ(parsed("0x7f3a00000200"), text("0x7f3a00000200"));
    EXPECT_EQ(parsed("caf\xc3\xa9.py"), text("caf\xc3\xa9.py"));
    FilterConditions both = sizes(kMiB + 1, kMost);
    both.text = "attention layer";
    EXPECT_EQ(parsed("attention > 1 MiB layer"), both);
    EXPECT_EQ(parsed("say \"so \\\"now\\\" \\\\\""), text("say so \"now\" \\"));
    EXPECT_EQ(parsed("\"C:\\x\""), text("C:\\x"));
}

TEST(FilterLanguage, NamesThatLookLikeTermsAreText)
{
    for (const char* name : { "<module>", "<lambda>", "vector<int>", "operator=", "12.py", "~/train.py",
             "1..py", "torch::nn", "online:x", "=foo", "5kernels", "a\"b", "C:\\x", "..", "train.py:57" })
        EXPECT_EQ(parsed(name), text(name)) << name;
}

TEST(FilterLanguage, ReadsPlaces)
{
    EXPECT_EQ(parsed("line:/home/u/train.py:57").line, "/home/u/train.py:57");
    EXPECT_EQ(parsed("line:\"my model.py:3\"").line, "my model.py:3");
    EXPECT_EQ(parsed("line:\"no stack recorded\"").line, kNoStackLabel);
    EXPECT_EQ(parsed("stream:7").stream, std::optional(std::optional<std::int64_t>(7)));
    EXPECT_EQ(parsed("stream:-3").stream, std::optional(std::optional<std::int64_t>(-3)));
    ASSERT_TRUE(parsed("stream:none").stream);
    EXPECT_FALSE(*parsed("stream:none").stream);
    const auto pool = [](std::int64_t owner, std::int64_t id, SegmentKind kind) {
        return std::optional(std::optional(Pool{ owner, id, kind }));
    };
    EXPECT_EQ(parsed("pool:small").pool, pool(0, 0, SegmentKind::Small));
    EXPECT_EQ(parsed("pool:(0,1)/large").pool, pool(0, 1, SegmentKind::Large));
    EXPECT_EQ(parsed("pool:unknown").pool, pool(0, 0, SegmentKind::Unknown));
    ASSERT_TRUE(parsed("pool:none").pool);
    EXPECT_FALSE(*parsed("pool:none").pool);
    EXPECT_EQ(parsed("stack:b.py:1,\"f(a, b)\" stack:none stack:\"none\"").stacks,
        (std::vector<FilterConditions::Stack>{ { "b.py:1", "f(a, b)" }, {}, { "none" } }));
}

TEST(FilterLanguage, ReadsWhatBlocksAreForAndWhose)
{
    const FilterConditions both = parsed("category:optimizer_state module:h.3.* > 1MiB");
    EXPECT_EQ(both.category, "optimizer_state");
    EXPECT_EQ(both.module, "h.3.*");
    EXPECT_EQ(both.minBytes, kMiB + 1);
    EXPECT_EQ(printFilter(both), "category:optimizer_state module:h.3.* >=1048577");
    EXPECT_EQ(parsed("module:\"no module recorded\"").module, "no module recorded");
    EXPECT_EQ(printFilter(parsed("module:\"no module recorded\"")), "module:\"no module recorded\"");
    EXPECT_THAT(
        parseFilter("category:a category:b").error().text(), HasSubstr("A second category at column 12"));
    EXPECT_THAT(parseFilter("module:").error().text(), HasSubstr("as in module:h.3.attn"));
}

TEST(FilterLanguage, SaysWhereAndWhatToWrite)
{
    const struct {
        const char *text, *what, *hint;
    } mistakes[] = {
        { "> attention", "No size after \">\" at column 1", "1 MiB, 512 or 2GiB" },
        { "caf\xc3\xa9 >", "No size after \">\" at column 6", "1 MiB" },
        { "\xe2\x89\xa5 x", "No size after \"\xe2\x89\xa5\" at column 1", "1 MiB" },
        { "a \"b", "A quote without an end at column 3", "write \" behind it" },
        { "\"a\"b", "No blank behind the quote at column 4", "put one there" },
        { "line:", "Nothing behind \"line:\" at column 6", "line:train.py:57" },
        { "line:\"a\"b", "No blank behind the quote at column 9", "put one there" },
        { "line:a x line:b", "A second line at column 10", "leave one out" },
        { "stack:a,,b", "Nothing behind \"stack:\" at column 9", "stack:train.py:57" },
        { "stream:x", "No stream: \"x\" at column 8", "its number, or none" },
        { "stream:1 stream:2", "A second stream at column 10", "leave one out" },
        { "stream:", "No stream: \"\" at column 8", "its number, or none" },
        { "pool:medium", "No pool: \"medium\" at column 6", "small, large, (0,1)/large" },
        { "pool:(0,1)large", "No pool: \"(0,1)large\" at column 6", "small, large" },
        { "pool:small pool:large", "A second pool at column 12", "leave one out" },
        { ">99999999999999999999", nullptr, nullptr },
    };
    for (const auto& [typed, what, hint] : mistakes) {
        const auto refused = parseFilter(typed);
        if (!what) {
            EXPECT_EQ(refused, text(typed));
            continue;
        }
        ASSERT_FALSE(refused) << typed;
        EXPECT_EQ(refused.error().kind, Error::Kind::Usage);
        EXPECT_EQ(refused.error().what.text(), what);
        EXPECT_THAT(refused.error().hint.said.text(), HasSubstr(hint));
    }
}

TEST(FilterLanguage, PrintsWhatAPersonWouldType)
{
    for (const char* typed :
        { "attention", "model.py forward", ">=1MiB", "<=512", "=20MiB", "1MiB..4MiB", "<0", "<module>",
            "0x7f3a00000200", "\"24\"", "line:/home/u/train.py:57", "line:\"my model.py:3\"",
            "stack:b.py:1,\"f(a, b)\"", "stack:none", "stream:7", "stream:none", "pool:large",
            "pool:(0,1)/unknown", "pool:none", "attention line:a.py:1 stream:0 pool:small 512..1KiB" })
        EXPECT_EQ(printFilter(parsed(typed)), typed);
    EXPECT_EQ(printFilter(parsed("> 1 MiB")), ">=1048577");
    EXPECT_EQ(printFilter(parsed("1024..1536")), "1KiB..1536");
}

TEST(FilterLanguage, ReadsBackWhatItPrints)
{
    std::mt19937_64 random(20);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    const std::vector<std::string> pieces{ "a", "train.py:57", " ", "  ", "\"", "\\", ",", "none", ">",
        "<=", "=", "5", "1.5", "k", "MiB", "..", "line:", "stack:", "stream:", "pool:", "small", "(0,1)/",
        "~", "\t", "\n", "\xe4\xb8\xad", "\xe2\x89\xa5", "\xff", "0x12", "-", ":", std::string(1, '\0') };
    const auto word = [&] {
        std::string out;
        for (std::uint64_t i = below(5); i > 0; --i)
            out += pieces[below(pieces.size())];
        return out;
    };
    const auto bytes = [&]() -> std::int64_t {
        switch (below(4)) {
        case 0:
            return static_cast<std::int64_t>(below(5000));
        case 1:
            return static_cast<std::int64_t>(below(5000)) << (10 * below(5));
        case 2:
            return kMost - static_cast<std::int64_t>(below(3));
        default:
            return static_cast<std::int64_t>(random() >> (1 + below(60)));
        }
    };
    for (int round = 0; round < 200'000; ++round) {
        FilterConditions conditions;
        if (below(2))
            conditions.text = word();
        if (below(3) == 0)
            conditions.line = word() + (below(2) ? "x" : "\"");
        for (std::uint64_t i = below(6) < 4 ? 0 : below(4); i > 0; --i) {
            conditions.stacks.emplace_back();
            for (std::uint64_t frames = below(4); frames > 0; --frames)
                conditions.stacks.back().push_back(word());
        }
        if (below(3) == 0)
            conditions.stream.emplace(
                below(3) ? std::optional(static_cast<std::int64_t>(random())) : std::nullopt);
        if (below(3) == 0) {
            Pool pool{ static_cast<std::int64_t>(below(3)) - 1, static_cast<std::int64_t>(below(3)) };
            pool.kind = static_cast<SegmentKind>(below(3));
            conditions.pool.emplace(below(3) ? std::optional(pool) : std::nullopt);
        }
        if (below(3) == 0)
            conditions.category = word() + "x";
        if (below(3) == 0)
            conditions.module = word() + "x";
        if (below(2))
            conditions.minBytes = bytes();
        if (below(2))
            conditions.maxBytes = below(9) ? bytes() : -1;
        const std::string printed = printFilter(conditions);
        const auto read = parseFilter(printed);
        ASSERT_TRUE(read) << printed << ": " << read.error().text();
        ASSERT_EQ(*read, conditions) << printed << " comes back as " << printFilter(*read);
    }
}

TEST(FilterLanguage, NothingTypedCanBreakIt)
{
    std::mt19937_64 random(3);
    const std::string characters = "a1.,kMiBe<>=~\" \\:()/-slinetackromp\n\xc3\xa9\xe2\x89\xa5";
    for (int round = 0; round < 200'000; ++round) {
        std::string typed;
        for (std::uint64_t i = random() % 14; i > 0; --i)
            typed += characters[random() % characters.size()];
        const auto read = parseFilter(typed);
        if (!read) {
            EXPECT_FALSE(read.error().hint.empty());
            EXPECT_THAT(read.error().what.text(), HasSubstr("at column "));
            continue;
        }
        const std::string printed = printFilter(*read);
        const auto again = parseFilter(printed);
        ASSERT_TRUE(again) << typed << " -> " << printed;
        ASSERT_EQ(*again, *read) << typed << " -> " << printed;
    }
}

TEST(FilterConditions, NameWhatAFilterOfARecordingMeans)
{
    const auto recording = test::makeRecording(R"(
        alloc 0x1000 512 stream=7 pool=(0,1) stack=f@train.py:3|g@main.py:9
        alloc 0x2000 512 stack=h@train.py:4)");
    BlockFilter filter;
    filter.sites = { StackId{ 0 }, StackId{} };
    filter.line = frameLabel(*recording, FrameId{ 0 });
    filter.stream
        = static_cast<StreamIndex>(std::ranges::find(recording->streams, 7) - recording->streams.begin());
    filter.pool = static_cast<PoolIndex>(0);
    filter.minBytes = 100;
    filter.text = "train \"x";
    EXPECT_EQ(filterOf(*recording, conditionsOf(*recording, filter)), filter);
    const std::string printed = printFilter(*recording, filter);
    EXPECT_THAT(printed, HasSubstr("stream:7 pool:(0,1)/"));
    EXPECT_THAT(printed, HasSubstr("stack:train.py:3,main.py:9 stack:none"));
    EXPECT_EQ(filterOf(*recording, parsed(printed)), filter);
    EXPECT_EQ(filterOf(*recording, {}), BlockFilter{});

    const BlockFilter elsewhere = filterOf(*recording, parsed("stack:nowhere stream:99 pool:(4,4)/small"));
    EXPECT_FALSE(elsewhere.sites.empty());
    EXPECT_TRUE(elsewhere.stream && *elsewhere.stream != kNoIndex);
    EXPECT_TRUE(elsewhere.pool && *elsewhere.pool != kNoIndex);
    filter.stream = kNoIndex;
    filter.pool = kNoIndex;
    EXPECT_EQ(filterOf(*recording, parsed("stream:none pool:none")).stream, filter.stream);
    EXPECT_EQ(filterOf(*recording, parsed("stream:none pool:none")).pool, filter.pool);
    EXPECT_THAT(printFilter(*recording, filter), HasSubstr("stream:none pool:none"));
}

TEST(FilterConditions, OfTwoFiltersTheLaterCountsWhereBothNameOneThing)
{
    BlockFilter base;
    base.minBytes = 512;
    base.stream = static_cast<StreamIndex>(1);
    base.text = "forward";
    BlockFilter extra;
    extra.maxBytes = 4096;
    extra.text = "backward";
    BlockFilter both = base;
    both.maxBytes = 4096;
    both.text = "backward";
    EXPECT_EQ(narrowed(base, extra), both);
    EXPECT_EQ(narrowed(base, {}), base);
    EXPECT_EQ(narrowed({}, extra), extra);
}

} // namespace strata::model
