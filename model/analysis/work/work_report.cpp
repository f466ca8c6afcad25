// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/work_report.h"

#include "model/analysis/work/device/launchers.h"
#include "model/analysis/work/waits/backward_tail.h"
#include "model/analysis/work/waits/step_times.h"
#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kFewSteps = 5; // so few have no quartiles worth telling
constexpr std::size_t kLongestReportName = 48; // the end of a path, or of a name, says more

SentenceArgument strongArgument(SentenceArgument of)
{
    of.strong = true;
    return of;
}

std::string endOfName(std::string_view name)
{
    if (name.size() <= kLongestReportName)
        return std::string(name);
    std::size_t from = name.size() - kLongestReportName;
    while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) // amid a letter
        ++from;
    return "…" + std::string(name.substr(from));
}

/// Where most of what a cause takes passes, if anything is named there.
Sentence waitPlaceOf(WaitCause cause, const WaitTime& wait, std::int64_t ofNs, const StringTable& strings)
{
    const WaitPlace& most = wait.most;
    const std::string name = endOfName(strings[most.name]);
    const std::string share = formatShare(most.ns, ofNs);
    const Sentence stretches = sayCounted("%1 stretch", "%1 stretches", most.stretches);
    const bool isHalf = most.ns > wait.ns - most.ns;
    if (isBehindItsPlace(cause))
        return isHalf ? say("most of it behind %1 (%2, %3)", name, share, stretches)
                      : say("foremost behind %1 (%2, %3)", name, share, stretches);
    return isHalf ? say("most of it in %1 (%2, %3)", name, share, stretches)
                  : say("foremost in %1 (%2, %3)", name, share, stretches);
}

/// The cause that takes most of the range, and what would help.
void addWhy(std::vector<Sentence>& said, const WaitTimes& waits, const StringTable& strings)
{
    const auto longest = std::ranges::max_element(waits.all, {}, &WaitTime::ns);
    if (longest->ns == 0)
        return;
    const auto cause = static_cast<WaitCause>(longest - waits.all.begin());
    const std::int64_t ofNs = waits.range.ns();
    const SentenceArgument what = strongArgument(argument(Sentence(waitCauseText(cause))));
    const std::string share = formatShare(longest->ns, ofNs);
    said.push_back(longest->most.name.valid()
            ? say("Most of its idle time passes while %1 (%2), %3.", what, share,
                waitPlaceOf(cause, *longest, ofNs, strings))
            : say("Most of its idle time passes while %1 (%2).", what, share));
    const Sentence remedy(waitRemedy(cause, *longest, strings[longest->most.name], waits.tellsOperators));
    said.push_back(savesTime(cause)
            ? say("What would help: %1. Estimate: saves up to %2.", remedy, formatDuration(longest->ns))
            : say("What would help: %1.", remedy));
}

/// What is won where collectives run beside computation instead of alone. Without a backward, as in an
/// inference, the ways to hide them do not apply.
void addExposed(
    std::vector<Sentence>& said, const DeviceWork& device, std::int64_t ofNs, const WorkReport& report)
{
    const std::int64_t ns = device.exposedCommunicationNs();
    if (static_cast<double>(ns) <= kExposedShare * static_cast<double>(ofNs))
        return;
    said.push_back(
        say("For %1 (%2) collectives run on it with no computation beside them, waiting for other ranks "
            "included: so much is won at most if computation hides them.",
            strongArgument(argument(formatDuration(ns))), formatShare(ns, ofNs)));
    if (std::ranges::none_of(report.steps, [](const ProfilerStep& step) { return step.tailNs.has_value(); }))
        return;
    said.push_back(
        say("DDP hides them behind the backward, FSDP by fetching ahead; fewer of them: accumulate "
            "gradients under no_sync()."));
}

/// Where work of launches was lost, idle time is not what it seems; what is captured runs with its graph.
void addLaunchesWithoutWork(std::vector<Sentence>& said, const LaunchCounts& launches)
{
    const auto areMany = [&](std::int64_t count) {
        return static_cast<double>(count) > kLostLaunchShare * static_cast<double>(launches.calls);
    };
    if (areMany(launches.captured))
        said.push_back(say("%1 of %2 launches have no work of a GPU here: they were captured into a graph.",
            formatCount(launches.captured), formatCount(launches.calls)));
    if (areMany(launches.lost()))
        said.push_back(say("%1 of %2 launches have no work of a GPU here: what they launched was not "
                           "recorded, so the GPU may have been busy while it is idle here.",
            formatCount(launches.lost()), formatCount(launches.calls)));
}

