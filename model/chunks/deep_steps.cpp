// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/deep_step.h"

#include "model/chunks/chunk_kinds.h"

#include <span>

namespace strata::model {

namespace {

bool take(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::DeepStepChunk chunk;
    if (!wire::decodeDeepStep(payload, chunk))
        return false;
    DeepStep step;
    step.device = chunk.device;
    const auto text
        = [&](std::uint32_t number, StringId& id) { return StreamTables::find(tables.strings, number, id); };
    const auto event
        = [&](std::uint64_t number) { return static_cast<EventIndex>(tables.since(chunk.device, number)); };
    // The events of a step that began before who looks on came are not there.
    if (const auto joined = tables.joinedAt.find(chunk.device);
        joined != tables.joinedAt.end() && joined->second > chunk.beginEvent)
        return true;
    step.beginEvent = event(chunk.beginEvent);
    step.endEvent = event(chunk.endEvent);
    if (step.beginEvent < 0 || step.endEvent < step.beginEvent || !text(chunk.unusable, step.unusable))
        return false;
    for (const wire::DeepTensorRow& row : chunk.tensors) {
        step.tensors.push_back({ row.address, {} });
        if (!text(row.type, step.tensors.back().type))
            return false;
    }
    step.refs = std::move(chunk.refs);
    std::uint32_t ref = 0;
    EventIndex before = step.beginEvent;
    for (const wire::DeepRow& row : chunk.rows) {
        DeepStep::Row& to = step.rows.emplace_back();
        to.kind = row.kind;
        to.thread = row.thread;
        to.event = event(row.event);
        to.saved = row.saved;
        to.firstRef = ref;
        to.refs = row.tensors;
        ref += row.tensors;
        // Time does not go back, and what has a name has one.
        if (to.event < before || to.event > step.endEvent || !text(row.name, to.name)
            || !text(row.detail, to.detail))
            return false;
        before = to.event;
    }
    recording.parts.get<DeepSteps>().steps.push_back(std::move(step));
    return true;
}

void write(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<DeepSteps>();
    if (!part)
        return;
    for (const DeepStep& step : part->steps) {
        wire::DeepStepChunk chunk;
        chunk.device = step.device;
        chunk.unusable = numberOf(step.unusable);
        chunk.beginEvent = static_cast<std::uint64_t>(step.beginEvent);
        chunk.endEvent = static_cast<std::uint64_t>(step.endEvent);
        for (const DeepStep::Tensor& tensor : step.tensors)
            chunk.tensors.push_back({ tensor.address, numberOf(tensor.type) });
        for (const DeepStep::Row& row : step.rows) {
            chunk.rows.push_back({ row.kind, row.thread, static_cast<std::uint64_t>(row.event),
                numberOf(row.name), numberOf(row.detail), row.saved, row.refs });
            const std::span<const std::uint32_t> refs = step.refsOf(row);
            chunk.refs.insert(chunk.refs.end(), refs.begin(), refs.end());
        }
        writer.chunk(wire::ChunkType::DeepStep, [&](wire::Bytes& out) { wire::encodeDeepStep(chunk, out); });
    }
}

/// Whole or not at all: what is left of one says nothing.
void keep(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const part = from.parts.find<DeepSteps>();
    if (!part)
        return;
    for (DeepStep step : part->steps) {
        const auto begin = kept.placeOf(step.device, step.beginEvent);
        const auto end = kept.placeOf(step.device, step.endEvent);
        if (!begin || !end)
            continue;
        const EventIndex before = step.beginEvent - *begin;
        const auto move = [&](StringId& text) {
            if (text.valid())
                text = kept.text(text);
        };
        for (DeepStep::Row& row : step.rows) {
            row.event -= before;
            const bool isModule = row.kind == DeepStep::Kind::Enters || row.kind == DeepStep::Kind::Leaves;
            for (StringId* const text : { &row.name, &row.detail }) {
                if (isModule && !kept.modules)
                    *text = {};
                move(*text);
            }
        }
        step.beginEvent = *begin;
        step.endEvent = *end;
        move(step.unusable);
        for (DeepStep::Tensor& tensor : step.tensors)
            move(tensor.type);
        to.parts.get<DeepSteps>().steps.push_back(std::move(step));
    }
}

} // namespace

extern const ChunkKind kDeepStepChunk;
const ChunkKind kDeepStepChunk{ wire::ChunkType::DeepStep, ChunkKind::Place::BehindEvents, take, write,
    keep };

} // namespace strata::model
