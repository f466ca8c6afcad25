// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/render.h"

#include "app/gui/contents.h"
#include "model/base/words.h"
#include "views/contents/document/document_content.h"
#include "views/contents/document/document_view.h"
#include "views/contents/document/page_export.h"
#include "views/contents/document/page_list.h"
#include "views/contents/document/page_question.h"
#include "views/contents/run_ranks_content.h"
#include "views/shell/main_window.h"

#include <QCoreApplication>
#include <QDir>
#include <QEventLoop>
#include <QSettings>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QVBoxLayout>

#include <cstdio>

namespace strata::gui {

namespace {

using views::Document;
using views::Page;

constexpr int kLookMs = 1'500;

/// Runs the event loop until `done`, which is asked after every batch of events.
template <class Condition> void waitUntil(const Condition& done)
{
    QTimer wake;
    wake.start(20);
    while (!done())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

/// Until a page has drawn what it has to: nothing is under way, twice in a row, since a repaint may start
/// more.
void waitUntilDrawn(const Document& document, const Page& page)
{
    for (int quiet = 0; quiet < 3;) {
        waitUntil([&] { return !document.working() && !page.busy(); });
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        quiet = document.working() || page.busy() ? 0 : quiet + 1;
    }
}

int complain(const model::Error& error, int status)
{
    std::fprintf(stderr, "strata: %s\n", error.text().c_str());
    return status;
}

int cannotWrite(const QString& path)
{
    return complain({ model::Error::Kind::Unreadable, model::say("cannot be written"),
                        model::say("choose another folder"), QFile::encodeName(path).toStdString() },
        3);
}

int written(const QString& path)
{
    std::printf("%s\n", qPrintable(path));
    std::fflush(stdout);
    return 0;
}

int writePicture(QWidget& shown, const QString& id, const Options& options)
{
    const QString path = QDir(*options.renderTo).filePath(id + QStringLiteral(".png"));
    return shown.grab().save(path, "PNG") ? written(path) : cannotWrite(path);
}

int writePage(QWidget& shown, Page& page, const Options& options)
{
    if (const int status = writePicture(shown, page.id(), options); status != 0)
        return status;
    if (!options.svg || !page.hasSvg())
        return 0;
    const QString path = QDir(*options.renderTo).filePath(page.id() + QStringLiteral(".svg"));
    const auto saved = views::savePicture(page, path);
    return saved ? written(path) : complain(saved.error(), 3);
}

/// The pages to write, in the order of the rail; empty if one is unknown, which is said.
std::vector<Page*> choosePages(const std::vector<Page*>& all, const QStringList& wanted)
{
    if (wanted.isEmpty())
        return all;
    std::vector<Page*> chosen;
    QStringList known;
    for (Page* page : all) {
        known.append(page->id());
        if (wanted.contains(page->id()))
            chosen.push_back(page);
    }
    for (const QString& id : wanted)
        if (!known.contains(id)) {
            std::fprintf(stderr, "strata: --page %s: no such page: there are %s\n", qPrintable(id),
                qPrintable(known.join(QStringLiteral(", "))));
            return {};
        }
    return chosen;
}

int renderDocument(Document& document, const views::Palette& palette, const Options& options)
{
    QWidget frame;
    auto* layout = new QVBoxLayout(&frame);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* stack = new QStackedWidget;
    layout->addWidget(stack);
    const std::vector<Page*> all = views::createPages(document, stack);
    for (Page* page : all) {
        page->setPalette(palette);
        stack->addWidget(page);
    }
    const std::vector<Page*> chosen = choosePages(all, options.pages);
    if (chosen.empty())
        return 2;
    if (const auto asked = views::askWhatIf(all, options.changes, options.table); !asked)
        return complain(asked.error(), 2);
    frame.resize(options.size);
    frame.show();
    for (Page* page : chosen) {
        stack->setCurrentWidget(page);
        waitUntilDrawn(document, *page);
        if (const int status = writePage(frame, *page, options); status != 0)
            return status;
    }
    return 0;
}

int renderWindow(const QString& path, views::Theme& theme, const Options& options)
{
    const QTemporaryDir scratch;
    QSettings settings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    const views::ContentList contents = windowContents();
    views::MainWindow window(theme, settings, contents);
    window.resize(options.size);
    window.show();
    window.openFile(path, options.force);
    waitUntil([&] { return !window.pending(); });
    const auto* content = views::DocumentContent::of(window);
    if (!content)
        return 3;
    QStringList pages = options.pages;
    for (const views::ContentKind& kind : contents.kinds) {
        if (pages.removeAll(kind.id) == 0)
            continue;
        window.showKind(kind.id);
        QTimer patience; // what it looks for is there then, or not at all
        patience.setSingleShot(true);
        patience.start(kLookMs);
        waitUntil([&] { return !patience.isActive(); });
        if (const int status = writePicture(window, kind.id, options); status != 0)
            return status;
        window.leaveKind();
        if (pages.isEmpty())
            return 0;
    }
    content->active().setFollowing(false); // a picture is of one moment
    views::DocumentView& view = content->active().view();
    const std::vector<Page*> chosen = choosePages(view.pages(), pages);
    if (chosen.empty())
        return 2;
    if (const auto asked = views::askWhatIf(view.pages(), options.changes, options.table); !asked)
        return complain(asked.error(), 2);
    for (Page* page : chosen) {
        view.showPage(page->id());
        waitUntilDrawn(view.document(), *page);
        if (const int status = writePage(window, *page, options); status != 0)
            return status;
    }
    return 0;
}

int renderRanks(views::Theme& theme, const Options& options)
{
    const QTemporaryDir scratch;
    QSettings settings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    views::MainWindow window(theme, settings, windowContents());
    window.resize(options.size);
    window.show();
    const views::RunRanksContent& ranks = openRanks(window, options.files);
    waitUntil([&] { return !ranks.reading(); });
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    if (const QString refusal = ranks.refusal(); !refusal.isEmpty()) {
        std::fprintf(stderr, "strata: %s\n", qPrintable(refusal));
        return 3;
    }
    return writePicture(window, QLatin1String(views::RunRanksContent::kId), options);
}

} // namespace

int renderPages(const Options& options, views::Theme& theme)
{
    if (options.ranks)
        return QDir().mkpath(*options.renderTo) ? renderRanks(theme, options)
                                                : cannotWrite(*options.renderTo);
    const QString place = options.files.front();
    const bool isLive = views::DocumentPane::isLive(place);
    Document document;
    if (!isLive)
        document.open(place, options.force);
    waitUntil([&] { return document.state() != Document::State::Loading; });
    if (document.state() == Document::State::Failed)
        return complain(document.error(), 3);
    if (!QDir().mkpath(*options.renderTo))
        return cannotWrite(*options.renderTo);
    return isLive || options.window ? renderWindow(place, theme, options)
                                    : renderDocument(document, theme.palette(), options);
}

} // namespace strata::gui
