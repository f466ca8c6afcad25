// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What the code of a stack was at, from all of its frames, Python's and C++'s.
struct StackOrigin {
    enum Bit : std::uint16_t {
        Known = 1, ///< the stack has frames
        Workspace = 2, ///< cuBLAS, cuBLASLt, cuDNN, cuFFT, cuSOLVER ask for memory of their own
        Convolution = 4, ///< Python's innermost frame calls a convolution
        Communication = 8, ///< a process group, DDP's reducer, gathers and scatters of FSDP
        Optimizer = 16, ///< within the step of an optimizer
        State = 32, ///< ... where it makes its state
        Module = 64, ///< within the forward of a module
        Setup = 128, ///< a module is made, moved or reset
        Backward = 256, ///< within autograd's engine
        Recompute = 512, ///< within a checkpoint's second forward
    };
    std::uint16_t bits = 0;
    FrameId moves; ///< the frame that moves a tensor for Module._apply, or shards it; none: there is none

    [[nodiscard]] bool has(Bit bit) const { return (bits & bit) != 0; }
};

/// The origins of all stacks of a recording: each frame and each stack is looked at once. O(frames of
/// stacks). Immutable.
class StackOrigins {
public:
    explicit StackOrigins(const Recording& recording);

    [[nodiscard]] const StackOrigin& of(StackId stack) const
    {
        return stack.index() < m_origins.size() ? m_origins[stack.index()] : m_none;
    }
    /// Whether any stack has that bit.
    [[nodiscard]] bool any(StackOrigin::Bit bit) const { return (m_any & bit) != 0; }

private:
    std::vector<StackOrigin> m_origins; // by StackId
    StackOrigin m_none;
    std::uint16_t m_any = 0;
};

} // namespace strata::model
