// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace strata::agent {

/// Of the calling thread, as the operating system counts. A call of the system is made once a thread.
[[nodiscard]] std::uint32_t threadNumber() noexcept;

/// Of a thread of this process, as the system has it; empty: it has ended.
[[nodiscard]] std::string nameOfThread(std::uint32_t thread);

/// Small numbers for the threads of this process, so that one fits an event. A thread has its number for
/// good; the 8,192nd and later ones are 0, not known. Any thread; no lock, no allocation.
class ThreadTable {
public:
    static constexpr unsigned kBits = 13;

    /// Of the calling thread; a call of the system the first time.
    [[nodiscard]] static std::uint16_t mine() noexcept;
    /// As the operating system counts; 0 for 0.
    [[nodiscard]] static std::uint32_t threadOf(std::uint16_t number) noexcept
    {
        return s_threads[number].load(std::memory_order_relaxed);
    }

    /// Of the thread whose pthread_t ends in these bits, among those that have a number; 0: of none. The last
    /// one where several had it. O(threads).
    [[nodiscard]] static std::uint32_t bySelf(std::uint32_t bits) noexcept;

private:
    static inline std::array<std::atomic<std::uint32_t>, 1U << kBits> s_threads{};
    static inline std::array<std::atomic<std::uint32_t>, 1U << kBits> s_selfs{};
    static inline std::atomic<std::uint32_t> s_count{ 1 };
};

} // namespace strata::agent
