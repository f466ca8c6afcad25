// SPDX-License-Identifier: GPL-3.0-or-later
// A session that is appended piece by piece against the same read at once.
#include "model/readers/reader.h"
#include "model/session/opener.h"
#include "tests/support/grow.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"
#include "tests/support/session_text.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace strata::model {
namespace {

using SessionPtr = std::shared_ptr<const Session>;
using test::everythingOf;
using test::Feeder;
using test::firstDifference;

std::string everythingOf(const DeviceTrace& trace)
{
    return everythingOf(test::Derived(trace));
}

/// What sources and damages there are, one after the other.
std::unique_ptr<Recording> recordingThatGrows(std::uint32_t seed)
{
    auto recording = test::randomRecording({ .seed = seed,
        .devices = seed % 5 == 0 ? 2 : 1,
        .events = 40 + seed % 7 * 60,
        .liveBlocks = seed % 3 == 0 ? 15 : 50,
        .streams = 1 + static_cast<int>(seed % 3),
        .before = seed % 4 == 0 ? 0.0 : 0.5,
        .deferredFrees = seed % 3 == 1 ? 0.3 : 0.0,
        .privatePools = seed % 6 == 0 ? 0.2 : 0.0,
        .outOfMemory = 0.005,
        .anomalies = seed % 4 == 1 ? 0.03 : 0.0,
        .expandable = seed % 2 == 0,
        .times = seed % 9 != 0 });
    if (seed % 11 == 0)
        for (DeviceRecording& device : recording->devices)
            for (std::size_t i = 50; i < device.events.timeNs.size(); i += 17)
                device.events.timeNs.edit(i) -= 1'000'000;
    return seed % 2 == 1 && seed % 4 != 1 ? test::withBase(std::move(recording)) : std::move(recording);
}

/// Two feeders of one recording: one appends after every step, the other once when it is asked.
void expectSame(std::uint32_t seed, bool middle)
{
    const auto whole = recordingThatGrows(seed);
    std::mt19937 random(seed);
    Feeder pieces(*whole), once(*whole);
    std::map<int, std::shared_ptr<const test::Derived>> derived;
    std::vector<SessionPtr> generations;
    SessionPtr early;
    std::string earlyText;
    const auto append = [&] {
        generations.push_back(pieces.append());
        for (const DeviceTrace& trace : generations.back()->devices())
            derived[trace.device()]
                = std::make_shared<const test::Derived>(trace, derived[trace.device()].get());
        if (!early && generations.back()->devices().front().eventCount() > 20) {
            early = generations.back();
            earlyText = everythingOf(early->devices().front());
        }
    };
    const auto compare = [&](const Session& with) {
        ASSERT_EQ(with.devices().size(), generations.back()->devices().size());
        for (std::size_t d = 0; d < with.devices().size(); ++d) {
            const DeviceTrace& is = generations.back()->devices()[d];
            const std::string expected = everythingOf(with.devices()[d]);
            ASSERT_EQ(firstDifference(everythingOf(*derived[is.device()]), expected), "");
            ASSERT_EQ(firstDifference(everythingOf(is), expected), "");
        }
    };
    const auto both = [&](auto&& add) {
        add(pieces);
        add(once);
    };
    const std::size_t devices = whole->devices.size();
    const bool lateBase = seed % 13 == 0;
    for (std::size_t d = 0; d < devices; ++d)
        if (!lateBase)
            both([&](Feeder& f) { f.addBase(d); });
    const std::size_t compareAt = random() % 6;
    std::size_t step = 0;
    for (bool more = true; more; ++step) {
        more = false;
        for (std::size_t d = 0; d < devices; ++d) {
            const auto count = static_cast<std::int64_t>(random() % 100);
            both([&](Feeder& f) { f.addEvents(d, count); });
            more = more || !pieces.done(d);
        }
        if (step == 2 && lateBase)
            for (std::size_t d = 0; d < devices; ++d)
                both([&](Feeder& f) { f.addBase(d); });
        if (step == 3 && seed % 7 == 0) // a state of a later moment, which tells the pools
            for (std::size_t d = 0; d < devices; ++d)
                both([&](Feeder& f) { f.addEnd(d); });
        append();
        if (middle && step == compareAt) {
            compare(*once.append());
            if (testing::Test::HasFatalFailure())
                return;
        }
    }
    if (lateBase && step <= 2)
        for (std::size_t d = 0; d < devices; ++d)
            both([&](Feeder& f) { f.addBase(d); });
    for (std::size_t d = 0; d < devices; ++d)
        pieces.addEnd(d);
    append();
    if (seed % 3 == 0) // and a generation without anything new
        append();
    Feeder all(*whole);
    for (std::size_t d = 0; d < devices; ++d) {
        all.addBase(d);
        all.addEvents(d, whole->devices[d].events.size());
        all.addEnd(d);
    }
    const auto read = Session::fromRecording(std::make_unique<Recording>(all.session().recording()));
    ASSERT_TRUE(read);
    compare(**read);
    if (early) {
        ASSERT_EQ(firstDifference(everythingOf(early->devices().front()), earlyText), "") << "disturbed";
    }
}

/// Feeds a recording of a file in pieces of any size: the last generation is what opening the file gives.
void expectFromPieces(const std::filesystem::path& file, std::mt19937& random)
{
    SCOPED_TRACE(file.string());
    const auto whole = readRecording(file, {}, {});
    ASSERT_TRUE(whole);
    Feeder pieces(**whole);
    const std::size_t devices = (*whole)->devices.size();
    std::vector<std::shared_ptr<const test::Derived>> derived(devices);
    std::vector<SessionPtr> generations;
    const auto append = [&] {
        generations.push_back(pieces.append());
        for (std::size_t d = 0; d < devices; ++d)
            derived[d]
                = std::make_shared<const test::Derived>(generations.back()->devices()[d], derived[d].get());
    };
    for (bool more = true; more;) {
        more = false;
        for (std::size_t d = 0; d < devices; ++d) {
            const auto count = (*whole)->devices[d].events.size() / 5 + 1;
            pieces.addEvents(d, static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(count)));
            more = more || !pieces.done(d);
        }
        append();
    }
    for (std::size_t d = 0; d < devices; ++d)
        pieces.addEnd(d);
    append();
    const auto read = Opener::openAll(file);
    ASSERT_TRUE(read);
    for (std::size_t d = 0; d < devices; ++d)
        ASSERT_EQ(firstDifference(everythingOf(*derived[d]), everythingOf((*read)->devices()[d])), "");
}

} // namespace

