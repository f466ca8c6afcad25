// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/hook_maker/compile.h"
#include "capture/hook_maker/hook_cache.h"
#include "capture/hook_maker/include_walk.h"
#include "capture/hook_maker/make_hook.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

namespace strata::hook {

namespace {

namespace fs = std::filesystem;

/// A LibTorch and a Strata of files that hold what is looked for, and a user's cache.
class HookFiles : public testing::Test {
protected:
    HookFiles()
    {
        write("torch/version.py",
            "from typing import Optional\n__all__ = ['__version__', 'cuda']\n__version__ = '2.9.1+cu128'\n"
            "cuda: Optional[str] = '12.8'\n");
        write("torch/lib/libc10.so",
            "\x7f"
            "ELF _ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11");
        write("torch/lib/libc10_cuda.so",
            "\x7f"
            "ELF libcudart.so.13\n");
        write("torch/include/c10/cuda/CUDACachingAllocator.h", "#include <c10/core/Other.h>\n");
        write("torch/include/c10/core/Other.h", "// one\n");
        write("strata/hook-src/capture/hook/torch_hook.cpp",
            "#include \"torch_hook.h\"\n #  include <c10/cuda/CUDACachingAllocator.h>\n");
        write("strata/hook-src/capture/hook/torch_hook.h", "#include <vector>\n");
    }

    void write(const std::string& name, const std::string& text) const { m_temporary.file(name, text); }
    [[nodiscard]] TorchFiles torch() const { return readTorchFiles(m_folder / "torch" / "lib"); }
    [[nodiscard]] fs::path libraries() const { return m_folder / "strata"; }

