// SPDX-License-Identifier: GPL-3.0-or-later
// Notes, named ranges and filters: what is kept, where, and that nothing else changes.
#include "model/session/cut.h"
#include "model/session/filter_text.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/session/session.h"
#include "model/session/user_file.h"
#include "model/trace/frames.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using Kind = UserItem::Kind;

class UserDataTest : public testing::Test {
protected:
    void SetUp() override
    {
        const auto recording = test::randomRecording({ .seed = 4, .events = 300 });
        ASSERT_TRUE(saveSession(*recording, session()));
        ASSERT_TRUE(exportPickle(*recording, pickle()));
    }

    fs::path session() const { return m_folder / "a.strata"; }
    fs::path pickle() const { return m_folder / "a.pickle"; }
    fs::path notes() const { return m_folder / "notes"; }

    static UserItem note(std::uint64_t key, const std::string& text, std::int64_t changedNs = 1)
    {
        return { Kind::Note, key, changedNs, 0, 10, 20, 0x7000, text, {} };
    }
    fs::path append(const fs::path& file, const UserItem& item, bool removed = false) const
    {
        const UserChange change{ item, removed };
        const auto kept = UserFile(file, notes()).append({ &change, 1 });
        EXPECT_TRUE(kept) << kept.error().text();
        return kept ? *kept : fs::path();
    }
    UserData read(const fs::path& file) const
    {
        const auto opened = Opener::openAll(file, { .notesFolder = notes() });
        EXPECT_TRUE(opened) << opened.error().text();
        return opened ? (*opened)->recording().user : UserData{};
    }
    static std::string content(const fs::path& file)
    {
        std::ifstream in(file, std::ios::binary);
        return { std::istreambuf_iterator<char>(in), {} };
    }

    test::TemporaryDirectory m_temporary;
    const fs::path m_folder = m_temporary.path();
};

} // namespace

TEST_F(UserDataTest, GoesBehindAFinishedSessionAndChangesNoByteBefore)
{
    const std::string before = content(session());
    EXPECT_EQ(append(session(), note(1, "the first")), session());
    EXPECT_EQ(append(session(), { Kind::Range, 2, 1, 0, 3, 99, 0, "warm-up", {} }), session());
    EXPECT_EQ(
        append(session(), { Kind::Filter, 3, 1, 0, -1, -1, 0, "big", R"({"min_bytes":5})" }), session());
    EXPECT_EQ(content(session()).substr(0, before.size()), before);
    EXPECT_FALSE(fs::exists(notes()));
    const UserData user = read(session());
    ASSERT_EQ(user.items.size(), 3u);
    EXPECT_EQ(user.items[0], note(1, "the first"));
    EXPECT_EQ(user.items[1].text, "warm-up");
    EXPECT_EQ(user.items[2].conditions, R"({"min_bytes":5})");
    EXPECT_FALSE(user.unreadFrom);

    append(session(), note(1, "renamed", 2));
    append(session(), note(3, "", 3), true);
    const UserData after = read(session());
    ASSERT_EQ(after.items.size(), 2u);
    EXPECT_EQ(after.items[0].text, "renamed");
}

TEST_F(UserDataTest, OfASnapshotLiesBesideAndFollowsItsContent)
{
    const std::string before = content(pickle());
    const fs::path kept = append(pickle(), note(7, "look here"));
    EXPECT_EQ(kept.parent_path(), notes());
    EXPECT_EQ(content(pickle()), before);
    fs::rename(pickle(), m_folder / "renamed.pickle");
    ASSERT_EQ(read(m_folder / "renamed.pickle").items.size(), 1u);
    EXPECT_EQ(read(m_folder / "renamed.pickle").items[0], note(7, "look here"));
    EXPECT_TRUE(read(session()).items.empty());
    append(m_folder / "renamed.pickle", note(7, "", 9), true);
    EXPECT_TRUE(read(m_folder / "renamed.pickle").items.empty());
    const UserChange change{ note(8, "x"), false };
    EXPECT_FALSE(UserFile(m_folder / "renamed.pickle", {}).append({ &change, 1 }));
}

TEST_F(UserDataTest, OfASessionThatIsNotFinishedLiesBeside)
{
    std::string whole = content(session());
    const std::string before = whole.substr(0, whole.size() - 60); // the index is cut
    std::ofstream(session(), std::ios::binary | std::ios::trunc) << before;
    EXPECT_EQ(append(session(), note(1, "where it died")).parent_path(), notes());
    EXPECT_EQ(content(session()), before);
    EXPECT_EQ(read(session()).items.size(), 1u);
}

TEST_F(UserDataTest, MovesNothingWhenASessionCanBeWrittenLater)
{
    append(session(), note(1, "in the session", 5));
    // The same recording, in a folder where it cannot be written: the key leaves user data out.
    UserData beside;
    beside.set(note(1, "older, beside", 4));
    beside.set(note(2, "beside", 4));
    UserData merged = read(session());
    merged.merge(beside);
    ASSERT_EQ(merged.items.size(), 2u);
    EXPECT_EQ(merged.items[0].text, "in the session");
    UserData later;
    later.remove(1, 6);
    merged.merge(later);
    ASSERT_EQ(merged.items.size(), 1u);
    merged.merge(beside); // what was removed later does not come back
    EXPECT_EQ(merged.items.size(), 1u);
}

