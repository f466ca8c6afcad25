// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace strata::agent {

/// How viewers may look on at a recording.
struct LiveOptions {
    std::uint64_t memory = std::uint64_t{ 64 } << 20; ///< bytes kept for viewers where there is no file
    std::optional<std::uint16_t> port; ///< of 127.0.0.1, too, with a token; 0: one that is free
    std::string token; ///< of it; empty: one is drawn, and said
    std::string folder; ///< for the socket, one that is the user's alone; empty: wire::makeLinkFolder()
    std::size_t mostViewers = 64;
    /// How long the end of the recording waits for viewers that take what is left, and for one that does not.
    std::int64_t lingerNs = 5'000'000'000, stallNs = 300'000'000;
};

} // namespace strata::agent
