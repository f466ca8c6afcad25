// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/main_window.h"

#include "views/shell/banner.h"
#include "views/shell/key_guard.h"
#include "views/shell/local_files.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"
#include "views/shell/top_bar.h"
#include "views/shell/window_actions.h"
#include "views/style/colour_table.h"

#include <QApplication>
#include <QCloseEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

namespace {

const QString kGeometry = QStringLiteral("window/geometry");

} // namespace

MainWindow::MainWindow(Theme& theme, QSettings& settings, const ContentList& contents, QWidget* parent)
    : QMainWindow(parent)
    , m_theme(theme)
    , m_settings(settings)
    , m_contents(contents)
    , m_recent(settings)
    , m_colours(std::make_shared<ColourTable>())
    , m_actions(new Actions(*this, contents.kinds))
{
    setAcceptDrops(true);
    setWindowIcon(QIcon(QStringLiteral(":/strata/icons/strata.svg")));
    build();
    m_own = new WindowActions(*this, theme, settings, m_recent, contents.kinds);
    connect(&theme, &Theme::changed, this, &MainWindow::applyTheme);
    qApp->installEventFilter(new KeyGuard(this));
    applyTheme();
    arrange();
    resize(1280, 800);
    restoreGeometry(m_settings.value(kGeometry).toByteArray());
}

MainWindow::~MainWindow()
{
    // Contents use what belongs to the window: they go first.
    delete m_pending;
    delete m_opened;
    for (const auto& [id, content] : m_kinds)
        delete content;
    delete m_start;
}

ContentContext MainWindow::context()
{
    return { *m_actions, m_recent, m_settings, m_colours };
}

void MainWindow::build()
{
    m_actions->fill(*menuBar());
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_top = new TopBar(QList<QAction*>{ m_actions->open } + m_actions->kinds);
    column->addWidget(m_top);
    m_banners = new QVBoxLayout;
    m_banners->setSpacing(0);
    column->addLayout(m_banners);
    m_stack = new QStackedWidget;
    column->addWidget(m_stack, 1);
    m_status = new StatusBar;
    column->addWidget(m_status);
    setCentralWidget(centre);
    m_start = m_contents.start(context());
    addContent(*m_start); // applyTheme() gives it its colours
}

void MainWindow::addContent(WindowContent& content)
{
    m_stack->addWidget(&content);
    const auto whenShown = [this, &content](auto what) {
        return [this, &content, what](const auto&... arguments) {
            if (&shown() == &content)
                what(arguments...);
        };
    };
    connect(&content, &WindowContent::changed, this, [this] { m_own->refresh(); });
    connect(&content, &WindowContent::rearranged, this, &MainWindow::refreshPlaces);
    connect(&content, &WindowContent::statusChanged, this,
        whenShown([this, &content] { m_status->setText(content.statusText()); }));
    connect(&content, &WindowContent::hoverText, this,
        whenShown([this](const QString& text) { m_status->setHover(text); }));
    connect(&content, &WindowContent::flash, m_status, &StatusBar::flash);
    connect(&content, &WindowContent::noticed, this, &MainWindow::addBanner);
    connect(&content, &WindowContent::noticesGone, this, &MainWindow::clearBanners);
    connect(&content, &WindowContent::fileWanted, this, &MainWindow::openFile);
    connect(&content, &WindowContent::filesDropped, this,
        [this](const QMimeData& files) { openDropped(localFiles(files)); });
}

void MainWindow::applyTheme()
{
    const Palette& palette = m_theme.palette();
    m_top->setPalette(palette);
    for (Banner* banner : banners())
        banner->setPalette(palette);
    for (WindowContent* content : { m_start, m_opened, m_pending })
        if (content)
            content->setPalette(palette);
    for (const auto& [id, content] : m_kinds)
        content->setPalette(palette);
    for (QAction* action : m_actions->themes)
        action->setChecked(action->data().toInt() == static_cast<int>(m_theme.choice()));
}

WindowContent& MainWindow::shown() const
{
    return *(m_front ? m_front : m_opened ? m_opened : m_start);
}

WindowContent& MainWindow::kind(const QString& id)
{
    if (const auto made = m_kinds.find(id); made != m_kinds.end())
        return *made->second;
    const auto known
        = std::ranges::find_if(m_contents.kinds, [&](const ContentKind& kind) { return kind.id == id; });
    Q_ASSERT(known != m_contents.kinds.end());
    WindowContent* content = known->make(context());
    m_kinds.emplace(id, content);
    addContent(*content);
    content->setPalette(m_theme.palette());
    QAction* action = m_actions->kinds[static_cast<qsizetype>(known - m_contents.kinds.begin())];
    connect(content, &WindowContent::rearranged, this, [content, action, usual = known->buttonText] {
        const QString text = content->buttonText();
        action->setIconText(text.isEmpty() ? usual : text);
    });
    connect(content, &WindowContent::showWanted, this, [this, id] { showKind(id); });
    connect(content, &WindowContent::leaveWanted, this, &MainWindow::leaveKind);
    return *content;
}

