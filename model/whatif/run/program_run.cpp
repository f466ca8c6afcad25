// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/program_run.h"

#include "model/base/wrap.h"
#include "model/replay/event_pools.h"
#include "model/whatif/run/start_segments.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace strata::model {

namespace {

bool isOfBlock(Action action)
{
    return action == Action::Alloc || action == Action::FreeRequested || action == Action::FreeCompleted;
}

/// Puts what was there before into a run. Of each round blocks that stay are blocks of their own, since the
/// next one requests them anew.
class StartMaker {
public:
    StartMaker(const DeviceTrace& trace, const ProgramRun& run)
        : m_trace(trace)
        , m_run(run)
        , m_made(run)
        , m_older(trace.blocks().olderCount(), ProgramRun::Ask::kNoBlock)
        , m_own(trace.blocks().olderCount())
    {
        findSuccessors();
        findStates();
        m_made.asks.clear();
        m_made.before.reset();
        m_made.reordered = true;
        const std::vector<std::int64_t>& bytes = run.before->bytes;
        for (std::size_t row = 0; row < std::max(bytes.size(), m_older.size()); ++row) {
            const bool isRecorded = row < m_older.size();
            const std::int64_t requested
                = row < bytes.size() ? bytes[row] : trace.blocks().requestedBytes[BlockId::older(row)];
            if (isRecorded)
                m_own[row] = static_cast<std::uint32_t>(m_made.blocks.size());
            m_made.blocks.push_back({ .bytes = requested,
                .like = 0,
                .older = isRecorded ? static_cast<std::uint32_t>(row) + 1 : 0 });
        }
        if (run.before->rounds == StartBefore::kSegments) {
            layOut();
            return;
        }
        // What stays to the end is likely the model, which was there first. The rest a round leaves.
        for (std::uint32_t row = 0; row < m_made.blocks.size() - run.blocks.size(); ++row)
            if (row >= m_own.size())
                ask(Action::Alloc, static_cast<std::uint32_t>(run.blocks.size() + row));
            else if (!m_frees[row] && !m_isState[row])
                begin(row);
        for (std::uint32_t row = 0; row < m_own.size() && run.before->rounds == 0; ++row)
            if (m_frees[row])
                begin(row);
    }

    void addRound()
    {
        const std::size_t statesAt = m_anyState ? placeOfStates() : m_run.asks.size();
        std::size_t at = 0;
        std::vector<std::uint32_t> copies(m_run.blocks.size(), ProgramRun::Ask::kNoBlock);
        for (const ProgramRun::Ask& one : m_run.asks) {
            if (at++ == statesAt)
                beginStates();
            if (!isOfBlock(one.action))
                continue;
            std::uint32_t block = one.block;
            if (block == ProgramRun::Ask::kNoBlock)
                block = olderAt(one);
            else if (m_stays[block]) {
                if (copies[block] == ProgramRun::Ask::kNoBlock) {
                    copies[block] = static_cast<std::uint32_t>(m_made.blocks.size());
                    m_made.blocks.push_back(m_run.blocks[block]);
                }
                block = copies[block];
            }
            if (block != ProgramRun::Ask::kNoBlock)
                ask(one.action, block);
        }
        if (m_anyState)
            beginStates();
        for (std::uint32_t block = 0; block < copies.size(); ++block)
            if (copies[block] != ProgramRun::Ask::kNoBlock && m_replaces[block] == kNothing)
                free(copies[block]);
        for (std::uint32_t row = 0; row < m_older.size(); ++row)
            if (m_frees[row]) {
                const std::uint32_t by = m_replacedBy[row];
                if (by != kNothing && copies[by] != ProgramRun::Ask::kNoBlock)
                    m_older[row] = copies[by];
                else
                    begin(row);
            }
    }

    [[nodiscard]] ProgramRun take()
    {
        for (ProgramRun::Ask one : m_run.asks) {
            if (one.block == ProgramRun::Ask::kNoBlock && isOfBlock(one.action))
                one.block = olderAt(one);
            if (one.block != ProgramRun::Ask::kNoBlock || !isOfBlock(one.action))
                m_made.asks.push_back(one);
        }
        return std::move(m_made);
    }

private:
    static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

