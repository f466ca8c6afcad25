// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/machine.h"

#include <cstring>
#include <utility>

namespace strata::simgpu {

namespace {

Address addressOf(const void* pointer)
{
    return reinterpret_cast<Address>(pointer);
}

} // namespace

Machine::Machine(Settings wanted)
    : settings(std::move(wanted))
    , limits(architectureLimits(settings.computeMajor, settings.computeMinor))
    , memory(settings)
    , virtualMemory(memory)
    , streams(settings.eventLag)
{
}

void Machine::copyToHost(void* to, const void* from, std::size_t bytes)
{
    if (bytes <= kRealBytes)
        return memory.backing().read(to, addressOf(from), bytes);
    const HostMemory::Range* range = host.find(to);
    if (range && range->kind != HostMemory::Kind::Registered)
        HostMemory::forget(to, bytes);
    else if (bytes <= kZeroedBytes)
        std::memset(to, 0, bytes);
}

void Machine::copy(void* to, const void* from, std::size_t bytes)
{
    if (!to || !from || bytes == 0 || to == from)
        return;
    std::unique_lock lock(mutex);
    const bool toDevice = memory.isDevice(addressOf(to));
    const bool fromDevice = memory.isDevice(addressOf(from));
    if (!toDevice && !fromDevice) {
        lock.unlock();
        std::memmove(to, from, bytes);
        return;
    }
    if (!toDevice) {
        copyToHost(to, from, bytes);
        return;
    }
    if (bytes > kRealBytes)
        return memory.backing().forget(addressOf(to), bytes);
    if (!fromDevice)
        return memory.backing().write(addressOf(to), from, bytes);
    std::vector<unsigned char> staging(bytes);
    memory.backing().read(staging.data(), addressOf(from), bytes);
    memory.backing().write(addressOf(to), staging.data(), bytes);
}

void Machine::fill(void* to, int value, std::size_t bytes)
{
    if (!to || bytes == 0)
        return;
    std::unique_lock lock(mutex);
    if (!memory.isDevice(addressOf(to))) {
        lock.unlock();
        std::memset(to, value, bytes);
        return;
    }
    if (bytes > kRealBytes)
        return memory.backing().forget(addressOf(to), bytes);
    const std::vector<unsigned char> staging(bytes, static_cast<unsigned char>(value));
    memory.backing().write(addressOf(to), staging.data(), bytes);
}

} // namespace strata::simgpu
