// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/block_births.h"

#include <algorithm>

namespace strata::model {

BlockBirths::BlockBirths(
    const DeviceTrace& trace, const PhaseMap& phases, const StackOrigins& origins, StepEvidence evidence)
    : m_trace(&trace)
    , m_phases(&phases)
    , m_origins(&origins)
    , m_tellsModules(!trace.recording().modules.empty() || origins.any(StackOrigin::Module))
    , m_mayOptimize(evidence == StepEvidence::Ranges || evidence == StepEvidence::Bits
          || origins.any(StackOrigin::Optimizer) || !origins.any(StackOrigin::Known))
    , m_lastBirth(trace.blocks().bornCount() == 0
              ? -1
              : trace.blocks().birth(BlockId::born(trace.blocks().bornCount() - 1)))
{
}

bool BlockBirths::stepEndsAfter(const BlockBirth& birth) const
{
    const auto& ends = m_phases->ends();
    return std::ranges::lower_bound(ends, birth.event) != ends.end();
}

bool BlockBirths::stays(const BlockBirth& birth) const
{
    if (birth.end == PhaseMap::kNever)
        return true;
    const auto outlived = std::ranges::lower_bound(m_phases->ends(), birth.end)
        - std::ranges::lower_bound(m_phases->ends(), birth.event);
    return outlived >= 2;
}

bool BlockBirths::staysOfSetup(const BlockBirth& birth) const
{
    return birth.end > m_lastBirth || stays(birth);
}

bool BlockBirths::isOfSetup(const BlockBirth& birth) const
{
    const StackOrigin& origin = *birth.origin;
    return origin.has(StackOrigin::Setup)
        || ((origin.has(StackOrigin::Init) || origin.has(StackOrigin::Load)) && staysOfSetup(birth));
}

BlockBirth BlockBirths::of(BlockId block)
{
    const BlockColumns& blocks = m_trace->blocks();
    BlockBirth birth;
    birth.block = block;
    birth.event = blocks.birth(block);
    birth.end = std::min(blocks.pendingSince(block), blocks.death(block));
    birth.bytes = blocks.requestedBytes[block];
    birth.origin = &m_origins->of(blocks.stack[block]);
    if (birth.event < 0)
        return birth;
    const auto row = static_cast<std::size_t>(birth.event);
    const EventColumns& events = m_trace->events();
    m_row = m_phases->rowOf(birth.event, m_row);
    birth.span = &m_phases->spans()[m_row];
    birth.inModule = events.moduleOf(row) != kNoIndex || birth.origin->has(StackOrigin::Module);
    const EventPhase bits = events.phaseOf(row);
    birth.phaseRecorded = bits != EventPhase::Unknown;
    birth.phase = phaseOf(birth, bits);
    return birth;
}

Phase BlockBirths::phaseOf(const BlockBirth& birth, EventPhase bits) const
{
    const StackOrigin& origin = *birth.origin;
    const Phase around = birth.span->phase; // knows better of reentrant checkpoints and second derivatives
    const bool trains = birth.span->step != StepKind::Setup && birth.span->step != StepKind::Save;
    Phase phase = around;
    if (phase == Phase::Unknown && trains)
        phase = bits == EventPhase::BackwardGradKeep ? Phase::Recompute : phaseOfBits(bits);
    // An optimizer may step within a backward, and shows gradients off like any other code.
    const bool mayBeOptimizer = phase == Phase::NoGrad || phase == Phase::Backward || phase == Phase::Unknown;
    if (mayBeOptimizer && origin.has(StackOrigin::Optimizer))
        return Phase::Optimizer;
    // What comes behind an optimizer and does not show it may be the next batch.
    if (phase == Phase::Optimizer && bits == EventPhase::Unknown && origin.has(StackOrigin::Known)
        && m_origins->any(StackOrigin::Optimizer) && !origin.has(StackOrigin::Optimizer))
        phase = Phase::Unknown;
    if (phase != Phase::Unknown || !origin.has(StackOrigin::Known))
        return phase;
    if (origin.has(StackOrigin::Backward))
        return origin.has(StackOrigin::Recompute) ? Phase::Recompute : Phase::Backward;
    return phase;
}

} // namespace strata::model
