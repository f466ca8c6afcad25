// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/annotation_spans.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>

namespace strata::model {

namespace {

struct Open {
    StringId name;
    std::uint32_t thread;
    std::int64_t beginNs;
    bool ended = false;
};

/// Spans that have begun, found by name and thread, the latest first.
class OpenSpans {
public:
    void begin(const Annotation& row, std::int64_t atNs)
    {
        m_of[keyOf(row)].push_back(m_all.size());
        m_all.push_back({ row.name, row.thread, atNs });
    }
    /// When the one that ends here began; none is open: nothing.
    [[nodiscard]] std::optional<std::int64_t> end(const Annotation& row)
    {
        const auto found = m_of.find(keyOf(row));
        if (found == m_of.end() || found->second.empty())
            return std::nullopt;
        Open& latest = m_all[found->second.back()];
        found->second.pop_back();
        latest.ended = true;
        return latest.beginNs;
    }
    /// In the order in which they began, those that ended too.
    [[nodiscard]] const std::vector<Open>& all() const { return m_all; }

private:
    [[nodiscard]] static std::uint64_t keyOf(const Annotation& row)
    {
        return std::uint64_t{ row.thread } << 32 | row.name.value;
    }

    std::vector<Open> m_all;
    boost::unordered_flat_map<std::uint64_t, std::vector<std::size_t>> m_of; // rows of m_all
};

/// Puts every span of a thread on the lowest level from `first` on where it lies within what is below it:
/// outer spans first. How many levels there are.
int assignLevels(std::span<AnnotationSpan> spans, int first)
{
    std::vector<std::int64_t> ends; // of the last span of each level
    std::size_t most = 0;
    for (AnnotationSpan& span : spans) {
        std::size_t level = ends.size();
        while (level > 0 && ends[level - 1] <= span.beginNs)
            --level;
        if (level == ends.size())
            ends.push_back(0);
        ends.resize(level + 1);
        ends[level] = std::max(span.endNs, wrapAdd(span.beginNs, 1));
        span.level = first + static_cast<int>(level);
        most = std::max(most, ends.size());
    }
    return static_cast<int>(most);
}

using ThreadOrder = boost::unordered_flat_map<std::uint32_t, std::size_t>;

void assignLevels(std::vector<AnnotationSpan>& spans, const ThreadOrder& threads)
{
    std::ranges::stable_sort(spans, [&](const AnnotationSpan& a, const AnnotationSpan& b) {
        if (a.thread != b.thread)
            return threads.at(a.thread) < threads.at(b.thread);
        return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.endNs > b.endNs;
    });
    int level = 0;
    for (auto first = spans.begin(); first != spans.end();) {
        const auto last = std::find_if(
            first, spans.end(), [&](const AnnotationSpan& span) { return span.thread != first->thread; });
        level += assignLevels(std::span(first, last), level);
        first = last;
    }
    std::ranges::stable_sort(spans, {}, &AnnotationSpan::level);
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

// What PyTorch's optimizers annotate: "Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad".
constexpr std::string_view kOptimizer = "Optimizer.";
constexpr std::string_view kUpdate = "Optimizer.step#";

/// Each step ends where an update of the weights ends: from there to the end of the next. Optimizers within
/// others are a part of theirs; what comes behind the last one is no whole step.
std::vector<AnnotationSpan> betweenUpdates(const std::vector<AnnotationSpan>& updates)
{
    std::vector<AnnotationSpan> steps;
    std::int64_t endNs = updates.empty() ? 0 : std::min<std::int64_t>(0, updates.front().beginNs);
    EventIndex first = -1;
    for (const AnnotationSpan& update : updates) {
        if (update.endNs <= endNs && !steps.empty())
            continue;
        AnnotationSpan step = update;
        step.level = 0;
        step.beginNs = endNs;
        step.first = first;
        step.openBegin = steps.empty();
        steps.push_back(step);
        endNs = update.endNs;
        first = update.last;
    }
    return steps;
}

/// In the order in which they begin.
template <class Wanted>
std::vector<AnnotationSpan> spansThat(const std::vector<AnnotationSpan>& spans, Wanted wanted)
{
    std::vector<AnnotationSpan> found;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(found), wanted);
    std::stable_sort(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return found;
}

} // namespace

std::vector<AnnotationSpan> annotationSpans(
    const Recording& recording, int device, const Clock& clock, SpanTimes times)
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
    const std::int64_t length = wrapSub(clock.endNs(), start);
    ThreadOrder threads;
    const auto add = [&](StringId name, std::uint32_t thread, std::int64_t begin, std::int64_t end,
                         bool openBegin, bool openEnd) {
        const bool whole = times == SpanTimes::Whole;
        if (!whole && (end < 0 || begin > length))
            return;
        AnnotationSpan span;
        span.name = recording.strings[name];
        span.thread = thread;
        span.beginNs = whole ? begin : std::max<std::int64_t>(begin, 0);
        span.endNs = whole ? end : std::min(end, length);
        span.openBegin = openBegin;
        span.openEnd = openEnd;
        span.first = clock.eventAt(wrapSub(wrapAdd(start, span.beginNs), 1));
        span.last = clock.eventAt(wrapAdd(start, span.endNs));
        spans.push_back(span);
    };

    OpenSpans open;
    for (const auto* row : rows) {
        threads.try_emplace(row->thread, threads.size());
        const std::int64_t at = wrapSub(row->timeNs, start);
        switch (wire::roleOf(row->kind)) {
        case wire::AnnotationRole::Moment:
            add(row->name, row->thread, at, at, false, false);
            break;
        case wire::AnnotationRole::Begins:
            open.begin(*row, at);
            break;
        case wire::AnnotationRole::Ends:
            if (const auto began = open.end(*row))
                add(row->name, row->thread, *began, at, false, false);
            else
                add(row->name, row->thread, std::min<std::int64_t>(0, at), at, true, false);
            break;
        }
    }
    for (const Open& o : open.all())
        if (!o.ended)
            add(o.name, o.thread, o.beginNs, std::max(length, o.beginNs), false, true);
    assignLevels(spans, threads);
    return spans;
}

std::optional<std::int64_t> stepNumberIn(std::string_view name)
{
    // "[step 3]", "iter-3": the word, signs, the number.
    name = behindSigns(name);
    for (const std::string_view word : { "profilerstep", "step", "iteration", "iter", "batch" }) {
        if (!startsWithAnyCase(name, word))
            continue;
        const std::string_view rest = behindSigns(name.substr(word.size()));
        std::int64_t number = 0;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc{} && number >= 0)
            return number;
    }
    return std::nullopt;
}

bool tellsOfStep(std::string_view name)
{
    return stepNumberIn(name) || name.starts_with(kUpdate);
}

std::vector<AnnotationSpan> trainingStepsAmong(const std::vector<AnnotationSpan>& spans)
{
    auto steps
        = spansThat(spans, [](const AnnotationSpan& span) { return stepNumberIn(span.name).has_value(); });
    if (!steps.empty())
        return steps;
    return betweenUpdates(
        spansThat(spans, [](const AnnotationSpan& span) { return span.name.starts_with(kUpdate); }));
}

std::vector<AnnotationSpan> stepsAmong(const std::vector<AnnotationSpan>& spans)
{
    auto steps = trainingStepsAmong(spans);
    return steps.empty()
        ? spansThat(spans,
            [](const AnnotationSpan& span) { return span.level == 0 && !span.name.starts_with(kOptimizer); })
        : steps;
}

} // namespace strata::model
