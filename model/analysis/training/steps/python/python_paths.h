// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// The Python frames of each stack, outermost first. Frames of C++ and of the interpreter stand between them
/// in some recordings and not in others, and so are left out. Looks at each frame once.
class PythonPaths {
public:
    explicit PythonPaths(const Recording& recording);

    /// Empty for a stack without Python's frames, and for none.
    [[nodiscard]] std::span<const FrameId> of(StackId stack) const
    {
        if (!stack.valid() || stack.index() + 1 >= m_first.size())
            return {};
        return std::span(m_frames).subspan(
            m_first[stack.index()], m_first[stack.index() + 1] - m_first[stack.index()]);
    }

private:
    std::vector<FrameId> m_frames;
    std::vector<std::size_t> m_first; // by StackId, and one behind
};

/// Whether two frames are in one function, at whatever lines.
[[nodiscard]] bool isSameFunction(const Frame& one, const Frame& two);

} // namespace strata::model
