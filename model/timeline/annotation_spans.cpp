// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/annotation_spans.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace strata::model {

namespace {

struct Open {
    StringId name;
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

bool isWordByte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// Behind what is no part of a word.
std::string_view behindSigns(std::string_view text)
{
    const auto first = std::find_if(text.begin(), text.end(), isWordByte);
    return text.substr(static_cast<std::size_t>(first - text.begin()));
}

bool startsWithAnyCase(std::string_view text, std::string_view lowerCase)
{
    return text.size() >= lowerCase.size()
        && std::equal(lowerCase.begin(), lowerCase.end(), text.begin(),
            [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

/// "ProfilerStep#3", "[step 3]", "iter-3": the word, signs, the number.
bool isNumberedStep(std::string_view name)
{
    name = behindSigns(name);
    for (const std::string_view word : { "profilerstep", "step", "iteration", "iter", "batch" }) {
        if (!startsWithAnyCase(name, word))
            continue;
        const std::string_view rest = behindSigns(name.substr(word.size()));
        if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9')
            return true;
    }
    return false;
}

} // namespace

std::vector<AnnotationSpan> annotationSpans(const Recording& recording, int device, const Clock& clock)
{
    std::vector<AnnotationSpan> spans;
    if (!clock.hasTimes())
        return spans;
    std::vector<const Annotation*> rows;
    for (const auto& row : recording.annotations)
        if (row.device == device || row.device < 0)
            rows.push_back(&row);
    std::stable_sort(
        rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->timeNs < b->timeNs; });

    const std::int64_t start = clock.startNs();
    const std::int64_t length = clock.endNs() - start;
    const auto add = [&](StringId name, std::int64_t begin, std::int64_t end, bool openBegin, bool openEnd) {
        if (end < 0 || begin > length)
            return;
        AnnotationSpan span;
        span.name = recording.strings[name];
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
        switch (wire::roleOf(row->kind)) {
        case wire::AnnotationRole::Moment:
            add(row->name, at, at, false, false);
            break;
        case wire::AnnotationRole::Begins:
            open.push_back({ row->name, at });
            break;
        case wire::AnnotationRole::Ends:
            const auto it = std::find_if(
                open.rbegin(), open.rend(), [&](const Open& o) { return o.name == row->name; });
            if (it == open.rend()) {
                add(row->name, 0, at, true, false);
            } else {
                add(row->name, it->beginNs, at, false, false);
                open.erase(std::next(it).base());
            }
            break;
        }
    }
    for (const Open& o : open)
        add(o.name, o.beginNs, length, false, true);
    assignLevels(spans);
    return spans;
}

std::vector<AnnotationSpan> stepsAmong(const std::vector<AnnotationSpan>& spans)
{
    std::vector<AnnotationSpan> steps;
    const auto take = [&](const auto& wanted) {
        std::copy_if(spans.begin(), spans.end(), std::back_inserter(steps), wanted);
    };
    take([](const AnnotationSpan& span) { return isNumberedStep(span.name); });
    if (steps.empty())
        take([](const AnnotationSpan& span) { return span.level == 0; });
    std::stable_sort(
        steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return steps;
}

} // namespace strata::model
