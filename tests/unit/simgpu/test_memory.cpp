// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/machine.h"

#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

namespace strata::simgpu {
namespace {

constexpr std::size_t kMebibyte = std::size_t{ 1 } << 20;

Settings small(int devices = 1)
{
    Settings settings;
    settings.devices = devices;
    settings.capacityBytes = 64 * kMebibyte;
    return settings;
}

void* at(Address address)
{
    return reinterpret_cast<void*>(address);
}

TEST(DeviceMemory, ChargesWholeGranulesAboveAMebibyte)
{
    DeviceMemory memory(small());
    Address a = 0;
    ASSERT_EQ(memory.allocate(0, kMebibyte, a), Status::Ok);
    EXPECT_EQ(memory.used(0), kMebibyte);
    ASSERT_EQ(memory.allocate(0, kMebibyte + 1, a), Status::Ok);
    EXPECT_EQ(memory.used(0), 3 * kMebibyte);
    EXPECT_EQ(memory.release(a), Status::Ok);
    EXPECT_EQ(memory.used(0), kMebibyte);
    ASSERT_EQ(memory.allocate(0, 21 * kMebibyte + 512, a), Status::Ok);
    EXPECT_EQ(memory.used(0), 23 * kMebibyte);
}

TEST(DeviceMemory, RefusesWhatDoesNotFit)
{
    DeviceMemory memory(small(2));
    Address a = 0;
    Address b = 0;
    EXPECT_EQ(memory.allocate(0, 40 * kMebibyte, a), Status::Ok);
    EXPECT_EQ(memory.allocate(0, 40 * kMebibyte, b), Status::OutOfMemory);
    EXPECT_EQ(b, 0u);
    EXPECT_EQ(memory.allocate(1, 40 * kMebibyte, b), Status::Ok);
    EXPECT_EQ(memory.release(a), Status::Ok);
    EXPECT_EQ(memory.used(0), 0u);
    EXPECT_EQ(memory.used(1), 40 * kMebibyte);
    EXPECT_EQ(memory.allocate(0, 64 * kMebibyte, a), Status::Ok);
    EXPECT_EQ(memory.allocate(0, 1, b), Status::OutOfMemory);
    EXPECT_EQ(memory.allocate(0, SIZE_MAX, b), Status::OutOfMemory);
}

TEST(DeviceMemory, LeavesOtherProcessesWhatTheyHold)
{
    Settings settings = small(2);
    settings.otherBytes = 40 * kMebibyte;
    DeviceMemory memory(settings);
    EXPECT_EQ(memory.free(0), 24 * kMebibyte);
    EXPECT_EQ(memory.used(0), 0u);
    EXPECT_EQ(memory.usedByOthers(1), 40 * kMebibyte);
    Address a = 0;
    Address b = 0;
    EXPECT_EQ(memory.allocate(0, 26 * kMebibyte, a), Status::OutOfMemory);
    EXPECT_EQ(memory.allocate(0, 24 * kMebibyte, a), Status::Ok);
    EXPECT_EQ(memory.free(0), 0u);
    EXPECT_EQ(memory.free(1), 24 * kMebibyte);
    EXPECT_EQ(memory.allocate(0, 1, b), Status::OutOfMemory);
    EXPECT_EQ(memory.release(a), Status::Ok);
    EXPECT_EQ(memory.free(0), 24 * kMebibyte);

    settings.otherBytes = 100 * kMebibyte; // more than there is
    DeviceMemory full(settings);
    EXPECT_EQ(full.free(0), 0u);
    EXPECT_EQ(full.allocate(0, 1, a), Status::OutOfMemory);
}

TEST(DeviceMemory, KnowsItsRangesAndNobodyElses)
{
    DeviceMemory memory(small());
    Address a = 0;
    ASSERT_EQ(memory.allocate(0, 1000, a), Status::Ok);
    EXPECT_EQ(memory.used(0), 1024u);
    Address base = 0;
    ASSERT_NE(memory.find(a + 1023, &base), nullptr);
    EXPECT_EQ(base, a);
    EXPECT_EQ(memory.find(a + 1024), nullptr);
    EXPECT_EQ(memory.release(a + 512), Status::InvalidValue);
    EXPECT_EQ(memory.release(a), Status::Ok);
    EXPECT_EQ(memory.release(a), Status::InvalidValue);
    EXPECT_EQ(memory.release(0), Status::Ok);
}

TEST(DeviceMemory, PoolKeepsWhatComesBackUntilTrimmed)
{
    DeviceMemory memory(small());
    Address a = 0;
    ASSERT_EQ(memory.allocateFromPool(0, 10 * kMebibyte, a), Status::Ok);
    EXPECT_EQ(memory.used(0), 32 * kMebibyte);
    memory.trimPool(0, 0);
    EXPECT_EQ(memory.used(0), 32 * kMebibyte) << "it is in use";
    EXPECT_EQ(memory.release(a), Status::Ok);
    EXPECT_EQ(memory.pool(0).used, 0u);
    EXPECT_EQ(memory.pool(0).usedHigh, 10 * kMebibyte);
    EXPECT_EQ(memory.used(0), 32 * kMebibyte);
    memory.trimPool(0, 0);
    EXPECT_EQ(memory.used(0), 0u);
    EXPECT_EQ(memory.allocateFromPool(0, 65 * kMebibyte, a), Status::OutOfMemory);
}

TEST(DeviceMemory, ImportsOnceForEachOrigin)
{
    DeviceMemory memory(small());
    Address a = 0;
    ASSERT_EQ(memory.allocate(0, kMebibyte, a), Status::Ok);
    IpcOrigin origin;
    ASSERT_EQ(memory.exportRange(a + 100, 1234, origin), Status::Ok);
    EXPECT_EQ(origin.address, a);
    Address first = 0;
    Address second = 0;
    ASSERT_EQ(memory.import(origin, first), Status::Ok);
    ASSERT_EQ(memory.import(origin, second), Status::Ok);
    EXPECT_EQ(first, second);
    EXPECT_NE(first, a);
    EXPECT_EQ(memory.used(0), kMebibyte);
    EXPECT_EQ(memory.closeImported(first), Status::Ok);
    EXPECT_NE(memory.find(first), nullptr);
    EXPECT_EQ(memory.closeImported(first), Status::Ok);
    EXPECT_EQ(memory.find(first), nullptr);
    EXPECT_EQ(memory.closeImported(first), Status::InvalidValue);
}

class VirtualMemoryTest : public testing::Test {
protected:
    VirtualMemoryTest() { EXPECT_EQ(memory.reserve(32 * kMebibyte, base), Status::Ok); }

