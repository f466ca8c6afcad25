// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/device_timeline.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace strata::model {

/// What a call tree counts, over the blocks of an instant or a range [from, to] of events.
enum class TreeCost : std::uint8_t {
    Bytes, ///< requested bytes live at the instant; for a range: live at its peak of requested bytes
    Count, ///< allocations born in the range; for an instant: blocks live at it
    Leaked, ///< bytes allocated in the range and live at the end of the trace
    Temporary, ///< bytes born and freed within the range
};

enum class TreeOrder : std::uint8_t { TopDown, BottomUp }; ///< root is the outermost frame; the innermost

/// A call tree as arrays: node 0 is the root, children follow their parent's `firstChild` (0: none), siblings
/// by `nextSibling`, heaviest first. `total` includes children, `self` does not; both are exact and add up. A
/// parent's index is below its children's, so that loops over `nodes` replace recursion: stacks may be a
/// million frames deep.
struct CallTree {
    struct Node {
        FrameId frame; ///< none for the root, for blocks without a stack and for labels
        std::uint32_t label = kNoLabel; ///< of `labels`: a group that the stacks below it belong to
        std::uint32_t parent = 0;
        std::uint32_t firstChild = 0;
        std::uint32_t nextSibling = 0;
        std::int64_t total = 0;
        std::int64_t self = 0;
        std::int64_t blocks = 0; ///< of the node and its children
    };
    static constexpr std::uint32_t kNoLabel = 0xffffffffu;

    std::vector<Node> nodes;
    std::optional<Grouping> roots; ///< what labels are of
    std::vector<std::string> labels; ///< "activation", or parts of the paths of modules: "h", "3", "attn"
    TreeCost cost = TreeCost::Bytes;
    EventIndex at = -1; ///< the instant that Bytes refers to
    /// False: cut at kMaxNodes, the costs of what is deeper are `self` where it was cut; or of so many long
    /// paths that those of some, which are the root's, were left out.
    bool complete = true;

    static constexpr std::size_t kMaxNodes = 20'000'000; ///< 960 MB; no real recording comes near
};

struct TreeQuery {
    EventIndex from = -1; ///< from == to: an instant
    EventIndex to = -1;
    TreeCost cost = TreeCost::Bytes;
    TreeOrder order = TreeOrder::TopDown;
    bool userFramesOnly = false; ///< fold frames that are not the program's (isProgramFrame()) into their
                                 ///< callers; a stack of nothing else keeps the one frame that it is known by
    bool byLine = false; ///< one level: the user frame alone (grouping "line"); else whole stacks ("site")
};

/// O(blocks born in the range, or live at the instant, + frames of their stacks x log stacks). An empty tree,
/// its root alone, once the token is set. Safe from any thread.
[[nodiscard]] CallTree callTree(const DeviceTimeline& timeline, const TreeQuery& query,
    const BlockMatcher* filter = nullptr, std::stop_token stop = {});

/// The same with the groups of the blocks between root and stacks, whatever the order; of modules each part
/// of the path is a node. The total is that of the tree without.
///
///     all > activation > main > forward          all > h > 3 > attn > main > forward
///     all > parameter > main                     all > h > 3 > main
[[nodiscard]] CallTree callTree(const DeviceTimeline& timeline, const TreeQuery& query,
    const GroupTable& roots, const BlockMatcher* filter = nullptr, std::stop_token stop = {});

} // namespace strata::model
