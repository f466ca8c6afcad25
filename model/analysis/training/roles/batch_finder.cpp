// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/batch_finder.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::size_t kMostWaiting = 1024; // a batch has a few tensors

} // namespace

bool BatchFinder::reads(const BlockBirth& birth) const
{
    if (birth.phase != Phase::Forward && birth.phase != Phase::NoGrad)
        return false;
    if (m_tellsModules)
        return birth.inModule;
    const PhaseMap::Span& span = *birth.span;
    return birth.phase == Phase::Forward && birth.end >= span.nextBackward
        && birth.end <= span.nextBackwardEnd && span.nextBackward != PhaseMap::kNever;
}

void BatchFinder::take(const BlockBirth& birth, bool free)
{
    if (birth.phase == Phase::Backward || birth.phase == Phase::Optimizer) {
        m_waiting.clear();
        m_seen = 0;
        endEvaluation();
        return;
    }
    if (reads(birth)) {
        read(birth);
        return;
    }
    if (birth.phase == Phase::Recompute || birth.inModule)
        return;
    if (!m_tellsModules && birth.phase == Phase::Forward && birth.span->nextBackward == m_forward)
        return;
    endEvaluation();
    if (!free)
        return;
    m_waiting.push_back(birth);
    if (m_waiting.size() < kMostWaiting)
        return;
    std::erase_if(m_waiting, [&](const BlockBirth& each) { return each.end <= birth.event; });
    if (m_waiting.size() > kMostWaiting / 2)
        m_waiting.erase(m_waiting.begin(), m_waiting.end() - kMostWaiting / 2);
    m_seen = 0;
}

void BatchFinder::read(const BlockBirth& reader)
{
    m_lastRead = reader.event;
    m_forward = reader.span->nextBackward;
    if (reader.phase == Phase::NoGrad) {
        if (m_training != reader.span->nextBackwardEnd)
            m_seen = 0;
        m_training = reader.span->nextBackwardEnd;
        const auto unseen = m_waiting.begin() + static_cast<std::ptrdiff_t>(m_seen);
        const auto gone = std::remove_if(unseen, m_waiting.end(), [&](const BlockBirth& each) {
            const bool stays = reader.span->nextBackward != PhaseMap::kNever
                && each.end > reader.span->nextBackwardEnd; // a training may read it yet
            if (!stays && each.end > reader.event)
                m_evaluated.push_back(each);
            return !stays;
        });
        m_waiting.erase(gone, m_waiting.end());
        m_seen = m_waiting.size();
        return;
    }
    for (const BlockBirth& each : m_waiting) {
        if (each.end <= reader.event)
            continue;
        // Without gradients nothing but what is made there is kept: averages, for one.
        const bool apart = each.phase == Phase::NoGrad && each.phaseRecorded;
        const PhaseMap::Span& span = *reader.span;
        const bool outlives = span.nextBackward != PhaseMap::kNever ? each.end > span.nextBackwardEnd
                                                                    : each.end > reader.event;
        if (outlives && !apart)
            m_batches.push_back(each.block);
    }
    m_waiting.clear();
    m_seen = 0;
}

void BatchFinder::endEvaluation()
{
    for (const BlockBirth& each : m_evaluated)
        if (each.end > m_lastRead)
            m_batches.push_back(each.block);
    m_evaluated.clear();
}

void BatchFinder::finish()
{
    endEvaluation();
    m_waiting.clear();
}

} // namespace strata::model
