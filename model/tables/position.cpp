// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/position.h"

#include "model/analysis/summary/range_peak.h"
#include "model/analysis/training/steps/steps.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

/// What is asked of a trace, with indexes or without.
struct PositionQuery {
    const DeviceTrace& trace;
    std::function<Result<EventIndex>(const std::function<Result<EventIndex>(const Clock&)>&)> withClock;
    std::function<EventIndex(EventIndex first, EventIndex last)> peakWithin; ///< of requested bytes
};

Failure noPosition(std::string_view text)
{
    return fail(Error::Kind::Usage, say("'%1' is no position", text),
        say("give an event number (-1 is before the first), peak, end, oom, oom:K, t:SECONDS, us:EPOCH or "
            "step N"));
}

template <class Number> std::optional<Number> wholeNumber(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// "41207", or "41,207" as Strata itself prints it.
std::optional<std::int64_t> printedNumber(std::string_view text)
{
    std::string digits(text);
    std::erase(digits, ',');
    const auto number = wholeNumber<std::int64_t>(digits);
    return number && (digits == text || formatCount(*number) == text) ? number : std::nullopt;
}

Result<EventIndex> outOfMemory(const DeviceTrace& trace, std::int64_t wanted)
{
    const Column<Action>& actions = trace.events().action;
    std::int64_t seen = 0;
    EventIndex last = -1;
    for (EventIndex e = 0; e < trace.eventCount(); ++e) {
        if (actions[static_cast<std::size_t>(e)] != Action::Oom)
            continue;
        last = e;
        if (++seen == wanted)
            return e;
    }
    if (seen == 0)
        return fail(Error::Kind::NotFound, say("no out-of-memory was recorded on device %1", trace.device()),
            say("name another position, for example peak"));
    if (wanted > 0)
        return fail(Error::Kind::NotFound,
            say("no out-of-memory number %1 on device %2", wanted, trace.device()),
            seen == 1 ? say("there is 1: give oom:1")
                      : say("there are %1: give oom:1 to oom:%2", asCount(seen), seen));
    return last;
}

Result<EventIndex> eventNumber(const DeviceTrace& trace, EventIndex number)
{
    if (number >= -1 && number < trace.eventCount())
        return number;
    return fail(Error::Kind::Usage, say("there is no event %1", number),
        trace.eventCount() == 0
            ? say("device %1 has no events; -1 names the state that was recorded", trace.device())
            : say("device %1 has events 0 to %2; -1 is before the first", trace.device(),
                trace.eventCount() - 1));
}

Failure noClock(const DeviceTrace& trace)
{
    return fail(Error::Kind::NotFound,
        trace.eventCount() == 0 ? say("nothing was recorded over time, so there is no clock")
                                : say("the events have no times (PyTorch before 2.2 records none)"),
        say("give an event number instead"));
}

/// "start of backward of step 3".
struct StretchName {
    std::string_view range; ///< of the step; empty: the whole step
    std::int64_t step = 0;
    PositionUse use = PositionUse::Instant;
};

std::optional<StretchName> stretchIn(std::string_view text, PositionUse use)
{
    StretchName name{ .use = use };
    constexpr std::pair<std::string_view, PositionUse> kInstants[]{ { "start of ", PositionUse::From },
        { "end of ", PositionUse::To }, { "peak of ", PositionUse::Instant } };
    for (const auto& [words, which] : kInstants) {
        if (text.starts_with(words)) {
            name.use = which;
            text.remove_prefix(words.size());
            break;
        }
    }
    constexpr std::string_view kStep = "step ", kOfStep = " of step ";
    if (const std::size_t of = text.rfind(kOfStep); of != text.npos && of > 0) {
        name.range = text.substr(0, of);
        text.remove_prefix(of + kOfStep.size());
    } else if (text.starts_with(kStep)) {
        text.remove_prefix(kStep.size());
    } else {
        return std::nullopt;
    }
    const auto step = printedNumber(text); // "step 1,234", too
    if (!step)
        return std::nullopt;
    name.step = *step;
    return name;
}

Failure noStep(const TrainingSteps& found, const StretchName& wanted)
{
    if (found.steps.empty())
        return fail(Error::Kind::NotFound, say("nothing tells of steps"),
            say("name them in the program, for example with torch.profiler.record_function(\"step 3\")"));
    std::int64_t first = found.steps.front().number, last = first;
    for (const TrainingStep& step : found.steps) {
        if (const auto number = step.shownNumber())
            first = first < 0 ? *number : std::min(first, *number);
        last = std::max(last, step.number);
    }
    return fail(Error::Kind::NotFound, say("there is no step %1", wanted.step),
        say("there are steps %1 to %2", first, last));
}

/// The first range of a name within a step: of the thread that named the step, if it has one.
std::optional<SpanEvents> rangeIn(const DeviceTrace& trace, const Clock& clock, const TrainingSteps& all,
    const TrainingStep& step, std::string_view name)
{
    const auto named
        = namesOf(all, namedSteps(trace, clock))[static_cast<std::size_t>(&step - all.steps.data())];
    const auto isOfThread = [&](const AnnotationSpan& span) { return named && span.thread == named->thread; };
    std::optional<AnnotationSpan> best;
    for (const AnnotationSpan& span :
        annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole)) {
        const auto [first, last] = eventsOf(span);
        if (span.name != name || first < step.first || last > step.last)
            continue;
        if (!best || (isOfThread(span) && !isOfThread(*best))
            || (isOfThread(span) == isOfThread(*best) && span.beginNs < best->beginNs))
            best = span;
    }
    return best ? std::optional(eventsOf(*best)) : std::nullopt;
}

