// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What a program was at while it asked for memory, as bits of the recorder or stacks tell.
enum class RunKind : std::uint8_t {
    Unknown,
    Forward, ///< gradients on
    NoGrad,
    Inference,
    Backward,
    Recompute, ///< a forward again, within a backward
    GradInBackward, ///< that, or the graph of a second derivative: not in a finished history
    Optimizer, ///< where stacks tell; bits have it as NoGrad
    Gradients, ///< where stacks tell: clips or unscales gradients, between backward and optimizer
    Other, ///< of the program itself, where stacks tell: a batch, a metric
};

[[nodiscard]] constexpr bool isBackward(RunKind work)
{
    return work == RunKind::Backward || work == RunKind::Recompute || work == RunKind::GradInBackward;
}

/// Whether what it makes may be a batch, or a part of a forward.
[[nodiscard]] constexpr bool mayBegin(RunKind work)
{
    return work == RunKind::Forward || work == RunKind::Other;
}

/// Events of one kind of work.
struct WorkRun {
    RunKind work = RunKind::Unknown;
    bool begins = false; ///< a backward of its own begins, whatever came before
    EventIndex first = 0, last = -1;
    EventIndex lastOwn = -1; ///< the last event that said so itself; the rest goes with it
};

/// A backward of its own.
struct BackwardRun {
    EventIndex first = 0, last = -1; ///< its own events
    bool makesGraph = false; ///< create_graph: it is a part of a forward
    bool recomputes = false;
};

struct ClosureSpan {
    EventIndex first = 0, last = -1;
};

/// What a program did on a device, one thing after the other. The runs tile the trace: what gives memory back
/// goes with what asked for some before it, but for what backward gives back.
struct WorkHistory {
    std::vector<WorkRun> runs; ///< empty where nothing tells
    std::vector<BackwardRun> backwards; ///< in order
    bool tellsGradMode = false; ///< NoGrad and Inference are told from Forward
    bool isGuess = false; ///< of lives alone: where runs begin and end is not sure
    bool sawNoGrad = false; ///< a stack shows a function that turns gradients off
    bool showsNoTraining = false; ///< stacks are there, and none is of a backward or an optimizer
    bool backwardIsGuess = false; ///< allocs without a stack alone say that there are backwards
    std::vector<ClosureSpan> closures; ///< calls of optimizers in which forwards ran, where stacks tell

    [[nodiscard]] bool empty() const { return runs.empty(); }
};

/// Whether it was recorded from within a step: a backward comes before any forward. O(runs before it).
[[nodiscard]] bool beginsInBackward(const WorkHistory& work);

/// O(log runs).
[[nodiscard]] RunKind workAt(const WorkHistory& work, EventIndex event);

/// Of what our recorder noted with each event, where threads are known but for what others than that of the
/// forwards do during a backward. O(events), sequential.
[[nodiscard]] WorkHistory workFromBits(const DeviceTrace& trace);

/// Of stacks; no runs where none says forward, backward or optimizer. O(events + frames of distinct stacks).
[[nodiscard]] WorkHistory workFromStacks(const DeviceTrace& trace);

/// Makes runs out of the work of one event after the other, in order.
class WorkRunMaker {
public:
    /// An event of the allocator that comes of a request, or with `asks` false of a tensor that goes.
    void add(EventIndex event, RunKind work, bool asks)
    {
        if (work == RunKind::Unknown || (!asks && work != RunKind::Backward))
            return;
        if (work != m_work) [[unlikely]]
            open(event, work);
        m_lastOwn = event;
    }
    [[nodiscard]] RunKind work() const { return m_work; } ///< of the event before
    /// The event was an alloc.
    void noteAlloc(EventIndex event, std::int64_t bytes)
    {
        m_lastAlloc = event;
        m_lastBytes = bytes;
    }
    [[nodiscard]] WorkHistory finish(EventIndex events);

private:
    void open(EventIndex event, RunKind work);
    void close(EventIndex end);

    std::vector<WorkRun> m_runs;
    RunKind m_work = RunKind::Unknown;
    bool m_begins = false;
    EventIndex m_first = 0, m_lastOwn = -1, m_lastAlloc = -1;
    std::int64_t m_lastBytes = 0;
};

} // namespace strata::model
