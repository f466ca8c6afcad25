// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/entry/activity.h"

#include <cstddef>

namespace strata::simgpu {

/// Memory of the machine that a call hands out or takes back, with a record of it where somebody listens.
/// They take the machine's lock.
Status allocateDevice(const ApiCall& call, int device, std::size_t bytes, Address& address);
Status allocateFromPool(const ApiCall& call, int device, std::size_t bytes, Address& address);
Status releaseDevice(const ApiCall& call, Address address);
Status allocateHost(const ApiCall& call, std::size_t bytes, HostMemory::Kind kind, void*& memory);
Status releaseHost(const ApiCall& call, void* memory, HostMemory::Kind kind);

} // namespace strata::simgpu
