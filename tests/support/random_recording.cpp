// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/random_recording.h"

#include "tests/support/make_recording.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace strata::test {

using namespace model;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct Row {
    Action action = Action::Alloc;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t timeNs = 0;
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex;
};

/// The blocks of one device, free ones included, in segments that are maximal runs of mapped memory.
class Allocator {
public:
    Allocator(Recording& recording, const RandomTrace& options, int device)
        : m_recording(recording)
        , m_options(options)
        , m_random(options.seed * 7919u + static_cast<std::uint32_t>(device))
    {
        for (int i = 0; i < options.streams; ++i)
            m_streams.push_back(recording.internStream(i == 0 ? 0 : 0x7f00'0000 + i * 0x10));
        for (int i = 0; i < std::max(1, options.stacks); ++i)
            m_stacks.push_back(makeStack(recording, stackText(i)));
    }

    DeviceRecording run(int device);

private:
    /// Where memory is shared: blocks of two arenas never mix.
    struct Arena {
        StreamIndex stream = 0;
        bool isPrivate = false;
        bool small = true;
        friend auto operator<=>(const Arena&, const Arena&) = default;
    };
    struct Block {
        std::int64_t bytes = 0;
        std::int64_t requested = 0;
        BlockState state = BlockState::Inactive;
        Arena arena;
        StackId stack;
    };
    struct Segment {
        std::int64_t bytes = 0;
        Arena arena;
    };
    using Blocks = std::map<std::uint64_t, Block>;

    static std::string stackText(int i);
    std::int64_t pick(std::int64_t low, std::int64_t high)
    {
        return std::uniform_int_distribution(low, high)(m_random);
    }
    bool chance(double share)
    {
        return share > 0 && std::uniform_real_distribution(0.0, 1.0)(m_random) < share;
    }
    std::int64_t pickSize();
    void emit(Action action, std::uint64_t address, std::int64_t bytes, const Arena& arena, StackId stack);

    void allocate();
    void requestFree();
    void completeFree(std::size_t pending);
    void releaseCached();
    Blocks::iterator findFree(const Arena& arena, std::int64_t bytes);
    Blocks::iterator grow(const Arena& arena, std::int64_t bytes);
    Blocks::iterator merge(Blocks::iterator block);
    void setFree(Blocks::iterator block);
    void setUsed(Blocks::iterator block);
    PoolIndex poolOf(const Arena& arena, bool withKind);

    void damage();
    DeviceRecording write(int device);

    Recording& m_recording;
    RandomTrace m_options;
    std::mt19937 m_random;
    std::vector<StreamIndex> m_streams;
    std::vector<StackId> m_stacks;
    Blocks m_blocks;
    std::set<std::tuple<Arena, std::int64_t, std::uint64_t>> m_free;
    std::map<std::uint64_t, Segment> m_segments; // not used with expandable segments
    std::map<Arena, std::uint64_t> m_regions; // base of each arena's expandable region
    std::vector<std::uint64_t> m_live, m_pending;
    std::vector<Row> m_rows;
    std::uint64_t m_nextSegment = 0x7f00'0000'0000;
    std::int64_t m_timeNs = 1'700'000'000'000'000'000;
    bool m_recordingOn = false;
};

std::string Allocator::stackText(int i)
{
    const std::string n = std::to_string(i);
    std::string text = "empty@??:0|forward" + n + "@/home/u/model.py:" + std::to_string(10 + i);
    if (i % 3 == 0)
        text += "|_call_impl@/usr/lib/python3.11/site-packages/torch/nn/modules/module.py:1751";
    return text + "|main@/home/u/train.py:" + std::to_string(5 + i % 4);
}

std::int64_t Allocator::pickSize()
{
    const std::int64_t kind = pick(0, 99);
    if (kind < 50)
        return pick(1, 4096);
    if (kind < 80)
        return pick(4096, kMiB);
    return kind < 97 ? pick(kMiB, 10 * kMiB) : pick(10 * kMiB, 64 * kMiB);
}

void Allocator::emit(
    Action action, std::uint64_t address, std::int64_t bytes, const Arena& arena, StackId stack)
{
    m_timeNs += pick(0, 20) * 1000;
    if (m_recordingOn)
        m_rows.push_back({ action, address, bytes, m_timeNs, stack, arena.stream,
            m_options.privatePools > 0 ? poolOf(arena, false) : kNoIndex });
}

PoolIndex Allocator::poolOf(const Arena& arena, bool withKind)
{
    const SegmentKind kind = !withKind ? SegmentKind::Unknown
        : arena.small                  ? SegmentKind::Small
                                       : SegmentKind::Large;
    return m_recording.internPool({ 0, arena.isPrivate ? 1 : 0, kind });
}

void Allocator::setFree(Blocks::iterator block)
{
    block->second.state = BlockState::Inactive;
    block->second.requested = 0;
    m_free.insert({ block->second.arena, block->second.bytes, block->first });
}

void Allocator::setUsed(Blocks::iterator block)
{
    m_free.erase({ block->second.arena, block->second.bytes, block->first });
}

Allocator::Blocks::iterator Allocator::findFree(const Arena& arena, std::int64_t bytes)
{
    const auto found = m_free.lower_bound({ arena, bytes, 0 });
    if (found == m_free.end() || std::get<0>(*found) != arena)
        return m_blocks.end();
    return m_blocks.find(std::get<2>(*found));
}

/// Joins a free block with free neighbours in its segment; the result is in the free list.
Allocator::Blocks::iterator Allocator::merge(Blocks::iterator block)
{
    const auto joins = [&](Blocks::iterator low, Blocks::iterator high) {
        const std::uint64_t end = low->first + static_cast<std::uint64_t>(low->second.bytes);
        return low->second.arena == high->second.arena && high->second.state == BlockState::Inactive
            && low->second.state == BlockState::Inactive && end == high->first
            && !m_segments.contains(high->first);
    };
    if (const auto next = std::next(block); next != m_blocks.end() && joins(block, next)) {
        setUsed(next);
        block->second.bytes += next->second.bytes;
        m_blocks.erase(next);
    }
    if (block != m_blocks.begin() && joins(std::prev(block), block)) {
        const auto previous = std::prev(block);
        setUsed(previous);
        previous->second.bytes += block->second.bytes;
        m_blocks.erase(block);
        block = previous;
    }
    setFree(block);
    return block;
}

Allocator::Blocks::iterator Allocator::grow(const Arena& arena, std::int64_t bytes)
{
    const std::int64_t page = arena.small ? 2 * kMiB : 20 * kMiB;
    Block block{ .arena = arena };
    std::uint64_t at = 0;
    if (m_options.expandable) {
        block.bytes = (bytes + page - 1) / page * page;
        at = m_regions.try_emplace(arena, 0x7000'0000'0000 + m_regions.size() * (std::uint64_t{ 1 } << 42))
                 .first->second;
        // The first hole of the region that is large enough.
        for (auto b = m_blocks.lower_bound(at); b != m_blocks.end() && b->second.arena == arena; ++b) {
            if (b->first - at >= static_cast<std::uint64_t>(block.bytes))
                break;
            at = b->first + static_cast<std::uint64_t>(b->second.bytes);
        }
        emit(Action::SegmentMap, at, block.bytes, arena, {});
    } else {
        block.bytes = arena.small ? 2 * kMiB
            : bytes < 10 * kMiB   ? 20 * kMiB
                                  : (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
        at = m_nextSegment;
        // Neighbours touch now and then, and must not be mistaken for one.
        m_nextSegment += static_cast<std::uint64_t>(block.bytes)
            + static_cast<std::uint64_t>(chance(0.5) ? 0 : 2 * kMiB);
        m_segments[at] = { block.bytes, arena };
        emit(Action::SegmentAlloc, at, block.bytes, arena,
            m_stacks[static_cast<std::size_t>(pick(0, 1)) % m_stacks.size()]);
    }
    return merge(m_blocks.emplace(at, block).first);
}

void Allocator::allocate()
{
    const std::int64_t requested = pickSize();
    const std::int64_t bytes = (requested + 511) / 512 * 512;
    const Arena arena{ m_streams[static_cast<std::size_t>(pick(0, m_options.streams - 1))],
        chance(m_options.privatePools), bytes <= kMiB };
    const StackId stack
        = m_stacks[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(m_stacks.size()) - 1))];
    if (chance(m_options.outOfMemory)) {
        emit(Action::Oom, static_cast<std::uint64_t>(pick(0, 512) * kMiB), bytes, arena, stack);
        return;
    }
    auto block = findFree(arena, bytes);
    if (block == m_blocks.end())
        block = grow(arena, bytes);
    setUsed(block);
    const std::int64_t rest = block->second.bytes - bytes;
    if (rest > (arena.small ? 511 : kMiB)) {
        block->second.bytes = bytes;
        Block tail{ .bytes = rest, .arena = arena };
        setFree(m_blocks.emplace(block->first + static_cast<std::uint64_t>(bytes), tail).first);
    }
    block->second.state = BlockState::Allocated;
    block->second.requested = requested;
    block->second.stack = m_recordingOn || chance(0.5) ? stack : StackId{};
    m_live.push_back(block->first);
    emit(Action::Alloc, block->first, requested, arena, stack);
}

void Allocator::requestFree()
{
    // Mostly the young, as tensors are.
    const auto count = static_cast<std::int64_t>(m_live.size());
    const auto i
        = static_cast<std::size_t>(chance(0.7) ? pick(count - 1 - count / 4, count - 1) : pick(0, count - 1));
    const std::uint64_t address = m_live[i];
    m_live.erase(m_live.begin() + static_cast<std::ptrdiff_t>(i));
    Block& block = m_blocks.at(address);
    block.state = BlockState::PendingFree;
    emit(Action::FreeRequested, address, block.requested, block.arena, block.stack);
    m_pending.push_back(address);
    if (!chance(m_options.deferredFrees))
        completeFree(m_pending.size() - 1);
}

void Allocator::completeFree(std::size_t pending)
{
    const std::uint64_t address = m_pending[pending];
    m_pending.erase(m_pending.begin() + static_cast<std::ptrdiff_t>(pending));
    const auto block = m_blocks.find(address);
    emit(Action::FreeCompleted, address, block->second.requested, block->second.arena, block->second.stack);
    block->second.state = BlockState::Inactive;
    merge(block);
}

/// Gives back what is wholly free: segments, or whole pages of expandable ones.
void Allocator::releaseCached()
{
    for (auto block = m_blocks.begin(); block != m_blocks.end();) {
        const auto [address, b] = *block;
        const auto next = std::next(block);
        const auto segment = m_segments.find(address);
        if (b.state != BlockState::Inactive) {
            block = next;
        } else if (segment != m_segments.end() && segment->second.bytes == b.bytes) {
            emit(Action::SegmentFree, address, b.bytes, b.arena, {});
            setUsed(block);
            m_segments.erase(segment);
            block = m_blocks.erase(block);
        } else if (m_options.expandable) {
            const auto page = static_cast<std::uint64_t>(b.arena.small ? 2 * kMiB : 20 * kMiB);
            const std::uint64_t base = m_regions.at(b.arena);
            const std::uint64_t end = address + static_cast<std::uint64_t>(b.bytes);
            const std::uint64_t first = base + (address - base + page - 1) / page * page;
            const std::uint64_t last = base + (end - base) / page * page;
            if (first < last) {
                emit(Action::SegmentUnmap, first, static_cast<std::int64_t>(last - first), b.arena, {});
                setUsed(block);
                m_blocks.erase(block);
                for (const auto& [from, to] : { std::pair{ address, first }, std::pair{ last, end } })
                    if (from < to)
                        setFree(
                            m_blocks
                                .emplace(from,
                                    Block{ .bytes = static_cast<std::int64_t>(to - from), .arena = b.arena })
                                .first);
            }
            block = m_blocks.lower_bound(end);
        } else {
            block = next;
        }
    }
}

/// Makes some events wrong, as a faulty or cut recording would have them.
void Allocator::damage()
{
    std::vector<Row> rows;
    for (Row row : m_rows) {
        if (!chance(m_options.anomalies)) {
            rows.push_back(row);
            continue;
        }
        switch (pick(0, 5)) {
        case 0: // lost
            break;
        case 1:
            rows.push_back(row);
            rows.push_back(row);
            break;
        case 2:
            row.address += static_cast<std::uint64_t>(pick(-2, 2) * 512);
            rows.push_back(row);
            break;
        case 3:
            row.bytes = pick(0, 1) == 0 ? row.bytes / 2 : row.bytes * 3;
            rows.push_back(row);
            break;
        case 4:
            row.timeNs -= 5'000'000;
            rows.push_back(row);
            break;
        default:
            if (rows.empty())
                rows.push_back(row);
            else
                rows.insert(rows.end() - 1, row);
        }
    }
    m_rows = std::move(rows);
}

DeviceRecording Allocator::write(int device)
{
    DeviceRecording out;
    out.device = device;
    for (const Row& row : m_rows) {
        out.events.action.push_back(row.action);
        out.events.address.push_back(row.address);
        out.events.bytes.push_back(row.bytes);
        if (m_options.times)
            out.events.timeNs.push_back(row.timeNs);
        out.events.stack.push_back(row.stack);
        out.events.stream.push_back(row.stream);
        out.events.pool.push_back(row.pool);
    }
    std::uint64_t end = 0;
    const Arena* previous = nullptr;
    for (const auto& [address, b] : m_blocks) {
        const bool opens = m_options.expandable
            ? previous == nullptr || address != end || *previous != b.arena
            : m_segments.contains(address);
        previous = &b.arena;
        if (opens) {
            FinalSegment s{ .address = address, .allocatedBytes = 0, .activeBytes = 0, .requestedBytes = 0 };
            s.firstBlock = static_cast<std::uint32_t>(out.finalBlocks.size());
            s.stream = b.arena.stream;
            s.pool = poolOf(b.arena, true);
            s.expandable = m_options.expandable;
            out.finalSegments.edit().push_back(s);
        }
        FinalSegment& s = out.finalSegments.edit().back();
        const bool active = b.state != BlockState::Inactive;
        s.bytes += b.bytes;
        s.allocatedBytes += b.state == BlockState::Allocated ? b.bytes : 0;
        s.activeBytes += active ? b.bytes : 0;
        s.requestedBytes += active ? b.requested : 0;
        ++s.blockCount;
        out.finalBlocks.edit().push_back(
            { address, b.bytes, b.requested, active ? b.stack : StackId{}, b.state });
        end = address + static_cast<std::uint64_t>(b.bytes);
    }
    return out;
}

DeviceRecording Allocator::run(int device)
{
    const auto warmUp
        = static_cast<std::int64_t>(m_options.before * static_cast<double>(m_options.events)) / 3;
    for (std::int64_t step = 0; static_cast<std::int64_t>(m_rows.size()) < m_options.events; ++step) {
        m_recordingOn = step >= warmUp;
        const auto live = static_cast<int>(m_live.size());
        if (!m_pending.empty() && chance(0.2))
            completeFree(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(m_pending.size()) - 1)));
        else if (chance(0.002))
            releaseCached();
        else if (live > 0 && pick(0, 2 * m_options.liveBlocks) < live)
            requestFree();
        else
            allocate();
    }
    if (m_options.anomalies > 0)
        damage();
    return write(device);
}

} // namespace

std::unique_ptr<Recording> randomRecording(const RandomTrace& options)
{
    auto recording = std::make_unique<Recording>();
    recording->format = "test";
    for (int device = 0; device < options.devices; ++device)
        recording->devices.push_back(Allocator(*recording, options, device).run(device));
    return recording;
}

} // namespace strata::test
