// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/column.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

namespace strata::model {

TEST(Column, ItemsStayWhereTheyAreWhileItGrows)
{
    Column<std::int64_t> column;
    column.push_back(7);
    const std::int64_t* const first = &column[0];
    const std::size_t count = 3 * Column<std::int64_t>::kChunk + 5;
    for (std::size_t i = 1; i < count; ++i)
        column.push_back(static_cast<std::int64_t>(i));
    EXPECT_EQ(column.size(), count);
    EXPECT_EQ(first, &column[0]);
    EXPECT_EQ(column[Column<std::int64_t>::kChunk], static_cast<std::int64_t>(Column<std::int64_t>::kChunk));
    EXPECT_EQ(column.back(), static_cast<std::int64_t>(count - 1));
}

TEST(Column, RunsCoverItOnce)
{
    Column<std::uint8_t> column;
    column.extendTo(Column<std::uint8_t>::kChunk + 10, 1);
    std::size_t seen = 0;
    for (auto run = column.run(0); !run.empty(); run = column.run(seen))
        seen += run.size();
    EXPECT_EQ(seen, column.size());
    column.extendTo(column.size() - 1, 2); // never shrinks
    EXPECT_EQ(seen, column.size());
    column.extendTo(seen + 3, 2);
    EXPECT_EQ(column[seen - 1], 1);
    EXPECT_EQ(column[seen], 2);
    EXPECT_EQ(column.back(), 2);
}

namespace {

template <class T> std::vector<T> items(const Column<T>& column)
{
    std::vector<T> all;
    for (auto run = column.run(0); !run.empty(); run = column.run(all.size()))
        all.insert(all.end(), run.begin(), run.end());
    return all;
}

} // namespace

TEST(Column, ACopyIsASnapshot)
{
    using Numbers = Column<std::int64_t>;
    Numbers column;
    column.extendTo(2 * Numbers::kChunk + 10, 1);
    const Numbers before = column;
    const std::int64_t* const shared = &before[Numbers::kChunk];
    for (int i = 0; i < 10; ++i)
        column.push_back(2); // into the chunk that the copy shows too
    EXPECT_EQ(&column[Numbers::kChunk], shared);
    EXPECT_EQ(&column[before.size() - 1], &before[before.size() - 1]);
    column.edit(5) = 3;
    column.edit(2 * Numbers::kChunk) = 4;
    column.edit(2 * Numbers::kChunk + 15) = 5; // the copy does not show it
    const Numbers between = column;
    column.edit(5) = 6;
    column.push_back(7);
    EXPECT_EQ(items(before), std::vector<std::int64_t>(2 * Numbers::kChunk + 10, 1));
    EXPECT_EQ(&column[Numbers::kChunk], shared); // nobody changed this chunk
    EXPECT_EQ(between[5], 3);
    EXPECT_EQ(between[2 * Numbers::kChunk], 4);
    EXPECT_EQ(between[2 * Numbers::kChunk + 9], 1);
    EXPECT_EQ(between[2 * Numbers::kChunk + 10], 2);
    EXPECT_EQ(between[2 * Numbers::kChunk + 15], 5);
    EXPECT_EQ(between.size() + 1, column.size());
    EXPECT_EQ(column[5], 6);
    EXPECT_EQ(column.back(), 7);
}

TEST(Column, ACopyGoesItsOwnWay)
{
    using Numbers = Column<std::int32_t>;
    Numbers column;
    column.extendTo(3, 1);
    Numbers other = column;
    other.push_back(2);
    column.push_back(3);
    other.edit(0) = 4;
    const Numbers third = other;
    other.push_back(5);
    EXPECT_EQ(items(column), (std::vector<std::int32_t>{ 1, 1, 1, 3 }));
    EXPECT_EQ(items(other), (std::vector<std::int32_t>{ 4, 1, 1, 2, 5 }));
    EXPECT_EQ(items(third), (std::vector<std::int32_t>{ 4, 1, 1, 2 }));
}

/// Random appends, changes and copies against vectors.
TEST(Column, CopiesNeverChange)
{
    using Bytes = Column<std::uint8_t>;
    std::mt19937 random(1);
    Bytes column;
    std::vector<std::uint8_t> naive;
    std::vector<std::pair<Bytes, std::vector<std::uint8_t>>> copies;
    for (int step = 0; step < 400; ++step) {
        const auto value = static_cast<std::uint8_t>(random());
        switch (random() % 4) {
        case 0:
            naive.resize(naive.size() + random() % 3000, value);
            column.extendTo(naive.size(), value);
            break;
        case 1:
            column.push_back(value);
            naive.push_back(value);
            break;
        case 2:
            for (int i = 0; i < 20 && !naive.empty(); ++i) {
                const std::size_t at = random() % naive.size();
                column.edit(at) = naive[at] = static_cast<std::uint8_t>(random());
            }
            break;
        default:
            if (copies.size() == 20)
                copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(random() % 20));
            copies.emplace_back(column, naive);
        }
        for (const auto& [copy, was] : copies)
            if (step % 20 == 0) {
                ASSERT_EQ(items(copy), was) << step;
            }
    }
    EXPECT_EQ(items(column), naive);
}

} // namespace strata::model
