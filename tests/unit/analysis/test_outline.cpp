// SPDX-License-Identifier: GPL-3.0-or-later
// What a session says of itself without its events, against what its events say.
#include "model/analysis/summary/summary.h"
#include "model/digest/compare.h"
#include "model/session/cut.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/wire/chunk.h"
#include "model/wire/digest_codec.h"
#include "model/wire/events_codec.h"
#include "model/wire/follower.h"
#include "model/wire/state.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"
#include "tests/support/summary_text.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using SessionPtr = std::shared_ptr<const Session>;

SessionPtr opened(std::unique_ptr<Recording> recording)
{
    auto session = Session::fromRecording(std::move(recording));
    return session ? *session : nullptr;
}

class Outline : public testing::Test {
protected:
    void TearDown() override { fs::remove(m_path); }

    std::string saved(const Session& session) const
    {
        EXPECT_TRUE(saveSession(session.recording(), m_path, digestsOf(session.devices())));
        return content();
    }
    std::string content() const
    {
        std::ifstream in(m_path, std::ios::binary);
        return { std::istreambuf_iterator<char>(in), {} };
    }
    void write(std::string_view bytes) const
    {
        std::ofstream(m_path, std::ios::binary | std::ios::trunc) << bytes;
    }
    std::optional<SessionOutline> outline() const { return test::outlineIn(m_path); }
    std::string fullText() const
    {
        const auto session = Opener::openAll(m_path);
        return session ? test::summaryText(**session) : session.error().text();
    }

    /// An outline where there is no breach, and then one that says what the events say. Whether there is one.
    bool expectSame(const Session& session)
    {
        saved(session);
        const auto found = outline();
        EXPECT_EQ(found.has_value(), session.exact() && !session.recording().truncation);
        const std::string full = fullText();
        if (found) {
            EXPECT_EQ(test::summaryText(*found), full);
            EXPECT_TRUE(wrongDigests(*found, (*Opener::openAll(m_path))->devices()).empty());
        }
        return found.has_value();
    }

    fs::path m_path
        = fs::temp_directory_path() / ("strata-outline-" + std::to_string(::getpid()) + ".strata");
};

struct Chunk {
    wire::ChunkType type;
    wire::Bytes payload;
};

