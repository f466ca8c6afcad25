// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/run_start.h"

#include "model/replay/allocator_actions.h"
#include "model/replay/allocator_settings.h"
#include "model/replay/event_pools.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/start_segments.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace strata::model {

namespace {

/// The run as it is made: blocks from before recording are blocks of its own, which somebody has to request.
class StartedRun {
public:
    static constexpr std::uint32_t kNoBlock = ProgramRun::Ask::kNoBlock;

    StartedRun(const DeviceTrace& trace, const ProgramRun& run)
        : m_trace(trace)
        , m_run(run)
        , m_made{ .blocks = run.blocks,
            .asks = {},
            .unasked = run.unasked,
            .reordered = true,
            .optimizers = run.optimizers,
            .before = {} }
        , m_older(trace.blocks().olderCount())
        , m_standsFor(m_older.size(), kNoBlock)
    {
        for (std::uint32_t row = 0; row < m_older.size(); ++row)
            m_older[row] = add(
                { .bytes = olderBytesOf(trace, run, BlockId::older(row)), .like = 0, .older = row + 1 });
        const std::vector<std::int64_t>& bytes = run.before->bytes;
        for (std::size_t row = m_older.size(); row < bytes.size(); ++row)
            m_further.push_back(add({ .bytes = bytes[row], .like = 0 }));
    }

    [[nodiscard]] std::uint32_t olderCount() const { return static_cast<std::uint32_t>(m_older.size()); }
    [[nodiscard]] const ProgramRun::Block& older(std::uint32_t row) const
    {
        return m_made.blocks[m_older[row]];
    }

    std::uint32_t add(const ProgramRun::Block& block)
    {
        m_made.blocks.push_back(block);
        return static_cast<std::uint32_t>(m_made.blocks.size() - 1);
    }
    void ask(Action action, std::uint32_t block) { m_made.asks.push_back({ action, block, 0 }); }
    void request(std::uint32_t block) { ask(Action::Alloc, block); }
    void free(std::uint32_t block)
    {
        ask(Action::FreeRequested, block);
        ask(Action::FreeCompleted, block);
    }

    void requestOlder(std::uint32_t row)
    {
        standFor(row, m_older[row]);
        request(m_older[row]);
    }
    void standFor(std::uint32_t row, std::uint32_t block) { m_standsFor[row] = block; }
    [[nodiscard]] bool isThere(std::uint32_t row) const { return m_standsFor[row] != kNoBlock; }

    /// Those that other recordings have beside the blocks from before recording of this one.
    void requestFurther()
    {
        for (const std::uint32_t block : m_further)
            request(block);
    }

    /// The block that stands for the older one of a recorded ask; none: it is not there yet.
    [[nodiscard]] std::uint32_t olderAt(const ProgramRun::Ask& ask) const
    {
        const BlockId block = m_trace.events().block[static_cast<std::size_t>(ask.like)];
        return m_trace.blocks().contains(block) && block.isOlder() ? m_standsFor[block.row()] : kNoBlock;
    }

    /// With what was recorded behind it.
    [[nodiscard]] ProgramRun take()
    {
        for (ProgramRun::Ask one : m_run.asks) {
            if (one.block == kNoBlock && isOfBlock(one.action))
                one.block = olderAt(one);
            if (one.block != kNoBlock || !isOfBlock(one.action))
                m_made.asks.push_back(one);
        }
        return std::move(m_made);
    }

private:
    const DeviceTrace& m_trace;
    const ProgramRun& m_run;
    ProgramRun m_made;
    std::vector<std::uint32_t> m_older; // by row: its own block
    std::vector<std::uint32_t> m_standsFor; // by row: the block that stands for it now; kNoBlock: none yet
    std::vector<std::uint32_t> m_further;
};

/// Requests the model, then lets the recorded events happen so many times. Blocks that stay beyond a round
/// are blocks of that round, since the next one requests them anew.
class StartByRounds {
public:
    StartByRounds(const DeviceTrace& trace, const ProgramRun& run, StartedRun& made)
        : m_trace(trace)
        , m_run(run)
        , m_history(run.before->history)
        , m_made(made)
        , m_isState(made.olderCount())
        , m_stays(run.blocks.size())
        , m_replaces(run.blocks.size())
        , m_frees(made.olderCount())
        , m_replacedBy(made.olderCount(), kNoBlock)
    {
        findSuccessors();
        if (m_history.blocksPerParameter > 1 && m_history.rounds > 0)
            findStates();
    }

