// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/device_work.h"

#include <algorithm>

namespace strata::simgpu {

namespace {

constexpr double kLeastNs = 1000;
constexpr double kDeviceBytesPerNs = 1000;
constexpr double kHostBytesPerNs = 16;
constexpr double kFlopsPerNs = 10'000;
constexpr double kTensorFlopsPerNs = 100'000;

double flopsPerNs(NumberType type)
{
    switch (type) {
    case NumberType::Float8:
    case NumberType::Float16:
    case NumberType::BFloat16:
    case NumberType::TensorFloat32:
        return kTensorFlopsPerNs;
    default:
        return kFlopsPerNs;
    }
}

} // namespace

DeviceWork DeviceWork::kernel(const void* function, Extent grid, Extent block, std::uint64_t sharedBytes)
{
    DeviceWork work;
    work.kind = Kind::Kernel;
    work.function = function;
    work.grid = grid;
    work.block = block;
    work.sharedBytes = static_cast<std::uint32_t>(sharedBytes);
    return work;
}

DeviceWork DeviceWork::copy(const void* to, const void* from, std::uint64_t bytes, bool asynchronous)
{
    DeviceWork work;
    work.kind = Kind::Copy;
    work.asynchronous = asynchronous;
    work.to = to;
    work.from = from;
    work.bytes = bytes;
    return work;
}

DeviceWork DeviceWork::fill(const void* to, std::uint32_t value, std::uint64_t bytes, bool asynchronous)
{
    DeviceWork work;
    work.kind = Kind::Fill;
    work.asynchronous = asynchronous;
    work.to = to;
    work.value = value;
    work.bytes = bytes;
    return work;
}

DeviceWork DeviceWork::library(const char* name, const WorkSize& size)
{
    DeviceWork work;
    work.kind = Kind::Kernel;
    work.name = name;
    work.size = size;
    return work;
}

double simulatedNs(const DeviceWork& work, bool withHost)
{
    const double moved = static_cast<double>(work.bytes) / (withHost ? kHostBytesPerNs : kDeviceBytesPerNs);
    if (work.kind != DeviceWork::Kind::Kernel)
        return kLeastNs + moved;
    return std::max(
        { kLeastNs, work.size.flops / flopsPerNs(work.size.type), work.size.bytes / kDeviceBytesPerNs });
}

} // namespace strata::simgpu
