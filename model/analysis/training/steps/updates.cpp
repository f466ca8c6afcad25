// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/updates.h"

#include "model/timeline/annotation_spans.h"
#include "model/trace/program/roles.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace strata::model {

namespace {

constexpr std::string_view kUpdate = "Optimizer.step#";

/// Outermost ones, in the order of their begin: of optimizers within optimizers, the outer.
std::vector<Update> fromRanges(const DeviceTrace& trace, const Clock& clock)
{
    std::vector<AnnotationSpan> spans
        = annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole);
    std::erase_if(spans, [](const AnnotationSpan& span) {
        return !span.name.starts_with(kUpdate) || span.openEnd || span.last < 0;
    });
    std::ranges::stable_sort(spans, [](const AnnotationSpan& a, const AnnotationSpan& b) {
        return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.endNs > b.endNs;
    });
    std::map<std::string_view, std::uint32_t> names;
    std::vector<Update> found;
    std::int64_t endNs = 0;
    for (const AnnotationSpan& span : spans) {
        if (!found.empty() && span.endNs <= endNs)
            continue;
        endNs = span.endNs;
        const auto number = names.emplace(span.name, static_cast<std::uint32_t>(names.size())).first->second;
        found.push_back(
            { std::min(span.first + 1, span.last + 1), span.last, -1, true, Update::kNamed + number });
    }
    return found;
}

} // namespace

std::vector<Update> updatesOf(const DeviceTrace& trace, const Clock& clock)
{
    std::vector<Update> updates;
    if (!trace.recording().annotations.empty())
        updates = fromRanges(trace, clock);
    const std::size_t ranges = updates.size();
    std::size_t at = 0;
    bool exact = false; // the end of the range `at` was listed
    for (const RoleListing& row : RoleListings::of(trace.recording(), trace.device())) {
        if (!wire::isStep(row.kind))
            continue;
        const EventIndex last = std::clamp<EventIndex>(row.event, 0, trace.eventCount()) - 1;
        const auto mayHold
            = [&](std::size_t range) { return range < ranges && updates[range].first <= last + 1; };
        while (at < ranges && (updates[at].last < last || (exact && mayHold(at + 1)))) {
            ++at;
            exact = false;
        }
        if (mayHold(at)) { // what lists runs within the range, behind all that the optimizer did
            updates[at].exactLast = last;
            updates[at].optimizer
                = row.optimizer; // of optimizers within optimizers, the outer is listed last
            exact = true;
        } else {
            updates.push_back({ last + 1, last, last, false, row.optimizer });
        }
    }
    for (Update& update : updates)
        if (update.exactLast >= 0)
            update.last = std::max(update.exactLast, update.first - 1);
    std::ranges::stable_sort(updates, {}, &Update::last);
    return updates;
}

namespace {

/// What an update holds beside what an optimizer does.
struct Held {
    bool forward = false, backward = false;
};

bool isOfUpdate(RunKind work, const Held& held)
{
    switch (work) {
    case RunKind::NoGrad:
    case RunKind::Inference:
    case RunKind::Optimizer:
    case RunKind::Gradients:
        return true;
    case RunKind::Other:
    case RunKind::Forward: // a closure's, or of an optimizer that does not care for gradients
        return !held.backward;
    case RunKind::Backward:
    case RunKind::Recompute:
        return !held.forward;
    default:
        return false;
    }
}

/// For updates that are known by their end alone: from where nothing but work without gradients came.
void findBegins(const std::vector<WorkRun>& runs, std::vector<Update>& updates)
{
    std::size_t run = 0;
    for (Update& update : updates) {
        if (update.beginKnown || update.last < 0)
            continue;
        while (run + 1 < runs.size() && runs[run].last < update.last)
            ++run;
        if (runs[run].work == RunKind::NoGrad || runs[run].work == RunKind::Optimizer)
            update.first = runs[run].first;
    }
}

/// Each with what it holds; those without events left out, and none into another.
std::vector<std::pair<Update, Held>> apart(const WorkHistory& work, std::vector<Update> updates)
{
    const std::vector<WorkRun>& runs = work.runs;
    const auto isWithin = [&](const WorkRun& run, EventIndex first) {
        return (work.isGuess ? run.first : run.lastOwn) >= first;
    };
    std::ranges::stable_sort(updates, {}, &Update::first);
    std::vector<std::pair<Update, Held>> found;
    std::size_t from = 0;
    EventIndex done = -1;
    for (Update& update : updates) {
        update.first = std::max(update.first, done + 1);
        if (update.last < update.first)
            continue;
        done = update.last;
        while (from < runs.size() && runs[from].last < update.first)
            ++from;
        Held held;
        for (std::size_t i = from; i < runs.size() && runs[i].first <= update.last; ++i) {
            held.forward
                = held.forward || (runs[i].work == RunKind::Forward && isWithin(runs[i], update.first));
            held.backward = held.backward || isBackward(runs[i].work);
        }
        found.emplace_back(update, held);
    }
    return found;
}

} // namespace

void markUpdates(WorkHistory& work, std::vector<Update>& updates)
{
    if (work.empty() || updates.empty())
        return;
    findBegins(work.runs, updates);
    const auto marks = apart(work, updates);
    std::vector<WorkRun> runs;
    const auto add = [&](const WorkRun& of, EventIndex first, EventIndex last, RunKind what) {
        // What is given back behind an update goes with it, but for what backward gives back.
        if (first > of.first && of.lastOwn < first && what == of.work && !isBackward(what)) {
            runs.back().last = last;
            return;
        }
        const bool begins = of.begins && first == of.first;
        const EventIndex own = std::min(of.lastOwn, last);
        if (!runs.empty() && runs.back().work == what && !begins) {
            runs.back().last = last;
            runs.back().lastOwn = std::max(runs.back().lastOwn, own);
        } else {
            runs.push_back({ what, begins, first, last, own });
        }
    };
    std::size_t next = 0;
    for (const WorkRun& run : work.runs) {
        for (EventIndex at = run.first; at <= run.last;) {
            while (next < marks.size() && marks[next].first.last < at)
                ++next;
            if (next == marks.size() || marks[next].first.first > run.last) {
                add(run, at, run.last, run.work);
                break;
            }
            const auto& [update, held] = marks[next];
            if (update.first > at) {
                add(run, at, update.first - 1, run.work);
                at = update.first;
            }
            const EventIndex last = std::min(update.last, run.last);
            add(run, at, last, isOfUpdate(run.work, held) ? RunKind::Optimizer : run.work);
            at = last + 1;
        }
    }
    work.runs = std::move(runs);
}

} // namespace strata::model
