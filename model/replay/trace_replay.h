// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/played_calls.h"
#include "model/replay/recorded_driver.h"
#include "model/replay/replay_cursor.h"
#include "model/replay/replay_guesses.h"
#include "model/replay/trace_check.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace strata::model {

/// One replay of a trace: the recording is the driver. A cursor stands at the next event that is to be
/// explained; requests are made where the recording made them, and each call of the driver must be the event
/// at the cursor.
///
/// Who released memory, a retry of malloc() or empty_cache(), is not always told. A guess is kept until the
/// replay fails; then it goes back to the last checkpoint and takes the other one.
class TraceReplay {
public:
    /// The trace and the start state must outlive it.
    TraceReplay(const DeviceTrace& trace, const StartState& start, const TraceCheckOptions& options,
        std::int64_t rangeBytes, const std::vector<std::int32_t>& rank);
    TraceReplay(const TraceReplay&) = delete; // the driver knows it
    TraceReplay& operator=(const TraceReplay&) = delete;

    /// False when cancelled.
    [[nodiscard]] bool run(const Progress& progress);
    [[nodiscard]] TraceCheck& result() { return m_result; }

    /// What the recording told besides: orders of older segments, sizes of ranges.
    [[nodiscard]] const RecordedDriver& driver() const { return m_driver; }

    /// Where the replay took what was free behind an older block and the recording did not, since it is less:
    /// the row of that block, and the least that it has.
    [[nodiscard]] const std::optional<std::pair<std::size_t, std::int64_t>>& leastOfOlder() const
    {
        return m_leastOfOlder;
    }

private:
    using Releaser = ReplayGuesses::Releaser;

    [[nodiscard]] Releaser releaserOf(std::size_t release, std::size_t malloc);
    [[nodiscard]] bool takeOtherGuess();

    // What the program did.
    void playCalls();
    void step();
    void allocateAt(std::size_t row);
    void requestFree(std::size_t row);
    void completeFree(std::size_t row);
    void completeWaited();
    void segmentEvent();
    void learnTailBefore(const ReplayBlock& taken, std::int64_t rounded);
    void completeBeforeMalloc(std::size_t malloc, std::size_t completionsEnd);
    void releasePoolsOf(std::size_t first, std::size_t last);
    [[nodiscard]] std::optional<PoolOwner> poolThatEnds(std::size_t release) const;

    void compareEnd();
    [[nodiscard]] ReplayBlock*& blockOf(BlockId id);

    const DeviceTrace* m_trace;
    std::int64_t m_deviceBytes;
    ReplayCursor m_cursor;
    const EventColumns* m_events;
    RecordedDriver m_driver;
    CachingAllocator m_allocator;
    RecordedCalls m_calls;
    TraceCheck m_result;
    std::vector<ReplayBlock*> m_born, m_older; // live ones, by row
    std::optional<std::pair<std::size_t, std::int64_t>> m_leastOfOlder;
    ReplayGuesses m_guesses;
};

} // namespace strata::model
