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
    : m_phases(births.phases())
    , m_computes(births.tellsModules() || births.phases().firstForward() != PhaseMap::kNever)
{
    const BlockColumns& blocks = births.trace().blocks();
    std::vector<BlockBirth> older;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        older.push_back(births.of(BlockId::older(row)));
    for (std::size_t row = 0; row < blocks.bornCount(); ++row)
        lookAt(births.of(BlockId::born(row)));
    for (const BlockBirth& birth : m_early)
        if (birth.origin->moves.valid() && m_gradients.contains(birth.bytes))
            m_parameterMoves.insert(birth.origin->moves.value);
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
    const bool isOther = birth.origin->has(StackOrigin::Workspace)
        || birth.origin->has(StackOrigin::Communication) || birth.origin->has(StackOrigin::Optimizer);
    if (isOther || birth.bytes <= 0)
        return;
    if (birth.phase == Phase::Backward) {
        countGradient(birth);
        return;
    }
    const EventIndex before
        = std::min(m_phases.firstForward(), m_phases.firstBackward()); // kNever: there is neither
    if (birth.event < before && birth.phase != Phase::Recompute && birth.phase != Phase::Optimizer
        && !birth.inModule && stays(birth))
        m_early.push_back(birth);
}

void RoleGuess::countGradient(const BlockBirth& birth)
{
    const PhaseMap::Span& span = *birth.span;
    if (!span.isBackward() || birth.end <= span.backwardLastAlloc)
        return;
    Recurring& of = m_gradients[birth.bytes];
    const auto backward = static_cast<std::size_t>(span.backwardFirst);
    of.inIt = of.backward == backward ? of.inIt + 1 : 1;
    of.backward = backward;
    of.most = std::max(of.most, of.inIt);
}

/// It outlives two steps, or all there are.
bool RoleGuess::stays(const BlockBirth& birth) const
{
    if (birth.end == PhaseMap::kNever)
        return true;
    const auto outlived = std::ranges::lower_bound(m_phases.ends(), birth.end)
        - std::ranges::lower_bound(m_phases.ends(), birth.event);
    return outlived >= 2;
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
        const auto gradient = m_gradients.find(birth.bytes);
        if (!stays(birth)) {
            // Behind a backward the gradients are those that it made; some optimizers make states anew.
            if (gradient != m_gradients.end() && birth.end > m_phases.firstBackward())
                add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
            else if (gradient != m_gradients.end() || birth.origin->has(StackOrigin::Backward))
                add(birth, Category::Gradient, CategoryRule::OlderCopies);
            continue;
        }
        if (birth.origin->has(StackOrigin::Workspace) || birth.origin->has(StackOrigin::Communication))
            continue;
        if (birth.origin->has(StackOrigin::State)) {
            add(birth, Category::OptimizerState, CategoryRule::StateCode);
        } else if (birth.origin->moves.valid() || birth.origin->has(StackOrigin::Setup)) {
            add(birth,
                gradient != m_gradients.end() || m_gradients.empty() ? Category::Parameter : Category::Buffer,
                CategoryRule::SetupCode);
        } else if (gradient != m_gradients.end()) {
            if (++met[birth.bytes] <= gradient->second.most)
                add(birth, Category::Parameter, CategoryRule::EarlyWithGradients);
            else
                add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
        } else if (!m_gradients.empty() && birth.bytes <= kSmallBuffer) {
            add(birth, Category::Buffer, CategoryRule::EarlyWithoutGradients);
        } else if (m_gradients.empty() && m_computes && !birth.origin->has(StackOrigin::Known)) {
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
            && ++met[birth.bytes] > gradient->second.most)
            add(birth, Category::OptimizerState, CategoryRule::OlderCopies);
        else if (const BlockCategory guess = guessOf(birth); guess.category != Category::Unknown)
            m_guesses.push_back({ birth.block, guess });
    }
}

BlockCategory RoleGuess::guessOf(const BlockBirth& birth) const
{
    const StackOrigin& origin = *birth.origin;
    if (m_gradients.empty()) {
        if (m_phases.firstForward() == PhaseMap::kNever && m_phases.firstBackward() == PhaseMap::kNever)
            return {}; // nothing says that it is a training, or that it came before one
        const bool setup = origin.has(StackOrigin::Setup) || !origin.has(StackOrigin::Known);
        return setup ? BlockCategory{ Category::Parameter, CategoryRule::EarlyAlone, false }
                     : BlockCategory{};
    }
    if (m_gradients.contains(birth.bytes))
        return { Category::Parameter, CategoryRule::EarlyWithGradients, false };
    // Parameters that are not trained are moved by the same line as those that are, buffers by another one.
    if (origin.moves.valid())
        return { m_parameterMoves.contains(origin.moves.value) ? Category::Parameter : Category::Buffer,
            CategoryRule::SetupCode, false };
    if (origin.has(StackOrigin::Setup) || birth.bytes <= kSmallBuffer)
        return { Category::Buffer, CategoryRule::EarlyWithoutGradients, false };
    return {};
}

} // namespace strata::model
