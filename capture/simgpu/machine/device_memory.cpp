// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/device_memory.h"

#include <algorithm>
#include <iterator>

namespace strata::simgpu {

namespace {

constexpr std::size_t kChargeStep = 512;
constexpr std::size_t kSmall = std::size_t{ 1 } << 20; ///< up to here several share a granule, as on an H100
constexpr std::size_t kPoolStep = std::size_t{ 32 } << 20;

std::size_t roundUp(std::size_t bytes, std::size_t step)
{
    return bytes > SIZE_MAX - step ? SIZE_MAX / step * step : (bytes + step - 1) / step * step;
}

std::size_t chargeOf(std::size_t bytes)
{
    return roundUp(bytes, bytes <= kSmall ? kChargeStep : AddressSpace::kGranule);
}

} // namespace

DeviceMemory::DeviceMemory(const Settings& settings)
    : m_space(AddressSpace::create(settings))
    , m_devices(static_cast<std::size_t>(settings.devices))
{
    for (Device& device : m_devices) {
        device.capacity = settings.capacityBytes;
        device.others = settings.otherBytes;
    }
}

Status DeviceMemory::place(std::size_t bytes, DeviceRange range, Address& out)
{
    out = m_space->take(bytes);
    if (out == 0)
        return Status::OutOfMemory;
    range.bytes = bytes;
    range.serial = ++m_serial;
    m_ranges.emplace(out, range);
    return Status::Ok;
}

void DeviceMemory::remove(std::map<Address, DeviceRange>::iterator range)
{
    m_backing.close(range->first, range->second.bytes);
    m_space->give(range->first, range->second.bytes);
    m_ranges.erase(range);
}

Status DeviceMemory::charge(int device, std::size_t bytes)
{
    Device& target = m_devices[static_cast<std::size_t>(device)];
    if (bytes > target.free())
        return Status::OutOfMemory;
    target.used += bytes;
    return Status::Ok;
}

void DeviceMemory::discharge(int device, std::size_t bytes)
{
    m_devices[static_cast<std::size_t>(device)].used -= bytes;
}

Status DeviceMemory::allocate(int device, std::size_t bytes, Address& out)
{
    out = 0;
    if (bytes == 0)
        return Status::Ok;
    const std::size_t size = chargeOf(bytes);
    if (const Status status = charge(device, size); status != Status::Ok)
        return status;
    const Status status = place(size, { .device = device, .kind = DeviceRange::Kind::Malloc }, out);
    if (status != Status::Ok)
        discharge(device, size);
    return status;
}

Status DeviceMemory::release(Address address)
{
    if (address == 0)
        return Status::Ok;
    const auto range = m_ranges.find(address);
    if (range == m_ranges.end())
        return Status::InvalidValue;
    switch (range->second.kind) {
    case DeviceRange::Kind::Malloc:
        discharge(range->second.device, range->second.bytes);
        break;
    case DeviceRange::Kind::Pool:
        pool(range->second.device).used -= range->second.bytes;
        break;
    case DeviceRange::Kind::Imported:
    case DeviceRange::Kind::Reserved:
        return Status::InvalidValue;
    }
    remove(range);
    return Status::Ok;
}

Status DeviceMemory::allocateFromPool(int device, std::size_t bytes, Address& out)
{
    out = 0;
    if (bytes == 0)
        return Status::InvalidValue;
    Pool& from = pool(device);
    const std::size_t size = roundUp(bytes, kChargeStep);
    const std::uint64_t needed = from.used + size;
    if (needed > from.reserved) {
        const std::size_t growth = roundUp(needed - from.reserved, kPoolStep);
        if (const Status status = charge(device, growth); status != Status::Ok)
            return status;
        from.reserved += growth;
    }
    const Status status = place(size, { .device = device, .kind = DeviceRange::Kind::Pool }, out);
    if (status != Status::Ok)
        return status;
    from.used = needed;
    from.usedHigh = std::max(from.usedHigh, from.used);
    from.reservedHigh = std::max(from.reservedHigh, from.reserved);
    return Status::Ok;
}

void DeviceMemory::trimPool(int device, std::uint64_t keepBytes)
{
    Pool& from = pool(device);
    const std::uint64_t needed = roundUp(std::max(from.used, std::min(keepBytes, from.reserved)), kPoolStep);
    if (needed >= from.reserved)
        return;
    discharge(device, from.reserved - needed);
    from.reserved = needed;
}

Status DeviceMemory::reserve(std::size_t bytes, Address& out)
{
    return place(bytes, { .device = -1, .kind = DeviceRange::Kind::Reserved }, out);
}

Status DeviceMemory::unreserve(Address address, std::size_t bytes)
{
    const auto range = m_ranges.find(address);
    if (range == m_ranges.end() || range->second.kind != DeviceRange::Kind::Reserved
        || range->second.bytes != bytes)
        return Status::InvalidValue;
    remove(range);
    return Status::Ok;
}

Status DeviceMemory::exportRange(Address address, std::int64_t process, IpcOrigin& out) const
{
    Address base = 0;
    const DeviceRange* range = find(address, &base);
    if (!range || range->kind != DeviceRange::Kind::Malloc)
        return Status::InvalidValue;
    out = { process, base, range->serial, range->bytes, range->device };
    return Status::Ok;
}

Status DeviceMemory::import(const IpcOrigin& origin, Address& out)
{
    Import& entry = m_imports[origin];
    if (entry.opened == 0) {
        const DeviceRange range{ .device = static_cast<int>(origin.device),
            .kind = DeviceRange::Kind::Imported };
        if (const Status status = place(origin.bytes, range, entry.address); status != Status::Ok) {
            m_imports.erase(origin);
            return status;
        }
    }
    ++entry.opened;
    out = entry.address;
    return Status::Ok;
}

Status DeviceMemory::closeImported(Address address)
{
    const auto entry = std::find_if(
        m_imports.begin(), m_imports.end(), [&](const auto& item) { return item.second.address == address; });
    if (entry == m_imports.end())
        return Status::InvalidValue;
    if (--entry->second.opened > 0)
        return Status::Ok;
    m_imports.erase(entry);
    remove(m_ranges.find(address));
    return Status::Ok;
}

const DeviceRange* DeviceMemory::find(Address address, Address* base) const
{
    auto range = m_ranges.upper_bound(address);
    if (range == m_ranges.begin())
        return nullptr;
    --range;
    if (address - range->first >= range->second.bytes)
        return nullptr;
    if (base)
        *base = range->first;
    return &range->second;
}

} // namespace strata::simgpu