TEST(GrowingSession, OfRecordingsOfProgramsIsTheSessionReadAtOnce)
{
    std::mt19937 random(1);
    int recordings = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(STRATA_TEST_DATA))
        if (entry.path().string().ends_with(".pickle.gz")) {
            expectFromPieces(entry.path(), random);
            ++recordings;
        }
    EXPECT_GE(recordings, 18);
}

TEST(GrowingSession, OfRecordingsByOthersIsTheSessionReadAtOnce)
{
    const auto folder = std::filesystem::path(STRATA_SHARED) / "realdata/snapshots";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << folder << " is missing";
    std::mt19937 random(2);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        expectFromPieces(entry.path(), random);
}

TEST(GrowingSession, KeepsWhatChunksOfOtherKindsSaid)
{
    struct Said {
        std::vector<int> words;
    };
    const auto whole = test::makeRecording("alloc 0x1000 100");
    Feeder feeder(*whole);
    feeder.session().recording().parts.get<Said>().words = { 1 };
    const auto all = [](const DeviceRecording&) { return false; };
    const SessionPtr first = *feeder.session().append(all);
    feeder.session().recording().parts.get<Said>().words.push_back(2);
    feeder.session().recording().parts.get<Said>().words.push_back(3);
    const SessionPtr second = *feeder.session().append(all);
    EXPECT_EQ(first->recording().parts.find<Said>()->words, std::vector<int>{ 1 });
    EXPECT_EQ(second->recording().parts.find<Said>()->words, (std::vector<int>{ 1, 2, 3 }));
}

TEST(GrowingSession, BlocksKeepTheirNumbers)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto whole
            = test::withBase(test::randomRecording({ .seed = seed, .events = 600, .streams = 2 }));
        Feeder feeder(*whole);
        feeder.addBase(0);
        std::vector<SessionPtr> generations;
        while (!feeder.done(0)) {
            feeder.addEvents(0, 37);
            generations.push_back(feeder.append());
        }
        feeder.addEnd(0);
        generations.push_back(feeder.append());
        const BlockColumns& last = generations.back()->devices()[0].blocks();
        for (const SessionPtr& generation : generations) {
            const BlockColumns& blocks = generation->devices()[0].blocks();
            ASSERT_EQ(blocks.olderCount(), last.olderCount()); // the base state tells of all
            for (const BlockId block : blocks.all()) {
                ASSERT_EQ(blocks.address[block], last.address[block]) << block.value;
                ASSERT_EQ(blocks.birth(block), last.birth(block)) << block.value;
                ASSERT_EQ(blocks.stack[block], last.stack[block]) << block.value;
            }
        }
        // Of the base state, by address.
        for (std::size_t row = 1; row < last.olderCount(); ++row)
            ASSERT_LT(last.address[BlockId::older(row - 1)], last.address[BlockId::older(row)]);
        for (std::size_t i = 1; i + 1 < generations.size(); ++i)
            EXPECT_TRUE(generations[i]->devices()[0].keepsRowsOf(
                generations[i - 1]->devices()[0])); // nothing is redone
        // The end state told nothing new: the next generation goes on from the one before.
        EXPECT_TRUE(generations.back()->devices()[0].continues(generations.front()->devices()[0]));
    }
}

TEST(GrowingSession, IsTheSessionReadAtOnce)
{
    for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(expectSame(seed, seed % 2 == 0));
    }
}

} // namespace strata::model
