// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/forward_loops.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace strata::model {

namespace {

constexpr std::string_view kForward = "forward";

/// Which frame from the outside is the first in which a stack differs from another one, if all that differs
/// there is the line of a forward; -1 otherwise.
std::ptrdiff_t otherLineAt(
    const Recording& recording, std::span<const FrameId> one, std::span<const FrameId> two)
{
    const std::size_t both = std::min(one.size(), two.size());
    for (std::size_t i = 1; i <= both; ++i) { // innermost first: counted from the back
        if (one[one.size() - i] == two[two.size() - i])
            continue;
        const Frame& a = recording.stacks.frame(one[one.size() - i]);
        const Frame& b = recording.stacks.frame(two[two.size() - i]);
        const bool isForward = a.file == b.file && a.function == b.function && a.line != b.line
            && a.function.valid() && recording.strings[a.function] == kForward;
        return isForward ? static_cast<std::ptrdiff_t>(i) - 1 : -1;
    }
    return -1;
}

} // namespace

bool recursWithinForward(const DeviceTrace& trace, std::span<const std::size_t> recurring)
{
    const Recording& recording = trace.recording();
    const BlockColumns& blocks = trace.blocks();
    const auto stackOf = [&](std::size_t alloc) { return blocks.stack.born[alloc]; };
    if (!stackOf(recurring.front()).valid())
        return false;
    const auto own = recording.stacks.stack(stackOf(recurring.front()));
    enum Seen : unsigned char { Nothing = 0, Between = 1, Around = 2 };
    std::vector<unsigned char> seen(recording.stacks.stackCount());
    for (std::size_t alloc = 0; alloc < blocks.bornCount(); ++alloc)
        if (stackOf(alloc).valid())
            seen[stackOf(alloc).index()]
                |= alloc >= recurring.front() && alloc < recurring.back() ? Between : Around;
    std::vector<unsigned char> lines(own.size()); // of the forward that a frame is in, other than its own
    for (std::uint32_t i = 0; i < seen.size(); ++i)
        if (seen[i] != Nothing)
            if (const std::ptrdiff_t frame = otherLineAt(recording, own, recording.stacks.stack({ i }));
                frame >= 0)
                lines[static_cast<std::size_t>(frame)] |= seen[i];
    return std::ranges::any_of(lines, [](unsigned char where) { return where == Around; });
}

} // namespace strata::model
