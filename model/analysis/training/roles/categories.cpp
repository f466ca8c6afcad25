// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/categories.h"

#include "model/analysis/training/roles/batch_finder.h"
#include "model/analysis/training/roles/block_births.h"
#include "model/analysis/training/roles/gradient_finder.h"
#include "model/analysis/training/roles/role_guess.h"
#include "model/analysis/training/roles/stack_actors.h"
#include "model/analysis/training/roles/workspace_finder.h"
#include "model/trace/program/profiled_categories.h"

#include <algorithm>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

using Actor = StackActors::Actor;

constexpr EventIndex kNever = PhaseMap::kNever;

Category categoryOf(ProfiledCategory category)
{
    switch (category) {
    case ProfiledCategory::Parameter:
        return Category::Parameter;
    case ProfiledCategory::OptimizerState:
        return Category::OptimizerState;
    case ProfiledCategory::Input:
        return Category::Input;
    case ProfiledCategory::Activation:
        return Category::Activation;
    case ProfiledCategory::Gradient:
        return Category::Gradient;
    case ProfiledCategory::Temporary:
    case ProfiledCategory::AutogradDetail: // of a backward, which has no other use for it
        return Category::Temporary;
    case ProfiledCategory::Unknown:
        break;
    }
    return Category::Unknown;
}

Category categoryOf(Kind kind)
{
    switch (kind) {
    case Kind::Parameter:
        return Category::Parameter;
    case Kind::Buffer:
        return Category::Buffer;
    case Kind::Gradient:
        return Category::Gradient;
    case Kind::OptimizerState:
        return Category::OptimizerState;
    case Kind::Input:
        return Category::Input;
    case Kind::Stepped:
    case Kind::SteppedUnlisted:
        break;
    }
    return Category::Unknown;
}

} // namespace

/// Makes Categories: what is listed and guessed of roles first, then block by block in the order of births.
class CategoryMaker {
public:
    CategoryMaker(const DeviceTrace& trace, const Clock& clock, const TrainingSteps& steps,
        const CategoryOptions& options, Categories& made)
        : m_trace(trace)
        , m_clock(clock)
        , m_options(options)
        , m_made(made)
        , m_origins(trace.recording())
        , m_phases(trace, steps)
        , m_actors(trace, m_origins, m_phases)
        , m_births(trace, m_phases, m_origins, steps.evidence)
        , m_gradients(trace, m_origins, m_actors, m_parameterSizes, m_sureSizes)
        , m_batches(m_births.tellsModules())
    {
        made.m_born.resize(trace.blocks().bornCount());
        made.m_older.resize(trace.blocks().olderCount());
        const EventIndex last = trace.eventCount() - 1;
        m_lastPhase = last < 0 ? Phase::Unknown : lastKnownPhase();
    }

    [[nodiscard]] bool make(const Progress& progress)
    {
        if (m_options.rules)
            m_rules.emplace(m_trace, m_clock, *m_options.rules, progress);
        if (progress.cancelled())
            return false;
        if (const auto* const part = m_trace.recording().parts.find<ProfiledCategories>())
            if (const auto found = part->ofEvents.find(m_trace.device()); found != part->ofEvents.end()) {
                takeProfiled(found->second);
                return true;
            }
        takeListed();
        if (!m_made.m_tensors.has(Kind::Parameter))
            takeGuesses();
        countParameters();
        m_workspaces.emplace(m_trace, m_births, m_actors, m_parameterSizes);
        constexpr std::size_t kLooks = 1 << 18;
        const BlockColumns& blocks = m_trace.blocks();
        for (std::size_t row = 0; row < blocks.olderCount(); ++row)
            decide(m_births.of(BlockId::older(row)));
        for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
            if (row % kLooks == 0 && progress.cancelled())
                return false;
            const BlockBirth birth = m_births.of(BlockId::born(row));
            if (birth.inModule && birth.phase == Phase::Forward)
                m_moduleSeen = birth.event;
            decide(birth);
            const CategoryRule rule = at(birth.block).rule;
            m_batches.take(birth,
                rule > CategoryRule::Batch && !m_births.isOfSetup(birth)
                    && !birth.origin->has(StackOrigin::Forward));
        }
        m_gradients.finish();
        for (const auto& [block, rule] : m_gradients.gradients())
            at(block) = { Category::Gradient, rule };
        m_batches.finish();
        for (const BlockId block : m_batches.batches())
            if (!isCopy(block))
                at(block) = { Category::Input, CategoryRule::Batch, false };
        takeWeightCopies();
        return true;
    }

