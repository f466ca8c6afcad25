// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/column.h"

#include <cstdint>
#include <gtest/gtest.h>

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

} // namespace strata::model
