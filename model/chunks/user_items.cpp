// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/user_items.h"

#include "model/chunks/chunk_kinds.h"

#include <utility>
#include <vector>

namespace strata::model {

namespace {

template <wire::ChunkType kType>
bool takeUserItem(std::span<const std::byte> payload, const StreamTables&, Recording& recording)
{
    takeUserRows(kType, payload, recording.user);
    return true;
}

template <UserItem::Kind kKind> void writeUserItems(const Recording& recording, wire::ChunkWriter& writer)
{
    std::vector<wire::UserRow> rows;
    for (const UserItem& item : recording.user.items)
        if (item.kind == kKind)
            rows.push_back(rowOf(item));
    if (!rows.empty())
        writer.chunk(chunkTypeOf(kKind), [&](wire::Bytes& out) { wire::encodeUserRows(rows, out); });
}

template <wire::ChunkType kType, UserItem::Kind kKind>
constexpr ChunkKind kUserChunk{ kType, ChunkKind::Place::BehindIndex, takeUserItem<kType>,
    writeUserItems<kKind> };

} // namespace

extern const ChunkKind kNoteChunk, kRangeChunk, kFilterChunk, kRulesChunk, kViewChunk;
const ChunkKind kNoteChunk = kUserChunk<wire::ChunkType::Note, UserItem::Kind::Note>;
const ChunkKind kRangeChunk = kUserChunk<wire::ChunkType::Range, UserItem::Kind::Range>;
const ChunkKind kFilterChunk = kUserChunk<wire::ChunkType::Filter, UserItem::Kind::Filter>;
const ChunkKind kRulesChunk = kUserChunk<wire::ChunkType::Rules, UserItem::Kind::Rules>;
const ChunkKind kViewChunk = kUserChunk<wire::ChunkType::View, UserItem::Kind::View>;

wire::ChunkType chunkTypeOf(UserItem::Kind kind)
{
    switch (kind) {
    case UserItem::Kind::Note:
        return wire::ChunkType::Note;
    case UserItem::Kind::Range:
        return wire::ChunkType::Range;
    case UserItem::Kind::Filter:
        return wire::ChunkType::Filter;
    case UserItem::Kind::Rules:
        return wire::ChunkType::Rules;
    case UserItem::Kind::View:
        break;
    }
    return wire::ChunkType::View;
}

namespace {

UserItem::Kind itemKindOf(wire::ChunkType type)
{
    for (const UserItem::Kind kind :
        { UserItem::Kind::Note, UserItem::Kind::Range, UserItem::Kind::Filter, UserItem::Kind::Rules })
        if (chunkTypeOf(kind) == type)
            return kind;
    return UserItem::Kind::View;
}

} // namespace

wire::UserRow rowOf(const UserItem& item, bool removed)
{
    return { item.key, removed, item.changedNs, item.device, item.first, item.last, item.address, item.text,
        item.conditions };
}

void takeUserRows(wire::ChunkType type, std::span<const std::byte> payload, UserData& user)
{
    std::vector<wire::UserRow> rows;
    if (!wire::decodeUserRows(payload, rows))
        return;
    const UserItem::Kind kind = itemKindOf(type);
    for (wire::UserRow& row : rows) {
        if (row.removed)
            user.remove(row.key, row.changedNs);
        else
            user.set({ kind, row.key, row.changedNs, row.device, row.first, row.last, row.address,
                std::move(row.text), std::move(row.conditions) });
    }
}

} // namespace strata::model
