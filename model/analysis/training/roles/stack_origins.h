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
        /// An __init__ outside of torch; not where a model runs, trains or is trained within it: that is a
        /// program, and makes anything.
        Init = 1024,
        ModuleInit = 32768, ///< ... in a file whose modules run
        Forward = 65536, ///< within a function of the program's that is called forward
        Reducer = 131072, ///< DDP's: gradients may be views of its buckets
        Load = 2048, ///< torch.load, load_state_dict, from_pretrained
        MakesParameter = 4096, ///< the line of torch's code that makes or moves parameters alone
        MakesBuffer = 8192, ///< ... that moves buffers alone
        Cast = 16384, ///< autocast fills its cache of cast weights
        Python = 1 << 17, ///< the stack has frames of Python
        Layer = 1 << 18, ///< Python's innermost frame is a forward of torch.nn, or a function of it
        Product = 1 << 19, ///< ... one that multiplies matrices
        Loss = 1 << 20, ///< ... one that compares outputs with targets
        TorchOptimizer = 1 << 21, ///< ... of an optimizer of torch.optim
        ZeroGrad = 1 << 22, ///< within zero_grad() of an optimizer or a module
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
