// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unistd.h>

namespace strata::wire {

/// Fills `into` with what a file has from `offset` on: how many bytes that was, fewer at its end or where it
/// cannot be read (errno). Leaves the position of the descriptor alone. Any thread.
[[nodiscard]] inline std::size_t readAt(int file, std::uint64_t offset, std::span<std::byte> into) noexcept
{
    std::size_t have = 0;
    while (have < into.size()) {
        const ssize_t got
            = pread(file, into.data() + have, into.size() - have, static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

} // namespace strata::wire
