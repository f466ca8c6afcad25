// SPDX-License-Identifier: Apache-2.0
// What a dry run counts of launches, read as it does.
#include "capture/simgpu/entry/activity.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <thread>

using strata::simgpu::api::Dim3;
using strata::simgpu::api::Result;

extern "C" {
Result cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t shared, void* stream);
Result cudaMalloc(void** out, std::size_t bytes);
Result cudaFree(void* pointer);
Result cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
Result cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream);
Result cudaStreamCreateWithFlags(void** out, unsigned flags);
Result cudaStreamDestroy(void* stream);
Result cudaStreamBeginCapture(void* stream, int mode);
Result cudaStreamEndCapture(void* stream, void** graph);
Result cudaGraphInstantiate(void** out, void* graph, unsigned long long flags);
Result cudaGraphLaunch(void* exec, void* stream);
Result cudaGraphExecDestroy(void* exec);
Result cudaGraphDestroy(void* graph);
void strata_simgpu_count_launches(int on);
std::uint64_t strata_simgpu_thread_launches();
std::uint64_t strata_simgpu_launches();
void strata_simgpu_collectives(
    void (*each)(void* context, const char* name, std::uint64_t count, std::uint64_t bytes), void* context);
}

namespace strata::simgpu {
namespace {

class LaunchCount : public testing::Test {
protected:
    ~LaunchCount() override { strata_simgpu_count_launches(0); }

    void launch(void* stream = nullptr) const
    {
        cudaLaunchKernel(&m_kernel, { 3, 2, 1 }, { 64, 1, 1 }, nullptr, 48, stream);
    }
    /// Since the last call.
    std::uint64_t ofThread()
    {
        return strata_simgpu_thread_launches() - std::exchange(m_ofThread, strata_simgpu_thread_launches());
    }
    std::uint64_t ofAll()
    {
        return strata_simgpu_launches() - std::exchange(m_ofAll, strata_simgpu_launches());
    }

    char m_kernel = 0;
    std::uint64_t m_ofThread = strata_simgpu_thread_launches();
    std::uint64_t m_ofAll = strata_simgpu_launches();
};

TEST_F(LaunchCount, NothingIsCountedUnlessAsked)
{
    launch();
    EXPECT_EQ(ofThread(), 0u);
    strata_simgpu_count_launches(1);
    launch();
    launch();
    EXPECT_EQ(ofThread(), 2u);
    strata_simgpu_count_launches(0);
    launch();
    EXPECT_EQ(ofThread(), 0u);
    EXPECT_EQ(ofAll(), 2u);
}

TEST_F(LaunchCount, KernelsCopiesFillsAndLibrariesCountOneEach)
{
    void* device = nullptr;
    char host[64] = {};
    cudaMalloc(&device, 4096);
    strata_simgpu_count_launches(1);
    launch();
    cudaMemcpyAsync(device, host, sizeof host, 1, nullptr);
    cudaMemsetAsync(device, 0, 4096, nullptr);
    performLibrary("cublasGemm", nullptr);
    EXPECT_EQ(ofThread(), 4u);
    strata_simgpu_count_launches(0);
    cudaFree(device);
}

TEST_F(LaunchCount, AThreadCountsItsOwn)
{
    strata_simgpu_count_launches(1);
    launch();
    std::thread([this] {
        const std::uint64_t before = strata_simgpu_thread_launches();
        launch();
        launch();
        EXPECT_EQ(strata_simgpu_thread_launches() - before, 2u);
    }).join();
    EXPECT_EQ(ofThread(), 1u);
    EXPECT_EQ(ofAll(), 3u);
}

TEST_F(LaunchCount, WhatIsCapturedCountsWhenItIsLaunched)
{
    void* stream = nullptr;
    void* graph = nullptr;
    void* exec = nullptr;
    cudaStreamCreateWithFlags(&stream, 1);
    strata_simgpu_count_launches(1);
    cudaStreamBeginCapture(stream, 0);
    launch(stream);
    launch(stream);
    launch(stream);
    cudaStreamEndCapture(stream, &graph);
    EXPECT_EQ(ofThread(), 0u);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    EXPECT_EQ(ofThread(), 3u);
    cudaGraphLaunch(exec, stream);
    EXPECT_EQ(ofThread(), 3u);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_F(LaunchCount, CollectivesAreCountedApart)
{
    const auto bytesOf = [](const std::string& wanted) {
        std::map<std::string, std::uint64_t> all;
        strata_simgpu_collectives(
            [](void* to, const char* name, std::uint64_t, std::uint64_t bytes) {
                (*static_cast<std::map<std::string, std::uint64_t>*>(to))[name] = bytes;
            },
            &all);
        return all[wanted];
    };
    {
        const CountedCollective notAsked("Broadcast", 50);
        performLibrary("nccl", nullptr);
    }
    EXPECT_EQ(bytesOf("Broadcast"), 0u);
    strata_simgpu_count_launches(1);
    {
        const CountedCollective counted("Broadcast", 50);
        performLibrary("nccl", nullptr);
    }
    EXPECT_EQ(bytesOf("Broadcast"), 50u);
    EXPECT_EQ(ofThread(), 0u);
    launch();
    EXPECT_EQ(ofThread(), 1u);
}

} // namespace
} // namespace strata::simgpu
