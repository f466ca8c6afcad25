// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_content.h"

#include "views/contents/details/details_panel.h"
#include "views/contents/document/document_actions.h"
#include "views/contents/document/document_bar.h"
#include "views/contents/document/document_notices.h"
#include "views/contents/document/document_status.h"
#include "views/contents/document/document_view.h"
#include "views/contents/document/loading_view.h"
#include "views/contents/document/minimap.h"
#include "views/contents/document/page_list.h"
#include "views/contents/document/rail.h"
#include "views/contents/search/finder.h"
#include "views/models/live/live_source.h"
#include "views/pages/parts/document_texts.h"
#include "views/shell/dialogs.h"
#include "views/shell/editor.h"
#include "views/shell/main_window.h"
#include "views/shell/recent_files.h"

#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QSettings>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

const QString kDock = QStringLiteral("window/dock");
const QString kMinimap = QStringLiteral("window/minimap");
const QString kSplitter = QStringLiteral("window/splitter/");
const QString kRail = QStringLiteral("window/railFolded");
const QString kUnfolded = QStringLiteral("window/unfolded/");
const QString kAxis = QStringLiteral("view/timeAxis");

/// Windows of torn-off pages included, which QWidget::isAncestorOf() leaves out.
bool holds(const QWidget& pane, const QWidget* widget)
{
    while (widget && widget != &pane)
        widget = widget->parentWidget();
    return widget != nullptr;
}

/// Those of pages that are remembered: they have a name.
QList<QSplitter*> splitters(const DocumentView& view)
{
    QList<QSplitter*> named;
    for (const Page* page : view.pages())
        for (QSplitter* splitter : page->findChildren<QSplitter*>())
            if (!splitter->objectName().isEmpty() && !splitter->objectName().startsWith(QLatin1String("qt_")))
                named.append(splitter);
    return named;
}

} // namespace

DocumentContent* DocumentContent::of(const MainWindow& window)
{
    return qobject_cast<DocumentContent*>(window.opened());
}

DocumentContent::DocumentContent(const ContentContext& context, const QString& path, bool force)
    : m_context(context)
    , m_column(new QVBoxLayout(this))
    , m_splitter(new QSplitter(Qt::Horizontal))
    , m_finder(new Finder(
          [this] {
              return m_context.actions.sections()
                  + QList<Actions::Section>{ { page().title(), page().pageActions() } };
          },
          this))
    , m_bar(new DocumentBar(*m_finder, context.actions))
    , m_status(new DocumentStatus)
{
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(1);
    m_column->addWidget(m_splitter, 1);
    m_does = std::make_unique<DocumentActions>(*this, context, *m_bar, *m_finder);
    serve(m_does->takeServed());
    connect(m_status, &DocumentStatus::findingChosen, this,
        [this](int number, model::EventIndex event) { view().goTo(number, event); });
    connect(
        qApp, &QApplication::focusChanged, this, [this](const QWidget*, QWidget* now) { followFocus(now); });
    load(path, force);
}

DocumentContent::~DocumentContent()
{
    // Nobody is told of what goes now. Not by disconnect(): that would keep destroyed() from Qt's style
    // sheets, too, which would polish what is not there any more when the theme changes.
    blockSignals(true);
    disconnect(qApp, nullptr, this, nullptr);
    delete m_bar; // they refer to a document
    delete m_status;
    delete m_pending;
    for (DocumentPane* pane : std::exchange(m_panes, {})) {
        forget(*pane);
        delete pane;
    }
}

void DocumentContent::load(const QString& path, bool force)
{
    const std::int64_t liveEvents
        = m_context.settings.value(QLatin1String(kLiveEventsKey)).toLongLong() * 1'000'000;
    // In its place at once: with another parent, all that is in it by then would be polished anew.
    m_pending = new DocumentPane(path, force, m_context.colours, liveEvents, m_splitter);
    m_pending->hide();
    m_pending->setPalette(m_palette);
    connect(m_pending, &DocumentPane::prepared, this, &DocumentContent::adopt);
    connect(m_pending, &DocumentPane::failed, this, [this, path] {
        Notice notice = failureNotice(*m_pending);
        dropMissing(path);
        const bool mayForce = m_pending->document().error().kind == model::Error::Kind::Refused;
        if (m_panes.empty()) { // whoever asked for this content drops it
            Q_EMIT failed(notice, mayForce);
            return;
        }
        endPending();
        if (mayForce) {
            notice.button = tr("Read It Anyway");
            notice.action = [this, path] { loadBeside(path, true); };
        }
        Q_EMIT noticed(notice);
    });
    connect(m_pending, &DocumentPane::cancelled, this, [this] {
        if (m_panes.empty())
            Q_EMIT cancelled();
        else
            endPending();
    });
}

