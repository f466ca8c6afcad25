// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/position.h"

#include "model/base/units.h"
#include "model/base/wrap.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace strata::model {

namespace {

using ClockUse = std::function<EventIndex(const std::function<EventIndex(const Clock&)>&)>;

Failure noPosition(std::string_view text)
{
    return fail(Error::Kind::Usage, say("'%1' is no position", text),
        say("give an event number (-1 is before the first), peak, oom, oom:K, t:SECONDS or us:EPOCH"));
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
std::optional<EventIndex> eventNumberIn(std::string_view text)
{
    std::string digits(text);
    std::erase(digits, ',');
    const auto number = wholeNumber<EventIndex>(digits);
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

Result<EventIndex> parse(std::string_view text, const DeviceTrace& trace, const ClockUse& withClock)
{
    if (text == "peak")
        return trace.totals().requestedPeakEvent;
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
            return fail(Error::Kind::NotFound,
                trace.eventCount() == 0 ? say("nothing was recorded over time, so there is no clock")
                                        : say("the events have no times (PyTorch before 2.2 records none)"),
                say("give an event number instead"));
        return withClock([&](const Clock& clock) {
            return clock.eventAt(
                relative ? wrapAdd(clock.startNs(), std::llround(*seconds * 1e9)) : *micros * 1000);
        });
    }
    if (const auto number = eventNumberIn(text))
        return eventNumber(trace, *number);
    return noPosition(text);
}

} // namespace

Result<EventIndex> parsePosition(std::string_view text, const DeviceTimeline& timeline)
{
    return parse(text, timeline.trace(), [&](const auto& use) { return use(timeline.clock()); });
}

Result<EventIndex> parsePosition(std::string_view text, const DeviceTrace& trace)
{
    return parse(text, trace, [&](const auto& use) { return use(Clock(trace)); });
}

} // namespace strata::model
