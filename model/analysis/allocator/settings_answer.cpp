// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_answer.h"

#include <algorithm>
#include <cassert>

namespace strata::model {

namespace {

using PolicyKind = AddressPolicy::Kind;
constexpr AddressPolicy kOrdersOfDrivers[]{ { PolicyKind::TopDown }, { PolicyKind::Ascending },
    { PolicyKind::Descending } };

/// Orders of addresses to be tried; fewer where each takes long.
std::vector<AddressPolicy> ordersOf(const ReplayRequests& requests)
{
    constexpr EventIndex kFewest = 2, kMost = 10, kEvents = 10'000'000;
    const EventIndex random = std::clamp(
        kEvents / std::max(static_cast<EventIndex>(requests.size()), EventIndex{ 1 }), kFewest, kMost);
    std::vector<AddressPolicy> orders(std::begin(kOrdersOfDrivers), std::end(kOrdersOfDrivers));
    for (EventIndex seed = 1; seed <= random; ++seed)
        orders.push_back({ PolicyKind::Random, static_cast<std::uint64_t>(seed) });
    return orders;
}

/// Whether the capacity is that of the card, not only what an out-of-memory tells.
bool knowsCard(const ReplayReport& report)
{
    return report.capacitySource == ReplayReport::CapacitySource::Session
        || report.capacitySource == ReplayReport::CapacitySource::Option;
}

/// Of the card whose capacity the question has; a fraction is one of something, though it be too little.
std::int64_t deviceBytesOf(const ReplayQuestion& question, bool isCard)
{
    return question.capacityBytes && (isCard || question.settings.memoryFraction) ? *question.capacityBytes
                                                                                  : 0;
}

/// The question whose answer was recorded, but for the order of addresses.
ReplayQuestion asRecorded(const ReplayReport& report)
{
    ReplayQuestion question;
    question.settings = report.settings;
    question.capacityBytes = report.capacityBytes;
    question.deviceBytes = deviceBytesOf(question, knowsCard(report));
    if (!report.emptyCachesMarked)
        question.emptyCaches = report.check.emptyCaches;
    question.poolEnds = report.check.poolEnds;
    question.rank = report.check.rank;
    return question;
}

Result<ReplayQuestion> questionOf(const ReplayReport& report, const SettingsAsked& asked)
{
    const auto settings = AllocatorSettings::parse(asked.settings, report.version);
    if (!settings)
        return Failure(settings.error());
    ReplayQuestion question = asRecorded(report);
    question.settings = *settings;
    // A fraction that the recorded settings named goes with them; one that the program set stays.
    const auto recorded = AllocatorSettings::parse(report.settingsText, report.version);
    if (recorded && !recorded->memoryFraction && report.settings.memoryFraction)
        question.settings.memoryFraction = report.settings.memoryFraction;
    if (asked.capacityBytes)
        question.capacityBytes = asked.capacityBytes;
    question.deviceBytes = deviceBytesOf(question, asked.capacityBytes || knowsCard(report));
    if (asked.availableBytes)
        question.capacityBytes = asked.availableBytes;
    if (asked.emptyCaches)
        question.emptyCaches = asked.emptyCaches;
    question.until = asked.until;
    question.endsAtNewOom = asked.figuresAlone;
    return question;
}

/// Of the orders of real drivers the one under which the recorded settings come to what was recorded.
Result<AddressPolicy> orderThatFits(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress)
{
    ReplayQuestion question = asRecorded(report);
    const ReplayRequests requests = ReplayRequests::of(trace);
    ReplayFigures recorded = recordedFigures(trace, report.check.rounding);
    for (const AddressPolicy& order : kOrdersOfDrivers) {
        question.addresses = order;
        const auto replayed = replayUnder(requests, question, progress);
        if (!replayed)
            return Failure(replayed.error());
        recorded.byAddress = replayed->byAddress;
        recorded.metCapacity = replayed->metCapacity;
        // A replay has no events of segments: that of the request stands for them.
        recorded.reservedPeakEvent = replayed->reservedPeakEvent;
        if (*replayed == recorded)
            return order;
    }
    return AddressPolicy{};
}

/// Where the order of the driver's addresses decides, or when frees end that wait for other streams: the
/// range of what other orders and moments come to, widened by half of itself on both sides, by a segment at
/// least. (tests/truth/tests/test_replay.py holds it to runs under random orders, and to such whose frees
/// wait.)
Result<void> findRanges(const ReplayRequests& requests, bool byPendingFrees, const ReplayQuestion& question,
    SettingsAnswer& answer, const Progress& progress)
{
    std::vector<ReplayFigures> figures{ answer.replayed };
    std::vector<ReplayQuestion> questions;
    if (byPendingFrees)
        for (const PendingFrees frees :
            { PendingFrees::AtOnce, PendingFrees::HalfLate, PendingFrees::Late }) {
            questions.push_back(question);
            questions.back().pendingFrees = frees;
        }
    if (answer.orderThatFits)
        for (const AddressPolicy& order : ordersOf(requests)) {
            questions.push_back(question);
            questions.back().addresses = order;
        }
    for (const ReplayQuestion& other : questions) {
        const auto replayed = replayUnder(requests, other, progress);
        if (!replayed)
            return Failure(replayed.error());
        figures.push_back(*replayed);
    }
    const auto range = [&](std::int64_t ReplayFigures::*peak, std::int64_t leastMore) {
        const auto [least, most] = std::ranges::minmax_element(figures, {}, peak);
        const std::int64_t low = (*least).*peak, high = (*most).*peak;
        const std::int64_t more = std::max((high - low) / 2, leastMore);
        return std::pair(std::max<std::int64_t>(low - more, 0), high + more);
    };
    // What was not tried may need a segment more or less, and leave other tails that are not split off.
    constexpr std::int64_t kTails = 4 * AllocatorSettings::kSmallSize;
    const std::int64_t segments = (byPendingFrees ? 2 : 1) * question.settings.largeSegmentBytes;
    answer.reservedPeakRange = range(&ReplayFigures::reservedBytesPeak, segments);
    answer.allocatedPeakRange = range(&ReplayFigures::allocatedBytesPeak, kTails);
    return {};
}

/// Why the answer is not exact, the weightiest reason; empty if it is.
Reason whyEstimated(const ReplayReport& report, const SettingsAsked& asked, const ReplayQuestion& question,
    const SettingsAnswer& answer)
{
    const bool fitsAnyway = answer.replayed.reservedBytesPeak <= answer.recorded.reservedBytesPeak;
    if (question.settings.memoryFraction && !question.capacityBytes)
        return say("an estimate without the memory fraction: the recording does not tell the capacity of its "
                   "device; give it with --capacity");
    if (question.settings.memoryFraction && !asked.capacityBytes && !knowsCard(report))
        return anEstimate(say("the fraction is taken of what PyTorch had, as an out-of-memory tells; the "
                              "device has more"));
    if (!report.exact())
        return anEstimate(report.reason());
    if (!report.fromStart)
        return anEstimate(say("the trace begins late, with memory that the other settings would have "
                              "placed otherwise"));
    if (report.check.hasPendingFrees)
        return anEstimate(say("blocks waited for other streams, and under other settings their frees may "
                              "end at other moments"));
    if (!question.capacityBytes && !fitsAnyway)
        return anEstimate(say("the capacity of the device is not known, and this needs more than was "
                              "recorded"));
    if (!report.emptyCachesMarked && !asked.emptyCaches)
        return anEstimate(say("calls of empty_cache() that released nothing are not recorded here, and "
                              "under other settings they may"));
    if (answer.orderThatFits)
        return anEstimate(say("of several places for a block PyTorch %1 takes the one at the lowest "
                              "address, and the order in which the driver hands out addresses is not known",
            report.version.text()));
    return {};
}

/// `recorded` tells SettingsAnswer::recorded, where it is needed. `trace`: whose requests they are; nullptr:
/// they were rewritten, and `asked` names an order.
Result<SettingsAnswer> answerOf(const DeviceTrace* trace, const ReplayRequests& requests,
    const std::function<ReplayFigures()>& recorded, const ReplayReport& report, const SettingsAsked& asked,
    const Progress& progress)
{
    auto question = questionOf(report, asked);
    if (!question)
        return Failure(question.error());
    question->addresses = asked.addresses.value_or(asked.orderThatFits.value_or(AddressPolicy{}));
    auto replayed = replayUnder(requests, *question, progress, asked.told);
    if (!replayed)
        return Failure(replayed.error());
    SettingsAnswer answer;
    if (!asked.figuresAlone)
        answer.recorded = recorded();
    if (replayed->byAddress && !asked.addresses) {
        const auto fits = asked.orderThatFits ? Result<AddressPolicy>(*asked.orderThatFits)
                                              : orderThatFits(*trace, report, progress);
        if (!fits)
            return Failure(fits.error());
        answer.orderThatFits = *fits;
        if (*fits != question->addresses) {
            question->addresses = *fits;
            if (asked.told != nullptr)
                *asked.told = {};
            if (replayed = replayUnder(requests, *question, progress, asked.told); !replayed)
                return Failure(replayed.error());
        }
    }
    answer.replayed = *replayed;
    answer.reservedPeakRange = { replayed->reservedBytesPeak, replayed->reservedBytesPeak };
    answer.allocatedPeakRange = { replayed->allocatedBytesPeak, replayed->allocatedBytesPeak };
    if (asked.figuresAlone)
        return answer;
    if (asked.ranges && (answer.orderThatFits || report.check.hasPendingFrees))
        if (const auto found
            = findRanges(requests, report.check.hasPendingFrees, *question, answer, progress);
            !found)
            return Failure(found.error());
    answer.reason = whyEstimated(report, asked, *question, answer);
    answer.exact = answer.reason.empty();
    return answer;
}

constexpr std::int64_t kEndless = std::int64_t{ 1 } << 60;

} // namespace

Result<SettingsAnswer> answerSettings(const DeviceTrace& trace, const ReplayReport& report,
    const SettingsAsked& asked, const Progress& progress)
{
    return answerOf(
        &trace, ReplayRequests::of(trace), [&] { return recordedFigures(trace, report.check.rounding); },
        report, asked, progress);
}

Result<SettingsAnswer> answerSettings(const ReplayRequests& requests,
    const std::function<std::int64_t()>& recordedReservedPeak, const ReplayReport& report,
    const SettingsAsked& asked, const Progress& progress)
{
    assert(asked.addresses || asked.orderThatFits);
    const auto recorded = [&] { return ReplayFigures{ .reservedBytesPeak = recordedReservedPeak() }; };
    return answerOf(nullptr, requests, recorded, report, asked, progress);
}

Result<SettingsNeed> needOf(SettingsAsked asked, bool newOomsAlone,
    const std::function<Result<SettingsAnswer>(const SettingsAsked&)>& ask)
{
    auto answer = ask(asked);
    if (!answer)
        return Failure(answer.error());
    SettingsNeed need{ *answer, answer->replayed, {} };
    const std::int64_t peak = need.there.reservedBytesPeak;
    need.needed
        = { peak, peak, (newOomsAlone ? need.there.firstNewOomEvent : need.there.firstOomEvent).has_value() };
    if (!need.needed.isRefused && !asked.until && (asked.figuresAlone || !need.there.metCapacity))
        return need;
    asked.capacityBytes.reset(); // a smaller card has fewer addresses, too
    asked.availableBytes = kEndless;
    asked.until.reset();
    asked.ranges = asked.ranges && need.needed.isRefused;
    if (answer->orderThatFits)
        asked.orderThatFits = answer->orderThatFits;
    if (answer = ask(asked); !answer)
        return Failure(answer.error());
    need.needed.endlessBytes = answer->replayed.reservedBytesPeak;
    if (need.needed.isRefused) {
        need.needed.bytes = need.needed.endlessBytes;
        need.answer = std::move(*answer);
    }
    return need;
}

Result<NeededBytes> recordedNeed(const DeviceTrace& trace, const ReplayReport& report,
    const SettingsAsked& question, const Progress& progress)
{
    const auto recorded
        = [&](Action action) { return trace.totals().actions.contains(std::string(actionName(action))); };
    const std::int64_t peak = trace.totals().reservedBytesPeak;
    const bool ended
        = recorded(Action::Oom) || recorded(Action::SegmentFree) || recorded(Action::SegmentUnmap);
    if (report.exact() && !ended)
        return NeededBytes{ peak, peak, false };
    SettingsAsked asked = question;
    asked.settings = report.settingsText;
    asked.ranges = false;
    const auto need = needOf(std::move(asked), false,
        [&](const SettingsAsked& with) { return answerSettings(trace, report, with, progress); });
    if (!need)
        return Failure(need.error());
    NeededBytes needed = need->needed;
    needed.isRefused |= recorded(Action::Oom); // whatever a replay that is not exact makes of it
    if (needed.isRefused)
        needed.bytes = needed.endlessBytes;
    else if (report.exact())
        needed.bytes = peak;
    return needed;
}

} // namespace strata::model
