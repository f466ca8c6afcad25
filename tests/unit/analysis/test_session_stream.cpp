// SPDX-License-Identifier: GPL-3.0-or-later
// A session that comes in pieces of bytes against a file of the same bytes.
#include "model/session/session_stream.h"

#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/trace/program/allocator_calls.h"
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/chunk.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/tables.h"
#include "tests/support/grow.h"
#include "tests/support/little_chunks.h"
#include "tests/support/random_recording.h"
#include "tests/support/session_text.h"
#include "tests/unit/readers/recording_text.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <random>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using SessionPtr = std::shared_ptr<const Session>;

wire::Bytes contentOf(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    const std::string text{ std::istreambuf_iterator<char>(in), {} };
    const auto bytes = std::as_bytes(std::span(text));
    return { bytes.begin(), bytes.end() };
}

wire::Bytes sessionOf(const Recording& recording)
{
    wire::MemorySink sink;
    EXPECT_TRUE(writeSession(recording, sink));
    return sink.bytes();
}

std::vector<fs::path> sessions()
{
    std::vector<fs::path> found;
    for (const fs::path& folder :
        { fs::path(STRATA_TEST_DATA) / "sessions", fs::path(STRATA_TEST_DATA) / "../../resources/samples" })
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".strata")
                found.push_back(entry.path());
    return found;
}

/// Where the chunks of a stream end.
std::vector<std::size_t> chunkEnds(std::span<const std::byte> stream)
{
    std::vector<std::size_t> ends;
    wire::ChunkHead head;
    for (std::size_t at = 0; wire::readHead(stream.subspan(at), head) == wire::ChunkStatus::Ok;)
        ends.push_back(at += wire::kHeadBytes + head.storedBytes);
    return ends;
}

/// Calls of the allocator, and settings that changed since the beginning.
std::string callsOf(const Recording& recording)
{
    std::string text;
    if (const auto* const part = recording.parts.find<AllocatorCalls>())
        for (const auto& [device, calls] : part->byDevice)
            for (const AllocatorCall& call : calls)
                text += fmt::format("{} {} {} {} {}\n", device, call.event, callName(call.kind),
                    call.value.valid() ? recording.strings[call.value] : std::string_view("-"), call.timeNs);
    for (const Setting& setting : SettingsAtStart::of(recording))
        text += setting.key + " " + setting.json + "\n";
    return text;
}

/// Follows a stream: views of each generation are derived from those of the one before.
class Follower {
public:
    SessionStream stream;

    void publish()
    {
        Result<SessionPtr> session = stream.publish();
        ASSERT_TRUE(session);
        m_before = std::exchange(m_last, std::move(*session));
        for (const DeviceTrace& trace : m_last->devices())
            m_derived[trace.device()]
                = std::make_shared<const test::Derived>(trace, m_derived[trace.device()].get());
    }

    void expectSameAs(const Session& whole)
    {
        ASSERT_EQ(m_last->devices().size(), whole.devices().size());
        const Recording &is = m_last->recording(), &expected = whole.recording();
        ASSERT_EQ(linesOf(is), linesOf(expected));
        EXPECT_EQ(is.fileBytes, expected.fileBytes);
        EXPECT_EQ(is.format, expected.format);
        EXPECT_EQ(is.facts, expected.facts);
        EXPECT_EQ(is.refusal, expected.refusal);
        EXPECT_EQ(is.user, expected.user);
        EXPECT_EQ(is.user.unreadFrom, expected.user.unreadFrom);
        EXPECT_EQ(is.driver.size(), expected.driver.size());
        EXPECT_EQ(is.lost.size(), expected.lost.size());
        EXPECT_EQ(callsOf(is), callsOf(expected));
        ASSERT_EQ(is.truncation.has_value(), expected.truncation.has_value());
        if (is.truncation) {
            EXPECT_EQ(is.truncation->offset, expected.truncation->offset);
            EXPECT_EQ(is.truncation->reason.text(), expected.truncation->reason.text());
        }
        for (const DeviceTrace& trace : whole.devices()) {
            const std::string text = everythingOf(test::Derived(trace));
            ASSERT_EQ(test::firstDifference(everythingOf(*m_derived[trace.device()]), text), "");
            ASSERT_EQ(
                test::firstDifference(everythingOf(test::Derived(*m_last->find(trace.device()))), text), "");
        }
    }

private:
    SessionPtr m_last, m_before; // what is derived may refer to the one before while it is derived
    std::map<int, std::shared_ptr<const test::Derived>> m_derived;
};

