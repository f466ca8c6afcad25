// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/annotation_names.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace strata::model {

namespace {

bool takeAnnotations(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::AnnotationRow> rows;
    if (!wire::decodeAnnotations(payload, rows))
        return false;
    for (const wire::AnnotationRow& row : rows) {
        Annotation annotation{ row.kind, row.device, {}, row.timeNs, row.thread };
        if (!StreamTables::find(tables.strings, row.name, annotation.name))
            return false;
        recording.annotations.push_back(annotation);
    }
    return true;
}

void writeAnnotations(const Recording& recording, wire::ChunkWriter& writer)
{
    for (std::size_t first = 0; first < recording.annotations.size(); first += kRowsAChunk) {
        const std::size_t end = std::min(recording.annotations.size(), first + kRowsAChunk);
        std::vector<wire::AnnotationRow> rows;
        for (std::size_t i = first; i < end; ++i) {
            const Annotation& annotation = recording.annotations[i];
            rows.push_back({ annotation.kind, annotation.device, numberOf(annotation.name), annotation.timeNs,
                annotation.thread });
        }
        writer.chunk(
            wire::ChunkType::Annotations, [&](wire::Bytes& out) { wire::encodeAnnotations(rows, out); });
    }
}

/// Those of the kept time, and the starts before it that end in it or later.
void keepAnnotations(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto add = [&](Annotation annotation) {
        if (!kept.notes && annotation.kind == Annotation::Kind::Mark
            && from.strings[annotation.name].starts_with(wire::kNotePrefix))
            return;
        annotation.name = kept.text(annotation.name);
        to.annotations.push_back(annotation);
    };
    if (!kept.time) {
        std::ranges::for_each(from.annotations, add);
        return;
    }
    std::map<std::tuple<int, StringId, std::uint32_t>, std::vector<Annotation>> open;
    for (const Annotation& annotation : from.annotations) {
        if (annotation.timeNs >= kept.time->firstNs)
            continue;
        auto& starts = open[{ annotation.device, annotation.name, annotation.thread }];
        const wire::AnnotationRole role = wire::roleOf(annotation.kind);
        if (role == wire::AnnotationRole::Begins)
            starts.push_back(annotation);
        else if (role == wire::AnnotationRole::Ends && !starts.empty())
            starts.pop_back();
    }
    std::vector<Annotation> earlier;
    for (const auto& [place, starts] : open)
        earlier.insert(earlier.end(), starts.begin(), starts.end());
    std::ranges::stable_sort(earlier, {}, &Annotation::timeNs);
    std::ranges::for_each(earlier, add);
    for (const Annotation& annotation : from.annotations)
        if (annotation.timeNs >= kept.time->firstNs && annotation.timeNs <= kept.time->lastNs)
            add(annotation);
}

} // namespace

extern const ChunkKind kAnnotationsChunk;
const ChunkKind kAnnotationsChunk{ wire::ChunkType::Annotations, ChunkKind::Place::BehindEvents,
    takeAnnotations, writeAnnotations, keepAnnotations };

} // namespace strata::model