QWidget* DocumentContent::makeProgress(Shape shape)
{
    auto* progress = new LoadingView(shape, m_pending->document());
    connect(progress, &LoadingView::cancelled, m_pending, &DocumentPane::cancel);
    return progress;
}

bool DocumentContent::openBeside(const QString& path)
{
    loadBeside(path, false);
    return true;
}

void DocumentContent::loadBeside(const QString& path, bool force)
{
    endPending();
    load(path, force);
    m_progress = makeProgress(Shape::Strip);
    m_column->insertWidget(0, m_progress);
    m_progress->show(); // now, not when events are handled next
}

void DocumentContent::endPending()
{
    if (m_progress) {
        m_progress->hide();
        std::exchange(m_progress, nullptr)->deleteLater(); // its button may be what cancelled
    }
    if (m_pending) { // which may be what calls this
        m_pending->disconnect(this);
        std::exchange(m_pending, nullptr)->deleteLater();
    }
}

void DocumentContent::adopt()
{
    DocumentPane* pane = std::exchange(m_pending, nullptr);
    pane->disconnect(this);
    endPending();
    const bool first = m_panes.empty();
    m_panes.push_back(pane);
    m_splitter->addWidget(pane);
    pane->show();
    connectPane(*pane);
    if (!pane->live())
        m_context.recent.add(pane->place());
    ViewState& state = pane->document().viewState();
    state.setAxis(m_context.settings.value(kAxis).toBool() ? model::Axis::Time : model::Axis::Events);
    connect(&state, &ViewState::axisChanged, this,
        [this, &state] { m_context.settings.setValue(kAxis, state.axis() == model::Axis::Time); });
    DocumentView& view = pane->view();
    view.setShared(m_context.actions.all());
    view.rail().setFolded(m_context.settings.value(kRail).toStringList());
    connect(&view, &DocumentView::railFolded, this,
        [this, &view] { m_context.settings.setValue(kRail, view.rail().folded()); });
    for (Page* page : view.pages()) {
        page->setUnfolded(m_context.settings.value(kUnfolded + page->id()).toStringList());
        connect(page, &Page::unfoldedChanged, this,
            [this, page] { m_context.settings.setValue(kUnfolded + page->id(), page->unfolded()); });
    }
    if (first) {
        m_active = pane;
        arrange();
        Q_EMIT prepared();
        return;
    }
    view.detailsDock().setHidden(m_active->view().detailsDock().isHidden());
    view.minimap().setVisible(!m_active->view().minimap().isHidden());
    m_splitter->setSizes(QList<int>(m_splitter->count(), m_splitter->width() / m_splitter->count()));
    m_active = pane;
    arrange();
    announce();
    view.focusPage();
}

void DocumentContent::connectPane(DocumentPane& pane)
{
    const Document& document = pane.document();
    connect(&document, &Document::stateChanged, this, &DocumentContent::announce);
    connect(&document, &Document::grown, this, &DocumentContent::announceGrown);
    connect(&document, &Document::deviceReady, this, [this] {
        Q_EMIT changed();
        Q_EMIT statusChanged();
    });
    connect(&document, &Document::outlineWrong, this, [this] {
        Q_EMIT noticed({ .kind = Notice::Kind::Warning,
            .what = tr("The summary that this file brings does not agree with its events."),
            .hint
            = tr("What is shown now is worked out from the events. strata check names the difference.") });
    });
    connect(&document, &Document::userKept, this, &DocumentContent::showKept);
    const auto warn
        = [this](const model::Error& error) { Q_EMIT noticed(Notice::of(Notice::Kind::Warning, error)); };
    connect(&document, &Document::userNotKept, this, warn);
    const ViewState& state = pane.document().viewState();
    for (const auto signal :
        { &ViewState::undoChanged, &ViewState::selectionChanged, &ViewState::filterChanged })
        connect(&state, signal, this, &DocumentContent::changed);
    for (const auto signal : { &ViewState::selectionChanged, &ViewState::deviceChanged })
        connect(&state, signal, this, &DocumentContent::statusChanged);
    const DocumentView& view = pane.view();
    connect(&view, &DocumentView::hoverText, this, &DocumentContent::hoverText);
    connect(&view, &DocumentView::failed, this, warn);
    connect(&view, &DocumentView::openFrame, this, &DocumentContent::openFrame);
    connect(&view, &DocumentView::filesDropped, this, &DocumentContent::filesDropped);
    for (const auto signal : { &DocumentView::historyChanged, &DocumentView::busyChanged })
        connect(&view, signal, this, &DocumentContent::changed);
    connect(&view, &DocumentView::focusShown, this, &DocumentContent::changed);
    connect(&view, &DocumentView::currentPageChanged, this, [this, &pane] {
        setActive(pane);
        Q_EMIT rearranged();
    });
    connect(&view.detailsDock(), &QDockWidget::visibilityChanged, this, &DocumentContent::changed);
    connect(&pane, &DocumentPane::chosen, this, [this, &pane] {
        setActive(pane);
        pane.view().focusPage();
    });
    connectLive(pane);
    connect(
        &pane, &DocumentPane::closeWanted, this, [this, &pane] { closePane(pane); }, Qt::QueuedConnection);
}

