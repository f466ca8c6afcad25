// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/oom_verdict.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/timeline/clock.h"

#include <cstdint>

namespace strata::model {

/// What the program held at an out-of-memory, as far as it shows what to change. Bytes are requested ones of
/// live blocks.
struct OomEvidence {
    /// Blocks of one origin.
    struct Held {
        std::int64_t blocks = 0, bytes = 0;
        StackId stack; ///< of the largest
        std::int64_t largestBytes = 0;
    };

    LeakReport leaks; ///< of steps or rounds of a loop
    std::int64_t liveBytes = 0;
    Held parameters;
    Held states; ///< allocated within an optimizer, or states by their category
    std::int64_t gradientBytes = 0;
    /// Lines of the optimizer that make states, each one for every parameter; 0: the request is of none.
    std::int64_t stateLines = 0;
    Held activations; ///< of modules: activations, and what the forward that failed made
    /// Activations of steps of training that are over: a graph holds them, or the program itself.
    Held graphsKept;
    Held others; ///< inputs, and blocks without a category
    Held loss; ///< allocated within a cross entropy or log softmax
    Held loaded; ///< by torch.load() or load_file(), each with the size of another live block
    Held copied; ///< by copy.deepcopy(), likewise
    bool inOptimizer = false; ///< the request
    bool inSetup = false; ///< the request: a model is made, moved or loaded
    bool inLoss = false; ///< the request
    bool gradientsOff = false; ///< at the request, as autograd noted
    bool trainingSeen = false; ///< a backward or an optimizer, up to the request or behind it
    /// The request is of a module or backward, and no step before it is complete (of training, or where
    /// nothing trains of any kind): what such a step needs in all is not recorded.
    bool inFirstStep = false;
};

struct OomExplained {
    OomVerdict verdict;
    OomEvidence evidence;
};

/// Makes a leak the cause where what steps left behind is what the request lacked: too big without it no
/// more, or where the fragments would last for less than a quarter as many steps more as ran.
void takeLeak(OomVerdict& verdict, const LeakReport& leaks);

/// Makes a request that an optimizer makes states with too big, where the states that its other parameters
/// still need exceed what is free in all: as many for each parameter with a gradient as lines make them.
void takeStates(OomVerdict& verdict, const OomEvidence& evidence);

/// More of the first step is to come, and what is free, packed, does not hold such a request twice.
[[nodiscard]] bool needsMore(const OomVerdict& verdict, const OomEvidence& evidence);

/// Makes fragmentation a likely cause only where needsMore().
void takeFirstStep(OomVerdict& verdict, const OomEvidence& evidence);

/// oomVerdictOf(), steps, categories and leaks of a trace. O(events + blocks log blocks), and replays. Fails
/// with Cancelled alone.
[[nodiscard]] Result<OomExplained> explainOom(const DeviceTrace& trace, const Clock& clock,
    const AllocatorMap& map, const ReplayReport& report, const Progress& progress = {});

} // namespace strata::model
