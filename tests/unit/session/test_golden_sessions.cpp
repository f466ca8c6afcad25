// SPDX-License-Identifier: GPL-3.0-or-later
// What is written of the recordings in tests/data, chunk by chunk, against what Strata 0.1.0 wrote of them:
// whoever changes it makes sessions that others cannot open. Sessions of that time lie there too, and open.
#include "model/digest/digest.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/wire/chunk.h"
#include "model/wire/tables.h"
#include "tests/support/summary_text.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <xxhash.h>

namespace strata::model {

namespace {

namespace fs = std::filesystem;

const fs::path kData = STRATA_TEST_DATA;

/// The payload without what differs from version to version, and without hashes of packed chunks: how well
/// zstd packs is not ours to hold.
wire::Bytes lasting(wire::ChunkType type, wire::Bytes payload)
{
    if (type == wire::ChunkType::Index)
        return {};
    if (type == wire::ChunkType::Digest) {
        wire::Digest digest;
        EXPECT_TRUE(wire::decodeDigest(payload, digest));
        digest.chain = 0;
        payload.clear();
        wire::encodeDigest(digest, payload);
    } else if (type == wire::ChunkType::Info) {
        std::vector<wire::KeyValue> items;
        EXPECT_TRUE(wire::decodeKeyValues(payload, items));
        for (auto& [key, value] : items)
            if (key == wire::info::kCreator)
                value = "strata";
        payload.clear();
        wire::encodeKeyValues(items, payload);
    }
    return payload;
}

/// "versions/torch2.15_plain.pickle.gz: 1/180/9f86d081884c7d65 2/...": type, bytes and hash of each chunk.
std::string describe(const std::string& name, std::span<const std::byte> stream)
{
    std::string line = name + ":";
    wire::ChunkHead head;
    wire::Bytes payload;
    while (wire::readHead(stream, head) == wire::ChunkStatus::Ok
        && wire::unpack(head, stream.first(wire::kHeadBytes), stream.subspan(wire::kHeadBytes), payload)
            == wire::ChunkStatus::Ok) {
        const wire::Bytes kept = lasting(head.type, payload);
        line += fmt::format(" {}/{}/{:016x}", static_cast<int>(head.type), kept.size(),
            XXH3_64bits(kept.data(), kept.size()));
        stream = stream.subspan(wire::kHeadBytes + head.storedBytes);
    }
    EXPECT_TRUE(stream.empty()) << name;
    return line;
}

std::string written(const fs::path& file)
{
    const auto session = Opener::openAll(kData / file);
    if (!session) {
        ADD_FAILURE() << session.error().text();
        return {};
    }
    wire::MemorySink sink;
    EXPECT_TRUE(writeSession((*session)->recording(), sink, digestsOf((*session)->devices())));
    return describe(file.generic_string(), sink.bytes());
}

} // namespace

TEST(GoldenSessions, AreWrittenAsTheyAlwaysWere)
{
    std::ifstream golden(kData / "sessions/chunks.txt");
    std::string now;
    int files = 0;
    for (std::string line; std::getline(golden, line); ++files) {
        const std::string name = line.substr(0, line.find(':'));
        const std::string is = written(name);
        EXPECT_EQ(is, line);
        now += is + "\n";
    }
    EXPECT_EQ(files, 18);
    if (testing::Test::HasFailure())
        std::ofstream("chunks.txt") << now;
}

TEST(GoldenSessions, OfBeforeOpenAndSayTheSameInBothDepths)
{
    int files = 0, believed = 0;
    for (const auto& entry : fs::directory_iterator(kData / "sessions")) {
        if (entry.path().extension() != ".strata")
            continue;
        SCOPED_TRACE(entry.path().string());
        ++files;
        auto file = Opener::open(entry.path(), {});
        ASSERT_TRUE(file);
        const auto outline = file->outline();
        const auto session = file->all();
        ASSERT_TRUE(session) << session.error().text();
        EXPECT_FALSE((*session)->recording().truncation) << (*session)->recording().truncation->reason.text();
        EXPECT_TRUE((*session)->exact());
        if (!outline) // its digest is of another version
            continue;
        ++believed;
        EXPECT_EQ(test::summaryText(*outline), test::summaryText(**session));
    }
    EXPECT_EQ(files, 3);
    EXPECT_EQ(believed, 1);
}

/// The names of today are the bytes of then.
TEST(GoldenSessions, TellTheFactsOfTheProcess)
{
    const auto session = Opener::openAll(kData / "sessions/every_chunk.strata");
    ASSERT_TRUE(session);
    const Recording& recording = (*session)->recording();
    EXPECT_EQ(recording.facts,
        (std::map<std::string, std::string>{ { "host", "node7" }, { "command", "train.py" },
            { "started_ns", "1760000000000000000" }, { "device.0.name", "T4" },
            { "device.0.capacity", "15843721216" } }));
    ASSERT_TRUE(recording.host);
    EXPECT_EQ(recording.host->reservedBytes, 4096);
    EXPECT_EQ(recording.annotations.size(), 3u);
    EXPECT_EQ(recording.driver.size(), 1u);
    EXPECT_EQ(recording.user.items.size(), 5u);
}

} // namespace strata::model