void DocumentContent::connectLive(DocumentPane& pane)
{
    LiveSource* const live = pane.live();
    if (!live)
        return;
    connect(live, &LiveSource::followingChanged, this, &DocumentContent::changed);
    connect(live, &LiveSource::outOfMemory, this, &DocumentContent::announceGrown);
    connect(&pane, &DocumentPane::renamed, this, &DocumentContent::rearranged);
    connect(&pane, &DocumentPane::saveWanted, this, [this, &pane] {
        setActive(pane);
        m_does->saveSession();
    });
}

void DocumentContent::forget(DocumentPane& pane)
{
    for (const QObject* told : std::initializer_list<const QObject*>{ &pane, &pane.document(),
             &pane.document().viewState(), &pane.view(), &pane.view().detailsDock() })
        told->disconnect(this);
    if (pane.live())
        pane.live()->disconnect(this);
}

void DocumentContent::closePane(DocumentPane& pane)
{
    if (m_panes.size() == 1) {
        Q_EMIT leaveWanted();
        return;
    }
    forget(pane);
    std::erase(m_panes, &pane);
    if (m_active == &pane)
        m_active = m_panes.back();
    arrange();
    announce();
    delete &pane;
    view().focusPage();
}

void DocumentContent::setActive(DocumentPane& pane)
{
    if (m_active == &pane)
        return;
    m_active = &pane;
    arrange();
}

void DocumentContent::arrange()
{
    for (DocumentPane* pane : m_panes) {
        pane->setBesideOthers(m_panes.size() > 1);
        pane->setActive(pane == m_active);
    }
    m_bar->setView(&view());
    m_status->setDocument(&document());
    Q_EMIT rearranged();
    Q_EMIT statusChanged();
}

void DocumentContent::followFocus(QWidget* now)
{
    for (DocumentPane* pane : m_panes)
        if (pane != m_active && holds(*pane, now))
            return setActive(*pane);
}

QString DocumentContent::title() const
{
    QStringList names;
    for (const DocumentPane* pane : m_panes)
        names.append(pane->name());
    return names.join(QStringLiteral(" | "));
}

void DocumentContent::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_bar->setPalette(palette);
    m_status->setPalette(palette);
    for (DocumentPane* pane : m_panes)
        pane->setPalette(palette);
    if (m_pending)
        m_pending->setPalette(palette);
}

QWidget* DocumentContent::topPart()
{
    return m_bar;
}

QWidget* DocumentContent::statusPart()
{
    return m_status;
}

QString DocumentContent::statusText() const
{
    const auto now = device();
    if (!now)
        return {};
    if (const auto& selection = state().selection())
        return text::selection(*now, *selection);
    if (state().lacksClock())
        return tr(
            "no clock: without times there is no common instant, so what is selected on GPU %1 stays there")
            .arg(state().madeSelection()->device);
    const model::EventIndex events = now->trace->eventCount();
    return events == 0
        ? tr("no events were recorded")
        : tr("%1 event(s), all of them shown", nullptr, static_cast<int>(events)).arg(text::count(events));
}

Page& DocumentContent::page() const
{
    return *view().currentPage();
}

QList<QAction*> DocumentContent::pageActions() const
{
    return page().pageActions();
}

