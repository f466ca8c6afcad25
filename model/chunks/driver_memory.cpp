// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

#include <map>

namespace strata::model {

namespace {

bool takeDriverMemory(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::DriverRow> rows;
    if (!wire::decodeDriver(payload, rows))
        return false;
    const auto known = [](std::int64_t bytes) { return bytes < 0 ? std::nullopt : std::optional(bytes); };
    for (const wire::DriverRow& row : rows)
        recording.driver.push_back(
            { row.device, static_cast<std::int64_t>(tables.since(row.device, row.event)), row.timeNs,
                row.usedBytes, known(row.processBytes), known(row.reservedBytes) });
    return true;
}

void writeDriverMemory(const Recording& recording, wire::ChunkWriter& writer)
{
    std::vector<wire::DriverRow> rows;
    for (const DriverReading& reading : recording.driver)
        rows.push_back({ reading.device, static_cast<std::uint64_t>(reading.event), reading.timeNs,
            reading.usedBytes, reading.processBytes.value_or(-1), reading.reservedBytes.value_or(-1) });
    if (!rows.empty())
        writer.chunk(wire::ChunkType::DriverMemory, [&](wire::Bytes& out) { wire::encodeDriver(rows, out); });
}

/// Readings are where something changed: the last one before what is kept holds at its beginning.
void keepDriverMemory(const Recording& from, const KeptRows& kept, Recording& to)
{
    std::map<int, DriverReading> before;
    for (const DriverReading& reading : from.driver) {
        const auto span = kept.spans.find(reading.device);
        if (span != kept.spans.end() && reading.event < span->second.first)
            before[reading.device] = reading;
    }
    for (DriverReading reading : from.driver) {
        const auto place = kept.placeOf(reading.device, reading.event);
        if (!place)
            continue;
        if (auto held = before.extract(reading.device); held && *place > 0) {
            held.mapped().event = 0;
            to.driver.push_back(held.mapped());
        }
        reading.event = *place;
        to.driver.push_back(reading);
    }
    for (auto& [device, reading] : before) {
        reading.event = 0;
        to.driver.push_back(reading);
    }
}

} // namespace

extern const ChunkKind kDriverChunk;
const ChunkKind kDriverChunk{ wire::ChunkType::DriverMemory, ChunkKind::Place::BehindEvents, takeDriverMemory,
    writeDriverMemory, keepDriverMemory };

} // namespace strata::model
