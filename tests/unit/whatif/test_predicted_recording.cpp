// SPDX-License-Identifier: GPL-3.0-or-later
// What a prediction writes is a recording as any other: it holds together, a replay of it leads to all of it,
// and its figures are those of the answer.
#include "model/whatif/run/predicted_recording.h"

#include "model/analysis/allocator/replay.h"
#include "model/session/session.h"
#include "model/trace/program/roles.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/run/run_replay.h"
#include "model/wire/info.h"
#include "tests/support/make_recording.h"
#include "tests/unit/replay/made_recording.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// Blocks and what happened to them, without where.
std::vector<std::pair<Action, std::int64_t>> eventAsksOf(const DeviceTrace& trace)
{
    std::vector<std::pair<Action, std::int64_t>> asks;
    for (std::size_t row = 0; row < trace.events().action.size(); ++row)
        asks.emplace_back(trace.events().action[row], trace.events().bytes[row]);
    return asks;
}

std::shared_ptr<const Session> predicted(
    const RecordedRun& recorded, const Scenario& scenario, const ProgramRun* run)
{
    auto recording = predictedRecording(recorded, scenario, run);
    EXPECT_TRUE(recording) << recording.error().text();
    if (!recording)
        return nullptr;
    auto session = Session::fromRecording(std::move(*recording));
    EXPECT_TRUE(session);
    return session ? *session : nullptr;
}

/// A whole recording of its own whose figures are these.
void expectSound(const Session& session, const PeakFigures& figures)
{
    const DeviceTrace& trace = session.devices().front();
    EXPECT_TRUE(session.exact());
    EXPECT_EQ(trace.totals().requestedBytesPeak, figures.requestedBytesPeak);
    EXPECT_EQ(trace.totals().reservedBytesPeak, figures.reservedBytesPeak);
    const auto report = checkReplay(trace);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->exact()) << report->reason().text();
    EXPECT_EQ(recordedPeaks({ .trace = &trace, .report = &*report }), figures);
}

std::vector<test::MadeProgram> programsToPredict()
{
    std::vector<test::MadeProgram> programsToPredict;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        test::MadeProgram program;
        program.seed = seed;
        program.streams = static_cast<int>(seed);
        programsToPredict.push_back(program);
        program.settings = "expandable_segments:True";
        programsToPredict.push_back(program);
    }
    return programsToPredict;
}

} // namespace

TEST(PredictedRecording, OfNothingChangedIsTheRecording)
{
    for (const test::MadeProgram& program : programsToPredict()) {
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const auto report = checkReplay(trace);
        ASSERT_TRUE(report && report->exact());
        const RecordedRun recorded{ .trace = &trace, .report = &*report };
        const auto session = predicted(recorded, {}, nullptr);
        ASSERT_TRUE(session);
        expectSound(*session, recordedPeaks(recorded));
        EXPECT_EQ(eventAsksOf(session->devices().front()), eventAsksOf(trace));
        EXPECT_EQ(session->devices().front().finalSegments().size(), trace.finalSegments().size());
    }
}

TEST(PredictedRecording, OfOtherSettingsHasItsFigures)
{
    for (const test::MadeProgram& program : programsToPredict()) {
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const auto report = checkReplay(trace);
        ASSERT_TRUE(report);
        const RecordedRun recorded{ .trace = &trace, .report = &*report };
        for (const char* const settings :
            { "expandable_segments:True", "roundup_power2_divisions:4", "max_split_size_mb:32", "" }) {
            Scenario scenario;
            scenario.settings = settings;
            const auto answer = predict({ recorded }, scenario);
            ASSERT_TRUE(answer && answer->predicted);
            const auto session = predicted(recorded, scenario, answer->run.get());
            ASSERT_TRUE(session);
            expectSound(*session, *answer->predicted);
        }
    }
}

TEST(PredictedRecording, OfOtherBlocksHasTheirSizes)
{
    for (const test::MadeProgram& program : programsToPredict()) {
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const auto report = checkReplay(trace);
        ASSERT_TRUE(report);
        const RecordedRun recorded{ .trace = &trace, .report = &*report };
        ProgramRun run = programRunOf(trace);
        for (std::size_t row = 0; row < run.blocks.size(); row += 3)
            run.blocks[row].bytes *= 2;
        std::vector<std::int64_t> sizes;
        for (const ProgramRun::Block& block : run.blocks)
            sizes.push_back(block.bytes);
        for (const bool reordered : { false, true }) {
            run.reordered = reordered;
            const auto came = RunReplay(recorded, {}, {}).of(run);
            ASSERT_TRUE(came);
            const auto session = predicted(recorded, {}, &run);
            ASSERT_TRUE(session);
            expectSound(*session, came->likely);
            const BlockColumns& blocks = session->devices().front().blocks();
            for (std::size_t row = 0; row < sizes.size(); ++row)
                ASSERT_EQ(blocks.requestedBytes[BlockId::born(row)], sizes[row]);
        }
    }
}

