// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::model::pickle {

/// Remembers how a stack is written. A pickle writes each frame once and refers to it afterwards, so the same
/// stack is the same bytes again: a run of BINGET and LONG_BINGET that ends with APPENDS. Programs repeat
/// themselves, and after one stack mostly comes one that came after it before; then a comparison of some
/// hundred bytes takes the place of reading some dozens of opcodes. Valid as long as no memo entry is
/// overwritten: clear() then.
class FrameRuns {
public:
    struct Hit {
        std::size_t length = 0; ///< bytes up to and with APPENDS; 0: not known
        StackId stack;
    };

    /// Looks for a run in [at, end). If it is a run that is not known, candidate() is its length until the
    /// next call.
    [[nodiscard]] Hit find(const std::uint8_t* at, const std::uint8_t* end);
    [[nodiscard]] std::size_t candidate() const { return m_candidate; }
    /// The candidate, once its stack is known.
    void add(const std::uint8_t* at, StackId stack);
    void clear();

private:
    static constexpr std::uint32_t kNone = 0xffffffffu;
    static constexpr std::size_t kFollowers = 4;
    static constexpr std::size_t kLongestRun = 8192;
    static constexpr std::size_t kMostBytes = std::size_t{ 1 } << 24;

    struct Run {
        std::uint32_t begin; // in m_bytes
        std::uint32_t length;
        StackId stack;
        std::array<std::uint32_t, kFollowers> followers; // runs that came after it, the last one first
    };

    [[nodiscard]] bool matches(const Run& run, const std::uint8_t* at, const std::uint8_t* end) const;
    Hit follow(std::uint32_t run, std::size_t place);

    std::vector<std::uint8_t> m_bytes;
    std::vector<Run> m_runs;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> m_byHash;
    std::uint32_t m_last = kNone;
    std::size_t m_candidate = 0;
    std::uint64_t m_candidateHash = 0;
};

} // namespace strata::model::pickle
