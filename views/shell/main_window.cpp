// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/main_window.h"

#include "views/pages/dry_run_page.h"
#include "views/pages/texts.h"
#include "views/shell/actions.h"
#include "views/shell/details_panel.h"
#include "views/shell/document_view.h"
#include "views/shell/key_guard.h"
#include "views/shell/loading_view.h"
#include "views/shell/minimap.h"
#include "views/shell/page_window.h"
#include "views/shell/start_page.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"
#include "views/shell/top_bar.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

namespace {

const QString kGeometry = QStringLiteral("window/geometry");
const QString kDock = QStringLiteral("window/dock");
const QString kMinimap = QStringLiteral("window/minimap");
const QString kAxis = QStringLiteral("view/timeAxis");

} // namespace

MainWindow::MainWindow(Theme& theme, QSettings& settings, QWidget* parent)
    : QMainWindow(parent)
    , m_theme(theme)
    , m_settings(settings)
    , m_recent(settings)
    , m_actions(new Actions(*this))
{
    setAcceptDrops(true);
    setWindowIcon(QIcon(QStringLiteral(":/strata/icons/strata.svg")));
    setWindowTitle(tr("Strata"));
    build();
    connectFile();
    connectDryRun();
    connectEdit();
    connectNotes();
    connectView();
    connectGo();
    connectHelp();
    connect(&theme, &Theme::changed, this, &MainWindow::applyTheme);
    qApp->installEventFilter(new KeyGuard(this));
    applyTheme();
    updateActions();
    resize(1280, 800);
    restoreGeometry(m_settings.value(kGeometry).toByteArray());
}

MainWindow::~MainWindow()
{
    // A view refers to its document, which is a child of this too and could go first.
    delete m_view;
    delete m_nextView;
}

void MainWindow::build()
{
    m_actions->fill(*menuBar());
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_top = new TopBar(m_actions->open, m_actions->dryRun, m_actions->details);
    column->addWidget(m_top);
    m_banners = new QVBoxLayout;
    m_banners->setSpacing(0);
    column->addLayout(m_banners);
    m_stack = new QStackedWidget;
    column->addWidget(m_stack, 1);
    m_status = new StatusBar;
    column->addWidget(m_status);
    setCentralWidget(centre);

    m_start = new StartPage(m_recent, m_actions->open, m_actions->dryRun);
    m_stack->addWidget(m_start);
    connect(m_start, &StartPage::fileChosen, this, [this](const QString& path) { openFile(path); });
    connect(m_status, &StatusBar::findingChosen, this, [this](int number, model::EventIndex event) {
        if (m_view)
            m_view->goTo(number, event);
    });
}

void MainWindow::applyTheme()
{
    const Palette& palette = m_theme.palette();
    m_top->setPalette(palette);
    m_start->setPalette(palette);
    m_status->setPalette(palette);
    if (m_dryRun)
        m_dryRun->setPalette(palette);
    for (Banner* banner : banners())
        banner->setPalette(palette);
    for (DocumentView* view : { m_view, m_nextView })
        if (view)
            view->setPalette(palette);
    for (QAction* action : m_actions->themes)
        action->setChecked(action->data().toInt() == static_cast<int>(m_theme.choice()));
}

void MainWindow::openFile(const QString& path, bool force)
{
    endLoading();
    clearBanners();
    m_loading = new Document(this);
    connect(m_loading, &Document::stateChanged, this, &MainWindow::loadingChanged);
    connect(m_loading, &Document::outlineReady, this, &MainWindow::loadingChanged);
    m_loading->open(path, force);
    m_nextView = new DocumentView(*m_loading, m_stack);
    m_nextView->hide();
    m_nextView->setPalette(m_theme.palette());
    QTimer::singleShot(0, m_nextView, [this] { prepareView(); });
    m_loadingView
        = new LoadingView(m_view ? LoadingView::Shape::Strip : LoadingView::Shape::Page, *m_loading);
    connect(m_loadingView, &LoadingView::cancelled, m_loading, &Document::cancel);
    if (m_view) {
        m_banners->insertWidget(0, m_loadingView);
        m_loadingView->show(); // now, not when events are handled next
    } else {
        m_stack->addWidget(m_loadingView);
        m_stack->setCurrentWidget(m_loadingView);
    }
}