    DeviceMemory memory{ small() };
    VirtualMemory mapped{ memory };
    Address base = 0;
};

TEST_F(VirtualMemoryTest, ChargesHandlesUntilReleasedAndUnmapped)
{
    VirtualMemory::Handle handle = 0;
    ASSERT_EQ(mapped.create(0, 2 * kMebibyte, handle), Status::Ok);
    EXPECT_EQ(memory.used(0), 2 * kMebibyte);
    ASSERT_EQ(mapped.map(base, 2 * kMebibyte, handle), Status::Ok);
    EXPECT_EQ(mapped.deviceAt(base + 5), 0);
    EXPECT_TRUE(mapped.isMapped(base, 2 * kMebibyte));
    EXPECT_FALSE(mapped.isMapped(base, 4 * kMebibyte));
    EXPECT_EQ(mapped.release(handle), Status::Ok);
    EXPECT_EQ(memory.used(0), 2 * kMebibyte);
    EXPECT_EQ(mapped.unmap(base, 2 * kMebibyte), Status::Ok);
    EXPECT_EQ(memory.used(0), 0u);
    EXPECT_EQ(mapped.release(handle), Status::InvalidValue);
}

TEST_F(VirtualMemoryTest, RefusesOverlapsPartsAndForeignAddresses)
{
    VirtualMemory::Handle handle = 0;
    ASSERT_EQ(mapped.create(0, 4 * kMebibyte, handle), Status::Ok);
    EXPECT_EQ(mapped.create(0, 3, handle), Status::InvalidValue);
    EXPECT_EQ(mapped.map(base, 2 * kMebibyte, handle), Status::InvalidValue);
    ASSERT_EQ(mapped.map(base + 2 * kMebibyte, 4 * kMebibyte, handle), Status::Ok);
    EXPECT_EQ(mapped.map(base, 4 * kMebibyte, handle), Status::InvalidValue);
    EXPECT_EQ(mapped.map(base + 4 * kMebibyte, 4 * kMebibyte, handle), Status::InvalidValue);
    EXPECT_EQ(mapped.map(base + 30 * kMebibyte, 4 * kMebibyte, handle), Status::InvalidValue);
    EXPECT_EQ(mapped.unmap(base + 2 * kMebibyte, 2 * kMebibyte), Status::InvalidValue);
    EXPECT_EQ(mapped.unmap(base, 2 * kMebibyte), Status::InvalidValue);
    EXPECT_EQ(mapped.unmap(base + 2 * kMebibyte, 4 * kMebibyte), Status::Ok);
    VirtualMemory::Handle big = 0;
    EXPECT_EQ(mapped.create(0, 62 * kMebibyte, big), Status::OutOfMemory);
}

TEST(HostMemory, PinnedAndRegisteredRanges)
{
    HostMemory host;
    void* a = nullptr;
    ASSERT_EQ(host.allocate(5000, HostMemory::Kind::Pinned, a), Status::Ok);
    std::memset(a, 1, 5000);
    EXPECT_NE(host.find(static_cast<char*>(a) + 4999), nullptr);
    EXPECT_EQ(host.registerRange(a, 10), Status::HostMemoryAlreadyRegistered);
    HostMemory::forget(a, 5000);
    EXPECT_EQ(static_cast<char*>(a)[0], 0);
    EXPECT_EQ(static_cast<char*>(a)[4999], 0);
    EXPECT_EQ(host.release(a, HostMemory::Kind::Managed), Status::NotFound);
    EXPECT_EQ(host.release(a, HostMemory::Kind::Pinned), Status::Ok);
    std::vector<char> mine(100);
    EXPECT_EQ(host.registerRange(mine.data(), mine.size()), Status::Ok);
    EXPECT_EQ(host.unregister(mine.data()), Status::Ok);
    EXPECT_EQ(host.unregister(mine.data()), Status::HostMemoryNotRegistered);
}

class Copies : public testing::Test {
protected:
    Address take(std::size_t bytes)
    {
        Address address = 0;
        EXPECT_EQ(machine.memory.allocate(0, bytes, address), Status::Ok);
        return address;
    }

