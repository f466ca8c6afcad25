// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/document_actions.h"

#include "views/contents/details/details_panel.h"
#include "views/contents/document/document_bar.h"
#include "views/contents/document/document_view.h"
#include "views/contents/document/minimap.h"
#include "views/contents/document/navigator.h"
#include "views/contents/document/note_actions.h"
#include "views/contents/document/page_export.h"
#include "views/contents/search/finder.h"
#include "views/contents/search/search_box.h"
#include "views/models/document/shown_instant.h"
#include "views/models/live/live_source.h"
#include "views/pages/parts/filter_text.h"
#include "views/shell/recent_files.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>

#include <algorithm>

namespace strata::views {

namespace {

/// Why N leads nowhere.
QString whyNoStep(bool any, bool looking)
{
    if (any)
        return DocumentActions::tr("there is no step further on");
    return looking ? DocumentActions::tr("steps are still being looked for")
                   : DocumentActions::tr("no steps are known: name them with torch.profiler.record_function");
}

} // namespace

DocumentActions::DocumentActions(
    DocumentContent& content, const ContentContext& context, DocumentBar& bar, Finder& finder)
    : m_content(content)
    , m_context(context)
    , m_bar(&bar)
    , m_finder(finder)
    , m_saver(content, context.recent)
{
    serveFile();
    serveLive();
    serveEdit();
    serveNotes();
    serveView();
    serveGo();
    serveSearch();
}

Page& DocumentActions::page() const
{
    return *view().currentPage();
}

void DocumentActions::serveLive()
{
    const Actions& a = m_context.actions;
    m_served.add(
        a.follow, [this] { pane().live()->setFollowing(m_context.actions.follow->isChecked()); },
        [this] { return !m_content.preparing() && pane().live(); },
        [this] { return !m_content.preparing() && pane().live() && pane().live()->isFollowing(); });
    m_served.add(
        a.saveSession, [this] { m_saver.save(pane()); },
        [this] { return !m_content.preparing() && document().session(); });
}

void DocumentActions::serveNotes()
{
    const Actions& a = m_context.actions;
    m_served.add(
        a.addNote, [this] { addNote(*m_content.window(), document(), view().details().focusShown()); },
        [this] { return device() != nullptr; });
    m_served.add(
        a.nameRange, [this] { nameRange(*m_content.window(), document()); },
        [this] { return device() && state().selection() && !state().selection()->isInstant(); });
    m_served.add(
        a.saveFilter, [this] { saveFilter(*m_content.window(), document()); },
        [this] { return device() && !state().filter().empty(); });
}

void DocumentActions::serveFile()
{
    const Actions& a = m_context.actions;
    m_served.add(
        a.saveTable, [this] { saveTable(); }, [this] { return page().hasCsv(); });
    m_served.add(a.savePicture, [this] { savePicture(); });
}

void DocumentActions::saveTable()
{
    const QString path = QFileDialog::getSaveFileName(m_content.window(), tr("Save Table as CSV"),
        QDir(m_context.recent.folder()).filePath(proposedName(page(), QStringLiteral("csv"))),
        tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty() && !page().saveCsvLater(path))
        m_content.report(strata::views::saveTable(page(), path), tr("saved %1").arg(path));
}

void DocumentActions::savePicture()
{
    const QString formats
        = page().hasSvg() ? tr("PNG picture (*.png);;SVG drawing (*.svg)") : tr("PNG picture (*.png)");
    const QString path = QFileDialog::getSaveFileName(m_content.window(), tr("Save Picture"),
        QDir(m_context.recent.folder()).filePath(proposedName(page(), QStringLiteral("png"))), formats);
    if (!path.isEmpty())
        m_content.report(strata::views::savePicture(page(), path), tr("saved %1").arg(path));
}

void DocumentActions::serveEdit()
{
    const Actions& a = m_context.actions;
    m_served.add(
        a.undo, [this] { state().undo(); }, [this] { return state().canUndo(); });
    m_served.add(
        a.redo, [this] { state().redo(); }, [this] { return state().canRedo(); });
    m_served.add(
        a.copyStack,
        [this] {
            const QString text = stackText(view().details().details());
            QApplication::clipboard()->setText(text);
            Q_EMIT m_content.flash(tr(
                "copied a stack of %n frame(s)", nullptr, static_cast<int>(text.count(QLatin1Char('\n')))));
        },
        [this] { return !view().details().details().frames.empty(); });
    m_served.add(
        a.copyTable, [this] { copyTable(); }, [this] { return page().hasCsv(); });
    m_served.add(a.copyPicture, [this] {
        QApplication::clipboard()->setPixmap(page().pictureWidget()->grab());
        Q_EMIT m_content.flash(tr("copied the picture"));
    });
    m_served.add(a.filter, [this] {
        const auto now = device();
        const auto next = now
            ? filterBy(state().filter(), *now, view().details().focusShown(), state().grouping())
            : std::nullopt;
        if (next)
            state().setFilter(*next);
        else
            Q_EMIT m_content.flash(
                tr("click a block or a line first: the filter takes what the details show"));
    });
    m_served.add(
        a.clearFilter, [this] { state().setFilter({}); }, [this] { return !state().filter().empty(); });
    m_served.add(
        a.deselect, [this] { state().select(std::nullopt); },
        [this] { return state().selection().has_value(); });
}

void DocumentActions::copyTable()
{
    if (page().copyCsvLater())
        return; // the page says how it went
    QBuffer csv;
    csv.open(QIODevice::WriteOnly);
    if (!page().writeCsv(csv)) {
        Q_EMIT m_content.flash(tr("there is no table to copy here"));
        return;
    }
    QApplication::clipboard()->setText(QString::fromUtf8(csv.data()));
    Q_EMIT m_content.flash(tr("copied %n line(s) as CSV", nullptr, static_cast<int>(csv.data().count('\n'))));
}

void DocumentActions::serveView()
{
    const Actions& a = m_context.actions;
    m_served.add(
        a.details, [this] { view().detailsDock().setVisible(m_context.actions.details->isChecked()); }, {},
        [this] { return !view().detailsDock().isHidden(); });
    m_served.add(
        a.minimap, [this] { view().minimap().setVisible(m_context.actions.minimap->isChecked()); }, {},
        [this] { return !view().minimap().isHidden(); });
    m_served.add(a.axis, [this] {
        const auto now = device();
        if (now && !now->timeline->clock().hasTimes()) {
            Q_EMIT m_content.flash(tr("this recording has no times"));
            return;
        }
        state().setAxis(state().axis() == model::Axis::Time ? model::Axis::Events : model::Axis::Time);
    });
    m_served.add(a.showAll, [this] { page().resetView(); });
    m_served.add(a.tearOff, [this] {
        const auto& pages = view().pages();
        view().tearOff(static_cast<int>(std::find(pages.begin(), pages.end(), &page()) - pages.begin()));
    });
}

void DocumentActions::selectEvent(model::EventIndex event)
{
    selectRange({ event, event });
    // A line or block that the details show stays: its figures are those of the new instant.
    const Focus::Kind shown = view().details().focusShown().kind;
    if (shown == Focus::Kind::Nothing || shown == Focus::Kind::Event)
        view().focusOn(Focus::onEvent(event));
}

void DocumentActions::selectRange(const EventRange& range)
{
    state().select(range);
    page().goTo(range.first);
}

void DocumentActions::serveGo()
{
    const Actions& a = m_context.actions;
    const ActionMap::Test derived = [this] { return device() != nullptr; };
    m_served.add(
        a.back, [this] { view().goBack(); }, [this] { return view().canGoBack(); });
    m_served.add(
        a.forward, [this] { view().goForward(); }, [this] { return view().canGoForward(); });
    m_served.add(
        a.peak, [this] { selectEvent(navigator::peak(*device())); }, derived);
    m_served.add(
        a.outOfMemory,
        [this] {
            if (const auto event = lastOutOfMemory(*device()))
                selectEvent(*event);
            else
                Q_EMIT m_content.flash(tr("no request failed in this recording"));
        },
        derived);
    const auto step = [this](bool next) {
        const auto steps = navigator::steps(*device());
        if (const auto range = navigator::step(steps, state().selection(), next))
            selectRange(*range);
        else
            Q_EMIT m_content.flash(whyNoStep(!steps.empty(), document().analysing()));
    };
    m_served.add(
        a.nextStep, [step] { step(true); }, derived);
    m_served.add(
        a.previousStep, [step] { step(false); }, derived);
    const auto byEvent = [this](model::EventIndex by) {
        if (const auto event = navigator::event(*device(), state().selection(), by))
            selectEvent(*event);
    };
    m_served.add(
        a.nextEvent, [byEvent] { byEvent(1); }, derived);
    m_served.add(
        a.previousEvent, [byEvent] { byEvent(-1); }, derived);
}

void DocumentActions::serveSearch()
{
    const Actions& a = m_context.actions;
    m_served.add(a.find, [this] {
        if (m_bar)
            m_bar->searchBox()->takeKeyboard();
    });
    m_served.add(a.findAll, [this] {
        if (m_bar)
            m_bar->searchBox()->openPalette();
    });
    const ActionMap::Test canStep = [this] { return m_finder.canStep(); };
    m_served.add(
        a.nextHit, [this] { m_finder.step(1); }, canStep);
    m_served.add(
        a.previousHit, [this] { m_finder.step(-1); }, canStep);
    m_finder.setPageActions(a.pages);
    m_finder.setFiles(m_context.recent);
    QObject::connect(&m_finder, &Finder::fileWanted, &m_content,
        [this](const QString& path) { Q_EMIT m_content.fileWanted(path, false); });
    QObject::connect(&m_finder, &Finder::flash, &m_content, &DocumentContent::flash);
    QObject::connect(&m_finder, &Finder::stepsChanged, &m_content, &DocumentContent::changed);
}

} // namespace strata::views
