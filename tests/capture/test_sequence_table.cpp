// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/program/texts.h"
#include "capture/agent/stacks/sequence_table.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace strata::agent {

namespace {

using Words = std::vector<std::uint64_t>;

Words drawn(std::mt19937_64& random)
{
    Words words(random() % 6);
    for (std::uint64_t& word : words)
        word = random() % 5;
    return words;
}

TEST(SequenceTable, EqualSequencesHaveOneNumber)
{
    SequenceTable table(16, 14);
    ASSERT_TRUE(table.usable());
    std::mt19937_64 random(7);
    std::map<Words, std::uint32_t> known;
    for (int i = 0; i < 50'000; ++i) {
        const Words words = drawn(random);
        const std::uint32_t number = table.intern(words);
        ASSERT_NE(number, SequenceTable::kFull);
        EXPECT_EQ(known.try_emplace(words, number).first->second, number);
        const auto back = table[number];
        EXPECT_EQ(Words(back.begin(), back.end()), words);
    }
    std::map<std::uint32_t, Words> byNumber;
    for (const auto& [words, number] : known)
        EXPECT_TRUE(byNumber.try_emplace(number, words).second);
}

TEST(SequenceTable, KnowsWhatItHasWhenItIsFull)
{
    for (const auto& [wordBits, slotBits] : { std::pair(6u, 10u), std::pair(16u, 4u) }) {
        SequenceTable table(wordBits, slotBits);
        std::map<std::uint64_t, std::uint32_t> kept;
        std::uint64_t refused = 0;
        EXPECT_FALSE(table.isHalfFull());
        for (std::uint64_t i = 0; i < 100; ++i) {
            const Words words{ i, i * i };
            if (const std::uint32_t number = table.intern(words); number != SequenceTable::kFull)
                kept[i] = number;
            else
                ++refused;
        }
        EXPECT_GT(kept.size(), 5u);
        EXPECT_GT(refused, 10u);
        EXPECT_EQ(table.refused(), refused);
        EXPECT_TRUE(table.isHalfFull());
        for (const auto& [i, number] : kept)
            EXPECT_EQ(table.intern(Words{ i, i * i }), number);
    }
}

TEST(SequenceTable, ThreadsAgree)
{
    SequenceTable table(20, 16);
    constexpr int kThreads = 4;
    std::vector<std::vector<std::uint32_t>> numbers(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 20'000; ++i)
                numbers[static_cast<std::size_t>(t)].push_back(table.intern(Words{ i % 3000, 3, i % 3000 }));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    for (int t = 1; t < kThreads; ++t)
        EXPECT_EQ(numbers[static_cast<std::size_t>(t)], numbers[0]);
}

TEST(SequenceTable, HoldsTexts)
{
    SequenceTable table(16, 10);
    EXPECT_EQ(internText(table, ""), 0u);
    const std::string texts[]
        = { "a", "12345678", "123456789", std::string("\0x", 2), std::string(kLongestText, 'y') };
    for (const std::string& text : texts)
        EXPECT_EQ(textAt(table, internText(table, text)), text);
    EXPECT_EQ(textAt(table, internText(table, std::string(kLongestText + 5, 'y'))), texts[4]);
}

} // namespace

} // namespace strata::agent
