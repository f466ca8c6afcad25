// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/window_driver.h"

#include "resources/resources.h"
#include "views/contents/document/document_view.h"

#include <QMouseEvent>
#include <QThreadPool>
#include <QWheelEvent>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace strata::bench {

namespace {

constexpr double kFrameMs = 1000.0 / 60;
constexpr double kGivenUpMs = 20'000;

struct Figures {
    double median, p99, max;
};

Figures figuresOf(std::vector<double> ms)
{
    std::sort(ms.begin(), ms.end());
    const auto at = [&](double share) {
        return ms[std::min(ms.size() - 1, static_cast<std::size_t>(share * static_cast<double>(ms.size())))];
    };
    return { at(0.5), at(0.99), ms.back() };
}

} // namespace

bool report(const std::string& what, const Samples& samples, double barMs)
{
    if (samples.wall.empty()) {
        std::printf("%-36s nothing to measure\n", what.c_str());
        return true;
    }
    const Figures wall = figuresOf(samples.wall), cpu = figuresOf(samples.cpu);
    const bool missed = barMs > 0 && wall.p99 > barMs;
    std::printf("%-36s n %5zu  p50 %7.2f  p99 %7.2f  max %7.2f ms  (cpu p50 %6.2f  p99 %6.2f)", what.c_str(),
        samples.wall.size(), wall.median, wall.p99, wall.max, cpu.median, cpu.p99);
    if (barMs > 0)
        std::printf("  bar %3.0f%s", barMs, missed ? "  MISSED" : "");
    std::printf("\n");
    std::fflush(stdout);
    return !missed;
}

namespace {

int& prepared(int& argc)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    initResources();
    return argc;
}

} // namespace

Application::Application(int& argc, char** argv)
    : QApplication(prepared(argc), argv)
{
    QThreadPool* pool = QThreadPool::globalInstance(); // as the program itself does
    pool->setMaxThreadCount(std::max(pool->maxThreadCount(), 4));
    m_clock.start();
    m_heart.setTimerType(Qt::PreciseTimer);
    m_heart.setInterval(1);
    connect(&m_heart, &QTimer::timeout, this, [this] {
        const double now = nowMs(), cpu = threadMs();
        m_stalls.longestMs = std::max(m_stalls.longestMs, now - m_lastBeat);
        m_stalls.longestWorkMs = std::max(m_stalls.longestWorkMs, cpu - m_lastBeatCpu);
        m_lastBeat = now;
        m_lastBeatCpu = cpu;
    });
}

double Application::threadMs()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

bool Application::notify(QObject* receiver, QEvent* event)
{
    const QEvent::Type type = event->type();
    if (type == QEvent::Paint && m_watched && receiver->isWidgetType()
        && (receiver == m_watched || m_watched->isAncestorOf(static_cast<QWidget*>(receiver))))
        m_painted = true;
    if (!m_watching || m_depth > 0) {
        const bool handled = QApplication::notify(receiver, event);
        noteFrame(type);
        return handled;
    }
    const std::string name = receiver->metaObject()->className();
    ++m_depth;
    const double before = threadMs(), beforeWall = nowMs();
    const bool handled = QApplication::notify(receiver, event);
    const double spent = threadMs() - before;
    --m_depth;
    if (type == QEvent::UpdateRequest && receiver->isWidgetType()
        && static_cast<QWidget*>(receiver)->isWindow())
        m_stalls.framesMs.push_back(nowMs() - beforeWall);
    noteFrame(type);
    if (spent > m_stalls.longestEventMs) {
        m_stalls.longestEventMs = spent;
        m_stalls.longestEvent = "event " + std::to_string(type) + " to " + name;
    }
    if (spent > 10 && qEnvironmentVariableIsSet("STRATA_BENCH_EVENTS"))
        std::printf("    %6.1f ms at %8.1f: event %d to %s\n", spent, nowMs(), int(type), name.c_str());
    return handled;
}

void Application::noteFrame(QEvent::Type served)
{
    if (!m_painted || served != QEvent::UpdateRequest || m_frame)
        return;
    m_frame = Moment{ nowMs(), threadMs() };
}

void Application::watchPaint(const QWidget& widget)
{
    m_watched = &widget;
    m_painted = false;
    m_frame.reset();
}

void Application::watchForStalls()
{
    m_stalls = {};
    m_lastBeat = nowMs();
    m_lastBeatCpu = threadMs();
    m_watching = true;
    m_heart.start();
}

Application::Stalls Application::endWatch()
{
    m_heart.stop();
    m_watching = false;
    return m_stalls;
}

views::Page& Driver::show(const QString& page)
{
    view().showPage(page);
    views::Page& shown = *view().findPage(page);
    waitUntilQuiet(shown);
    return shown;
}

void Driver::waitUntilQuiet(const views::Page& page)
{
    for (int quiet = 0; quiet < 3;) {
        waitFor([&] { return !document().working() && !page.busy(); });
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        quiet = document().working() || page.busy() ? 0 : quiet + 1;
    }
}

void Driver::waitFor(const std::function<bool()>& done)
{
    QTimer wake;
    wake.start(20);
    const double since = m_application.nowMs();
    while (!done()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        if (m_application.nowMs() - since > kGivenUpMs) {
            std::fprintf(stderr, "bench_paint: given up: no frame, or no end of work, within %.0f s\n",
                kGivenUpMs / 1000);
            std::exit(1);
        }
    }
}

void Driver::waitUntilDue()
{
    m_due = std::max(m_due + kFrameMs, m_application.nowMs());
    while (m_application.nowMs() < m_due) {
        QTimer wake;
        wake.setTimerType(Qt::PreciseTimer);
        wake.start(std::max(static_cast<int>(m_due - m_application.nowMs()), 0));
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

void Driver::frame(QWidget& watched, const std::function<void()>& input, Samples& samples)
{
    waitUntilDue();
    m_application.watchPaint(watched);
    const double cpu = Application::threadMs();
    input();
    waitFor([&] { return m_application.frame().has_value(); });
    samples.cpu.push_back(m_application.frame()->cpuMs - cpu);
    samples.wall.push_back(m_application.frame()->ms - m_due);
}

void Driver::detail(
    QWidget& watched, const std::function<void()>& input, const std::function<bool()>& done, Samples& samples)
{
    waitUntilDue();
    const double cpu = Application::threadMs();
    input();
    waitFor(done);
    m_application.watchPaint(watched);
    // A page under opaque children has nothing to paint of its own.
    watched.update();
    for (QWidget* part : watched.findChildren<QWidget*>())
        part->update();
    waitFor([&] { return m_application.frame().has_value(); });
    samples.cpu.push_back(m_application.frame()->cpuMs - cpu);
    samples.wall.push_back(m_application.frame()->ms - m_due);
}

void turnWheel(QWidget& widget, QPointF at, int notches)
{
    QWheelEvent event(at, widget.mapToGlobal(at), {}, { 0, 120 * notches }, Qt::NoButton, Qt::NoModifier,
        Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&widget, &event);
}

void clickAt(QWidget& widget, QPointF at)
{
    for (const auto type : { QEvent::MouseButtonPress, QEvent::MouseButtonRelease }) {
        QMouseEvent event(type, at, widget.mapToGlobal(at), Qt::LeftButton,
            type == QEvent::MouseButtonPress ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&widget, &event);
    }
}

} // namespace strata::bench
