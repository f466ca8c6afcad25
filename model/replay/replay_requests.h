// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/blocks.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/allocator_calls.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::model {

/// What a program asks of the allocator of a device, in order: what replayUnder() takes. One row an event, of
/// a recording or of a run that was rewritten from one. Blocks are told by their numbers, so that nobody has
/// to pair addresses.
///
/// Columns are lent by the trace or belong to the requests, which share them with their copies. A value: the
/// trace must outlive it. Once made, it is free to read from any thread.
struct ReplayRequests {
    template <class T> using Shared = std::shared_ptr<const T>;

    /// Of the recording: its streams and pools, what stood when it began, what is known of the process.
    const DeviceTrace* trace = nullptr;

    Shared<Column<Action>> action;
    Shared<Column<std::int64_t>> bytes; ///< requested ones of blocks, rounded ones of out-of-memory
    Shared<Column<BlockId>> block; ///< of allocs and frees; none where nothing tells which
    Shared<Column<StreamIndex>> stream; ///< row of `streams`
    Shared<Column<PoolIndex>> pool; ///< row of Recording::pools; nullptr: what EventPools says of the trace
    Shared<Column<std::uint64_t>> address; ///< as recorded; nullptr: no event is at a recorded address
    /// The events that free each block, as in BlockColumns: the first request, and the end.
    Shared<BlockColumn<EventId>> freeRequested, freeCompleted;
    Shared<SegmentLives::Rows> segments; ///< those without an alloc are there at the start
    Shared<AllocatorCalls::Calls> calls; ///< each before its event of these
    std::vector<std::int64_t> streams; ///< cudaStream_t

    /// What was recorded. O(streams): all columns are those of the trace.
    [[nodiscard]] static ReplayRequests of(const DeviceTrace& trace);

    /// `value` for requests that it outlives.
    template <class T> [[nodiscard]] static Shared<T> lent(const T& value)
    {
        return { std::shared_ptr<const void>(), &value };
    }

    [[nodiscard]] std::size_t size() const { return action->size(); }
    [[nodiscard]] std::size_t bornCount() const { return freeCompleted->born.size(); }
    [[nodiscard]] std::size_t olderCount() const { return freeCompleted->older.size(); }
};

} // namespace strata::model
