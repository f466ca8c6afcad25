// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/call_list.h"

#include "model/chunks/chunk_kinds.h"

#include <utility>

namespace strata::model {

namespace {

bool take(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::CallListChunk chunk;
    if (!wire::decodeCallList(payload, chunk))
        return false;
    CallList list;
    list.device = chunk.device;
    const auto text
        = [&](std::uint32_t number, StringId& id) { return StreamTables::find(tables.strings, number, id); };
    const auto event
        = [&](std::uint64_t number) { return static_cast<EventIndex>(tables.since(chunk.device, number)); };
    // The events of a step that began before who looks on came are not there.
    if (const auto joined = tables.joinedAt.find(chunk.device);
        joined != tables.joinedAt.end() && joined->second > chunk.beginEvent)
        return true;
    list.beginEvent = event(chunk.beginEvent);
    list.endEvent = event(chunk.endEvent);
    if (list.beginEvent < 0 || list.endEvent < list.beginEvent || !text(chunk.unusable, list.unusable))
        return false;
    std::uint32_t length = 0;
    for (const wire::CallTensorRow& row : chunk.tensors) {
        list.tensors.push_back({ row.address, {}, row.offset, row.gradientOf, length, row.dimensions });
        length += 2 * row.dimensions;
        if (!text(row.type, list.tensors.back().type))
            return false;
    }
    list.lengths = std::move(chunk.lengths);
    list.refs = std::move(chunk.refs);
    std::uint32_t ref = 0;
    EventIndex before = list.beginEvent;
    for (const wire::CallRow& row : chunk.rows) {
        CallList::Row& to = list.rows.emplace_back();
        to.kind = row.kind;
        to.event = event(row.event);
        to.gradients = row.gradients;
        to.firstRef = ref;
        to.takes = row.takes;
        to.returns = row.returns;
        ref += row.takes + row.returns;
        // Time does not go back, and what has a name has one.
        if (to.event < before || to.event > list.endEvent || !text(row.name, to.name)
            || !text(row.detail, to.detail))
            return false;
        before = to.event;
    }
    recording.parts.get<CallLists>().lists.push_back(std::move(list));
    return true;
}

void write(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<CallLists>();
    if (!part)
        return;
    for (const CallList& list : part->lists) {
        wire::CallListChunk chunk;
        chunk.device = list.device;
        chunk.unusable = numberOf(list.unusable);
        chunk.beginEvent = static_cast<std::uint64_t>(list.beginEvent);
        chunk.endEvent = static_cast<std::uint64_t>(list.endEvent);
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

/// Whole or not at all, as the deep step that it is of.
void keep(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const part = from.parts.find<CallLists>();
    if (!part || !kept.calls)
        return;
    for (CallList list : part->lists) {
        const auto begin = kept.placeOf(list.device, list.beginEvent);
        const auto end = kept.placeOf(list.device, list.endEvent);
        if (!begin || !end)
            continue;
        const EventIndex before = list.beginEvent - *begin;
        const auto move = [&](StringId& text) {
            if (text.valid())
                text = kept.text(text);
        };
        for (CallList::Row& row : list.rows) {
            row.event -= before;
            const bool isModule = row.kind == CallList::Kind::Enters || row.kind == CallList::Kind::Leaves;
            for (StringId* const text : { &row.name, &row.detail }) {
                if (isModule && !kept.modules)
                    *text = {};
                move(*text);
            }
        }
        list.beginEvent = *begin;
        list.endEvent = *end;
        move(list.unusable);
        for (CallList::Tensor& tensor : list.tensors)
            move(tensor.type);
        to.parts.get<CallLists>().lists.push_back(std::move(list));
    }
}

} // namespace

extern const ChunkKind kCallListChunk;
const ChunkKind kCallListChunk{ wire::ChunkType::CallList, ChunkKind::Place::BehindEvents, take, write,
    keep };

} // namespace strata::model
