// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/gradient_finder.h"

#include <algorithm>

namespace strata::model {

namespace {

using Actor = StackActors::Actor;

std::int64_t countOf(const ParameterSizes& sizes, std::int64_t bytes)
{
    const auto size = sizes.find(bytes);
    return size != sizes.end() ? size->second : 0;
}

} // namespace

GradientFinder::GradientFinder(const DeviceTrace& trace, const StackOrigins& origins,
    const StackActors& actors, const ParameterSizes& parameters, const ParameterSizes& sure)
    : m_trace(trace)
    , m_origins(origins)
    , m_actors(actors)
    , m_parameters(parameters)
    , m_sure(sure)
{
}

void GradientFinder::take(const BlockBirth& birth, bool mayBe)
{
    if (m_left.backward != birth.span->backwardFirst) {
        settle();
        m_left = { .backward = birth.span->backwardFirst };
    }
    note(birth);
    if (mayBe)
        m_maybe.push_back(birth);
}

/// A size of which more is left than parameters have, or of which zero_grad() drops some and other code the
/// rest, has more than gradients: what hooks keep, say.
void GradientFinder::finish()
{
    settle();
    for (auto& [block, rule] : m_found)
        if (m_doubtful.contains(m_trace.blocks().requestedBytes[block]))
            rule = CategoryRule::OutlivesBackward;
}

/// What the engine allocates and does not free.
bool GradientFinder::isLeft(const BlockBirth& birth) const
{
    return m_actors.of(birth.event) == Actor::Engine
        && (birth.end == PhaseMap::kNever || m_actors.of(birth.end) != Actor::Engine);
}

void GradientFinder::note(const BlockBirth& birth)
{
    if (m_actors.of(birth.event) != Actor::Engine)
        return;
    const auto& refused = m_trace.outOfMemories();
    const auto next = std::ranges::upper_bound(refused, birth.event);
    const bool isOver = m_actors.isFollowed(birth.event)
        && (next == refused.end() || m_actors.isFollowed(birth.event, *next));
    if (!isLeft(birth) || !isOver || !m_actors.tellsFrees())
        m_left.isKnown = false;
    ++m_left.sizes[birth.bytes];
    if (birth.end == PhaseMap::kNever)
        return;
    const StackId drops = m_trace.events().stack[static_cast<std::size_t>(birth.end)];
    if (m_origins.of(drops).has(StackOrigin::ZeroGrad))
        m_left.isZeroed = true;
    else
        m_left.others.push_back(birth.bytes);
}

/// One block for each parameter that has that size, and no other but those.
bool GradientFinder::leavesGradientsAlone() const
{
    return m_left.isKnown && std::ranges::all_of(m_left.sizes, [&](const auto& left) {
        return left.second <= countOf(m_parameters, left.first);
    });
}

/// Of what may be gradients of the backward that is over, a parameter has one: those that stay longest, unless
/// there are gradients from a backward before, which this one adds to.
void GradientFinder::settle()
{
    if (m_left.isZeroed)
        m_doubtful.insert(m_left.others.begin(), m_left.others.end());
    std::ranges::stable_sort(m_maybe, std::greater<>{}, &BlockBirth::end);
    const bool alone = leavesGradientsAlone();
    for (const BlockBirth& birth : m_maybe) {
        Ends& ends = m_ends[birth.bytes];
        while (!ends.empty() && ends.top() <= birth.event)
            ends.pop();
        if (std::ssize(ends) >= countOf(m_parameters, birth.bytes)) {
            if (isLeft(birth))
                m_doubtful.insert(birth.bytes);
            continue;
        }
        ends.push(birth.end);
        const std::int64_t sure = countOf(m_sure, birth.bytes);
        const bool shown
            = alone && isLeft(birth) && std::ssize(ends) <= sure && m_left.sizes[birth.bytes] <= sure;
        m_found.emplace_back(
            birth.block, shown ? CategoryRule::LeftByBackward : CategoryRule::OutlivesBackward);
    }
    m_maybe.clear();
}

} // namespace strata::model
