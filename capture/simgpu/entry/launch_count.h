// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strata::simgpu {

extern std::atomic<bool> g_countsLaunches;

/// Whether a dry run counts what is launched (strata_simgpu_count_launches): one load where none does.
inline bool launchesAreCounted()
{
    return g_countsLaunches.load(std::memory_order_relaxed);
}

/// Kernels, copies and fills that go onto a stream, nodes of graphs that are launched among them; not what a
/// stream captures. Any thread.
void countLaunches(std::uint64_t count) noexcept;

/// A collective, which is no work of the card alone: counted apart, by name, with the bytes that this rank
/// hands over. What is launched for it on this thread is not counted while this exists.
class CountedCollective {
public:
    CountedCollective(const char* name, std::size_t bytes);
    ~CountedCollective();
    CountedCollective(const CountedCollective&) = delete;
    CountedCollective& operator=(const CountedCollective&) = delete;
};

} // namespace strata::simgpu