    void ask(Action action, std::uint32_t block) { m_made.asks.push_back({ action, block, 0 }); }
    void free(std::uint32_t block)
    {
        ask(Action::FreeRequested, block);
        ask(Action::FreeCompleted, block);
    }

    void begin(std::uint32_t row)
    {
        m_older[row] = m_own[row];
        ask(Action::Alloc, m_own[row]);
    }

    /// A block that is requested now and freed once all is laid out.
    void fill(std::int64_t bytes, const ProgramRun::Block& like)
    {
        m_fillers.push_back(static_cast<std::uint32_t>(m_made.blocks.size()));
        m_made.blocks.push_back(like);
        m_made.blocks.back().bytes = bytes;
        ask(Action::Alloc, m_fillers.back());
    }

    /// The same where no block of a large segment may be as small.
    void fillGap(std::int64_t bytes, bool isSmall, const ProgramRun::Block& like)
    {
        constexpr std::int64_t kMostOfSmall = std::int64_t{ 1 } << 20; // kSmallSize
        if (!isSmall && bytes > kMostOfSmall)
            return fill(bytes, like);
        for (; isSmall && bytes > 0; bytes -= kMostOfSmall)
            fill(std::min(bytes, kMostOfSmall), like);
    }

    /// Segment by segment, each full once it is laid out, so that what follows finds room in its own alone.
    void layOut()
    {
        const auto likes = likesByPlace();
        std::size_t cached = 0;
        for (const StartSegment& segment : startSegmentsOf(m_trace)) {
            const SegmentLife& life = *segment.life;
            if (!segment.isCached()) {
                layOut(segment);
                continue;
            }
            const bool isSmall = segment.isSmall();
            const std::vector<std::int64_t>& sizes = m_run.before->cached;
            const std::int64_t bytes = isSmall || cached >= sizes.size() ? life.bytes : sizes[cached];
            cached += isSmall ? 0 : 1;
            const auto like = likes.find({ life.stream, poolOwnerOf(m_trace.recording(), life.pool) });
            if (like != likes.end())
                fillGap(bytes, isSmall, like->second);
        }
        for (std::uint32_t row = 0;
             row < m_made.blocks.size() - m_run.blocks.size() && row < m_run.before->bytes.size(); ++row)
            if (row >= m_own.size())
                ask(Action::Alloc, static_cast<std::uint32_t>(m_run.blocks.size() + row));
        for (std::uint32_t row = 0; row < m_own.size(); ++row)
            if (m_older[row] == ProgramRun::Ask::kNoBlock) // outside of the segments that are known
                begin(row);
        for (const std::uint32_t filler : m_fillers)
            free(filler);
    }

    void layOut(const StartSegment& segment)
    {
        constexpr std::int64_t kRound = 512, kLargeRound = std::int64_t{ 2 } << 20,
                               kLeastOfOne = std::int64_t{ 10 } << 20,
                               kLargeBuffer = std::int64_t{ 20 } << 20;
        const auto rounded = [](std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; };
        const BlockColumns& blocks = m_trace.blocks();
        const bool isSmall = segment.isSmall();
        const ProgramRun::Block like = m_made.blocks[m_own[segment.older.front()]];
        std::vector<std::pair<std::int64_t, std::uint32_t>> pieces; // gap, and the row behind it
        std::int64_t all = 0, more = 0;
        std::uint64_t at = segment.life->address;
        for (const std::uint32_t row : segment.older) {
            const std::uint64_t address = blocks.address[BlockId::older(row)];
            const std::int64_t recorded
                = rounded(std::max<std::int64_t>(blocks.requestedBytes[BlockId::older(row)], 1), kRound);
            const std::int64_t bytes
                = rounded(std::max<std::int64_t>(m_made.blocks[m_own[row]].bytes, 1), kRound);
            const std::int64_t gap = address > at ? static_cast<std::int64_t>(address - at) : 0;
            pieces.emplace_back(gap, row);
            all += gap + bytes;
            more += bytes - recorded;
            at = address + static_cast<std::uint64_t>(recorded);
        }
        std::int64_t size = segment.life->bytes;
        if (!isSmall && more != 0 && size == kLargeBuffer)
            size = std::max(size, rounded(all, kLargeRound));
        else if (!isSmall && more != 0)
            size = rounded(std::max(size + more, all), kLargeRound);
        if (!isSmall && size < kLeastOfOne)
            size = kLargeBuffer;
        if (!isSmall) { // the segment itself
            fill(size, like);
            free(m_fillers.back());
            m_fillers.pop_back();
        }
        std::int64_t left = size;
        for (const auto& [gap, row] : pieces) {
            fillGap(gap, isSmall, like);
            begin(row);
            left -= gap + rounded(std::max<std::int64_t>(m_made.blocks[m_own[row]].bytes, 1), kRound);
        }
        fillGap(left, isSmall, like);
    }

