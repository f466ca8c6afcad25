// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chunks/chunk_kinds.h"

#include <cstdint>
#include <optional>
#include <utility>

/// What parts about one step of a device have in common, DeepStep and CallList: events that it lasts, rows at
/// events that have names, tensors of a type.
namespace strata::model {

enum class StepTaken : std::uint8_t {
    Yes,
    NotHere, ///< it began before who looks on came: its events are not there
    Damaged,
};

/// Which device and events a chunk is about.
template <class StepChunk, class Step>
[[nodiscard]] StepTaken takeStep(const StepChunk& chunk, const StreamTables& tables, Step& step)
{
    step.device = chunk.device;
    if (const auto joined = tables.joinedAt.find(chunk.device);
        joined != tables.joinedAt.end() && joined->second > chunk.beginEvent)
        return StepTaken::NotHere;
    step.beginEvent = static_cast<EventIndex>(tables.since(chunk.device, chunk.beginEvent));
    step.endEvent = static_cast<EventIndex>(tables.since(chunk.device, chunk.endEvent));
    const bool fits = step.beginEvent >= 0 && step.endEvent >= step.beginEvent
        && StreamTables::find(tables.strings, chunk.unusable, step.unusable);
    return fits ? StepTaken::Yes : StepTaken::Damaged;
}

/// Where a row stands, and its names. False: time goes back, or there is no such name.
template <class ChunkRow, class Step, class Row>
[[nodiscard]] bool takeRow(const ChunkRow& from, const StreamTables& tables, const Step& step, Row& row)
{
    row.kind = from.kind;
    row.event = static_cast<EventIndex>(tables.since(step.device, from.event));
    const EventIndex before = step.rows.size() > 1 ? step.rows[step.rows.size() - 2].event : step.beginEvent;
    return row.event >= before && row.event <= step.endEvent
        && StreamTables::find(tables.strings, from.name, row.name)
        && StreamTables::find(tables.strings, from.detail, row.detail);
}

template <class Step, class StepChunk> void writeStep(const Step& step, StepChunk& chunk)
{
    chunk.device = step.device;
    chunk.unusable = numberOf(step.unusable);
    chunk.beginEvent = static_cast<std::uint64_t>(step.beginEvent);
    chunk.endEvent = static_cast<std::uint64_t>(step.endEvent);
}

/// It in a recording that has a part of the events. Whole or not at all: what is left of one says nothing.
template <class Step> [[nodiscard]] std::optional<Step> keptStep(Step step, const KeptRows& kept)
{
    const auto begin = kept.placeOf(step.device, step.beginEvent);
    const auto end = kept.placeOf(step.device, step.endEvent);
    if (!begin || !end)
        return std::nullopt;
    const EventIndex before = step.beginEvent - *begin;
    const auto move = [&](StringId& text) {
        if (text.valid())
            text = kept.text(text);
    };
    for (auto& row : step.rows) {
        row.event -= before;
        const bool isModule = row.kind == Step::Kind::Enters || row.kind == Step::Kind::Leaves;
        for (StringId* const text : { &row.name, &row.detail }) {
            if (isModule && !kept.modules)
                *text = {};
            move(*text);
        }
    }
    step.beginEvent = *begin;
    step.endEvent = *end;
    move(step.unusable);
    for (auto& tensor : step.tensors)
        move(tensor.type);
    return step;
}

} // namespace strata::model
