// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/frames.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// By what blocks are put together.
enum class Grouping : std::uint8_t {
    Line, ///< the innermost frame of the user's own code, see userFrame()
    Site, ///< the whole stack
    Stream,
    Pool,
    Size, ///< exact requested bytes
};

[[nodiscard]] std::string_view groupingName(Grouping grouping); ///< "line", "site", ...
[[nodiscard]] std::optional<Grouping> groupingFromName(std::string_view name);

/// "small", "large", "(0,1)/large", "unknown".
[[nodiscard]] std::string poolLabel(const Recording& recording, PoolIndex pool);

/// The pool that the event's block or segment lies in, else the one that the event names: alone that one does
/// not say small or large. O(1), O(log segments) for events of segments.
[[nodiscard]] PoolIndex poolOfEvent(const DeviceTrace& trace, EventIndex event);

/// Numbers the groups of a device's blocks under one grouping, 0 to count() - 1, in the order of stacks,
/// streams, pools or sizes, of those that the device's blocks have. Lines and pools with the same label are
/// one group. groupOf is O(1), for sizes O(log count); safe from any thread once built.
class GroupTable {
public:
    GroupTable(const DeviceTrace& trace, Grouping grouping);
    /// By line, of these stacks; none is one too. It knows no blocks: groupOfStack() alone.
    GroupTable(const Recording& recording, std::span<const StackId> stacks);

    [[nodiscard]] Grouping grouping() const { return m_grouping; }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(m_labels.size()); }
    [[nodiscard]] std::uint32_t groupOf(BlockId block) const;
    /// Under Line and Site; of a stack that the table was made with.
    [[nodiscard]] std::uint32_t groupOfStack(StackId stack) const;

    /// For people: "train.py:57", "stream 0", "512 MiB", "no stack recorded".
    [[nodiscard]] const std::string& label(std::uint32_t group) const { return m_labels[group]; }
    /// A stack of the group, for details: the first one met; none where the grouping has no stacks.
    [[nodiscard]] StackId stackOf(std::uint32_t group) const { return m_stacks[group]; }
    /// The raw value: stream handle, size in bytes, StackId or row of the pool table; -1 for "none".
    [[nodiscard]] std::int64_t valueOf(std::uint32_t group) const { return m_values[group]; }

private:
    std::uint32_t add(std::string label, std::int64_t value, StackId stack = {});
    void groupStacks(const Recording& recording, const std::vector<bool>& used);
    void groupStreams();
    void groupPools();
    void groupSizes();

    const DeviceTrace* m_trace = nullptr; // none: made of stacks
    Grouping m_grouping;
    std::vector<std::string> m_labels;
    std::vector<StackId> m_stacks;
    std::vector<std::int64_t> m_values;
    std::vector<std::uint32_t> m_groupOfValue; // by stack, stream or pool index; last: of "none"
    std::vector<std::pair<std::int64_t, std::uint32_t>> m_groupOfSize; // sorted
};

} // namespace strata::model
