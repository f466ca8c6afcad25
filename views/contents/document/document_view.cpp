// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_view.h"

#include "views/contents/details/details_panel.h"
#include "views/contents/document/filter_note.h"
#include "views/contents/document/minimap.h"
#include "views/contents/document/page_list.h"
#include "views/contents/document/page_window.h"
#include "views/contents/document/rail.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/whatif/what_if_page.h"
#include "views/style/icons.h"
#include "views/style/type.h"

#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMainWindow>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <string_view>
#include <utility>

namespace strata::views {

namespace {

constexpr std::size_t kMostVisited = 200;

/// The dock's title: its name, and buttons to float and to close it.
QWidget* dockTitle(QDockWidget& dock)
{
    auto* title = new QWidget;
    title->setObjectName(QStringLiteral("page"));
    title->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(title);
    row->setContentsMargins(kMargin, kGrid / 2, kGrid / 2, 0);
    row->setSpacing(0);
    auto* name = new QLabel(dock.windowTitle());
    name->setProperty("muted", true);
    row->addWidget(name, 1);
    const std::pair<const char*, QString> buttons[]
        = { { "tearoff", DocumentView::tr("Details in a window of their own, or back") },
              { "close", DocumentView::tr("Close the details") } };
    for (const auto& [iconName, text] : buttons) {
        auto* button = new QToolButton;
        button->setProperty("iconName", QLatin1String(iconName)); // "icon" is Qt's own
        button->setToolTip(text);
        button->setAccessibleName(text);
        button->setIconSize(QSize(14, 14));
        row->addWidget(button);
        const bool close = iconName == std::string_view("close");
        QObject::connect(button, &QToolButton::clicked, &dock, [&dock, close] {
            if (close)
                dock.close();
            else
                dock.setFloating(!dock.isFloating());
        });
    }
    return title;
}

/// Stands in the stack for a page that was torn off.
QWidget* placeholder(const QString& title)
{
    auto* label = new QLabel(
        DocumentView::tr("%1 is in a window of its own. Close that window to have it back here.").arg(title));
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setProperty("muted", true);
    return label;
}

} // namespace

DocumentView::DocumentView(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_rail(new Rail)
    , m_host(new QMainWindow(this))
    , m_filterNote(new FilterNote(document))
    , m_stack(new QStackedWidget)
    , m_dock(new QDockWidget(tr("Details")))
    , m_details(new DetailsPanel(document))
    , m_minimap(new Minimap(document))
{
    m_host->setWindowFlags(Qt::Widget); // a main window inside the window, for its dock
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_filterNote);
    column->addWidget(m_stack, 1);
    m_host->setCentralWidget(centre);
    m_dock->setObjectName(QStringLiteral("details"));
    m_dock->setWidget(m_details);
    m_dock->setTitleBarWidget(dockTitle(*m_dock));
    m_dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
    m_host->addDockWidget(Qt::RightDockWidgetArea, m_dock);
    m_host->resizeDocks({ m_dock }, { scaled(304.0, font()) }, Qt::Horizontal);

    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(m_rail);
    row->addWidget(m_host, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(row, 1);
    layout->addWidget(m_minimap);

    connect(m_rail, &Rail::chosen, this, qOverload<int>(&DocumentView::showPage));
    for (const auto signal : { &Document::outlineReady, &Document::stateChanged })
        connect(&document, signal, this, &DocumentView::showAbsences);
    connect(&document, &Document::deviceReady, this, &DocumentView::showAbsences);
    connect(&document.viewState(), &ViewState::deviceChanged, this, &DocumentView::showAbsences);
    connect(m_rail, &Rail::foldedChanged, this, &DocumentView::railFolded);
    connect(m_rail, &Rail::tearOffChosen, this, &DocumentView::tearOff);
    connect(m_minimap, &Minimap::hoverText, this, &DocumentView::hoverText);
    connect(m_details, &DetailsPanel::openFrame, this, &DocumentView::openFrame);
    connect(m_details, &DetailsPanel::openPage, this, &DocumentView::openPage);
    connect(m_details, &DetailsPanel::eventChosen, this,
        [this](model::EventIndex event) { goTo(m_document.viewState().device(), event); });
}

void DocumentView::showAbsences()
{
    for (std::size_t i = 0; i < m_pages.size(); ++i)
        m_rail->setAbsence(static_cast<int>(i), m_pages[i]->absence());
    // A profiler's trace says little or nothing on the first page, which is shown unless somebody has chosen
    // another one.
    const model::Recording* const recording = m_document.recording();
    const Page* const timeline = findPage(QStringLiteral("timeline"));
    if (timeline && recording && timeline->absence().isEmpty() && m_visited.size() == 1
        && std::ranges::all_of(recording->devices,
            [](const model::DeviceRecording& device) { return device.profiled.has_value(); }))
        showPage(indexOf(timeline));
}

bool DocumentView::complete() const
{
    return m_pages.size() == pageKinds().size();
}

bool DocumentView::addNextPage()
{
    if (complete())
        return false;
    const PageKind& kind = pageKinds()[m_pages.size()];
    addPage(kind.make(m_document, m_stack), groupTitle(kind.group));
    if (m_pages.size() == 1)
        showPage(0);
    if (complete()) {
        m_rail->setPalette(m_palette);
        showAbsences();
    }
    return true;
}

DocumentView::~DocumentView()
{
    // A page in a window of its own is a child of that window, which is a child of this.
    for (PageWindow* window : m_windows)
        if (window)
            disconnect(window, nullptr, this, nullptr);
}

void DocumentView::addPage(Page* page, const QString& group)
{
    m_pages.push_back(page);
    m_windows.push_back(nullptr);
    m_stack->addWidget(page);
    m_rail->addPage(*page, group);
    page->setPalette(m_palette);
    connect(page, &Page::hoverText, this, &DocumentView::hoverText);
    connect(page, &Page::historyChanged, this, &DocumentView::historyChanged);
    connect(page, &Page::busyChanged, this, &DocumentView::busyChanged);
    connect(page, &Page::failed, this, [this, page](model::Error error) {
        error.where = page->title().toStdString();
        Q_EMIT failed(error);
    });
    connect(page, &Page::focusChanged, this, [this, page](const Focus& focus) { focusOn(focus, page); });
    connect(page, &Page::openPage, this, &DocumentView::openPage);
    if (const auto* summary = qobject_cast<SummaryPage*>(page))
        connect(summary, &SummaryPage::whatIfAsked, this, [this](const model::Scenario& scenario) {
            if (auto* asked = qobject_cast<WhatIfPage*>(findPage(QStringLiteral("whatif")))) {
                showPage(asked->id());
                asked->setScenario(scenario);
            }
        });
}

void DocumentView::openPage(const QString& id, std::optional<model::EventIndex> event)
{
    showPage(id);
    if (Page* shown = findPage(id); shown && event)
        shown->goTo(*event);
}

Page* DocumentView::currentPage() const
{
    for (std::size_t i = 0; i < m_windows.size(); ++i)
        if (m_windows[i] && m_windows[i]->isActiveWindow())
            return m_pages[i];
    return m_visited.empty() ? nullptr : m_pages[static_cast<std::size_t>(m_visited[m_now])];
}

Page* DocumentView::findPage(const QString& id) const
{
    for (Page* page : m_pages)
        if (page->id() == id)
            return page;
    return nullptr;
}

int DocumentView::indexOf(const Page* page) const
{
    return static_cast<int>(std::find(m_pages.begin(), m_pages.end(), page) - m_pages.begin());
}

void DocumentView::showPage(int index)
{
    if (index < 0 || index >= static_cast<int>(m_pages.size()))
        return;
    if (PageWindow* window = m_windows[static_cast<std::size_t>(index)]) {
        window->raise();
        window->activateWindow();
    }
    if (m_visited.empty() || m_visited[m_now] != index) {
        if (!m_visited.empty())
            m_visited.resize(m_now + 1);
        m_visited.push_back(index);
        if (m_visited.size() > kMostVisited)
            m_visited.erase(m_visited.begin());
        m_now = m_visited.size() - 1;
    }
    place(index);
}

void DocumentView::showPage(const QString& id)
{
    if (const Page* page = findPage(id))
        showPage(indexOf(page));
}

void DocumentView::place(int index)
{
    m_stack->setCurrentIndex(index);
    m_rail->setCurrent(index);
    const auto i = static_cast<std::size_t>(index);
    m_filterNote->setPage(m_windows[i] ? nullptr : m_pages[i]); // a window has one of its own
    // Who walks the rail by keyboard stays on it; a view that is still being made waits.
    if (isVisible() && !m_rail->isAncestorOf(QApplication::focusWidget()))
        focusPage();
    Q_EMIT currentPageChanged();
    Q_EMIT historyChanged();
}

void DocumentView::focusPage()
{
    if (QWidget* shown = m_stack->currentWidget())
        shown->setFocus(Qt::OtherFocusReason);
}

void DocumentView::goTo(int device, model::EventIndex event)
{
    m_document.viewState().select(device, EventRange{ event, event });
    if (Page* page = currentPage())
        page->goTo(event);
}

void DocumentView::focusOn(const Focus& focus, const Page* clicked)
{
    m_details->setFocusShown(focus);
    for (Page* page : m_pages)
        if (page != clicked)
            page->showFocus(focus);
    Q_EMIT focusShown(focus);
}

void DocumentView::tearOff(int index)
{
    const auto i = static_cast<std::size_t>(index);
    if (m_windows[i])
        return showPage(index);
    Page* page = m_pages[i];
    const bool current = m_stack->currentIndex() == index;
    m_stack->removeWidget(page);
    m_stack->insertWidget(index, placeholder(page->title()));
    auto* window = new PageWindow(*page, m_document.name(), this);
    m_windows[i] = window;
    window->setPalette(m_palette);
    window->addActions(m_shared);
    connect(window, &PageWindow::closed, this, [this, index] { bringBack(index); });
    connect(window, &PageWindow::activated, this, &DocumentView::currentPageChanged);
    connect(window, &PageWindow::filesDropped, this, &DocumentView::filesDropped);
    m_rail->setTornOff(index, true);
    page->show();
    window->show();
    if (!current)
        return;
    // The stack shows something useful instead of the placeholder where it can.
    for (std::size_t other = 0; other < m_pages.size(); ++other)
        if (!m_windows[other])
            return showPage(static_cast<int>(other));
    place(index);
}

void DocumentView::bringBack(int index)
{
    const auto i = static_cast<std::size_t>(index);
    PageWindow* window = m_windows[i];
    m_windows[i] = nullptr;
    QWidget* stand = m_stack->widget(index);
    const bool current = m_stack->currentIndex() == index;
    m_stack->removeWidget(stand);
    stand->deleteLater();
    m_stack->insertWidget(index, m_pages[i]);
    window->deleteLater();
    m_rail->setTornOff(index, false);
    if (current) {
        m_stack->setCurrentIndex(index);
        m_filterNote->setPage(m_pages[i]);
    }
    Q_EMIT currentPageChanged();
}

bool DocumentView::canGoBack() const
{
    const Page* page = currentPage();
    return m_now > 0 || (page && page->canGoBack());
}

bool DocumentView::canGoForward() const
{
    const Page* page = currentPage();
    return m_now + 1 < m_visited.size() || (page && page->canGoForward());
}

void DocumentView::goBack()
{
    if (Page* page = currentPage(); page && page->canGoBack())
        return page->goBack();
    if (m_now > 0)
        place(m_visited[--m_now]);
}

void DocumentView::goForward()
{
    if (Page* page = currentPage(); page && page->canGoForward())
        return page->goForward();
    if (m_now + 1 < m_visited.size())
        place(m_visited[++m_now]);
}

void DocumentView::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_rail->setPalette(palette);
    m_filterNote->setPalette(palette);
    for (PageWindow* window : m_windows)
        if (window)
            window->setPalette(palette);
    m_details->setPalette(palette);
    m_minimap->setPalette(palette);
    for (QToolButton* button : m_dock->titleBarWidget()->findChildren<QToolButton*>())
        button->setIcon(icon(button->property("iconName").toString(), palette));
    for (Page* page : m_pages)
        page->setPalette(palette);
}

void DocumentView::setCompact(bool compact)
{
    if (std::exchange(m_compact, compact) == compact)
        return;
    m_rail->setCompact(compact);
    if (compact) { // two docks beside two pictures would not fit a screen
        m_hadDetails = !m_dock->isHidden();
        m_dock->hide();
    } else if (m_hadDetails) {
        m_dock->show();
    }
}

void DocumentView::setShared(const QList<QAction*>& actions)
{
    m_shared = actions;
}

QByteArray DocumentView::saveState() const
{
    const bool aside = m_compact && m_hadDetails && m_dock->isHidden();
    if (aside)
        m_dock->show();
    const QByteArray state = m_host->saveState();
    if (aside)
        m_dock->hide();
    return state;
}

void DocumentView::restoreState(const QByteArray& state)
{
    if (!state.isEmpty())
        m_host->restoreState(state);
}

} // namespace strata::views
