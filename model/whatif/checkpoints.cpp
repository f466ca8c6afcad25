// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/checkpoints.h"

#include "model/analysis/training/step_ends.h"
#include "model/whatif/step_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace strata::model {

namespace {

/// A call that is checkpointed.
struct Region {
    const StepOwners::Window* window = nullptr;
    std::vector<const StepOwners::Hold*> holds; ///< in the order in which they were saved; one at least
    std::set<std::uint32_t> takes; ///< blocks of the step that were there before it
    DeepMoment end; ///< nothing of what it saved is left
    std::optional<DeepMoment> again; ///< backward takes out the first of it

    [[nodiscard]] const DeepMoment& cut() const { return holds.back()->saved; }
};

class Rewriting {
public:
    Rewriting(const DeviceTrace& trace, const DeepStep& step, const StepOwners& owners)
        : m_trace(trace)
        , m_owners(owners)
        , m_firstBlock(static_cast<std::uint32_t>(allocsBefore(trace, step.beginEvent)))
    {
    }

    /// False: no module matches.
    bool findRegions(const std::vector<ModuleChoice>& choices)
    {
        const StringTable& strings = m_trace.recording().strings;
        std::map<std::uint32_t, DeepMoment> outer; // by thread, where the outermost one is left
        bool matches = false;
        for (const StepOwners::Window& window : m_owners.windows) {
            const auto isChosen = [&](const ModuleChoice& choice) {
                return choice.matches(strings[window.path], strings[window.type]);
            };
            if (const auto within = outer.find(window.thread);
                (within != outer.end() && window.enters < within->second)
                || std::ranges::none_of(choices, isChosen))
                continue;
            matches = true;
            outer[window.thread] = window.leaves;
            if (Region region = regionOf(window); !region.holds.empty())
                m_regions.push_back(std::move(region));
        }
        return matches;
    }

    [[nodiscard]] bool hasRegions() const { return !m_regions.empty(); }

    [[nodiscard]] StepEdits edits() const
    {
        StepEdits edits;
        changeDeaths(edits);
        for (const Region& region : m_regions)
            if (region.again)
                copyRegion(region, edits);
        return edits;
    }

private:
    [[nodiscard]] bool isOfStep(std::uint32_t block) const
    {
        return block != StepOwners::kNoBlock && block >= m_firstBlock;
    }

    [[nodiscard]] EventIndex birth(std::uint32_t block) const
    {
        return m_trace.blocks().birth(BlockId::born(block));
    }

    [[nodiscard]] Region regionOf(const StepOwners::Window& window) const
    {
        Region region;
        region.window = &window;
        const auto& holds = m_owners.holds;
        auto hold = std::ranges::lower_bound(holds, window.enters, {}, &StepOwners::Hold::saved);
        for (; hold != holds.end() && hold->saved < window.leaves; ++hold) {
            if (hold->thread != window.thread)
                continue;
            region.holds.push_back(&*hold);
            region.end = std::max(region.end, hold->released.value_or(kNeverInStep));
            if (hold->unpacked)
                region.again = std::min(region.again.value_or(kNeverInStep), *hold->unpacked);
        }
        const auto take = [&](std::uint32_t block) {
            if (isOfStep(block) && birth(block) < window.enters.event)
                region.takes.insert(block);
        };
        std::ranges::for_each(window.takes, take);
        auto taken = std::ranges::lower_bound(m_owners.takes, window.enters, {}, &StepOwners::Take::at);
        for (; taken != m_owners.takes.end() && taken->at < window.leaves; ++taken)
            if (taken->thread == window.thread)
                take(taken->block);
        return region;
    }

