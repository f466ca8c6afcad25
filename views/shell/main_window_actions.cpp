// SPDX-License-Identifier: GPL-3.0-or-later
// What the actions of the window do, and when they can.
#include "views/shell/main_window.h"

#include "views/pages/dry_run_page.h"
#include "views/pages/filter_text.h"
#include "views/pages/texts.h"
#include "views/shell/actions.h"
#include "views/shell/details_panel.h"
#include "views/shell/dialogs.h"
#include "views/shell/document_view.h"
#include "views/shell/editor.h"
#include "views/shell/minimap.h"
#include "views/shell/navigator.h"
#include "views/shell/page_export.h"
#include "views/shell/search_box.h"
#include "views/shell/start_page.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"
#include "views/shell/top_bar.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStackedWidget>

namespace strata::views {

namespace {

const QString kFolder = QStringLiteral("open/folder");
const QString kTheme = QStringLiteral("view/theme");

} // namespace

Page* MainWindow::page() const
{
    return showsDocument() ? m_view->currentPage() : nullptr;
}

std::shared_ptr<const DeviceData> MainWindow::device() const
{
    return m_document ? m_document->device() : nullptr;
}

void MainWindow::connectFile()
{
    Actions& a = *m_actions;
    connect(a.open, &QAction::triggered, this, [this] {
        const QString path
            = QFileDialog::getOpenFileName(this, tr("Open a Snapshot"), m_settings.value(kFolder).toString(),
                tr("Snapshots and sessions (*.pickle *.pkl *.gz *.json *.html *.strata);;All files (*)"));
        if (path.isEmpty())
            return;
        m_settings.setValue(kFolder, QFileInfo(path).absolutePath());
        openFile(path);
    });
    connect(a.newWindow, &QAction::triggered, this, [this] { openNewWindow({}); });
    connect(a.closeFile, &QAction::triggered, this, [this] {
        if (m_dryRunShown)
            leaveDryRun();
        else if (m_document)
            closeFile();
        else
            close();
    });
    connect(a.quit, &QAction::triggered, qApp, &QApplication::closeAllWindows);
    connect(a.saveTable, &QAction::triggered, this, [this] {
        const QString path = QFileDialog::getSaveFileName(this, tr("Save Table as CSV"),
            QDir(m_settings.value(kFolder).toString()).filePath(proposedName(*page(), QStringLiteral("csv"))),
            tr("Comma-separated values (*.csv)"));
        if (!path.isEmpty() && !page()->saveCsvLater(path))
            report(saveTable(*page(), path), tr("saved %1").arg(path));
    });
    connect(a.savePicture, &QAction::triggered, this, [this] {
        const QString formats
            = page()->hasSvg() ? tr("PNG picture (*.png);;SVG drawing (*.svg)") : tr("PNG picture (*.png)");
        const QString path = QFileDialog::getSaveFileName(this, tr("Save Picture"),
            QDir(m_settings.value(kFolder).toString()).filePath(proposedName(*page(), QStringLiteral("png"))),
            formats);
        if (!path.isEmpty())
            report(strata::views::savePicture(*page(), path), tr("saved %1").arg(path));
    });
    connect(&m_recent, &RecentFiles::changed, this, &MainWindow::updateRecentMenu);
    for (const Sample& sample : samples())
        a.sampleMenu->addAction(sample.title, this, [this, sample] { openFile(sample.path); })
            ->setToolTip(sample.about);
    a.sampleMenu->setToolTipsVisible(true);
    a.sampleMenu->menuAction()->setVisible(!a.sampleMenu->isEmpty());
    updateRecentMenu();
}

void MainWindow::updateRecentMenu()
{
    QMenu& menu = *m_actions->recentMenu;
    menu.clear();
    for (const QString& path : m_recent.paths())
        menu.addAction(QFileInfo(path).fileName(), this, [this, path] { openFile(path); })->setToolTip(path);
    menu.setToolTipsVisible(true);
    menu.setEnabled(!menu.isEmpty());
    if (menu.isEmpty())
        return;
    menu.addSeparator();
    menu.addAction(tr("Clear This List"), this, [this] { m_recent.clear(); });
}

void MainWindow::connectEdit()
{
    Actions& a = *m_actions;
    connect(a.undo, &QAction::triggered, this, [this] { m_document->viewState().undo(); });
    connect(a.redo, &QAction::triggered, this, [this] { m_document->viewState().redo(); });
    connect(a.copy, &QAction::triggered, this, [this] {
        QString text = m_dryRunShown ? m_dryRun->copyText() : page()->copyText();
        if (text.isEmpty() && !m_dryRunShown && !m_view->details().details().empty())
            text = detailsText(m_view->details().details());
        if (text.isEmpty())
            return m_status->flash(tr("nothing is selected here that could be copied"));
        QApplication::clipboard()->setText(text);
        m_status->flash(
            tr("copied %n line(s)", nullptr, static_cast<int>(text.trimmed().count(QLatin1Char('\n')) + 1)));
    });
    connect(a.copyStack, &QAction::triggered, this, [this] {
        const QString text = stackText(m_view->details().details());
        QApplication::clipboard()->setText(text);
        m_status->flash(
            tr("copied a stack of %n frame(s)", nullptr, static_cast<int>(text.count(QLatin1Char('\n')))));
    });
    connect(a.copyTable, &QAction::triggered, this, [this] {
        if (page()->copyCsvLater())
            return; // the page says how it went
        QBuffer csv;
        csv.open(QIODevice::WriteOnly);
        if (!page()->writeCsv(csv))
            return m_status->flash(tr("there is no table to copy here"));
        QApplication::clipboard()->setText(QString::fromUtf8(csv.data()));
        m_status->flash(tr("copied %n line(s) as CSV", nullptr, static_cast<int>(csv.data().count('\n'))));
    });
    connect(a.copyPicture, &QAction::triggered, this, [this] {
        QApplication::clipboard()->setPixmap(page()->pictureWidget()->grab());
        m_status->flash(tr("copied the picture"));
    });
    connect(a.copyCommand, &QAction::triggered, this, [this] {
        const QString line = m_dryRunShown ? m_dryRun->commandLine() : page()->commandLine();
        QApplication::clipboard()->setText(line);
        m_status->flash(tr("copied: %1").arg(line));
    });
    connect(a.find, &QAction::triggered, this, [this] {
        m_top->searchBox()->setFocus(Qt::ShortcutFocusReason);
        m_top->searchBox()->selectAll();
    });
    connect(a.filter, &QAction::triggered, this, [this] {
        const auto now = device();
        ViewState& state = m_document->viewState();
        const auto next = now
            ? filterBy(state.filter(), *now, m_view->details().focusShown(), state.grouping())
            : std::nullopt;
        if (next)
            state.setFilter(*next);
        else
            m_status->flash(tr("click a block or a line first: the filter takes what the details show"));
    });
    connect(a.clearFilter, &QAction::triggered, this, [this] { m_document->viewState().setFilter({}); });
    connect(a.deselect, &QAction::triggered, this, [this] { m_document->viewState().select(std::nullopt); });
    connect(a.preferences, &QAction::triggered, this, [this] { editPreferences(*this, m_settings); });
}

void MainWindow::connectView()
{
    Actions& a = *m_actions;
    connect(a.details, &QAction::triggered, this,
        [this](bool shown) { m_view->detailsDock().setVisible(shown); });
    connect(
        a.minimap, &QAction::triggered, this, [this](bool shown) { m_view->minimap().setVisible(shown); });
    connect(a.axis, &QAction::triggered, this, [this] {
        ViewState& state = m_document->viewState();
        const auto now = device();
        if (now && !now->timeline->clock().hasTimes())
            return m_status->flash(tr("this recording has no times"));
        state.setAxis(state.axis() == model::Axis::Time ? model::Axis::Events : model::Axis::Time);
    });
    connect(a.showAll, &QAction::triggered, this, [this] { page()->resetView(); });
    connect(a.tearOff, &QAction::triggered, this, [this] {
        const auto& pages = m_view->pages();
        m_view->tearOff(static_cast<int>(std::find(pages.begin(), pages.end(), page()) - pages.begin()));
    });
    connect(a.fullScreen, &QAction::triggered, this,
        [this](bool full) { full ? showFullScreen() : showNormal(); });
    for (QAction* action : a.themes)
        connect(action, &QAction::triggered, this, [this, action] {
            const auto choice = static_cast<Theme::Choice>(action->data().toInt());
            m_settings.setValue(kTheme, Theme::name(choice));
            m_theme.choose(choice);
        });
}

void MainWindow::selectEvent(model::EventIndex event)
{
    selectRange({ event, event });
}

void MainWindow::selectRange(const EventRange& range)
{
    m_document->viewState().select(range);
    page()->goTo(range.first);
}

void MainWindow::connectGo()
{
    Actions& a = *m_actions;
    connect(a.back, &QAction::triggered, this, [this] { m_view->goBack(); });
    connect(a.forward, &QAction::triggered, this, [this] { m_view->goForward(); });
    connect(a.peak, &QAction::triggered, this, [this] { selectEvent(navigator::peak(*device())); });
    connect(a.outOfMemory, &QAction::triggered, this, [this] {
        if (const auto event = navigator::outOfMemory(*device()))
            selectEvent(*event);
        else
            m_status->flash(tr("no request failed in this recording"));
    });
    const auto step = [this](bool next) {
        const auto steps = navigator::steps(*device());
        if (const auto range = navigator::step(steps, m_document->viewState().selection(), next))
            selectRange(*range);
        else
            m_status->flash(steps.empty()
                    ? tr("no steps were recorded: mark them with torch.profiler.record_function")
                    : tr("there is no step further on"));
    };
    connect(a.nextStep, &QAction::triggered, this, [step] { step(true); });
    connect(a.previousStep, &QAction::triggered, this, [step] { step(false); });
    const auto byEvent = [this](model::EventIndex by) {
        if (const auto event = navigator::event(*device(), m_document->viewState().selection(), by))
            selectEvent(*event);
    };
    connect(a.nextEvent, &QAction::triggered, this, [byEvent] { byEvent(1); });
    connect(a.previousEvent, &QAction::triggered, this, [byEvent] { byEvent(-1); });
    for (int i = 0; i < a.pages.size(); ++i)
        connect(a.pages[i], &QAction::triggered, this, [this, i] {
            leaveDryRun();
            m_view->showPage(i);
        });
}

void MainWindow::connectHelp()
{
    Actions& a = *m_actions;
    connect(a.shortcuts, &QAction::triggered, this, [this] {
        QList<Actions::Section> sections = m_actions->sections();
        sections.append({ tr("Dry run"), dryRun().actions() });
        if (m_view)
            for (const Page* shown : m_view->pages())
                sections.append({ shown->title(), shown->pageActions() });
        showShortcuts(*this, sections);
    });
    connect(a.recording, &QAction::triggered, this, [this] {
        QApplication::clipboard()->setText(StartPage::recordingCode());
        addBanner(Banner::Kind::Info, tr("These lines record a snapshot; they are on the clipboard now."),
            StartPage::recordingCode().trimmed());
    });
    connect(a.about, &QAction::triggered, this, [this] { showAbout(*this); });
}

void MainWindow::updateActions()
{
    Actions& a = *m_actions;
    const bool shown = showsDocument();
    const Page* current = page();
    const bool derived = shown && device() != nullptr;
    a.copy->setEnabled(shown || m_dryRunShown);
    for (QAction* action : { a.copyPicture, a.savePicture, a.find, a.filter, a.details, a.minimap, a.axis,
             a.showAll, a.tearOff })
        action->setEnabled(shown);
    for (QAction* action :
        { a.peak, a.outOfMemory, a.nextStep, a.previousStep, a.nextEvent, a.previousEvent })
        action->setEnabled(derived);
    const ViewState* state = shown ? &m_document->viewState() : nullptr;
    a.undo->setEnabled(state && state->canUndo());
    a.redo->setEnabled(state && state->canRedo());
    a.clearFilter->setEnabled(state && !state->filter().empty());
    a.deselect->setEnabled(state && state->selection());
    a.addNote->setEnabled(derived);
    a.nameRange->setEnabled(derived && state->selection() && !state->selection()->isInstant());
    a.saveFilter->setEnabled(derived && !state->filter().empty());
    a.back->setEnabled(shown && m_view->canGoBack());
    a.forward->setEnabled(shown && m_view->canGoForward());
    a.saveTable->setEnabled(current && current->hasCsv());
    a.copyTable->setEnabled(current && current->hasCsv());
    a.copyCommand->setEnabled(
        m_dryRunShown ? !m_dryRun->commandLine().isEmpty() : current && !current->commandLine().isEmpty());
    a.copyStack->setEnabled(shown && !m_view->details().details().frames.empty());
}

void MainWindow::updatePageMenu()
{
    Actions& a = *m_actions;
    for (int i = 0; i < a.pages.size(); ++i) {
        const bool there = m_view && i < static_cast<int>(m_view->pages().size());
        a.pages[i]->setVisible(there);
        if (there)
            a.pages[i]->setText(m_view->pages()[static_cast<std::size_t>(i)]->title());
    }
    a.pageMenu->clear();
    const QList<QAction*> own = page() ? page()->pageActions() : QList<QAction*>();
    a.pageMenu->addActions(own);
    a.pageMenu->menuAction()->setVisible(!own.isEmpty());
    updateActions();
}

void MainWindow::openFrame(const QString& file, qint64 line)
{
    const auto opened = openInEditor(
        m_settings.value(QLatin1String(kEditorKey)).toString(), file, line, m_document->path());
    report(opened, tr("opened %1").arg(file));
}

void MainWindow::report(const model::Result<void>& result, const QString& done)
{
    if (result)
        return m_status->flash(done);
    const QString where
        = result.error().where.empty() ? QString() : text::file(result.error().where) + QStringLiteral(": ");
    addBanner(
        Banner::Kind::Warning, where + text::file(result.error().what), text::file(result.error().hint));
}

} // namespace strata::views