TEST_F(UserDataTest, AHalfWrittenEndIsPassedOverAndCutOff)
{
    append(session(), note(1, "whole"));
    const std::string whole = content(session());
    append(session(), note(2, "half"));
    const std::string both = content(session());
    for (std::size_t bytes = whole.size() + 1; bytes < both.size(); bytes += 5) {
        std::ofstream(session(), std::ios::binary | std::ios::trunc) << both.substr(0, bytes);
        const auto opened = Opener::openAll(session());
        ASSERT_TRUE(opened);
        EXPECT_FALSE((*opened)->recording().truncation) << bytes;
        EXPECT_TRUE((*opened)->exact());
        EXPECT_EQ((*opened)->recording().user.items.size(), 1u);
        EXPECT_EQ((*opened)->recording().user.unreadFrom, whole.size());
    }
    append(session(), note(3, "after the crash"));
    const UserData user = read(session());
    ASSERT_EQ(user.items.size(), 2u);
    EXPECT_EQ(user.items[1].text, "after the crash");
    EXPECT_FALSE(user.unreadFrom);
}

TEST_F(UserDataTest, SeveralMayAddAtOnce)
{
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (std::uint64_t k = 0; k < 10; ++k)
                append(session(), note(100 * i + k, "x"));
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(read(session()).items.size(), 40u);
    EXPECT_FALSE(read(session()).unreadFrom);
}

TEST_F(UserDataTest, IsKeptWhenARecordingIsSavedAgain)
{
    append(pickle(), note(1, "a note"));
    append(pickle(), { Kind::Filter, 3, 1, 0, -1, -1, 0, "big", R"({"min_bytes":5})" });
    const auto opened = Opener::openAll(pickle(), { .notesFolder = notes() });
    ASSERT_TRUE(opened);
    ASSERT_TRUE(saveSession((*opened)->recording(), m_folder / "b.strata"));
    EXPECT_EQ(read(m_folder / "b.strata").items, (*opened)->recording().user.items);
    append(m_folder / "b.strata", note(2, "another"));
    EXPECT_EQ(read(m_folder / "b.strata").items.size(), 3u);
}

TEST_F(UserDataTest, HasOneSetOfRulesAndTheLastOneCounts)
{
    UserData mine;
    mine.setRules(R"({"rules":[]})", 5);
    EXPECT_EQ(mine.rules(), R"({"rules":[]})");
    const UserItem first = mine.items.front();
    EXPECT_EQ(append(session(), first), session());
    mine.setRules("{\n}", 6);
    ASSERT_EQ(mine.items.size(), 1u);
    EXPECT_EQ(append(session(), mine.items.front()), session());
    EXPECT_EQ(read(session()).rules(), "{\n}");
    ASSERT_EQ(read(session()).items.size(), 1u);
    EXPECT_FALSE(read(session()).items.front().isPlaced());

    UserData earlier;
    earlier.setRules("earlier", 4);
    earlier.merge(mine);
    EXPECT_EQ(earlier.rules(), "{\n}");
    mine.setRules({}, 7);
    EXPECT_TRUE(mine.items.empty());
    EXPECT_EQ(mine.rules(), "");
    earlier.merge(mine);
    EXPECT_EQ(earlier.rules(), "");
}

TEST_F(UserDataTest, SharesRulesUnlessWhatTheyNameIsDropped)
{
    auto recording = test::makeRecording("alloc 0x100000 1000\n");
    recording->user.setRules(R"({"rules":[{"category":"input","frame":"secret"}]})", 5);
    const auto session = Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);
    const auto shared = [&](const Scrub& scrub) {
        CutOptions options;
        options.spans[0] = { 0, 0 };
        options.scrub = scrub;
        return cut(**session, options);
    };
    EXPECT_EQ(shared({}).recording->user.rules(), (*session)->recording().user.rules());
    EXPECT_EQ(shared({ .metadata = true }).userKept, 1);
    for (const Scrub& scrub : { Scrub{ .paths = true }, Scrub{ .names = true }, Scrub{ .modules = true },
             Scrub{ .notes = true } }) {
        EXPECT_EQ(shared(scrub).recording->user.rules(), "");
        EXPECT_EQ(shared(scrub).userDropped, 1);
    }
}

