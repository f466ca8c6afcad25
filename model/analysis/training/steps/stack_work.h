// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/work_runs.h"
#include "model/trace/recording.h"

#include <array>
#include <vector>

namespace strata::model {

/// What each stack of a recording says of the work in which memory was asked for, from its innermost frame
/// outwards:
///
///   the engine of autograd, what Python calls it by          backward
///   what a checkpoint calls its function again by            recompute
///   an optimizer, unless a module or a closure runs in it    optimizer
///   a module, or a function of torch.nn                      forward, if none of these lies around it
///   the same within a function that turns gradients off       no gradients, unless its graph has a backward
///   no frame, where others have Python's                     backward, whose threads run no Python
///
/// The rest, a batch that is made, a metric, says nothing. Looks at each frame and each stack once.
class StackWork {
public:
    explicit StackWork(const Recording& recording);

    [[nodiscard]] RunKind of(StackId stack) const
    {
        return stack.valid() && stack.index() < m_work.size() ? m_work[stack.index()] : RunKind::Unknown;
    }
    [[nodiscard]] bool hasPython(StackId stack) const
    {
        return stack.valid() && stack.index() < m_python.size() && m_python[stack.index()];
    }
    /// Whether it is of the thread that runs forwards, by its outermost frame.
    [[nodiscard]] bool isOfProgram(StackId stack) const
    {
        return stack.valid() && stack.index() < m_program.size() && m_program[stack.index()];
    }
    /// Whether an optimizer's step lies anywhere around it.
    [[nodiscard]] bool isInOptimizer(StackId stack) const
    {
        return stack.valid() && stack.index() < m_inOptimizer.size() && m_inOptimizer[stack.index()];
    }
    [[nodiscard]] bool says(RunKind work) const { return m_said[static_cast<std::size_t>(work)]; }
    /// The frame that decided; none: no frame did.
    [[nodiscard]] FrameId frameOf(StackId stack) const
    {
        return stack.valid() && stack.index() < m_frame.size() ? m_frame[stack.index()] : FrameId{};
    }
    /// Whether threads of autograd's engine show by C++ frames.
    [[nodiscard]] bool showsEngine() const { return m_engine; }
    /// Stacks that say nothing are of forwards: for programs without modules. But for what sets them up.
    void takeRestForForward();

private:
    std::vector<RunKind> m_work; // by StackId
    std::vector<FrameId> m_frame;
    std::vector<bool> m_python, m_setup, m_program, m_inOptimizer;
    std::array<bool, 16> m_said{};
    bool m_engine = false;
};

} // namespace strata::model
