// SPDX-License-Identifier: GPL-3.0-or-later
// Files that end anywhere or have flipped bits: never a crash, and what is read is the beginning of what was
// there.
#include "pickle_bytes.h"
#include "recording_text.h"
#include "tests/support/stride.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <zlib.h>

namespace strata::model {

namespace {

using test::stride;
using testing::HasSubstr;

std::string unpacked(const std::filesystem::path& path)
{
    gzFile file = gzopen(path.c_str(), "rb");
    std::string out;
    std::string piece(65536, '\0');
    for (int got = 0; file != nullptr && (got = gzread(file, piece.data(), 65536)) > 0;)
        out.append(piece, 0, static_cast<std::size_t>(got));
    gzclose(file);
    return out;
}

std::string packed(const std::string& bytes)
{
    z_stream zip = {};
    EXPECT_EQ(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(bytes.size() + 1024, '\0');
    std::string in = bytes;
    zip.next_in = reinterpret_cast<Bytef*>(in.data());
    zip.avail_in = static_cast<uInt>(in.size());
    zip.next_out = reinterpret_cast<Bytef*>(out.data());
    zip.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&zip, Z_FINISH), Z_STREAM_END);
    out.resize(zip.total_out);
    deflateEnd(&zip);
    return out;
}

std::string sample(const char* name)
{
    return unpacked(std::filesystem::path(STRATA_TEST_DATA) / "versions" / name);
}

std::vector<std::string> eventLines(const Recording& recording)
{
    std::vector<std::string> lines;
    for (std::string& line : linesOf(recording)) {
        if (line.starts_with("segment ") || line.starts_with("annotation"))
            break;
        lines.push_back(std::move(line));
    }
    return lines;
}

/// Cuts `bytes` everywhere (in steps) and checks that what opens is a beginning of the whole. Returns how
/// many opened.
std::size_t cutEverywhere(const std::string& bytes, std::size_t step)
{
    const auto whole = readBytes(bytes);
    EXPECT_TRUE(whole && !(*whole)->truncation);
    const std::vector<std::string> all = eventLines(**whole);
    std::size_t opened = 0;
    std::size_t before = 0;
    for (std::size_t length = 0; length < bytes.size(); length += step) {
        const auto part = readBytes(std::string_view(bytes).substr(0, length));
        if (!part) {
            EXPECT_FALSE(part.error().what.empty());
            EXPECT_EQ(before, 0u) << "what opened once opens when more is there, cut at " << length;
            continue;
        }
        ++opened;
        EXPECT_TRUE((*part)->truncation);
        EXPECT_LE((*part)->truncation->offset, length);
        const std::vector<std::string> lines = eventLines(**part);
        EXPECT_GE(lines.size() + 1, before);
        EXPECT_TRUE(lines.size() <= all.size() && std::equal(lines.begin(), lines.end(), all.begin()))
            << "cut at " << length;
        before = lines.size();
    }
    return opened;
}

} // namespace

TEST(Damage, CutAtEveryByte)
{
    const std::string bytes = sample("torch2.1_plain.pickle.gz");
    ASSERT_GT(bytes.size(), 10000u);
    EXPECT_GT(cutEverywhere(bytes, stride()), 10000 / stride());
}

TEST(Damage, CutNewerSample)
{
    EXPECT_GT(cutEverywhere(sample("torch2.15_oom.pickle.gz"), 7 * stride()), 2000 / stride());
}

TEST(Damage, LastEventsAreThereInAFileCutJustBeforeTheEnd)
{
    const std::string bytes = sample("torch2.1_plain.pickle.gz");
    const auto whole = readBytes(bytes);
    const auto part = readBytes(std::string_view(bytes).substr(0, bytes.size() - 1));
    ASSERT_TRUE(whole && part) << part.error().text();
    EXPECT_EQ(linesOf(**part), linesOf(**whole));
    EXPECT_THAT((*part)->truncation->reason.text(), HasSubstr("ends at byte"));
}

TEST(Damage, CutGzip)
{
    const std::string bytes = packed(sample("torch2.4_plain.pickle.gz"));
    int opened = 0;
    for (std::size_t length = 0; length < bytes.size(); length += 3) {
        const auto part = readBytes(std::string_view(bytes).substr(0, length));
        if (part && (*part)->truncation) {
            EXPECT_THAT((*part)->truncation->reason.text(),
                testing::AnyOf(HasSubstr("gzip"), HasSubstr("unpacked file")));
            ++opened;
        }
    }
    EXPECT_GT(opened, 500);
}

TEST(Damage, FlippedBits)
{
    for (const char* const name : { "torch2.1_plain.pickle.gz", "torch2.15_expandable.pickle.gz" }) {
        const std::string good = sample(name);
        std::mt19937 random(20230511);
        std::size_t opened = 0;
        for (std::size_t i = 0; i < 3000; i += stride()) {
            std::string bad = good;
            for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
                bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
            const auto recording = readBytes(bad);
            if (recording)
                ++opened;
            else
                EXPECT_FALSE(recording.error().what.empty());
        }
        EXPECT_GT(opened, 1000 / stride());
    }
}

TEST(Damage, FlippedBitsInGzip)
{
    const std::string good = packed(sample("torch2.6_oom.pickle.gz"));
    std::mt19937 random(7);
    for (int i = 0; i < 1000; ++i) {
        std::string bad = good;
        bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
        const auto recording = readBytes(bad);
        EXPECT_TRUE(recording || !recording.error().what.empty());
    }
}

} // namespace strata::model