std::vector<Chunk> chunksOf(std::string_view stream)
{
    std::vector<Chunk> chunks;
    std::span<const std::byte> rest = std::as_bytes(std::span(stream));
    wire::ChunkHead head;
    while (!rest.empty()) {
        Chunk chunk;
        EXPECT_EQ(wire::readHead(rest, head), wire::ChunkStatus::Ok);
        EXPECT_EQ(
            wire::unpack(head, rest.first(wire::kHeadBytes), rest.subspan(wire::kHeadBytes), chunk.payload),
            wire::ChunkStatus::Ok);
        chunk.type = head.type;
        rest = rest.subspan(wire::kHeadBytes + head.storedBytes);
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

/// With right hashes, whatever they say. Digests are bound again to what stands before them.
std::string packed(const std::vector<Chunk>& chunks, bool bind = true)
{
    wire::ChunkPacker packer;
    wire::Bytes out;
    for (const Chunk& chunk : chunks) {
        wire::Bytes payload = chunk.payload;
        wire::Digest digest;
        if (bind && chunk.type == wire::ChunkType::Digest && wire::decodeDigest(payload, digest)) {
            digest.chunks = packer.sequence();
            digest.chain = packer.chain();
            payload.clear();
            wire::encodeDigest(digest, payload);
        }
        EXPECT_TRUE(packer.pack(chunk.type, payload, out));
    }
    return { reinterpret_cast<const char*>(out.data()), out.size() };
}

/// The digests that a recorder makes of a stream while it writes it; none where it would not.
std::vector<std::optional<wire::Digest>> followed(const std::vector<Chunk>& chunks)
{
    std::map<int, std::pair<wire::Follower, std::optional<wire::State>>> devices;
    std::map<int, bool> begun;
    for (const Chunk& chunk : chunks) {
        wire::State state;
        wire::EventChunk events;
        if (chunk.type == wire::ChunkType::BaseState && wire::decodeState(chunk.payload, state)) {
            devices[state.device].first.begin(state);
            begun[state.device] = true;
        } else if (chunk.type == wire::ChunkType::Events && wire::decodeEvents(chunk.payload, events)) {
            if (!std::exchange(begun[events.device], true))
                devices[events.device].first.begin({});
            for (const wire::EventRow& row : events.rows)
                devices[events.device].first.add(row);
        } else if (chunk.type == wire::ChunkType::EndState && wire::decodeState(chunk.payload, state)) {
            if (!std::exchange(begun[state.device], true))
                devices[state.device].first.begin({});
            devices[state.device].second = state;
        }
    }
    std::vector<std::optional<wire::Digest>> digests;
    for (auto& [device, parts] : devices)
        digests.push_back(parts.second ? parts.first.finish(*parts.second) : std::nullopt);
    return digests;
}

/// Of the file, without what binds them to it.
std::vector<wire::Digest> digestsIn(const std::vector<Chunk>& chunks)
{
    std::vector<wire::Digest> digests;
    for (const Chunk& chunk : chunks) {
        if (chunk.type != wire::ChunkType::Digest)
            continue;
        EXPECT_TRUE(wire::decodeDigest(chunk.payload, digests.emplace_back()));
        digests.back().chunks = digests.back().chain = 0;
    }
    return digests;
}

void sortStacks(wire::Digest& digest)
{
    std::ranges::sort(digest.peak, {}, &wire::StackSum::stack);
    for (auto& oom : digest.outOfMemory)
        std::ranges::sort(oom.stacks, {}, &wire::StackSum::stack);
}

/// A recorder always has times and knows no order of stacks.
void expectEqual(wire::Digest mine, wire::Digest theirs)
{
    if (!theirs.hasTimes) {
        mine.hasTimes = false;
        mine.firstTimeNs = mine.peakTimeNs = mine.latestTimeNs = 0;
    }
    sortStacks(mine);
    sortStacks(theirs);
    EXPECT_EQ(mine, theirs);
}

test::RandomTrace varied(std::uint32_t seed)
{
    return { .seed = seed,
        .devices = 1 + static_cast<int>(seed % 3),
        .events = 200 + seed * 61,
        .streams = 3,
        .before = seed % 4 == 0 ? 0.0 : 0.4,
        .deferredFrees = seed % 2 == 0 ? 0.3 : 0.0,
        .privatePools = 0.2,
        .outOfMemory = seed % 3 == 0 ? 0.02 : 0.0,
        .expandable = seed % 2 == 0,
        .times = seed % 5 != 0 };
}

const std::string kOutOfMemory = R"(
    segment_alloc 0x100000 2097152 time=1000
    alloc 0x100000 1000 stack=f@train.py:1 time=2000
    alloc 0x100400 3000 stack=g@train.py:2 time=3000
    oom size=9000000 free=4096 time=4000
    free_requested 0x100000 1000 time=5000
    free_completed 0x100000 1000 time=5000
    oom size=8000000 free=8192 time=6000
    snapshot 0x0 0 time=7000
    segment 0x100000 2097152 small
    block 0x100400 3072 req=3000 allocated stack=g@train.py:2)";

} // namespace

TEST_F(Outline, SaysWhatTheEventsSayOfEveryVersion)
{
    int files = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "versions")) {
        if (entry.path().extension() != ".gz")
            continue;
        SCOPED_TRACE(entry.path().string());
        const auto session = Opener::openAll(entry.path());
        ASSERT_TRUE(session);
        EXPECT_TRUE(expectSame(**session));
        ++files;
    }
    EXPECT_EQ(files, 15);
}

TEST_F(Outline, SaysWhatTheEventsSayOfRealRecordings)
{
    const fs::path folder = fs::path(STRATA_SHARED) / "realdata/snapshots";
    if (!fs::exists(folder))
        GTEST_SKIP() << folder << " is missing";
    int outlines = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        SCOPED_TRACE(entry.path().string());
        const auto session = Opener::openAll(entry.path());
        ASSERT_TRUE(session);
        outlines += expectSame(**session) ? 1 : 0;
    }
    EXPECT_GE(outlines, 10);
}

TEST_F(Outline, SaysWhatTheEventsSayOfRandomRecordings)
{
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(seed);
        const auto session = opened(test::randomRecording(varied(seed)));
        ASSERT_TRUE(session);
        EXPECT_TRUE(expectSame(*session));
    }
}

TEST_F(Outline, IsNotThereForARecordingInContradiction)
{
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        auto options = varied(seed);
        options.anomalies = 0.02;
        const auto session = opened(test::randomRecording(options));
        ASSERT_TRUE(session);
        expectSame(*session);
    }
    const auto ended = opened(test::makeRecording("alloc 0x1000 1\ntruncated 10 end"));
    ASSERT_TRUE(ended);
    EXPECT_FALSE(expectSame(*ended));
}