    void make()
    {
        // What stays to the end is likely the model, which was there first. The other blocks a round leaves.
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (!m_frees[row] && !m_isState[row])
                m_made.requestOlder(row);
        m_made.requestFurther();
        for (std::uint32_t row = 0; row < m_made.olderCount() && m_history.rounds == 0; ++row)
            if (m_frees[row])
                m_made.requestOlder(row);
        for (int round = 0; round < m_history.rounds; ++round)
            addRound();
    }

private:
    static constexpr std::uint32_t kNoBlock = StartedRun::kNoBlock;

    void addRound()
    {
        const std::size_t statesAt = m_lacksStates ? placeOfStates() : m_run.asks.size();
        std::vector<std::uint32_t> copies(m_run.blocks.size(), kNoBlock);
        for (std::size_t at = 0; at < m_run.asks.size(); ++at) {
            const ProgramRun::Ask& one = m_run.asks[at];
            if (at == statesAt)
                makeStates();
            if (!isOfBlock(one.action))
                continue;
            std::uint32_t block = one.block;
            if (block == kNoBlock)
                block = m_made.olderAt(one);
            else if (m_stays[block]) {
                if (copies[block] == kNoBlock)
                    copies[block] = m_made.add(m_run.blocks[block]);
                block = copies[block];
            }
            if (block != kNoBlock)
                m_made.ask(one.action, block);
        }
        if (m_lacksStates)
            makeStates();
        for (std::uint32_t block = 0; block < copies.size(); ++block)
            if (copies[block] != kNoBlock && !m_replaces[block])
                m_made.free(copies[block]);
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (m_frees[row]) {
                const std::uint32_t by = m_replacedBy[row];
                if (by != kNoBlock && copies[by] != kNoBlock)
                    m_made.standFor(row, copies[by]);
                else
                    m_made.requestOlder(row);
            }
    }

    void makeStates()
    {
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (m_isState[row])
                m_made.requestOlder(row);
        m_lacksStates = false;
    }

    /// Of each size of blocks that stay, all but the first share: parameters were there first.
    void findStates()
    {
        const BlockColumns& blocks = m_trace.blocks();
        const auto share = static_cast<std::size_t>(m_history.blocksPerParameter);
        std::map<std::int64_t, std::vector<std::uint32_t>> bySize;
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (!m_frees[row])
                bySize[blocks.requestedBytes[BlockId::older(row)]].push_back(row);
        for (auto& [size, rows] : bySize) {
            std::ranges::stable_sort(
                rows, {}, [&](std::uint32_t row) { return blocks.address[BlockId::older(row)]; });
            for (std::size_t i = rows.size() - rows.size() / share * (share - 1); i < rows.size(); ++i)
                m_isState[rows[i]] = m_lacksStates = true;
        }
    }

    /// The ask before which the optimizer makes its states: StartBefore::optimizerEvent.
    [[nodiscard]] std::size_t placeOfStates() const
    {
        const std::vector<ProgramRun::Ask>& asks = m_run.asks;
        if (const EventIndex event = m_run.before->optimizerEvent; event >= 0)
            return static_cast<std::size_t>(
                std::ranges::lower_bound(asks, event, {}, &ProgramRun::Ask::like) - asks.begin());
        std::set<std::int64_t> sizes;
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (m_isState[row])
                sizes.insert(m_made.older(row).bytes);
        std::size_t at = asks.size();
        while (at > 0 && asks[at - 1].action != Action::Alloc)
            --at;
        const auto isAsLarge = [&](const ProgramRun::Ask& one) {
            return one.block != kNoBlock && isOfBlock(one.action)
                && sizes.contains(m_run.blocks[one.block].bytes);
        };
        while (at < asks.size() && !isAsLarge(asks[at]))
            ++at;
        return std::min(at, asks.size() - 1);
    }

    /// Which block that a round leaves takes the place of which older one that the round frees.
    void findSuccessors()
    {
        const BlockColumns& blocks = m_trace.blocks();
        std::multimap<std::int64_t, std::uint32_t> freed; // by recorded size
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
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
            m_replaces[row] = true;
            m_replacedBy[like->second] = row;
            freed.erase(like);
        }
    }

    const DeviceTrace& m_trace;
    const ProgramRun& m_run;
    const StartHistory m_history;
    StartedRun& m_made;
    std::vector<bool> m_isState; // by older row
    bool m_lacksStates = false; // some are not there yet
    std::vector<bool> m_stays, m_replaces; // by block: to the end, an older one that the round frees
    std::vector<bool> m_frees; // by older row
    std::vector<std::uint32_t> m_replacedBy; // by older row: a block; kNoBlock: none
};

