// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/role_guess.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::int64_t kSmallBuffer
    = 16384; // running means, counters: what may be a buffer by its size alone

} // namespace

RoleGuess::RoleGuess(BlockBirths& births)
    : m_births(births)
    , m_phases(births.phases())
    , m_computes(births.tellsModules() || births.phases().firstForward() != PhaseMap::kNever)
{
    const BlockColumns& blocks = births.trace().blocks();
    std::vector<BlockBirth> older;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        older.push_back(births.of(BlockId::older(row)));
    for (std::size_t row = 0; row < blocks.bornCount(); ++row)
        lookAt(births.of(BlockId::born(row)));
    for (const BlockBirth& birth : m_early) {
        if (birth.origin->moves.valid() && m_gradients.contains(birth.bytes))
            m_parameterMoves.insert(birth.origin->moves.value);
        if (birth.origin->has(StackOrigin::MakesParameter))
            m_shown.insert(birth.bytes);
    }
    if (m_parameterMoves.empty())
        takeLargestMoves();
    guessOlder(older);
    guessEarly();
}

/// Where gradients are of other sizes, in shards or buckets, what moves most bytes moves parameters.
void RoleGuess::takeLargestMoves()
{
    boost::unordered_flat_map<std::uint32_t, std::int64_t> bytes;
    for (const BlockBirth& birth : m_early)
        if (birth.origin->moves.valid())
            bytes[birth.origin->moves.value] = wrapAdd(bytes[birth.origin->moves.value], birth.bytes);
    const auto most = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
    if (most != bytes.end())
        m_parameterMoves.insert(most->first);
}

void RoleGuess::lookAt(const BlockBirth& birth)
{
    m_ran = m_ran || birth.inModule || birth.phase == Phase::Forward || birth.phase == Phase::NoGrad;
    const bool isOther = birth.origin->has(StackOrigin::Workspace)
        || birth.origin->has(StackOrigin::Communication) || birth.origin->has(StackOrigin::Optimizer);
    if (isOther || birth.bytes <= 0)
        return;
    if (m_births.isOfSetup(birth) && m_births.staysOfSetup(birth)) {
        m_early.push_back(birth); // whatever the phase is taken for
        return;
    }
    if (birth.phase == Phase::Backward) {
        if (birth.bytes <= kSmallBuffer)
            m_smallOfBackward.insert(birth.bytes);
        countGradient(birth);
        return;
    }
    const EventIndex before
        = std::min(m_phases.firstForward(), m_phases.firstBackward()); // kNever: there is neither
    if (birth.event < before && birth.phase != Phase::Recompute && birth.phase != Phase::Optimizer
        && !birth.inModule && m_births.stays(birth))
        m_early.push_back(birth);
}

void RoleGuess::countGradient(const BlockBirth& birth)
{
    const PhaseMap::Span& span = *birth.span;
    if (!span.isBackward() || birth.end <= span.backwardLastAlloc)
        return;
    if (birth.end <= span.freesUntil && optimizerAllocatesAfter(span))
        return; // added to an older gradient: the optimizer has no use for it
    Recurring& of = m_gradients[birth.bytes];
    const auto backward = static_cast<std::size_t>(span.backwardFirst);
    of.inIt = of.backward == backward ? of.inIt + 1 : 1;
    of.backward = backward;
    of.most = std::max(of.most, of.inIt);
}

bool RoleGuess::optimizerAllocatesAfter(const PhaseMap::Span& backward)
{
    if (backward.backwardFirst == m_lookedAfter)
        return m_optimizerAllocates;
    m_lookedAfter = backward.backwardFirst;
    const auto& spans = m_phases.spans();
    auto span = spans.begin() + (&backward - spans.data());
    while (span != spans.end() && span->stepLast == backward.stepLast
        && (span->phase != Phase::Optimizer || span->first <= backward.backwardLast || span->lastAlloc < 0))
        ++span;
    m_optimizerAllocates = span != spans.end() && span->stepLast == backward.stepLast;
    return m_optimizerAllocates;
}

bool RoleGuess::hasSizeOfBuffer(const BlockBirth& birth) const
{
    return birth.bytes <= kSmallBuffer && !m_smallOfBackward.contains(birth.bytes);
}

void RoleGuess::add(const BlockBirth& birth, Category category, CategoryRule rule)
{
    m_guesses.push_back({ birth.block, { category, rule, false } });
}