    /// A block of each stream and pool that anything has.
    [[nodiscard]] std::map<std::pair<StreamIndex, PoolOwner>, ProgramRun::Block> likesByPlace() const
    {
        std::map<std::pair<StreamIndex, PoolOwner>, ProgramRun::Block> likes;
        const BlockColumns& blocks = m_trace.blocks();
        for (std::uint32_t row = 0; row < m_own.size(); ++row) {
            const BlockId block = BlockId::older(row);
            likes.try_emplace({ blocks.stream[block], poolOwnerOf(m_trace.recording(), blocks.pool[block]) },
                ProgramRun::Block{ .bytes = 0, .like = 0, .older = row + 1 });
        }
        const EventPools pools(m_trace);
        for (const ProgramRun::Block& block : m_run.blocks)
            if (block.like >= 0 && block.newStream == 0)
                likes.try_emplace({ m_trace.events().stream[static_cast<std::size_t>(block.like)],
                                      pools.at(static_cast<std::size_t>(block.like)) },
                    ProgramRun::Block{ .bytes = 0, .like = block.like });
        return likes;
    }

    void beginStates()
    {
        for (std::uint32_t row = 0; row < m_own.size(); ++row)
            if (m_isState[row])
                begin(row);
        m_anyState = false;
    }

    /// Of each size of blocks that stay, all but the first share: parameters were there first.
    void findStates()
    {
        m_isState.resize(m_own.size());
        const int copies = m_run.before->copies;
        if (copies < 2 || m_run.before->rounds < 1)
            return;
        std::map<std::int64_t, std::vector<std::uint32_t>> bySize;
        for (std::uint32_t row = 0; row < m_own.size(); ++row)
            if (!m_frees[row])
                bySize[m_trace.blocks().requestedBytes[BlockId::older(row)]].push_back(row);
        for (auto& [size, rows] : bySize) {
            std::ranges::stable_sort(
                rows, {}, [&](std::uint32_t row) { return m_trace.blocks().address[BlockId::older(row)]; });
            const std::size_t first = rows.size() / static_cast<std::size_t>(copies);
            for (std::size_t i
                 = first > 0 ? rows.size() - first * (static_cast<std::size_t>(copies) - 1) : rows.size();
                 i < rows.size(); ++i)
                m_isState[rows[i]] = m_anyState = true;
        }
    }

    /// The ask before which an optimizer makes its states: its first, or behind the last request the first
    /// free of a block that is as large as one of them.
    [[nodiscard]] std::size_t placeOfStates() const
    {
        const std::vector<ProgramRun::Ask>& asks = m_run.asks;
        if (m_run.before->optimizerEvent >= 0)
            return static_cast<std::size_t>(
                std::ranges::lower_bound(asks, m_run.before->optimizerEvent, {}, &ProgramRun::Ask::like)
                - asks.begin());
        std::size_t at = asks.size();
        while (at > 0 && asks[at - 1].action != Action::Alloc)
            --at;
        const auto isOfState = [&](const ProgramRun::Ask& one) {
            if (one.block == ProgramRun::Ask::kNoBlock || !isOfBlock(one.action))
                return false;
            for (std::uint32_t row = 0; row < m_own.size(); ++row)
                if (m_isState[row] && m_made.blocks[m_own[row]].bytes == m_run.blocks[one.block].bytes)
                    return true;
            return false;
        };
        while (at < asks.size() && !isOfState(asks[at]))
            ++at;
        return std::min(at, asks.size() - 1);
    }

