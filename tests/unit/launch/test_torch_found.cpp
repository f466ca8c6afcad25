// SPDX-License-Identifier: GPL-3.0-or-later
// Which PyTorch a Python has, and which of the two variables for its allocator it uses.
#include "app/launch/diagnosis.h"
#include "capture/simgpu/launch/libtorch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace strata::launch {
namespace {

namespace fs = std::filesystem;

/// A package "torch" of that version, which the Python in PATH finds while this lives.
class FakeTorch {
public:
    explicit FakeTorch(const std::string& version)
    {
        fs::create_directories(m_folder / "torch" / "lib");
        std::ofstream(m_folder / "torch" / "__init__.py") << "";
        std::ofstream(m_folder / "torch" / "version.py") << "__version__ = '" << version << "'\nhip = None\n";
        ::setenv("PYTHONPATH", m_folder.c_str(), 1);
    }
    ~FakeTorch()
    {
        ::unsetenv("PYTHONPATH");
        fs::remove_all(m_folder);
    }
    FakeTorch(const FakeTorch&) = delete;
    FakeTorch& operator=(const FakeTorch&) = delete;

private:
    fs::path m_folder = fs::temp_directory_path() / ("strata-torch-" + std::to_string(::getpid()));
};

TEST(TorchFound, OfAVersionWithoutFiguresIsRejectedWithThoseThatWork)
{
    const auto program = simgpu::findProgram("python3");
    if (!program)
        GTEST_SKIP() << program.error();
    for (const auto& [version, isTooOld] : { std::pair{ "1.13.1", true }, std::pair{ "2.1.0+cu121", true },
             std::pair{ "2.3.1", true }, std::pair{ "2.4.0", false }, std::pair{ "2.15.0+cu130", false } }) {
        const FakeTorch torch(version);
        const auto found = simgpu::findLibTorch(*program);
        ASSERT_FALSE(found) << version << ": it has no libraries";
        EXPECT_TRUE(found.error().isInstalled) << version;
        EXPECT_EQ(found.error().what.find("too old: Strata works with torch 2.4 and newer") != std::string::npos,
            isTooOld)
            << found.error().what;
        EXPECT_NE(found.error().what.find(version), std::string::npos) << found.error().what;
    }
}

TEST(AllocatorEnvironment, WarnsWhereAVariableIsIgnored)
{
    const AllocatorEnvironment ignored = allocatorEnvironment("max_split_size_mb:64", {}, "", "2.9.1");
    EXPECT_EQ(ignored.warning,
        "torch 2.9.1 ignores PYTORCH_ALLOC_CONF: use PYTORCH_CUDA_ALLOC_CONF, which works in every version");
    EXPECT_EQ(ignored.tookEffect, "");
    EXPECT_EQ(ignored.asked, (std::vector<std::string>{ "PYTORCH_ALLOC_CONF=max_split_size_mb:64" }));
}

TEST(AllocatorEnvironment, WarnsWhereBothAreSet)
{
    const std::string both = "PYTORCH_ALLOC_CONF and PYTORCH_CUDA_ALLOC_CONF are both set: ";
    EXPECT_EQ(allocatorEnvironment("a:1", "b:2", "b:2", "2.9.1").warning,
        both + "torch 2.9.1 uses PYTORCH_CUDA_ALLOC_CONF");
    EXPECT_EQ(allocatorEnvironment("a:1", "b:2", "a:1", "2.15.0").warning,
        both + "torch 2.15.0 uses PYTORCH_ALLOC_CONF");
    EXPECT_EQ(allocatorEnvironment("a:1", "a:1", "a:1", "2.15.0").warning, both + "keep one of them");
}

TEST(AllocatorEnvironment, IsSilentWhereItTookEffect)
{
    EXPECT_EQ(allocatorEnvironment({}, "a:1", "a:1", "2.6.0").warning, "");
    EXPECT_EQ(allocatorEnvironment("a:1", {}, "a:1", "2.15.0").warning, "");
    EXPECT_EQ(allocatorEnvironment("a:1", {}, {}, "2.15.0").warning,
        "torch 2.15.0 does not say which settings it uses");
}

} // namespace
} // namespace strata::launch