/// Makes the view of what is being loaded, a page at a time: all at once would hold up the window.
void MainWindow::prepareView()
{
    if (m_nextView->addNextPage())
        QTimer::singleShot(0, m_nextView, [this] { prepareView(); });
    else if (m_loading->state() == Document::State::Ready || m_loading->hasOutline())
        adopt();
}

void MainWindow::loadingChanged()
{
    switch (m_loading->state()) {
    case Document::State::Loading:
        if (!m_loading->hasOutline())
            return;
        [[fallthrough]]; // its summary can be shown
    case Document::State::Ready:
        if (m_nextView->complete()) // else prepareView() ends with it
            adopt();
        return;
    case Document::State::Failed: {
        const model::Error error = m_loading->error();
        const QString path = m_loading->path();
        endLoading();
        showFailure(error, path);
        Q_EMIT openFailed();
        return;
    }
    case Document::State::Empty:
    case Document::State::Stopped:
        return endLoading();
    }
}

void MainWindow::endLoading()
{
    if (m_loadingView) {
        m_loadingView->hide();
        m_loadingView->deleteLater(); // its button may be what cancelled
        m_loadingView = nullptr;
    }
    delete m_nextView; // before the document that it refers to
    m_nextView = nullptr;
    if (m_loading) {
        disconnect(m_loading, nullptr, this, nullptr);
        m_loading->deleteLater();
        m_loading = nullptr;
    }
    if (!m_view && m_start)
        m_stack->setCurrentWidget(home());
}

void MainWindow::adopt()
{
    Document* next = m_loading;
    m_loading = nullptr;
    disconnect(next, nullptr, this, nullptr);
    closeFile();
    m_dryRunShown = false;
    m_document = next;
    connect(m_document, &Document::stateChanged, this, &MainWindow::showDocumentState);
    ViewState& state = m_document->viewState();
    state.setAxis(m_settings.value(kAxis).toBool() ? model::Axis::Time : model::Axis::Events);
    connect(&state, &ViewState::axisChanged, this,
        [this, &state] { m_settings.setValue(kAxis, state.axis() == model::Axis::Time); });
    for (const auto changed :
        { &ViewState::undoChanged, &ViewState::selectionChanged, &ViewState::filterChanged })
        connect(&state, changed, this, &MainWindow::updateActions);
    connect(m_document, &Document::deviceReady, this, &MainWindow::updateActions);
    connect(m_document, &Document::outlineWrong, this, [this] {
        addBanner(Banner::Kind::Warning,
            tr("The summary that this file brings does not agree with its events."),
            tr("What is shown now is worked out from the events. strata check names the difference."));
    });
    connect(m_document, &Document::userKept, this, &MainWindow::showKept);
    connect(m_document, &Document::userNotKept, this,
        [this](const model::Error& error) { report(model::Failure(error), {}); });

    m_view = std::exchange(m_nextView, nullptr);
    m_view->setShared(m_actions->all());
    m_view->restoreState(m_settings.value(kDock).toByteArray());
    m_view->minimap().setVisible(m_settings.value(kMinimap, true).toBool());
    connect(m_view, &DocumentView::hoverText, m_status, &StatusBar::setHover);
    connect(m_view, &DocumentView::openFrame, this, &MainWindow::openFrame);
    connect(m_view, &DocumentView::filesDropped, this, &MainWindow::openFiles);
    connect(m_view, &DocumentView::historyChanged, this, &MainWindow::updateActions);
    connect(m_view, &DocumentView::busyChanged, this, &MainWindow::updateActions);
    connect(m_view, &DocumentView::focusShown, this, &MainWindow::updateActions);
    connect(m_view, &DocumentView::currentPageChanged, this, &MainWindow::updatePageMenu);
    connect(&m_view->detailsDock(), &QDockWidget::visibilityChanged, this,
        [this] { m_actions->details->setChecked(!m_view->detailsDock().isHidden()); });
    m_actions->details->setChecked(!m_view->detailsDock().isHidden());
    m_actions->minimap->setChecked(!m_view->minimap().isHidden());

    if (m_loadingView) {
        m_loadingView->deleteLater();
        m_loadingView = nullptr;
    }
    m_stack->addWidget(m_view);
    m_stack->setCurrentWidget(m_view);
    m_view->focusPage();
    m_top->setDocument(m_document);
    m_status->setDocument(m_document);
    m_recent.add(m_document->path());
    updateTitle();
    showDocumentState();
    updatePageMenu();
    updateActions();
    Q_EMIT documentShown();
}