    /// The block that stands for the older one of that ask; none: it is not there yet.
    [[nodiscard]] std::uint32_t olderAt(const ProgramRun::Ask& ask) const
    {
        const BlockId block = m_trace.events().block[static_cast<std::size_t>(ask.like)];
        return m_trace.blocks().contains(block) && block.isOlder() ? m_older[block.row()]
                                                                   : ProgramRun::Ask::kNoBlock;
    }

    /// Which block that a round leaves takes the place of which older one that the round frees.
    void findSuccessors()
    {
        const BlockColumns& blocks = m_trace.blocks();
        m_stays.resize(m_run.blocks.size());
        m_replaces.assign(m_run.blocks.size(), kNothing);
        m_frees.resize(m_older.size());
        m_replacedBy.assign(m_older.size(), kNothing);
        std::multimap<std::int64_t, std::uint32_t> freed; // by recorded size
        for (std::uint32_t row = 0; row < m_older.size(); ++row)
            if (const BlockId block = BlockId::older(row); blocks.death(block) != BlockColumns::kNever) {
                m_frees[row] = true;
                freed.emplace(blocks.requestedBytes[block], row);
            }
        for (std::uint32_t row = 0; row < std::min(m_run.blocks.size(), blocks.bornCount()); ++row) {
            const BlockId block = BlockId::born(row);
            m_stays[row] = blocks.death(block) == BlockColumns::kNever;
            const auto like = m_stays[row] ? freed.find(blocks.requestedBytes[block]) : freed.end();
            if (like == freed.end())
                continue;
            m_replaces[row] = like->second;
            m_replacedBy[like->second] = row;
            freed.erase(like);
        }
    }

    const DeviceTrace& m_trace;
    const ProgramRun& m_run;
    ProgramRun m_made;
    std::vector<std::uint32_t> m_older, m_own; // by row: the block of the run that stands for it, and its own
    std::vector<bool> m_isState; // by older row
    bool m_anyState = false; // that are not there yet
    std::vector<std::uint32_t> m_fillers; // that are held while segments are laid out
    std::vector<bool> m_stays, m_frees; // by block; by older row
    std::vector<std::uint32_t> m_replaces, m_replacedBy; // by block an older row; by older row a block
};

} // namespace

ProgramRun programRunOf(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    ProgramRun run;
    run.blocks.resize(trace.blocks().bornCount());
    run.asks.reserve(events.action.size());
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        ProgramRun::Ask ask{ events.action[row], ProgramRun::Ask::kNoBlock, static_cast<EventIndex>(row) };
        const BlockId block = events.block[row];
        if (isOfBlock(ask.action) && trace.blocks().contains(block) && !block.isOlder()) {
            ask.block = static_cast<std::uint32_t>(block.row());
            if (ask.action == Action::Alloc)
                run.blocks[block.row()] = { .bytes = events.bytes[row], .like = ask.like };
        }
        run.asks.push_back(ask);
    }
    return run;
}

ProgramRun withStart(const DeviceTrace& trace, const ProgramRun& run)
{
    StartMaker made(trace, run);
    for (int round = 0; run.before && round < run.before->rounds; ++round)
        made.addRound();
    return made.take();
}

std::int64_t requestedAtStart(const DeviceTrace& trace, const ProgramRun& run)
{
    std::int64_t bytes = trace.totals().requestedBytesStart;
    if (!run.before)
        return bytes;
    for (std::size_t row = 0; row < trace.blocks().olderCount(); ++row) {
        const BlockId block = BlockId::older(row);
        bytes
            = wrapAdd(bytes, wrapSub(olderBytesOf(trace, run, block), trace.blocks().requestedBytes[block]));
    }
    for (std::size_t row = trace.blocks().olderCount(); row < run.before->bytes.size(); ++row)
        bytes = wrapAdd(bytes, run.before->bytes[row]);
    return bytes;
}

std::int64_t requestedPeak(const DeviceTrace& trace, const ProgramRun& run)
{
    std::int64_t requested = requestedAtStart(trace, run), most = requested;
    followRequested(
        trace, run, [](const ProgramRun::Ask&) {},
        [&](std::uint32_t, std::int64_t bytes) {
            requested = wrapAdd(requested, bytes);
            if (bytes > 0)
                most = std::max(most, requested);
        });
    return most;
}

} // namespace strata::model
