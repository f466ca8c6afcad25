// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/entry/api_types.h"
#include "capture/simgpu/machine/machine.h"

namespace strata::simgpu {

/// The machine of this process, made from STRATA_SIMGPU on first use and never destroyed: programs call CUDA
/// while they exit. Safe across fork(): a child never inherits a held lock.
Machine& machine();

/// The calling thread's current device.
int& currentDevice();
/// Remembers an error as cudaGetLastError gives it, and passes it on.
api::Result remember(Status status);
/// The last error that the calling thread was told of since forgetCallError(), which a call of CUDA begins
/// with.
Status callError();
void forgetCallError();
Status takeLastError();
Status peekLastError();

inline std::lock_guard<std::mutex> locked()
{
    return std::lock_guard<std::mutex>(machine().mutex);
}

inline Address addressOf(const void* pointer)
{
    return reinterpret_cast<Address>(pointer);
}

inline void* pointerTo(Address address)
{
    return reinterpret_cast<void*>(address);
}

/// Says once per name, on stderr, that the simulated device cannot serve a call.
void sayUnserved(const char* name);
/// From now on `*flag`, which stays, is 1 if a call was or is not served.
void tellUnserved(std::uint8_t* flag);

/// Text of a status, as the CUDA runtime words it, and its enumerator.
const char* statusText(int status);
const char* statusName(int status);

constexpr int kCudaVersion = STRATA_CUDA_MAJOR >= 13 ? 13000 : 12090;

} // namespace strata::simgpu
