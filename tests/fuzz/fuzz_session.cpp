// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the payloads of a session's chunks. Their hashes would keep a fuzzer out, so they are made
// here, and so is what binds digests to the chunks before them: the input is a list of (type, length,
// payload). What opens is looked at by the analyses of a training.
#include "model/analysis/summary/summary.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/steps/deep_check.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/analysis/work/join/outside_memory.h"
#include "model/analysis/work/session_work.h"
#include "model/analysis/work/work_report.h"
#include "model/base/words.h"
#include "model/base/wrap.h"
#include "model/digest/out_of_memory.h"
#include "model/readers/reader.h"
#include "model/replay/other_settings.h"
#include "model/session/session.h"
#include "model/timeline/work_tracks.h"
#include "model/whatif/calls/calls_again.h"
#include "model/whatif/evidence/batch_items.h"
#include "model/whatif/kinds/batch.h"
#include "model/whatif/run/run_requests.h"
#include "model/wire/chunk.h"
#include "model/wire/digest_codec.h"
#include "model/wire/follower.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace {

using namespace strata;

/// What a recorder does with its own events, done with any.
class Followers {
public:
    void operator()(wire::ChunkType type, const wire::Bytes& payload)
    {
        wire::State state;
        wire::EventChunk events;
        if (type == wire::ChunkType::BaseState && wire::decodeState(payload, state))
            m_followers[state.device].begin(state);
        else if (type == wire::ChunkType::Events && wire::decodeEvents(payload, events))
            for (const wire::EventRow& row : events.rows)
                m_followers[events.device].add(row);
        else if (type == wire::ChunkType::EndState && wire::decodeState(payload, state))
            (void)m_followers[state.device].finish(state);
    }

private:
    std::map<int, wire::Follower> m_followers;
};

void summarizeOutline(std::span<const std::byte> stream, const model::ReadLimits& limits)
{
    const auto outline = model::RecordingFile(stream, limits).outline();
    if (!outline)
        return;
    const auto& devices = outline->recording->devices;
    if (devices.size() != outline->devices.size())
        __builtin_trap();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const model::DeviceOutline& device = outline->devices[i];
        const model::GroupTable lines = model::linesOf(*outline->recording, device);
        if (model::summarize(*outline->recording, devices[i], device, lines).verdict.empty())
            __builtin_trap();
    }
}

/// Steps tile the events, and phases each step.
void checkTiles(const model::TrainingSteps& found, model::EventIndex events)
{
    model::EventIndex next = 0;
    for (const model::TrainingStep& step : found.steps) {
        if (step.first != next || step.last < step.first || step.phases.empty())
            __builtin_trap();
        for (const model::PhaseSpan& span : step.phases) {
            if (span.first != next || span.last < span.first)
                __builtin_trap();
            next = span.last + 1;
        }
        if (step.last + 1 != next)
            __builtin_trap();
    }
    if (!found.steps.empty() && next != events)
        __builtin_trap();
}

void checkSizes(const model::DeviceTrace& trace, const model::Result<model::BatchSizes>& sizes)
{
    if (!sizes)
        return;
    for (const auto* each : { &sizes->least, &sizes->likely, &sizes->most })
        if (each->size() != trace.blocks().bornCount())
            __builtin_trap();
    for (std::size_t row = 0; row < sizes->likely.size(); ++row)
        if (sizes->least[row] > sizes->likely[row] || sizes->likely[row] > sizes->most[row])
            __builtin_trap();
}

/// With another batch, by roles and beside itself.
void rewrite(
    const model::DeviceTrace& trace, const model::TrainingSteps& steps, const model::Categories& categories)
{
    const std::int64_t items = model::batchItemsOf(trace, steps, categories).value_or(3);
    if (items < 1)
        __builtin_trap();
    checkSizes(trace, model::batchByRoles(trace, steps, categories, items, 7));
    checkSizes(trace, model::batchByRecordings({ { &trace, &steps, 2 }, { &trace, &steps, 4 } }, 7));
    model::ProgramRun run = model::programRunOf(trace);
    for (const bool reordered : { false, true }) {
        run.reordered = reordered;
        if (const auto requests = model::RunRequests::of(trace, run)) {
            (void)requests->recordedReservedPeak();
            (void)model::requestedPeak(trace, run);
            model::ReplayQuestion question;
            question.pendingFrees = model::PendingFrees::Late;
            constexpr std::size_t kMostReplayed = 4096; // events, for speed
            if (requests->requests().size() <= kMostReplayed)
                (void)model::replayUnder(requests->requests(), question);
        }
    }
}