/// ... or else its first phase of that name.
std::optional<SpanEvents> phaseIn(const TrainingStep& step, std::string_view name)
{
    for (const PhaseSpan& span : step.phases)
        if (phaseWord(span.phase) == name)
            return SpanEvents{ span.first, span.last };
    return std::nullopt;
}

Result<EventIndex> stretch(const StretchName& wanted, const PositionQuery& asked, const Clock& clock)
{
    const auto all = findTrainingSteps(asked.trace, clock);
    if (!all)
        return Failure(all.error());
    const auto step = std::ranges::find(all->steps, wanted.step, &TrainingStep::number);
    if (step == all->steps.end())
        return noStep(*all, wanted);
    SpanEvents events{ step->first, step->last };
    if (!wanted.range.empty()) {
        auto found = rangeIn(asked.trace, clock, *all, *step, wanted.range);
        if (!found)
            found = phaseIn(*step, wanted.range);
        if (!found)
            return fail(Error::Kind::NotFound, say("step %1 has no range '%2'", wanted.step, wanted.range),
                say("strata events FILE --from 'step %1' --to 'step %1' shows what it has", wanted.step));
        events = *found;
    }
    switch (wanted.use) {
    case PositionUse::From:
        return events.first;
    case PositionUse::To:
        return events.last;
    case PositionUse::Instant:
        break;
    }
    return asked.peakWithin(events.first, events.last);
}

Result<EventIndex> parse(std::string_view text, const PositionQuery& asked, PositionUse use)
{
    const DeviceTrace& trace = asked.trace;
    if (text == "peak")
        return trace.totals().requestedPeakEvent;
    if (text == "end")
        return trace.eventCount() - 1;
    if (text == "oom")
        return outOfMemory(trace, 0);
    if (text.starts_with("oom:")) {
        const auto wanted = wholeNumber<std::int64_t>(text.substr(4));
        if (!wanted || *wanted < 1)
            return noPosition(text);
        return outOfMemory(trace, *wanted);
    }
    if (text.starts_with("t:") || text.starts_with("us:")) {
        const bool relative = text.front() == 't';
        const std::string_view digits = text.substr(relative ? 2 : 3);
        const auto seconds = relative ? wholeNumber<double>(digits) : std::nullopt;
        const auto micros = relative ? std::nullopt : wholeNumber<std::int64_t>(digits);
        constexpr std::int64_t kMaxMicros = std::numeric_limits<std::int64_t>::max() / 1000;
        // Beyond 100 years a time from the first event is a mistake, and would overflow when added to it.
        if (relative ? !seconds || !(std::abs(*seconds) < 3.2e9)
                     : !micros || *micros > kMaxMicros || *micros < -kMaxMicros)
            return noPosition(text);
        if (!trace.events().hasTimes())
            return noClock(trace);
        return asked.withClock([&](const Clock& clock) -> Result<EventIndex> {
            return clock.eventAt(
                relative ? wrapAdd(clock.startNs(), std::llround(*seconds * 1e9)) : *micros * 1000);
        });
    }
    if (const auto name = stretchIn(text, use))
        return asked.withClock([&](const Clock& clock) { return stretch(*name, asked, clock); });
    if (const auto number = printedNumber(text))
        return eventNumber(trace, *number);
    return noPosition(text);
}

} // namespace

Result<EventIndex> parsePosition(std::string_view text, const DeviceTimeline& timeline, PositionUse use)
{
    return parse(text,
        { timeline.trace(), [&](const auto& with) { return with(timeline.clock()); },
            [&](EventIndex first, EventIndex last) { return instantWithin(timeline, first, last); } },
        use);
}

Result<EventIndex> parsePosition(std::string_view text, const DeviceTrace& trace, PositionUse use)
{
    return parse(text,
        { trace, [&](const auto& with) { return with(Clock(trace)); },
            [&](EventIndex first, EventIndex last) {
                return Curve(trace, CurveKind::Requested).range(first, last).maxEvent;
            } },
        use);
}

} // namespace strata::model
