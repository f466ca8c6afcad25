// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/cut.h"

#include "model/chunks/chunk_kinds.h"
#include "model/session/filter_text.h"
#include "model/trace/frames.h"
#include "model/trace/program/roles.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

namespace strata::model {
namespace {

constexpr std::int64_t kRounding = 512; // of the caching allocator: every block is a multiple of it

/// Copies rows into a new recording, with the texts and stacks that they refer to.
class Copier {
public:
    Copier(const Recording& from, Recording& to, Scrubber& scrubber)
        : m_from(from)
        , m_to(to)
        , m_scrubber(scrubber)
        , m_strings(from.strings.size())
        , m_frames(from.stacks.frameCount())
        , m_stacks(from.stacks.stackCount())
        , m_streams(from.streams.size(), kNoIndex)
        , m_pools(from.pools.size(), kNoIndex)
        , m_threads(from.threads.size(), kNoIndex)
        , m_modules(from.modules.size(), kNoIndex)
    {
    }

    StringId text(StringId id)
    {
        if (!id.valid())
            return id;
        StringId& known = m_strings[id.index()];
        if (!known.valid())
            known = m_to.strings.intern(m_scrubber.text(m_from.strings[id]));
        return known;
    }
    StackId stack(StackId id)
    {
        if (!id.valid())
            return id;
        StackId& known = m_stacks[id.index()];
        if (!known.valid()) {
            std::vector<FrameId> frames;
            for (const FrameId each : m_from.stacks.stack(id))
                frames.push_back(frame(each));
            known = m_to.stacks.internStack(frames);
        }
        return known;
    }
    StreamIndex stream(StreamIndex index)
    {
        return once(m_streams, index, [&] { return m_to.internStream(m_from.streams[index]); });
    }
    PoolIndex pool(PoolIndex index)
    {
        return once(m_pools, index, [&] { return m_to.internPool(m_from.pools[index]); });
    }
    ThreadIndex thread(ThreadIndex index)
    {
        return once(m_threads, index, [&] { return m_to.internThread(m_from.threads[index]); });
    }
    ModuleIndex module(ModuleIndex index)
    {
        return once(m_modules, index, [&] { return m_to.internModule(text(m_from.modules[index])); });
    }
    FinalSegment segment(FinalSegment segment)
    {
        segment.stack = stack(segment.stack);
        segment.stream = stream(segment.stream);
        segment.pool = pool(segment.pool);
        return segment;
    }
    /// As the recording has it.
    AllocatorState state(AllocatorState state)
    {
        for (FinalSegment& each : state.segments.edit())
            each = segment(each);
        for (FinalBlock& block : state.blocks.edit())
            block.stack = stack(block.stack);
        return state;
    }

    FrameId frame(FrameId id)
    {
        FrameId& known = m_frames[id.index()];
        if (!known.valid()) {
            Frame copy = m_from.stacks.frame(id);
            if (copy.file.valid())
                copy.file = m_to.strings.intern(m_scrubber.file(copy.file));
            copy.function = text(copy.function);
            copy.extras = text(copy.extras);
            known = m_to.stacks.internFrame(copy);
        }
        return known;
    }

    /// All rows, in their order.
    CutTables keepTables()
    {
        for (std::size_t i = 0; i < m_strings.size(); ++i)
            (void)text(StringId{ static_cast<std::uint32_t>(i) });
        for (std::size_t i = 0; i < m_frames.size(); ++i)
            (void)frame(FrameId{ static_cast<std::uint32_t>(i) });
        for (std::size_t i = 0; i < m_stacks.size(); ++i)
            (void)stack(StackId{ static_cast<std::uint32_t>(i) });
        for (std::size_t i = 0; i < m_streams.size(); ++i)
            (void)stream(static_cast<StreamIndex>(i));
        for (std::size_t i = 0; i < m_pools.size(); ++i)
            (void)pool(static_cast<PoolIndex>(i));
        return { m_strings, m_frames, m_stacks, m_streams, m_pools };
    }

private:
    /// The number in the new recording; `intern` looks through its whole table.
    static std::uint16_t once(std::vector<std::uint16_t>& numbers, std::uint16_t index, auto&& intern)
    {
        if (index == kNoIndex)
            return index;
        std::uint16_t& number = numbers[index];
        if (number == kNoIndex)
            number = intern();
        return number;
    }

