// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/deep_step.h"

#include "model/chunks/step_parts.h"

#include <span>
#include <utility>

namespace strata::model {

namespace {

bool takeDeepSteps(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    wire::DeepStepChunk chunk;
    if (!wire::decodeDeepStep(payload, chunk))
        return false;
    DeepStep step;
    if (const StepTaken taken = takeStep(chunk, tables, step); taken != StepTaken::Yes)
        return taken == StepTaken::NotHere;
    for (const wire::DeepTensorRow& row : chunk.tensors) {
        step.tensors.push_back({ row.address, {}, row.offset, row.elements });
        if (!StreamTables::find(tables.strings, row.type, step.tensors.back().type))
            return false;
    }
    step.refs = std::move(chunk.refs);
    std::uint32_t ref = 0;
    for (const wire::DeepRow& row : chunk.rows) {
        DeepStep::Row& to = step.rows.emplace_back();
        to.thread = row.thread;
        to.saved = row.saved;
        to.firstRef = ref;
        to.refs = row.tensors;
        to.layout = row.layout;
        to.elements = row.elements;
        ref += row.tensors;
        if (!takeRow(row, tables, step, to))
            return false;
    }
    recording.parts.get<DeepSteps>().steps.push_back(std::move(step));
    return true;
}

void writeDeepSteps(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<DeepSteps>();
    if (!part)
        return;
    for (const DeepStep& step : part->steps) {
        wire::DeepStepChunk chunk;
        writeStep(step, chunk);
        for (const DeepStep::Tensor& tensor : step.tensors)
            chunk.tensors.push_back({ tensor.address, numberOf(tensor.type), tensor.offset, tensor.elements });
        for (const DeepStep::Row& row : step.rows) {
            chunk.rows.push_back({ row.kind, row.thread, static_cast<std::uint64_t>(row.event),
                numberOf(row.name), numberOf(row.detail), row.saved, row.refs, row.layout, row.elements });
            const std::span<const std::uint32_t> refs = step.refsOf(row);
            chunk.refs.insert(chunk.refs.end(), refs.begin(), refs.end());
        }
        writer.chunk(wire::ChunkType::DeepStep, [&](wire::Bytes& out) { wire::encodeDeepStep(chunk, out); });
    }
}

void keepDeepSteps(const Recording& from, const KeptRows& kept, Recording& to)
{
    if (const auto* const part = from.parts.find<DeepSteps>())
        for (const DeepStep& step : part->steps)
            if (auto moved = keptStep(step, kept))
                to.parts.get<DeepSteps>().steps.push_back(std::move(*moved));
}

} // namespace

extern const ChunkKind kDeepStepChunk;
const ChunkKind kDeepStepChunk{ wire::ChunkType::DeepStep, ChunkKind::Place::BehindEvents, takeDeepSteps,
    writeDeepSteps, keepDeepSteps };

} // namespace strata::model
