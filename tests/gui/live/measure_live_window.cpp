// SPDX-License-Identifier: GPL-3.0-or-later
// A window that watches processes: how soon it shows an event, and how many it can watch.
//
//     measure_live_window latency [SECONDS] [EVENTS A SECOND]
//         records a fake allocator in this process and watches it, page by page: from an event to the frame
//         that shows it
//     measure_live_window ranks SECONDS [FOLDER]
//         watches all ranks of the first job that strata list finds: stalls of the event loop, frames,
//         memory, and what is missing at last; pictures into FOLDER
//     measure_live_window day SECONDS [EVENTS A SECOND [MILLIONS KEPT]]
//         watches a fake allocator that does so much in so little time (200,000; 10): memory, generations a
//         second, stalls
// STRATA_THEME and STRATA_SIZE say how the window looks, STRATA_PICTURES where "day" leaves its picture.
#include "app/gui/contents.h"
#include "capture/agent/agent.h"
#include "tests/bench/window_driver.h"
#include "tests/capture/fake_allocator.h"
#include "views/contents/attach_content.h"
#include "views/contents/document/document_view.h"
#include "views/models/live/live_ranks.h"
#include "views/models/live/live_source.h"
#include "views/pages/attach/attach_page.h"
#include "views/pages/attach/process_list.h"
#include "views/pages/attach/rank_curves.h"
#include "views/pages/attach/ranks_view.h"
#include "views/pages/memory/memory_page.h"
#include "views/shell/theme.h"

#include <QDir>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace strata;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