Result<SessionPtr> readAtOnce(std::span<const std::byte> bytes)
{
    Result<std::unique_ptr<Recording>> recording = readRecording(bytes, {}, {});
    return recording ? Session::fromRecording(std::move(*recording)) : Failure(recording.error());
}

/// Feeds the bytes up to each of the ends, which are ascending, and publishes what came.
void expectSameInPieces(std::span<const std::byte> bytes, const std::vector<std::size_t>& ends)
{
    Follower follower;
    std::size_t at = 0;
    for (const std::size_t end : ends) {
        ASSERT_TRUE(follower.stream.feed(bytes.subspan(at, end - at)));
        at = end;
        if (follower.stream.hasNews())
            follower.publish();
        ASSERT_FALSE(follower.stream.hasNews());
    }
    ASSERT_TRUE(follower.stream.feed(bytes.subspan(at)));
    ASSERT_TRUE(follower.stream.finish());
    follower.publish();
    const Result<SessionPtr> whole = readAtOnce(bytes);
    ASSERT_TRUE(whole) << whole.error().text();
    follower.expectSameAs(**whole);
}

std::vector<std::size_t> randomEnds(std::size_t size, std::size_t pieces, std::mt19937& random)
{
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < pieces; ++i)
        ends.push_back(random() % (size + 1));
    std::ranges::sort(ends);
    return ends;
}

std::unique_ptr<Recording> recordingToStream(std::uint32_t seed)
{
    auto recording = test::randomRecording({ .seed = seed,
        .devices = seed % 4 == 0 ? 2 : 1,
        .events = 60 + seed % 5 * 80,
        .liveBlocks = 30,
        .streams = 1 + static_cast<int>(seed % 3),
        .before = seed % 3 == 0 ? 0.0 : 0.5,
        .deferredFrees = seed % 2 == 0 ? 0.3 : 0.0,
        .privatePools = 0.1,
        .outOfMemory = 0.01,
        .anomalies = seed % 5 == 1 ? 0.03 : 0.0,
        .expandable = seed % 2 == 1,
        .times = seed % 7 != 0 });
    return seed % 3 == 1 ? test::withBase(std::move(recording)) : std::move(recording);
}

} // namespace

TEST(SessionStream, OfTheChunksOfAFileIsTheFile)
{
    ASSERT_GE(sessions().size(), 5u);
    for (const fs::path& file : sessions()) {
        SCOPED_TRACE(file.string());
        const wire::Bytes bytes = contentOf(file);
        ASSERT_NO_FATAL_FAILURE(expectSameInPieces(bytes, chunkEnds(bytes)));
    }
}

TEST(SessionStream, OfRandomPiecesOfAFileIsTheFile)
{
    std::mt19937 random(5);
    for (const fs::path& file : sessions()) {
        SCOPED_TRACE(file.string());
        const wire::Bytes bytes = contentOf(file);
        for (int i = 0; i < 5; ++i)
            ASSERT_NO_FATAL_FAILURE(expectSameInPieces(bytes, randomEnds(bytes.size(), 12, random)));
        const wire::Bytes little = test::inLittleChunks(bytes, 3);
        ASSERT_NO_FATAL_FAILURE(expectSameInPieces(little, randomEnds(little.size(), 25, random)));
    }
}

