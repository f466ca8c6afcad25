// SPDX-License-Identifier: GPL-3.0-or-later
// Notes, named ranges and filters, from the key that is pressed to the file that has them.
#include "model/analysis/summary/summary.h"
#include "model/session/filter_text.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/session/user_file.h"
#include "tests/gui/shell/shell_test.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/memory/notes_page.h"
#include "views/shell/actions.h"

#include <QDialog>
#include <QLineEdit>
#include <QTableView>

namespace strata::views {
namespace {

using Kind = model::UserItem::Kind;

class NotesTest : public test::ShellTest {
protected:
    void SetUp() override
    {
        m_session = m_scratch.filePath(QStringLiteral("run.strata"));
        const auto recorded = model::Opener::openAll(outOfMemorySample().toStdString());
        ASSERT_TRUE(recorded);
        ASSERT_TRUE(model::saveSession(
            (*recorded)->recording(), m_session.toStdString(), model::digestsOf((*recorded)->devices())));
    }
    /// What another program finds in the file.
    static model::UserData inFile(const QString& path)
    {
        const auto opened
            = model::Opener::openAll(path.toStdString(), { .notesFolder = model::UserFile::usualFolder() });
        return opened ? (*opened)->recording().user : model::UserData{};
    }
    /// Answers the dialog that a key has opened.
    void answer(const QString& text)
    {
        QLineEdit* edit = nullptr;
        ASSERT_TRUE(test::eventually([&] {
            auto* dialog = window().findChild<QDialog*>(QStringLiteral("note"));
            edit = dialog && dialog->isVisible() ? dialog->findChild<QLineEdit*>() : nullptr;
            return edit != nullptr;
        }));
        edit->setText(text);
        QTest::keyClick(edit, Qt::Key_Return);
        ASSERT_TRUE(test::eventually(
            [&] { return window().findChild<QDialog*>(QStringLiteral("note")) == nullptr; }));
    }
    NotesPage& notes() { return driver().shown<NotesPage>("notes"); }

    QString m_session;
};

} // namespace

TEST_F(NotesTest, AKeyAddsANoteToWhatIsSelectedAndTheFileHasIt)
{
    open(m_session);
    driver().state().select(EventRange{ 500, 500 });
    driver().key(Qt::Key_A);
    answer(QStringLiteral("the second step begins"));
    ASSERT_EQ(driver().state().user().items.size(), 1u);
    ASSERT_TRUE(test::eventually([&] { return inFile(m_session).items.size() == 1; }));
    const model::UserItem item = inFile(m_session).items[0];
    EXPECT_EQ(item.kind, Kind::Note);
    EXPECT_EQ(item.first, 500);
    EXPECT_EQ(item.last, 500);
    EXPECT_EQ(item.text, "the second step begins");
    EXPECT_TRUE(test::eventually(
        [&] { return driver().statusText().contains(QStringLiteral("kept in this file")); }));
    EXPECT_TRUE(test::shows(notes(), QStringLiteral("1 note")));
    EXPECT_EQ(driver().page<MemoryPage>("memory").canvas()->scene().notes.size(), 1u);
}

TEST_F(NotesTest, EveryFlagTellsItsNoteToMouseAndKeyboard)
{
    open(m_session);
    MemoryCanvas& canvas = *driver().shown<MemoryPage>("memory").canvas();
    model::UserData user;
    for (int i = 0; i < 6; ++i) {
        model::UserItem item;
        item.key = static_cast<std::uint64_t>(i + 1);
        item.first = item.last = 500 + 2 * i;
        item.text
            = "number " + std::to_string(i) + ", which has a text that is longer than its label\nand more";
        user.items.push_back(item);
    }
    driver().state().setUser(user);
    settle();
    canvas.grab(); // paints
    const auto& places = canvas.scene().notePlaces;
    ASSERT_EQ(places.size(), 6u) << "close ones too";
    int labels = 0;
    for (const NotePlace& place : places)
        labels += place.text.isEmpty() ? 0 : 1;
    EXPECT_GE(labels, 3) << "they stand above each other";

    const QPoint flag = places.front().mark.center().toPoint();
    driver().move(canvas, flag + QPoint(40, -60));
    driver().move(canvas, flag);
    EXPECT_TRUE(test::eventually([&] { return driver().statusText().contains(QStringLiteral("number 0")); }));
    EXPECT_TRUE(driver().statusText().contains(QStringLiteral("event 500")));
    driver().click(canvas, flag);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 500, 500 }));

    driver().key(Qt::Key_M);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 502, 502 }));
    EXPECT_TRUE(canvas.accessibleDescription().contains(QStringLiteral("number 1"))) << "for screen readers";
    driver().key(Qt::Key_M);
    driver().key(Qt::Key_M, Qt::ShiftModifier);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 502, 502 }));
    ASSERT_TRUE(canvas.pinned());
    EXPECT_EQ(canvas.pinned()->note, 1);
    driver().state().select(std::nullopt);
    EXPECT_FALSE(canvas.pinned());
}

