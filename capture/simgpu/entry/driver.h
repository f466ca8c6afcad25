// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/entry/process.h"

namespace strata::simgpu {

/// What the parts of the driver share.
inline api::Result result(Status status)
{
    return static_cast<api::Result>(status);
}

inline bool validDevice(int device)
{
    return device >= 0 && device < machine().settings.devices;
}

/// The context of a device is the number of the device, plus a base so that it is not null.
inline void* contextOf(int device)
{
    constexpr Address kContextBase = 0x100000;
    return pointerTo(kContextBase + static_cast<Address>(device));
}

} // namespace strata::simgpu