TEST(SessionStream, OfWhatARecorderWritesIsTheSessionReadAtOnce)
{
    for (std::uint32_t seed = 1; seed <= 250; ++seed) {
        SCOPED_TRACE(seed);
        const auto recording = recordingToStream(seed);
        const wire::Bytes whole = sessionOf(*recording);
        const wire::Bytes bytes = test::inLittleChunks(whole, seed);
        std::mt19937 random(seed);
        ASSERT_NO_FATAL_FAILURE(expectSameInPieces(
            bytes, seed % 2 == 0 ? chunkEnds(bytes) : randomEnds(bytes.size(), random() % 30, random)));
        // Little chunks say what the large ones did.
        const auto little = readAtOnce(bytes), large = readAtOnce(whole);
        ASSERT_TRUE(little && large);
        for (std::size_t d = 0; d < (*large)->devices().size(); ++d)
            ASSERT_EQ(test::firstDifference(everythingOf(test::Derived((*little)->devices()[d])),
                          everythingOf(test::Derived((*large)->devices()[d]))),
                "");
    }
}

TEST(SessionStream, WaitsForTheRestOfAChunk)
{
    const wire::Bytes bytes = contentOf(fs::path(STRATA_TEST_DATA) / "sessions/recorded_oom.strata");
    const std::vector<std::size_t> ends = chunkEnds(bytes);
    Follower follower;
    std::size_t chunks = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        ASSERT_TRUE(follower.stream.feed(std::span(bytes).subspan(at, 1)));
        if (!follower.stream.hasNews())
            continue;
        ASSERT_EQ(at + 1, ends[chunks++]);
        follower.publish();
    }
    EXPECT_EQ(chunks, ends.size());
    ASSERT_TRUE(follower.stream.finish());
    follower.publish();
    follower.expectSameAs(**readAtOnce(bytes));
}

TEST(SessionStream, ThatStopsAnywhereIsAFileThatEndsThere)
{
    const wire::Bytes all = test::inLittleChunks(sessionOf(*recordingToStream(4)), 4);
    int whole = 0, refused = 0;
    for (std::size_t size = 0; size < all.size(); size += size < 100 ? 3 : 1 + size % 101) {
        SCOPED_TRACE(size);
        const auto bytes = std::span<const std::byte>(all).first(size);
        Follower follower;
        ASSERT_TRUE(follower.stream.feed(bytes.first(size / 2)));
        follower.publish();
        ASSERT_TRUE(follower.stream.feed(bytes.subspan(size / 2)));
        const Result<void> end = follower.stream.finish();
        const Result<SessionPtr> file = readAtOnce(bytes);
        if (size >= 4) { // less is no session to a reader of files
            ASSERT_EQ(end.has_value(), file.has_value());
            if (!end) {
                EXPECT_EQ(end.error().text(), file.error().text());
            }
        }
        if (!file) {
            ++refused;
            continue;
        }
        follower.publish();
        ASSERT_NO_FATAL_FAILURE(follower.expectSameAs(**file));
        ++whole;
    }
    EXPECT_GT(whole, 20);
    EXPECT_GT(refused, 5);
}

TEST(SessionStream, EndsAtDamageAsAFileDoes)
{
    const wire::Bytes all = test::inLittleChunks(sessionOf(*recordingToStream(9)), 9);
    std::mt19937 random(9);
    int damaged = 0;
    for (std::size_t place = 40; place < all.size(); place += 1 + random() % 97) {
        SCOPED_TRACE(place);
        wire::Bytes bytes = all;
        bytes[place] ^= std::byte{ 0x10 };
        const Result<SessionPtr> file = readAtOnce(bytes);
        Follower follower;
        Result<void> fed = follower.stream.feed(std::span(bytes).first(place / 2));
        follower.publish();
        if (fed)
            fed = follower.stream.feed(std::span(bytes).subspan(place / 2));
        if (fed)
            fed = follower.stream.finish();
        ASSERT_EQ(fed.has_value(), file.has_value());
        if (!file)
            continue;
        follower.publish();
        ASSERT_NO_FATAL_FAILURE(follower.expectSameAs(**file));
        ++damaged;
    }
    EXPECT_GT(damaged, 10);
}

