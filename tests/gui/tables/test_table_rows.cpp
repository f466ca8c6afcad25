// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using strata::views::JobContext;
using strata::views::sortByKey;
using strata::views::TableRows;

namespace {

std::vector<std::uint32_t> upTo(std::uint32_t count)
{
    std::vector<std::uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
}

TEST(SortByKey, OrdersLikeAStableSort)
{
    std::mt19937_64 random(7);
    for (const std::uint64_t mask : { 0xffull, 0xffff'0000ull, ~0ull, 0x7ull << 61, 0ull }) {
        std::vector<std::uint64_t> keys(5000);
        for (std::uint64_t& key : keys)
            key = random() & mask;
        std::vector<std::uint32_t> expected = upTo(5000);
        std::stable_sort(expected.begin(), expected.end(),
            [&keys](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
        std::vector<std::uint32_t> rows = upTo(5000);
        sortByKey(keys, rows, JobContext());
        EXPECT_EQ(rows, expected) << std::hex << mask;
    }
}

TEST(SortByKey, TakesNothingAndOne)
{
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;
    sortByKey(keys, rows, JobContext());
    EXPECT_TRUE(rows.empty());
    keys = { 9 };
    rows = { 3 };
    sortByKey(keys, rows, JobContext());
    EXPECT_EQ(rows, std::vector<std::uint32_t>{ 3 });
}

TEST(TableRows, WholeTableTakesNoList)
{
    const TableRows rows = TableRows::all(6'300'000, {});
    EXPECT_TRUE(rows.isWholeTable());
    EXPECT_EQ(rows[6'299'999], 6'299'999u);
    EXPECT_EQ(rows.positionOf(5), 5u);
    EXPECT_EQ(rows.positionOf(6'300'000), std::nullopt);
    EXPECT_EQ(rows.nearest(7'000'000), 6'299'999u);
}

TEST(TableRows, FindsRowsInTheTablesOwnOrder)
{
    const TableRows rows = TableRows::of({ 3, 5, 9 }, true, {});
    EXPECT_EQ(rows.positionOf(5), 1u);
    EXPECT_EQ(rows.positionOf(6), std::nullopt);
    EXPECT_EQ(rows.nearest(8), 1u); // the last one before
    EXPECT_EQ(rows.nearest(2), 0u);
    EXPECT_EQ(rows.nearest(100), 2u);
}

TEST(TableRows, FindsRowsInAnyOrder)
{
    const TableRows rows = TableRows::of({ 9, 3, 5 }, false, {});
    EXPECT_EQ(rows.positionOf(5), 2u);
    EXPECT_EQ(rows.nearest(4), std::nullopt);
}

TEST(TableRows, NothingShownIsNotEverything)
{
    const TableRows rows = TableRows::of({}, true, {});
    EXPECT_EQ(rows.size(), 0u);
    EXPECT_FALSE(rows.isWholeTable());
    EXPECT_EQ(rows.nearest(4), std::nullopt);
    EXPECT_EQ(rows.positionOf(0), std::nullopt);
}

} // namespace
