// SPDX-License-Identifier: GPL-3.0-or-later
// How long the page "Memory over time" takes from an input to a frame that shows it, and to full detail.
//
//     bench_paint [FILE] [--events N] [--size 1920x1080] [--bars]
//
// Without FILE it makes a recording of N events (two million). Inputs come every 16.7 ms, as on a screen of
// 60 Hz, and a frame's time counts from when its input was due: what the event loop is busy with then, such
// as painting the details of the zoom before, counts too. --bars: exit 1 if a bar is missed.
#include "model/analysis/groups.h"
#include "tests/support/device_data.h"
#include "tests/support/random_recording.h"
#include "views/widgets/memory/memory_canvas.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QWheelEvent>

#include <algorithm>
#include <cstdio>
#include <random>

using namespace strata;
using views::MemoryCanvas;
using views::PictureMode;

namespace {

constexpr double kFrameMs = 1000.0 / 60;
bool g_missed = false;

class Clock {
public:
    Clock() { m_timer.start(); }
    [[nodiscard]] double ms() const { return static_cast<double>(m_timer.nsecsElapsed()) / 1e6; }

private:
    QElapsedTimer m_timer;
};

void report(const char* what, std::vector<double> ms, double bar)
{
    if (ms.empty())
        return;
    std::sort(ms.begin(), ms.end());
    const auto at = [&](double share) {
        return ms[std::min(ms.size() - 1, static_cast<std::size_t>(share * static_cast<double>(ms.size())))];
    };
    const double p99 = at(0.99);
    const bool missed = p99 > bar;
    g_missed = g_missed || missed;
    std::printf("%-34s n %5zu  median %7.2f  p99 %7.2f  max %7.2f ms   bar %4.0f%s\n", what, ms.size(),
        at(0.5), p99, ms.back(), bar, missed ? "  MISSED" : "");
    std::fflush(stdout);
}

/// Runs the event loop for as long as `until` says; with `idle` false it returns when nothing is left to do.
template <class Until> void spin(const Until& until)
{
    while (!until())
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 1);
}

void turnWheel(MemoryCanvas& canvas, double x, int notches)
{
    const QPointF at(x, canvas.height() * 0.5);
    QWheelEvent event(at, canvas.mapToGlobal(at), {}, { 0, 120 * notches }, Qt::NoButton, Qt::NoModifier,
        Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas, &event);
}

double pointOf(MemoryCanvas& canvas, model::EventIndex e)
{
    const double x = canvas.scene().pointOfEvent(e) + 0.5;
    return std::clamp(x, double(canvas.scene().layout.left()), canvas.scene().layout.picture.right() + 0.5);
}

/// From all to one event at `e` and back, an input a frame; notes each input's time to its frame.
void zoomInAndOut(MemoryCanvas& canvas, model::EventIndex e, std::vector<double>& frames)
{
    const Clock clock;
    double due = 0;
    const auto step = [&](int notches) {
        due = std::max(due + kFrameMs, clock.ms());
        spin([&] { return clock.ms() >= due; });
        turnWheel(canvas, pointOf(canvas, e), notches);
        canvas.repaint();
        frames.push_back(clock.ms() - due);
    };
    const double narrow = views::XMapping::narrowest(canvas.viewport().axis());
    for (int i = 0; i < 200 && canvas.viewport().x().width() > narrow; ++i)
        step(1);
    for (int i = 0; i < 200 && canvas.viewport().x() != canvas.viewport().xLimits(); ++i)
        step(-1);
    spin([&] { return !canvas.store().busy(); });
}

/// Jumps to views of all widths and waits until the frame with full detail is there.
void jumpAround(MemoryCanvas& canvas, std::vector<double>& details)
{
    std::mt19937 random(11);
    const views::Span all = canvas.viewport().xLimits();
    bool painted = false;
    const auto connection = QObject::connect(&canvas, &MemoryCanvas::detailed, &canvas, [&] {
        canvas.repaint();
        painted = true;
    });
    for (int i = 0; i < 60; ++i) {
        const double width = all.width() * std::pow(0.7, double(random() % 30));
        const double begin = all.begin + (all.width() - width) * double(random() % 1000) / 1000.0;
        painted = false;
        const Clock clock;
        canvas.viewport().showX({ begin, begin + width });
        if (canvas.store().detailed())
            continue;
        spin([&] { return painted; });
        details.push_back(clock.ms());
        spin([&] { return !canvas.store().busy(); });
    }
    QObject::disconnect(connection);
    canvas.viewport().showAll();
    spin([&] { return !canvas.store().busy(); });
}