private:
    /// Of a parameter, as averages are, or at twice the precision, as master weights: nothing that stays like
    /// one is a batch.
    [[nodiscard]] bool isCopy(BlockId block) const
    {
        const std::int64_t bytes = m_trace.blocks().requestedBytes[block];
        return m_trace.blocks().death(block) == kNever
            && (m_parameterSizes.contains(bytes) || (bytes % 2 == 0 && m_parameterSizes.contains(bytes / 2)));
    }
    [[nodiscard]] BlockCategory& at(BlockId block)
    {
        return (block.isOlder() ? m_made.m_older : m_made.m_born)[block.row()];
    }
    [[nodiscard]] static bool isDecided(const BlockCategory& category)
    {
        return category.rule != CategoryRule::Nothing;
    }

    /// The last events may be frees alone, of a program that ends.
    [[nodiscard]] Phase lastKnownPhase() const
    {
        for (auto span = m_phases.spans().rbegin(); span != m_phases.spans().rend(); ++span)
            if (span->phase != Phase::Unknown)
                return span->phase;
        return Phase::Unknown;
    }

    /// Of several tensors in a block the first in the order of Category is what it is for.
    void takeListed()
    {
        for (const ListedTensors::Placed& placed : m_made.m_tensors.all()) {
            BlockCategory& known = at(placed.block);
            const Category category = categoryOf(m_made.m_tensors.listing(placed).kind);
            if (!isDecided(known) || category < known.category)
                known = { category, CategoryRule::Listed, true };
        }
    }

    /// Lives of blocks are not told there, so that nothing can be inferred of what the profiler does not
    /// know.
    void takeProfiled(const std::vector<ProfiledCategory>& ofEvents)
    {
        for (const BlockId block : m_trace.blocks().all()) {
            const EventIndex birth = m_trace.blocks().birth(block);
            BlockCategory& category = at(block);
            if (birth >= 0 && ofEvents[static_cast<std::size_t>(birth)] != ProfiledCategory::Unknown)
                category
                    = { categoryOf(ofEvents[static_cast<std::size_t>(birth)]), CategoryRule::Profiler, true };
            else if (const auto wanted = m_rules ? m_rules->categoryOf(block) : std::nullopt)
                category = { *wanted, CategoryRule::User, false };
        }
    }

    void takeGuesses()
    {
        const RoleGuess guess(m_births);
        for (const RoleGuess::Guess& each : guess.guesses())
            if (!isDecided(at(each.block)))
                at(each.block) = each.category;
    }

    /// What a graph holds is an activation still; the rest waits for the end of autocast.
    void takeWeightCopies()
    {
        m_made.m_copies = findWeightCopies(m_births, m_parameterSizes);
        for (const WeightCopy& copy : m_made.m_copies) {
            BlockCategory& category = at(copy.block);
            const bool undecided = category.category == Category::Unknown
                || category.rule == CategoryRule::Batch || category.rule == CategoryRule::ForwardAlone
                || category.rule == CategoryRule::WorkspaceSize
                || (category.rule == CategoryRule::FreedInItsPhase && !category.recorded);
            if (undecided && !copy.heldByGraph)
                category = { Category::Temporary,
                    copy.byCode ? CategoryRule::AutocastCode : CategoryRule::AutocastSizes };
        }
    }

    void countParameters()
    {
        for (const BlockId block : m_trace.blocks().all())
            if (const BlockCategory& known = m_made.of(block); known.category == Category::Parameter) {
                ++m_parameterSizes[m_trace.blocks().requestedBytes[block]];
                if (isSure(known.certainty()))
                    ++m_sureSizes[m_trace.blocks().requestedBytes[block]];
            }
    }

    void decide(const BlockBirth& birth)
    {
        BlockCategory& category = at(birth.block);
        if (category.rule == CategoryRule::Listed)
            return;
        if (m_rules)
            if (const auto wanted = m_rules->categoryOf(birth.block)) {
                category = { *wanted, CategoryRule::User, false };
                return;
            }
        if (isDecided(category)) // guessed from all blocks together
            return;
        category = byCode(birth);
        if (isDecided(category) || birth.event < 0)
            return;
        category = byPhase(birth);
        // Without a backward nothing shows that a graph holds what a forward left.
        const bool byBits = category.rule == CategoryRule::ForwardToBackward
            || category.rule == CategoryRule::HeldByGraph || category.rule == CategoryRule::FreedByBackward
            || category.rule == CategoryRule::FreedByOptimizer
            || category.rule == CategoryRule::RecomputedForBackward
            || category.rule == CategoryRule::FreedInItsPhase;
        // What the program makes beside its modules may be a batch, however long it lives.
        const bool maybeInput = birth.phase == Phase::Forward || birth.phase == Phase::NoGrad;
        category.recorded = byBits && birth.phaseRecorded && (birth.inModule || !maybeInput)
            && (category.category != Category::Activation || mayGraphHold(birth));
    }

    /// The backward freed it, or did not come so far. What the program frees may be a copy of its own.
    [[nodiscard]] bool mayGraphHold(const BlockBirth& birth) const
    {
        if (birth.end == kNever) {
            const auto& refused = m_trace.outOfMemories();
            return birth.span->nextBackwardEnd >= m_trace.eventCount() - 1
                || (!refused.empty() && refused.back() >= birth.span->nextBackward);
        }
        const auto end = static_cast<std::size_t>(birth.end);
        if (m_trace.events().stack[end].valid())
            return m_actors.of(birth.end) == Actor::Engine || !m_actors.tellsFrees();
        const EventPhase bits = m_trace.events().phaseOf(end);
        return bits == EventPhase::Backward || bits == EventPhase::BackwardGrad
            || bits == EventPhase::BackwardGradKeep;
    }

    [[nodiscard]] BlockCategory byCode(const BlockBirth& birth) const
    {
        const StackOrigin& origin = *birth.origin;
        if (origin.has(StackOrigin::Communication) && isReduced(birth))
            return { Category::Gradient, CategoryRule::OutlivesBackward, false };
        if (origin.has(StackOrigin::Communication))
            return { Category::Communication,
                origin.has(StackOrigin::Reducer) ? CategoryRule::CommunicationBuckets
                                                 : CategoryRule::CommunicationCode };
        if (origin.has(StackOrigin::Workspace))
            return { Category::Workspace, CategoryRule::WorkspaceCode, false };
        if (birth.event < 0)
            return {};
        const auto rule = m_workspaces->ruleOf(birth);
        return rule ? BlockCategory{ Category::Workspace, *rule } : BlockCategory{};
    }

    /// What a reduction in a backward leaves for the optimizer.
    [[nodiscard]] bool isReduced(const BlockBirth& birth) const
    {
        return birth.event >= 0 && birth.phase == Phase::Backward && birth.span->isBackward()
            && !isTold(birth) && birth.end > birth.span->freesUntil && birth.end != kNever;
    }

    [[nodiscard]] BlockCategory byPhase(const BlockBirth& birth)
    {
        switch (birth.phase) {
        case Phase::Forward:
            return ofForward(birth);
        case Phase::Recompute:
            if (birth.end > birth.span->last)
                return { Category::Activation,
                    isHeldByGraph(birth) ? CategoryRule::HeldByGraph : CategoryRule::RecomputedForBackward };
            return temporary();
        case Phase::Backward:
            return ofBackward(birth);
        case Phase::Optimizer:
            return ofOptimizer(birth);
        case Phase::NoGrad:
            return birth.end <= birth.span->freesUntil && birth.end != kNever ? temporary() : BlockCategory{};
        case Phase::Unknown:
            break;
        }
        const bool setup = birth.span->step == StepKind::Setup;
        return setup && birth.end <= birth.span->freesUntil && birth.end != kNever ? temporary()
                                                                                   : BlockCategory{};
    }

    [[nodiscard]] static BlockCategory temporary()
    {
        return { Category::Temporary, CategoryRule::FreedInItsPhase, false };
    }

    [[nodiscard]] BlockCategory ofForward(const BlockBirth& birth) const
    {
        const PhaseMap::Span& span = *birth.span;
        const bool isSetup = (span.step == StepKind::Setup && !birth.inModule) || m_births.isOfSetup(birth);
        if (isSetup) // tensors are made with gradients on
            return birth.end <= span.freesUntil && birth.end != kNever ? temporary() : BlockCategory{};
        const BlockCategory passing = birth.end <= span.phaseUntil ? temporary() : BlockCategory{};
        if (span.step == StepKind::Forward || span.nextBackward == kNever) {
            if (birth.end > span.stepLast && span.step == StepKind::Forward)
                return { Category::Activation, CategoryRule::ForwardAlone, false };
            if (birth.end != kNever)
                return passing;
            return (m_lastPhase == Phase::Forward || !m_trace.outOfMemories().empty()) && isOfForward(birth)
                ? BlockCategory{ Category::Activation, CategoryRule::ForwardUnfinished, false }
                : BlockCategory{};
        }
        if (birth.end >= span.nextBackward)
            return { Category::Activation,
                isHeldByGraph(birth) ? CategoryRule::HeldByGraph : CategoryRule::ForwardToBackward };
        return passing;
    }

    /// On a thread of autograd's engine only its graph drops what a forward made. A batch is born in no
    /// function of torch.nn within a module, and in no loss.
    [[nodiscard]] bool isHeldByGraph(const BlockBirth& birth) const
    {
        const StackOrigin& origin = *birth.origin;
        return birth.end != kNever && m_actors.of(birth.end) == Actor::Engine
            && ((origin.has(StackOrigin::Module) && origin.has(StackOrigin::Layer))
                || origin.has(StackOrigin::Loss));
    }

    /// Gradients are on wherever nobody turns them off: where modules are told, one ran since the last step.
    [[nodiscard]] bool isOfForward(const BlockBirth& birth) const
    {
        const auto& ends = m_phases.ends();
        const auto end = std::ranges::lower_bound(ends, birth.event);
        return !m_births.tellsModules() || m_moduleSeen > (end == ends.begin() ? -1 : *std::prev(end));
    }

    [[nodiscard]] BlockCategory ofBackward(const BlockBirth& birth)
    {
        const PhaseMap::Span& span = *birth.span;
        const EventIndex over = span.isBackward() ? span.freesUntil : span.last;
        const auto size = m_parameterSizes.find(birth.bytes);
        if (birth.end != kNever && m_actors.isOneRun(Actor::Engine, birth.event, birth.end))
            return { Category::Temporary, CategoryRule::FreedByBackward, false };
        // Where nobody told of gradients and the optimizer asks for nothing, no event lies between the end of
        // a backward and the frees of its gradients.
        m_gradients.take(birth,
            !isTold(birth) && size != m_parameterSizes.end() && span.isBackward()
                && birth.end > span.backwardLastAlloc);
        if (birth.end != kNever && birth.end <= over)
            return temporary();
        const bool unfinished = over == kNever && birth.end == kNever;
        if (!unfinished)
            return size != m_parameterSizes.end() && isTold(birth)
                ? BlockCategory{ Category::Gradient, CategoryRule::OutlivesBackward, false }
                : BlockCategory{};
        std::int64_t& met = m_unfinished[birth.bytes];
        if (size != m_parameterSizes.end() && ++met <= size->second)
            return { Category::Gradient, CategoryRule::SizeOfParameter, false };
        return { Category::Temporary, CategoryRule::BackwardUnfinished, false };
    }

    /// A step of an optimizer that ended after it told of its gradients and states.
    [[nodiscard]] bool isTold(const BlockBirth& birth) const
    {
        return m_made.m_tensors.has(Kind::Stepped) && birth.event < m_made.m_tensors.lastStepped();
    }

    [[nodiscard]] BlockCategory ofOptimizer(const BlockBirth& birth) const
    {
        const PhaseMap::Span& span = *birth.span;
        // An optimizer of the program's own may drop in a step what it kept from the one just before.
        if (birth.end != kNever && birth.origin->has(StackOrigin::TorchOptimizer)
            && m_actors.isOneRun(Actor::Optimizer, birth.event, birth.end))
            return { Category::Temporary, CategoryRule::FreedByOptimizer, false };
        if (birth.end != kNever && (birth.end <= span.freesUntil || birth.end <= span.stepLast))
            return temporary();
        if (isTold(birth))
            return {};
        if (!m_births.mayOptimize())
            return {};
        if (birth.origin->has(StackOrigin::State))
            return { Category::OptimizerState, CategoryRule::StateCode, false };
        const auto& refused = m_trace.outOfMemories();
        const bool unfinished = birth.end == kNever && !refused.empty() && refused.back() <= span.freesUntil
            && refused.back() >= birth.event;
        if (!unfinished)
            return { Category::OptimizerState,
                birth.origin->has(StackOrigin::Optimizer) && m_births.stepEndsAfter(birth)
                        && m_births.stays(birth)
                    ? CategoryRule::OptimizerCode
                    : CategoryRule::OutlivesOptimizer };
        return { Category::Temporary, CategoryRule::OptimizerUnfinished, false };
    }

    const DeviceTrace& m_trace;
    const Clock& m_clock;
    const CategoryOptions& m_options;
    Categories& m_made;
    StackOrigins m_origins;
    PhaseMap m_phases;
    StackActors m_actors;
    BlockBirths m_births;
    std::optional<RuleMatcher> m_rules;
    ParameterSizes m_parameterSizes, m_sureSizes;
    std::optional<WorkspaceFinder> m_workspaces; // once parameters are counted
    GradientFinder m_gradients;
    BatchFinder m_batches;
    boost::unordered_flat_map<std::int64_t, std::int64_t> m_unfinished; // gradients of a backward, by size
    Phase m_lastPhase = Phase::Unknown;
    EventIndex m_moduleSeen = -1; // the last alloc in the forward of a module
};

Result<Categories> Categories::of(const DeviceTrace& trace, const Clock& clock, const TrainingSteps& steps,
    const CategoryOptions& options, const Progress& progress)
{
    Categories made;
    EarlierTensors earlier;
    if (options.earlier)
        earlier = { options.earlierTrace, &options.earlier->m_tensors };
    auto tensors = ListedTensors::of(trace, progress, earlier);
    if (!tensors)
        return Failure(tensors.error());
    made.m_tensors = std::move(*tensors);
    if (!CategoryMaker(trace, clock, steps, options, made).make(progress))
        return fail(Error::Kind::Cancelled, say("cancelled"));
    return made;
}

std::size_t Categories::bytesResident() const
{
    return (m_born.capacity() + m_older.capacity()) * sizeof(BlockCategory) + m_tensors.bytesResident()
        + m_copies.capacity() * sizeof(WeightCopy);
}

} // namespace strata::model
