// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

namespace strata::model {

namespace {

bool take(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::DriverRow> rows;
    if (!wire::decodeDriver(payload, rows))
        return false;
    const auto known = [](std::int64_t bytes) { return bytes < 0 ? std::nullopt : std::optional(bytes); };
    for (const wire::DriverRow& row : rows)
        recording.driver.push_back({ row.device, static_cast<std::int64_t>(row.event), row.timeNs,
            row.usedBytes, known(row.processBytes), known(row.reservedBytes) });
    return true;
}

void write(const Recording& recording, wire::ChunkWriter& writer)
{
    std::vector<wire::DriverRow> rows;
    for (const DriverReading& reading : recording.driver)
        rows.push_back({ reading.device, static_cast<std::uint64_t>(reading.event), reading.timeNs,
            reading.usedBytes, reading.processBytes.value_or(-1), reading.reservedBytes.value_or(-1) });
    if (!rows.empty())
        writer.chunk(wire::ChunkType::DriverMemory, [&](wire::Bytes& out) { wire::encodeDriver(rows, out); });
}

} // namespace

extern const ChunkKind kDriverChunk;
const ChunkKind kDriverChunk{ wire::ChunkType::DriverMemory, ChunkKind::Place::BehindEvents, take, write };

} // namespace strata::model
