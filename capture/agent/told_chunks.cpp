// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/told_chunks.h"

#include "model/wire/roles_codec.h"

#include <algorithm>
#include <string>
#include <vector>

namespace strata::agent {

wire::State stateOf(const TakenState& state, std::int32_t device, std::uint64_t events, Numbers& numbers)
{
    wire::State out;
    out.device = device;
    out.events = events;
    std::size_t block = 0;
    for (std::size_t i = 0; i < state.segments.size(); ++i) {
        const hook::Segment& segment = state.segments[i];
        const std::size_t end = block + state.blockCounts[i];
        if (segment.device != out.device) {
            block = end;
            continue;
        }
        const wire::PoolKind kind = segment.large ? wire::PoolKind::Large : wire::PoolKind::Small;
        out.segments.push_back({ segment.address, segment.bytes, segment.allocatedBytes, segment.activeBytes,
            segment.requestedBytes, state.blockCounts[i], wire::kNone, numbers.stream(segment.stream),
            numbers.pool({ static_cast<std::int64_t>(segment.poolOwner),
                static_cast<std::int64_t>(segment.poolId), kind }),
            segment.expandable });
        for (; block < end; ++block) {
            const hook::Block& from = state.blocks[block];
            const wire::BlockState blockState = from.allocated ? wire::BlockState::Allocated
                : from.active                                  ? wire::BlockState::PendingFree
                                                               : wire::BlockState::Inactive;
            out.blocks.push_back({ from.address, from.bytes, from.requestedBytes, blockState, wire::kNone });
        }
    }
    return out;
}

void writeDeepStep(DeepLog::Step step, Numbers& numbers, wire::ChunkWriter& writer)
{
    wire::DeepStepChunk& chunk = step.chunk;
    std::vector<std::uint32_t> texts;
    for (const std::string& text : step.texts)
        texts.push_back(numbers.string(text));
    const auto toStream = [&](std::uint32_t& text) {
        if (text != wire::kNone)
            text = texts[text];
    };
    toStream(chunk.unusable);
    for (wire::DeepTensorRow& tensor : chunk.tensors)
        toStream(tensor.type);
    for (wire::DeepRow& row : chunk.rows) {
        toStream(row.name);
        toStream(row.detail);
    }
    numbers.write(writer);
    writer.chunk(wire::ChunkType::DeepStep, [&](wire::Bytes& out) { wire::encodeDeepStep(chunk, out); });
}

void writeCallList(CallLog::List list, Numbers& numbers, wire::ChunkWriter& writer)
{
    wire::CallListChunk& chunk = list.chunk;
    std::vector<std::uint32_t> texts;
    for (const std::string& text : list.texts)
        texts.push_back(numbers.string(text));
    const auto toStream = [&](std::uint32_t& text) {
        if (text != wire::kNone)
            text = texts[text];
    };
    toStream(chunk.unusable);
    for (wire::CallTensorRow& tensor : chunk.tensors)
        toStream(tensor.type);
    for (wire::CallRow& row : chunk.rows) {
        toStream(row.name);
        toStream(row.detail);
    }
    numbers.write(writer);
    writer.chunk(wire::ChunkType::CallList, [&](wire::Bytes& out) { wire::encodeCallList(chunk, out); });
}

void writeHost(const hook::HostMemory& host, wire::ChunkWriter& writer)
{
    namespace info = wire::info;
    const std::vector<wire::KeyValue> items{ { info::kHostSegments, std::to_string(host.segments) },
        { info::kHostReservedBytes, std::to_string(host.reservedBytes) },
        { info::kHostReservedBytesPeak, std::to_string(host.reservedBytesPeak) },
        { info::kHostAllocatedBytes, std::to_string(host.allocatedBytes) } };
    writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void writeRoles(std::span<const ListedTensor> tensors, Numbers& numbers, wire::ChunkWriter& writer)
{
    constexpr std::size_t kRowsAChunk = 65'536;
    const auto numberOf
        = [&](const std::string& text) { return text.empty() ? wire::kNone : numbers.string(text); };
    for (std::size_t first = 0; first < tensors.size(); first += kRowsAChunk) {
        std::vector<wire::RoleRow> rows;
        for (const ListedTensor& each :
            tensors.subspan(first, std::min(kRowsAChunk, tensors.size() - first))) {
            const Tensor& tensor = *each.tensor;
            rows.push_back({ tensor.device, each.event, tensor.kind, each.address, numberOf(tensor.name),
                numberOf(tensor.part), numberOf(tensor.dtype), tensor.elements, tensor.optimizer });
        }
        numbers.write(writer);
        writer.chunk(wire::ChunkType::Roles, [&](wire::Bytes& out) { wire::encodeRoles(rows, out); });
    }
}

} // namespace strata::agent
