// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/fat_binary.h"

#include <cstring>
#include <gmock/gmock.h>

namespace strata::simgpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T> void put(std::vector<unsigned char>& out, T value)
{
    const auto at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

/// A fat binary with entries of 64-byte headers and 40 bytes of code each, and its wrapper.
struct Binary {
    explicit Binary(std::vector<std::pair<int, int>> kindAndCapability)
    {
        put<std::uint32_t>(bytes, 0xba55ed50);
        put<std::uint16_t>(bytes, 1);
        put<std::uint16_t>(bytes, 16);
        put<std::uint64_t>(bytes, kindAndCapability.size() * 104);
        for (const auto& [kind, capability] : kindAndCapability) {
            const auto begin = bytes.size();
            put<std::uint16_t>(bytes, static_cast<std::uint16_t>(kind));
            put<std::uint16_t>(bytes, 0x101);
            put<std::uint32_t>(bytes, 64);
            put<std::uint64_t>(bytes, 40);
            bytes.resize(begin + 28);
            put<std::uint32_t>(bytes, static_cast<std::uint32_t>(capability));
            bytes.resize(begin + 104);
        }
        put<std::uint32_t>(wrapper, 0x466243b1);
        put<std::uint32_t>(wrapper, 1);
        put<const void*>(wrapper, bytes.data());
        put<const void*>(wrapper, nullptr);
    }
    std::vector<unsigned char> bytes;
    std::vector<unsigned char> wrapper;
};

TEST(FatBinary, ListsWhatItWasCompiledFor)
{
    const Binary binary({ { 2, 75 }, { 2, 80 }, { 2, 90 }, { 1, 90 } });
    const CompiledFor compiled = readFatBinary(binary.wrapper.data());
    EXPECT_THAT(compiled.machineCode, ElementsAre(75, 80, 90));
    EXPECT_THAT(compiled.assembly, ElementsAre(90));
}

TEST(FatBinary, AnythingElseIsEmpty)
{
    EXPECT_THAT(readFatBinary(nullptr).machineCode, IsEmpty());
    const std::vector<unsigned char> nonsense(64, 0x77);
    EXPECT_THAT(readFatBinary(nonsense.data()).machineCode, IsEmpty());
}

TEST(ChooseCode, TakesTheNewestThatRuns)
{
    const CompiledFor wheel{ { 75, 80, 86, 90 }, { 90 } };
    EXPECT_EQ(chooseCode(wheel, 8, 9).binary, 86);
    EXPECT_EQ(chooseCode(wheel, 8, 0).binary, 80);
    EXPECT_EQ(chooseCode(wheel, 9, 0).assembly, 90);
    EXPECT_EQ(chooseCode(wheel, 7, 0).binary, 0);
    EXPECT_EQ(chooseCode(wheel, 10, 0).binary, 100);
    EXPECT_EQ(chooseCode(wheel, 10, 0).assembly, 90);
}

TEST(KernelRegistry, FindsTheBinaryOfAKernel)
{
    const Binary a({ { 2, 80 } });
    const Binary b({ { 2, 90 } });
    KernelRegistry registry;
    const char kernels[3] = {};
    const void* first = registry.addBinary(a.wrapper.data());
    registry.addKernel(first, &kernels[1], "one");
    EXPECT_THAT(registry.compiledFor(&kernels[1]).machineCode, ElementsAre(80));
    const void* second = registry.addBinary(b.wrapper.data());
    registry.addKernel(second, &kernels[0], "zero");
    EXPECT_THAT(registry.compiledFor(&kernels[0]).machineCode, ElementsAre(90));
    EXPECT_THAT(registry.compiledFor(&kernels[1]).machineCode, ElementsAre(80));
    EXPECT_THAT(registry.compiledFor(&kernels[2]).machineCode, IsEmpty());
    EXPECT_STREQ(registry.nameOf(&kernels[0]), "zero");
    EXPECT_STREQ(registry.nameOf(&kernels[1]), "one");
    EXPECT_EQ(registry.nameOf(&kernels[2]), nullptr);
}

} // namespace
} // namespace strata::simgpu
