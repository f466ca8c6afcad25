// SPDX-License-Identifier: GPL-3.0-or-later
// How long the event loop of the window stands still while the session that it shows grows, page by page.
//
//     bench_follow [--events N] [--append N] [--pieces N] [--every MS] [--size 1920x1080] [--bars]
//
// Shows a session of N events (6,000,000), then for each page tells it of 100,000 more in 50 pieces, one
// every 100 ms, as a recorder that is followed does. One line a page: the longest gap of the event loop, what
// of it was the GUI thread's own work, how many generations were shown, and after how long the last one was.
// --bars: exit 1 if a bar is missed.
#include "app/gui/contents.h"
#include "model/session/save.h"
#include "tests/bench/training_run.h"
#include "tests/bench/window_driver.h"
#include "tests/support/grow.h"
#include "views/contents/document/document_view.h"
#include "views/models/tables/blocks_table.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/table_page.h"
#include "views/shell/theme.h"
#include "views/widgets/table_header.h"
#include "views/widgets/table_view.h"

#include <QSettings>
#include <QTemporaryDir>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace strata;

namespace {

constexpr double kBarMs = 50;

struct Options {
    std::int64_t events = 6'000'000, append = 100'000;
    int pieces = 50, everyMs = 100;
    QSize size{ 1920, 1080 };
    bool bars = false;
};

Options parse(const QStringList& arguments)
{
    Options options;
    for (qsizetype i = 1; i < arguments.size(); ++i) {
        const QString value = arguments.value(i + 1);
        if (arguments[i] == QLatin1String("--bars"))
            options.bars = true;
        else if (arguments[i] == QLatin1String("--events"))
            options.events = value.toLongLong();
        else if (arguments[i] == QLatin1String("--append"))
            options.append = value.toLongLong();
        else if (arguments[i] == QLatin1String("--pieces"))
            options.pieces = std::max(value.toInt(), 1);
        else if (arguments[i] == QLatin1String("--every"))
            options.everyMs = value.toInt();
        else if (arguments[i] == QLatin1String("--size"))
            options.size = { value.section(QLatin1Char('x'), 0, 0).toInt(),
                value.section(QLatin1Char('x'), 1, 1).toInt() };
    }
    return options;
}

/// The same session as a source would tell of it, on a thread of its own.
class Source {
public:
    explicit Source(const model::Recording& whole)
        : m_feeder(whole)
    {
        m_feeder.addBase(0);
    }

    std::shared_ptr<const model::Session> next(std::int64_t events)
    {
        m_feeder.addEvents(0, events);
        return m_feeder.append();
    }

    /// Tells the document of so many more, piece by piece.
    void tell(views::Document& document, std::int64_t events, int pieces, int everyMs)
    {
        done = false;
        m_thread = std::jthread([this, &document, events, pieces, everyMs] {
            auto due = std::chrono::steady_clock::now();
            for (int i = 0; i < pieces; ++i) {
                due += std::chrono::milliseconds(everyMs);
                std::this_thread::sleep_until(due);
                auto generation = next(events / pieces);
                QMetaObject::invokeMethod(
                    &document, [&document, generation = std::move(generation)] { document.show(generation); },
                    Qt::QueuedConnection);
            }
            done = true;
        });
    }
    void join() { m_thread.join(); }

    std::atomic<bool> done = false;

private:
    test::Feeder m_feeder;
    std::jthread m_thread;
};

template <class Done> void waitFor(const Done& done)
{
    while (!done())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

} // namespace

int main(int argc, char** argv)
{
    bench::Application application(argc, argv);
    const Options options = parse(QCoreApplication::arguments());
    struct Look {
        const char* page;
        const char* what;
    };
    constexpr Look kLooks[] = { { "summary", "Summary" }, { "memory", "Memory, stacked" },
        { "memory", "Memory, stacked, zoomed" }, { "memory", "Memory, blocks" }, { "flame", "Flame graph" },
        { "blocks", "Blocks" }, { "blocks", "Blocks, sorted by size" }, { "events", "Events" },
        { "notes", "Notes" } };
    const auto whole = bench::trainingRun(
        options.events + options.append * static_cast<std::int64_t>(std::size(kLooks) + 1));
    Source source(*whole);

    const QTemporaryDir scratch;
    qputenv("XDG_DATA_HOME", scratch.path().toUtf8());
    QSettings settings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    views::Theme theme(application);
    theme.choose(views::Theme::fromName(QStringLiteral("light")));
    const views::ContentList contents = gui::windowContents();
    views::MainWindow window(theme, settings, contents);
    window.resize(options.size);
    window.show();
    // The window opens a file of the first few events; its source goes on.
    const QString path = scratch.filePath(QStringLiteral("run.strata"));
    const auto first = source.next(1000);
    if (!model::saveSession(first->recording(), path.toStdString()))
        return 3;
    window.openFile(path);
    waitFor([&] { return !window.pending() && views::DocumentContent::of(window); });
    bench::Driver driver(application, window);
    views::Document& document = driver.document();
    const auto isShown = [&] {
        return document.device() && document.device()->blocksIndex && !document.working()
            && !document.isBehind();
    };
    waitFor(isShown);
    auto most = source.next(options.events);
    application.watchForStalls();
    document.show(std::move(most));
    waitFor(isShown);
    for (views::Page* page : driver.view().pages())
        driver.waitUntilQuiet(*page);
    bench::Application::Stalls stalls = application.endWatch();
    std::printf("%lld events at once: longest gap %.1f ms, of it own work %.1f ms\n",
        static_cast<long long>(document.device()->trace->eventCount()), stalls.longestMs,
        stalls.longestWorkMs);

    bool met = true;
    for (const Look& look : kLooks) {
        views::Page& page = driver.show(QLatin1String(look.page));
        const std::string what = look.what;
        if (auto* memory = dynamic_cast<views::MemoryPage*>(&page)) {
            memory->setMode(
                what == "Memory, blocks" ? views::PictureMode::Blocks : views::PictureMode::Stacked);
            memory->resetView();
            if (what == "Memory, stacked, zoomed")
                memory->canvas()->viewport().showX({ 1000, 50'000 });
        }
        if (auto* table = dynamic_cast<views::TablePage*>(&page); table && what.ends_with("size"))
            table->table().header()->setSortIndicator(
                views::BlocksTable::placeOf(views::BlocksTable::Requested), Qt::DescendingOrder);
        driver.waitUntilQuiet(page);
        int generations = 0;
        const auto counting = QObject::connect(
            &document, &views::Document::grown, &application, [&generations] { ++generations; });
        const double since = application.nowMs();
        application.watchForStalls();
        source.tell(document, options.append, options.pieces, options.everyMs);
        waitFor([&] { return source.done && isShown(); });
        const double shown = application.nowMs();
        driver.waitUntilQuiet(page);
        stalls = application.endWatch();
        source.join();
        QObject::disconnect(counting);
        const bool missed = stalls.longestMs > kBarMs;
        met = met && !missed;
        std::printf("%-26s longest gap %6.1f ms, own work %6.1f ms; longest event %5.1f ms (%s); %d "
                    "generations, the last one after %.1f s%s\n",
            look.what, stalls.longestMs, stalls.longestWorkMs, stalls.longestEventMs,
            stalls.longestEvent.c_str(), generations, (shown - since) / 1000, missed ? "  MISSED" : "");
        std::fflush(stdout);
    }
    return options.bars && !met ? 1 : 0;
}
