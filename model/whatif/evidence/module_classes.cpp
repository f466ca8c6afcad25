// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/module_classes.h"

#include "model/trace/filter/filter_language.h"
#include "model/trace/frames.h"
#include "model/trace/program/roles.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata::model {

std::vector<std::string> moduleClassesOf(const DeviceTrace& trace)
{
    const auto deep = usableDeepStep(trace);
    if (!deep)
        return {};
    struct Seen {
        std::int64_t calls = 0;
        std::ptrdiff_t depth = 0; // the least
        bool holdsOthers = false;
    };
    std::map<std::string_view, Seen> seen;
    std::map<std::uint32_t, std::vector<Seen*>> open; // by thread
    const StringTable& strings = trace.recording().strings;
    for (const DeepStep::Row& row : (*deep)->rows) {
        std::vector<Seen*>& within = open[row.thread];
        if (row.kind == DeepStep::Kind::Enters && row.detail.valid()) {
            Seen& entered = seen[strings[row.detail]];
            const auto depth = std::ssize(within);
            entered.depth = entered.calls == 0 ? depth : std::min(entered.depth, depth);
            ++entered.calls;
            if (!within.empty())
                within.back()->holdsOthers = true;
            within.push_back(&entered);
        } else if (row.kind == DeepStep::Kind::Leaves && !within.empty()) {
            within.pop_back();
        }
    }
    std::vector<std::pair<std::string, Seen>> classes(seen.begin(), seen.end());
    // A module that is called once is the model, or nearly: a checkpoint would compute all of it again.
    // Of modules that hold others, the outermost save most.
    std::ranges::stable_sort(classes, [](const auto& a, const auto& b) {
        const auto rank = [](const Seen& one) {
            const bool isBlock = one.holdsOthers && one.calls > 1;
            return std::tuple(isBlock, isBlock ? -one.depth : 0, one.calls);
        };
        return rank(a.second) > rank(b.second);
    });
    std::vector<std::string> names;
    for (auto& [name, of] : classes)
        names.push_back(std::move(name));
    return names;
}

std::vector<std::string> layerPathsOf(const Recording& recording)
{
    std::map<std::string_view, std::set<std::string_view>> numbers; // by what they are in
    for (const StringId module : recording.modules) {
        const std::string_view path = recording.strings[module];
        for (std::size_t dot = path.find('.'); dot != path.npos;) {
            const std::size_t end = path.find('.', dot + 1);
            const std::string_view part = path.substr(dot + 1, end == path.npos ? end : end - dot - 1);
            if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
                numbers[path.substr(0, dot)].insert(part);
            dot = end;
        }
    }
    std::vector<std::tuple<std::ptrdiff_t, std::ptrdiff_t, std::string>> sorted;
    for (const auto& [outer, parts] : numbers)
        if (parts.size() > 1)
            sorted.emplace_back(
                std::ranges::count(outer, '.'), -std::ssize(parts), "path:" + std::string(outer) + ".*");
    std::ranges::sort(sorted);
    std::vector<std::string> paths;
    for (auto& [depth, count, path] : sorted)
        paths.push_back(std::move(path));
    return paths;
}

std::string lineFilter(const Recording& recording, StackId stack)
{
    const FrameId frame = userFrame(recording, stack);
    if (!frame.valid() || recording.stacks.frame(frame).line <= 0)
        return {};
    FilterConditions line;
    line.line = frameLabel(recording, frame);
    return printFilter(line);
}

std::vector<std::string> busiestLinesOf(const DeviceTrace& trace)
{
    constexpr std::size_t kMost = 12, kMostBlocks = 2'000'000;
    const BlockColumns& blocks = trace.blocks();
    std::map<std::uint32_t, std::int64_t> ofStacks;
    for (std::size_t row = 0; row < blocks.bornCount(); row += 1 + blocks.bornCount() / kMostBlocks)
        if (const BlockId block = BlockId::born(row); blocks.stack[block].valid())
            ofStacks[blocks.stack[block].index()] += blocks.requestedBytes[block];
    std::map<std::string, std::int64_t> ofLines;
    for (const auto& [stack, bytes] : ofStacks)
        if (std::string line = lineFilter(trace.recording(), StackId{ stack }); !line.empty())
            ofLines[std::move(line)] += bytes;
    std::vector<std::pair<std::string, std::int64_t>> sorted(ofLines.begin(), ofLines.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(sorted.size(), kMost); ++i)
        lines.push_back(std::move(sorted[i].first));
    return lines;
}

bool hasOptimizerState(const DeviceTrace& trace)
{
    return std::ranges::any_of(RoleListings::of(trace.recording(), trace.device()),
        [](const RoleListing& listing) { return listing.kind == wire::RoleKind::OptimizerState; });
}

bool tellsTensors(const DeviceTrace& trace)
{
    return RoleListings::tellTensors(trace.recording(), trace.device());
}

} // namespace strata::model
