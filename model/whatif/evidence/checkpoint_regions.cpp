// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/checkpoint_regions.h"

#include "model/analysis/training/steps/step_ends.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::model {

CheckpointRegions::CheckpointRegions(const DeviceTrace& trace, StepStretch step, StepOwners owners)
    : m_trace(&trace)
    , m_step(step)
    , m_owners(std::make_shared<const StepOwners>(std::move(owners)))
    , m_firstBlock(static_cast<std::uint32_t>(allocsBefore(trace, step.begin)))
{
}

Result<CheckpointRegions> CheckpointRegions::of(const DeviceTrace& trace)
{
    auto step = ownedDeepStep(trace);
    if (!step)
        return Failure(step.error());
    if (step->owners.holds.empty())
        return fail(Error::Kind::Refused,
            say("the deep step does not tell what is saved for backward, as of a program in C++"));
    if (step->owners.windows.empty())
        return fail(Error::Kind::Refused, say("the deep step tells of no modules, as of a program in C++"));
    return CheckpointRegions(trace, stretchOf(*step->deep), std::move(step->owners));
}

CheckpointRegions CheckpointRegions::of(const DeviceTrace& trace, GuessedStep guessed)
{
    return { trace, guessed.stretch, std::move(guessed.owners) };
}

CheckpointRegion CheckpointRegions::region(
    const DeepMoment& enters, const DeepMoment& leaves, std::uint32_t thread) const
{
    CheckpointRegion region{ thread, enters, leaves, {}, {}, {}, {}, {} };
    const auto& holds = m_owners->holds;
    auto hold = std::ranges::lower_bound(holds, enters, {}, &StepOwners::Hold::saved);
    for (; hold != holds.end() && hold->saved < leaves; ++hold) {
        if (hold->thread != thread)
            continue;
        region.holds.push_back(&*hold);
        region.end = std::max(region.end, hold->released.value_or(kNeverInStep));
        if (hold->unpacked)
            region.again = std::min(region.again.value_or(kNeverInStep), *hold->unpacked);
    }
    auto taken = std::ranges::lower_bound(m_owners->takes, enters, {}, &StepOwners::Take::at);
    for (; taken != m_owners->takes.end() && taken->at < leaves; ++taken)
        if (taken->thread == thread && isOfStep(taken->block)
            && m_trace->blocks().birth(BlockId::born(taken->block)) < enters.event) {
            if (m_owners->casts.contains(taken->block))
                region.casts.emplace(taken->block, taken->at);
            else
                region.takes.insert(taken->block);
        }
    return region;
}

CheckpointRegion CheckpointRegions::regionOf(const StepOwners::Window& window) const
{
    CheckpointRegion made = region(window.enters, window.leaves, window.thread);
    for (const std::uint32_t block : window.takes)
        if (isOfStep(block) && m_trace->blocks().birth(BlockId::born(block)) < window.enters.event)
            made.takes.insert(block);
    return made;
}

StepEdits CheckpointRegions::edits(std::span<const CheckpointRegion* const> regions) const
{
    StepEdits edits;
    changeDeaths(regions, edits);
    for (const CheckpointRegion* const region : regions)
        if (region->again)
            copyRegion(*region, edits);
    return edits;
}

/// A block that regions save, or take, goes with the last of those who have it then.
void CheckpointRegions::changeDeaths(std::span<const CheckpointRegion* const> regions, StepEdits& edits) const
{
    struct Owners {
        bool isSaved = false; ///< by regions
        DeepMoment saved; ///< the last time by a region
        DeepMoment held; ///< by regions that take it
        DeepMoment others; ///< who save it elsewhere
    };
    std::map<std::uint32_t, Owners> blocks;
    std::set<const StepOwners::Hold*> inside;
    for (const CheckpointRegion* const region : regions) {
        for (const StepOwners::Hold* hold : region->holds) {
            inside.insert(hold);
            if (!isOfStep(hold->block))
                continue;
            Owners& owners = blocks[hold->block];
            owners.isSaved = true;
            owners.saved = std::max(owners.saved, hold->saved);
        }
        for (const std::uint32_t block : region->takes)
            blocks[block].held = std::max(blocks[block].held, region->end);
    }
    for (const StepOwners::Hold& hold : m_owners->holds)
        if (const auto block = blocks.find(hold.block); block != blocks.end() && !inside.contains(&hold))
            block->second.others = std::max(block->second.others, hold.released.value_or(kNeverInStep));
    for (const auto& [block, owners] : blocks) {
        const DeepMoment recorded = recordedDeath(*m_trace, block);
        if (recorded == kNeverInStep)
            continue;
        const DeepMoment own = owners.isSaved
            ? std::min(recorded, std::max(programsEnd(*m_owners, block, owners.saved), owners.others))
            : recorded;
        const DeepMoment dies = std::max(own, owners.held);
        // Between the same two allocations it is all the same.
        if (dies != kNeverInStep
            && allocsBefore(*m_trace, dies.event) != allocsBefore(*m_trace, recorded.event))
            edits.changes.push_back({ block, dies, dies < recorded ? BlockRule::LetGo : BlockRule::Held });
    }
}

/// Its forward once more, before backward takes out the first of what it saved.
void CheckpointRegions::copyRegion(const CheckpointRegion& region, StepEdits& edits) const
{
    const EventIndex first = region.enters.event, end = region.cut().event;
    const auto placeOf = [&](EventIndex event) {
        return RunEdits::Place{ region.again->event, region.again->row,
            event < end ? static_cast<std::uint32_t>(event - first) + 1 : RunEdits::Place::kLast };
    };
    std::map<std::uint32_t, DeepMoment> saved; // by block, until when
    const auto copy = [&](std::uint32_t block, EventIndex born, EventIndex death) {
        RunEdits::Place dies = placeOf(std::min(death, end));
        if (const auto hold = saved.find(block); hold != saved.end() && dies.order == dies.kLast)
            dies = std::max(dies, RunEdits::Place{ hold->second.event, hold->second.row, 0 });
        edits.copies.push_back({ block, placeOf(born), dies });
    };
    for (const StepOwners::Hold* hold : region.holds) {
        DeepMoment until = hold->released.value_or(kNeverInStep);
        if (hold->unpacked && hold->used)
            until = std::min(until, *hold->used);
        DeepMoment& last = saved[hold->block];
        last = std::max(last, until);
    }
    for (const auto& [block, at] : region.casts)
        if (at < region.cut())
            copy(block, at.event, end);
    const EventColumns& events = m_trace->events();
    for (EventIndex event = first; event < end; ++event) {
        const BlockId id = events.block[static_cast<std::size_t>(event)];
        if (events.action[static_cast<std::size_t>(event)] != Action::Alloc || !id.valid() || id.isOlder())
            continue;
        const auto block = static_cast<std::uint32_t>(id.row());
        copy(block, event, recordedDeath(*m_trace, block).event);
    }
}

} // namespace strata::model
