// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/roles.h"

#include "model/chunks/chunk_kinds.h"
#include "model/wire/roles_codec.h"

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using RoleKind = wire::RoleKind;

bool takeRoles(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::RoleRow> rows;
    if (!wire::decodeRoles(payload, rows))
        return false;
    for (const wire::RoleRow& row : rows) {
        RoleListing listing;
        listing.event = static_cast<EventIndex>(tables.since(row.device, row.event));
        listing.kind = row.kind;
        listing.address = row.address;
        listing.elements = static_cast<std::int64_t>(row.elements);
        listing.optimizer = row.optimizer;
        if (listing.event < 0 || listing.elements < 0
            || !StreamTables::find(tables.strings, row.name, listing.name)
            || !StreamTables::find(tables.strings, row.part, listing.part)
            || !StreamTables::find(tables.strings, row.dtype, listing.dtype))
            return false;
        recording.parts.get<RoleListings>().byDevice[row.device].push_back(listing);
    }
    return true;
}

void writeRoles(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<RoleListings>();
    if (!part)
        return;
    std::vector<wire::RoleRow> rows;
    const auto flush = [&] {
        if (!rows.empty())
            writer.chunk(wire::ChunkType::Roles, [&](wire::Bytes& out) { wire::encodeRoles(rows, out); });
        rows.clear();
    };
    for (const auto& [device, listings] : part->byDevice)
        for (const RoleListing& listing : listings) {
            rows.push_back({ device, static_cast<std::uint64_t>(listing.event), listing.kind, listing.address,
                numberOf(listing.name), numberOf(listing.part), numberOf(listing.dtype),
                static_cast<std::uint64_t>(listing.elements), listing.optimizer });
            if (rows.size() >= kRowsAChunk)
                flush();
        }
    flush();
}

/// Those of one device within what is kept. What was listed before it holds on: what lives long from the
/// first event on, and everything where its optimizer says it again. (A gradient may be gone meanwhile, and
/// another block at its address.)
class Keeper {
public:
    /// `nameOf`: the name of a tensor in the new recording.
    Keeper(const KeptRows& kept, int device, std::function<StringId(StringId)> nameOf, RoleListings::Rows& to)
        : m_kept(kept)
        , m_device(device)
        , m_nameOf(std::move(nameOf))
        , m_to(to)
    {
    }

    void take(const RoleListing& listing)
    {
        const auto place = m_kept.placeOf(m_device, listing.event);
        if (!place) {
            if (m_begun || wire::isStep(listing.kind) || listing.event > m_kept.spans.at(m_device).first)
                return;
            m_earlier[{ listing.kind, listing.name, listing.part, listing.optimizer }] = listing;
            return;
        }
        begin();
        if (listing.kind == RoleKind::Stepped)
            sayAgain(listing.optimizer, *place);
        add(listing, *place);
    }
    void begin()
    {
        if (std::exchange(m_begun, true))
            return;
        for (const auto& [key, listing] : m_earlier) {
            if (listing.address == 0)
                continue;
            if (listing.kind == RoleKind::Gradient)
                m_gradients[listing.optimizer].push_back(listing);
            else if (listing.kind != RoleKind::Input)
                add(listing, 0);
        }
    }

private:
    using Key = std::tuple<RoleKind, StringId, StringId, std::uint32_t>;

    void sayAgain(std::uint32_t optimizer, EventIndex place)
    {
        for (const RoleListing& listing : std::exchange(m_gradients[optimizer], {}))
            if (!m_since.contains({ listing.kind, listing.name, listing.part, listing.optimizer }))
                add(listing, place);
    }
    void add(RoleListing listing, EventIndex place)
    {
        m_since[{ listing.kind, listing.name, listing.part, listing.optimizer }] = true;
        listing.event = place;
        const bool ofOptimizer = wire::isStep(listing.kind);
        const auto text = [&](StringId id) { return id.valid() ? m_kept.text(id) : id; };
        listing.name = ofOptimizer ? text(listing.name) : m_nameOf(listing.name);
        listing.part = text(listing.part);
        listing.dtype = text(listing.dtype);
        m_to.push_back(listing);
    }

    const KeptRows& m_kept;
    int m_device;
    std::function<StringId(StringId)> m_nameOf;
    RoleListings::Rows& m_to;
    bool m_begun = false;
    std::map<Key, RoleListing> m_earlier;
    std::map<std::uint32_t, std::vector<RoleListing>> m_gradients; // of these, by optimizer, until it steps
    std::map<Key, bool> m_since;
};

void keepRoles(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const part = from.parts.find<RoleListings>();
    if (!part)
        return;
    std::map<StringId, StringId> numbered;
    // Names that are left out still tell tensors apart.
    const auto nameOf = [&](StringId name) {
        if (!name.valid())
            return name;
        if (kept.modules)
            return kept.text(name);
        const auto [known, isNew] = numbered.try_emplace(name);
        if (isNew)
            known->second = to.strings.intern("#" + std::to_string(numbered.size()));
        return known->second;
    };
    for (const auto& [device, listings] : part->byDevice) {
        if (!kept.spans.contains(device))
            continue;
        Keeper keeper(kept, device, nameOf, to.parts.get<RoleListings>().byDevice[device]);
        for (const RoleListing& listing : listings)
            keeper.take(listing);
        keeper.begin();
    }
}

} // namespace

extern const ChunkKind kRolesChunk;
const ChunkKind kRolesChunk{ wire::ChunkType::Roles, ChunkKind::Place::BehindEvents, takeRoles, writeRoles,
    keepRoles };

} // namespace strata::model
