// SPDX-License-Identifier: Apache-2.0
// Managed memory of the simulated device.
#include "capture/simgpu/entry/api_types.h"

#include <gtest/gtest.h>

using strata::simgpu::api::MemLocation;
using strata::simgpu::api::Result;

extern "C" {
Result cudaMalloc(void** out, std::size_t bytes);
Result cudaFree(void* pointer);
Result cudaMallocManaged(void** out, std::size_t bytes, unsigned flags);
Result cudaMemPrefetchAsync(
    const void* from, std::size_t bytes, MemLocation to, unsigned flags, void* stream);
}

TEST(ManagedMemory, IsPrefetchedWithinWhatWasAskedFor)
{
    constexpr MemLocation kFirst{ 1, 0 }, kNone{ 1, 99 }, kHost{ 2, 0 };
    void* managed = nullptr;
    void* plain = nullptr;
    cudaMallocManaged(&managed, 8192, 1);
    cudaMalloc(&plain, 8192);
    char* const bytes = static_cast<char*>(managed);
    EXPECT_EQ(cudaMemPrefetchAsync(managed, 8192, kFirst, 0, nullptr), 0);
    EXPECT_EQ(cudaMemPrefetchAsync(bytes + 4096, 4096, kHost, 0, nullptr), 0);
    EXPECT_EQ(cudaMemPrefetchAsync(bytes + 4096, 8192, kFirst, 0, nullptr), 1); // invalid value
    EXPECT_EQ(cudaMemPrefetchAsync(plain, 8192, kFirst, 0, nullptr), 1);
    EXPECT_EQ(cudaMemPrefetchAsync(managed, 8192, kNone, 0, nullptr), 101); // invalid device
    EXPECT_EQ(bytes[8191], 0);
    cudaFree(managed);
    cudaFree(plain);
}