    test::TemporaryDirectory m_temporary;
    const fs::path m_folder = m_temporary.path();
    const test::Variable m_cache{ "XDG_CACHE_HOME", m_folder / "cache" };
    const test::Variable m_torchVersion{ "STRATA_TORCH_VERSION", std::nullopt };
};

TEST_F(HookFiles, WhatAWheelTells)
{
    const TorchFiles torch = this->torch();
    EXPECT_EQ(torch.version, "2.9.1+cu128");
    EXPECT_EQ(torch.minorVersion(), "2.9");
    EXPECT_EQ(torch.cuda, "12.8");
    EXPECT_EQ(torch.cudaMajor, 13) << "what it links";
    EXPECT_TRUE(torch.newStrings);
    EXPECT_TRUE(torch.isRelease());
    EXPECT_EQ(torch.headers, m_folder / "torch" / "include");
    m_torchVersion.set("2.10.0a0+git12");
    EXPECT_EQ(this->torch().minorVersion(), "2.10");
    EXPECT_FALSE(this->torch().isRelease());
}

TEST_F(HookFiles, StringsOfBefore)
{
    write("torch/lib/libc10.so", "_ZN3c105ErrorC1ENS_14SourceLocationESs");
    EXPECT_FALSE(torch().newStrings);
}

/// An archive for C++ has another file, and one without any has its headers.
TEST_F(HookFiles, VersionsOfOthers)
{
    fs::remove(m_folder / "torch/version.py");
    write("torch/include/torch/headeronly/version.h",
        "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 14\n#define TORCH_VERSION_PATCH 3\n");
    EXPECT_EQ(torch().version, "2.14.3");
    write("torch/build-version", "2.6.0+cu124\n");
    EXPECT_EQ(torch().version, "2.6.0+cu124");
}

/// What goes into a hook is in its name; where the files lie is not.
TEST_F(HookFiles, NameOfAll)
{
    const std::string name = hookName(torch(), libraries());
    EXPECT_EQ(name.find("libstrata_torch2.9.1+cu128-cuda13-abi1-"), 0u) << name;
    fs::copy(m_folder / "torch", m_folder / "elsewhere", fs::copy_options::recursive);
    EXPECT_EQ(hookName(readTorchFiles(m_folder / "elsewhere/lib/"), libraries()), name);
    write("elsewhere/include/c10/core/Other.h", "// two\n");
    EXPECT_NE(hookName(readTorchFiles(m_folder / "elsewhere/lib"), libraries()), name)
        << "a header of a header";
    write("elsewhere/include/c10/core/Other.h", "// one\n");
    write("elsewhere/include/c10/core/Unused.h", "// new\n");
    EXPECT_EQ(hookName(readTorchFiles(m_folder / "elsewhere/lib"), libraries()), name);
    write("strata/hook-src/capture/hook/torch_hook.h", "#include <vector>\n// ours\n");
    EXPECT_NE(hookName(torch(), libraries()), name);
}

TEST_F(HookFiles, HeadersThatIncludeEachOther)
{
    write("a.h", "#include \"b.h\"\n");
    write("b.h", "#include \"a.h\"\n#include <none.h>\n#include MACRO\n#include \"\n");
    EXPECT_NE(hashWithIncludes(m_folder / "a.h", { m_folder }), 0u);
    EXPECT_EQ(hashWithIncludes(m_folder / "no.h", { m_folder }), 0u);
}

TEST_F(HookFiles, OneThatCameWithStrata)
{
    EXPECT_EQ(builtHook(torch(), libraries()), fs::path());
    write("strata/libstrata_torch2.9-abi1.so", "");
    EXPECT_EQ(findHook(torch(), libraries()), libraries() / "libstrata_torch2.9-abi1.so");
    EXPECT_EQ(makeHook(torch(), libraries()).value(), libraries() / "libstrata_torch2.9-abi1.so");
    m_torchVersion.set("2.9.0a0+git12");
    EXPECT_EQ(builtHook(torch(), libraries()), fs::path()) << "between two versions nobody knows";
}

TEST_F(HookFiles, OnlyWhatNobodyElseCanWrite)
{
    const std::string name = hookName(torch(), libraries());
    const fs::path folder = m_folder / "cache/strata/hooks";
    write("cache/strata/hooks/" + name, "");
    fs::permissions(folder, fs::perms::owner_all);
    fs::permissions(folder / name, fs::perms::owner_all);
    EXPECT_EQ(findHook(torch(), libraries()), folder / name);
    fs::permissions(folder, fs::perms::group_write, fs::perm_options::add);
    EXPECT_EQ(findHook(torch(), libraries()), fs::path());
    fs::permissions(folder, fs::perms::owner_all);
    fs::rename(folder / name, folder / "other");
    fs::create_symlink("other", folder / name);
    EXPECT_EQ(findHook(torch(), libraries()), fs::path());
}

TEST_F(HookFiles, WhatIsMissingIsSaid)
{
    const auto why = [&] { return makeHook(torch(), libraries()).error(); };
    fs::rename(m_folder / "strata/hook-src", m_folder / "strata/away");
    EXPECT_NE(why().find("install Strata again"), std::string::npos);
    fs::remove(m_folder / "torch/include/c10/cuda/CUDACachingAllocator.h");
    EXPECT_NE(why().find("without the headers"), std::string::npos);
    fs::remove(m_folder / "torch/version.py");
    EXPECT_NE(why().find("STRATA_TORCH_VERSION"), std::string::npos);
}

/// The first error of the first compiler; what it makes is not left behind half done.
TEST_F(HookFiles, WhatTheCompilerSays)
{
    write("strata/hook-src/capture/hook/torch_hook.cpp",
        "#include <c10/cuda/CUDACachingAllocator.h>\n#error odd torch\n");
    if (compilers().empty())
        GTEST_SKIP() << "no compiler";
    int told = 0;
    const auto made = makeHook(torch(), libraries(), [&] { ++told; });
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().find("torch_hook.cpp:2:2: error: "), std::string::npos) << made.error();
    EXPECT_NE(made.error().find("odd torch"), std::string::npos);
    EXPECT_EQ(told, 1);
    for (const auto& entry : fs::directory_iterator(m_folder / "cache/strata/hooks"))
        EXPECT_EQ(entry.path().extension(), ".failed");
    // With the next source it is made, under another name.
    write("strata/hook-src/capture/hook/torch_hook.cpp", "int strata_torch_hook() { return 1; }\n");
    const auto next = makeHook(torch(), libraries());
    ASSERT_TRUE(next) << next.error();
    EXPECT_EQ(findHook(torch(), libraries()), *next);
    EXPECT_EQ(fs::status(next->parent_path()).permissions(), fs::perms::owner_all);
}

/// What was made for a LibTorch that is gone does not stay for ever, what is in use does.
TEST_F(HookFiles, ThoseThatNobodyUsesGo)
{
    const std::string name = hookName(torch(), libraries());
    const fs::path folder = m_folder / "cache/strata/hooks";
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 100);
    for (const std::string& file : { name, std::string("libstrata_torch2.4.0-cuda12-abi0-0-1.so"),
             std::string("libstrata_torch2.5.0-cuda12-abi0-0-1.so.failed"), std::string("other.so") }) {
        write("cache/strata/hooks/" + file, "");
        fs::last_write_time(folder / file, old);
    }
    write("cache/strata/hooks/libstrata_torch2.6.0-cuda12-abi0-0-1.so", "");
    fs::permissions(folder, fs::perms::owner_all);
    fs::permissions(folder / name, fs::perms::owner_all);
    EXPECT_EQ(keptHook(name), folder / name);
    removeUnused(folder);
    std::set<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder))
        left.insert(entry.path().filename());
    EXPECT_EQ(left, (std::set<std::string>{ name, "libstrata_torch2.6.0-cuda12-abi0-0-1.so", "other.so" }));
}

} // namespace

} // namespace strata::hook
