// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/retained_state.h"

#include "model/wire/chunk_writer.h"

#include <algorithm>
#include <iterator>

namespace strata::agent {

namespace {

constexpr std::int64_t kRounding = 512; // of the caching allocator: every block is a multiple of it
constexpr std::size_t kMostEarly = 2 * wire::kEventsAChunk;
constexpr std::size_t kRolesAChunk = 65'536;

std::uint64_t endOf(std::uint64_t address, std::int64_t bytes)
{
    return address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

/// Writes behind what is there.
class AppendingSink final : public wire::ChunkSink {
public:
    explicit AppendingSink(wire::Bytes& out)
        : m_out(out)
    {
    }
    bool write(std::span<const std::byte> chunk) override
    {
        m_out.insert(m_out.end(), chunk.begin(), chunk.end());
        return true;
    }
    std::string name() const override { return "memory"; }

private:
    wire::Bytes& m_out;
};

std::vector<wire::KeyValue> rows(const std::map<std::string, std::string>& items)
{
    return { items.begin(), items.end() };
}

void keepItems(const wire::Bytes& payload, std::map<std::string, std::string>& items)
{
    std::vector<wire::KeyValue> told;
    if (wire::decodeKeyValues(payload, told))
        for (auto& [key, value] : told)
            items[key] = std::move(value);
}

} // namespace

void RetainedState::take(std::shared_ptr<const wire::Bytes> chunk)
{
    using wire::ChunkType;
    wire::ChunkHead head;
    if (wire::readHead(*chunk, head) != wire::ChunkStatus::Ok)
        return;
    switch (head.type) {
    case ChunkType::Strings:
    case ChunkType::Frames:
    case ChunkType::Stacks:
    case ChunkType::Streams:
    case ChunkType::Pools:
        m_tables.push_back(std::move(chunk));
        return;
    default:
        break;
    }
    const std::span<const std::byte> bytes(*chunk);
    if (wire::unpack(head, bytes, bytes.subspan(wire::kHeadBytes), m_payload) != wire::ChunkStatus::Ok)
        return;
    switch (head.type) {
    case ChunkType::Info:
        return keepItems(m_payload, m_info);
    case ChunkType::Settings:
        return keepItems(m_payload, m_settings);
    case ChunkType::Events:
        return takeEvents(m_payload);
    case ChunkType::BaseState:
        return takeBase(m_payload);
    case ChunkType::Roles:
        return takeRoles(m_payload);
    case ChunkType::Lost:
        return takeLost(m_payload);
    default: // detail
        return;
    }
}

void RetainedState::takeEvents(const wire::Bytes& payload)
{
    if (!wire::decodeEvents(payload, m_chunk))
        return;
    Device& device = m_devices[m_chunk.device];
    for (const wire::EventRow& row : m_chunk.rows)
        device.apply(row);
    device.events += m_chunk.rows.size();
    if (!device.mayGetBase)
        return;
    device.early.insert(device.early.end(), m_chunk.rows.begin(), m_chunk.rows.end());
    if (device.early.size() > kMostEarly) {
        device.mayGetBase = false;
        device.early = {};
    }
}

void RetainedState::takeBase(const wire::Bytes& payload)
{
    wire::State state;
    if (!wire::decodeState(payload, state) || state.events != 0)
        return;
    Device& device = m_devices[state.device];
    if (!device.mayGetBase)
        return;
    device.mayGetBase = false;
    device.segments.clear();
    device.blocks.clear();
    device.begin(state);
    for (const wire::EventRow& row : std::exchange(device.early, {}))
        device.apply(row);
}

void RetainedState::takeRoles(const wire::Bytes& payload)
{
    std::vector<wire::RoleRow> told;
    if (!wire::decodeRoles(payload, told))
        return;
    for (const wire::RoleRow& row : told) {
        if (wire::isStep(row.kind))
            continue;
        const RoleKey key{ row.device, row.kind, row.name, row.part, row.optimizer };
        if (row.address == 0)
            m_roles.erase(key);
        else
            m_roles[key] = row;
    }
}

void RetainedState::takeLost(const wire::Bytes& payload)
{
    std::vector<wire::LostRow> told;
    if (wire::decodeLost(payload, told))
        for (const wire::LostRow& row : told)
            m_devices[row.device].lost += row.count;
}

void RetainedState::Device::apply(const wire::EventRow& row)
{
    using wire::EventAction;
    switch (row.action) {
    case EventAction::Alloc:
        blocks[row.address] = { std::max(kRounding, (row.bytes + kRounding - 1) / kRounding * kRounding),
            row.bytes, row.stack, false };
        return;
    case EventAction::FreeRequested:
        if (const auto found = blocks.find(row.address); found != blocks.end())
            found->second.pending = true;
        return;
    case EventAction::FreeCompleted:
        blocks.erase(row.address);
        return;
    case EventAction::SegmentAlloc:
    case EventAction::SegmentMap:
        return map(row);
    case EventAction::SegmentFree:
    case EventAction::SegmentUnmap:
        return unmap(row.address, endOf(row.address, row.bytes));
    default:
        return;
    }
}

void RetainedState::Device::map(const wire::EventRow& row)
{
    const std::uint64_t end = endOf(row.address, row.bytes);
    const bool expandable = row.action == wire::EventAction::SegmentMap;
    unmap(row.address, end); // something was lost
    segments[row.address] = { end, row.stack, row.stream, row.pool, expandable };
}

void RetainedState::Device::unmap(std::uint64_t begin, std::uint64_t end)
{
    auto range = segments.upper_bound(begin);
    if (range != segments.begin() && std::prev(range)->second.end > begin)
        --range;
    while (range != segments.end() && range->first < end) {
        const auto [first, segment] = *range;
        range = segments.erase(range);
        if (first < begin) {
            segments[first] = segment;
            segments[first].end = begin;
        }
        if (segment.end > end)
            segments[end] = segment;
    }
}

void RetainedState::Device::begin(const wire::State& base)
{
    std::size_t block = 0;
    for (const wire::SegmentRow& row : base.segments) {
        segments[row.address]
            = { endOf(row.address, row.bytes), row.stack, row.stream, row.pool, row.expandable };
        for (std::uint32_t i = 0; i < row.blocks && block < base.blocks.size(); ++i, ++block) {
            const wire::BlockRow& from = base.blocks[block];
            if (from.state != wire::BlockState::Inactive)
                blocks[from.address] = { from.bytes, from.requestedBytes, from.stack,
                    from.state == wire::BlockState::PendingFree };
        }
    }
}

/// Pieces of an expandable segment that touch are one, as in LibTorch's own snapshots: a block may lie in
/// several.
wire::State RetainedState::Device::state(std::int32_t device) const
{
    wire::State out;
    out.device = device;
    out.events = events;
    for (auto segment = segments.begin(); segment != segments.end();) {
        const std::uint64_t begin = segment->first;
        const Segment& first = segment->second;
        std::uint64_t end = first.end;
        for (++segment; segment != segments.end() && segment->first == end && first.expandable
             && segment->second.expandable && segment->second.stream == first.stream;
             ++segment)
            end = segment->second.end;
        wire::SegmentRow row;
        row.address = begin;
        row.bytes = static_cast<std::int64_t>(end - begin);
        row.requestedBytes = 0;
        row.stack = first.stack;
        row.stream = first.stream;
        row.pool = first.pool;
        row.expandable = first.expandable;
        std::uint64_t at = begin;
        const auto add = [&](const wire::BlockRow& block) {
            out.blocks.push_back(block);
            ++row.blocks;
            at = endOf(block.address, block.bytes);
        };
        const auto free = [&](std::uint64_t until) {
            if (until > at)
                add({ at, static_cast<std::int64_t>(until - at), 0, wire::BlockState::Inactive,
                    wire::kNone });
        };
        for (auto block = blocks.lower_bound(begin); block != blocks.end() && block->first < end; ++block) {
            const Block& from = block->second;
            free(block->first);
            add({ block->first, from.bytes, from.requestedBytes,
                from.pending ? wire::BlockState::PendingFree : wire::BlockState::Allocated, from.stack });
            row.requestedBytes += from.requestedBytes;
        }
        free(end);
        out.segments.push_back(row);
    }
    return out;
}

wire::Gap RetainedState::write(wire::Bytes& out) const
{
    AppendingSink sink(out);
    wire::ChunkWriter writer(sink);
    const auto items = [&](wire::ChunkType type, const std::map<std::string, std::string>& from) {
        if (!from.empty())
            writer.chunk(type, [&](wire::Bytes& bytes) { wire::encodeKeyValues(rows(from), bytes); });
    };
    items(wire::ChunkType::Info, m_info);
    items(wire::ChunkType::Settings, m_settings);
    for (const auto& chunk : m_tables)
        out.insert(out.end(), chunk->begin(), chunk->end());
    wire::Gap gap;
    std::vector<wire::LostRow> lost;
    for (const auto& [number, device] : m_devices) {
        gap.missing.push_back({ number, device.events });
        writer.chunk(wire::ChunkType::BaseState,
            [&, n = number](wire::Bytes& bytes) { wire::encodeState(device.state(n), bytes); });
        if (device.lost > 0)
            lost.push_back({ number, device.events, device.lost });
    }
    if (!lost.empty())
        writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& bytes) { wire::encodeLost(lost, bytes); });
    std::vector<wire::RoleRow> roles;
    const auto writeRoles = [&] {
        if (!roles.empty())
            writer.chunk(
                wire::ChunkType::Roles, [&](wire::Bytes& bytes) { wire::encodeRoles(roles, bytes); });
        roles.clear();
    };
    for (const auto& [key, standing] : m_roles) {
        roles.push_back(standing);
        const auto device = m_devices.find(standing.device);
        roles.back().event = device == m_devices.end() ? 0 : device->second.events;
        if (roles.size() == kRolesAChunk)
            writeRoles();
    }
    writeRoles();
    gap.states = static_cast<std::uint32_t>(m_tables.size()) + writer.chunks();
    return gap;
}

} // namespace strata::agent
