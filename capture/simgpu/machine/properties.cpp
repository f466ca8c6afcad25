// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/properties.h"

#include <algorithm>

namespace strata::simgpu {

namespace {

constexpr int kKiB = 1024;

struct Row {
    int capability;
    ArchitectureLimits limits;
};

constexpr Row kRows[] = {
    { 50, { 64 * kKiB, 48 * kKiB, 2048, 32 } },
    { 60, { 64 * kKiB, 48 * kKiB, 2048, 32 } },
    { 70, { 96 * kKiB, 96 * kKiB, 2048, 32 } },
    { 75, { 64 * kKiB, 64 * kKiB, 1024, 16 } },
    { 80, { 164 * kKiB, 163 * kKiB, 2048, 32 } },
    { 86, { 100 * kKiB, 99 * kKiB, 1536, 16 } },
    { 87, { 164 * kKiB, 163 * kKiB, 1536, 16 } },
    { 89, { 100 * kKiB, 99 * kKiB, 1536, 24 } },
    { 90, { 228 * kKiB, 227 * kKiB, 2048, 32 } },
    { 110, { 228 * kKiB, 227 * kKiB, 1536, 24 } },
    { 120, { 100 * kKiB, 99 * kKiB, 1536, 24 } },
};

} // namespace

ArchitectureLimits architectureLimits(int computeMajor, int computeMinor)
{
    const int capability = computeMajor * 10 + computeMinor;
    const Row* found = &kRows[0];
    for (const Row& row : kRows) {
        if (row.capability <= capability)
            found = &row;
    }
    return found->limits;
}

int blocksPerMultiprocessor(const ArchitectureLimits& limits, int threads, unsigned long sharedBytes)
{
    if (threads <= 0 || threads > 1024)
        return 0;
    const int warps = (threads + 31) / 32;
    int blocks = std::min(limits.blocksPerMultiprocessor, limits.threadsPerMultiprocessor / (warps * 32));
    if (sharedBytes > 0) {
        const auto perBlock = sharedBytes + kKiB;
        blocks = std::min(
            blocks, static_cast<int>(static_cast<unsigned long>(limits.sharedPerMultiprocessor) / perBlock));
    }
    return blocks;
}

} // namespace strata::simgpu
