// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program that asks the allocator for other things than memory.
//
// usage: calls early           sets a fraction first of all, and allocates then
//        calls places          at known places: prints, before each, a line of JSON [device, events, call,
//                              value], events as a tracker of its own counts them
//        calls threads ROUNDS  on two threads, which empty the cache and set fractions and settings ROUNDS
//                              times each, while two allocate and free on all devices: prints how many calls
#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <array>
#include <atomic>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

std::array<std::atomic<int>, 8> g_events{};

at::Tensor allocate(std::int64_t bytes, int device = 0)
{
    return at::empty({ bytes },
        at::TensorOptions(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device))).dtype(at::kByte));
}

void about(const char* call, const std::string& value, int device)
{
    std::printf("[%d, %d, \"%s\", \"%s\"]\n", device, g_events[static_cast<std::size_t>(device)].load(), call,
        value.c_str());
}

void aboutAll(const char* call, const std::string& value = {})
{
    for (int device = 0; device < c10::cuda::device_count(); ++device)
        about(call, value, device);
}

void emptyCache()
{
    aboutAll("empty_cache");
    allocator::emptyCache();
}

void setFraction(double fraction, int device)
{
    char text[32];
    std::snprintf(text, sizeof text, "%g", fraction);
    about("memory_fraction", text, device);
    allocator::setMemoryFraction(fraction, static_cast<c10::DeviceIndex>(device));
}

void setSettings(const std::string& settings)
{
    aboutAll("settings", settings);
    allocator::setAllocatorSettings(settings);
}

void places()
{
    allocator::attachAllocatorTraceTracker([](const allocator::TraceEntry& entry) {
        if (entry.action_ != allocator::TraceEntry::SNAPSHOT)
            ++g_events[static_cast<std::size_t>(entry.device_)];
    });
    (void)c10::cuda::current_device(); // whoever records begins
    emptyCache();
    setFraction(0.5, 0);
    setFraction(0.25, 1);
    at::Tensor small = allocate(1000);
    {
        const at::Tensor large = allocate(30 << 20, 1);
        emptyCache();
    }
    emptyCache();
    emptyCache();
    setSettings("max_split_size_mb:64");
    small.reset();
    setSettings("");
    emptyCache();
    setFraction(1, 0);
}

void threads(int rounds)
{
    (void)allocate(1); // whoever records begins
    std::atomic<int> running{ 2 };
    std::atomic<int> emptied{ 0 }, allocated{ 0 };
    std::vector<std::thread> all;
    for (unsigned seed = 0; seed < 2; ++seed)
        all.emplace_back([&, seed] {
            std::mt19937 random(seed);
            std::vector<at::Tensor> mine;
            while (running > 0) {
                if (mine.size() < 4 && random() % 2 == 0)
                    mine.push_back(allocate(std::int64_t{ 1 } << (10 + random() % 14),
                        static_cast<int>(random() % static_cast<unsigned>(c10::cuda::device_count()))));
                else
                    mine.clear();
                ++allocated;
            }
        });
    for (int which = 0; which < 2; ++which)
        all.emplace_back([&, which] {
            for (int round = 0; round < rounds; ++round) {
                // On a busy machine they would all be made before there is anything to empty.
                for (const int before = allocated; allocated == before;)
                    std::this_thread::yield();
                allocator::emptyCache();
                ++emptied;
                if (which == 0)
                    allocator::setMemoryFraction(0.5 + round % 2 / 4., 0);
                else
                    allocator::setAllocatorSettings(
                        round % 2 == 0 ? "max_split_size_mb:512" : "max_split_size_mb:1024");
                std::this_thread::yield();
            }
            --running;
        });
    for (std::thread& thread : all)
        thread.join();
    allocator::emptyCache();
    std::printf(
        "{\"empty_cache\": %d, \"memory_fraction\": %d, \"settings\": %d}\n", emptied + 1, rounds, rounds);
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    at::detail::getCUDAHooks().init();
    if (what == "early") {
        allocator::setMemoryFraction(0.5, 0);
        (void)allocate(1);
    } else if (what == "places")
        places();
    else if (what == "threads" && argc == 3)
        threads(std::atoi(argv[2]));
    else
        return std::fprintf(stderr, "usage: calls early | places | threads ROUNDS\n"), 2;
}
