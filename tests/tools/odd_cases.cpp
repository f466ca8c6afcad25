// SPDX-License-Identifier: GPL-3.0-or-later
// Cases that end in every way, for test_run_cases.py: STRATA_ODD says which of them goes wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

bool odd(const char* way)
{
    const char* wanted = std::getenv("STRATA_ODD");
    return wanted && std::string(wanted) == way;
}

TEST(Odd, Passes) { }

TEST(Odd, Fails)
{
    EXPECT_FALSE(odd("fail"));
}

TEST(Odd, IsSkipped)
{
    GTEST_SKIP() << "always";
}

TEST(Odd, EndsTheProgram)
{
    if (odd("abort"))
        std::abort();
    if (odd("exit"))
        std::_Exit(0); // as if all had passed
}

TEST(Odd, FailsBesideOthers)
{
    static int runs = 0;
    EXPECT_FALSE(odd("disturbed") && testing::UnitTest::GetInstance()->test_to_run_count() > 1);
    EXPECT_EQ(++runs, 1);
}

} // namespace
