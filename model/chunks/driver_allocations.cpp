// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/driver_allocations.h"

#include "model/chunks/chunk_kinds.h"
#include "model/trace/work.h"

#include <vector>

namespace strata::model {

namespace {

bool takeDriverAllocations(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::DriverAllocationRow> rows;
    if (!wire::decodeDriverAllocations(payload, rows))
        return false;
    DriverAllocations& all = recording.parts.get<DriverAllocations>();
    for (const wire::DriverAllocationRow& row : rows) {
        if (row.bytes > wire::kMostDriverBytes || !isWorkTime(row.timeNs))
            return false;
        all.rows.push_back(row);
    }
    return true;
}

void writeDriverAllocations(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const all = recording.parts.find<DriverAllocations>();
    std::vector<wire::DriverAllocationRow> rows;
    const auto flush = [&] {
        if (!rows.empty())
            writer.chunk(wire::ChunkType::DriverAllocations,
                [&](wire::Bytes& out) { wire::encodeDriverAllocations(rows, out); });
        rows.clear();
    };
    for (std::size_t i = 0; all && i < all->rows.size(); ++i) {
        rows.push_back(all->rows[i]);
        if (rows.size() >= kRowsAChunk)
            flush();
    }
    flush();
}

void keepDriverAllocations(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const all = from.parts.find<DriverAllocations>();
    if (!all)
        return;
    for (const wire::DriverAllocationRow& row : all->rows)
        if (kept.spans.contains(row.device)
            && (!kept.time || (row.timeNs >= kept.time->firstNs && row.timeNs <= kept.time->lastNs)))
            to.parts.get<DriverAllocations>().rows.push_back(row);
}

} // namespace

extern const ChunkKind kDriverAllocationsChunk;
const ChunkKind kDriverAllocationsChunk{ wire::ChunkType::DriverAllocations, ChunkKind::Place::BehindEvents,
    takeDriverAllocations, writeDriverAllocations, keepDriverAllocations };

} // namespace strata::model
