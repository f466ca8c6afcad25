// SPDX-License-Identifier: Apache-2.0
#include "model/wire/state.h"

namespace strata::wire {
namespace {

// Blocks usually lie side by side: where one begins is written as its distance from the end of the one
// before.
std::int64_t distance(std::uint64_t from, std::uint64_t to)
{
    return static_cast<std::int64_t>(to - from);
}

void putSegment(ByteWriter& out, const SegmentRow& segment, std::uint64_t expected)
{
    out.signedVarint(distance(expected, segment.address));
    out.signedVarint(segment.bytes);
    for (const std::int64_t sum : { segment.allocatedBytes, segment.activeBytes, segment.requestedBytes })
        out.signedVarint(sum);
    out.varint(segment.blocks);
    out.id(segment.stack);
    out.id(segment.stream);
    out.id(segment.pool);
    out.byte(segment.expandable ? 1 : 0);
}

SegmentRow getSegment(ByteReader& in, std::uint64_t expected)
{
    SegmentRow segment;
    segment.address = expected + static_cast<std::uint64_t>(in.signedVarint());
    segment.bytes = in.signedVarint();
    segment.allocatedBytes = in.signedVarint();
    segment.activeBytes = in.signedVarint();
    segment.requestedBytes = in.signedVarint();
    const std::uint64_t blocks = in.varint();
    if (blocks > in.left()) // a few bytes each follow
        in.fail();
    segment.blocks = static_cast<std::uint32_t>(blocks);
    segment.stack = in.id();
    segment.stream = in.id();
    segment.pool = in.id();
    segment.expandable = (in.byte() & 1) != 0;
    return segment;
}

} // namespace

void encodeState(const State& state, Bytes& out)
{
    ByteWriter writer(out);
    writer.signedVarint(state.device);
    writer.varint(state.events);
    writer.varint(state.segments.size());
    std::uint64_t expected = 0;
    std::size_t next = 0;
    for (const SegmentRow& segment : state.segments) {
        putSegment(writer, segment, expected);
        expected = segment.address;
        for (std::uint32_t i = 0; i < segment.blocks; ++i) {
            const BlockRow& block = state.blocks[next++];
            writer.signedVarint(distance(expected, block.address));
            writer.signedVarint(block.bytes);
            writer.signedVarint(block.requestedBytes);
            writer.byte(static_cast<std::uint8_t>(block.state));
            writer.id(block.stack);
            expected = block.address + static_cast<std::uint64_t>(block.bytes);
        }
    }
}

bool decodeState(std::span<const std::byte> payload, State& state)
{
    ByteReader in(payload);
    const std::int64_t device = in.signedVarint();
    state.events = in.varint();
    const std::size_t segments = in.count(10);
    if (device < INT32_MIN || device > INT32_MAX)
        return false;
    state.device = static_cast<std::int32_t>(device);
    state.segments.clear();
    state.blocks.clear();
    std::uint64_t expected = 0;
    for (std::size_t s = 0; s < segments && in.ok(); ++s) {
        const SegmentRow segment = getSegment(in, expected);
        expected = segment.address;
        for (std::uint32_t i = 0; i < segment.blocks && in.ok(); ++i) {
            BlockRow block;
            block.address = expected + static_cast<std::uint64_t>(in.signedVarint());
            block.bytes = in.signedVarint();
            block.requestedBytes = in.signedVarint();
            const std::uint8_t blockState = in.byte();
            block.stack = in.id();
            if (blockState >= kBlockStates)
                return false;
            block.state = static_cast<BlockState>(blockState);
            expected = block.address + static_cast<std::uint64_t>(block.bytes);
            state.blocks.push_back(block);
        }
        state.segments.push_back(segment);
    }
    return in.ok();
}

} // namespace strata::wire