TEST_F(Outline, KnowsOutOfMemory)
{
    const auto session = opened(test::makeRecording(kOutOfMemory));
    ASSERT_TRUE(session);
    EXPECT_TRUE(expectSame(*session));
    ASSERT_EQ(outline()->devices.at(0).digest.outOfMemory.size(), 2u);
    EXPECT_FALSE(outline()->devices.at(0).digest.outOfMemory.at(0).figures.freeInSegmentsExact);
    EXPECT_TRUE(outline()->devices.at(0).digest.outOfMemory.at(1).figures.freeInSegmentsExact);
}

TEST_F(Outline, OfMoreOutOfMemoriesThanAnybodyReadsStaysTheSame)
{
    std::string text = "segment_alloc 0x100000 2097152\n";
    for (int i = 0; i < 40; ++i)
        text += fmt::format("alloc {} {} stack=f@train.py:{}\noom size={} free=10\n", 0x100000 + i * 4096,
            100 + i, i % 7, 1'000'000 + i);
    text += "segment 0x100000 2097152 small\n";
    for (int i = 0; i < 40; ++i)
        text += fmt::format(
            "block {} 512 req={} allocated stack=f@train.py:{}\n", 0x100000 + i * 4096, 100 + i, i % 7);
    const auto session = opened(test::makeRecording(text));
    ASSERT_TRUE(session);
    EXPECT_TRUE(expectSame(*session));
    const std::vector<Chunk> chunks = chunksOf(content());
    const auto made = followed(chunks).at(0);
    ASSERT_TRUE(made);
    expectEqual(*made, digestsIn(chunks).at(0));
}

TEST_F(Outline, IsTheSameFromARecorderThatFollowsItsEvents)
{
    int compared = 0, withBase = 0, withOom = 0;
    const auto compare = [&](const Session& session) {
        const std::vector<Chunk> chunks = chunksOf(saved(session));
        const std::vector<wire::Digest> kept = digestsIn(chunks);
        const auto made = followed(chunks);
        ASSERT_EQ(made.size(), kept.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            // Without a base state it takes the start for empty: else it sees frees of nothing.
            const bool fromNothing = session.recording().devices[i].base.segments.empty();
            if (fromNothing && kept[i].reservedStart > 0) {
                EXPECT_FALSE(made[i]);
                continue;
            }
            ASSERT_TRUE(made[i]) << i;
            expectEqual(*made[i], kept[i]);
            ++compared;
            withBase += fromNothing ? 0 : 1;
            withOom += kept[i].outOfMemory.empty() ? 0 : 1;
        }
    };
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(seed);
        const auto session = opened(test::randomRecording(varied(seed)));
        ASSERT_TRUE(session);
        compare(*session);
        CutOptions options; // what is left of a cut has its base state
        for (const DeviceTrace& trace : session->devices())
            options.spans[trace.device()] = { trace.eventCount() / 3, trace.eventCount() - 1 };
        const auto rest = opened(cut(*session, options).recording);
        ASSERT_TRUE(rest);
        ASSERT_TRUE(rest->exact());
        compare(*rest);
    }
    EXPECT_GT(compared, 50);
    EXPECT_GT(withBase, 40);
    EXPECT_GT(withOom, 10);
}

TEST_F(Outline, IsNotMadeByARecorderThatSeesAContradiction)
{
    int none = 0;
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        auto options = varied(seed);
        options.before = 0;
        options.anomalies = 0.005;
        const auto session = opened(test::randomRecording(options));
        ASSERT_TRUE(session);
        ASSERT_TRUE(saveSession(session->recording(), m_path));
        const auto made = followed(chunksOf(content()));
        for (std::size_t i = 0; i < made.size(); ++i) {
            const auto& findings = session->devices()[i].findings();
            const bool exact = std::ranges::none_of(
                findings, [](const Finding& finding) { return isBreach(finding.check); });
            // It may be stricter, never less so.
            EXPECT_TRUE(exact || !made[i]) << i;
            none += made[i] ? 0 : 1;
        }
    }
    EXPECT_GT(none, 20);
}

TEST_F(Outline, IsNotBelievedOnceAnyByteDiffers)
{
    const auto session
        = opened(test::randomRecording({ .seed = 3, .devices = 2, .events = 100, .stacks = 5 }));
    ASSERT_TRUE(session);
    const std::string whole = saved(*session);
    const std::string text = test::summaryText(*session);
    ASSERT_TRUE(outline());
    for (std::size_t at = 0; at < whole.size(); at += 9) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
        write(damaged);
        // The last chunk is the index: without it the session is not finished.
        EXPECT_FALSE(outline()) << at;
    }
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 31) {
        write(whole.substr(0, bytes));
        EXPECT_FALSE(outline()) << bytes;
    }
}

