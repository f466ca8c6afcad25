// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/timeline/device_timeline.h"
#include "model/trace/filter/filter_conditions.h"
#include "model/trace/filter/grouping.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// How well a name has what was looked for; the best first. A path counts from its last part on.
enum class NameMatch : std::uint8_t { Exact, Prefix, WordStart, Inside };

/// Where a name has a text, in any case, and how well: the best place, the first of equals.
struct NameMatchAt {
    NameMatch match = NameMatch::Inside;
    std::size_t at = 0, length = 0; ///< bytes of the name
    friend bool operator==(const NameMatchAt&, const NameMatchAt&) = default;
};
[[nodiscard]] std::optional<NameMatchAt> matchName(std::string_view name, std::string_view text);

/// Something that a text finds among the blocks of a device. `conditions` narrow to it and to nothing else;
/// bytes and blocks are what they keep of what is active after `event`: `strata at FILE EVENT --filter` and
/// printFilter(conditions) prints the same.
struct SearchHit {
    enum class Kind : std::uint8_t {
        Line, ///< a line of code that blocks are known by: a group of Grouping::Line
        Function, ///< a function anywhere in stacks; longer names with this one in them count too
        File, ///< the same of a file
        Size, ///< exact requested bytes
        Address, ///< a block that held it at some time
        Condition, ///< the text as a filter
    };
    static constexpr std::size_t kKinds = 6;

    Kind kind = Kind::Line;
    std::string label; ///< the filter as Strata writes it, of a condition
    std::string detail; ///< of a line its function, of an address the line of the block
    NameMatchAt found; ///< in the label, or the detail
    bool inDetail = false; ///< it is the detail alone that has the text
    FilterConditions conditions;
    EventIndex event = -1; ///< the shown instant; of a block that is not active then, where it begins
    std::int64_t bytes = 0, blocks = 0; ///< active after `event`
    std::int64_t allBlocks = 0; ///< at any time
    std::optional<std::uint32_t> group; ///< of a line, in the table by line
    BlockId block; ///< of an address; of sizes and conditions the largest one, an active one where there is
};

struct SearchHits {
    /// Why the text is no filter; it was looked for as it stands then.
    std::optional<Error> error;
    EventIndex event = -1; ///< the shown instant
    std::int64_t wholeBytes = 0; ///< requested of all that is active then
    std::vector<SearchHit> hits; ///< by kind; of one kind the best match first, then the most bytes
    std::array<std::size_t, SearchHit::kKinds> leftOut{}; ///< by kind, how many more there are
};

/// The most hits of one kind. Which functions and files are among them is decided by what their own name
/// holds, longer names left aside.
inline constexpr std::size_t kMostHits = 50;

/// What a text in the language of filters finds on a device. Its words are looked for as names; its other
/// terms narrow what every hit counts. A blank text finds nothing. `byLine` is the table of the timeline's
/// trace; `labels` are what its terms may ask for.
///
/// Looks at every name once, at the frames of every stack twice at most, and at every block twice: 10 to 25
/// ms for six million events, and up to 90 where most blocks have a size of their own. Not for the GUI
/// thread. Returns early, with what does not count, once `stop` is set. Any thread.
[[nodiscard]] SearchHits search(const DeviceTimeline& timeline, const GroupTable& byLine,
    std::string_view text, EventIndex event, const std::stop_token& stop = {},
    const DeviceLabels& labels = {});

} // namespace strata::model
