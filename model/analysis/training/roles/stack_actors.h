// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/stack_origins.h"
#include "model/analysis/training/steps/phase_map.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Who allocates and frees, as stacks show it. A thread of autograd's engine runs no Python: it shows by its
/// C++ frames, or, where stacks hold Python's frames alone, by having none while the program waits for its
/// backward.
///
///     allocations   program program | engine engine engine | optimizer | program ...
///     frees                      engine: a graph held it   | program: a variable did
///
/// Nothing is known of frees where a recording has stacks of allocations alone: all are Program's. O(events);
/// one entry a run.
class StackActors {
public:
    enum class Actor : std::uint8_t { Program, Engine, Optimizer };

    StackActors(const DeviceTrace& trace, const StackOrigins& origins, const PhaseMap& phases);

    /// Whether frees have stacks of their own.
    [[nodiscard]] bool tellsFrees() const { return m_tellsFrees; }
    /// Of an allocation or free; Program where nothing shows. O(log runs).
    [[nodiscard]] Actor of(EventIndex event) const;
    /// Nobody else allocated between two events of `actor`: they belong to one call. O(log runs).
    [[nodiscard]] bool isOneRun(Actor actor, EventIndex first, EventIndex last) const;

    /// Another actor allocated or freed after `event`, and before `until`.
    [[nodiscard]] bool isFollowed(EventIndex event, EventIndex until = BlockColumns::kNever) const;

private:
    struct Run {
        EventIndex first;
        Actor actor;
    };
    [[nodiscard]] const Run* runAt(EventIndex event) const;
    [[nodiscard]] Actor shownBy(StackId stack) const;

    const DeviceTrace& m_trace;
    const StackOrigins& m_origins;
    bool m_tellsFrees, m_bareIsEngine = false;
    EventIndex m_lastProgram = -1; // the last alloc or free of another actor than the engine
    std::vector<Run> m_runs; // of allocations
};

} // namespace strata::model
