// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leak_sites.h"
#include "model/analysis/training/leaks/leaks.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

namespace strata::model {

/// What is known of how the blocks of a site come about.
struct LeakOrigin {
    Phase phase = Phase::Unknown; ///< in which most of them are born
    StepKind step = StepKind::Train; ///< in steps of which kind
    bool isRecorded = false; ///< autograd's state, or names, say so: gradients were on or off
    bool inOptimizer = false; ///< by their phase, or their stack
    bool inHistory = false; ///< of an optimizer that keeps some steps (LBFGS)
    bool inHook = false; ///< of a module
    bool inBackwardHook
        = false; ///< the engine of autograd calls it: a hook of a tensor, or of a module's backward
    bool makesWeights = false; ///< a module of torch is made, moved or converted
    bool inModule = false; ///< called by one, or by a function of torch.nn
    bool freshStreams = false; ///< each is on a stream of its own
    bool gradientsOff = false; ///< most are born under no_grad() or inference_mode()
    bool firstOfStep = false; ///< among the first allocations of its step
};

/// Tells it of sites; the names of a frame are looked at once. Keeps pointers to all that it is made of.
class LeakOrigins {
public:
    LeakOrigins(const DeviceTrace& trace, const TrainingSteps& steps)
        : m_trace(trace)
        , m_steps(steps)
    {
    }

    [[nodiscard]] LeakOrigin of(const StayingSite& site); ///< O(frames of its stack)

private:
    struct FrameMarks {
        bool isUser = false; ///< of the program
        bool inOptimizer = false, inHistory = false;
        bool callsModule = false, inFunctional = false;
        bool isForward = false, isBackward = false, isHooks = false, isModule = false;
        bool makesWeights = false;
        bool isWithoutGradients = false; ///< what it calls runs under no_grad() or inference_mode()
    };
    [[nodiscard]] FrameMarks marksOf(FrameId id);
    void readStack(StackId stack, LeakOrigin& origin);

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    boost::unordered_flat_map<std::uint32_t, FrameMarks> m_frames;
};

/// What else is known when a site is described.
struct LeakSurroundings {
    std::uint32_t steps = 0; ///< that were compared
    double forwardLeaks = 0; ///< blocks in a step that leak, made by modules in a forward, or that may be
    bool framesKnown = false; ///< of its allocations
    bool someSteps = false; ///< it leaks in some steps alone
};

/// The words of a site: its pattern, what helps, what decided.
void describe(
    LeakSite& site, const LeakShape& shape, const LeakOrigin& origin, const LeakSurroundings& around);

} // namespace strata::model