void MainWindow::showKind(const QString& id)
{
    m_front = &kind(id);
    m_front->enter(m_opened ? m_opened->title() : QString());
    arrange();
    m_front->takeKeyboard();
}

void MainWindow::leaveKind()
{
    if (!m_front)
        return;
    m_front = nullptr;
    arrange();
    shown().takeKeyboard();
}

void MainWindow::arrange()
{
    WindowContent& content = shown();
    // Above what was opened, how far the next one is stands in a strip instead.
    const bool prepares = &content == m_start && m_progress && m_stack->indexOf(m_progress) >= 0;
    m_stack->setCurrentWidget(prepares ? m_progress : &content);
    m_top->setPart(content.topPart());
    m_status->setPart(content.statusPart());
    m_status->setText(content.statusText());
    refreshPlaces();
}

void MainWindow::refreshPlaces()
{
    const QString title = shown().title();
    setWindowTitle(title.isEmpty() ? tr("Strata") : tr("%1 - Strata").arg(title));
    const QStringList places = m_opened ? m_opened->places() : QStringList();
    for (int i = 0; i < m_actions->pages.size(); ++i) {
        QAction* action = m_actions->pages[i];
        action->setVisible(i < places.size());
        if (i < places.size())
            action->setText(places[i]);
    }
    QMenu& menu = *m_actions->pageMenu;
    menu.clear();
    menu.addActions(shown().pageActions());
    menu.menuAction()->setVisible(!menu.isEmpty());
    m_own->refresh();
}

void MainWindow::openFile(const QString& path, bool force)
{
    endPending();
    clearBanners();
    m_pending = m_contents.file(context(), path, force);
    m_pending->setParent(m_stack);
    m_pending->hide();
    m_pending->setPalette(m_theme.palette());
    m_progress = m_pending->makeProgress(m_opened ? WindowContent::Shape::Strip : WindowContent::Shape::Page);
    connect(m_pending, &WindowContent::prepared, this, &MainWindow::adopt);
    connect(m_pending, &WindowContent::cancelled, this, &MainWindow::endPending);
    connect(m_pending, &WindowContent::failed, this, [this, path](Notice notice, bool mayForce) {
        endPending();
        if (mayForce) {
            notice.button = tr("Read It Anyway");
            notice.action = [this, path] { openFile(path, true); };
        }
        addBanner(notice);
        Q_EMIT openFailed();
    });
    if (m_opened) {
        m_banners->insertWidget(0, m_progress);
        m_progress->show(); // now, not when events are handled next
    } else {
        m_stack->addWidget(m_progress);
        m_stack->setCurrentWidget(m_progress);
    }
}

void MainWindow::openBeside(const QString& path)
{
    if (!m_opened || !m_opened->openBeside(path))
        return openFile(path);
    m_front = nullptr;
    arrange();
}

void MainWindow::endPending()
{
    if (m_progress) {
        m_progress->hide();
        m_progress->deleteLater(); // its button may be what cancelled
        m_progress = nullptr;
    }
    if (m_pending) { // which may be what calls this
        m_pending->disconnect(this);
        std::exchange(m_pending, nullptr)->deleteLater();
    }
    if (!m_opened)
        arrange();
}

void MainWindow::adopt()
{
    WindowContent* next = std::exchange(m_pending, nullptr);
    next->disconnect(this);
    closeOpened();
    m_front = nullptr;
    m_opened = next;
    addContent(*next);
    // Its own close button may be what asks.
    connect(next, &WindowContent::leaveWanted, this, &MainWindow::closeOpened, Qt::QueuedConnection);
    next->enter({});
    if (m_progress) {
        m_progress->hide();
        m_progress->deleteLater();
        m_progress = nullptr;
    }
    arrange();
    next->takeKeyboard();
    Q_EMIT fileShown();
}

void MainWindow::closeOpened()
{
    if (!m_opened)
        return;
    m_opened->closing();
    delete std::exchange(m_opened, nullptr);
    clearBanners();
    arrange();
}

void MainWindow::closeShown()
{
    if (m_front)
        leaveKind();
    else if (m_opened)
        closeOpened();
    else
        close();
}

void MainWindow::addBanner(const Notice& notice)
{
    auto* banner = new Banner(notice);
    banner->setPalette(m_theme.palette());
    connect(banner, &Banner::closed, banner, &QObject::deleteLater);
    m_banners->addWidget(banner);
    banner->show();
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
    auto* window = new MainWindow(m_theme, m_settings, m_contents);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->move(pos() + QPoint(32, 32));
    window->show();
    if (!path.isEmpty())
        window->openFile(path);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    openDropped(localFiles(*event->mimeData()));
}

void MainWindow::openDropped(const QStringList& files)
{
    for (const QString& file : files.mid(0, 1))
        openFile(file);
    for (const QString& file : files.mid(1))
        openNewWindow(file);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_settings.setValue(kGeometry, saveGeometry());
    for (WindowContent* content : { m_start, m_opened })
        if (content)
            content->closing();
    for (const auto& [id, content] : m_kinds)
        content->closing();
    event->accept();
}

} // namespace strata::views