void MainWindow::showDocumentState()
{
    clearBanners();
    if (m_document->state() == Document::State::Failed)
        return showFailure(m_document->error(), m_document->path());
    if (m_document->state() == Document::State::Stopped) {
        Banner* banner = addBanner(Banner::Kind::Info, tr("Loading was cancelled."),
            tr("What is shown is the summary that the file brings; the other pages need its events."));
        banner->addButton(tr("Load the Rest"), [this, path = m_document->path()] { openFile(path); });
    }
    if (!m_document->session())
        return; // an outline is of a whole file
    const model::Recording& recording = m_document->session()->recording();
    if (recording.truncation)
        addBanner(Banner::Kind::Warning,
            tr("This file is damaged or ends early, at byte %1: %2")
                .arg(text::count(static_cast<std::int64_t>(recording.truncation->offset)),
                    text::file(recording.truncation->reason)),
            tr("What stands before that is shown. Where both the end state and the state that it began with "
               "are missing, curves begin at zero and are relative."));
    if (recording.user.unreadFrom)
        addBanner(Banner::Kind::Warning, tr("Some notes on this recording cannot be read."),
            tr("The recording itself is whole. What is added from now on is kept."));
}

void MainWindow::closeFile()
{
    if (!m_document)
        return;
    m_settings.setValue(kDock, m_view->saveState());
    m_top->setDocument(nullptr);
    m_status->setDocument(nullptr);
    delete m_view;
    m_view = nullptr;
    delete m_document;
    m_document = nullptr;
    clearBanners();
    updateTitle();
    m_stack->setCurrentWidget(home());
    updatePageMenu();
    updateActions();
}

void MainWindow::showFailure(const model::Error& error, const QString& path)
{
    const QString where = error.where.empty() ? path : text::file(error.where);
    Banner* banner = addBanner(Banner::Kind::Error,
        tr("%1: %2").arg(QFileInfo(where).fileName(), text::file(error.what)), text::file(error.hint));
    banner->setToolTip(where);
    if (!QFileInfo::exists(path))
        m_recent.remove(QFileInfo(path).absoluteFilePath());
    if (error.kind == model::Error::Kind::Refused && (!m_document || !m_document->session()))
        banner->addButton(tr("Read It Anyway"), [this, path] { openFile(path, true); });
}

Banner* MainWindow::addBanner(Banner::Kind kind, const QString& what, const QString& hint)
{
    auto* banner = new Banner(kind, what, hint);
    banner->setPalette(m_theme.palette());
    connect(banner, &Banner::closed, banner, &QObject::deleteLater);
    m_banners->addWidget(banner);
    banner->show();
    return banner;
}

QList<Banner*> MainWindow::banners() const
{
    QList<Banner*> found;
    for (int i = 0; i < m_banners->count(); ++i)
        if (auto* banner = qobject_cast<Banner*>(m_banners->itemAt(i)->widget()))
            found.append(banner);
    return found;
}

void MainWindow::clearBanners()
{
    for (Banner* banner : banners()) {
        m_banners->removeWidget(banner);
        banner->hide();
        banner->deleteLater();
    }
}

void MainWindow::openNewWindow(const QString& path)
{
    auto* window = new MainWindow(m_theme, m_settings);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->move(pos() + QPoint(32, 32));
    window->show();
    if (!path.isEmpty())
        window->openFile(path);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (holdsFiles(*event->mimeData()))
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    openFiles(*event->mimeData());
}

void MainWindow::openFiles(const QMimeData& dropped)
{
    bool first = true;
    for (const QUrl& url : dropped.urls()) {
        if (!url.isLocalFile())
            continue;
        if (first)
            openFile(url.toLocalFile());
        else
            openNewWindow(url.toLocalFile());
        first = false;
    }
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_settings.setValue(kGeometry, saveGeometry());
    if (m_view) {
        m_settings.setValue(kDock, m_view->saveState());
        m_settings.setValue(kMinimap, m_actions->minimap->isChecked());
    }
    event->accept();
}

} // namespace strata::views
