// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace strata::test {
namespace {

namespace fs = std::filesystem;

class Notes : public testing::Test {
protected:
    void SetUp() override
    {
        m_pickle = dataFile("versions/torch2.6_oom.pickle.gz");
        m_session = m_directory.path() / "a.strata";
        ASSERT_EQ(strata({ "convert", m_pickle, "-o", m_session }).code, 0);
    }
    static nlohmann::json items(const std::string& file)
    {
        const Ran ran = strata({ "notes", "--json", file });
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.json()["items"];
    }

    TemporaryDirectory m_directory;
    OwnData m_data;
    std::string m_pickle, m_session;
};

} // namespace

TEST_F(Notes, AreAddedListedAndRemoved)
{
    EXPECT_NE(strata({ "notes", m_session }).out.find("No notes"), std::string::npos);
    const nlohmann::json added
        = strata({ "notes", m_session, "--json", "--add", "it dies here", "--from", "oom" }).json();
    EXPECT_EQ(added["kept_in"], m_session);
    ASSERT_EQ(strata({ "notes", m_session, "--add", "a range", "--from", "3", "--to", "9" }).code, 0);
    const nlohmann::json listed = items(m_session);
    ASSERT_EQ(listed.size(), 2u);
    // In the order of their positions, not of being added.
    EXPECT_EQ(listed[0]["to"], 9);
    EXPECT_EQ(listed[1]["kind"], "note");
    EXPECT_EQ(listed[1]["id"], added["id"]);
    EXPECT_EQ(listed[1]["from"],
        strata({ "summary", "--json", m_session }).json()["devices"][0]["oom"].back()["event"]);
    EXPECT_NE(strata({ "notes", m_session }).out.find("it dies here"), std::string::npos);
    EXPECT_EQ(strata({ "notes", "--json", m_session, "--to", "10" }).json()["items"].size(), 1u);

    ASSERT_EQ(strata({ "notes", m_session, "--remove", added["id"] }).code, 0);
    EXPECT_EQ(items(m_session).size(), 1u);
    EXPECT_EQ(strata({ "notes", m_session, "--remove", added["id"] }).code, 1);
}

TEST_F(Notes, LeaveTheFiguresAndTheDigestAlone)
{
    nlohmann::json before = strata({ "summary", "--json", m_session }).json();
    ASSERT_EQ(strata({ "notes", m_session, "--add", "x", "--from", "peak" }).code, 0);
    nlohmann::json after = strata({ "summary", "--json", m_session }).json();
    before.erase("file_bytes");
    after.erase("file_bytes");
    EXPECT_EQ(before, after);
    EXPECT_EQ(strata({ "check", m_session }).code, 0);
}

TEST_F(Notes, OnASnapshotLieInTheUsersDataAndGoWithWhatIsMadeOfIt)
{
    const std::string bytes = contentOf(m_pickle);
    const nlohmann::json added
        = strata({ "notes", m_pickle, "--json", "--add", "from peak on", "--from", "peak" }).json();
    EXPECT_TRUE(std::string(added["kept_in"]).starts_with(m_data.path().string()));
    EXPECT_EQ(contentOf(m_pickle), bytes);
    EXPECT_EQ(items(m_pickle).size(), 1u);
    const std::string made = m_directory.path() / "b.strata", shared = m_directory.path() / "c.strata";
    ASSERT_EQ(strata({ "convert", m_pickle, "-o", made }).code, 0);
    EXPECT_EQ(items(made), items(m_pickle));
    const Ran with = strata({ "share", made, "-o", shared });
    EXPECT_NE(with.out.find("Goes with it: 1 note"), std::string::npos) << with.out;
    EXPECT_EQ(items(shared).size(), 1u);
    const Ran without = strata({ "share", made, "-o", shared, "--drop", "notes" });
    EXPECT_NE(without.out.find("Dropped: 1 note"), std::string::npos) << without.out;
    EXPECT_EQ(items(shared).size(), 0u);
    const Ran outside = strata({ "share", made, "-o", shared, "--to", "3" });
    EXPECT_NE(outside.out.find("Left out, as not within what is kept: 1 note"), std::string::npos)
        << outside.out;
}

TEST_F(Notes, LongTextsAreCutByCharacters)
{
    std::string text, shown;
    for (int i = 0; i < 100; ++i) {
        text += "\xe4\xb8\xad";
        if (i < 77)
            shown += "\xe4\xb8\xad";
    }
    ASSERT_EQ(strata({ "notes", m_session, "--add", text, "--from", "3" }).code, 0);
    const Ran ran = strata({ "notes", m_session });
    EXPECT_NE(ran.out.find(" " + shown + "...  "), std::string::npos) << ran.out;
    EXPECT_EQ(items(m_session)[0]["text"], text);
}

TEST_F(Notes, SayWhatIsWrong)
{
    EXPECT_EQ(strata({ "notes", m_session, "--add", "x" }).code, 2);
    EXPECT_EQ(strata({ "notes", m_session, "--add", "", "--from", "3" }).code, 2);
    EXPECT_EQ(strata({ "notes", m_session, "--add", "x", "--from", "9999999" }).code, 2);
    EXPECT_EQ(strata({ "notes", "/nowhere/at/all" }).code, 3);
    EXPECT_EQ(strata({ "notes", m_session, "--remove", "zz" }).code, 1);
}

} // namespace strata::test
