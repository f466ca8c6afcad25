// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"

#include <algorithm>
#include <array>

namespace strata::model {

// The register: a new kind is declared and listed here, and nowhere else.
extern const ChunkKind kSettingsChunk, kLostChunk, kAnnotationsChunk, kDriverChunk, kCallsChunk, kRolesChunk,
    kEarlierChunk, kDeviceWorkChunk, kWorkCallsChunk, kWorkWaitsChunk, kWorkLossesChunk,
    kDriverAllocationsChunk, kOperatorsChunk, kDeepStepChunk, kCallListChunk, kNoteChunk, kRangeChunk,
    kFilterChunk, kRulesChunk, kViewChunk;

namespace {

constexpr std::array kKinds{ &kSettingsChunk, &kLostChunk, &kAnnotationsChunk, &kDriverChunk, &kCallsChunk,
    &kRolesChunk, &kEarlierChunk, &kDeviceWorkChunk, &kWorkCallsChunk, &kWorkWaitsChunk, &kWorkLossesChunk,
    &kDriverAllocationsChunk, &kOperatorsChunk, &kDeepStepChunk, &kCallListChunk, &kNoteChunk, &kRangeChunk,
    &kFilterChunk, &kRulesChunk, &kViewChunk };

} // namespace

std::span<const ChunkKind* const> chunkKinds()
{
    return kKinds;
}

const ChunkKind* chunkKindOf(wire::ChunkType type)
{
    const auto* const found = std::ranges::find(kKinds, type, &ChunkKind::type);
    return found == kKinds.end() ? nullptr : *found;
}

void writeChunks(const Recording& recording, ChunkKind::Place place, wire::ChunkWriter& writer)
{
    for (const ChunkKind* const kind : kKinds)
        if (kind->place == place)
            kind->write(recording, writer);
}

} // namespace strata::model