Sentence took(const ProfilerStep& step, bool hasDevice)
{
    const std::string time = formatDuration(step.time.ns());
    return hasDevice && step.deviceBusyNs
        ? say("%1, a GPU busy for %2 of that", time, formatShare(*step.deviceBusyNs, step.time.ns()))
        : verbatim(time);
}

/// Of all of them together; nothing: it is not known of one.
std::optional<std::string> busyShare(const std::vector<ProfilerStep>& steps)
{
    std::int64_t busyNs = 0, allNs = 0;
    for (const ProfilerStep& step : steps) {
        if (!step.deviceBusyNs)
            return std::nullopt;
        busyNs += *step.deviceBusyNs;
        allNs += step.time.ns();
    }
    return formatShare(busyNs, allNs);
}

} // namespace

WorkReport workReportOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range, OperatorsBy by)
{
    WorkReport report;
    report.range = range;
    report.devices = deviceWorkOf(work, strings, range);
    report.steps = profilerStepsOf(work, strings);
    describeSteps(report.steps, work, strings);
    describeTails(report.steps, work, strings);
    if (range)
        std::erase_if(report.steps, [&](const ProfilerStep& step) {
            return step.time.endNs <= range->beginNs || step.time.beginNs >= range->endNs;
        });
    report.waits = waitTimesOf(work, strings, range);
    report.judged = !range && work.ownRecording && report.waits.of != WaitsOf::Work
        ? deviceWorkOf(work, strings, report.waits.range)
        : report.devices;
    report.launches = launchCountsOf(work, strings, range);
    const std::vector<std::uint32_t> nested = nestedCallsOf(work);
    report.tables = tablesOf(work, strings, nested, report.steps, range, by);
    report.roofline = rooflineOf(work, strings, report.devices, nested, range);
    return report;
}

std::vector<Sentence> verdictOf(const WorkReport& report, const Recording& recording)
{
    const StringTable& strings = recording.strings;
    const WaitTimes& waits = report.waits;
    std::vector<Sentence> said;
    if (!waits.device) {
        said.push_back(recording.truncation
                ? say("No work of a GPU is in what can be read of this trace: it is cut, or damaged.")
                : say("No work of a GPU is in this trace."));
        addLaunchesWithoutWork(said, report.launches);
        return said;
    }
    const std::int64_t rangeNs = waits.range.ns(), aroundNs = rangeNs - waits.span.ns();
    const std::int64_t unseenNs = waits.all[static_cast<std::size_t>(WaitCause::AnotherProfiler)].ns;
    if (unseenNs > rangeNs - unseenNs)
        return { say("How busy GPU %1 was is not known: another profiler had its records for %2 of %3.",
            *waits.device, strongArgument(argument(formatShare(unseenNs, rangeNs))), sayRangeOf(report)) };
    const auto duration = [](std::int64_t ns) { return formatDuration(ns); };
    const auto device = std::ranges::find(report.judged, *waits.device, &DeviceWork::device);
    if (device == report.judged.end()) {
        said.push_back(say("GPU %1 is idle throughout the range, for %2.", *waits.device,
            strongArgument(argument(duration(waits.range.ns())))));
        addWhy(said, waits, strings);
        addLaunchesWithoutWork(said, report.launches);
        return said;
    }
    if (recording.simulated)
        return {
            say("GPU %1 is simulated: its work comes to %2 of %3 here, and takes other times on a real one.",
                *waits.device, strongArgument(argument(formatShare(device->busyNs, device->span.ns()))),
                duration(device->span.ns())),
            say("Whether the program feeds it fast enough is seen on a GPU: strata record --kernels.")
        };
    // All shares are of one time.
    const SentenceArgument busy = strongArgument(argument(formatShare(device->busyNs, rangeNs)));
    const Sentence whole = sayRangeOf(report);
    const QueueState queue = queueOf(report.judged);
    const bool isAround = static_cast<double>(aroundNs) > kDenseShare * static_cast<double>(rangeNs);
    if (isAround)
        said.push_back(say("GPU %1 is busy for %2 of %3: for %4 it has not begun, or is done.", *waits.device,
            busy, whole, duration(aroundNs)));
    else if (queue == QueueState::Dense)
        said.push_back(say("GPU %1 is kept busy: for %2 of %3.", *waits.device, busy, whole));
    else if (queue == QueueState::Sparse)
        said.push_back(
            say("The program feeds GPU %1 too slowly: it is busy for %2 of %3.", *waits.device, busy, whole));
    else
        said.push_back(say("GPU %1 has gaps: it is busy for %2 of %3.", *waits.device, busy, whole));
    if (isAround || queue != QueueState::Dense)
        addWhy(said, waits, strings);
    addExposed(said, *device, rangeNs, report);
    addLaunchesWithoutWork(said, report.launches);
    return said;
}

