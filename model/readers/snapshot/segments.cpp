// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/snapshot/segments.h"

#include "model/readers/snapshot/fields.h"
#include "model/trace/producer.h"

#include <algorithm>
#include <limits>

namespace strata::model {

namespace {

constexpr std::uint64_t kSegmentKeys
    = keySetOf(Known::Device, Known::Address, Known::TotalSize, Known::AllocatedSize, Known::ActiveSize,
        Known::RequestedSize, Known::Stream, Known::SegmentType, Known::SegmentPoolId, Known::IsExpandable,
        Known::Frames, Known::CppFrames, Known::ForwardFrames, Known::RegistrationCounter, Known::Blocks,
        Known::DeviceType);
constexpr std::uint64_t kBlockKeys = keySetOf(Known::Size, Known::RequestedSize, Known::Address, Known::State,
    Known::Frames, Known::CppFrames, Known::ForwardFrames, Known::History);
constexpr std::size_t kLongestName = 64; // of what a file calls states and devices
constexpr std::size_t kMostStates = 1000;
constexpr std::uint64_t kHistoryKeys
    = keySetOf(Known::Addr, Known::RealSize, Known::Frames, Known::CppFrames);

} // namespace

bool SegmentReader::wrong(const char* key, Value value, Sentence expected)
{
    return m_heap.failWith(Error::Kind::Format,
        say("segment %1: '%2' is %3, not %4", m_count, key,
            value.is(Value::Tag::Unset) ? say("missing") : m_heap.typeName(value), std::move(expected)),
        say("the file is damaged or was changed by hand; record it again"));
}

bool SegmentReader::readSize(Value value, const char* key, std::int64_t& bytes)
{
    const std::optional<std::int64_t> size = m_heap.signedOf(value);
    if (!size || *size < 0)
        return wrong(key, value, say("a whole number from 0 to 2^63"));
    bytes = *size;
    return m_heap.traces().addBytes(bytes);
}

bool SegmentReader::readSum(Value value, const char* key, std::int64_t& bytes)
{
    return value.is(Value::Tag::Unset) || readSize(value, key, bytes);
}

bool SegmentReader::readPool(Value owner, Value kind, PoolIndex& index)
{
    Pool pool;
    if (!owner.is(Value::Tag::Unset) && !m_heap.traces().poolIdOf(owner, pool))
        return wrong("segment_pool_id", owner, say("a pair of whole numbers"));
    pool.kind = isText(kind, Known::Small) ? SegmentKind::Small
        : isText(kind, Known::Large)       ? SegmentKind::Large
                                           : SegmentKind::Unknown;
    return m_heap.traces().poolOf(pool, index);
}

bool SegmentReader::add(Value value)
{
    if (!m_heap.isDict(value))
        return m_heap.failWith(
            Error::Kind::Format, say("%1 stands where segment %2 belongs", m_heap.typeName(value), m_count));
    if (!m_heap.spend(m_heap.contents(value).size()))
        return false;
    const Fields fields(m_heap, value, "segment", kSegmentKeys);

    const std::optional<std::int64_t> device = m_heap.signedOf(fields[Known::Device]);
    if (!device)
        return wrong("device", fields[Known::Device], say("a whole number"));
    if (*device < 0 || *device > kHighestDevice)
        return m_heap.failWith(
            Error::Kind::Format, say("segment %1: device %2 is impossible", m_count, *device));

    if (const Value type = fields[Known::DeviceType]; type.is(Value::Tag::Text) && m_deviceType.empty())
        m_deviceType = std::string(m_heap.textOf(type)).substr(0, kLongestName);
    m_hasStreamsOrTypes
        = m_hasStreamsOrTypes || fields.has(Known::Stream) || fields.has(Known::SegmentType);

    FinalSegment segment;
    const std::optional<std::uint64_t> address = m_heap.bitsOf(fields[Known::Address]);
    if (!address)
        return wrong("address", fields[Known::Address], say("a whole number"));
    segment.address = *address;
    if (!readSize(fields[Known::TotalSize], "total_size", segment.bytes)
        || !readSum(fields[Known::AllocatedSize], "allocated_size", segment.allocatedBytes)
        || !readSum(fields[Known::ActiveSize], "active_size", segment.activeBytes)
        || !readSum(fields[Known::RequestedSize], "requested_size", segment.requestedBytes)
        || !m_heap.traces().streamOf(fields[Known::Stream], segment.stream)
        || !readPool(fields[Known::SegmentPoolId], fields[Known::SegmentType], segment.pool))
        return false;
    segment.expandable = fields[Known::IsExpandable] == Value::boolean(true);
    StackId native;
    if (!m_heap.consumeFrames(fields[Known::Frames], segment.stack)
        || !m_heap.consumeFrames(fields[Known::CppFrames], native))
        return wrong("frames", fields[Known::Frames], say("a list of frames"));
    if (!m_heap.traces().joined(native, segment.stack, segment.stack))
        return false;

    std::vector<FinalBlock> blocks;
    if (!readBlocks(fields[Known::Blocks], segment, blocks))
        return false;
    const auto known = m_devices.find(static_cast<int>(*device));
    if (known == m_devices.end() && m_devices.size() >= kMostDevices)
        return m_heap.failWith(Error::Kind::Format, say("there are more than %1 devices", kMostDevices));
    DeviceRecording& target = m_devices[static_cast<int>(*device)];
    target.device = static_cast<int>(*device);
    if (target.finalBlocks.size() + blocks.size() > std::numeric_limits<std::uint32_t>::max())
        return m_heap.failWith(Error::Kind::Format, say("a device has more than 4,294,967,295 blocks"));
    segment.firstBlock = static_cast<std::uint32_t>(target.finalBlocks.size());
    segment.blockCount = static_cast<std::uint32_t>(blocks.size());
    std::vector<FinalBlock>& all = target.finalBlocks.edit();
    all.insert(all.end(), blocks.begin(), blocks.end());
    target.finalSegments.edit().push_back(segment);
    ++m_count;
    return true;
}

bool SegmentReader::readBlocks(Value list, const FinalSegment& segment, std::vector<FinalBlock>& out)
{
    if (!m_heap.isPlainList(list))
        return wrong("blocks", list, say("a list of blocks"));
    const std::span<const Value> items = m_heap.contents(list);
    if (!m_heap.spend(items.size()))
        return false;
    std::uint64_t address = segment.address;
    bool sorted = true;
    for (const Value item : items) {
        FinalBlock block;
        if (!addBlock(item, address, block))
            return false;
        address += static_cast<std::uint64_t>(block.bytes);
        sorted = sorted && (out.empty() || out.back().address <= block.address);
        out.push_back(block);
    }
    if (!sorted)
        std::stable_sort(out.begin(), out.end(),
            [](const FinalBlock& a, const FinalBlock& b) { return a.address < b.address; });
    return true;
}

/// Memory of a state that a later version invents is in use, unless the name says otherwise: what is reserved
/// stays exact either way.
BlockState SegmentReader::unknownState(std::string_view name)
{
    const std::string shortName = std::string(name).substr(0, kLongestName);
    std::map<std::string, std::int64_t>& counts = m_heap.recording().unknownKeys;
    const std::string key = kUnknownState + shortName;
    if (counts.contains(key) || counts.size() < kMostStates)
        ++counts[key];
    return name.starts_with("inactive") || name.starts_with("free") ? BlockState::Inactive
        : name.find("pending") != name.npos || name.find("awaiting") != name.npos
        ? BlockState::PendingFree
        : BlockState::Allocated;
}

bool SegmentReader::addBlock(Value value, std::uint64_t computedAddress, FinalBlock& block)
{
    if (!m_heap.isDict(value))
        return wrong("blocks", value, say("a block"));
    if (!m_heap.spend(m_heap.contents(value).size()))
        return false;
    const Fields fields(m_heap, value, "block", kBlockKeys);

    if (!readSize(fields[Known::Size], "size", block.bytes))
        return false;
    block.address = computedAddress; // torch 1.13 and 2.0 leave it out
    if (fields.has(Known::Address)) {
        const std::optional<std::uint64_t> address = m_heap.bitsOf(fields[Known::Address]);
        if (!address)
            return wrong("address", fields[Known::Address], say("a whole number"));
        block.address = *address;
    }

    const Value state = fields[Known::State];
    if (isText(state, Known::ActiveAllocated))
        block.state = BlockState::Allocated;
    else if (isText(state, Known::ActivePendingFree) || isText(state, Known::ActiveAwaitingFree))
        block.state = BlockState::PendingFree;
    else if (isText(state, Known::Inactive))
        block.state = BlockState::Inactive;
    else if (state.is(Value::Tag::Text))
        block.state = unknownState(m_heap.textOf(state));
    else
        return wrong("state", state, say("one of the states of a block"));

    Value requested = fields[Known::RequestedSize];
    StackId native;
    if (!m_heap.consumeFrames(fields[Known::Frames], block.stack)
        || !m_heap.consumeFrames(fields[Known::CppFrames], native))
        return wrong("frames", fields[Known::Frames], say("a list of frames"));
    if (fields.has(Known::History)) {
        // The first entry is the occupant; others are of blocks that were merged into this one.
        const std::span<const Value> entries = m_heap.contents(fields[Known::History]);
        if (!entries.empty() && m_heap.isDict(entries[0])) {
            if (!m_heap.spend(m_heap.contents(entries[0]).size()))
                return false;
            const Fields entry(m_heap, entries[0], "history", kHistoryKeys);
            if (requested.is(Value::Tag::Unset))
                requested = entry[Known::RealSize];
            if (!block.stack.valid() && !native.valid()
                && (!m_heap.consumeFrames(entry[Known::Frames], block.stack)
                    || !m_heap.consumeFrames(entry[Known::CppFrames], native)))
                return wrong("history", entries[0], say("an entry with frames"));
        }
    }
    if (!m_heap.traces().joined(native, block.stack, block.stack))
        return false;

    block.requestedBytes = block.bytes;
    if (block.state != BlockState::Inactive) {
        return requested.is(Value::Tag::Unset) || readSize(requested, "requested_size", block.requestedBytes);
    }
    // Whatever is left over from the last occupant.
    block.requestedBytes = std::clamp<std::int64_t>(m_heap.signedOf(requested).value_or(0), 0, block.bytes);
    return true;
}

void SegmentReader::finish()
{
    for (auto& [number, device] : m_devices) {
        std::vector<FinalSegment>& segments = device.finalSegments.edit();
        const auto below = [](const FinalSegment& a, const FinalSegment& b) { return a.address < b.address; };
        if (std::is_sorted(segments.begin(), segments.end(), below))
            continue;
        std::stable_sort(segments.begin(), segments.end(), below);
        std::vector<FinalBlock> blocks;
        blocks.reserve(device.finalBlocks.size());
        for (FinalSegment& segment : segments) {
            const auto first = device.finalBlocks.begin() + segment.firstBlock;
            segment.firstBlock = static_cast<std::uint32_t>(blocks.size());
            blocks.insert(blocks.end(), first, first + segment.blockCount);
        }
        device.finalBlocks = std::move(blocks);
    }
}

} // namespace strata::model