void benchMode(MemoryCanvas& canvas, PictureMode mode, model::Axis axis)
{
    canvas.setMode(mode);
    canvas.setAxis(axis);
    if (canvas.viewport().axis() != axis)
        return;
    canvas.viewport().showAll();
    spin([&] { return !canvas.store().busy(); });
    const auto name = [&](const char* what) {
        return std::string(mode == PictureMode::Stacked ? "stacked" : "blocks")
            + (axis == model::Axis::Events ? " by event, " : " by time, ") + what;
    };
    const model::EventIndex events = canvas.scene().device->trace->eventCount();
    std::vector<double> frames, details;
    for (const model::EventIndex e :
        { canvas.scene().device->trace->totals().requestedPeakEvent, events / 3, events - 1, events / 7 * 5 })
        zoomInAndOut(canvas, std::max<model::EventIndex>(e, 0), frames);
    jumpAround(canvas, details);
    report(name("frame").c_str(), frames, 16);
    report(name("full detail").c_str(), details, 100);
}

void benchQuestions(MemoryCanvas& canvas, const views::PictureSubject& subject)
{
    canvas.setAxis(model::Axis::Events);
    canvas.setMode(PictureMode::Blocks);
    spin([&] { return !canvas.store().busy(); });
    canvas.repaint();
    std::mt19937 random(5);
    const QRect area = canvas.scene().layout.picture;
    std::vector<double> picks, gos, lives;
    for (int i = 0; i < 300; ++i) {
        const QPointF at(area.left() + int(random() % unsigned(area.width())),
            area.top() + int(random() % unsigned(area.height())));
        const Clock clock;
        const views::Hit hit = views::hitAt(canvas.scene(), subject, canvas.store().stacked(), at);
        (void)views::cardFor(canvas.scene(), subject, hit);
        picks.push_back(clock.ms());
    }
    const model::EventIndex events = canvas.scene().device->trace->eventCount();
    for (const PictureMode mode : { PictureMode::Blocks, PictureMode::Stacked }) {
        canvas.setMode(mode);
        canvas.viewport().showX({ double(events) / 2, double(events) / 2 + 5000 });
        for (int i = 0; i < 60; ++i) {
            spin([&] { return !canvas.store().busy(); });
            const auto e = static_cast<model::EventIndex>(random() % std::uint64_t(events));
            const Clock clock;
            canvas.setSelection(views::EventRange{ e, e });
            canvas.viewport().reveal(e);
            canvas.repaint();
            gos.push_back(clock.ms());
        }
    }
    for (int i = 0; i < 60; ++i) {
        const auto e = static_cast<model::EventIndex>(random() % std::uint64_t(events));
        const Clock clock;
        (void)model::groupsAt(*canvas.scene().device->timeline, *subject.groups->table, e);
        lives.push_back(clock.ms());
    }
    report("pick under the cursor", picks, 5);
    report("go to event", gos, 20);
    report("live set at event", lives, 100);
}

std::shared_ptr<const views::DeviceData> load(const QString& path, std::int64_t events)
{
    if (path.isEmpty())
        return test::makeDeviceData(test::randomRecording(
            { .events = events, .liveBlocks = 800, .stacks = 300, .deferredFrees = 0.02 }));
    const auto session = model::Session::open(path.toStdString(), { .force = true });
    if (!session) {
        std::fprintf(stderr, "bench_paint: %s\n", session.error().text().c_str());
        return nullptr;
    }
    return test::makeDeviceData(*session, (*session)->defaultDevice()->device());
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    QString path;
    std::int64_t events = 2'000'000;
    QSize size(1920, 1080);
    bool bars = false;
    const QStringList arguments = QCoreApplication::arguments().mid(1);
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const QString& argument = arguments[i];
        if (argument == QLatin1String("--events") && i + 1 < arguments.size())
            events = arguments[++i].toLongLong();
        else if (argument == QLatin1String("--size") && i + 1 < arguments.size()) {
            const QStringList parts = arguments[++i].split(QLatin1Char('x'));
            size = { parts.value(0).toInt(), parts.value(1).toInt() };
        } else if (argument == QLatin1String("--bars"))
            bars = true;
        else
            path = argument;
    }
    const Clock clock;
    const auto device = load(path, events);
    if (!device)
        return 3;
    std::printf("%lld events, %lld blocks, ready after %.1f s; %dx%d at ratio %g on %s\n",
        static_cast<long long>(device->trace->eventCount()),
        static_cast<long long>(device->trace->blocks().size()), clock.ms() / 1000, size.width(),
        size.height(), qApp->devicePixelRatio(), qPrintable(QGuiApplication::platformName()));

    MemoryCanvas canvas;
    canvas.resize(size);
    canvas.show();
    const views::PictureSubject subject{ views::makeGroupData(device, model::Grouping::Line, {}), nullptr };
    canvas.setDevice(device);
    canvas.setSubject(subject);
    for (const PictureMode mode : { PictureMode::Stacked, PictureMode::Blocks })
        for (const model::Axis axis : { model::Axis::Events, model::Axis::Time })
            benchMode(canvas, mode, axis);
    benchQuestions(canvas, subject);
    return bars && g_missed ? 1 : 0;
}
