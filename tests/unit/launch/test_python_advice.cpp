// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/simgpu/launch/python_advice.h"

#include <gtest/gtest.h>

namespace strata::simgpu {

namespace {

TEST(PythonAdvice, NoPyTorch)
{
    EXPECT_EQ(howToInstallTorch({ .path = "/venv/bin/python", .torchVersion = {} }),
        "/venv/bin/python -m pip install torch");
}

/// pip takes the version without CUDA for the one that is asked for, and an index of CPU builds may be
/// configured.
TEST(PythonAdvice, OverABuildForTheCpu)
{
    EXPECT_EQ(howToInstallTorch({ .path = "/venv/bin/python", .torchVersion = "2.6.0+cpu" }),
        "/venv/bin/python -m pip install --force-reinstall torch==2.6.0 --index-url https://pypi.org/simple");
}

TEST(PythonAdvice, ABuildThatNoIndexHas)
{
    EXPECT_EQ(howToInstallTorch({ .path = "python", .torchVersion = "2.9.0a0+git1234" }),
        "python -m pip install --force-reinstall torch --index-url https://pypi.org/simple");
}

TEST(PythonAdvice, WithoutPip)
{
    EXPECT_EQ(howToInstallTorch({ .path = "python", .torchVersion = {}, .hasPip = false }),
        "python -m ensurepip && python -m pip install torch");
}

TEST(PythonAdvice, OfADistribution)
{
    PythonFacts facts{ .path = "/usr/bin/python3", .torchVersion = "1.13.1", .isManaged = true };
    const std::string line = howToInstallTorch(facts);
    EXPECT_EQ(
        line.find("/usr/bin/python3 -m venv ~/torch-env && ~/torch-env/bin/python -m pip install torch"), 0u);
    facts.hasVenv = false;
    EXPECT_EQ(howToInstallTorch(facts), "apt-get install python3-venv && " + line);
}

} // namespace

} // namespace strata::simgpu
