// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/dryrun/peaks.h"

#include <chrono>
#include <optional>
#include <unordered_map>

namespace strata::dryrun {

/// Counts the training steps of a program, and knows when it has made those that it was to make.
///
/// Each optimizer is counted for itself, from the moment it is made. Within a range that the program calls a
/// step all of a thread's optimizers together make one step, when the first of them does; a range in which
/// none was seen to makes one when it ends. What would be one step too many is not begun: by then the forward
/// and backward of that step have been, with the optimizer's state in place.
///
/// Where several threads train, the first that has enough is held until the others have enough too, have
/// ended, or make no more steps: see waitsUntil(). One thread at a time; the caller locks. Throws
/// std::bad_alloc alone.
class StepCounts {
public:
    using Clock = std::chrono::steady_clock;
    using Optimizer = const void*;
    using Thread = const void*; ///< whatever tells threads apart for as long as they live

    /// How long nothing may be heard of a thread before it counts as one that makes no more steps: this, or
    /// three times as long as its longest step; longer from the making of an optimizer to its first step.
    static constexpr std::chrono::seconds kPatience{ 2 };
    static constexpr std::chrono::seconds kFirstPatience{ 10 };

    /// `wanted` steps; 0: as many as the program makes.
    explicit StepCounts(int wanted);

    /// Made anew, at an address where another one may have been.
    void made(Optimizer optimizer, Thread thread, Clock::time_point now);

    /// False: this step is one too many.
    [[nodiscard]] bool begins(Optimizer optimizer, Thread thread, Clock::time_point now);
    void rangeBegins(Thread thread);
    [[nodiscard]] bool rangeEnds(Thread thread, Clock::time_point now);

    /// It has enough, and waits.
    void hold(Thread thread);
    /// It has ended: nobody waits for it any more.
    void forget(Thread thread);
    /// Until when a thread that has enough is to wait for others, unless something changes before; nothing:
    /// all have enough.
    [[nodiscard]] std::optional<Clock::time_point> waitsUntil(Thread thread) const;

    /// Of an optimizer the gradients are set to zero. True once it is sure that its steps are not seen: it
    /// has been trained with, and not one step of the program was counted.
    [[nodiscard]] bool zeroes(Optimizer optimizer);

    /// Of the optimizer or the thread that made most.
    [[nodiscard]] int steps() const { return m_steps; }
    /// Of all of them together.
    [[nodiscard]] int allSteps() const { return m_allSteps; }
    [[nodiscard]] StepSource source() const { return m_source; }

private:
    struct Count {
        int steps = 0;
        int zeroed = 0;
        Thread thread = nullptr; ///< that made the last step, or the optimizer
        Clock::time_point last{}; ///< when it did
        Clock::duration longest{};
    };
    struct Ranges {
        int depth = 0; ///< ranges within ranges are no steps of their own
        bool counted = false;
        bool held = false;
        Count count;
    };

    [[nodiscard]] bool step(Count& count, StepSource source, Thread thread, Clock::time_point now);
    void waitsFor(const Count& count, Thread thread, std::optional<Clock::time_point>& until) const;

    int m_wanted;
    int m_steps = 0;
    int m_allSteps = 0;
    StepSource m_source = StepSource::None;
    std::unordered_map<Optimizer, Count> m_optimizers;
    std::unordered_map<Thread, Ranges> m_threads;
};

} // namespace strata::dryrun