    Machine machine{ small() };
};

TEST_F(Copies, SmallOnesAreReal)
{
    const Address a = take(4 * kMebibyte);
    const Address b = take(4 * kMebibyte);
    std::vector<char> in(64 << 10);
    std::iota(in.begin(), in.end(), char{ 1 });
    const Address across = a + 2 * kMebibyte - 1000; // over the edge of a granule
    machine.copy(at(across), in.data(), in.size());
    machine.copy(at(b), at(across), in.size());
    std::vector<char> out(in.size(), 'x');
    machine.copy(out.data(), at(b), out.size());
    EXPECT_EQ(out, in);
}

TEST_F(Copies, UnwrittenMemoryReadsAsZeros)
{
    const Address a = take(4 * kMebibyte);
    std::vector<char> out(128 << 10, 'x');
    machine.copy(out.data(), at(a), 100);
    EXPECT_THAT(std::vector<char>(out.begin(), out.begin() + 100), testing::Each(0));
    machine.copy(out.data(), at(a), out.size());
    EXPECT_THAT(out, testing::Each(0));
    EXPECT_EQ(machine.memory.backing().openGranules(), 0u);
}

TEST_F(Copies, LargeOnesAndReleaseForget)
{
    const Address a = take(4 * kMebibyte);
    const std::vector<char> in(200 << 10, 'i');
    std::vector<char> out(4, 'x');
    machine.copy(at(a), in.data(), 100);
    machine.copy(at(a), in.data(), in.size());
    machine.copy(out.data(), at(a), out.size());
    EXPECT_THAT(out, testing::Each(0));
    machine.fill(at(a), 'f', 10);
    machine.copy(out.data(), at(a), out.size());
    EXPECT_THAT(out, testing::Each('f'));
    EXPECT_EQ(machine.memory.release(a), Status::Ok);
    EXPECT_EQ(machine.memory.backing().openGranules(), 0u);
    EXPECT_EQ(machine.memory.backing().writtenRanges(), 0u);
}

TEST_F(Copies, AgreeWithPlainMemory)
{
    constexpr std::size_t kBytes = 3 * kMebibyte;
    const Address a = take(kBytes);
    std::vector<unsigned char> plain(kBytes);
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = 1 + random() % 3000;
        const std::size_t offset = (2 * kMebibyte - 6000 + random() % 12000) - bytes / 2;
        const auto value = static_cast<unsigned char>(random() % 3);
        std::vector<unsigned char> buffer(bytes, value);
        switch (random() % 4) {
        case 0:
            machine.copy(at(a + offset), buffer.data(), bytes);
            std::fill_n(plain.begin() + static_cast<long>(offset), bytes, value);
            break;
        case 1:
            machine.fill(at(a + offset), value, bytes);
            std::fill_n(plain.begin() + static_cast<long>(offset), bytes, value);
            break;
        case 2:
            machine.memory.backing().forget(a + offset, bytes);
            std::fill_n(plain.begin() + static_cast<long>(offset), bytes, 0);
            break;
        default:
            machine.copy(buffer.data(), at(a + offset), bytes);
            ASSERT_TRUE(std::equal(buffer.begin(), buffer.end(), plain.begin() + static_cast<long>(offset)));
        }
    }
}

} // namespace
} // namespace strata::simgpu
