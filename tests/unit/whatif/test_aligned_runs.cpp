// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/aligned_runs.h"

#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

/// A trace of a text like "AAFA": requests, and frees of the oldest block that is there.
struct Made {
    explicit Made(const std::string& asks, std::int64_t bytes)
    {
        std::string text;
        std::uint64_t next = 0x100000, oldest = next;
        const auto line = [&](const char* action, std::uint64_t address) {
            text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes) + "\n";
        };
        for (const char ask : asks)
            if (ask == 'A') {
                line("alloc", next);
                next += 0x10000;
            } else {
                line("free_requested", oldest);
                line("free_completed", oldest);
                oldest += 0x10000;
            }
        recording = test::makeRecording(text);
        trace.emplace(*DeviceTrace::build(*recording, recording->devices.front(), {}));
    }

    std::unique_ptr<Recording> recording;
    std::optional<DeviceTrace> trace;
};

AlignedRuns align(const Made& a, const Made& b)
{
    return alignRuns(*a.trace, {}, *b.trace, {});
}

/// The length of the longest common subsequence, by the whole table.
std::size_t longestCommon(const std::string& a, const std::string& b)
{
    std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j)
            table[i][j]
                = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    return table[a.size()][b.size()];
}

} // namespace

TEST(AlignedRuns, PairWhatDoesTheSame)
{
    const AlignedRuns runs = align(Made("AAFAF", 100), Made("AAFAF", 700));
    EXPECT_TRUE(runs.equal);
    EXPECT_EQ(runs.alone, 0);
    EXPECT_EQ(runs.other, (std::vector<std::uint32_t>{ 0, 1, 2 }));
}

TEST(AlignedRuns, LeaveOutWhatOneAloneDoes)
{
    const AlignedRuns runs = align(Made("AFAFAF", 100), Made("AFAAFFAF", 100));
    EXPECT_FALSE(runs.equal);
    EXPECT_EQ(runs.alone, 1);
    EXPECT_EQ(runs.other.front(), 0u);
    EXPECT_EQ(runs.other.back(), 3u);
    const AlignedRuns none = align(Made("A", 1), Made("F", 1));
    EXPECT_EQ(none.other.front(), AlignedRuns::kNone);
    EXPECT_EQ(none.alone, 1);
}

TEST(AlignedRuns, FindTheLongestCommonPart)
{
    // Requests alone, on streams that differ: what is paired is the longest common subsequence.
    std::mt19937 random(5);
    for (int turn = 0; turn < 200; ++turn) {
        std::string a, b, textA, textB;
        const auto draw = [&](std::string& word, std::string& text) {
            const std::size_t count = 3 + random() % 12;
            for (std::size_t i = 0; i < count; ++i) { // all streams appear in the same order first
                word += static_cast<char>('1' + (i < 3 ? i : random() % 3));
                text += "alloc " + std::to_string(0x100000 + 0x1000 * word.size())
                    + " 512 stream=" + word.back() + "\n";
            }
        };
        draw(a, textA);
        draw(b, textB);
        const auto first = test::makeRecording(textA), second = test::makeRecording(textB);
        const auto traceA = DeviceTrace::build(*first, first->devices.front(), {});
        const auto traceB = DeviceTrace::build(*second, second->devices.front(), {});
        const AlignedRuns runs = alignRuns(*traceA, {}, *traceB, {});
        std::size_t paired = 0;
        std::int64_t last = -1;
        for (std::size_t row = 0; row < runs.other.size(); ++row)
            if (runs.other[row] != AlignedRuns::kNone) {
                ++paired;
                EXPECT_EQ(a[row], b[runs.other[row]]);
                EXPECT_GT(static_cast<std::int64_t>(runs.other[row]), last);
                last = runs.other[row];
            }
        EXPECT_EQ(paired, longestCommon(a, b)) << a << " " << b;
    }
}

TEST(AlignedRuns, PairWhatIsAskedForAtTheSamePlace)
{
    // The second one sorts before it sums up. In the third one every place is another, as in another version.
    const auto made = [](const std::vector<std::pair<int, const char*>>& asks, const std::string& file) {
        std::string text;
        for (const auto& [bytes, function] : asks)
            text += "alloc " + std::to_string(0x100000 + 0x1000 * text.size()) + " " + std::to_string(bytes)
                + " stack=" + function + "@" + file + ":7\n";
        return test::makeRecording(text);
    };
    const auto first = made({ { 64, "gather" }, { 8, "sum" }, { 32, "product" } }, "a.py");
    const auto second = made({ { 128, "gather" }, { 4, "sort" }, { 16, "sum" }, { 64, "product" } }, "a.py");
    const auto third = made({ { 128, "gather" }, { 4, "sort" }, { 16, "sum" }, { 64, "product" } }, "b.py");
    const auto traceOf = [](const auto& recording) {
        return *DeviceTrace::build(*recording, recording->devices.front(), {});
    };
    const auto a = traceOf(first), b = traceOf(second), c = traceOf(third);
    const AlignedRuns runs = alignRuns(a, {}, b, {});
    EXPECT_EQ(runs.other, (std::vector<std::uint32_t>{ 0, 2, 3 }));
    EXPECT_EQ(runs.alone, 1);
    EXPECT_EQ(alignRuns(a, {}, c, {}).alone, 1) << "by what they do";
}

} // namespace strata::model