TEST_F(UserDataTest, LosesFiltersByAModuleWithTheNamesOfModules)
{
    auto recording = test::makeRecording("alloc 0x1000 500 stack=f@train.py:1");
    const auto keep = [&](std::uint64_t key, const BlockFilter& filter) {
        recording->user.set({ Kind::Filter, key, 1, 0, -1, -1, 0, "mine", filterText(*recording, filter) });
    };
    keep(1, { .module = "secret./home/me/x" });
    keep(2, { .category = "activation" });
    const auto session = Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);
    CutOptions options;
    options.spans[0] = { 0, 0 };
    options.scrub.names = true;
    const auto items = [&] { return cut(**session, options).recording->user.items; };
    ASSERT_EQ(items().size(), 2u);
    EXPECT_EQ(items()[0].conditions, R"({"module":"secret./home/user/x"})");
    options.scrub.modules = true;
    ASSERT_EQ(items().size(), 1u);
    EXPECT_EQ(items()[0].conditions, R"({"category":"activation"})") << "a word that all recordings have";
    EXPECT_EQ(cut(**session, options).userDropped, 1);
    EXPECT_EQ(cut(**session, options).userOutside, 0);
}

TEST_F(UserDataTest, GoesWithACutAsFarAsItIsWithin)
{
    auto recording = test::makeRecording(R"(
        segment_alloc 0x100000 2097152
        alloc 0x100000 1000 stack=f@/home/me/train.py:1
        alloc 0x100400 3000 stack=g@/home/me/train.py:2
        free_requested 0x100000 1000
        free_completed 0x100000 1000
        segment 0x100000 2097152 small
        block 0x100400 3072 req=3000 allocated stack=g@/home/me/train.py:2)");
    recording->user.set({ Kind::Note, 1, 1, 0, 3, 3, 0, "inside", {} });
    recording->user.set({ Kind::Range, 2, 1, 0, 0, 3, 0, "begins before", {} });
    recording->user.set({ Kind::Note, 3, 1, 5, 3, 3, 0, "of another device", {} });
    recording->user.set({ Kind::Filter, 4, 1, 0, -1, -1, 0, "line", R"({"line":"/home/me/train.py:2 g"})" });
    const std::string label = frameLabel(*recording, FrameId{ 1 });
    const_cast<UserItem*>(recording->user.find(4))->conditions
        = filterText(*recording, { .line = label, .minBytes = 10 });
    const auto session = Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);

    CutOptions options;
    options.spans[0] = { 2, 4 };
    options.scrub.paths = true;
    const Cut shared = cut(**session, options);
    EXPECT_EQ(shared.userKept, 2);
    EXPECT_EQ(shared.userOutside, 2);
    const UserData& user = shared.recording->user;
    ASSERT_EQ(user.items.size(), 2u);
    EXPECT_EQ(user.items[0].first, 1);
    EXPECT_EQ(user.items[1].conditions.find("/home"), std::string::npos) << user.items[1].conditions;
    const auto filter = filterFromText(*shared.recording, user.items[1].conditions);
    ASSERT_TRUE(filter);
    bool known = false;
    for (std::uint32_t i = 0; i < shared.recording->stacks.frameCount(); ++i)
        known |= frameLabel(*shared.recording, FrameId{ i }) == *filter->line;
    EXPECT_TRUE(known) << *filter->line;

    options.scrub.notes = true;
    const Cut without = cut(**session, options);
    EXPECT_EQ(without.userDropped, 4);
    EXPECT_TRUE(without.recording->user.items.empty());
}

TEST(FilterText, ComesBackInAnotherReadingOfTheSameRecording)
{
    const char* const text = R"(
        alloc 0x1000 512 stream=7 pool=(0,1) stack=f@train.py:3|g@main.py:9
        alloc 0x2000 512 stack=h@train.py:4)";
    const auto one = test::makeRecording(text);
    const auto other = test::makeRecording(std::string("alloc 0x1 1 stream=3 stack=z@zero.py:1\n") + text);
    BlockFilter filter;
    filter.sites = { StackId{ 0 }, StackId{} };
    filter.line = frameLabel(*one, FrameId{ 0 });
    filter.stream = static_cast<StreamIndex>(std::ranges::find(one->streams, 7) - one->streams.begin());
    filter.pool = static_cast<PoolIndex>(0);
    filter.minBytes = 100;
    filter.maxBytes = 1000;
    filter.text = "train \"é\"";
    EXPECT_EQ(filterFromText(*one, filterText(*one, filter)).value(), filter);
    const BlockFilter there = filterFromText(*other, filterText(*one, filter)).value();
    EXPECT_EQ(filterText(*other, there), filterText(*one, filter));
    EXPECT_NE(there.stream, filter.stream);
    EXPECT_EQ(filterFromText(*one, filterText(*one, {})).value(), BlockFilter{});

    const auto none = filterFromText(*one, R"({"stacks":[["nowhere"]],"stream":99,"pool":[4,4,"small"]})");
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->sites.empty());
    EXPECT_TRUE(none->stream && none->pool);
    for (const char* bad : { "", "[]", "{", R"({"later":1})", R"({"stream":"x"})", R"({"pool":[1,2]})",
             R"({"stacks":[]})", R"({"stacks":[[1]]})", R"({"min_bytes":1.5})" })
        EXPECT_FALSE(filterFromText(*one, bad)) << bad;
    const std::string deep(300'000, '['), ends(300'000, ']');
    EXPECT_FALSE(filterFromText(*one, R"({"stacks":)" + deep + ends + "}"));
}

} // namespace strata::model
