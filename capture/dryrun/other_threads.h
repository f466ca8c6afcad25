// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace strata::dryrun {

/// Whether other threads of this process are at work: one that has made no step yet may be making its
/// weights.
class OtherThreads {
public:
    /// Whether they ran for more than a hundredth of the time since the last call; true at the first. Some
    /// tens of microseconds a thread. Of the calling thread.
    [[nodiscard]] bool haveWorked();

private:
    std::optional<std::int64_t> m_ranNs;
    std::int64_t m_atNs = 0;
};

} // namespace strata::dryrun