TEST(PredictedRecording, EndsWhereMemoryRunsOut)
{
    const test::MadeRecording made = test::makeRun({});
    const DeviceTrace& trace = made.session->devices().front();
    const auto report = checkReplay(trace);
    ASSERT_TRUE(report);
    const RecordedRun recorded{ .trace = &trace, .report = &*report };
    Scenario scenario;
    scenario.capacityBytes = recordedPeaks(recorded).reservedBytesPeak / 2;
    const auto answer = predict({ recorded }, scenario);
    ASSERT_TRUE(answer && answer->runsOutOfMemory);
    const auto session = predicted(recorded, scenario, answer->run.get());
    ASSERT_TRUE(session);
    const DeviceTrace& ended = session->devices().front();
    EXPECT_TRUE(session->exact());
    EXPECT_EQ(ended.outOfMemories().size(), 1u);
    EXPECT_EQ(ended.events().action[static_cast<std::size_t>(ended.eventCount() - 1)], Action::Oom);
    EXPECT_LE(ended.totals().reservedBytesPeak, *scenario.capacityBytes);
    // What is told of that request is what the device had left.
    const auto left = ended.events().address[static_cast<std::size_t>(ended.eventCount() - 1)];
    EXPECT_EQ(ended.totals().reservedBytesEnd + static_cast<std::int64_t>(left), *scenario.capacityBytes);
}

TEST(PredictedRecording, WithoutEventsNeedsAtLeastWhatItHeld)
{
    auto recording
        = test::makeRecording("alloc 0x1000 2097152\nalloc 0x900000 64\nfree_requested 0x900000 64");
    recording->devices.at(0).events = {};
    const auto session = Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);
    const DeviceTrace& trace = (*session)->devices().front();
    ASSERT_LT(trace.totals().requestedPeakEvent, 0);
    const auto report = checkReplay(trace);
    ASSERT_TRUE(report);
    const auto answer = predict({ { .trace = &trace, .report = &*report } }, {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->atLeastBytes, answer->least.reservedBytesPeak);
    EXPECT_FALSE(answer->endsRefused);
    EXPECT_NE(answer->atLeastBecause.text().find("is not known"), std::string::npos);
}

TEST(PredictedRecording, ThatEndedForWantOfMemoryNeedsAtLeastWhatWasRefused)
{
    const test::MadeRecording made = test::makeRun({});
    const DeviceTrace& trace = made.session->devices().front();
    const auto report = checkReplay(trace);
    ASSERT_TRUE(report);
    const RecordedRun recorded{ .trace = &trace, .report = &*report };
    EXPECT_FALSE(predict({ recorded }, {})->atLeastBytes);
    Scenario half;
    half.capacityBytes = recordedPeaks(recorded).reservedBytesPeak / 2;
    const auto ended = predicted(recorded, half, nullptr);
    ASSERT_TRUE(ended);

    const DeviceTrace& died = ended->devices().front();
    const auto reportOnDead = checkReplay(died);
    ASSERT_TRUE(reportOnDead);
    const RecordedRun dead{ .trace = &died, .report = &*reportOnDead };
    const auto asItWas = predict({ dead }, {});
    ASSERT_TRUE(asItWas);
    EXPECT_TRUE(asItWas->runsOutOfMemory);
    EXPECT_EQ(asItWas->outOfMemoryEvent, died.eventCount() - 1);
    ASSERT_TRUE(asItWas->atLeastBytes);
    EXPECT_EQ(asItWas->recorded, recordedPeaks(dead));
    EXPECT_EQ(asItWas->predicted, recordedPeaks(dead));
    Scenario much;
    much.capacityBytes = std::int64_t{ 1 } << 40;
    const auto room = predict({ dead }, much);
    ASSERT_TRUE(room && room->predicted);
    const std::int64_t withRoom = room->predicted->reservedBytesPeak;
    EXPECT_GT(withRoom, *half.capacityBytes) << "what was refused is a part of it";
    EXPECT_LE(withRoom, recordedPeaks(recorded).reservedBytesPeak);
    const std::int64_t asked = died.events().bytes[static_cast<std::size_t>(died.eventCount() - 1)];
    EXPECT_EQ(asItWas->roomBytes(),
        std::max(died.totals().requestedBytesPeak, died.totals().reservedBytesEnd + asked));

    Scenario enough;
    enough.capacityBytes = withRoom;
    const auto served = predict({ dead }, enough);
    ASSERT_TRUE(served);
    EXPECT_FALSE(served->runsOutOfMemory);
    EXPECT_TRUE(served->atLeastBytes) << "nobody knows what comes behind it";
    EXPECT_EQ(served->roomBytes(), asItWas->roomBytes());
    enough.capacityBytes = asItWas->roomBytes() - 1;
    EXPECT_TRUE(predict({ dead }, enough)->runsOutOfMemory) << "less than what is certain";
}

