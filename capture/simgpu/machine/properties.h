// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::simgpu {

/// Limits that follow from the compute capability alone (CUDA C++ Programming Guide, table "Technical
/// Specifications per Compute Capability"). Sizes in bytes.
struct ArchitectureLimits {
    int sharedPerMultiprocessor;
    int sharedPerBlockOptin;
    int threadsPerMultiprocessor;
    int blocksPerMultiprocessor;
};

/// An unknown capability gets the limits of the newest known one that is not above it.
ArchitectureLimits architectureLimits(int computeMajor, int computeMinor);

/// Blocks of `threads` threads that a multiprocessor holds when registers do not bind: what an occupancy
/// query answers, since nobody compiles the kernel.
int blocksPerMultiprocessor(const ArchitectureLimits& limits, int threads, unsigned long sharedBytes);

} // namespace strata::simgpu