/// Of blocks that nothing was seen of being asked for: as many of a size as it has gradients are parameters,
/// what is more are states.
void RoleGuess::guessOlder(const std::vector<BlockBirth>& older)
{
    boost::unordered_flat_map<std::int64_t, std::int64_t> met;
    for (const BlockBirth& birth : older) {
        if (m_births.trace().blocks().address[birth.block] == 0)
            continue; // all that a profiler's trace does not name, as one block
        const auto gradient = m_gradients.find(birth.bytes);
        if (!m_births.stays(birth)) {
            // Behind a backward the gradients are those that it made; some optimizers make states anew.
            if (gradient != m_gradients.end() && birth.end > m_phases.firstBackward()) {
                if (m_births.mayOptimize())
                    add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
            } else if (birth.origin->has(StackOrigin::Known) ? birth.origin->has(StackOrigin::Backward)
                                                             : gradient != m_gradients.end())
                add(birth, Category::Gradient, CategoryRule::OlderCopies);
            continue;
        }
        if (birth.origin->has(StackOrigin::Workspace) || birth.origin->has(StackOrigin::Communication))
            continue;
        if (birth.origin->has(StackOrigin::State)) {
            add(birth, Category::OptimizerState, CategoryRule::StateCode);
        } else if (m_births.isOfSetup(birth)) {
            if (const BlockCategory guess = guessOfSetup(birth); guess.category != Category::Unknown)
                m_guesses.push_back({ birth.block, guess });
        } else if (gradient != m_gradients.end()) {
            if (++met[birth.bytes] <= gradient->second.most)
                add(birth, Category::Parameter, CategoryRule::EarlyWithGradients);
            else if (m_births.mayOptimize())
                add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
        } else if (!m_gradients.empty() && hasSizeOfBuffer(birth)) {
            add(birth, Category::Buffer, CategoryRule::EarlyWithoutGradients);
        } else if (m_ran && m_phases.firstBackward() == PhaseMap::kNever && m_gradients.empty()
            && !birth.origin->has(StackOrigin::Known)) {
            add(birth, Category::Parameter, CategoryRule::EarlyAlone); // forwards alone were recorded
        }
    }
}

void RoleGuess::guessEarly()
{
    boost::unordered_flat_map<std::int64_t, std::int64_t> met; // without stacks, by size
    for (const BlockBirth& birth : m_early) {
        const auto gradient = m_gradients.find(birth.bytes);
        if (gradient != m_gradients.end() && !birth.origin->has(StackOrigin::Known)
            && ++met[birth.bytes] > gradient->second.most) {
            if (m_births.mayOptimize())
                add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
        } else if (const BlockCategory guess = guessOf(birth); guess.category != Category::Unknown)
            m_guesses.push_back({ birth.block, guess });
    }
}

BlockCategory RoleGuess::guessOf(const BlockBirth& birth) const
{
    const StackOrigin& origin = *birth.origin;
    if (m_births.isOfSetup(birth))
        return guessOfSetup(birth);
    if (m_gradients.empty()) {
        const bool trains = m_phases.firstForward() != PhaseMap::kNever
            || m_phases.firstBackward() != PhaseMap::kNever; // or nothing says that it came before a training
        return trains && !origin.has(StackOrigin::Known)
            ? BlockCategory{ Category::Parameter, CategoryRule::EarlyAlone }
            : BlockCategory{};
    }
    if (m_gradients.contains(birth.bytes))
        return { Category::Parameter, CategoryRule::EarlyWithGradients };
    if (hasSizeOfBuffer(birth))
        return { Category::Buffer, CategoryRule::EarlyWithoutGradients };
    return {};
}

BlockCategory RoleGuess::guessOfSetup(const BlockBirth& birth) const
{
    const StackOrigin& origin = *birth.origin;
    if (origin.has(StackOrigin::MakesParameter))
        return { Category::Parameter, CategoryRule::SetupCode };
    if (origin.has(StackOrigin::MakesBuffer))
        return { Category::Buffer, CategoryRule::SetupCode };
    const CategoryRule rule = origin.has(StackOrigin::Setup) ? CategoryRule::SetupGuess
        : origin.has(StackOrigin::ModuleInit)                ? CategoryRule::InitCode
        : origin.has(StackOrigin::Load)                      ? CategoryRule::LoadCode
                                                             : CategoryRule::Nothing;
    if (rule == CategoryRule::Nothing) // caches, buffers of data: an __init__ makes anything
        return {};
    if (rule == CategoryRule::LoadCode && m_shown.contains(birth.bytes))
        return {}; // what was loaded, beside the model that it was loaded into
    if (m_gradients.contains(birth.bytes))
        return { Category::Parameter, rule };
    // Parameters that are not trained are moved by the same line as those that are, buffers by another one.
    if (origin.moves.valid())
        return { m_parameterMoves.contains(origin.moves.value) ? Category::Parameter : Category::Buffer,
            rule };
    if (rule == CategoryRule::SetupGuess)
        return { m_gradients.empty() ? Category::Parameter : Category::Buffer, rule };
    // Modules run without a training, and what stays of making or loading them is mostly parameters.
    if (!m_gradients.empty() || !m_computes)
        return {};
    return { Category::Parameter, rule };
}

} // namespace strata::model
