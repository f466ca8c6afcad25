// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/run_replay.h"

#include "model/analysis/allocator/settings_advice.h"

#include <utility>

namespace strata::model {

namespace {

/// The report on a recording, as one on a run that was made from it.
ReplayReport reportOn(const RunRequests& run, const ReplayReport& recorded)
{
    ReplayReport report = recorded;
    for (EventIndex& event : report.check.emptyCaches)
        event = run.placeOf(event);
    for (PoolEnd& end : report.check.poolEnds)
        end.event = run.placeOf(end.event);
    report.check.rounding = {}; // of blocks of the recording
    return report;
}

Result<SettingsAnswer> answerRun(
    const RunRequests& run, const ReplayReport& report, const SettingsAsked& asked, const Progress& progress)
{
    return answerSettings(
        run.requests(), [&] { return run.recordedReservedPeak(); }, report, asked, progress);
}

} // namespace

PeakFigures recordedPeaks(const RecordedRun& recorded)
{
    if (recorded.peaks)
        return *recorded.peaks;
    const ReplayFigures figures = recordedFigures(*recorded.trace, recorded.report->check.rounding);
    return { requestedPeak(*recorded.trace, programRunOf(*recorded.trace)), figures.allocatedBytesPeak,
        figures.reservedBytesPeak };
}

Result<ReplayedRun> RunReplay::ofItself()
{
    m_order.reset();
    return answer(*m_recorded.report, requestedPeak(*m_recorded.trace, programRunOf(*m_recorded.trace)),
        [&](const SettingsAsked& asked) {
            return answerSettings(*m_recorded.trace, *m_recorded.report, asked, m_progress);
        });
}

Result<ReplayedRun> RunReplay::of(const ProgramRun& run)
{
    if (const auto found = findOrder(); !found)
        return Failure(found.error());
    const auto requests = RunRequests::of(*m_recorded.trace, run, m_progress);
    if (!requests)
        return Failure(requests.error());
    const ReplayReport report = reportOn(*requests, *m_recorded.report);
    auto came = answer(report, requestedPeak(*m_recorded.trace, run),
        [&](const SettingsAsked& asked) { return answerRun(*requests, report, asked, m_progress); });
    if (came && came->outOfMemoryEvent)
        came->outOfMemoryEvent = requests->recordedAt(*came->outOfMemoryEvent);
    return came;
}

Result<ToldRun> RunReplay::tell(const ProgramRun* run)
{
    ToldRun told;
    if (run != nullptr) {
        if (const auto found = findOrder(); !found)
            return Failure(found.error());
        auto requests = RunRequests::of(*m_recorded.trace, *run, m_progress);
        if (!requests)
            return Failure(requests.error());
        told.run = std::move(*requests);
    } else {
        m_order.reset();
    }
    const ReplayReport report = told.run ? reportOn(*told.run, *m_recorded.report) : *m_recorded.report;
    const auto ask = [&](const SettingsAsked& asked) {
        return told.run ? answerRun(*told.run, report, asked, m_progress)
                        : answerSettings(*m_recorded.trace, report, asked, m_progress);
    };
    SettingsAsked asked;
    asked.settings = m_scenario.settings.value_or(report.settingsText);
    asked.capacityBytes = m_scenario.capacityBytes;
    asked.orderThatFits = m_order;
    asked.ranges = false;
    asked.told = &told.events;
    auto answered = ask(asked);
    if (answered && answered->replayed.firstNewOomEvent) { // where the program ends
        asked.until = answered->replayed.firstNewOomEvent;
        told.events = {};
        answered = ask(asked);
    }
    if (!answered)
        return Failure(answered.error());
    return told;
}

Result<AddressPolicy> addressOrderOf(const RecordedRun& recorded, const Progress& progress)
{
    SettingsAsked asked;
    asked.settings = recorded.report->settingsText;
    asked.ranges = false;
    const auto itself = answerSettings(*recorded.trace, *recorded.report, asked, progress);
    if (!itself)
        return Failure(itself.error());
    return itself->orderThatFits.value_or(AddressPolicy{});
}

Result<void> findOrders(std::span<RecordedRun> runs, const Progress& progress)
{
    for (RecordedRun& run : runs)
        if (!run.order) {
            const auto order = addressOrderOf(run, progress);
            if (!order)
                return Failure(order.error());
            run.order = *order;
        }
    return {};
}

Result<NeededBytes> needAsRecorded(const RecordedRun& recorded, const Progress& progress)
{
    if (recorded.need)
        return *recorded.need;
    const auto refused = lastRefusedRequest(*recorded.trace, *recorded.report);
    return recordedNeed(*recorded.trace, *recorded.report, askedAbout(*recorded.trace, refused), progress);
}

Result<void> RunReplay::findOrder()
{
    if (m_order)
        return {};
    m_order = m_recorded.order;
    if (m_order)
        return {};
    const auto found = addressOrderOf(m_recorded, m_progress);
    if (!found)
        return Failure(found.error());
    m_order = *found;
    return {};
}

Result<ReplayedRun> RunReplay::answer(
    const ReplayReport& report, std::int64_t requestedBytesPeak, const Ask& ask)
{
    SettingsAsked asked;
    asked.settings = m_scenario.settings.value_or(report.settingsText);
    asked.capacityBytes = m_scenario.capacityBytes;
    asked.orderThatFits = m_order;
    asked.figuresAlone = m_scenario.firstLook;
    const bool isProgram = m_scenario.changes.empty();
    const auto refused = isProgram ? lastRefusedRequest(*m_recorded.trace, report) : std::nullopt;
    if (!asked.capacityBytes)
        asked.availableBytes = askedAbout(*m_recorded.trace, refused).availableBytes;
    // How large a request that was refused would be in another program, nothing tells.
    const auto need = needOf(asked, !isProgram, ask);
    if (!need)
        return Failure(need.error());
    const SettingsAnswer* const answered = &need->answer;
    ReplayedRun came;
    came.outOfMemoryEvent = isProgram ? need->there.firstOomEvent : need->there.firstNewOomEvent;
    came.endlessBytes = need->needed.endlessBytes;
    if (refused)
        came.servesRequest = need->serves(*refused);
    came.likely
        = { requestedBytesPeak, answered->replayed.allocatedBytesPeak, answered->replayed.reservedBytesPeak };
    came.least
        = { requestedBytesPeak, answered->allocatedPeakRange.first, answered->reservedPeakRange.first };
    came.most
        = { requestedBytesPeak, answered->allocatedPeakRange.second, answered->reservedPeakRange.second };
    came.exact = answered->exact;
    came.reason = answered->reason;
    return came;
}

} // namespace strata::model
