// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/earlier_curves.h"

#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

namespace strata::model {

namespace {

bool takeEarlierCurves(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::EarlierRow> rows;
    if (!wire::decodeEarlier(payload, rows))
        return false;
    auto& curves = recording.parts.get<EarlierCurves>();
    for (const wire::EarlierRow& row : rows) {
        const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
        const EarlierStretch stretch{ number(row.firstEvent), number(row.events), row.firstNs,
            number(row.durationNs), number(row.requestedMin), number(row.requestedMax),
            number(row.reservedMin), number(row.reservedMax) };
        if (const auto& known = curves.byDevice[row.device];
            !known.empty() && known.back().firstEvent + known.back().events > stretch.firstEvent)
            return false; // not one behind the other
        curves.add(row.device, stretch);
    }
    return true;
}

void writeEarlierCurves(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const curves = recording.parts.find<EarlierCurves>();
    if (!curves)
        return;
    std::vector<wire::EarlierRow> rows;
    for (const auto& [device, stretches] : curves->byDevice)
        for (const EarlierStretch& stretch : stretches) {
            const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
            rows.push_back({ device, number(stretch.firstEvent), number(stretch.events), stretch.firstNs,
                number(stretch.durationNs), number(stretch.requestedMin), number(stretch.requestedMax),
                number(stretch.reservedMin), number(stretch.reservedMax) });
        }
    for (std::size_t first = 0; first < rows.size(); first += kRowsAChunk) {
        const auto some = std::span(rows).subspan(first, std::min(kRowsAChunk, rows.size() - first));
        writer.chunk(wire::ChunkType::Earlier, [&](wire::Bytes& out) { wire::encodeEarlier(some, out); });
    }
}

void keepEarlierCurves(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const curves = from.parts.find<EarlierCurves>();
    if (!curves)
        return;
    for (const auto& [device, stretches] : curves->byDevice)
        if (kept.spans.contains(device))
            to.parts.get<EarlierCurves>().byDevice[device] = stretches;
}

} // namespace

extern const ChunkKind kEarlierChunk;
const ChunkKind kEarlierChunk{ wire::ChunkType::Earlier, ChunkKind::Place::BehindEvents, takeEarlierCurves,
    writeEarlierCurves, keepEarlierCurves };

} // namespace strata::model
