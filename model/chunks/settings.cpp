// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/trace/program/allocator_calls.h"
#include "model/wire/tables.h"

#include <algorithm>

namespace strata::model {

namespace {

bool takeSettings(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    std::vector<wire::KeyValue> items;
    if (!wire::decodeKeyValues(payload, items))
        return false;
    // The first chunk is of the beginning, later ones are of later states.
    const std::vector<Setting> before = recording.settings;
    bool changed = false;
    for (auto& [key, json] : items) {
        const auto known = std::ranges::find(recording.settings, key, &Setting::key);
        if (known == recording.settings.end()) {
            recording.settings.push_back({ std::move(key), std::move(json) });
        } else if (known->json != json) {
            known->json = std::move(json);
            changed = true;
        }
    }
    if (changed && !recording.parts.find<SettingsAtStart>())
        recording.parts.get<SettingsAtStart>().settings = before;
    return true;
}

void writeAll(const std::vector<Setting>& settings, wire::ChunkWriter& writer)
{
    std::vector<wire::KeyValue> items;
    for (const Setting& setting : settings)
        items.emplace_back(setting.key, setting.json);
    if (!items.empty())
        writer.chunk(wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
}

void writeSettings(const Recording& recording, wire::ChunkWriter& writer)
{
    if (const auto* const start = recording.parts.find<SettingsAtStart>())
        writeAll(start->settings, writer);
    writeAll(recording.settings, writer);
}

void keepSettings(const Recording& from, const KeptRows& kept, Recording& to)
{
    for (const Setting& setting : from.settings)
        to.settings.push_back(kept.setting(setting));
    if (const auto* const start = from.parts.find<SettingsAtStart>())
        for (const Setting& setting : start->settings)
            to.parts.get<SettingsAtStart>().settings.push_back(kept.setting(setting));
}

} // namespace

extern const ChunkKind kSettingsChunk;
const ChunkKind kSettingsChunk{ wire::ChunkType::Settings, ChunkKind::Place::Front, takeSettings,
    writeSettings, keepSettings };

} // namespace strata::model