QList<Actions::Section> DocumentContent::sections() const
{
    QList<Actions::Section> all;
    for (const Page* shown : view().pages())
        all.append({ shown->title(), shown->pageActions() });
    return all;
}

QString DocumentContent::copyText() const
{
    const QString text = page().copyText();
    const Details& details = view().details().details();
    return text.isEmpty() && !details.empty() ? detailsText(details) : text;
}

QString DocumentContent::commandLine() const
{
    const LiveSource* const live = m_active->live();
    if (live && document().path().isEmpty()) // no command can read it before it is written
        return QStringLiteral("strata attach %1 -o run.strata")
            .arg(text::shellQuoted(live->place().target()));
    return page().commandLine();
}

QStringList DocumentContent::places() const
{
    QStringList titles;
    for (const std::size_t place : pagesByKey())
        titles.append(view().pages()[place]->title());
    return titles;
}

void DocumentContent::goToPlace(int index)
{
    view().showPage(static_cast<int>(pagesByKey()[static_cast<std::size_t>(index)]));
}

void DocumentContent::enter(const QString&)
{
    DocumentView& shown = view();
    shown.restoreState(m_context.settings.value(kDock).toByteArray());
    for (QSplitter* splitter : splitters(shown))
        if (const QByteArray state
            = m_context.settings.value(kSplitter + splitter->objectName()).toByteArray();
            !state.isEmpty())
            splitter->restoreState(state);
    shown.minimap().setVisible(m_context.settings.value(kMinimap, true).toBool());
    announce();
}

void DocumentContent::takeKeyboard()
{
    view().focusPage();
}

void DocumentContent::closing()
{
    const DocumentView& first = m_panes.front()->view();
    m_context.settings.setValue(kDock, first.saveState());
    for (const QSplitter* splitter : splitters(first))
        m_context.settings.setValue(kSplitter + splitter->objectName(), splitter->saveState());
    m_context.settings.setValue(kMinimap, !first.minimap().isHidden());
}

void DocumentContent::announce()
{
    Q_EMIT noticesGone();
    m_announced.clear();
    for (const Notice& notice : notices()) {
        m_announced.append(notice.what);
        Q_EMIT noticed(notice);
    }
    Q_EMIT changed();
}

/// Of a newer generation: what stands there already is not said again.
void DocumentContent::announceGrown()
{
    QStringList now;
    for (const Notice& notice : notices())
        now.append(notice.what);
    if (now != m_announced)
        announce();
}

QList<Notice> DocumentContent::notices()
{
    const ActivatePane activate = [this](DocumentPane& pane) { setActive(pane); };
    const OpenAnew open = [this](const QString& path, bool force) { Q_EMIT fileWanted(path, force); };
    QList<Notice> all;
    for (DocumentPane* pane : m_panes) {
        if (pane->document().state() == Document::State::Failed)
            dropMissing(pane->place());
        for (Notice notice : noticesOf(*pane, activate, open)) {
            if (m_panes.size() > 1 && !notice.what.startsWith(pane->name()))
                notice.what = tr("%1: %2").arg(pane->name(), notice.what);
            all.append(notice);
        }
    }
    return all;
}

void DocumentContent::dropMissing(const QString& place)
{
    if (!LivePlace::isLive(place) && !QFileInfo::exists(place))
        m_context.recent.remove(QFileInfo(place).absoluteFilePath());
}

void DocumentContent::showKept(const QString& file)
{
    const auto isKeeper
        = [&](const DocumentPane* pane) { return QFileInfo(file) == QFileInfo(pane->document().path()); };
    if (std::ranges::any_of(m_panes, isKeeper)) {
        Q_EMIT flash(tr("kept in this file"));
        return;
    }
    const QString folder = text::homeShort(QFileInfo(file).absolutePath());
    Q_EMIT flash(tr("kept in %1, since this file is not changed; strata convert makes a session that "
                    "holds its notes itself")
                     .arg(folder));
}

void DocumentContent::openFrame(const QString& file, qint64 line)
{
    const auto opened = openInEditor(
        m_context.settings.value(QLatin1String(kEditorKey)).toString(), file, line, document().path());
    report(opened, tr("opened %1").arg(file));
}

void DocumentContent::report(const model::Result<void>& result, const QString& done)
{
    if (result)
        Q_EMIT flash(done);
    else
        Q_EMIT noticed(Notice::of(Notice::Kind::Warning, result.error()));
}

} // namespace strata::views
