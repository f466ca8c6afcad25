// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/stacks/stacks.h"

#include <gtest/gtest.h>

namespace strata::agent {
namespace {

constexpr std::uint64_t kMemory = 1 << 20;

std::uint32_t unwind(std::uint64_t* addresses, std::uint32_t) noexcept
{
    addresses[0] = 4711;
    return 1;
}

} // namespace

/// This process runs no Python.
TEST(Stacks, AreThoseOfCppWithoutPython)
{
    Stacks stacks(kMemory);
    for (const StackKind wanted : { StackKind::Native, StackKind::PythonElseNative }) {
        std::string why;
        stacks.use(wanted, unwind, why);
        EXPECT_EQ(why, "");
        EXPECT_EQ(stacks.kind(), StackKind::Native);
        const Stacks::Taken taken = stacks.gather();
        EXPECT_EQ(taken.kind, StackKind::Native);
        ASSERT_NE(taken.number, 0u);
        EXPECT_FALSE(stacks[taken.number].empty());
    }
}

TEST(Stacks, AreNoneWherePythonIsWantedAndIsNotThere)
{
    Stacks stacks(kMemory);
    std::string why;
    stacks.use(StackKind::Python, unwind, why);
    EXPECT_EQ(why, "stacks of Python are not recorded: this process runs no Python");
    EXPECT_EQ(stacks.kind(), StackKind::None);
    EXPECT_EQ(stacks.gather().number, 0u);
    why.clear();
    stacks.use(StackKind::None, unwind, why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(stacks.gather().number, 0u);
}

} // namespace strata::agent
