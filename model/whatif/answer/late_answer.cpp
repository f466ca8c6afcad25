// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/late_answer.h"

#include "model/base/wrap.h"
#include "model/whatif/run/bounds.h"
#include "model/whatif/run/start_segments.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace strata::model {

namespace {

/// The replays of the recordings themselves are off by some bytes, or by a share: this one may be too. What
/// the nearest recording has is likeliest.
void addOff(const LateStart& start, ReplayedRun& came)
{
    const std::int64_t likely = came.likely.reservedBytesPeak;
    std::vector<std::int64_t> offs = start.offBytes;
    for (const double share : start.offShare)
        offs.push_back(std::llround(static_cast<double>(likely) * share));
    offs.push_back(0);
    const auto [least, most] = std::ranges::minmax(offs);
    const auto add
        = [](std::int64_t& bytes, std::int64_t more) { bytes = std::max<std::int64_t>(bytes + more, 0); };
    add(came.likely.reservedBytesPeak, start.offBytes.front());
    add(came.least.reservedBytesPeak, least);
    add(came.most.reservedBytesPeak, most);
}

/// Segments are laid out by requests that the program does not make, which count as reserved memory alone:
/// the other peaks are those of a run that begins with its blocks from before.
Result<ReplayedRun> replayFromSegments(const RecordedRun& run, const Scenario& scenario,
    const BatchSizes& sizes, const Rewrites& rewrites, const Progress& progress)
{
    const auto laidOut
        = replayBetween(run, scenario, sizes, rewrites, progress, startOf(run, { .keepsSegments = true }));
    if (!laidOut)
        return laidOut;
    auto came = replayBetween(run, scenario, sizes, rewrites, progress, startOf(run, {}));
    if (came)
        for (const auto figures : { &ReplayedRun::likely, &ReplayedRun::least, &ReplayedRun::most })
            ((*came).*figures).reservedBytesPeak = ((*laidOut).*figures).reservedBytesPeak;
    return came;
}

/// The start with the segments of the nearest recording, and how far it is off in predicting each recording.
Result<LateStart> segmentsStart(
    const std::vector<RecordedRun>& sorted, Measure measure, const Progress& progress)
{
    Scenario asRecorded;
    asRecorded.firstLook = true;
    LateStart start{ .history = { .keepsSegments = true } };
    const StartBefore before = startOf(sorted.front(), start.history);
    for (const RecordedRun& run : sorted) {
        const auto sizes = sizesOf(sorted, measure, *(run.*measure));
        if (!sizes)
            return Failure(sizes.error());
        const auto came = replayBetween(sorted.front(), asRecorded, *sizes, {}, progress, before);
        if (!came)
            return Failure(came.error());
        start.add(recordedPeaks(run).reservedBytesPeak, came->likely.reservedBytesPeak);
    }
    return start;
}

/// Whether recordings with a larger measure begin with at least as much cached: then other work that grows
/// with the measure left that.
bool cachedGoesWith(const std::vector<RecordedRun>& runs, Measure measure)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> cached; // measure and bytes
    for (const RecordedRun& run : runs) {
        const std::vector<std::int64_t> bytes = cachedAtStart(*run.trace);
        cached.emplace_back((run.*measure).value_or(0),
            std::accumulate(bytes.begin(), bytes.end(), std::int64_t{ 0 }, wrapAdd));
    }
    std::ranges::sort(cached);
    return std::ranges::is_sorted(cached, {}, &std::pair<std::int64_t, std::int64_t>::second);
}

constexpr double kLeastShare = 0.015; ///< by which the reserved peak may lie outside of replays, at least

/// The share by which it may, as far as the recorded runs show.
double shareToWidenBy(const LateStart& start, std::int64_t reservedBytes)
{
    constexpr double kPerOff = 1.5, kMost = 0.045, kOfSegments = 0.065;
    constexpr double kMostBytes = 96.0 * (1 << 20); // a few segments, by which large programs are off as well
    if (start.history.keepsSegments)
        return kOfSegments;
    const double share = std::min(kLeastShare + kPerOff * start.mostOffShare(), kMost);
    const double ofBytes = kMostBytes / static_cast<double>(std::max<std::int64_t>(reservedBytes, 1));
    return std::max(kLeastShare, std::min(share, ofBytes));
}

} // namespace