TEST(PredictedRecording, TensorsAreWhereTheirBlocksAre)
{
    const auto recording = test::makeRecording("segment_alloc 0x100000 2097152\n"
                                               "alloc 0x100000 1000\n"
                                               "alloc 0x100400 2000\n"
                                               "free_requested 0x100000 1000\n"
                                               "free_completed 0x100000 1000\n"
                                               "segment 0x100000 2097152 small\n"
                                               "block 0x100400 2048 req=2000 allocated\n");
    auto& listings = recording->parts.get<RoleListings>().byDevice[0];
    const auto list = [&](EventIndex event, std::uint64_t address, wire::RoleKind kind) {
        RoleListing listing;
        listing.event = event;
        listing.address = address;
        listing.kind = kind;
        listing.elements = 100;
        listings.push_back(listing);
    };
    list(2, 0x100000, wire::RoleKind::Input); // the first block
    list(3, 0x100410, wire::RoleKind::Parameter); // in the second
    list(5, 0x100000, wire::RoleKind::Input); // nobody's any more
    const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
    ASSERT_TRUE(trace);
    const auto report = checkReplay(*trace);
    ASSERT_TRUE(report);
    const RecordedRun recorded{ .trace = &*trace, .report = &*report };
    ProgramRun run = programRunOf(*trace);
    run.blocks[0].bytes = 3000;
    const auto session = predicted(recorded, {}, &run);
    ASSERT_TRUE(session);
    const DeviceTrace& made = session->devices().front();
    const auto& moved = RoleListings::of(session->recording(), 0);
    ASSERT_EQ(moved.size(), 2u);
    EXPECT_EQ(moved[0].address, made.blocks().address[BlockId::born(0)]);
    EXPECT_EQ(moved[0].elements, 300);
    EXPECT_EQ(moved[0].event, 2);
    EXPECT_EQ(moved[1].address, made.blocks().address[BlockId::born(1)] + 0x10);
    EXPECT_EQ(moved[1].elements, 100);
    EXPECT_EQ(moved[1].event, 3);
}

TEST(PredictedRecording, OfMemoryOfBeforeIsRefused)
{
    const auto recording = test::makeRecording("free_requested 0x100000 1000\n"
                                               "free_completed 0x100000 1000\n"
                                               "segment 0x100000 2097152 small\n");
    const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
    ASSERT_TRUE(trace);
    const auto report = checkReplay(*trace);
    ASSERT_TRUE(report);
    const auto refused = predictedRecording({ .trace = &*trace, .report = &*report }, {}, nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::Refused);
}

TEST(PredictedBounds, WidenWhatIsMadeOfThem)
{
    const test::MadeRecording made = test::makeRun(programsToPredict().front());
    const auto recording = std::make_unique<Recording>(made.session->recording());
    const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
    const auto report = checkReplay(*trace);
    ASSERT_TRUE(trace && report && report->exact());
    const std::vector<RecordedRun> runs{ { .trace = &*trace, .report = &*report } };
    const PeakFigures own = recordedPeaks(runs.front());
    const auto asked = [&] { return predict(runs, {}).value(); };
    ASSERT_TRUE(asked().exact);

    Prediction told;
    told.predicted = own;
    told.least = { own.requestedBytesPeak / 2, own.allocatedBytesPeak, own.reservedBytesPeak };
    told.most = { own.requestedBytesPeak, own.allocatedBytesPeak * 3, own.reservedBytesPeak };
    told.evidence = WhatIfEvidence::Windows;
    tellBounds(*recording, told);
    EXPECT_FALSE(asked().exact);
    EXPECT_EQ(asked().predicted, own);
    EXPECT_EQ(asked().least, told.least);
    EXPECT_EQ(asked().most, told.most);
    EXPECT_EQ(asked().evidence, WhatIfEvidence::Windows);
    told.predicted.reset();
    tellBounds(*recording, told);
    EXPECT_FALSE(asked().predicted);

    // What was exact is.
    told.exact = true;
    tellBounds(*recording, told);
    EXPECT_TRUE(asked().exact);
    // What are no bounds widens nothing, though it is of a prediction.
    for (const char* const wrong : { R"({"reserved_bytes_peak":[9,1]})", R"({"reserved_bytes_peak":[-1,9]})",
             R"({"reserved_bytes_peak":"much","point":1,"evidence":7})",
             R"({"reserved_bytes_peak":[1.5,9]})" }) {
        recording->facts[wire::info::kPredicted] = wrong;
        EXPECT_EQ(asked().least, own) << wrong;
        EXPECT_EQ(asked().most, own) << wrong;
        EXPECT_EQ(asked().evidence, WhatIfEvidence::Replay) << wrong;
        EXPECT_FALSE(asked().exact) << wrong;
    }
    for (const char* const none : { "", "[]", "{" }) {
        recording->facts[wire::info::kPredicted] = none;
        EXPECT_TRUE(asked().exact) << none;
    }
    recording->facts[wire::info::kPredicted] = R"({"reserved_bytes_peak":[0,9223372036854775807]})";
    EXPECT_GT(asked().most.reservedBytesPeak, own.reservedBytesPeak);
}

} // namespace strata::model