/// Lays out the segments that the recording begins with. Each is full once it is laid out, so that what
/// follows finds room in its own alone; what fills its gaps goes at the end.
class StartBySegments {
public:
    StartBySegments(const DeviceTrace& trace, const ProgramRun& run, StartedRun& made)
        : m_trace(trace)
        , m_run(run)
        , m_made(made)
    {
    }

    void make()
    {
        const auto likes = likesByPlace();
        const std::vector<std::int64_t>& sizes = m_run.before->cached;
        std::size_t cached = 0;
        for (const StartSegment& segment : startSegmentsOf(m_trace)) {
            const SegmentLife& life = *segment.life;
            if (!segment.isCached()) {
                layOut(segment);
                continue;
            }
            std::int64_t bytes = life.bytes;
            if (!segment.isSmall()) {
                bytes = cached < sizes.size() ? sizes[cached] : bytes;
                ++cached;
            }
            const auto like = likes.find({ life.stream, poolOwnerOf(m_trace.recording(), life.pool) });
            if (like != likes.end())
                fillGap(bytes, segment.isSmall(), like->second);
        }
        m_made.requestFurther();
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row)
            if (!m_made.isThere(row)) // outside of the segments that are known
                m_made.requestOlder(row);
        for (const std::uint32_t filler : m_fillers)
            m_made.free(filler);
    }

private:
    using Place = std::pair<StreamIndex, PoolOwner>;

    void layOut(const StartSegment& segment)
    {
        const SegmentLayout layout
            = layoutOf(m_trace, segment, m_run.before->settings,
                [&](std::uint32_t row) { return m_made.older(row).bytes; });
        const bool isSmall = segment.isSmall();
        const ProgramRun::Block like = m_made.older(segment.older.front());
        if (!isSmall) // one block as large as the segment makes it
            m_made.free(request(layout.bytes, like));
        for (std::size_t i = 0; i < segment.older.size(); ++i) {
            fillGap(layout.gaps[i], isSmall, like);
            m_made.requestOlder(segment.older[i]);
        }
        fillGap(layout.gaps.back(), isSmall, like);
    }

    std::uint32_t request(std::int64_t bytes, ProgramRun::Block like)
    {
        like.bytes = bytes;
        const std::uint32_t block = m_made.add(like);
        m_made.request(block);
        return block;
    }

    /// By one block in a large segment, where a block of the large pool can be as small; in a small segment
    /// by blocks that its pool can have.
    void fillGap(std::int64_t bytes, bool isSmall, const ProgramRun::Block& like)
    {
        constexpr std::int64_t kMostOfSmall = AllocatorSettings::kSmallSize;
        if (!isSmall && bytes > kMostOfSmall)
            m_fillers.push_back(request(bytes, like));
        for (; isSmall && bytes > 0; bytes -= kMostOfSmall)
            m_fillers.push_back(request(std::min(bytes, kMostOfSmall), like));
    }

    /// A block of each stream and pool that anything has.
    [[nodiscard]] std::map<Place, ProgramRun::Block> likesByPlace() const
    {
        std::map<Place, ProgramRun::Block> likes;
        const BlockColumns& blocks = m_trace.blocks();
        for (std::uint32_t row = 0; row < m_made.olderCount(); ++row) {
            const BlockId block = BlockId::older(row);
            likes.try_emplace({ blocks.stream[block], poolOwnerOf(m_trace.recording(), blocks.pool[block]) },
                m_made.older(row));
        }
        const EventPools pools(m_trace);
        for (const ProgramRun::Block& block : m_run.blocks)
            if (block.like >= 0 && block.newStream == 0) {
                const auto row = static_cast<std::size_t>(block.like);
                likes.try_emplace({ m_trace.events().stream[row], pools.at(row) }, block);
            }
        return likes;
    }

    const DeviceTrace& m_trace;
    const ProgramRun& m_run;
    StartedRun& m_made;
    std::vector<std::uint32_t> m_fillers; // blocks that fill gaps
};

} // namespace

ProgramRun withStart(const DeviceTrace& trace, const ProgramRun& run)
{
    StartedRun made(trace, run);
    if (run.before->history.keepsSegments)
        StartBySegments(trace, run, made).make();
    else
        StartByRounds(trace, run, made).make();
    return made.take();
}

} // namespace strata::model
