// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/numbers.h"
#include "capture/agent/stacks/loaded_modules.h"

#include <cstdint>
#include <span>
#include <unordered_map>

namespace strata::agent {

/// Frames of return addresses: library and exported function by the dynamic loader, and in the extras the
/// library's build id and the place in its file, from which debug information gives source and line later.
/// A name of C++ as people write it; any other one as it is.
[[nodiscard]] std::string demangled(const std::string& name);

/// Each address once. On the sender's thread: the loader has a lock.
class Symbols {
public:
    explicit Symbols(Numbers& numbers)
        : m_numbers(numbers)
    {
    }

    /// Number of the frame.
    [[nodiscard]] std::uint32_t frame(std::uint64_t returnAddress);
    /// How many of the innermost addresses are those of the recorder itself.
    [[nodiscard]] std::size_t ownFrames(std::span<const std::uint64_t> addresses);

private:
    bool isOwn(std::uint64_t returnAddress);

    Numbers& m_numbers;
    LoadedModules m_modules;
    std::unordered_map<std::uint64_t, std::uint32_t> m_frames;
    std::unordered_map<std::uint64_t, bool> m_own;
};

} // namespace strata::agent
