// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/cut.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/session/user_file.h"
#include "tests/support/make_recording.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace strata::model {
namespace {

constexpr const char* kTwoNotes = R"(
    alloc 0x1000 512 time=100
    alloc 0x2000 512 time=200
    annotation mark "note: before anything" time=50 thread=7
    annotation mark "note: learning rate 0.1" time=150 thread=7
    annotation mark "no note" time=160 thread=7
    segment 0x1000 2097152 small
    block 0x1000 512 allocated
    block 0x2000 512 allocated
)";

class ProgramNotes : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(saveSession(*test::makeRecording(kTwoNotes), m_path)); }
    [[nodiscard]] std::vector<UserItem> notes() const
    {
        return (*Opener::openAll(m_path))->recording().user.items;
    }
    void append(UserItem item, bool removed)
    {
        item.changedNs = 1'000'000;
        const UserChange change{ std::move(item), removed };
        ASSERT_TRUE(UserFile(m_path, {}).append({ &change, 1 }));
    }

    test::TemporaryDirectory m_directory;
    std::filesystem::path m_path = std::filesystem::path(m_directory.path()) / "a.strata";
};

} // namespace

TEST_F(ProgramNotes, StandAmongTheNotes)
{
    const auto items = notes();
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].text, "before anything");
    EXPECT_EQ(items[0].first, -1);
    EXPECT_EQ(items[1].text, "learning rate 0.1");
    EXPECT_EQ(items[1].first, 0);
    EXPECT_EQ(notes(), items) << "of the same keys each time";
}

TEST_F(ProgramNotes, CanBeChangedAndRemoved)
{
    auto items = notes();
    append(items[0], true);
    items[1].text = "learning rate 0.2";
    append(items[1], false);
    const auto later = notes();
    ASSERT_EQ(later.size(), 1u);
    EXPECT_EQ(later[0].text, "learning rate 0.2");
}

TEST_F(ProgramNotes, AreThereOnceInCopies)
{
    const auto session = Opener::openAll(m_path);
    ASSERT_TRUE(session);
    ASSERT_TRUE(saveSession((*session)->recording(), m_path));
    EXPECT_EQ(notes().size(), 2u);
    CutOptions options;
    options.spans[0] = { 0, 1 };
    ASSERT_TRUE(saveSession(*cut(**Opener::openAll(m_path), options).recording, m_path));
    EXPECT_EQ(notes().size(), 2u);
    options.scrub.notes = true;
    ASSERT_TRUE(saveSession(*cut(**Opener::openAll(m_path), options).recording, m_path));
    EXPECT_TRUE(notes().empty()) << "what is dropped does not come back";
    EXPECT_EQ((*Opener::openAll(m_path))->recording().annotations.size(), 1u);
}

} // namespace strata::model
