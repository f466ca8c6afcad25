// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

#include <algorithm>

namespace strata::model {

namespace {

bool take(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::KeyValue> items;
    if (!wire::decodeKeyValues(payload, items))
        return false;
    for (auto& [key, json] : items) {
        const auto known = std::ranges::find(recording.settings, key, &Setting::key);
        if (known != recording.settings.end())
            known->json = std::move(json);
        else
            recording.settings.push_back({ std::move(key), std::move(json) });
    }
    return true;
}

void write(const Recording& recording, wire::ChunkWriter& writer)
{
    std::vector<wire::KeyValue> items;
    for (const Setting& setting : recording.settings)
        items.emplace_back(setting.key, setting.json);
    if (!items.empty())
        writer.chunk(wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void keep(const Recording& from, const KeptRows& kept, Recording& to)
{
    for (const Setting& setting : from.settings)
        to.settings.push_back(kept.setting(setting));
}

} // namespace

extern const ChunkKind kSettingsChunk;
const ChunkKind kSettingsChunk{ wire::ChunkType::Settings, ChunkKind::Place::Front, take, write, keep };

} // namespace strata::model
