// SPDX-License-Identifier: GPL-3.0-or-later
// The page in the window: reached without a file, by keyboard, with the real strata beside it.
#include "tests/gui/dryrun/dry_run_test.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/integration/run_strata.h"
#include "views/contents/dry_run_content.h"
#include "views/pages/dryrun/dry_run_form.h"
#include "views/pages/dryrun/dry_run_page.h"
#include "views/pages/dryrun/dry_run_result_view.h"
#include "views/shell/actions.h"
#include "views/style/texts.h"

#include <QClipboard>
#include <QDialog>
#include <QPushButton>

#include <gmock/gmock.h>

using namespace strata;
using namespace strata::views;
using nlohmann::json;

namespace {

class DryRunWindow : public test::ShellTest {
protected:
    DryRunWindow() { qputenv("XDG_DATA_HOME", m_scratch.path().toUtf8()); }
    ~DryRunWindow() override { qunsetenv("XDG_DATA_HOME"); }

    DryRunPage& page()
    {
        return dynamic_cast<DryRunContent&>(window().kind(QLatin1String(DryRunContent::kId))).page();
    }
    void showDryRun() { window().showKind(QLatin1String(DryRunContent::kId)); }
    bool shown() { return page().isVisible(); }
    void fill(const QString& command)
    {
        DryRunRequest request = page().form().request();
        request.command = command;
        request.folder = m_scratch.path();
        page().form().setRequest(request);
    }
    bool ended()
    {
        return test::eventually([&] { return page().outcome().has_value() && !page().running(); });
    }
    std::string texts() { return test::shownTexts(page()).join(QLatin1Char('\n')).toStdString(); }
};

TEST_F(DryRunWindow, IsReachedWithoutAFile)
{
    EXPECT_TRUE(test::shows(window(), QStringLiteral("Dry Run a Program…")));
    driver().key(Qt::Key_R, Qt::ControlModifier);
    ASSERT_TRUE(shown());
    EXPECT_EQ(window().windowTitle(), QStringLiteral("Dry run - Strata"));
    EXPECT_THAT(
        texts(), testing::HasSubstr("A dry run runs your own program, unchanged, on a simulated card"));
    EXPECT_THAT(texts(), testing::HasSubstr("python3 -c"));
    EXPECT_FALSE(window().actions().peak->isEnabled());
    EXPECT_FALSE(window().actions().copyCommand->isEnabled()) << "no command yet";
    driver().type(QStringLiteral("python3 /tmp/x.py")); // the command has the keyboard
    EXPECT_EQ(page().form().request().command, QStringLiteral("python3 /tmp/x.py"));
    EXPECT_TRUE(window().actions().copyCommand->isEnabled());
    window().actions().copyCommand->trigger();
    EXPECT_EQ(QApplication::clipboard()->text(), page().commandLine());
    EXPECT_THAT(page().commandLine().toStdString(),
        testing::EndsWith("strata dryrun --device A100-80GB -- python3 /tmp/x.py"));
    driver().key(Qt::Key_Escape);
    EXPECT_FALSE(shown());
    EXPECT_EQ(window().windowTitle(), QStringLiteral("Strata"));
}

TEST_F(DryRunWindow, TheExampleFillsTheForm)
{
    showDryRun();
    for (QPushButton* button : page().findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Use This"))
            button->click();
    EXPECT_EQ(page().form().request().command,
        QStringLiteral("python3 -c \"import torch; torch.ones(3 << 30, device='cuda')\""));
}

TEST_F(DryRunWindow, StandsBesideADocument)
{
    open(sample());
    showDryRun();
    ASSERT_TRUE(shown());
    EXPECT_FALSE(driver().view().isVisible());
    for (const QAction* action :
        { window().actions().find, window().actions().peak, window().actions().filter })
        EXPECT_FALSE(action->isEnabled());
    driver().key(Qt::Key_3, Qt::ControlModifier); // a page of the document
    EXPECT_FALSE(shown());
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_TRUE(window().actions().peak->isEnabled());
    showDryRun();
    window().actions().closeFile->trigger();
    EXPECT_FALSE(shown());
    EXPECT_TRUE(driver().documents()) << "the page was left, not the file closed";
}

TEST_F(DryRunWindow, TheShortcutsAreListed)
{
    window().actions().shortcuts->trigger();
    auto* dialog = window().findChild<QDialog*>();
    ASSERT_TRUE(dialog);
    const QStringList listed = test::shownTexts(*dialog);
    ASSERT_GE(page().actions().size(), 5);
    for (const QAction* action : page().actions()) {
        EXPECT_TRUE(listed.contains(action->text())) << qPrintable(action->text());
        EXPECT_TRUE(listed.contains(action->shortcut().toString(QKeySequence::NativeText)));
        for (const QAction* other : window().actions().all())
            if (other->shortcuts().contains(action->shortcut())) {
                EXPECT_EQ(other, window().actions().deselect) << "which is off on this page";
            }
    }
}

TEST_F(DryRunWindow, ErrorsAreSaidFirstAndCommandsKept)
{
    showDryRun();
    fill(QStringLiteral("no-such-program --x"));
    driver().key(Qt::Key_Return, Qt::ControlModifier);
    ASSERT_TRUE(ended());
    EXPECT_THAT(texts(), testing::HasSubstr("The dry run did not start: no-such-program: command not found"));
    fill(QStringLiteral("python 'open"));
    page().run();
    EXPECT_THAT(texts(), testing::HasSubstr("The command has a quote that is not closed"));
    // Another window knows what was run, and its form begins with it.
    makeWindow();
    showDryRun();
    EXPECT_EQ(page().form().request().command, QStringLiteral("no-such-program --x"));
    EXPECT_EQ(page().form().request().folder, m_scratch.path());
}

/// The button runs the same again, on other cards too. The page shows the command that runs.
TEST_F(DryRunWindow, RunsOnEachCard)
{
    const QString python = test::torchPython();
    if (python.isEmpty())
        GTEST_SKIP() << "no PyTorch";
    file("train.py", "import torch\ntorch.ones(4 << 30, dtype=torch.uint8, device='cuda')\n");
    showDryRun();
    DryRunRequest request;
    request.command = python + QStringLiteral(" train.py");
    request.folder = m_scratch.path();
    request.device = QStringLiteral("T4-16GB");
    page().form().setRequest(request);
    page().run();
    ASSERT_TRUE(ended());
    EXPECT_THAT(
        texts(), testing::HasSubstr("since other GPU generations run other kernels: RTX-3060-12GB, "));

    fill(QStringLiteral("another command")); // of no concern to the button
    for (QPushButton* button : page().findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Run on Each of Them"))
            button->click();
    ASSERT_TRUE(test::eventually([&] { return page().running() && page().job().processId() > 0; }));
    request.onEachCard = true;
    EXPECT_EQ(page().form().request(), request);
    EXPECT_EQ(page().commandLine(),
        QStringLiteral("cd %1 && strata dryrun --device T4-16GB --on-each-card -- %2 train.py")
            .arg(m_scratch.path(), python));
    QFile ran(QStringLiteral("/proc/%1/cmdline").arg(page().job().processId()));
    QByteArrayList words;
    EXPECT_TRUE(test::eventually([&] {
        if (!ran.isOpen() && !ran.open(QIODevice::ReadOnly))
            return false;
        ran.seek(0);
        words = ran.readAll().split('\0');
        return words.size() > 1 && words[1] == "dryrun"; // after exec
    }));
    EXPECT_EQ(words.mid(1, 4).join(' '), "dryrun --device T4-16GB --on-each-card");
    EXPECT_EQ(words.mid(words.indexOf("--") + 1, 2).join(' '), python.toUtf8() + " train.py");
    EXPECT_TRUE(test::eventually([&] {
        return texts().find("Running on a simulated T4-16GB, then on other cards") != std::string::npos
            && page().job().progress().contains(QLatin1String(" of 7: "));
    }));
    EXPECT_THAT(page().job().progress().toStdString(), testing::HasSubstr("GiB reserved"));
    ASSERT_TRUE(ended());
    const std::string after = texts();
    for (const char* card : { "RTX-3090-24GB", "RTX-5090-32GB", "V100-32GB", "A100-80GB", "L40S-48GB",
             "H200-141GB", "B200-180GB" })
        EXPECT_THAT(after, testing::HasSubstr(std::string(card) + "\n4.00 GiB\nfits")) << card;
    EXPECT_THAT(after, testing::Not(testing::HasSubstr("Not comparable")));
}

TEST_F(DryRunWindow, WhatWasRunShowsAndOpens)
{
    const QString python = test::torchPython();
    if (python.isEmpty())
        GTEST_SKIP() << "no PyTorch";
    file("train.py",
        "import torch\n"
        "p = torch.nn.Parameter(torch.ones(1 << 22, device='cuda'))\n"
        "o = torch.optim.Adam([p])\n"
        "for i in range(9):\n"
        "    p.sum().backward(); o.step(); o.zero_grad()\n");
    showDryRun();
    DryRunRequest request;
    request.command = python + QStringLiteral(" train.py");
    request.folder = m_scratch.path();
    request.device = QStringLiteral("RTX-4090-24GB");
    request.steps = 2;
    page().form().setRequest(request);
    driver().key(Qt::Key_Return);
    EXPECT_TRUE(page().running());
    EXPECT_TRUE(test::eventually(
        [&] { return texts().find("Running on a simulated RTX-4090-24GB") != std::string::npos; }));
    ASSERT_TRUE(ended());

    // The command that the page copies says the same.
    std::vector<std::string> arguments{ "dryrun", "--json" };
    for (const QString& option : request.options())
        arguments.push_back(option.toStdString());
    arguments.insert(arguments.end(),
        { "--", python.toStdString(), m_scratch.filePath(QStringLiteral("train.py")).toStdString() });
    const json report = test::strata(arguments).json();
    const json& device = report["ranks"][0]["devices"][0];
    EXPECT_THAT(texts(), testing::HasSubstr("Fits. Needs "));
    for (const char* key : { "reserved_bytes_peak", "allocated_bytes_peak", "requested_bytes_peak" })
        EXPECT_THAT(texts(), testing::HasSubstr(text::exactBytes(device[key].get<qint64>()).toStdString()))
            << key;
    EXPECT_THAT(texts(), testing::HasSubstr("2 optimizer steps"));
    EXPECT_THAT(page().copyText().toStdString(), testing::HasSubstr(device["reserved_bytes_peak"].dump()));

    driver().key(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(page().outcome()->recording); }));
    EXPECT_FALSE(shown());
    EXPECT_EQ(
        driver().device().trace->totals().reservedBytesPeak, device["reserved_bytes_peak"].get<qint64>());
    showDryRun();
    EXPECT_THAT(texts(), testing::HasSubstr("Fits. Needs ")) << "the result is still there";
}

} // namespace
