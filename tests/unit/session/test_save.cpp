// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/session/session.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"
#include "tests/unit/readers/recording_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;

class Save : public testing::Test {
protected:
    void SetUp() override { fs::create_directories(m_directory); }
    void TearDown() override { fs::remove_all(m_directory); }
    fs::path path(const char* name) const { return m_directory / name; }

    std::unique_ptr<Recording> read(const fs::path& file) const
    {
        auto recording = readRecording(file, {}, {});
        EXPECT_TRUE(recording) << recording.error().text();
        return recording ? std::move(*recording) : nullptr;
    }

    /// Through a session and through a pickle everything says the same.
    void expectSame(const Recording& original)
    {
        const auto saved = saveSession(original, path("a.strata"));
        ASSERT_TRUE(saved) << saved.error().text();
        const auto session = read(path("a.strata"));
        ASSERT_TRUE(session);
        EXPECT_EQ(linesOf(*session), linesOf(original));
        EXPECT_EQ(session->format, original.format);
        EXPECT_EQ(session->simulated, original.simulated);
        EXPECT_EQ(session->truncation.has_value(), original.truncation.has_value());

        const auto exported = exportPickle(*session, path("a.pickle"));
        ASSERT_TRUE(exported) << exported.error().text();
        const auto pickle = read(path("a.pickle"));
        ASSERT_TRUE(pickle);
        EXPECT_EQ(figuresOf(*pickle), figuresOf(original));
        EXPECT_EQ(pickle->simulated, original.simulated);
    }

private:
    fs::path m_directory = fs::temp_directory_path() / ("strata-save-" + std::to_string(::getpid()));
};

std::string contentOf(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return { std::istreambuf_iterator<char>(in), {} };
}

} // namespace

TEST_F(Save, ASimulatedDeviceStaysOne)
{
    for (const bool withSettings : { false, true }) {
        auto recording = test::makeRecording("alloc 0x1000 500\nsegment 0x1000 2097152 small\n"
                                             "block 0x1000 512 req=500 allocated\n");
        recording->simulated = true;
        if (withSettings)
            recording->settings.push_back({ "max_split_size", "-1" });
        expectSame(*recording);
    }
    auto recording
        = test::makeRecording("segment 0x1000 2097152 small\nblock 0x1000 512 req=500 allocated\n");
    expectSame(*recording);
}

TEST_F(Save, EveryVersionComesBackTheSame)
{
    int files = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "versions")) {
        if (entry.path().extension() != ".gz")
            continue;
        SCOPED_TRACE(entry.path().string());
        const auto original = read(entry.path());
        ASSERT_TRUE(original);
        expectSame(*original);
        ++files;
    }
    EXPECT_EQ(files, 15);
}

TEST_F(Save, RealRecordingsComeBackTheSame)
{
    const fs::path folder = fs::path(STRATA_SHARED) / "realdata/snapshots";
    if (!fs::exists(folder))
        GTEST_SKIP() << folder << " is missing";
    for (const auto& entry : fs::directory_iterator(folder)) {
        SCOPED_TRACE(entry.path().string());
        const auto original = read(entry.path());
        ASSERT_TRUE(original);
        expectSame(*original);
    }
}

TEST_F(Save, RandomRecordingsComeBackTheSame)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto original = test::randomRecording({ .seed = seed,
            .devices = 1 + static_cast<int>(seed % 3),
            .events = seed * 97,
            .streams = 3,
            .deferredFrees = 0.3,
            .privatePools = 0.2,
            .outOfMemory = 0.01,
            .expandable = seed % 2 == 0 });
        expectSame(*original);
    }
}

TEST_F(Save, NamesThatAreNotUtf8AreReplacedInAPickle)
{
    auto recording = test::randomRecording({ .events = 5 });
    recording->annotations.push_back(
        { Annotation::Kind::Mark, 0, recording->strings.intern("caf\xe9"), 1000 });
    ASSERT_TRUE(exportPickle(*recording, path("a.pickle")));
    const auto back = read(path("a.pickle"));
    ASSERT_TRUE(back);
    ASSERT_EQ(back->annotations.size(), recording->annotations.size());
    EXPECT_EQ(back->strings[back->annotations.back().name], "caf\xef\xbf\xbd");
}