template <class Done> void waitFor(const Done& done)
{
    QTimer wake;
    wake.start(20);
    while (!done())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

double millisecondsSince(Clock::time_point then)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

void waitMs(int ms)
{
    const auto end = Clock::now() + std::chrono::milliseconds(ms);
    waitFor([&] { return Clock::now() >= end; });
}

/// Allocates and frees at a steady rate, and remembers when it told of each event.
class Training {
public:
    Training(test::FakeAllocator& allocator, int eventsPerSecond)
        : m_thread([this, &allocator, eventsPerSecond](const std::stop_token& stop) {
            auto due = Clock::now();
            const auto between = std::chrono::nanoseconds(1'000'000'000LL / eventsPerSecond);
            std::uint64_t held = 0;
            while (!stop.stop_requested()) {
                std::this_thread::sleep_until(due += between);
                if (held != 0)
                    allocator.release(0, std::exchange(held, 0));
                else
                    held = allocator.allocate(0, 4096);
                const std::lock_guard lock(m_mutex);
                m_told.resize(allocator.log(0).size() - allocator.loggedBefore(0, 0), Clock::now());
            }
        })
    {
    }

    /// When the first `count` events were told, from `from` on.
    [[nodiscard]] std::vector<Clock::time_point> told(std::size_t from, std::size_t count) const
    {
        const std::lock_guard lock(m_mutex);
        count = std::min(count, m_told.size());
        if (from >= count)
            return {};
        return { m_told.begin() + static_cast<std::ptrdiff_t>(from),
            m_told.begin() + static_cast<std::ptrdiff_t>(count) };
    }

private:
    mutable std::mutex m_mutex;
    std::vector<Clock::time_point> m_told;
    std::jthread m_thread; // last
};

int measureLatency(bench::Application& application, views::MainWindow& window, int seconds, int rate)
{
    const QTemporaryDir folder;
    chmod(qPrintable(folder.path()), 0700);
    test::FakeAllocator allocator;
    auto& agent = *new agent::Agent(allocator.hook(), test::FakeAllocator::kDevices);
    agent::AgentOptions options;
    options.live = agent::LiveOptions{};
    options.live->folder = folder.path().toStdString();
    if (!agent.start(options, { { "pid", std::to_string(getpid()) }, { "command", "train.py" } }))
        return 3;
    {
        Training training(allocator, rate);
        window.openFile(QStringLiteral("live:%1/%2.sock").arg(folder.path()).arg(getpid()));
        waitFor([&] { return !window.pending() && views::DocumentContent::of(window); });
        bench::Driver driver(application, window);
        views::Document& document = driver.document();
        for (const char* id : { "summary", "memory", "events" }) {
            views::Page& page = *driver.view().findPage(QLatin1String(id));
            driver.view().showPage(QLatin1String(id));
            waitMs(1'000);
            bench::Samples samples, came;
            const views::LiveSource& live = *views::DocumentContent::of(window)->active().live();
            std::size_t known = 0;
            const auto counting = QObject::connect(&live, &views::LiveSource::changed, &application, [&] {
                const auto now = static_cast<std::size_t>(live.latest()->find(0)->eventCount());
                for (const Clock::time_point& told : training.told(std::exchange(known, now), now))
                    came.wall.push_back(millisecondsSince(told));
            });
            known = static_cast<std::size_t>(live.latest()->find(0)->eventCount());
            int generations = 0;
            std::size_t seen = static_cast<std::size_t>(document.device()->trace->eventCount());
            const auto end = Clock::now() + std::chrono::seconds(seconds);
            while (Clock::now() < end) {
                // The frame behind a generation: the page has been told of it then.
                const auto before = document.device();
                waitFor([&] { return document.device() != before; });
                const auto shown = static_cast<std::size_t>(document.device()->trace->eventCount());
                application.watchPaint(page);
                waitFor([&] { return application.frame().has_value(); });
                for (const Clock::time_point& told : training.told(seen, shown))
                    samples.wall.push_back(millisecondsSince(told));
                seen = shown;
                ++generations;
            }
            QObject::disconnect(counting);
            came.cpu.resize(came.wall.size());
            samples.cpu.resize(samples.wall.size());
            bench::report("event to the window's thread", came, 0);
            std::printf("%.1f generations a second\n", static_cast<double>(generations) / seconds);
            bench::report(std::string("event to screen, ") + id, samples, 150);
        }
    }
    agent.stop();
    return 0;
}

std::int64_t residentMiB()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return -1;
    return file.readAll().split(' ').value(1).toLongLong() * sysconf(_SC_PAGESIZE) >> 20;
}

int watchRanks(
    bench::Application& application, views::MainWindow& window, int seconds, const QString& pictures)
{
    auto& content
        = dynamic_cast<views::AttachContent&>(window.kind(QLatin1String(views::AttachContent::kId)));
    window.showKind(QLatin1String(views::AttachContent::kId));
    views::AttachPage& page = content.page();
    waitFor([&] {
        for (int i = 0; i < page.list().topLevelItemCount(); ++i)
            if (QTreeWidgetItem* const item = page.list().topLevelItem(i); item->childCount() > 1)
                page.list().setCurrentItem(item);
        return page.list().chosenJob().size() > 1;
    });
    const auto ranks = page.list().chosenJob();
    const auto keep = [&](const QString& name) {
        if (!pictures.isEmpty() && QDir().mkpath(pictures))
            window.grab().save(QDir(pictures).filePath(name));
    };
    waitMs(3'000);
    keep(QStringLiteral("attach.png"));
    page.watchRanks();
    const views::LiveRanks& watched = *page.ranks().ranks();
    waitFor([&] {
        return std::ranges::all_of(watched.ranks(), [](const auto& rank) { return rank.data != nullptr; });
    });
    std::printf("%zu ranks, all shown\n", ranks.size());
    application.watchForStalls();
    double longest = 0, work = 0;
    std::vector<double> gaps;
    for (int second = 0; second < seconds; ++second) {
        waitMs(1'000);
        const auto stalls = application.endWatch();
        application.watchForStalls();
        longest = std::max(longest, stalls.longestMs);
        work = std::max(work, stalls.longestWorkMs);
        gaps.push_back(stalls.longestMs);
        if (second % 10 == 9 || second + 1 == seconds) {
            std::int64_t events = 0, lost = 0;
            for (const auto& rank : watched.ranks()) {
                events += rank.data->trace().eventCount();
                lost += std::ssize(rank.data->session->recording().lost);
            }
            std::printf("%4d s: %lld events, %lld lost, longest gap so far %.1f ms, %lld MiB resident\n",
                second + 1, static_cast<long long>(events), static_cast<long long>(lost), longest,
                static_cast<long long>(residentMiB()));
            std::fflush(stdout);
        }
    }
    keep(QStringLiteral("ranks.png"));
    std::ranges::sort(gaps);
    std::printf(
        "longest gap of the event loop %.1f ms, of it own work %.1f ms at most; of each second: median %.1f "
        "ms, p99 %.1f ms (30 frames a second: 33.3)\n",
        longest, work, gaps[gaps.size() / 2], gaps[gaps.size() * 99 / 100]);
    return 0;
}

/// Many events a second, in pieces of five milliseconds.
class Hurry {
public:
    Hurry(test::FakeAllocator& allocator, int eventsPerSecond)
        : m_thread([&allocator, eventsPerSecond](const std::stop_token& stop) {
            auto due = Clock::now();
            std::vector<std::uint64_t> held;
            for (std::int64_t i = 0; !stop.stop_requested(); ++i) {
                std::this_thread::sleep_until(due += 5ms);
                for (int event = 0; event < eventsPerSecond / 200 / 3; ++event) { // three events a pair
                    held.push_back(allocator.allocate(0, 1024 * (1 + (i / 40 + event) % 500)));
                    if (held.size() > 400) {
                        allocator.release(0, held[static_cast<std::size_t>(event) % held.size()]);
                        held[static_cast<std::size_t>(event) % held.size()] = held.back();
                        held.pop_back();
                    }
                }
            }
        })
    {
    }

private:
    std::jthread m_thread;
};

int watchForADay(bench::Application& application, views::MainWindow& window, QSettings& settings, int seconds,
    int rate, int millions)
{
    const QTemporaryDir folder;
    chmod(qPrintable(folder.path()), 0700);
    test::FakeAllocator allocator;
    allocator.stopLogging();
    auto& agent = *new agent::Agent(allocator.hook(), test::FakeAllocator::kDevices);
    agent::AgentOptions options;
    options.ringEvents = 1 << 20;
    options.live = agent::LiveOptions{};
    options.live->folder = folder.path().toStdString();
    if (!agent.start(options, { { "pid", std::to_string(getpid()) }, { "command", "train.py" } }))
        return 3;
    settings.setValue(QStringLiteral("live/millionsOfEvents"), millions);
    {
        const Hurry training(allocator, rate);
        window.openFile(QStringLiteral("live:%1/%2.sock").arg(folder.path()).arg(getpid()));
        waitFor([&] { return !window.pending() && views::DocumentContent::of(window); });
        const views::DocumentPane& pane = views::DocumentContent::of(window)->active();
        pane.view().showPage(QStringLiteral("memory"));
        int generations = 0;
        QObject::connect(
            &pane.document(), &views::Document::grown, &application, [&generations] { ++generations; });
        double longest = 0;
        std::int64_t most = 0;
        std::vector<double> gaps;
        bench::Samples frames;
        application.watchForStalls();
        for (int second = 1; second <= seconds; ++second) {
            waitMs(1'000);
            const auto stalls = application.endWatch();
            application.watchForStalls();
            longest = std::max(longest, stalls.longestMs);
            gaps.push_back(stalls.longestMs);
            frames.wall.insert(frames.wall.end(), stalls.framesMs.begin(), stalls.framesMs.end());
            most = std::max(most, residentMiB());
            if (second % 20 != 0 && second != seconds)
                continue;
            const auto device = pane.document().device();
            const std::int64_t kept = device ? device->trace->eventCount() : 0;
            const auto& status = pane.live()->status();
            std::printf(
                "%4d s: %lld events shown, %lld as curves, %lld lost, %.1f generations a second, longest "
                "gap %.1f ms, %lld MiB resident\n",
                second, static_cast<long long>(kept), static_cast<long long>(status.thinned),
                static_cast<long long>(device ? device->session->recording().lost.size() : 0),
                generations / 20.0, longest, static_cast<long long>(residentMiB()));
            std::fflush(stdout);
            generations = 0;
            longest = 0;
        }
        if (const QString pictures = qEnvironmentVariable("STRATA_PICTURES"); !pictures.isEmpty())
            window.grab().save(QDir(pictures).filePath(QStringLiteral("day.png")));
        std::ranges::sort(gaps);
        std::printf("longest gap of each second: median %.1f ms, p99 %.1f ms; at most %lld MiB resident\n",
            gaps[gaps.size() / 2], gaps[gaps.size() * 99 / 100], static_cast<long long>(most));
        frames.cpu.resize(frames.wall.size());
        bench::report("to paint a frame", frames, 16);
    }
    agent.stop();
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    bench::Application application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    const QTemporaryDir scratch;
    qputenv("XDG_DATA_HOME", scratch.path().toUtf8());
    QSettings settings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    views::Theme theme(application);
    theme.choose(views::Theme::fromName(qEnvironmentVariable("STRATA_THEME", QStringLiteral("light"))));
    const views::ContentList contents = gui::windowContents();
    views::MainWindow window(theme, settings, contents);
    const QString size = qEnvironmentVariable("STRATA_SIZE", QStringLiteral("1280x800"));
    window.resize(size.section(QLatin1Char('x'), 0, 0).toInt(), size.section(QLatin1Char('x'), 1, 1).toInt());
    window.show();
    if (arguments.value(1) == QLatin1String("latency"))
        return measureLatency(application, window, arguments.value(2, QStringLiteral("10")).toInt(),
            arguments.value(3, QStringLiteral("1000")).toInt());
    if (arguments.value(1) == QLatin1String("ranks"))
        return watchRanks(
            application, window, arguments.value(2, QStringLiteral("10")).toInt(), arguments.value(3));
    if (arguments.value(1) == QLatin1String("day"))
        return watchForADay(application, window, settings, arguments.value(2, QStringLiteral("20")).toInt(),
            arguments.value(3, QStringLiteral("200000")).toInt(),
            arguments.value(4, QStringLiteral("10")).toInt());
    std::fprintf(stderr,
        "usage: measure_live_window latency [SECONDS] [RATE] | ranks SECONDS [FOLDER] | "
        "day SECONDS [RATE] [MILLIONS]\n");
    return 2;
}
