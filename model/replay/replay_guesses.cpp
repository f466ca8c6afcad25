// SPDX-License-Identifier: GPL-3.0-or-later
// Who released memory, where the trace does not say: guesses, and the way back from a wrong one.
#include "model/replay/trace_replay.h"

#include <algorithm>

namespace strata::model {

namespace {

// Between two checkpoints, where there are guesses: what a wrong one costs at most.
constexpr std::size_t kCheckpointEvents = 16'384;
// A guess that is this old is not what a difference comes from.
constexpr std::size_t kGuessReach = 512;

} // namespace

TraceReplay::Releaser TraceReplay::releaserOf(std::size_t release, std::size_t malloc)
{
    if (m_calls.areComplete())
        return Releaser::Malloc; // the others are played where they were called
    if (const auto decided = m_decided.find(release); decided != m_decided.end())
        return decided->second;
    if (m_allocator.wouldFind(m_events->bytes[malloc], streamAt(malloc), poolAt(malloc)) != nullptr)
        return Releaser::EmptyCache; // malloc() would not have come to it
    const StackId who = m_events->stack[release];
    if (who.valid() && m_events->stack[malloc].valid())
        return who == m_events->stack[malloc] ? Releaser::Malloc : Releaser::EmptyCache;
    if (!m_checkpoint || m_at - m_checkpoint->at > kCheckpointEvents)
        makeCheckpoint();
    const Releaser guess = hadRoom(malloc) ? Releaser::EmptyCache : Releaser::Malloc;
    m_guesses.emplace_back(release, guess);
    return guess;
}

// Whether the driver will have had memory for the request: as much was reserved at another time, or the card
// has it. A retry releases because there is none.
bool TraceReplay::hadRoom(std::size_t malloc) const
{
    const AllocatorSettings& settings = m_allocator.settings();
    const std::int64_t rounded = settings.roundedBytes(m_events->bytes[malloc]);
    const std::int64_t page = settings.pageBytes(rounded <= AllocatorSettings::kSmallSize);
    const std::int64_t bytes
        = settings.expandableSegments ? (rounded + page - 1) / page * page : settings.segmentBytes(rounded);
    // On a real card contexts and other processes have a part that nothing tells.
    std::int64_t room = m_trace->recording().simulated ? m_deviceBytes : m_deviceBytes / 4 * 3;
    if (settings.memoryFraction && settings.garbageCollectionThreshold > 0
        && static_cast<double>(m_allocator.reservedBytes()) > settings.garbageCollectionThreshold
                * *settings.memoryFraction * static_cast<double>(m_deviceBytes))
        return false; // garbage is collected before the driver is asked
    if (settings.memoryFraction)
        room = std::min(
            room, static_cast<std::int64_t>(*settings.memoryFraction * static_cast<double>(m_deviceBytes)));
    return m_allocator.reservedBytes() + bytes <= std::max(room, m_trace->totals().reservedBytesPeak);
}

void TraceReplay::makeCheckpoint()
{
    m_checkpoint.emplace(
        Checkpoint{ m_at, m_allocator.clone(*this), m_calls, static_cast<ReplayTally>(m_result), m_ranges });
    m_guesses.clear();
}

bool TraceReplay::takeOtherGuess()
{
    if (m_guesses.empty() || !m_checkpoint || m_at - m_guesses.back().first > kGuessReach)
        return false;
    const auto [release, guess] = m_guesses.back();
    m_decided[release] = guess == Releaser::Malloc ? Releaser::EmptyCache : Releaser::Malloc;
    m_guesses.clear();
    m_allocator = m_checkpoint->allocator.clone(*this);
    m_calls = m_checkpoint->calls;
    m_at = m_checkpoint->at;
    m_ranges = m_checkpoint->ranges;
    static_cast<ReplayTally&>(m_result) = m_checkpoint->tally;
    m_result.firstDifference.reset();
    m_leastOfOlder.reset();
    m_rangeBytesAtMost.reset();
    ++m_result.hypothesesTried;
    std::ranges::fill(m_born, nullptr);
    std::ranges::fill(m_older, nullptr);
    m_allocator.forEachBlock([&](ReplayBlock& block) {
        if (!block.isFree())
            blockOf(BlockId{ block.tag }) = &block;
    });
    return true;
}

} // namespace strata::model
