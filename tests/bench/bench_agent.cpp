// SPDX-License-Identifier: GPL-3.0-or-later
// What bench_agent.py times: pairs of alloc and free on LibTorch's allocator, nothing else. Compiled by it
// with the headers of the LibTorch at hand.
#include <c10/cuda/CUDACachingAllocator.h>
#include <ctime>

namespace {

double threadNs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// A call chain as a program has one: stacks cost by their depth.
[[gnu::noinline]] double chain(int depth, int pairs)
{
    if (depth > 0) {
        const double result = chain(depth - 1, pairs);
        asm volatile("" ::: "memory"); // no tail call
        return result;
    }
    auto* allocator = c10::cuda::CUDACachingAllocator::get();
    const double begin = threadNs();
    for (int i = 0; i < pairs; ++i)
        allocator->raw_delete(allocator->raw_alloc(static_cast<std::size_t>(512 + 512 * (i % 7))));
    return (threadNs() - begin) / pairs;
}

} // namespace

/// Nanoseconds of this thread for a pair, which is three events.
extern "C" __attribute__((visibility("default"))) double bench_pairs(int depth, int pairs)
{
    return chain(depth, pairs);
}