Sentence sayRangeOf(const WorkReport& report)
{
    const std::string took = formatDuration(report.waits.range.ns());
    if (report.range)
        return say("the range of %1", took);
    switch (report.waits.of) {
    case WaitsOf::Steps:
        return say("the steps, which took %1", took);
    case WaitsOf::StepsAndWork:
        return say("the steps and the work around them, which took %1", took);
    case WaitsOf::Work:
        break;
    }
    return verbatim(took);
}

std::vector<Sentence> sayStepsOf(const WorkReport& report)
{
    const auto times = stepTimesOf(report.steps);
    if (!times)
        return {};
    const bool hasDevice = !report.devices.empty();
    const ProfilerStep& first = report.steps.front();
    std::vector<Sentence> said;
    if (times->warmups > 0 || times->steady == 1)
        said.push_back(say("%1: %2.", std::string(first.name), took(first, hasDevice)));
    if (times->warmups > 1)
        said.push_back(say("The first %1 steps are longer than the others: they warm up, in %2.",
            times->warmups, formatDuration(times->warmupNs)));
    if (times->steady > 1 || (times->steady == 1 && times->warmups > 0)) {
        std::vector<ProfilerStep> later = report.steps;
        std::erase_if(later, [](const ProfilerStep& step) { return step.warmsUp || step.isEmpty; });
        const Sentence steps = sayCounted("%1 step", "%1 steps", times->steady);
        const Spread& spread = times->steadyNs;
        const Sentence which = times->warmups > 0 ? say("%1 after that", steps) : steps;
        const std::string median = formatDuration(spread.median);
        const std::string least = formatDuration(spread.least), most = formatDuration(spread.most);
        said.push_back(times->steady < kFewSteps
                ? say("%1: median %2; from %3 to %4.", which, median, least, most)
                : say("%1: median %2; from %3 to %4, half of them from %5 to %6.", which, median, least, most,
                    formatDuration(spread.lower), formatDuration(spread.upper)));
        if (const auto busy = busyShare(later); busy && hasDevice)
            said.push_back(say("A GPU is busy for %1 of their time.", *busy));
    }
    if (times->compiling > 0)
        said.push_back(say("torch.compile takes %1 of %2.", formatDuration(times->compileNs),
            sayCounted("%1 step", "%1 steps", times->compiling)));
    if (times->tailed > 0 && times->tailNs.median > 0)
        said.push_back(
            say("After the backward, collectives run for another %1 a step (median), and nothing hides them.",
                formatDuration(times->tailNs.median)));
    return said;
}

std::vector<Sentence> sayLossesOf(const Work& work)
{
    using Why = WorkLoss::Why;
    std::vector<Sentence> said;
    std::int64_t dropped = 0, damaged = 0;
    for (const WorkLoss& loss : work.losses)
        if (loss.why == Why::NoRoom)
            dropped += loss.count;
        else if (loss.why == Why::Unreadable)
            damaged += loss.count;
    const Times taken = timesOfAnotherProfiler(work);
    if (work.unreadable > 0)
        said.push_back(sayCounted("%1 row of the trace is left out or has no length: it cannot be read, or "
                                  "tells no time that can be.",
            "%1 rows of the trace are left out or have no length: they cannot be read, or tell no time that "
            "can be.",
            work.unreadable));
    if (!taken.empty())
        said.push_back(say(
            "Another profiler, as torch.profiler, had the GPU's records for %1 from t:%2 on%3: "
            "what ran then may be missing.",
            formatDuration(lengthOf(taken)),
            fmt::format("{:.6f}", static_cast<double>(taken.front().beginNs - timeOf(work).beginNs) / 1e9),
            taken.size() > 1 ? fmt::format(", {} times", taken.size()) : std::string()));
    if (dropped > 0)
        said.push_back(say("%1 found no room in the recorder's buffers and are missing.",
            sayCounted("%1 record of the GPU", "%1 records of the GPU", dropped)));
    if (damaged > 0)
        said.push_back(say("%1 could not be read: this CUPTI may be newer than this Strata.",
            sayCounted("%1 buffer of the GPU's records", "%1 buffers of the GPU's records", damaged)));
    return said;
}

std::string_view workLossWord(WorkLoss::Why why)
{
    constexpr std::array<std::string_view, wire::kWorkLosses> kWords{ "no_room", "unreadable",
        "another_profiler", "another_profiler_ended" };
    return kWords[static_cast<std::size_t>(why)];
}

} // namespace strata::model
