// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/base/wrap.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace strata::model {

/// What an entry of a device's trace says. Names as PyTorch writes them: facts in actionName().
using Action = wire::EventAction;

[[nodiscard]] std::string_view actionName(Action action); ///< "alloc", "free_requested", ...; "other"
[[nodiscard]] std::optional<Action> actionFromName(std::string_view name);

/// What autograd had the thread of an event do: "grad", "no_grad", "inference", "backward", "backward_grad",
/// "backward_grad_keep"; "unknown".
[[nodiscard]] std::string_view phaseName(wire::EventPhase phase);

/// A value that few events have: (event, text) pairs in event order, found by binary search.
class SparseText {
public:
    using Items = Column<std::pair<std::uint32_t, StringId>, 12>;

    void set(std::uint32_t event, StringId text) { m_items.push_back({ event, text }); }
    [[nodiscard]] StringId at(EventIndex event) const;
    [[nodiscard]] std::size_t size() const { return m_items.size(); }
    [[nodiscard]] const Items& items() const { return m_items; }
    [[nodiscard]] std::size_t bytesResident() const { return m_items.bytesResident(); }

private:
    Items m_items;
};

using StreamIndex = std::uint16_t; ///< row of Recording::streams
using PoolIndex = std::uint16_t; ///< row of Recording::pools
using ThreadIndex = std::uint16_t; ///< row of Recording::threads
using ModuleIndex = std::uint16_t; ///< row of Recording::modules
using EventPhase = wire::EventPhase;
inline constexpr std::uint16_t kNoIndex = 0xffff;

/// The trace of one device as columns, one row an event, oldest first. 37 bytes an event, and 5 where a
/// recorder of ours told what only it can.
struct EventColumns {
    Column<Action> action;
    Column<std::uint64_t>
        address; ///< of the block or segment; 0 for snapshot; the device's free bytes for oom
    Column<std::int64_t> bytes; ///< requested bytes of blocks, real bytes of segments, rounded bytes of oom
    Column<std::int64_t>
        timeNs; ///< since the epoch; empty when the recording has no times (before torch 2.2)
    Column<StackId> stack; ///< none if no stack was recorded
    Column<BlockId> block; ///< of alloc and free events, once blocks are built
    Column<StreamIndex> stream;
    Column<PoolIndex> pool; ///< of the event's own pool_id (torch 2.12 and newer), else kNoIndex
    Column<EventPhase> phase; ///< empty when the recording tells of none; likewise the next two
    Column<ThreadIndex> thread;
    Column<ModuleIndex> module; ///< in whose forward, or its backward, an alloc happened

    /// Of all segments behind each event, as a profiler read it; empty where events on segments tell.
    Column<std::int64_t> reservedReading;

    SparseText compileContext; ///< absent where PyTorch writes "N/A"
    SparseText userMetadata; ///< absent where empty
    SparseText otherAction; ///< names of actions that Strata does not know
    SparseText extras; ///< keys that Strata does not know, as one JSON object each

    [[nodiscard]] EventIndex size() const { return static_cast<EventIndex>(action.size()); }
    [[nodiscard]] bool hasTimes() const { return !timeNs.empty(); }
    /// What the thread of an event was at; Unknown where nothing tells.
    [[nodiscard]] EventPhase phaseOf(std::size_t row) const
    {
        return row < phase.size() ? phase[row] : EventPhase::Unknown;
    }
    [[nodiscard]] ThreadIndex threadOf(std::size_t row) const
    {
        return row < thread.size() ? thread[row] : kNoIndex;
    }
    [[nodiscard]] ModuleIndex moduleOf(std::size_t row) const
    {
        return row < module.size() ? module[row] : kNoIndex;
    }
    /// What a reading of reserved memory adds at an event; nothing at the first, which it may be older than.
    [[nodiscard]] std::int64_t readDelta(std::size_t row) const
    {
        return row > 0 && row < reservedReading.size()
            ? wrapSub(reservedReading[row], reservedReading[row - 1])
            : 0;
    }
    /// What a recorder of ours tells of the event that was added last. The columns begin with the first row
    /// that says anything: those before it get "not known".
    void tell(EventPhase itsPhase, ThreadIndex itsThread, ModuleIndex itsModule);
    [[nodiscard]] std::size_t bytesResident() const;
};

} // namespace strata::model
