// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/call_list.h"

#include "model/chunks/step_parts.h"

#include <utility>

namespace strata::model {

namespace {

bool takeCallLists(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::CallListChunk chunk;
    if (!wire::decodeCallList(payload, chunk))
        return false;
    CallList list;
    if (const StepTaken taken = takeStep(chunk, tables, list); taken != StepTaken::Yes)
        return taken == StepTaken::NotHere;
    std::uint32_t length = 0;
    for (const wire::CallTensorRow& row : chunk.tensors) {
        list.tensors.push_back({ row.address, {}, row.offset, row.gradientOf, length, row.dimensions });
        length += 2 * row.dimensions;
        if (!StreamTables::find(tables.strings, row.type, list.tensors.back().type))
            return false;
    }
    list.lengths = std::move(chunk.lengths);
    list.refs = std::move(chunk.refs);
    std::uint32_t ref = 0;
    for (const wire::CallRow& row : chunk.rows) {
        CallList::Row& to = list.rows.emplace_back();
        to.gradients = row.gradients;
        to.firstRef = ref;
        to.takes = row.takes;
        to.returns = row.returns;
        ref += row.takes + row.returns;
        if (!takeRow(row, tables, list, to))
            return false;
    }
    recording.parts.get<CallLists>().lists.push_back(std::move(list));
    return true;
}

void writeCallLists(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<CallLists>();
    if (!part)
        return;
    for (const CallList& list : part->lists) {
        wire::CallListChunk chunk;
        writeStep(list, chunk);
        for (const CallList::Tensor& tensor : list.tensors)
            chunk.tensors.push_back({ tensor.address, numberOf(tensor.type), tensor.offset, tensor.gradientOf,
                tensor.dimensions });
        chunk.lengths = list.lengths;
        for (const CallList::Row& row : list.rows)
            chunk.rows.push_back({ row.kind, static_cast<std::uint64_t>(row.event), row.gradients,
                numberOf(row.name), numberOf(row.detail), row.takes, row.returns });
        chunk.refs = list.refs;
        writer.chunk(wire::ChunkType::CallList, [&](wire::Bytes& out) { wire::encodeCallList(chunk, out); });
    }
}

void keepCallLists(const Recording& from, const KeptRows& kept, Recording& to)
{
    if (const auto* const part = from.parts.find<CallLists>(); part && kept.calls)
        for (const CallList& list : part->lists)
            if (auto moved = keptStep(list, kept))
                to.parts.get<CallLists>().lists.push_back(std::move(*moved));
}

} // namespace

extern const ChunkKind kCallListChunk;
const ChunkKind kCallListChunk{ wire::ChunkType::CallList, ChunkKind::Place::BehindEvents, takeCallLists,
    writeCallLists, keepCallLists };

} // namespace strata::model
