// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/site_blocks.h"

#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/ascii.h"
#include "model/base/units.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/filter_language.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

/// What a text can be of a stack, the narrowest first.
enum class Part : std::uint8_t { Line, Function, File, Text, Nothing };

/// "train.py:57", in two.
struct Line {
    std::string_view file;
    std::int64_t number = 0;
};

std::optional<Line> lineOf(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos || colon == 0)
        return std::nullopt;
    Line line{ text.substr(0, colon), 0 };
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + colon + 1, last, line.number);
    return error == std::errc{} && end == last ? std::optional(line) : std::nullopt;
}

/// "train.py" is "/home/u/train.py", and not "pretrain.py".
bool isFile(std::string_view file, std::string_view lowerCase)
{
    if (file.size() < lowerCase.size()
        || !equalAnyCase(file.substr(file.size() - lowerCase.size()), lowerCase))
        return false;
    const std::size_t before = file.size() - lowerCase.size();
    return before == 0 || file[before - 1] == '/' || file[before - 1] == '\\';
}

/// By stack: the narrowest that the text is of it.
std::vector<Part> textPartsOf(const Recording& recording, const std::string& text)
{
    const std::string wanted = lowered(text);
    const auto line = lineOf(wanted);
    std::vector<Part> ofFrame(recording.stacks.frameCount(), Part::Nothing);
    for (std::uint32_t row = 0; row < ofFrame.size(); ++row) {
        const Frame& frame = recording.stacks.frame({ row });
        if (line && frame.line == line->number && isFile(recording.strings[frame.file], line->file))
            ofFrame[row] = Part::Line;
        else if (equalAnyCase(recording.strings[frame.function], wanted))
            ofFrame[row] = Part::Function;
        else if (isFile(recording.strings[frame.file], wanted))
            ofFrame[row] = Part::File;
        else if (!line
            && (containsAnyCase(recording.strings[frame.function], wanted)
                || containsAnyCase(recording.strings[frame.file], wanted)))
            ofFrame[row] = Part::Text;
    }
    std::vector<Part> parts(recording.stacks.stackCount(), Part::Nothing);
    for (std::uint32_t row = 0; row < parts.size(); ++row)
        for (const FrameId frame : recording.stacks.stack({ row }))
            parts[row] = std::min(parts[row], ofFrame[frame.index()]);
    return parts;
}

template <class Do> void forEachBlock(const DeviceTrace& trace, const Do& action)
{
    for (std::size_t row = 0; row < trace.blocks().bornCount(); ++row)
        action(BlockId::born(row));
    for (std::size_t row = 0; row < trace.blocks().olderCount(); ++row)
        action(BlockId::older(row));
}

/// Of requests that were refused nothing but the stack is told.
template <class IsThere>
void findRefused(const DeviceTrace& trace, const BlockFilter& filter, const IsThere& isThere,
    std::vector<EventIndex>& refused)
{
    const auto ofLine = filter.line ? stacksOfLine(trace.recording(), *filter.line) : std::vector<bool>();
    for (const std::uint32_t event : trace.outOfMemories()) {
        const StackId stack = trace.events().stack[event];
        if (stack.valid() && isThere(stack) && (ofLine.empty() || ofLine[stack.index()])
            && (filter.sites.empty() || std::ranges::find(filter.sites, stack) != filter.sites.end()))
            refused.push_back(event);
    }
}

/// Lines that ask for blocks, those of the same file that are nearest to the one asked for first, else those
/// that ask for most.
std::string linesNear(const DeviceTrace& trace, std::string_view text)
{
    const GroupTable lines(trace, Grouping::Line);
    std::map<std::uint32_t, std::int64_t> bytes;
    forEachBlock(trace, [&](BlockId block) {
        if (trace.blocks().stack[block].valid())
            bytes[lines.groupOf(block)] += trace.blocks().requestedBytes[block];
    });
    const std::string wanted = lowered(std::string(text));
    const auto line = lineOf(wanted);
    std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> all; // how far, and how many bytes
    for (const auto& [group, asked] : bytes) {
        const auto known = lineOf(lines.label(group));
        const bool isNear = line && known && isFile(known->file, line->file);
        constexpr std::int64_t kFar = std::int64_t{ 1 } << 40;
        all.emplace_back(isNear ? std::abs(known->number - line->number) : kFar, -asked, lines.label(group));
    }
    std::ranges::sort(all);
    constexpr std::size_t kNamed = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(all.size(), kNamed); ++i)
        list += (i == 0 ? "" : ", ") + std::get<2>(all[i]);
    return list;
}

} // namespace

Result<SiteBlocks> blocksOfSite(const RecordedRun& run, std::string_view site)
{
    const DeviceTrace& trace = *run.trace;
    const Recording& recording = trace.recording();
    auto conditions = parseFilter(site);
    if (!conditions)
        return Failure(conditions.error());
    const bool byText = !conditions->text.empty() && !parseAddress(conditions->text);
    const bool byStack = byText || conditions->line || !conditions->stacks.empty();
    const std::string text = byText ? std::exchange(conditions->text, {}) : std::string();
    bool hasStacks = false;
    forEachBlock(trace, [&](BlockId block) { hasStacks |= trace.blocks().stack[block].valid(); });
    if (byStack && !hasStacks)
        return fail(Error::Kind::Refused,
            say("the recording has no stacks, which tell the place that asks for a block"),
            say("record it with them, as strata record does; of PyTorch's own history: "
                "torch.cuda.memory._record_memory_history(context=\"all\")"));
    const BlockFilter filter = filterOf(recording, *conditions);
    const BlockMatcher matches(trace, filter,
        filter.asksForLabels() && run.categories != nullptr ? deviceLabels(trace, *run.categories)
                                                            : DeviceLabels());
    BlockFilter rest = filter;
    rest.line.reset();
    rest.sites.clear();
    const BlockMatcher matchesRest(trace, rest); // but for stacks
    const std::vector<Part> parts = byText ? textPartsOf(recording, text) : std::vector<Part>();
    const auto partOf = [&](BlockId block) {
        const std::size_t stack = trace.blocks().stack[block].index();
        return stack < parts.size() ? parts[stack] : Part::Nothing;
    };
    Part narrowest = Part::Nothing;
    if (byText)
        forEachBlock(trace, [&](BlockId block) {
            if (matches(block))
                narrowest = std::min(narrowest, partOf(block));
        });
    SiteBlocks found;
    found.born.resize(trace.blocks().bornCount());
    found.older.resize(trace.blocks().olderCount());
    bool any = false;
    forEachBlock(trace, [&](BlockId block) {
        SiteBlocks::Is& is = (block.isOlder() ? found.older : found.born)[block.row()];
        if (matches(block) && (!byText || (narrowest != Part::Nothing && partOf(block) == narrowest)))
            is = SiteBlocks::Is::There;
        else if (byStack && !trace.blocks().stack[block].valid() && matchesRest(block))
            is = SiteBlocks::Is::Unknown;
        any = any || is == SiteBlocks::Is::There;
    });
    if (byStack)
        findRefused(
            trace, filter,
            [&](StackId stack) {
                const bool isThere = stack.index() < parts.size() && narrowest != Part::Nothing
                    && parts[stack.index()] == narrowest;
                return !byText || isThere;
            },
            found.refused);
    if (!any)
        return fail(Error::Kind::Refused,
            say("no block of the recording was asked for at '%1'", std::string(site)),
            say("lines that ask for blocks: %1; strata blocks FILE --filter lists blocks, docs/filters.md "
                "says "
                "how places are named",
                linesNear(trace, text)));
    return found;
}

} // namespace strata::model