TEST_F(Save, ATraceLongerThanAChunkComesBackTheSame)
{
    expectSame(*test::randomRecording({ .seed = 5, .events = 150'000 }));
}

TEST_F(Save, AFileCutAnywhereOpensAsFarAsItGoes)
{
    const auto original = test::randomRecording({ .seed = 9, .events = 70'000 });
    ASSERT_TRUE(saveSession(*original, path("whole.strata")));
    const std::string whole = contentOf(path("whole.strata"));
    std::mt19937 random(4);
    std::int64_t most = 0;
    for (int i = 0; i < 60; ++i) {
        const std::size_t size = random() % whole.size();
        const auto cut = readRecording(std::as_bytes(std::span(whole).first(size)), {}, {});
        if (!cut) {
            EXPECT_FALSE(cut.error().what.empty());
            continue;
        }
        ASSERT_FALSE((*cut)->devices.empty());
        most = std::max(most, (*cut)->devices.front().events.size());
        EXPECT_TRUE((*cut)->devices.front().events.size() % 65'536 == 0
            || (*cut)->devices.front().events.size() == original->devices.front().events.size());
    }
    EXPECT_GE(most, 65'536);
}

TEST_F(Save, DamageNeverCrashes)
{
    const auto original = test::randomRecording({ .seed = 2, .events = 2'000 });
    ASSERT_TRUE(saveSession(*original, path("whole.strata")));
    const std::string whole = contentOf(path("whole.strata"));
    std::mt19937 random(4);
    for (int i = 0; i < 400; ++i) {
        std::string damaged = whole;
        damaged[random() % damaged.size()] = static_cast<char>(random());
        auto read = readRecording(std::as_bytes(std::span(damaged)), {}, {});
        if (read) {
            (void)Session::fromRecording(std::move(*read));
        }
    }
}

TEST_F(Save, SizesThatNoMemoryHasAreDamage)
{
    constexpr std::int64_t kMost = std::int64_t{ 1 } << 62;
    const auto truncationOf = [&](std::int64_t alloc, std::int64_t segment, std::int64_t sum) {
        const auto recording = test::makeRecording("alloc 0x1000 512\nalloc 0x2000 512\n"
                                                   "segment 0x1000 2097152 small");
        recording->devices[0].events.bytes.edit(1) = alloc;
        recording->devices[0].finalSegments.edit()[0].bytes = segment;
        recording->devices[0].finalSegments.edit()[0].allocatedBytes = sum;
        EXPECT_TRUE(saveSession(*recording, path("sizes.strata")));
        const std::string content = contentOf(path("sizes.strata"));
        const auto read = readRecording(std::as_bytes(std::span(content)), {}, {});
        EXPECT_TRUE(read);
        return (*read)->truncation ? (*read)->truncation->reason.text() : std::string();
    };
    EXPECT_EQ(truncationOf(kMost - 512, 2 << 20, -1), "");
    EXPECT_EQ(truncationOf(kMost, 2 << 20, -1), "a chunk is damaged");
    EXPECT_EQ(truncationOf(-1, 2 << 20, -1), "a chunk is damaged");
    EXPECT_EQ(truncationOf(512, -1, -1), "a chunk is damaged");
    EXPECT_EQ(truncationOf(512, 2 << 20, kMost), "a chunk is damaged");
    EXPECT_EQ(truncationOf(512, 2 << 20, -2), "a chunk is damaged");
}

TEST_F(Save, SaysWhyItCannotWriteAndLeavesTheOldFile)
{
    const auto recording = test::randomRecording({ .events = 10 });
    const auto missing = saveSession(*recording, "/nowhere/at/all.strata");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().text().find("/nowhere/at/all.strata: cannot be written"), std::string::npos);
    ASSERT_FALSE(saveSession(*recording, fs::temp_directory_path()));

    std::ofstream(path("old.strata")) << "old";
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = saveSession(*recording, path("old.strata"), {}, Progress{ {}, stop.get_token() });
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(contentOf(path("old.strata")), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(path("")), fs::directory_iterator()), 1);
}

} // namespace strata::model
