// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/offload.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/run/step_edits.h"
#include "model/analysis/training/deep/step_owners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

using Hold = StepOwners::Hold;
using Window = StepOwners::Window;

/// What is saved within forwards, and the loss behind them: of each of these up to where backward begins.
class Offloaded {
public:
    Offloaded(const StepOwners& owners, const StringTable& strings)
        : m_owners(owners)
        , m_strings(strings)
    {
    }

    /// False: no module matches.
    bool choose(const OffloadChoice& choice)
    {
        if (choice.modules)
            return chooseWithin(*choice.modules);
        chooseForwards();
        return true;
    }

    [[nodiscard]] const std::set<const Hold*>& holds() const { return m_holds; }

private:
    bool chooseWithin(const ModuleChoice& modules)
    {
        bool matches = false;
        for (const Window& window : m_owners.windows) {
            if (!modules.matches(m_strings[window.path], m_strings[window.type]))
                continue;
            matches = true;
            addBetween(window.enters, window.leaves, window.thread);
        }
        return matches;
    }

    void chooseForwards()
    {
        std::vector<DeepMoment> unpacked;
        for (const Hold& hold : m_owners.holds)
            for (const Hold::Use& use : hold.uses)
                unpacked.push_back(use.from);
        std::ranges::sort(unpacked);
        DeepMoment end;
        for (const Window& window : m_owners.windows) {
            if (window.thread != m_owners.thread || window.enters < end)
                continue;
            const auto backward = std::ranges::upper_bound(unpacked, window.enters);
            end = backward == unpacked.end() ? kNeverInStep : *backward;
            addBetween(window.enters, end, window.thread);
        }
    }

    void addBetween(const DeepMoment& from, const DeepMoment& to, std::uint32_t thread)
    {
        const auto& holds = m_owners.holds;
        for (auto hold = std::ranges::lower_bound(holds, from, {}, &Hold::saved);
             hold != holds.end() && hold->saved < to; ++hold)
            if (hold->thread == thread)
                m_holds.insert(&*hold);
    }

    const StepOwners& m_owners;
    const StringTable& m_strings;
    std::set<const Hold*> m_holds;
};

/// Backward that saves outside of modules does so for a backward of its own result.
bool savesInBackward(const StepOwners& owners)
{
    std::map<std::uint32_t, DeepMoment> within; // by thread, up to where its modules so far run
    auto window = owners.windows.begin();
    for (const Hold& hold : owners.holds) {
        for (; window != owners.windows.end() && window->enters < hold.saved; ++window)
            within[window->thread] = std::max(within[window->thread], window->leaves);
        if (hold.thread != owners.thread && within[hold.thread] < hold.saved)
            return true;
    }
    return false;
}

class Editing {
public:
    Editing(const DeviceTrace& trace, const DeepStep& deep, const StepOwners& owners)
        : m_trace(trace)
        , m_owners(owners)
        , m_firstBlock(static_cast<std::uint32_t>(allocsBefore(trace, deep.beginEvent)))
    {
    }

    StepEdits edits(const std::set<const Hold*>& offloaded)
    {
        for (const Hold* const hold : offloaded) {
            if (hold->layout == wire::DeepLayout::Otherwise)
                add(*hold, hold->saved, hold->saved, BlockRule::Gathered);
            for (const Hold::Use& use : hold->uses) {
                const DeepMoment released = hold->released.value_or(kNeverInStep);
                add(*hold, use.from, use.end().value_or(released), BlockRule::BroughtBack);
            }
        }
        changeDeaths(offloaded);
        return std::move(m_edits);
    }

private:
    [[nodiscard]] bool isOfStep(std::uint32_t block) const
    {
        return block != StepOwners::kNoBlock && block >= m_firstBlock;
    }

    void add(const Hold& hold, const DeepMoment& born, const DeepMoment& dies, BlockRule rule)
    {
        if (hold.bytes <= 0)
            return;
        StepEdits::Added& added = m_edits.added.emplace_back();
        added.bytes = hold.bytes;
        added.like = lastAllocBefore(hold.saved.event);
        added.born = born;
        added.dies = std::max(born, dies);
        added.rule = rule;
        if (hold.block != StepOwners::kNoBlock)
            added.sizedAs = hold.block;
    }

    /// The stream of what is saved is that of the operator that saves it.
    [[nodiscard]] EventIndex lastAllocBefore(EventIndex event) const
    {
        const std::int64_t allocs = allocsBefore(m_trace, event);
        return m_trace.blocks().birth(
            BlockId::born(static_cast<std::uint32_t>(std::max<std::int64_t>(allocs - 1, 0))));
    }

    /// A block goes with the last of the program and of those who still save it on the device.
    void changeDeaths(const std::set<const Hold*>& offloaded)
    {
        struct Owners {
            DeepMoment saved, others;
        };
        std::map<std::uint32_t, Owners> blocks;
        for (const Hold* const hold : offloaded)
            if (isOfStep(hold->block))
                blocks[hold->block].saved = std::max(blocks[hold->block].saved, hold->saved);
        for (const Hold& hold : m_owners.holds)
            if (const auto block = blocks.find(hold.block);
                block != blocks.end() && !offloaded.contains(&hold))
                block->second.others = std::max(block->second.others, hold.released.value_or(kNeverInStep));
        for (const auto& [block, owners] : blocks) {
            const DeepMoment recorded = recordedDeath(m_trace, block);
            const DeepMoment copied{ owners.saved.event, owners.saved.row + 1 };
            const DeepMoment dies
                = std::max({ programsEnd(m_owners, block, owners.saved), copied, owners.others });
            if (dies < recorded)
                m_edits.changes.push_back({ block, dies, BlockRule::Offloaded });
        }
    }

    const DeviceTrace& m_trace;
    const StepOwners& m_owners;
    std::uint32_t m_firstBlock;
    StepEdits m_edits;
};

Failure lacksSizes()
{
    return fail(Error::Kind::Refused,
        say("the deep step does not tell how large the tensors are that are saved for backward"),
        say("record the program again: strata record --deep-step 3 -- COMMAND"));
}

} // namespace

Result<RunEdits> offloadEdits(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<OffloadChoice>& choices)
{
    const auto step = ownedDeepStep(trace);
    if (!step)
        return Failure(step.error());
    const StepOwners& owners = step->owners;
    if (owners.holds.empty())
        return fail(Error::Kind::Refused,
            say("the deep step does not tell what is saved for backward, as of a program in C++"));
    if (owners.windows.empty()) // nor does LibTorch have what would put it there
        return fail(Error::Kind::Refused, say("the deep step tells of no modules, as of a program in C++"));
    if (savesInBackward(owners))
        return fail(Error::Kind::Refused,
            say("backward saves tensors for another backward (create_graph=True), and nothing tells which "
                "of them lie on the host"),
            hintFor(Lacks::Confirmation));
    Offloaded offloaded(owners, trace.recording().strings);
    for (const OffloadChoice& choice : choices)
        if (!offloaded.choose(choice))
            return noSuchModule(owners, trace.recording().strings);
    if (offloaded.holds().empty())
        return fail(Error::Kind::Refused,
            say("nothing is saved for backward there that the recording tells of"),
            say("it is checkpointed already, or nothing in it has gradients"));
    if (std::ranges::any_of(offloaded.holds(), [](const Hold* hold) { return hold->bytes < 0; }))
        return lacksSizes();
    return orRefused(inAllSteps(
        trace, steps, stretchOf(*step->deep), Editing(trace, *step->deep, owners).edits(offloaded.holds())));
}

} // namespace strata::model