    const Recording& m_from;
    Recording& m_to;
    Scrubber& m_scrubber;
    std::vector<StringId> m_strings;
    std::vector<FrameId> m_frames;
    std::vector<StackId> m_stacks;
    std::vector<std::uint16_t> m_streams, m_pools, m_threads, m_modules;
};

void copyEvents(
    const EventColumns& from, EventSpan span, EventColumns& to, Copier& copy, bool metadata, bool modules)
{
    for (EventIndex event = span.first; event <= span.last; ++event) {
        const auto e = static_cast<std::size_t>(event);
        to.action.push_back(from.action[e]);
        to.address.push_back(from.address[e]);
        to.bytes.push_back(from.bytes[e]);
        to.stack.push_back(copy.stack(from.stack[e]));
        to.block.push_back(BlockId{});
        to.stream.push_back(copy.stream(from.stream[e]));
        to.pool.push_back(copy.pool(from.pool[e]));
        if (from.hasTimes())
            to.timeNs.push_back(from.timeNs[e]);
        to.tell(from.phaseOf(e), copy.thread(from.threadOf(e)),
            modules ? copy.module(from.moduleOf(e)) : kNoIndex);
    }
    const auto copyTexts = [&](const SparseText& texts, SparseText& into) {
        for (const auto& [event, text] : texts.items())
            if (event >= span.first && event <= span.last)
                into.set(event - static_cast<std::uint32_t>(span.first), copy.text(text));
    };
    copyTexts(from.otherAction, to.otherAction);
    copyTexts(from.compileContext, to.compileContext);
    if (metadata) {
        copyTexts(from.userMetadata, to.userMetadata);
        copyTexts(from.extras, to.extras);
    }
}

/// The segments after event `at`, pieces of expandable ones joined where they touch.
std::vector<FinalSegment> segmentsAt(const DeviceTrace& trace, EventIndex at)
{
    std::vector<FinalSegment> segments;
    for (const SegmentLife* const each : trace.segments().byAddress()) {
        const SegmentLife& life = *each;
        if (!life.liveAt(at))
            continue;
        FinalSegment* last = segments.empty() ? nullptr : &segments.back();
        if (last && last->expandable && life.expandable && last->stream == life.stream
            && last->pool == life.pool
            && last->address + static_cast<std::uint64_t>(last->bytes) == life.address) {
            last->bytes = wrapAdd(last->bytes, life.bytes);
            continue;
        }
        FinalSegment segment;
        segment.address = life.address;
        segment.bytes = life.bytes;
        segment.stack = life.stack;
        segment.stream = life.stream;
        segment.pool = life.pool;
        segment.expandable = life.expandable;
        segments.push_back(segment);
    }
    return segments;
}

/// Rows of the blocks that are live after event `at`, by address.
std::vector<BlockId> blocksAt(const DeviceTrace& trace, EventIndex at)
{
    std::vector<BlockId> live;
    for (const BlockId block : trace.blocks().all())
        if (trace.blocks().liveAt(block, at))
            live.push_back(block);
    std::ranges::sort(live, {}, [&](BlockId b) { return trace.blocks().address[b]; });
    return live;
}

std::int64_t roundedBytes(const BlockColumns& blocks, BlockId block, std::int64_t most)
{
    const std::int64_t requested = blocks.requestedBytes[block];
    if (const std::uint32_t rounding = blocks.rounding[block]; rounding != BlockColumns::kRoundingUnknown)
        return std::min(wrapAdd(requested, rounding), most);
    const std::int64_t rounded = wrapAdd(requested, kRounding - 1) / kRounding * kRounding;
    return std::max(std::min(std::max(rounded, kRounding), most), std::min(requested, most));
}

/// The allocator after event `at`, as far as the trace tells: what is free is one inactive block a gap, and
/// blocks are as large as their requests rounded up, unless the end state knows better.
AllocatorState stateAt(const DeviceTrace& trace, EventIndex at, Copier& copy)
{
    std::vector<FinalSegment> segments = segmentsAt(trace, at);
    std::vector<FinalBlock> held;
    const BlockColumns& blocks = trace.blocks();
    const std::vector<BlockId> live = blocksAt(trace, at);
    const auto addressOf = [&](BlockId b) { return blocks.address[b]; };
    auto next = live.begin();
    for (FinalSegment& segment : segments) {
        const std::uint64_t end = segment.address + static_cast<std::uint64_t>(segment.bytes);
        next = std::lower_bound(
            next, live.end(), segment.address, [&](BlockId b, std::uint64_t a) { return addressOf(b) < a; });
        segment.firstBlock = static_cast<std::uint32_t>(held.size());
        std::uint64_t reached = segment.address;
        const auto addFree = [&](std::uint64_t to) {
            if (to > reached)
                held.push_back(
                    { reached, static_cast<std::int64_t>(to - reached), 0, {}, BlockState::Inactive });
        };
        for (; next != live.end() && addressOf(*next) < end; ++next) {
            addFree(addressOf(*next));
            const std::uint64_t limit
                = std::next(next) != live.end() ? std::min(end, addressOf(*std::next(next))) : end;
            FinalBlock block;
            block.address = addressOf(*next);
            block.requestedBytes = blocks.requestedBytes[*next];
            block.bytes = roundedBytes(blocks, *next, static_cast<std::int64_t>(limit - block.address));
            block.stack = copy.stack(blocks.stack[*next]);
            block.state = blocks.pendingAt(*next, at) ? BlockState::PendingFree : BlockState::Allocated;
            reached = block.address + static_cast<std::uint64_t>(block.bytes);
            held.push_back(block);
        }
        addFree(end);
        segment.blockCount = static_cast<std::uint32_t>(held.size()) - segment.firstBlock;
        segment = copy.segment(segment);
    }
    return { std::move(segments), std::move(held) };
}

/// The state before the first event, where the recording has it.
const AllocatorState& recordedBase(const Recording& recording, int device)
{
    return std::ranges::find(recording.devices, device, &DeviceRecording::device)->base;
}

/// The time that the kept events take up: empty where they have no times.
KeptTime timeSpanOf(const Recording& recording)
{
    KeptTime span{ std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min() };
    for (const DeviceRecording& device : recording.devices)
        for (std::size_t e = 0; e < device.events.timeNs.size(); ++e) {
            span.firstNs = std::min(span.firstNs, device.events.timeNs[e]);
            span.lastNs = std::max(span.lastNs, device.events.timeNs[e]);
        }
    return span;
}

/// Conditions of a filter in the words of the new recording.
std::string conditionsIn(
    const Recording& from, const Recording& to, BlockFilter filter, Copier& copy, Scrubber& scrubber)
{
    for (StackId& stack : filter.sites)
        if (stack.index() < from.stacks.stackCount())
            stack = copy.stack(stack);
    if (filter.line) {
        std::string line = scrubber.text(*filter.line);
        for (std::uint32_t i = 0; i < from.stacks.frameCount(); ++i)
            if (frameLabel(from, FrameId{ i }) == *filter.line
                || formerFrameLabel(from, FrameId{ i }) == *filter.line)
                line = frameLabel(to, copy.frame(FrameId{ i }));
        filter.line = line;
    }
    if (filter.module)
        filter.module = scrubber.text(*filter.module);
    if (filter.stream && *filter.stream < from.streams.size())
        filter.stream = copy.stream(*filter.stream);
    if (filter.pool && *filter.pool < from.pools.size())
        filter.pool = copy.pool(*filter.pool);
    filter.text = scrubber.text(filter.text);
    return filterText(to, filter);
}

/// Rules look for names in what was recorded: where any of these go, they name what is gone, and would find
/// nothing.
bool keepsRules(const Scrub& scrub)
{
    return !scrub.paths && !scrub.names && !scrub.modules;
}

void copyUserData(const Recording& from, Cut& cut, const std::map<int, EventSpan>& kept, const Scrub& scrub,
    Copier& copy, Scrubber& scrubber)
{
    if (scrub.notes) {
        cut.userDropped = std::ranges::count_if(from.user.items, &UserItem::isListed);
        return;
    }
    for (UserItem item : from.user.items) {
        if (item.kind == UserItem::Kind::Filter) {
            const Result<BlockFilter> filter = filterFromText(from, item.conditions);
            if (!filter || (scrub.modules && filter->module)) { // not known here, or of a name that goes
                ++(filter ? cut.userDropped : cut.userOutside);
                continue;
            }
            item.conditions = conditionsIn(from, *cut.recording, *filter, copy, scrubber);
        } else if (item.kind == UserItem::Kind::Rules) {
            if (!keepsRules(scrub)) {
                ++cut.userDropped;
                continue;
            }
        } else if (item.isPlaced()) {
            const auto span = kept.find(item.device);
            if (span == kept.end() || item.first < span->second.first - 1 || item.last > span->second.last) {
                ++cut.userOutside;
                continue;
            }
            item.first -= span->second.first;
            item.last -= span->second.first;
        }
        const bool isListed = item.isListed();
        item.text = scrubber.text(item.text);
        cut.recording->user.set(std::move(item));
        cut.userKept += isListed ? 1 : 0;
    }
}

} // namespace

Cut cut(const Session& session, const CutOptions& options)
{
    const Recording& from = session.recording();
    Cut result;
    result.recording = std::make_unique<Recording>();
    Recording& to = *result.recording;
    Scrubber scrubber(from, options.scrub);
    Copier copy(from, to, scrubber);
    to.format = from.format;
    to.simulated = from.simulated;
    to.host = from.host;
    to.truncation = from.truncation;
    to.unknownKeys = from.unknownKeys;
    to.unknownActions = from.unknownActions;
    to.cuts = from.cuts;
    if (from.refusal)
        to.refusal = scrubber.text(*from.refusal);

    if (options.tables)
        *options.tables = copy.keepTables();
    bool whole = true;
    std::map<int, EventSpan> kept;
    for (const DeviceTrace& trace : session.devices()) {
        const auto chosen = options.spans.find(trace.device());
        if (chosen == options.spans.end()) {
            whole = false;
            continue;
        }
        const EventIndex last = trace.eventCount() - 1;
        const EventSpan span{ std::max<EventIndex>(chosen->second.first, 0),
            std::min(chosen->second.last, last) };
        kept[trace.device()] = span;
        DeviceRecording& device = to.devices.emplace_back();
        device.device = trace.device();
        copyEvents(
            trace.events(), span, device.events, copy, !options.scrub.metadata, !options.scrub.modules);
        device.base = span.first > 0 ? stateAt(trace, span.first - 1, copy)
                                     : copy.state(recordedBase(from, trace.device()));
        const bool asRecorded = span.last == last && (trace.totals().endKnown || !options.endFromTrace);
        AllocatorState end = asRecorded ? copy.state({ trace.finalSegments(), trace.finalBlocks() })
                                        : stateAt(trace, span.last, copy);
        device.finalSegments = std::move(end.segments);
        device.finalBlocks = std::move(end.blocks);
        if (span.first > 0 || span.last < last) {
            CutOff& off = to.cuts[device.device];
            off.before += span.first;
            off.after += last - span.last;
            whole = false;
        }
        if (options.scrub.metadata)
            for (std::size_t i = 0; i < trace.events().userMetadata.size() + trace.events().extras.size();
                 ++i)
                scrubber.countMetadata();
    }

    if (options.scrub.modules)
        scrubber.countModules(countModuleNames(from));
    const KeptRows rows{ std::move(kept), whole ? std::nullopt : std::optional(timeSpanOf(to)),
        [&](StringId text) { return copy.text(text); },
        [&](const Setting& setting) { return scrubber.setting(setting); }, !options.scrub.notes,
        !options.scrub.modules, !options.scrub.calls };
    for (const ChunkKind* const kind : chunkKinds())
        if (kind->keep != nullptr)
            kind->keep(from, rows, to);
    for (const auto& [key, value] : from.facts)
        if (scrubber.keepsFact(key))
            to.facts.emplace(key, scrubber.text(value));
    copyUserData(from, result, rows.spans, options.scrub, copy, scrubber);
    result.scrubbed = scrubber.counts();
    return result;
}

} // namespace strata::model
