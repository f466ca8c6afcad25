// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

namespace strata::model {

namespace {

bool takeLostEvents(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::LostRow> rows;
    if (!wire::decodeLost(payload, rows))
        return false;
    for (const wire::LostRow& row : rows)
        recording.lost.push_back({ row.device, static_cast<std::int64_t>(tables.since(row.device, row.event)),
            static_cast<std::int64_t>(row.count) });
    return true;
}

void writeLostEvents(const Recording& recording, wire::ChunkWriter& writer)
{
    std::vector<wire::LostRow> rows;
    for (const LostEvents& lost : recording.lost)
        rows.push_back(
            { lost.device, static_cast<std::uint64_t>(lost.event), static_cast<std::uint64_t>(lost.count) });
    if (!rows.empty())
        writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& out) { wire::encodeLost(rows, out); });
}

void keepLostEvents(const Recording& from, const KeptRows& kept, Recording& to)
{
    for (const LostEvents& lost : from.lost)
        if (const auto place = kept.placeOf(lost.device, lost.event))
            to.lost.push_back({ lost.device, *place, lost.count });
}

} // namespace

extern const ChunkKind kLostChunk;
const ChunkKind kLostChunk{ wire::ChunkType::Lost, ChunkKind::Place::BehindEvents, takeLostEvents,
    writeLostEvents, keepLostEvents };

} // namespace strata::model
