// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

namespace strata::launch {

/// All threads of another process, held between two of their instructions. It cannot tell: no signal, no
/// register and no instruction of it is changed, and calls of the system that were interrupted go on. It is
/// let go when this ends, and by the system when whoever holds it ends in any way.
class StoppedProcess {
public:
    /// A word of it, as ptrace reads and writes: whatever the rights of the page.
    [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const;
    [[nodiscard]] bool setWord(std::uint64_t address, std::uint64_t value) const;
    /// The last word is filled up with what is there.
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> bytes) const;

private:
    friend class ProcessStopper;
    explicit StoppedProcess(pid_t thread)
        : m_thread(thread)
    {
    }
    pid_t m_thread; // through which memory is reached
};

/// Stops a process, calls `work` on a thread of its own, lets it go, and gives what `work` gives.
/// Milliseconds; a thread that does not leave the system's hands until `patience` is over is an error, and
/// `work` is not called. Errors say what to do.
[[nodiscard]] model::Result<void> whileStopped(pid_t process, std::chrono::milliseconds patience,
    const std::function<model::Result<void>(const StoppedProcess&)>& work);

} // namespace strata::launch
