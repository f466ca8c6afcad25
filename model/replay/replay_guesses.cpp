// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay_guesses.h"

#include <algorithm>

namespace strata::model {

namespace {

// Between two checkpoints, where there are guesses: what a wrong one costs at most.
constexpr std::size_t kCheckpointEvents = 16'384;
// A guess that is this old is not what a difference comes from.
constexpr std::size_t kGuessReach = 512;

} // namespace

bool ReplayGuesses::wantsCheckpoint(std::size_t at) const
{
    return !m_checkpoint || at - m_checkpoint->at > kCheckpointEvents;
}

const ReplayCheckpoint* ReplayGuesses::takeOther(std::size_t at)
{
    if (m_guesses.empty() || !m_checkpoint || at - m_guesses.back().first > kGuessReach)
        return nullptr;
    const auto [release, guess] = m_guesses.back();
    m_decided[release] = guess == Releaser::Malloc ? Releaser::EmptyCache : Releaser::Malloc;
    m_guesses.clear();
    return &*m_checkpoint;
}

bool hadRoom(const CachingAllocator& allocator, std::int64_t requested, const DeviceTrace& trace,
    std::int64_t deviceBytes)
{
    const AllocatorSettings& settings = allocator.settings();
    const std::int64_t rounded = settings.roundedBytes(requested);
    const std::int64_t page = settings.pageBytes(rounded <= AllocatorSettings::kSmallSize);
    const std::int64_t bytes
        = settings.expandableSegments ? (rounded + page - 1) / page * page : settings.segmentBytes(rounded);
    // On a real card contexts and other processes have a part that nothing tells.
    std::int64_t room = trace.recording().simulated ? deviceBytes : deviceBytes / 4 * 3;
    if (settings.memoryFraction && settings.garbageCollectionThreshold > 0
        && static_cast<double>(allocator.reservedBytes()) > settings.garbageCollectionThreshold
                * *settings.memoryFraction * static_cast<double>(deviceBytes))
        return false; // garbage is collected before the driver is asked
    if (settings.memoryFraction)
        room = std::min(
            room, static_cast<std::int64_t>(*settings.memoryFraction * static_cast<double>(deviceBytes)));
    return allocator.reservedBytes() + bytes <= std::max(room, trace.totals().reservedBytesPeak);
}

} // namespace strata::model
