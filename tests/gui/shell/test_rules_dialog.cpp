// SPDX-License-Identifier: GPL-3.0-or-later
// Categories of the user's own: written, tried, kept and undone.
#include "model/analysis/training/roles/category_rules.h"
#include "model/base/units.h"
#include "tests/gui/shell/shell_test.h"
#include "views/models/document/ledger_source.h"
#include "views/pages/parts/bar_list.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/rules_dialog.h"
#include "views/pages/summary/summary_page.h"

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>

using namespace strata;
using namespace strata::views;

namespace {

class RulesDialogTest : public test::ShellTest {
protected:
    void SetUp() override
    {
        // A copy: rules are kept with it.
        ASSERT_TRUE(QFile::copy(QStringLiteral(STRATA_SAMPLES "/../sessions/recorded.strata"), path()));
        ASSERT_TRUE(QFile::setPermissions(path(), QFile::ReadOwner | QFile::WriteOwner));
        ASSERT_NO_FATAL_FAILURE(open(path()));
    }
    QString path() { return m_scratch.filePath(QStringLiteral("recorded.strata")); }
    SummaryPage& page() { return driver().shown<SummaryPage>("summary"); }
    std::int64_t inputs()
    {
        const auto* row = page().findChild<LedgerSource*>()->data()->find(model::Category::Input);
        return row ? row->bytes : 0;
    }
    RulesDialog& dialog()
    {
        if (!page().findChild<RulesDialog*>())
            Q_EMIT page().findChild<LedgerPanel*>()->rulesAsked();
        return *page().findChild<RulesDialog*>();
    }
    QString state() { return dialog().findChild<QLabel*>(QStringLiteral("state"))->text(); }
    std::string kept() { return driver().state().user().rules(); }
    static constexpr const char* kInputs = R"({"rules": [{"category": "input", "min_bytes": 1},
        {"category": "workspace", "frame": "never"}]})";
};

TEST_F(RulesDialogTest, TriesWhatIsWrittenAndSaysWhatEachRuleTakes)
{
    const std::int64_t before = inputs();
    dialog().text().setPlainText(QLatin1String(kInputs));
    auto* list = dialog().findChild<BarList*>();
    ASSERT_TRUE(test::eventually([&] { return list->rowCount() == 2 && driver().settled(); }));
    EXPECT_EQ(list->item(0, 0)->text(), QStringLiteral("1: Inputs"));
    EXPECT_EQ(list->item(0, 3)->text().toStdString(),
        model::formatBytes(driver().device().trace->totals().requestedBytesPeak));
    EXPECT_EQ(list->item(1, 4)->text(), QStringLiteral("0"));
    EXPECT_EQ(state(), QStringLiteral("One rule takes nothing at the peak."));
    EXPECT_EQ(inputs(), driver().device().trace->totals().requestedBytesPeak)
        << "all of the window shows them";
    EXPECT_EQ(kept(), "");

    dialog().reject();
    settle();
    EXPECT_EQ(inputs(), before);
    EXPECT_EQ(kept(), "");
}

TEST_F(RulesDialogTest, SaysWhichRuleIsWrong)
{
    auto* save = dialog().findChild<QPushButton*>();
    for (QPushButton* each : dialog().findChildren<QPushButton*>())
        if (each->text().contains(QStringLiteral("Save")))
            save = each;
    dialog().text().setPlainText(
        QStringLiteral(R"({"rules": [{"category": "input", "min_bytes": 1}, {"category": "tensor"}]})"));
    ASSERT_TRUE(test::eventually([&] { return state().contains(QStringLiteral("rule 2")); }));
    EXPECT_TRUE(state().contains(QStringLiteral("\"tensor\""))) << qPrintable(state());
    EXPECT_FALSE(save->isEnabled());
    dialog().accept();
    EXPECT_TRUE(dialog().isVisible()) << "what is wrong is not kept";
    dialog().reject();
}

TEST_F(RulesDialogTest, AnUndoTakesBackTheExample)
{
    dialog().text().setPlainText(QLatin1String(kInputs));
    for (QPushButton* each : dialog().findChildren<QPushButton*>())
        if (each->text().contains(QStringLiteral("Example")))
            each->click();
    EXPECT_NE(dialog().text().toPlainText().toStdString(), kInputs);
    EXPECT_TRUE(dialog().text().toPlainText().contains(QStringLiteral("rules")));
    dialog().text().undo();
    EXPECT_EQ(dialog().text().toPlainText().toStdString(), kInputs);
    dialog().reject();
}

TEST_F(RulesDialogTest, KeepsThemWithTheRecordingUntilThatIsUndone)
{
    dialog().text().setPlainText(QLatin1String(kInputs));
    dialog().accept();
    settle();
    EXPECT_EQ(kept(), kInputs);
    EXPECT_GT(inputs(), 0);
    EXPECT_TRUE(test::shows(page(), QStringLiteral("Categories of your own take part")));

    ASSERT_NO_FATAL_FAILURE(open(path())); // again, as by another day
    EXPECT_EQ(kept(), kInputs);
    EXPECT_EQ(inputs(), driver().device().trace->totals().requestedBytesPeak);
    EXPECT_EQ(dialog().text().toPlainText().toStdString(), kInputs);
    dialog().text().clear();
    dialog().accept();
    settle();
    EXPECT_EQ(kept(), "");
    EXPECT_EQ(inputs(), 0);

    driver().state().undo();
    settle();
    EXPECT_EQ(kept(), kInputs);
    EXPECT_GT(inputs(), 0);
}

} // namespace
