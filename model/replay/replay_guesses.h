// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/played_calls.h"
#include "model/replay/recorded_driver.h"
#include "model/replay/trace_check.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace strata::model {

/// Where a replay can go on from.
struct ReplayCheckpoint {
    std::size_t at = 0; ///< of the cursor
    CachingAllocator allocator;
    RecordedCalls calls;
    ReplayTally tally;
    std::vector<RecordedDriver::KnownRange> ranges;
};

/// Who released memory, a retry of malloc() or empty_cache(), where the trace does not say: guesses, and the
/// way back from a wrong one. A guess is kept until the replay fails. Not thread-safe.
class ReplayGuesses {
public:
    enum class Releaser : std::uint8_t { Malloc, EmptyCache };

    /// What a failure has told of that release.
    [[nodiscard]] std::optional<Releaser> decided(std::size_t release) const
    {
        const auto known = m_decided.find(release);
        return known != m_decided.end() ? std::optional(known->second) : std::nullopt;
    }
    /// Before a guess: the last checkpoint is far behind `at`, or there is none.
    [[nodiscard]] bool wantsCheckpoint(std::size_t at) const;
    void keep(ReplayCheckpoint checkpoint)
    {
        m_checkpoint.emplace(std::move(checkpoint));
        m_guesses.clear();
    }
    void add(std::size_t release, Releaser guess) { m_guesses.emplace_back(release, guess); }
    /// The replay failed at `at`. Decides the last guess the other way, and says where to go back to;
    /// nullptr: no guess is to blame. It is there until the next keep().
    [[nodiscard]] const ReplayCheckpoint* takeOther(std::size_t at);
    [[nodiscard]] bool areNone() const { return m_guesses.empty() && m_decided.empty(); }

private:
    std::map<std::size_t, Releaser> m_decided; // releases whose releaser was found by failing
    std::vector<std::pair<std::size_t, Releaser>> m_guesses; // since the last checkpoint
    std::optional<ReplayCheckpoint> m_checkpoint;
};

/// Whether the driver will have had memory for the request: as much was reserved at another time, or the card
/// has it. A retry releases because there is none. `deviceBytes`: of the whole card.
[[nodiscard]] bool hadRoom(const CachingAllocator& allocator, std::int64_t requested,
    const DeviceTrace& trace, std::int64_t deviceBytes);

} // namespace strata::model
