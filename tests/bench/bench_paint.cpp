// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window takes from an input to a frame that shows it, and to full detail, page by page; and how
// long the event loop stands still while the file is loaded.
//
//     bench_paint [FILE] [--size 1920x1080] [--page ID] [--bars]
//
// Drives the real window (rail, minimap and docks repaint as they do for a user), by default on the offscreen
// platform, that is with software rendering. Without FILE it opens the sample. One line a measurement; wall
// times count from when the input was due, and the GUI thread's processor time stands beside them, which
// other programs on the machine disturb less. --bars: exit 1 if a bar is missed.
#include "tests/bench/page_drives.h"

#include "app/gui/contents.h"
#include "views/contents/document/document_view.h"
#include "views/shell/theme.h"

#include <QSettings>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>

using namespace strata;

namespace {

struct Options {
    QString path = QStringLiteral(STRATA_SAMPLES "/gpt2_124m_bf16_train.strata");
    QSize size{ 1920, 1080 };
    QString page; ///< empty: all
    bool bars = false;
};

Options parse(const QStringList& arguments)
{
    Options options;
    for (qsizetype i = 1; i < arguments.size(); ++i) {
        const QString& argument = arguments[i];
        if (argument == QLatin1String("--size") && i + 1 < arguments.size()) {
            const QStringList parts = arguments[++i].split(QLatin1Char('x'));
            options.size = { parts.value(0).toInt(), parts.value(1).toInt() };
        } else if (argument == QLatin1String("--page") && i + 1 < arguments.size()) {
            options.page = arguments[++i];
        } else if (argument == QLatin1String("--bars")) {
            options.bars = true;
        } else {
            options.path = argument;
        }
    }
    return options;
}

/// Opens the file as a user would, while the heart beats. False if it cannot be opened.
bool open(bench::Application& application, views::MainWindow& window, const QString& path, bool& met)
{
    bench::Driver driver(application, window);
    const double since = application.nowMs();
    application.watchForStalls();
    window.openFile(path, true);
    while (window.pending())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    if (!views::DocumentContent::of(window))
        return false;
    const views::Document& document = driver.document();
    const double shown = application.nowMs();
    const views::Page& summary = *driver.view().findPage(QStringLiteral("summary"));
    while (summary.busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    driver.view().repaint();
    const double summaryShown = application.nowMs();
    while (document.working())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    const double whole = application.nowMs();
    // The first picture of the page that is shown, and what the other pages do once they have a device.
    for (const views::Page* page : driver.view().pages())
        driver.waitUntilQuiet(*page);
    const bench::Application::Stalls stalls = application.endWatch();
    const auto device = document.device();
    if (!device)
        return false;
    constexpr double kBar = 50;
    met = met && stalls.longestMs <= kBar;
    std::printf("%lld events, %lld blocks; window %dx%d at ratio %g on %s\n",
        static_cast<long long>(device->trace->eventCount()),
        static_cast<long long>(device->trace->blocks().size()), window.width(), window.height(),
        window.devicePixelRatioF(), qPrintable(QGuiApplication::platformName()));
    std::printf("summary: complete after %.3f s, %.3f of the time until every page has its data\n",
        (summaryShown - since) / 1000, (summaryShown - since) / (whole - since));
    std::printf("loading: shown after %.2f s, all there after %.2f s; longest gap of the event loop %.1f ms, "
                "of it own work %.1f ms; longest event %.1f ms (%s)  bar %.0f%s\n",
        (shown - since) / 1000, (application.nowMs() - since) / 1000, stalls.longestMs, stalls.longestWorkMs,
        stalls.longestEventMs, stalls.longestEvent.c_str(), kBar, stalls.longestMs > kBar ? "  MISSED" : "");
    std::fflush(stdout);
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    bench::Application application(argc, argv);
    const Options options = parse(QCoreApplication::arguments());

    const QTemporaryDir scratch;
    QSettings settings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    views::Theme theme(application);
    theme.choose(views::Theme::fromName(QStringLiteral("light")));
    const views::ContentList contents = gui::windowContents();
    views::MainWindow window(theme, settings, contents);
    window.resize(options.size);
    window.show();
    QCoreApplication::processEvents();

    bool met = true;
    if (!open(application, window, options.path, met)) {
        std::fprintf(stderr, "bench_paint: %s cannot be opened\n", qPrintable(options.path));
        return 3;
    }
    bench::Driver driver(application, window);
    for (const views::Page* page : driver.view().pages())
        if (options.page.isEmpty() || options.page == page->id())
            met = bench::drivePage(driver, page->id()) && met;
    return options.bars && !met ? 1 : 0;
}
