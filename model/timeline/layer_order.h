// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/live_index.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The order in which the groups of a device lie in its pictures, and in which they take colours: by bytes at
/// the peak of requested bytes, those with equally many by label, as LiveGroups lists them; those without by
/// bytes over the events of the trace, then by bytes that are older than it. Blocks older than the trace
/// count for no more: they are a layer of their own; but under a grouping of labels they lie in their groups
/// (StackedPicture), and count like others at the peak. A fixed order (GroupingInfo) goes before all of that.
///
/// Sums are exact, so that it does not matter whether a trace came at once or grew. Immutable.
class LayerOrder {
public:
    /// O(blocks).
    LayerOrder(const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups);
    /// Of a trace that keeps the rows of the one of `earlier`, and groups that go on from those of it: O(new
    /// events + groups x log groups), and O(live blocks) where the peak is another.
    LayerOrder(
        const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups, const LayerOrder& earlier);

    /// All of them, the first one first.
    [[nodiscard]] const std::vector<std::uint32_t>& groups() const { return m_groups; }

private:
    __extension__ using Sum = __int128; // of bytes x events x blocks

    /// Of the bytes of the blocks of a group. Over the events up to T they add up to
    ///
    ///     sum over the freed of bytes x (death - birth) + sum over the others of bytes x (T - birth)
    ///                                                            = moment + T x live
    struct Weight {
        Sum atPeak = 0; // of the trace
        Sum olderAtPeak = 0;
        Sum moment = 0;
        Sum live = 0; // after the last event
    };
    void born(const DeviceTrace& trace, const GroupTable& groups, BlockId block);
    void died(const DeviceTrace& trace, const GroupTable& groups, BlockId block, EventIndex at);
    void takePeak(const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups);
    void sort(const DeviceTrace& trace, const GroupTable& groups);

    std::vector<Weight> m_weights; // by group
    std::vector<std::uint32_t> m_groups;
    EventIndex m_events = 0, m_peak = -1;
    std::size_t m_born = 0, m_older = 0;
};

} // namespace strata::model
