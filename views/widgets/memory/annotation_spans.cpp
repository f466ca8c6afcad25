// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/annotation_spans.h"

#include <algorithm>
#include <limits>

namespace strata::views {

namespace {

struct Open {
    model::StringId name;
    std::int64_t beginNs;
};

/// Puts every span on the lowest level where it lies within what is below it: outer spans first.
void assignLevels(std::vector<AnnotationSpan>& spans)
{
    std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.endNs > b.endNs;
    });
    std::vector<std::int64_t> ends; // of the last span of each level
    for (AnnotationSpan& span : spans) {
        std::size_t level = ends.size();
        while (level > 0 && ends[level - 1] <= span.beginNs)
            --level;
        if (level == ends.size())
            ends.push_back(0);
        ends.resize(level + 1);
        ends[level] = std::max(span.endNs, span.beginNs + 1);
        span.level = static_cast<int>(level);
    }
    std::stable_sort(
        spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.level < b.level; });
}

} // namespace

std::vector<AnnotationSpan> annotationSpans(
    const model::Recording& recording, int device, const model::Clock& clock)
{
    std::vector<AnnotationSpan> spans;
    if (!clock.hasTimes())
        return spans;
    std::vector<const model::Annotation*> rows;
    for (const auto& row : recording.annotations)
        if (row.device == device || row.device < 0)
            rows.push_back(&row);
    std::stable_sort(
        rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->timeNs < b->timeNs; });

    const std::int64_t start = clock.startNs();
    const std::int64_t length = clock.endNs() - start;
    const auto add
        = [&](model::StringId name, std::int64_t begin, std::int64_t end, bool openBegin, bool openEnd) {
              if (end < 0 || begin > length)
                  return;
              AnnotationSpan span;
              const std::string_view text = recording.strings[name];
              span.name = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
              span.beginNs = std::max<std::int64_t>(begin, 0);
              span.endNs = std::min(end, length);
              span.openBegin = openBegin;
              span.openEnd = openEnd;
              span.first = clock.eventAt(start + span.beginNs - 1);
              span.last = clock.eventAt(start + span.endNs);
              spans.push_back(span);
          };

    std::vector<Open> open;
    for (const auto* row : rows) {
        const std::int64_t at = row->timeNs - start;
        if (row->kind == model::Annotation::Kind::Mark) {
            add(row->name, at, at, false, false);
        } else if (row->kind == model::Annotation::Kind::Start) {
            open.push_back({ row->name, at });
        } else {
            const auto it = std::find_if(
                open.rbegin(), open.rend(), [&](const Open& o) { return o.name == row->name; });
            if (it == open.rend()) {
                add(row->name, 0, at, true, false);
            } else {
                add(row->name, it->beginNs, at, false, false);
                open.erase(std::next(it).base());
            }
        }
    }
    for (const Open& o : open)
        add(o.name, o.beginNs, length, false, true);
    assignLevels(spans);
    return spans;
}

} // namespace strata::views