Result<std::vector<LateStart>> startsOf(
    std::vector<RecordedRun>& sorted, Measure measure, const Progress& progress)
{
    const std::ptrdiff_t late = std::ranges::count_if(sorted, beginsLate);
    if (late == 0)
        return std::vector<LateStart>();
    if (late < std::ssize(sorted))
        return fail(Error::Kind::Refused,
            say("some of the recordings begin late, and some when the program starts"),
            say("record the program from the same step on with each size"));
    if (const auto found = findOrders(sorted, progress); !found)
        return Failure(found.error());
    for (RecordedRun& run : sorted)
        run.peaks = recordedPeaks(run);

    constexpr double kRoundsOff = 0.05, kSegmentsOff = 0.03;
    auto rounds = lateStartsOf(sorted, progress);
    if (!rounds || rounds->front().mostOffShare() <= kRoundsOff)
        return rounds;
    auto segments = segmentsStart(sorted, measure, progress);
    if (!segments)
        return Failure(segments.error());
    if (segments->mostOffShare() <= kSegmentsOff && cachedGoesWith(sorted, measure))
        return std::vector{ *std::move(segments) };
    return fail(Error::Kind::Refused,
        say("the recorded work does not explain %1 of reserved memory from before recording",
            asBytes(rounds->front().mostOffBytes())),
        say("start recording before you build the model"));
}

Result<ReplayedRun> replayFrom(const std::vector<LateStart>& starts, const RecordedRun& run,
    const Scenario& scenario, const BatchSizes& sizes, const Rewrites& rewrites, const Progress& progress)
{
    if (starts.empty())
        return replayBetween(run, scenario, sizes, rewrites, progress);
    std::optional<ReplayedRun> all;
    for (const LateStart& start : starts) {
        auto came = start.history.keepsSegments
            ? replayFromSegments(run, scenario, sizes, rewrites, progress)
            : replayBetween(run, scenario, sizes, rewrites, progress, startOf(run, start.history));
        if (!came)
            return came;
        addOff(start, *came);
        if (all)
            includeBounds(*all, *came);
        else
            all = *std::move(came);
        if (scenario.firstLook)
            break;
    }
    return *std::move(all);
}

std::optional<StartBefore> startOfProgram(const std::vector<LateStart>& starts, const RecordedRun& run)
{
    if (starts.empty())
        return std::nullopt;
    const StartHistory& history = starts.front().history;
    return startOf(run, history.keepsSegments ? StartHistory() : history);
}

void widenLate(Prediction& prediction, std::int64_t least, std::int64_t most, const LateStart& start)
{
    constexpr double kWidth = 0.14; // more helps little: narrowEnough()
    constexpr double kRequestedWidth = 0.12, kBelow = 0.015; // truths outside mostly lay below
    const auto widthOf = [](std::int64_t low, std::int64_t high) {
        const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
        return middle > 0 ? static_cast<double>(high - low) / middle : 0;
    };
    for (const auto peak : { &PeakFigures::requestedBytesPeak, &PeakFigures::allocatedBytesPeak }) {
        std::int64_t& low = prediction.least.*peak;
        const double room = kRequestedWidth - widthOf(low, prediction.most.*peak);
        low -= static_cast<std::int64_t>(static_cast<double>(low) * std::clamp(room, 0.0, kBelow));
    }
    const double middle = (static_cast<double>(least) + static_cast<double>(most)) / 2;
    const double share = std::min(
        shareToWidenBy(start, most), std::max((kWidth - widthOf(least, most)) / 2, kLeastShare));
    const std::int64_t more = std::max(kSegmentBytes, static_cast<std::int64_t>(middle * share));
    prediction.least.reservedBytesPeak = std::max<std::int64_t>(least - more, 0);
    prediction.most.reservedBytesPeak = most + more;
}

Result<void> narrowEnough(const Prediction& prediction)
{
    constexpr double kWidest = 0.15;
    constexpr std::int64_t kMatters = std::int64_t{ 64 } << 20; // less is a few segments
    for (const auto peak : { &PeakFigures::requestedBytesPeak, &PeakFigures::reservedBytesPeak }) {
        const std::int64_t least = prediction.least.*peak, most = prediction.most.*peak;
        if (most - least > kMatters
            && static_cast<double>(most - least)
                > kWidest * (static_cast<double>(least) + static_cast<double>(most)) / 2)
            return fail(Error::Kind::Refused,
                peak == &PeakFigures::requestedBytesPeak
                    ? say("the recordings begin late and show the requested peak only between %1 and %2",
                        asBytes(least), asBytes(most))
                    : say("the recordings begin late and show the reserved peak only between %1 and %2",
                        asBytes(least), asBytes(most)),
                say("start recording before you build the model"));
    }
    return {};
}

} // namespace strata::model
