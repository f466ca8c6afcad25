// SPDX-License-Identifier: Apache-2.0
// The calls of the simulated CUDA runtime from several threads at once, as the workers of a program make
// them; for the thread sanitizer above all.
#include "capture/simgpu/entry/process.h"
#include "tests/support/environment.h"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using strata::simgpu::api::Result;

extern "C" {
Result cudaSetDevice(int device);
Result cudaDeviceSynchronize();
Result cudaMalloc(void** out, std::size_t bytes);
Result cudaFree(void* pointer);
Result cudaMallocAsync(void** out, std::size_t bytes, void* stream);
Result cudaFreeAsync(void* pointer, void* stream);
Result cudaMemGetInfo(std::size_t* freeBytes, std::size_t* totalBytes);
Result cudaHostAlloc(void** out, std::size_t bytes, unsigned flags);
Result cudaFreeHost(void* pointer);
Result cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
Result cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream);
Result cudaStreamCreateWithFlags(void** out, unsigned flags);
Result cudaStreamDestroy(void* stream);
Result cudaStreamSynchronize(void* stream);
Result cudaEventCreateWithFlags(void** out, unsigned flags);
Result cudaEventDestroy(void* event);
Result cudaEventRecord(void* event, void* stream);
Result cudaEventQuery(void* event);
}

namespace strata::simgpu {
namespace {

constexpr std::size_t kSmall = 4096; // its copies are real
constexpr int kRounds = 300;

/// One worker: allocates, copies, fills, records and frees on a stream of its own. The number of calls that
/// failed.
int work(int number)
{
    constexpr Result kNotReady = 600;
    int failed = 0;
    const auto check = [&failed](Result result) { failed += result != 0 && result != kNotReady; };
    check(cudaSetDevice(number % 2));
    std::mt19937 random(static_cast<unsigned>(number));
    void* stream = nullptr;
    void* event = nullptr;
    check(cudaStreamCreateWithFlags(&stream, 1));
    check(cudaEventCreateWithFlags(&event, 2));
    std::array<void*, 8> live{};
    std::array<unsigned char, kSmall> bytes{};
    for (int round = 0; round < kRounds; ++round) {
        void*& slot = live[random() % live.size()];
        if (slot) {
            check(round % 2 ? cudaFree(slot) : cudaFreeAsync(slot, stream));
            slot = nullptr;
        }
        const std::size_t size = kSmall + random() % (std::size_t{ 4 } << 20);
        check(round % 3 ? cudaMalloc(&slot, size) : cudaMallocAsync(&slot, size, stream));
        check(cudaMemsetAsync(slot, number, kSmall, stream));
        check(cudaMemcpyAsync(bytes.data(), slot, kSmall, 2, stream));
        failed += bytes.back() != number;
        check(cudaEventRecord(event, stream));
        check(cudaEventQuery(event));
        std::size_t free = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&free, &total));
        failed += free > total;
        void* host = nullptr;
        check(cudaHostAlloc(&host, 512, 0));
        check(cudaFreeHost(host));
        if (round % 50 == 0)
            check(round % 100 ? cudaStreamSynchronize(stream) : cudaDeviceSynchronize());
    }
    for (void* pointer : live)
        check(cudaFree(pointer));
    check(cudaEventDestroy(event));
    check(cudaStreamDestroy(stream));
    return failed;
}

TEST(Threads, WorkBesideEachOther)
{
    // Read once, when the device is first used: this is the only case of its program.
    const test::Variable settings("STRATA_SIMGPU", "devices=2;capacity=17179869184;event-lag=1");
    std::array<int, 4> failed{};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&failed, i] { failed[static_cast<std::size_t>(i)] = work(i + 1); });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(failed, (std::array<int, 4>{}));
    for (int device : { 0, 1 }) {
        machine().memory.trimPool(device, 0); // it keeps what comes back
        EXPECT_EQ(machine().memory.used(device), 0u) << "of device " << device;
    }
}

} // namespace
} // namespace strata::simgpu
