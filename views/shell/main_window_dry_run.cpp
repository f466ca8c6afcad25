// SPDX-License-Identifier: GPL-3.0-or-later
// The page Dry run in the window: when it is shown, and what becomes of its results.
#include "views/shell/main_window.h"

#include "views/pages/dry_run_page.h"
#include "views/shell/actions.h"
#include "views/shell/document_view.h"
#include "views/shell/loading_view.h"
#include "views/shell/start_page.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"
#include "views/shell/top_bar.h"

#include <QFileInfo>
#include <QStackedWidget>
#include <QStandardPaths>

namespace strata::views {

void MainWindow::connectDryRun()
{
    connect(m_actions->dryRun, &QAction::triggered, this, &MainWindow::showDryRun);
}

DryRunPage& MainWindow::dryRun()
{
    if (m_dryRun)
        return *m_dryRun;
    const QString recordings
        = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) + QStringLiteral("/dryruns");
    m_dryRun = new DryRunPage(m_settings, commandLineProgram(), recordings, m_stack);
    m_stack->addWidget(m_dryRun);
    m_dryRun->setPalette(m_theme.palette());
    connect(m_dryRun, &DryRunPage::openRecording, this, [this](const QString& path) { openFile(path); });
    connect(m_dryRun, &DryRunPage::backRequested, this, &MainWindow::leaveDryRun);
    connect(m_dryRun, &DryRunPage::copied, this,
        [this](const QString& what) { m_status->flash(tr("copied: %1").arg(what)); });
    connect(m_dryRun, &DryRunPage::commandChanged, this, &MainWindow::updateActions);
    connect(m_dryRun, &DryRunPage::runningChanged, this, [this] {
        m_actions->dryRun->setIconText(m_dryRun->running() ? tr("Dry run (running)") : tr("Dry run"));
        if (m_dryRun->outcome() && !m_dryRunShown)
            showEndedDryRun();
    });
    return *m_dryRun;
}

void MainWindow::showDryRun()
{
    DryRunPage& shown = dryRun();
    m_dryRunShown = true;
    shown.setBackTo(m_document ? QFileInfo(m_document->path()).fileName() : QString());
    m_top->setDocument(nullptr);
    m_status->setDocument(nullptr);
    m_stack->setCurrentWidget(m_dryRun);
    shown.focusForm();
    updateTitle();
    updatePageMenu();
}

void MainWindow::leaveDryRun()
{
    if (!m_dryRunShown)
        return;
    m_dryRunShown = false;
    m_stack->setCurrentWidget(home());
    if (m_document) {
        m_top->setDocument(m_document);
        m_status->setDocument(m_document);
        m_view->focusPage();
    }
    updateTitle();
    updatePageMenu();
}

/// What stands in the window while nothing is loaded in its place.
QWidget* MainWindow::home() const
{
    if (m_dryRunShown)
        return m_dryRun;
    if (m_view)
        return m_view;
    // Above a document, how far loading is stands in a strip instead.
    const bool loads = m_loadingView && m_stack->indexOf(m_loadingView) >= 0;
    return loads ? static_cast<QWidget*>(m_loadingView) : m_start;
}

void MainWindow::updateTitle()
{
    if (m_dryRunShown)
        setWindowTitle(tr("Dry run - Strata"));
    else if (m_document)
        setWindowTitle(tr("%1 - Strata").arg(QFileInfo(m_document->path()).fileName()));
    else
        setWindowTitle(tr("Strata"));
}

/// A run that ended while something else was shown.
void MainWindow::showEndedDryRun()
{
    const DryRunOutcome& outcome = *m_dryRun->outcome();
    const DryRunVerdict verdict = verdictOf(outcome);
    const DryRunWords words = wordsOf(outcome);
    const bool good = verdict == DryRunVerdict::Fits || verdict == DryRunVerdict::Cancelled;
    Banner* banner = addBanner(good ? Banner::Kind::Info : Banner::Kind::Warning,
        tr("The dry run ended. %1").arg(words.plainVerdict()), words.more);
    banner->addButton(tr("Show"), [this, banner] {
        banner->deleteLater();
        showDryRun();
    });
}

} // namespace strata::views