TEST_F(NotesTest, ARangeIsNamedAndSelectedAgain)
{
    open(m_session);
    EXPECT_FALSE(window().actions().nameRange->isEnabled());
    driver().state().select(EventRange{ 100, 600 });
    driver().key(Qt::Key_R);
    answer(QStringLiteral("warm-up"));
    driver().state().select(std::nullopt);
    QTableView& table = notes().table();
    const QRect cell = table.visualRect(table.model()->index(0, 0));
    driver().click(*table.viewport(), cell.center());
    EXPECT_EQ(driver().state().selection(), (EventRange{ 100, 600 }));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("notes"));
    notes().pageActions().at(0)->trigger(); // Show
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().state().selection(), (EventRange{ 100, 600 }));
}

TEST_F(NotesTest, AFilterIsSavedAndAppliedAgain)
{
    open(m_session);
    EXPECT_FALSE(window().actions().saveFilter->isEnabled());
    model::BlockFilter filter;
    filter.minBytes = 1 << 20;
    filter.line = driver().device().byLine->label(0);
    driver().state().setFilter(filter);
    driver().key(Qt::Key_B, Qt::ControlModifier);
    answer(QStringLiteral("big ones"));
    driver().state().setFilter({});
    ASSERT_TRUE(test::eventually([&] { return inFile(m_session).items.size() == 1; }));
    QTableView& table = notes().table();
    table.selectRow(0);
    notes().pageActions().at(0)->trigger();
    EXPECT_EQ(driver().state().filter(), filter);
}

TEST_F(NotesTest, RenamingDeletingAndUndoReachTheFile)
{
    open(m_session);
    driver().state().select(EventRange{ 7, 7 });
    driver().key(Qt::Key_A);
    answer(QStringLiteral("first"));
    QTableView& table = notes().table();
    ASSERT_TRUE(table.model()->setData(table.model()->index(0, 0), QStringLiteral("renamed"), Qt::EditRole));
    EXPECT_FALSE(table.model()->setData(table.model()->index(0, 0), QStringLiteral("  "), Qt::EditRole));
    ASSERT_TRUE(test::eventually([&] {
        const auto user = inFile(m_session);
        return user.items.size() == 1 && user.items[0].text == "renamed";
    }));
    table.selectRow(0);
    notes().pageActions().at(2)->trigger(); // Delete
    EXPECT_EQ(table.model()->rowCount(), 0);
    EXPECT_TRUE(test::shows(notes(), QStringLiteral("Nothing has been added")));
    ASSERT_TRUE(test::eventually([&] { return inFile(m_session).items.empty(); }));
    window().actions().undo->trigger();
    ASSERT_TRUE(test::eventually([&] { return inFile(m_session).items.size() == 1; }));
    window().actions().undo->trigger();
    ASSERT_TRUE(test::eventually([&] {
        const auto user = inFile(m_session);
        return user.items.size() == 1 && user.items[0].text == "first";
    }));
    window().actions().undo->trigger();
    ASSERT_TRUE(test::eventually([&] { return inFile(m_session).items.empty(); }));
}

TEST_F(NotesTest, OfASnapshotLieBesideAndAreThereAgain)
{
    const QString path = outOfMemorySample();
    open(path);
    driver().state().select(EventRange{ 7, 7 });
    driver().key(Qt::Key_A);
    answer(QStringLiteral("a note on a pickle"));
    window().closeOpened(); // at once: it is written all the same
    EXPECT_EQ(inFile(path).items.size(), 1u);
    open(path);
    EXPECT_EQ(driver().state().user().items.size(), 1u);
    EXPECT_FALSE(window().actions().undo->isEnabled());
}

TEST_F(NotesTest, ThatNameNothingHereAreListedAndLeadNowhere)
{
    open(m_session);
    model::UserData user;
    user.set({ Kind::Note, 1, 1, 5, 3, 3, 0, "of another device", {} });
    user.set({ Kind::Note, 2, 1, 0, 3, 99'999'999, 0, "beyond the end", {} });
    user.set({ Kind::Filter, 3, 1, 0, -1, -1, 0, "of a later version", R"({"later":1})" });
    driver().state().setUser(user);
    QTableView& table = notes().table();
    ASSERT_EQ(table.model()->rowCount(), 3);
    for (int row = 0; row < 3; ++row) {
        EXPECT_EQ(table.model()->index(row, 2).data().toString(), QStringLiteral("not in this recording"));
        table.selectRow(row);
        notes().pageActions().at(0)->trigger();
        EXPECT_EQ(driver().currentPage(), QStringLiteral("notes"));
    }
    EXPECT_FALSE(driver().state().selection());
    (void)driver().shown<MemoryPage>("memory");
}

} // namespace strata::views
