// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/category.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

/// What the code of a stack was at, from all of its frames, Python's and C++'s.
struct StackOrigin {
    enum Bit : std::uint32_t {
        Known = 1 << 0, ///< the stack has frames
        Workspace = 1 << 1, ///< cuBLAS, cuBLASLt, cuDNN, cuFFT, cuSOLVER ask for memory of their own
        Convolution = 1 << 2, ///< Python's innermost frame calls a convolution
        Communication = 1 << 3, ///< a process group, DDP's reducer, gathers and scatters of FSDP
        Reducer = 1 << 4, ///< DDP's: gradients may be views of its buckets
        Optimizer = 1 << 5, ///< within the step of an optimizer
        State = 1 << 6, ///< ... where it makes its state
        Module = 1 << 7, ///< within the forward of a module
        Forward = 1 << 8, ///< within a function of the program's that is called forward
        Backward = 1 << 9, ///< within autograd's engine
        Recompute = 1 << 10, ///< within a checkpoint's second forward
        Setup = 1 << 11, ///< a module is made, moved or reset
        /// An __init__ outside of torch; not where a model runs, trains or is trained within it: that is a
        /// program, and makes anything.
        Init = 1 << 12,
        ModuleInit = 1 << 13, ///< ... in a file whose modules run
        Load = 1 << 14, ///< torch.load, load_state_dict, from_pretrained
        ReadsTensors = 1 << 15, ///< within torch.load() or load_file(), which return tensors of a file
        Copies = 1 << 16, ///< within copy.deepcopy()
        MakesParameter = 1 << 17, ///< the line of torch's code that makes or moves parameters alone
        MakesBuffer = 1 << 18, ///< ... that moves buffers alone
        Cast = 1 << 19, ///< autocast fills its cache of cast weights
        Python = 1 << 20, ///< the stack has frames of Python
        Layer = 1 << 21, ///< Python's innermost frame is a forward of torch.nn, or a function of it
        Product = 1 << 22, ///< ... one that multiplies matrices
        Loss = 1 << 23, ///< ... one that compares outputs with targets
        TorchOptimizer = 1 << 24, ///< ... of an optimizer of torch.optim
        ZeroGrad = 1 << 25, ///< within zero_grad() of an optimizer or a module
        CrossEntropy = 1 << 26, ///< within a cross entropy or log softmax, of Python or C++, or its backward
    };
    std::uint32_t bits = 0;
    FrameId moves; ///< the frame that moves a tensor for Module._apply, or shards it; none: there is none

    [[nodiscard]] bool has(Bit bit) const { return (bits & bit) != 0; }
    /// A thread of autograd's engine, in which no Python runs.
    [[nodiscard]] bool isEngine() const { return has(Backward) && !has(Python); }
};

class FrameBits; // what each frame says by itself

/// The origins of all stacks of a recording: each frame and each stack is looked at once. O(frames of
/// stacks). Immutable.
class StackOrigins {
public:
    explicit StackOrigins(const Recording& recording);
    ~StackOrigins();
    StackOrigins(StackOrigins&&) noexcept = default;
    StackOrigins(const StackOrigins&) = delete;
    StackOrigins& operator=(StackOrigins&&) = delete;
    StackOrigins& operator=(const StackOrigins&) = delete;

    [[nodiscard]] const StackOrigin& of(StackId stack) const
    {
        return stack.index() < m_origins.size() ? m_origins[stack.index()] : m_none;
    }
    /// Whether any stack has that bit.
    [[nodiscard]] bool any(StackOrigin::Bit bit) const { return (m_any & bit) != 0; }
    /// The innermost frame by which a rule decides; none: it decides by sizes and lifetimes alone.
    [[nodiscard]] FrameId decidingFrame(StackId stack, CategoryRule rule) const;

private:
    void findInits();
    [[nodiscard]] StackOrigin originOf(std::span<const FrameId> innermostFirst) const;

    const Recording& m_recording;
    std::unique_ptr<const FrameBits> m_frames;
    std::vector<bool> m_programs; // by FrameId: an __init__ that is a program
    std::vector<bool> m_moduleFiles; // by StringId: has the forward of a module
    std::vector<StackOrigin> m_origins; // by StackId
    StackOrigin m_none;
    std::uint32_t m_any = 0;
};

} // namespace strata::model
