// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/tables.h"

#include <algorithm>

namespace strata::model {

namespace {

bool take(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::AnnotationRow> rows;
    if (!wire::decodeAnnotations(payload, rows))
        return false;
    for (const wire::AnnotationRow& row : rows) {
        Annotation annotation{ row.kind, row.device, {}, row.timeNs };
        if (!StreamTables::find(tables.strings, row.name, annotation.name))
            return false;
        recording.annotations.push_back(annotation);
    }
    return true;
}

void write(const Recording& recording, wire::ChunkWriter& writer)
{
    for (std::span<const Annotation> rest = recording.annotations; !rest.empty();) {
        const std::size_t count = std::min(rest.size(), kRowsAChunk);
        std::vector<wire::AnnotationRow> rows;
        for (const Annotation& annotation : rest.first(count))
            rows.push_back(
                { annotation.kind, annotation.device, numberOf(annotation.name), annotation.timeNs });
        writer.chunk(
            wire::ChunkType::Annotations, [&](wire::Bytes& out) { wire::encodeAnnotations(rows, out); });
        rest = rest.subspan(count);
    }
}

} // namespace

extern const ChunkKind kAnnotationsChunk;
const ChunkKind kAnnotationsChunk{ wire::ChunkType::Annotations, ChunkKind::Place::BehindEvents, take,
    write };

} // namespace strata::model
