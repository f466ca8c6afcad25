// SPDX-License-Identifier: GPL-3.0-or-later
// What documents do of the window's actions, and when they can.
#include "views/contents/document/document_content.h"

#include "views/contents/details/details_panel.h"
#include "views/contents/document/document_bar.h"
#include "views/contents/document/document_view.h"
#include "views/contents/document/minimap.h"
#include "views/contents/document/navigator.h"
#include "views/contents/document/page_export.h"
#include "views/contents/search/finder.h"
#include "views/contents/search/search_box.h"
#include "views/models/document/shown_instant.h"
#include "views/models/live/live_source.h"
#include "views/pages/parts/filter_text.h"
#include "views/shell/dialogs.h"
#include "views/shell/editor.h"
#include "views/shell/recent_files.h"
#include "views/style/texts.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QSettings>

#include <algorithm>

namespace strata::views {

namespace {

/// Why N leads nowhere.
QString whyNoStep(bool any, bool looking)
{
    if (any)
        return DocumentContent::tr("there is no step further on");
    return looking ? DocumentContent::tr("steps are still being looked for")
                   : DocumentContent::tr("no steps are known: name them with torch.profiler.record_function");
}

} // namespace

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

void DocumentContent::serveFile()
{
    const Actions& a = m_context.actions;
    serve(
        a.saveTable, [this] { saveTable(); }, [this] { return page().hasCsv(); });
    serve(a.savePicture, [this] { savePicture(); });
}

void DocumentContent::saveTable()
{
    const QString path = QFileDialog::getSaveFileName(window(), tr("Save Table as CSV"),
        QDir(m_context.recent.folder()).filePath(proposedName(page(), QStringLiteral("csv"))),
        tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty() && !page().saveCsvLater(path))
        report(strata::views::saveTable(page(), path), tr("saved %1").arg(path));
}

void DocumentContent::savePicture()
{
    const QString formats
        = page().hasSvg() ? tr("PNG picture (*.png);;SVG drawing (*.svg)") : tr("PNG picture (*.png)");
    const QString path = QFileDialog::getSaveFileName(window(), tr("Save Picture"),
        QDir(m_context.recent.folder()).filePath(proposedName(page(), QStringLiteral("png"))), formats);
    if (!path.isEmpty())
        report(strata::views::savePicture(page(), path), tr("saved %1").arg(path));
}

void DocumentContent::serveEdit()
{
    const Actions& a = m_context.actions;
    serve(
        a.undo, [this] { state().undo(); }, [this] { return state().canUndo(); });
    serve(
        a.redo, [this] { state().redo(); }, [this] { return state().canRedo(); });
    serve(
        a.copyStack,
        [this] {
            const QString text = stackText(view().details().details());
            QApplication::clipboard()->setText(text);
            Q_EMIT flash(tr(
                "copied a stack of %n frame(s)", nullptr, static_cast<int>(text.count(QLatin1Char('\n')))));
        },
        [this] { return !view().details().details().frames.empty(); });
    serve(
        a.copyTable, [this] { copyTable(); }, [this] { return page().hasCsv(); });
    serve(a.copyPicture, [this] {
        QApplication::clipboard()->setPixmap(page().pictureWidget()->grab());
        Q_EMIT flash(tr("copied the picture"));
    });
    serve(a.filter, [this] {
        const auto now = device();
        const auto next = now
            ? filterBy(state().filter(), *now, view().details().focusShown(), state().grouping())
            : std::nullopt;
        if (next)
            state().setFilter(*next);
        else
            Q_EMIT flash(tr("click a block or a line first: the filter takes what the details show"));
    });
    serve(
        a.clearFilter, [this] { state().setFilter({}); }, [this] { return !state().filter().empty(); });
    serve(
        a.deselect, [this] { state().select(std::nullopt); },
        [this] { return state().selection().has_value(); });
}

void DocumentContent::copyTable()
{
    if (page().copyCsvLater())
        return; // the page says how it went
    QBuffer csv;
    csv.open(QIODevice::WriteOnly);
    if (!page().writeCsv(csv)) {
        Q_EMIT flash(tr("there is no table to copy here"));
        return;
    }
    QApplication::clipboard()->setText(QString::fromUtf8(csv.data()));
    Q_EMIT flash(tr("copied %n line(s) as CSV", nullptr, static_cast<int>(csv.data().count('\n'))));
}

void DocumentContent::serveView()
{
    const Actions& a = m_context.actions;
    serve(
        a.details, [this] { view().detailsDock().setVisible(m_context.actions.details->isChecked()); }, {},
        [this] { return !view().detailsDock().isHidden(); });
    serve(
        a.minimap, [this] { view().minimap().setVisible(m_context.actions.minimap->isChecked()); }, {},
        [this] { return !view().minimap().isHidden(); });
    serve(a.axis, [this] {
        const auto now = device();
        if (now && !now->timeline->clock().hasTimes()) {
            Q_EMIT flash(tr("this recording has no times"));
            return;
        }
        state().setAxis(state().axis() == model::Axis::Time ? model::Axis::Events : model::Axis::Time);
    });
    serve(a.showAll, [this] { page().resetView(); });
    serve(a.tearOff, [this] {
        const auto& pages = view().pages();
        view().tearOff(static_cast<int>(std::find(pages.begin(), pages.end(), &page()) - pages.begin()));
    });
}

void DocumentContent::selectEvent(model::EventIndex event)
{
    selectRange({ event, event });
    // A line or block that the details show stays: its figures are those of the new instant.
    const Focus::Kind shown = view().details().focusShown().kind;
    if (shown == Focus::Kind::Nothing || shown == Focus::Kind::Event)
        view().focusOn(Focus::onEvent(event));
}

void DocumentContent::selectRange(const EventRange& range)
{
    state().select(range);
    page().goTo(range.first);
}

void DocumentContent::serveGo()
{
    const Actions& a = m_context.actions;
    const ActionMap::Test derived = [this] { return device() != nullptr; };
    serve(
        a.back, [this] { view().goBack(); }, [this] { return view().canGoBack(); });
    serve(
        a.forward, [this] { view().goForward(); }, [this] { return view().canGoForward(); });
    serve(
        a.peak, [this] { selectEvent(navigator::peak(*device())); }, derived);
    serve(
        a.outOfMemory,
        [this] {
            if (const auto event = lastOutOfMemory(*device()))
                selectEvent(*event);
            else
                Q_EMIT flash(tr("no request failed in this recording"));
        },
        derived);
    const auto step = [this](bool next) {
        const auto steps = navigator::steps(*device());
        if (const auto range = navigator::step(steps, state().selection(), next))
            selectRange(*range);
        else
            Q_EMIT flash(whyNoStep(!steps.empty(), document().analysing()));
    };
    serve(
        a.nextStep, [step] { step(true); }, derived);
    serve(
        a.previousStep, [step] { step(false); }, derived);
    const auto byEvent = [this](model::EventIndex by) {
        if (const auto event = navigator::event(*device(), state().selection(), by))
            selectEvent(*event);
    };
    serve(
        a.nextEvent, [byEvent] { byEvent(1); }, derived);
    serve(
        a.previousEvent, [byEvent] { byEvent(-1); }, derived);
}

void DocumentContent::serveSearch()
{
    const Actions& a = m_context.actions;
    serve(a.find, [this] { m_bar->searchBox()->takeKeyboard(); });
    serve(a.findAll, [this] { m_bar->searchBox()->openPalette(); });
    const ActionMap::Test canStep = [this] { return m_finder->canStep(); };
    serve(
        a.nextHit, [this] { m_finder->step(1); }, canStep);
    serve(
        a.previousHit, [this] { m_finder->step(-1); }, canStep);
    m_finder->setPageActions(a.pages);
    m_finder->setFiles(m_context.recent);
    connect(
        m_finder, &Finder::fileWanted, this, [this](const QString& path) { Q_EMIT fileWanted(path, false); });
    connect(m_finder, &Finder::flash, this, &DocumentContent::flash);
    connect(m_finder, &Finder::stepsChanged, this, &DocumentContent::changed);
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