void analyze(const model::DeviceTrace& trace)
{
    const model::Clock clock(trace);
    const auto steps = model::findTrainingSteps(trace, clock);
    if (!steps)
        __builtin_trap();
    checkTiles(*steps, trace.eventCount());
    const auto categories = model::Categories::of(trace, clock, *steps);
    if (!categories || !model::findLeaks(trace, *steps))
        __builtin_trap();
    (void)model::findSpikes(trace, *steps);
    rewrite(trace, *steps, *categories);
    if (const auto* const deep = trace.recording().parts.find<model::DeepSteps>())
        for (const model::DeepStep& step : deep->steps) {
            const model::DeepCheck check = model::checkDeepStep(trace, step);
            if (model::sayDeepCheck(step, check, trace.recording().strings).text().empty()
                || check.differsAt >= trace.eventCount())
                __builtin_trap();
        }
    if (const auto list = model::callListOf(trace))
        (void)model::callsToRun(trace, **list, {}, trace.eventCount() / 2);
    for (const model::EventIndex event : { trace.totals().requestedPeakEvent, trace.eventCount() - 1 }) {
        const std::vector<model::BlockId> active = model::activeBlocks(trace, event);
        const model::Ledger ledger = model::ledgerAt(trace, *categories, event, active, nullptr);
        std::int64_t byCategory = 0, byModule = 0;
        for (const model::LedgerRow& row : ledger.rows) {
            byCategory = model::wrapAdd(byCategory, row.bytes);
            if (row.inferredBytes() < 0)
                __builtin_trap();
        }
        (void)ledger.unaccountedBytes();
        for (const model::ModuleRow& row : model::moduleLedger(trace, *categories, active))
            byModule = model::wrapAdd(byModule, row.own.bytes);
        if (byCategory != ledger.requestedBytes || byModule != ledger.requestedBytes)
            __builtin_trap();
    }
}

/// What a recording tells of kernels, with what its other parts tell of the same time.
void lookAtWork(const std::shared_ptr<const model::Session>& session)
{
    const auto work = model::workOf(session);
    if (!work)
        return;
    const model::StringTable& strings = session->recording().strings;
    const model::WorkReport report = model::workReportOf(*work, strings);
    if (model::verdictOf(report, session->recording()).empty())
        __builtin_trap();
    (void)model::sayStepsOf(report);
    (void)model::sayLossesOf(*work);
    for (const model::OutsideMemory& each : model::outsideMemoryOf(session->recording()))
        if (each.outside() < 0 || each.releasedOutside > each.releases)
            __builtin_trap();
    const model::WorkTracks tracks(*work);
    std::int64_t pieces = 0;
    for (const model::WorkTrack& track : tracks.tracks())
        pieces += track.spans;
    if (pieces != std::ssize(work->spans))
        __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::span<const std::byte> in = std::as_bytes(std::span(data, size));
    wire::ChunkPacker packer(1);
    Followers follow;
    wire::Bytes stream;
    while (in.size() >= 3) {
        const auto type = static_cast<wire::ChunkType>(in[0]);
        const std::size_t length = std::min<std::size_t>(
            static_cast<std::size_t>(in[1]) | static_cast<std::size_t>(in[2]) << 8, in.size() - 3);
        const auto given = in.subspan(3, length);
        wire::Bytes payload(given.begin(), given.end());
        wire::Digest digest;
        if (type == wire::ChunkType::Digest && wire::decodeDigest(payload, digest)) {
            digest.chunks = packer.sequence();
            digest.chain = packer.chain();
            payload.clear();
            wire::encodeDigest(digest, payload);
        }
        follow(type, payload);
        if (!packer.pack(type, payload, stream))
            __builtin_trap();
        in = in.subspan(3 + length);
    }
    const model::ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    summarizeOutline(stream, limits);
    auto recording = model::readRecording(std::span<const std::byte>(stream), limits, {});
    if (!recording) {
        if (recording.error().text().empty())
            __builtin_trap();
        return 0;
    }
    const auto session = model::Session::fromRecording(std::move(*recording));
    if (session)
        for (const model::DeviceTrace& trace : (*session)->devices())
            analyze(trace);
    if (session)
        lookAtWork(*session);
    return 0;
}
