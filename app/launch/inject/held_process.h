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

namespace strata::launch {

/// Another process, none of whose threads runs: those that would are held between two of their instructions,
/// and those that wait in the system are left to it. So no call of the system is interrupted, and no signal,
/// register or instruction changed. What is held is let go when this ends, and by the system when whoever
/// holds it ends in any way.
class HeldProcess {
public:
    virtual ~HeldProcess() = default;
    HeldProcess() = default;
    HeldProcess(const HeldProcess&) = delete;
    HeldProcess& operator=(const HeldProcess&) = delete;

    /// Of its memory, whatever the rights of the page.
    [[nodiscard]] virtual std::optional<std::uint64_t> word(std::uint64_t address) const = 0;
    [[nodiscard]] virtual bool write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
    [[nodiscard]] bool setWord(std::uint64_t address, std::uint64_t value)
    {
        return write(address, std::as_bytes(std::span(&value, 1)));
    }
};

/// How memory is written: through its file in /proc, else, where the system lets nobody do that, word by word
/// by ptrace. The latter alone is for tests.
enum class Writing : std::uint8_t { ByFile, ByWords };

/// Holds a process, calls `work` on a thread of its own, lets it go, and gives what `work` gives. About a
/// millisecond; a thread that does not leave the system's hands until `patience` is over is an error, and
/// `work` is not called. Errors say what to do.
[[nodiscard]] model::Result<void> whileHeld(pid_t process, std::chrono::milliseconds patience,
    const std::function<model::Result<void>(HeldProcess&)>& work, Writing writing = Writing::ByFile);

} // namespace strata::launch
