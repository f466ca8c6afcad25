// SPDX-License-Identifier: GPL-3.0-or-later
// The page What-if confirms by the recorded program, with the real strata beside it and a real PyTorch.
#include "tests/gui/dryrun/dry_run_test.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/integration/run_strata.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_confirm_panel.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/style/texts.h"

#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include <gmock/gmock.h>

using namespace strata;
using namespace strata::views;

namespace {

constexpr const char* kProgram = R"(import sys, torch
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.randn(int(sys.argv[1]), 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
)";

class ConfirmWindow : public test::ShellTest { };

TEST_F(ConfirmWindow, TheRecordedProgramReplacesTheEstimate)
{
    const QString python = test::torchPython();
    if (python.isEmpty())
        GTEST_SKIP() << "no PyTorch";
    const QString program = file("train.py", kProgram),
                  path = m_scratch.filePath(QStringLiteral("run.strata"));
    const auto ran = test::strata({ "dryrun", "--device", "RTX-3060-12GB", "-o", path.toStdString(), "--",
        python.toStdString(), program.toStdString(), "4096" });
    ASSERT_EQ(ran.code, 0) << ran.err;
    ASSERT_NO_FATAL_FAILURE(open(path));
    auto& page = driver().shown<WhatIfPage>("whatif");
    page.card<WhatIfBatchCard>().recorded().setValue(4096);
    page.setScenario(
        { .changes = { *model::Change::parse("batch=x2") }, .settings = {}, .capacityBytes = {} });
    page.setBelow(WhatIfPage::Confirm);
    ASSERT_TRUE(test::eventually([&] { return !page.busy(); }));
    WhatIfConfirmPanel& panel = page.confirmPanel();
    const QString recorded = panel.command().text();
    ASSERT_TRUE(recorded.endsWith(QStringLiteral("train.py 4096"))) << qPrintable(recorded);
    const std::optional<model::PeakFigures> estimate = page.whatIf().answer()->prediction->predicted;

    // A command that does not say where the items stand is not run with others.
    EXPECT_FALSE(panel.runButton().isEnabled());
    EXPECT_EQ(panel.confirmation(), nullptr);
    EXPECT_THAT(panel.stateText().toStdString(), testing::HasSubstr("{BATCH}"));

    panel.command().selectAll();
    QTest::keyClicks(
        &panel.command(), QString(recorded).replace(QStringLiteral("4096"), QStringLiteral("{BATCH}")));
    panel.runButton().click();
    panel.agreeButton().click();
    ASSERT_TRUE(panel.running());
    ASSERT_TRUE(test::eventually([&] { return !panel.running(); }));
    const Confirmation* const confirmed = panel.confirmation();
    ASSERT_TRUE(confirmed) << qPrintable(panel.stateText());
    EXPECT_FALSE(confirmed->byCalls);
    EXPECT_EQ(confirmed->unchanged, page.whatIf().answer()->recorded);
    EXPECT_GT(confirmed->changed.requestedBytesPeak, confirmed->unchanged.requestedBytesPeak);
    EXPECT_EQ(confirmed->estimate, estimate);
    ASSERT_TRUE(page.chart().picture());
    EXPECT_TRUE(page.chart().picture()->isConfirmed);
    EXPECT_EQ(page.chart().picture()->predicted, confirmed->changed);
    const QString evidence = test::plainText(page.evidenceText()).replace(QChar::Nbsp, QLatin1Char(' '));
    EXPECT_TRUE(evidence.startsWith(QStringLiteral("Confirmed by the program: it reserves up to %1")
                                        .arg(text::bytes(confirmed->changed.reservedBytesPeak))))
        << qPrintable(evidence);

    // It is kept while something else is asked.
    page.setScenario({});
    ASSERT_TRUE(test::eventually([&] { return !page.busy(); }));
    EXPECT_FALSE(page.chart().picture()->isConfirmed);
    page.setScenario(
        { .changes = { *model::Change::parse("batch=x2") }, .settings = {}, .capacityBytes = {} });
    ASSERT_TRUE(test::eventually([&] { return !page.busy(); }));
    EXPECT_TRUE(page.chart().picture()->isConfirmed);
}

} // namespace
