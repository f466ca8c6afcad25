// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/trace/device_trace.h"
#include "model/trace/filter/block_labels.h"
#include "model/trace/filter/filter.h"
#include "model/trace/frames.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// By what blocks are put together. A new way is a value here, its entry in kGroupings (grouping.cpp) and its
/// groups in GroupTable, whose switches the compiler checks. Those from Category on are told by analyses
/// above this layer, as BlockLabels.
enum class Grouping : std::uint8_t {
    Line, ///< the innermost frame of the user's own code, see userFrame()
    Site, ///< the whole stack
    Stream,
    Pool,
    Size, ///< exact requested bytes
    Category, ///< what a block is for
    Module, ///< whose forward asked for it, or whose tensor lies in it
};

class GroupTable;

/// All that there is to know of one grouping but how GroupTable makes its groups. Options, JSON, choices,
/// headings, filters and colours ask this and name no grouping.
struct GroupingInfo {
    enum class Key : std::uint8_t {
        Label, ///< a group is known by its label
        Value, ///< by its number, and sorts by it
        Stack, ///< by its whole stack: the label is its line alone
    };

    Grouping grouping;
    std::string_view name; ///< "line": of options, files and settings
    English title; ///< "Line of code": of choices and columns
    English one; ///< "Line": what one of its groups is
    English narrower; ///< "Filter by its line"
    Key key;
    bool ofStacks; ///< a group has a stack; one without is hatched
    bool ofLabels; ///< its groups are BlockLabels, which an analysis makes, of older blocks too
    bool fixedOrder; ///< pictures have its groups in the order of their values, whatever they weigh
    /// `filter` with the condition that lets this group pass, or the group of this block: nothing else of it
    /// changes. narrowToBlock is nullptr where a trace alone does not tell the group of a block.
    void (*narrowToGroup)(
        BlockFilter& filter, const DeviceTrace& trace, const GroupTable& table, std::uint32_t group);
    void (*narrowToBlock)(BlockFilter& filter, const DeviceTrace& trace, BlockId block);
};

/// In the order of Grouping: those that a trace makes by itself, and all.
[[nodiscard]] std::span<const GroupingInfo> groupings();
[[nodiscard]] std::span<const GroupingInfo> allGroupings();
[[nodiscard]] const GroupingInfo& infoOf(Grouping grouping);
[[nodiscard]] std::optional<Grouping> groupingFromName(std::string_view name);
[[nodiscard]] std::string groupingNames(); ///< of all: "line, site, stream, ... or module"

/// "small", "large", "(0,1)/large", "unknown".
[[nodiscard]] std::string poolLabel(const Recording& recording, PoolIndex pool);

/// The pool that the event's block or segment lies in, else the one that the event names: alone that one does
/// not say small or large. O(1), O(log segments) for events of segments.
[[nodiscard]] PoolIndex poolOfEvent(const DeviceTrace& trace, EventIndex event);

/// What a group is known by, in every table of its grouping (GroupingInfo::Key).
struct GroupKey {
    std::string label; ///< empty where it is known by its value
    std::int64_t value = 0; ///< 0 where it is known by its label

    friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

/// Numbers the groups of a device's blocks under one grouping, 0 to count() - 1, in the order of stacks,
/// streams, pools or sizes, of those that the device's blocks have. Lines and pools with the same label are
/// one group. groupOf is O(1), for sizes O(log count); safe from any thread once built.
///
/// The table of a trace that grew may number groups in another order than one made anew: groups keep the
/// numbers that they have, new ones come behind. It shares what is the same.
class GroupTable {
public:
    GroupTable(const DeviceTrace& trace, Grouping grouping);
    /// Of a trace that keeps the rows of the one of `earlier` (DeviceTrace::keepsRowsOf()). O(new blocks),
    /// and O(groups) where new groups come.
    /// Under a grouping of labels the new blocks are "unknown".
    GroupTable(const DeviceTrace& trace, const GroupTable& earlier);
    /// Under a grouping of labels; a table of other labels shares no groups with it.
    GroupTable(const DeviceTrace& trace, Grouping grouping, std::shared_ptr<const BlockLabels> labels);
    /// By line, of these stacks; none is one too. It knows no blocks: groupOfStack() alone.
    GroupTable(const Recording& recording, std::span<const StackId> stacks);

    [[nodiscard]] Grouping grouping() const { return m_grouping; }
    /// That it was made of; nullptr under other groupings.
    [[nodiscard]] const std::shared_ptr<const BlockLabels>& labels() const { return m_blockLabels; }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(m_labels.size()); }
    [[nodiscard]] std::uint32_t groupOf(BlockId block) const;
    /// Under Line and Site; of a stack that the table was made with.
    [[nodiscard]] std::uint32_t groupOfStack(StackId stack) const;

    /// Whether both are of tables that went on from the same one: what both know has the same numbers.
    [[nodiscard]] bool sharesGroups(const GroupTable& other) const { return m_lineage == other.m_lineage; }
    /// The group here that `group` of another table of the grouping is; none if it is not there, or the other
    /// is of another grouping. O(1) if they share groups, else O(count).
    [[nodiscard]] std::optional<std::uint32_t> sameGroup(const GroupTable& other, std::uint32_t group) const;
    [[nodiscard]] GroupKey keyOf(std::uint32_t group) const;
    [[nodiscard]] std::optional<std::uint32_t> find(const GroupKey& key) const; ///< O(count)

    /// For people: "train.py:57", "stream 0", "512 MiB", "no stack recorded".
    [[nodiscard]] const std::string& label(std::uint32_t group) const { return m_labels[group]; }
    /// A stack of the group, for details: the first one met; none where the grouping has no stacks.
    [[nodiscard]] StackId stackOf(std::uint32_t group) const { return m_stacks[group]; }
    /// The raw value: stream handle, size in bytes, StackId or row of the pool table or of labels; -1 for
    /// "none".
    [[nodiscard]] std::int64_t valueOf(std::uint32_t group) const { return m_values[group]; }

private:
    static constexpr std::uint32_t kNoGroup = 0xffffffffu;

    std::uint32_t add(std::string label, std::int64_t value, StackId stack = {});
    void groupBlocks();
    void groupStacks(const Recording& recording, const std::vector<std::size_t>& rows);
    void groupStreams(const std::vector<std::size_t>& rows);
    void groupPools(const std::vector<std::size_t>& rows);
    void groupSizes();
    void groupLabels();
    template <class T, class Row>
    [[nodiscard]] std::vector<std::size_t> newRows(
        const BlockColumn<T>& column, std::size_t rows, Row&& rowOf);
    [[nodiscard]] std::uint32_t groupOfRow(std::size_t row) const
    {
        return row < m_groupOfValue.size() ? m_groupOfValue[row] : m_groupOfNone;
    }

    const DeviceTrace* m_trace = nullptr; // none: made of stacks
    std::shared_ptr<const TraceLineage> m_lineage = std::make_shared<const TraceLineage>();
    Grouping m_grouping;
    Column<std::string, 8> m_labels;
    Column<StackId, 8> m_stacks;
    Column<std::int64_t, 8> m_values;
    std::shared_ptr<const BlockLabels> m_blockLabels;
    Column<std::uint32_t, 10> m_groupOfValue; // by stack, stream, pool index or label
    std::uint32_t m_groupOfNone = kNoGroup;
    std::size_t m_born = 0, m_older = 0; // blocks that it knows the groups of
    std::vector<std::pair<std::int64_t, std::uint32_t>> m_groupOfSize; // sorted
};

} // namespace strata::model
