// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/alternatives.h"

#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/trace/filter/filter_language.h"
#include "model/trace/frames.h"
#include "model/trace/program/roles.h"
#include "model/whatif/evidence/site_blocks.h"
#include "model/whatif/kinds/gradient_lives.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

/// Whether that many times the items are whole ones.
bool isWhole(const Change& change, std::int64_t items)
{
    return items % change.denominator == 0;
}

/// Classes of modules that ran in training.
std::vector<std::string> classesOf(const DeviceTrace& trace)
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
    // One that is called once is the model itself, or near to it: all of it would be computed again at once.
    // Of those that hold others the outermost save most.
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

/// Of modules that the recording names those that stand beside others like them, as layers do ("path:h.*"),
/// the outermost first, and of those the most.
std::vector<std::string> pathsOf(const Recording& recording)
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

/// A filter that takes what a line of the program asks for; empty: it has no line.
std::string lineFilter(const Recording& recording, StackId stack)
{
    const FrameId frame = userFrame(recording, stack);
    if (!frame.valid() || recording.stacks.frame(frame).line <= 0)
        return {};
    FilterConditions line;
    line.line = frameLabel(recording, frame);
    return printFilter(line);
}

/// Of the program's lines those that ask for most in all, as filters; of very many blocks each so many-th
/// tells.
std::vector<std::string> linesOf(const DeviceTrace& trace)
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

/// Whether an optimizer keeps something: of all of them SGD alone keeps nothing.
bool hasOptimizerState(const DeviceTrace& trace)
{
    return std::ranges::any_of(RoleListings::of(trace.recording(), trace.device()),
        [](const RoleListing& listing) { return listing.kind == wire::RoleKind::OptimizerState; });
}

} // namespace

std::vector<std::string> valuesWorthTrying(Change::Kind kind, const DeviceTrace& trace)
{
    switch (kind) {
    case Change::Kind::Checkpoint:
        if (std::vector<std::string> classes = classesOf(trace); !classes.empty())
            return classes;
        return pathsOf(trace.recording());
    case Change::Kind::Accumulate:
        if (!RoleListings::tellTensors(trace.recording(), trace.device()))
            return {};
        return { "2", "4", "8" };
    case Change::Kind::ZeroGrad:
        if (!RoleListings::tellTensors(trace.recording(), trace.device()))
            return {};
        return { "after-step", "before-forward", "before-backward" };
    case Change::Kind::Optimizer:
        if (!RoleListings::tellTensors(trace.recording(), trace.device()))
            return {};
        return { "SGD", "SGD,momentum=0.9", "AdamW", "AdamW,fused=True", "AdamW,foreach=False",
            "AdamW,in_backward=True", "Adam", "AdamW8bit", "Adam8bit", "RMSprop", "Adagrad" };
    case Change::Kind::Offload: {
        std::vector<std::string> values;
        for (const std::string& name : classesOf(trace)) {
            if (values.empty())
                values.emplace_back("activations");
            values.push_back("activations:" + name);
        }
        if (hasOptimizerState(trace))
            values.emplace_back("optimizer");
        return values;
    }
    case Change::Kind::Remove:
        return linesOf(trace);
    case Change::Kind::Free: {
        std::vector<std::string> values;
        if (!usableDeepStep(trace))
            return values;
        values.emplace_back("last-use");
        std::ranges::move(linesOf(trace), std::back_inserter(values));
        return values;
    }
    case Change::Kind::Batch:
    case Change::Kind::Sequence:
    case Change::Kind::Autocast:
    case Change::Kind::Type:
    case Change::Kind::Attention:
    case Change::Kind::Logits:
    case Change::Kind::Ddp:
    case Change::Kind::Zero1:
    case Change::Kind::Fsdp:
        break;
    }
    return {};
}

std::vector<Scenario> alternativesTo(const RecordedRun& run)
{
    std::vector<Scenario> all;
    if (run.batchItems && run.steps != nullptr && !run.steps->steps.empty())
        for (const char* const text : { "batch=x0.5", "batch=x2" })
            if (const auto change = Change::parse(text); change && isWhole(*change, *run.batchItems))
                all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    if (run.trace != nullptr && run.steps != nullptr)
        if (const std::vector<std::string> classes = classesOf(*run.trace); !classes.empty())
            if (const auto change = Change::parse("checkpoint=" + classes.front()))
                all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    if (run.trace != nullptr && run.steps != nullptr && hasOptimizerState(*run.trace))
        for (const char* const text : { "optimizer=SGD", "offload=optimizer" })
            if (const auto change = Change::parse(text))
                all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    if (run.trace != nullptr && run.steps != nullptr && run.categories != nullptr)
        if (const auto edits = gradientEdits(run, ZeroGradPlace::AfterStep); edits && !edits->empty())
            if (const auto change = Change::parse("zero_grad=after-step"))
                all.push_back({ .changes = { *change }, .settings = {}, .capacityBytes = {} });
    for (std::string& settings : settingsWorthTrying(*run.report))
        all.push_back({ .changes = {}, .settings = std::move(settings), .capacityBytes = {} });
    return all;
}

std::optional<Change> withoutLeak(const RecordedRun& run)
{
    const DeviceTrace& trace = *run.trace;
    const auto report = findLeaks(trace, *run.steps);
    if (!report)
        return std::nullopt;
    const auto leak = std::ranges::find_if(report->sites, [](const LeakSite& site) {
        return site.kind == LeakKind::Leak && site.stack.valid() && !site.examples.empty();
    });
    if (leak == report->sites.end()
        || (run.categories != nullptr
            && run.categories->of(leak->examples.front()).category == Category::Activation))
        return std::nullopt;
    const std::string line = lineFilter(trace.recording(), leak->stack);
    if (line.empty())
        return std::nullopt;
    auto change = Change::parse("remove=" + line);
    const auto site = change ? blocksOfSite(run, change->value) : Result<SiteBlocks>(Failure(change.error()));
    if (!site)
        return std::nullopt;
    std::int64_t blocks = 0, stay = 0;
    for (std::size_t row = 0; row < site->born.size(); ++row)
        if (site->born[row] == SiteBlocks::Is::There) {
            ++blocks;
            stay += trace.blocks().death(BlockId::born(row)) == BlockColumns::kNever ? 1 : 0;
        }
    constexpr std::int64_t kMost = 10; // one of so many may go: the last step is not over
    return stay >= blocks - blocks / kMost ? std::optional(std::move(*change)) : std::nullopt;
}

} // namespace strata::model
