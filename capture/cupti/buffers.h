// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace strata::cupti {

/// Buffers that are lent to CUPTI, come back filled and are lent again. Any thread; a lock for a few
/// instructions, on the threads that launch too, once in thousands of records. Memory is the system's, taken
/// when first needed and kept.
class Buffers {
public:
    Buffers(std::size_t bufferBytes, std::size_t mostBuffers)
        : m_bytes(bufferBytes)
        , m_most(mostBuffers)
    {
    }
    ~Buffers();
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    [[nodiscard]] std::size_t bytes() const { return m_bytes; } ///< of each
    /// nullptr where all are lent or wait to be read: who gets none drops what it has.
    [[nodiscard]] std::uint8_t* take() noexcept;
    [[nodiscard]] bool isOurs(const std::uint8_t* buffer) noexcept;
    /// One of ours comes back, `valid` bytes of it filled.
    void fill(std::uint8_t* buffer, std::size_t valid) noexcept;
    /// What another one's buffer holds, copied. False: there is no room for it.
    bool copy(std::span<const std::uint8_t> content) noexcept;

    /// A filled one; empty: there is none. To be given back. One thread.
    [[nodiscard]] std::span<std::uint8_t> front() noexcept;
    void giveBack(std::span<std::uint8_t> buffer) noexcept;

private:
    struct Filled {
        std::uint8_t* buffer;
        std::size_t bytes;
    };

    std::size_t m_bytes;
    std::size_t m_most;
    std::mutex m_mutex; // of the rest
    std::vector<std::uint8_t*> m_all;
    std::vector<std::uint8_t*> m_free;
    std::vector<Filled> m_filled; // oldest first
};

} // namespace strata::cupti