TEST_F(Outline, OfAnotherSessionIsNotBelieved)
{
    const auto one = opened(test::randomRecording({ .seed = 1, .events = 300 }));
    const auto other = opened(test::randomRecording({ .seed = 2, .events = 300 }));
    std::vector<Chunk> chunks = chunksOf(saved(*one));
    const std::vector<Chunk> others = chunksOf(saved(*other));
    const auto isDigest = [](const Chunk& chunk) { return chunk.type == wire::ChunkType::Digest; };
    *std::ranges::find_if(chunks, isDigest) = *std::ranges::find_if(others, isDigest);
    write(packed(chunks, false));
    EXPECT_FALSE(outline());
    EXPECT_EQ(fullText(), test::summaryText(*one));
}

TEST_F(Outline, ThatContradictsItselfOrTheEndStateIsNotBelieved)
{
    const auto session = opened(test::makeRecording(kOutOfMemory));
    const std::vector<Chunk> chunks = chunksOf(saved(*session));
    const std::size_t at = static_cast<std::size_t>(
        std::ranges::find(chunks, wire::ChunkType::Digest, &Chunk::type) - chunks.begin());
    const auto believed = [&](auto&& change) {
        std::vector<Chunk> lying = chunks;
        wire::Digest digest;
        EXPECT_TRUE(wire::decodeDigest(lying[at].payload, digest));
        change(digest);
        lying[at].payload.clear();
        wire::encodeDigest(digest, lying[at].payload);
        write(packed(lying));
        return outline().has_value();
    };
    EXPECT_TRUE(believed([](wire::Digest&) {}));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.requestedPeak += 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.requestedPeakEvent = 900; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.reservedPeak = 5; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.peak.pop_back(); }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.peak[0].stack = 99; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.actions[0] += 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.events += 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.outOfMemory.pop_back(); }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.firstOlderFree = 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.device = 3; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.peakReserved = d.reservedPeak + 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.peakLeast = d.requestedPeak - 1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.peakPending = -1; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.outOfMemory[0].stack = 99; }));
    EXPECT_FALSE(believed([](wire::Digest& d) { d.latestTimeNs = d.peakTimeNs - 1; }));
}

TEST_F(Outline, ThatAddsUpAndIsWrongIsFoundByACheck)
{
    const auto session = opened(test::makeRecording(kOutOfMemory));
    std::vector<Chunk> chunks = chunksOf(saved(*session));
    const auto wrong = [&] {
        const auto full = Opener::openAll(m_path);
        const auto found = outline();
        return full && found ? wrongDigests(*found, (*full)->devices()) : std::vector<int>{ -1 };
    };
    EXPECT_TRUE(wrong().empty());
    Chunk& chunk = *std::ranges::find(chunks, wire::ChunkType::Digest, &Chunk::type);
    wire::Digest digest;
    ASSERT_TRUE(wire::decodeDigest(chunk.payload, digest));
    digest.requestedPeak += 4096;
    digest.peakLeast += 4096;
    digest.peak[0].bytes += 4096;
    chunk.payload.clear();
    wire::encodeDigest(digest, chunk.payload);
    write(packed(chunks));
    EXPECT_EQ(wrong(), std::vector{ 0 });
}

TEST_F(Outline, KnowsNothingOfWhatComesBehindIt)
{
    const auto session = opened(test::makeRecording(kOutOfMemory));
    std::vector<Chunk> chunks = chunksOf(saved(*session));
    Chunk info{ wire::ChunkType::Info, {} };
    wire::ByteWriter(info.payload).varint(0);
    chunks.insert(chunks.end() - 1, info); // behind the digest, before the index
    write(packed(chunks));
    EXPECT_FALSE(outline());
    EXPECT_EQ(fullText(), test::summaryText(*session));
    std::swap(chunks[chunks.size() - 2], chunks[chunks.size() - 3]);
    write(packed(chunks));
    EXPECT_TRUE(outline());
}

TEST_F(Outline, OfAnotherVersionIsPassedOver)
{
    const auto session = opened(test::makeRecording(kOutOfMemory));
    std::vector<Chunk> chunks = chunksOf(saved(*session));
    Chunk& digest = *std::ranges::find(chunks, wire::ChunkType::Digest, &Chunk::type);
    for (const std::uint32_t version : { wire::kDigestVersion - 1, wire::kDigestVersion + 1 }) {
        digest.payload[0] = static_cast<std::byte>(version);
        write(packed(chunks));
        EXPECT_FALSE(outline());
        EXPECT_EQ(fullText(), test::summaryText(*session));
    }
}

} // namespace strata::model