TEST(SessionStream, RefusesWhatIsNoSession)
{
    wire::Bytes newer = contentOf(fs::path(STRATA_TEST_DATA) / "sessions/recorded.strata");
    newer[4] = std::byte{ 9 };
    SessionStream stream;
    const Result<void> fed = stream.feed(newer);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().text(), readAtOnce(newer).error().text());
    EXPECT_TRUE(stream.feed(newer)); // nothing more is taken
    EXPECT_TRUE(stream.finish());

    SessionStream small(SessionStream::Options{ .path = "here", .memoryLimit = 100 });
    const wire::Bytes bytes = contentOf(fs::path(STRATA_TEST_DATA) / "sessions/recorded.strata");
    const Result<void> large = small.feed(bytes);
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().kind, Error::Kind::Refused);
    EXPECT_EQ((*small.publish())->recording().path, "here");
}

TEST(SessionStream, CallsOfTheAllocatorGrowAndLeaveGenerationsAsTheyWere)
{
    wire::MemorySink sink;
    wire::ChunkWriter writer(sink);
    const auto settings = [&](const char* value) {
        const std::vector<wire::KeyValue> items{ { "expandable_segments", value } };
        writer.chunk(wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(items, out); });
    };
    const auto call = [&](std::uint64_t event) {
        const std::vector<wire::AllocatorCallRow> rows{ { 0, event } };
        writer.chunk(wire::ChunkType::AllocatorCalls,
            [&](wire::Bytes& out) { wire::encodeAllocatorCalls(rows, out); });
    };
    SessionStream stream;
    std::size_t at = 0;
    const auto published = [&] {
        EXPECT_TRUE(stream.feed(std::span<const std::byte>(sink.bytes()).subspan(at)));
        at = sink.bytes().size();
        return *stream.publish();
    };
    settings("false");
    call(0);
    const SessionPtr first = published();
    call(0);
    settings("true");
    const SessionPtr second = published();
    call(7);
    settings("false");
    const SessionPtr third = published();
    EXPECT_EQ(callsOf(first->recording()), "0 0 empty_cache - 0\nexpandable_segments false\n");
    EXPECT_EQ(callsOf(second->recording()),
        "0 0 empty_cache - 0\n0 0 empty_cache - 0\nexpandable_segments false\n");
    EXPECT_EQ(callsOf(third->recording()),
        "0 0 empty_cache - 0\n0 0 empty_cache - 0\n0 7 empty_cache - 0\nexpandable_segments false\n");
    EXPECT_EQ(second->recording().settings.front().json, "true");
    EXPECT_FALSE(first->recording().parts.find<SettingsAtStart>());
}

TEST(SessionStream, LabelsBlocksByWhatSymbolsSay)
{
    const wire::Bytes bytes = contentOf(fs::path(STRATA_TEST_DATA) / "sessions/every_chunk.strata");
    SessionStream stream;
    std::size_t at = 0;
    std::shared_ptr<const Session> before;
    wire::ChunkHead head;
    for (const std::size_t end : chunkEnds(bytes)) {
        ASSERT_EQ(wire::readHead(std::span(bytes).subspan(at), head), wire::ChunkStatus::Ok);
        ASSERT_TRUE(stream.feed(std::span(bytes).subspan(at, end - at)));
        const SessionPtr next = *stream.publish();
        if (head.type == wire::ChunkType::Symbols) {
            ASSERT_FALSE(before->devices().empty());
            EXPECT_FALSE(next->devices()[0].keepsRowsOf(before->devices()[0]));
            EXPECT_TRUE(next->devices()[0].continues(before->devices()[0]));
            return;
        }
        before = next;
        at = end;
    }
    FAIL() << "no symbols";
}

} // namespace strata::model