    /// A block that regions save, or take, goes with the last of those who have it then.
    void changeDeaths(StepEdits& edits) const
    {
        struct Owners {
            bool isSaved = false; ///< by regions
            DeepMoment saved; ///< the last time by a region
            DeepMoment held; ///< by regions that take it
            DeepMoment others; ///< who save it elsewhere
        };
        std::map<std::uint32_t, Owners> blocks;
        std::set<const StepOwners::Hold*> inside;
        for (const Region& region : m_regions) {
            for (const StepOwners::Hold* hold : region.holds) {
                inside.insert(hold);
                if (!isOfStep(hold->block))
                    continue;
                Owners& owners = blocks[hold->block];
                owners.isSaved = true;
                owners.saved = std::max(owners.saved, hold->saved);
            }
            for (const std::uint32_t block : region.takes)
                blocks[block].held = std::max(blocks[block].held, region.end);
        }
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (const auto block = blocks.find(hold.block); block != blocks.end() && !inside.contains(&hold))
                block->second.others = std::max(block->second.others, hold.released.value_or(kNeverInStep));
        for (const auto& [block, owners] : blocks) {
            const DeepMoment recorded = recordedDeath(m_trace, block);
            if (recorded == kNeverInStep)
                continue;
            DeepMoment own = recorded;
            if (owners.isSaved) {
                const auto program = m_owners.program.find(block);
                own = std::min(recorded,
                    std::max(
                        program == m_owners.program.end() ? owners.saved : program->second, owners.others));
            }
            const DeepMoment dies = std::max(own, owners.held);
            // Between the same two allocations it is all the same.
            if (dies != kNeverInStep
                && allocsBefore(m_trace, dies.event) != allocsBefore(m_trace, recorded.event))
                edits.changes.push_back(
                    { block, dies, dies < recorded ? BlockRule::LetGo : BlockRule::Held });
        }
    }

    /// Its forward once more, before backward takes out the first of what it saved.
    void copyRegion(const Region& region, StepEdits& edits) const
    {
        const EventIndex first = region.window->enters.event, end = region.cut().event;
        const auto placeOf = [&](EventIndex event) {
            return RunEdits::Place{ region.again->event, region.again->row,
                event < end ? static_cast<std::uint32_t>(event - first) + 1 : RunEdits::Place::kLast };
        };
        std::map<std::uint32_t, DeepMoment> saved; // by block, until when
        for (const StepOwners::Hold* hold : region.holds) {
            DeepMoment until = hold->released.value_or(kNeverInStep);
            if (hold->unpacked && hold->used)
                until = std::min(until, *hold->used);
            DeepMoment& last = saved[hold->block];
            last = std::max(last, until);
        }
        const EventColumns& events = m_trace.events();
        for (EventIndex event = first; event < end; ++event) {
            const BlockId id = events.block[static_cast<std::size_t>(event)];
            if (events.action[static_cast<std::size_t>(event)] != Action::Alloc || !id.valid()
                || id.isOlder())
                continue;
            const auto block = static_cast<std::uint32_t>(id.row());
            RunEdits::Place dies = placeOf(std::min(recordedDeath(m_trace, block).event, end));
            if (const auto hold = saved.find(block); hold != saved.end() && dies.order == dies.kLast)
                dies = std::max(dies, RunEdits::Place{ hold->second.event, hold->second.row, 0 });
            edits.copies.push_back({ block, placeOf(event), dies });
        }
    }

    const DeviceTrace& m_trace;
    const StepOwners& m_owners;
    std::uint32_t m_firstBlock;
    std::vector<Region> m_regions;
};

/// The classes of modules that ran, the most frequent first.
std::string classesIn(const StepOwners& owners, const StringTable& strings)
{
    std::map<std::string_view, int> counts;
    for (const StepOwners::Window& window : owners.windows)
        ++counts[strings[window.type]];
    std::vector<std::pair<int, std::string_view>> classes;
    for (const auto& [name, count] : counts)
        classes.emplace_back(-count, name);
    std::ranges::sort(classes);
    constexpr std::size_t kNamed = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(classes.size(), kNamed); ++i)
        text.append(i == 0 ? "" : ", ").append(classes[i].second);
    return text + (classes.size() > kNamed ? ", ..." : "");
}

} // namespace

Result<RunEdits> checkpointEdits(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<ModuleChoice>& choices)
{
    const auto deep = usableDeepStep(trace);
    if (!deep)
        return Failure(deep.error());
    const auto owners = stepOwners(trace, **deep);
    if (!owners)
        return Failure(owners.error());
    if (owners->holds.empty())
        return fail(Error::Kind::Refused,
            say("the deep step does not tell what is saved for backward, as of a program in C++"));
    if (owners->windows.empty())
        return fail(Error::Kind::Refused, say("the deep step tells of no modules"));
    Rewriting rewriting(trace, **deep, *owners);
    if (!rewriting.findRegions(choices))
        return fail(Error::Kind::Refused, say("no module that ran in the deep step is of that class or path"),
            say("there are %1", verbatim(classesIn(*owners, trace.recording().strings))));
    if (!rewriting.hasRegions())
        return fail(Error::Kind::Refused,
            say("the modules of that class or path save nothing for backward that the deep step tells of"),
            say("they are checkpointed already, or nothing in them has gradients"));
    return inAllSteps(trace, steps, **deep, rewriting.edits());
}

} // namespace strata::model
