// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/search.h"

#include "model/base/ascii.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/trace/filter/filter_language.h"
#include "model/trace/filter/frame_origin.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

using HitKind = SearchHit::Kind;

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

bool isWordCharacter(char c)
{
    return isDigit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

bool startsWord(std::string_view name, std::size_t at)
{
    if (at == 0 || !isWordCharacter(name[at - 1]))
        return true;
    const auto isUpper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return isUpper(name[at]) && !isUpper(name[at - 1]);
}

/// Bytes and blocks of something.
struct Sum {
    std::int64_t bytes = 0, blocks = 0; // active
    std::int64_t allBlocks = 0;

    void add(const Sum& other)
    {
        bytes = wrapAdd(bytes, other.bytes);
        blocks += other.blocks;
        allBlocks += other.allBlocks;
    }
    void addActive(std::int64_t more)
    {
        bytes = wrapAdd(bytes, more);
        ++blocks;
    }
};

void takeHits(SearchHit& hit, const Sum& sum)
{
    hit.bytes = sum.bytes;
    hit.blocks = sum.blocks;
    hit.allBlocks = sum.allBlocks;
}

/// A text in the words of a filter: names that are looked for, and the terms beside them.
struct Wanted {
    std::string name; // in lower case; empty: none
    FilterConditions beside; // without a text
};

class Searching {
public:
    Searching(const DeviceTimeline& timeline, const GroupTable& byLine, EventIndex event,
        const std::stop_token& stop, const DeviceLabels& labels)
        : m_trace(timeline.trace())
        , m_recording(m_trace.recording())
        , m_byLine(byLine)
        , m_stop(stop)
        , m_labels(labels)
        , m_active(timeline.live().liveAtUnordered(event))
    {
        m_found.event = event;
        for (const BlockId block : m_active)
            m_found.wholeBytes = wrapAdd(m_found.wholeBytes, m_trace.blocks().requestedBytes[block]);
    }

    SearchHits run(std::string_view text)
    {
        const auto typed = parseFilter(text);
        const std::string blank = " \t\r\n";
        const std::size_t first = text.find_first_not_of(blank);
        if (first == std::string_view::npos)
            return std::move(m_found);
        const std::string_view bare = text.substr(first, text.find_last_not_of(blank) - first + 1);
        Wanted wanted;
        if (!typed) {
            m_found.error = typed.error();
            wanted.name = lowered(std::string(bare));
        } else {
            wanted.name = lowered(typed->text);
            wanted.beside = *typed;
            wanted.beside.text.clear();
            if (parseBytes(bare)) // it may be part of a name as well
                wanted = { lowered(std::string(bare)), {} };
        }
        const bool isAddress = typed && parseAddress(typed->text);
        if (!wanted.name.empty() && !isAddress) {
            sumStacks(wanted.beside);
            if (!wanted.beside.line)
                findLines(wanted);
            findNames(wanted);
        }
        if (typed && !typed->empty())
            findBlocks(*typed, isAddress);
        return std::move(m_found);
    }

private:
    [[nodiscard]] bool stopped() const { return m_stop.stop_requested(); }
    [[nodiscard]] std::size_t rowOf(StackId stack) const
    {
        return std::min(stack.index(), m_sums.size() - 1); // the last row: without a stack
    }

    /// What the blocks of every stack hold that `beside` keeps.
    void sumStacks(const FilterConditions& beside)
    {
        const BlockMatcher matches(m_trace, filterOf(m_recording, beside), m_labels);
        const BlockColumns& blocks = m_trace.blocks();
        m_sums.assign(m_recording.stacks.stackCount() + 1, {});
        for (std::size_t place = 0; place < blocks.size(); ++place) {
            if (place % 65536 == 0 && stopped())
                return;
            if (const BlockId block = blocks.at(place); matches(block))
                ++m_sums[rowOf(blocks.stack[block])].allBlocks;
        }
        for (const BlockId block : m_active)
            if (matches(block))
                m_sums[rowOf(blocks.stack[block])].addActive(blocks.requestedBytes[block]);
    }

    void findLines(const Wanted& wanted)
    {
        UserFrames userFrames(m_recording);
        std::vector<Sum> sums(m_byLine.count());
        for (std::size_t row = 0; row < m_sums.size(); ++row)
            if (m_sums[row].allBlocks > 0)
                sums[m_byLine.groupOfStack(
                         row + 1 < m_sums.size() ? StackId{ static_cast<std::uint32_t>(row) } : StackId{})]
                    .add(m_sums[row]);
        std::vector<SearchHit> hits;
        for (std::uint32_t group = 0; group < m_byLine.count() && !stopped(); ++group) {
            const std::string& label = m_byLine.label(group);
            const StackId stack = m_byLine.stackOf(group);
            const FrameId frame = stack.valid() ? userFrames.of(stack) : FrameId{};
            const std::string function = frame.valid() ? frameFunction(m_recording, frame) : std::string();
            auto found = matchName(label, wanted.name);
            const bool inDetail = !found;
            if (inDetail)
                found = matchName(function, wanted.name);
            if (!found || sums[group].allBlocks == 0)
                continue;
            SearchHit& hit = hits.emplace_back();
            hit.label = label;
            hit.detail = function;
            hit.found = *found;
            hit.inDetail = inDetail;
            hit.conditions = wanted.beside;
            hit.conditions.line = label;
            hit.group = group;
            takeHits(hit, sums[group]);
        }
        keepBest(HitKind::Line, std::move(hits));
    }

    /// A name of functions or files that has what is looked for.
    struct Name {
        StringId text;
        bool isFile = false;
        NameMatchAt found;
        Sum own{}; // of stacks with this very name
        std::size_t lastStack = std::numeric_limits<std::size_t>::max();
    };

    void findNames(const Wanted& wanted)
    {
        std::vector<Name> names = namesWith(wanted.name);
        if (names.empty() || stopped())
            return;
        std::vector<std::uint32_t> candidates = bestOf(names);
        std::vector<SearchHit> files, functions;
        std::vector<Sum> sums = sumsOf(names, candidates);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const Name& name = names[candidates[i]];
            SearchHit& hit = (name.isFile ? files : functions).emplace_back();
            hit.label = m_recording.strings[name.text];
            hit.found = name.found;
            hit.conditions = wanted.beside;
            hit.conditions.text = hit.label;
            takeHits(hit, sums[i]);
        }
        keepBest(HitKind::Function, std::move(functions));
        keepBest(HitKind::File, std::move(files));
    }

    /// Every name that has the text, and in `m_nameOf` which one a string is.
    std::vector<Name> namesWith(std::string_view text)
    {
        std::vector<Name> names;
        m_nameOf.assign(m_recording.strings.size(), kNoRow);
        std::vector<bool> looked(m_recording.strings.size());
        const auto look = [&](StringId id, bool isFile) {
            if (!id.valid() || looked[id.index()])
                return;
            looked[id.index()] = true;
            const std::string_view name = m_recording.strings[id];
            if (parseAddress(name)) // as a filter it would be one
                return;
            if (const auto found = matchName(name, text)) {
                m_nameOf[id.index()] = static_cast<std::uint32_t>(names.size());
                names.push_back({ .text = id, .isFile = isFile, .found = *found });
            }
        };
        const std::size_t frames = m_recording.stacks.frameCount();
        for (const bool isFile : { true, false })
            for (std::size_t i = 0; i < frames; ++i) {
                if (i % 4096 == 0 && stopped())
                    return names;
                const Frame& frame = m_recording.stacks.frame(FrameId{ static_cast<std::uint32_t>(i) });
                look(isFile ? frame.file : frame.function, isFile);
            }
        return names;
    }

    [[nodiscard]] std::uint32_t nameOf(StringId id) const
    {
        return id.valid() ? m_nameOf[id.index()] : kNoRow;
    }

    /// The names to be shown, of those that blocks of this device have.
    std::vector<std::uint32_t> bestOf(std::vector<Name>& names)
    {
        for (std::size_t row = 0; row + 1 < m_sums.size(); ++row) {
            if (row % 1024 == 0 && stopped())
                return {};
            if (m_sums[row].allBlocks == 0)
                continue;
            for (const FrameId id : m_recording.stacks.stack(StackId{ static_cast<std::uint32_t>(row) })) {
                const Frame& frame = m_recording.stacks.frame(id);
                for (const std::uint32_t name : { nameOf(frame.file), nameOf(frame.function) })
                    if (name != kNoRow && std::exchange(names[name].lastStack, row) != row)
                        names[name].own.add(m_sums[row]);
            }
        }
        std::vector<std::uint32_t> best;
        for (const bool isFile : { false, true }) {
            std::vector<std::uint32_t> rows;
            for (std::uint32_t row = 0; row < names.size(); ++row)
                if (names[row].isFile == isFile && names[row].own.allBlocks > 0)
                    rows.push_back(row);
            const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMostHits));
            const auto rank = [&](std::uint32_t row) {
                const Name& name = names[row];
                return std::tuple(
                    name.found.match, ~name.own.bytes, ~name.own.allBlocks, m_recording.strings[name.text]);
            };
            std::partial_sort(rows.begin(), end, rows.end(),
                [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
            const HitKind kind = isFile ? HitKind::File : HitKind::Function;
            m_found.leftOut[static_cast<std::size_t>(kind)] = rows.size() - (end - rows.begin());
            best.insert(best.end(), rows.begin(), end);
        }
        return best;
    }

    /// Sums of what a filter by each of these names keeps: of stacks with a frame whose file or function has
    /// it, or whose "file:line" has it where there is a colon in it. All that has a name has what is looked
    /// for, so that only names that have that are asked.
    std::vector<Sum> sumsOf(const std::vector<Name>& names, const std::vector<std::uint32_t>& candidates)
    {
        std::vector<std::string> wanted;
        std::vector<std::uint32_t> withLine; // those that may end within the number of a line
        for (const std::uint32_t row : candidates) {
            wanted.push_back(lowered(std::string(m_recording.strings[names[row].text])));
            const std::size_t colon = wanted.back().rfind(':');
            if (colon != std::string::npos
                && std::all_of(wanted.back().begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                    wanted.back().end(), isDigit))
                withLine.push_back(static_cast<std::uint32_t>(wanted.size() - 1));
        }
        std::vector<std::vector<std::uint32_t>> counted(names.size()); // candidates that are in the name
        for (std::size_t i = 0; i < names.size() && !stopped(); ++i)
            for (std::uint32_t j = 0; j < wanted.size(); ++j)
                if (containsAnyCase(m_recording.strings[names[i].text], wanted[j]))
                    counted[i].push_back(j);
        std::vector<std::vector<std::uint32_t>> ofFrame; // the same for "file:line"
        if (!withLine.empty()) {
            ofFrame.resize(m_recording.stacks.frameCount());
            for (std::size_t i = 0; i < ofFrame.size() && !stopped(); ++i) {
                const Frame& frame = m_recording.stacks.frame(FrameId{ static_cast<std::uint32_t>(i) });
                const std::string place = fmt::format("{}:{}", m_recording.strings[frame.file], frame.line);
                for (const std::uint32_t j : withLine)
                    if (containsAnyCase(place, wanted[j]))
                        ofFrame[i].push_back(j);
            }
        }
        std::vector<Sum> sums(candidates.size());
        std::vector<std::size_t> last(candidates.size(), std::numeric_limits<std::size_t>::max());
        for (std::size_t row = 0; row + 1 < m_sums.size(); ++row) {
            if (row % 1024 == 0 && stopped())
                break;
            if (m_sums[row].allBlocks == 0)
                continue;
            const auto count = [&](const std::vector<std::uint32_t>& rows) {
                for (const std::uint32_t j : rows)
                    if (std::exchange(last[j], row) != row)
                        sums[j].add(m_sums[row]);
            };
            for (const FrameId id : m_recording.stacks.stack(StackId{ static_cast<std::uint32_t>(row) })) {
                const Frame& frame = m_recording.stacks.frame(id);
                for (const std::uint32_t name : { nameOf(frame.file), nameOf(frame.function) })
                    if (name != kNoRow)
                        count(counted[name]);
                if (!ofFrame.empty())
                    count(ofFrame[id.index()]);
            }
        }
        return sums;
    }

    /// The blocks that the whole text keeps: as one hit, by their sizes, and each that holds an address.
    void findBlocks(const FilterConditions& conditions, bool isAddress)
    {
        const BlockMatcher matches(m_trace, filterOf(m_recording, conditions), m_labels);
        const BlockColumns& blocks = m_trace.blocks();
        const bool bySize = conditions.minBytes > 0 || conditions.maxBytes != FilterConditions::kAnySize;
        struct OfSize {
            Sum sum;
            BlockId block;
        };
        boost::unordered_flat_map<std::int64_t, OfSize> sizes;
        std::vector<BlockId> holders;
        OfSize all;
        std::int64_t largest = -1;
        const auto takeBlock = [&](BlockId block, bool active) {
            const std::int64_t bytes = blocks.requestedBytes[block];
            if (active)
                all.sum.addActive(bytes);
            else
                ++all.sum.allBlocks;
            if (bytes > largest) {
                largest = bytes;
                all.block = block;
            }
            if (!bySize)
                return;
            OfSize& one = sizes[bytes];
            if (active)
                one.sum.addActive(bytes);
            else
                ++one.sum.allBlocks;
            if (!one.block.valid())
                one.block = block;
        };
        for (const BlockId block : m_active) // first: they are what is gone to
            if (matches(block))
                takeBlock(block, true);
        if (all.block.valid())
            largest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t place = 0; place < blocks.size(); ++place) {
            if (place % 65536 == 0 && stopped())
                return;
            const BlockId block = blocks.at(place);
            if (!matches(block))
                continue;
            takeBlock(block, false);
            if (isAddress)
                holders.push_back(block);
        }
        std::vector<std::pair<std::int64_t, OfSize>> best(sizes.begin(), sizes.end());
        const auto rank = [](const std::pair<std::int64_t, OfSize>& size) {
            return std::tuple(~size.second.sum.bytes, ~size.second.sum.allBlocks, size.first);
        };
        const std::size_t kept = std::min(best.size(), kMostHits);
        std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), best.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        m_found.leftOut[static_cast<std::size_t>(HitKind::Size)] = best.size() - kept;
        best.resize(kept);
        std::vector<SearchHit> hits;
        for (const auto& [bytes, one] : best) {
            SearchHit& hit = hits.emplace_back();
            hit.label = formatBytes(bytes);
            hit.detail = formatExactBytes(bytes);
            hit.conditions = conditions;
            hit.conditions.minBytes = hit.conditions.maxBytes = bytes;
            hit.block = one.block;
            takeHits(hit, one.sum);
        }
        keepBest(HitKind::Size, std::move(hits));
        if (isAddress)
            takeHolders(conditions, std::move(holders));
        SearchHit whole;
        whole.label = printFilter(conditions);
        whole.conditions = conditions;
        whole.block = all.block;
        takeHits(whole, all.sum);
        keepBest(HitKind::Condition, { whole });
    }

    /// Those that are active first, then the latest.
    void takeHolders(const FilterConditions& conditions, std::vector<BlockId> holders)
    {
        const BlockColumns& blocks = m_trace.blocks();
        const EventIndex shown = m_found.event;
        const auto rank = [&](BlockId block) {
            return std::tuple(!blocks.liveAt(block, shown), -blocks.birth(block), block);
        };
        const auto shownEnd
            = holders.begin() + static_cast<std::ptrdiff_t>(std::min(holders.size(), kMostHits));
        std::partial_sort(holders.begin(), shownEnd, holders.end(),
            [&](BlockId a, BlockId b) { return rank(a) < rank(b); });
        for (auto at = holders.begin(); at != shownEnd; ++at) {
            SearchHit& hit = m_found.hits.emplace_back();
            hit.kind = HitKind::Address;
            hit.label = formatAddress(blocks.address[*at]);
            hit.detail = m_byLine.label(m_byLine.groupOf(*at));
            hit.conditions = conditions;
            hit.event = blocks.liveAt(*at, shown) ? shown : blocks.birth(*at);
            hit.block = *at;
            Sum sum;
            for (const BlockId other : holders)
                if (blocks.liveAt(other, hit.event))
                    sum.addActive(blocks.requestedBytes[other]);
            sum.allBlocks = static_cast<std::int64_t>(holders.size());
            takeHits(hit, sum);
        }
        m_found.leftOut[static_cast<std::size_t>(HitKind::Address)]
            = static_cast<std::size_t>(holders.end() - shownEnd);
    }

    void keepBest(HitKind kind, std::vector<SearchHit> hits)
    {
        const auto before = [](const SearchHit& a, const SearchHit& b) {
            return std::tuple(a.inDetail, a.found.match, ~a.bytes, ~a.allBlocks, std::string_view(a.label))
                < std::tuple(b.inDetail, b.found.match, ~b.bytes, ~b.allBlocks, std::string_view(b.label));
        };
        const std::size_t kept = std::min(hits.size(), kMostHits);
        std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(kept), hits.end(), before);
        m_found.leftOut[static_cast<std::size_t>(kind)] += hits.size() - kept;
        hits.resize(kept);
        for (SearchHit& hit : hits) {
            hit.kind = kind;
            hit.event = m_found.event;
            m_found.hits.push_back(std::move(hit));
        }
    }

    const DeviceTrace& m_trace;
    const Recording& m_recording;
    const GroupTable& m_byLine;
    const std::stop_token& m_stop;
    const DeviceLabels& m_labels;
    std::vector<BlockId> m_active;
    std::vector<Sum> m_sums; // by StackId
    std::vector<std::uint32_t> m_nameOf; // by StringId
    SearchHits m_found;
};

} // namespace

std::optional<NameMatchAt> matchName(std::string_view name, std::string_view text)
{
    const std::string wanted = lowered(std::string(text));
    if (wanted.empty() || wanted.size() > name.size())
        return std::nullopt;
    const std::size_t last = name.size() - baseName(name).size();
    std::optional<NameMatchAt> best;
    for (std::size_t at = 0; at + wanted.size() <= name.size(); ++at) {
        if (lower(name[at]) != wanted[0] || !equalAnyCase(name.substr(at, wanted.size()), wanted))
            continue;
        NameMatch match = NameMatch::Inside;
        if (at == 0 || at == last)
            match = at + wanted.size() == name.size() ? NameMatch::Exact : NameMatch::Prefix;
        else if (startsWord(name, at))
            match = NameMatch::WordStart;
        if (!best || match < best->match)
            best = { match, at, wanted.size() };
    }
    return best;
}

SearchHits search(const DeviceTimeline& timeline, const GroupTable& byLine, std::string_view text,
    EventIndex event, const std::stop_token& stop, const DeviceLabels& labels)
{
    return Searching(timeline, byLine, event, stop, labels).run(text);
}

} // namespace strata::model
