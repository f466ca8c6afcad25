// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/stack_origins.h"
#include "model/analysis/training/steps/phase_map.h"
#include "model/trace/device_trace.h"

#include <cstdint>

namespace strata::model {

/// What was going on when a block was asked for, and when it was given back.
struct BlockBirth {
    BlockId block;
    EventIndex event = -1; ///< -1: it is older than the trace
    EventIndex end = PhaseMap::kNever; ///< its free was asked for
    std::int64_t bytes = 0; ///< requested
    const StackOrigin* origin = nullptr; ///< never null
    const PhaseMap::Span* span = nullptr; ///< never null for blocks of the trace
    Phase phase = Phase::Unknown;
    bool phaseRecorded = false; ///< autograd told it, not what is around it
    bool inModule = false; ///< within the forward of a module
};

/// Tells of blocks, quickest in the order of births. Keeps pointers to all that it is made of.
class BlockBirths {
public:
    BlockBirths(
        const DeviceTrace& trace, const PhaseMap& phases, const StackOrigins& origins, StepEvidence evidence);

    [[nodiscard]] BlockBirth of(BlockId block);
    /// A step ends after its birth.
    [[nodiscard]] bool stepEndsAfter(const BlockBirth& birth) const;
    /// It outlives two steps, or all there are.
    [[nodiscard]] bool stays(const BlockBirth& birth) const;
    /// ... or all allocations: models go when their function returns.
    [[nodiscard]] bool staysOfSetup(const BlockBirth& birth) const;
    /// Its stack trace makes, moves or loads a model: it is no batch and no activation.
    [[nodiscard]] bool isOfSetup(const BlockBirth& birth) const;
    /// Nothing rules an optimizer out: where stacks are recorded, one of them shows it, or its steps are
    /// recorded otherwise.
    [[nodiscard]] bool mayOptimize() const { return m_mayOptimize; }
    /// Whether modules are told of at all.
    [[nodiscard]] bool tellsModules() const { return m_tellsModules; }

    [[nodiscard]] const DeviceTrace& trace() const { return *m_trace; }
    [[nodiscard]] const PhaseMap& phases() const { return *m_phases; }

private:
    [[nodiscard]] Phase phaseOf(const BlockBirth& birth, EventPhase bits) const;

    const DeviceTrace* m_trace;
    const PhaseMap* m_phases;
    const StackOrigins* m_origins;
    bool m_tellsModules, m_mayOptimize;
    EventIndex m_lastBirth;
    std::size_t m_row = 0; // of the span of the last birth
};

} // namespace strata::model
