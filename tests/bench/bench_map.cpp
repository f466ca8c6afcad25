// SPDX-License-Identifier: GPL-3.0-or-later
// How long the address map takes to be laid out and painted, however many blocks it has:
//
//     bench_map [--blocks 120000] [--bars]
//
// The blocks are of all sizes, a third of them free, in segments as the allocator makes them. Software
// rendering. --bars: exit 1 if a frame takes more than 16 ms.
#include "tests/support/make_recording.h"
#include "views/models/document/document.h"
#include "views/shell/theme.h"
#include "views/widgets/allocator/address_map.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace strata;

namespace {

constexpr double kFrameBar = 16;
constexpr std::int64_t kMiB = 1 << 20;

/// Small segments with blocks of 512 B to 64 KiB and large ones with blocks of 1 to 8 MiB; ends with some of
/// them freed.
std::string program(int blocks, std::mt19937& random)
{
    std::string text;
    std::vector<std::pair<std::int64_t, std::int64_t>> live;
    std::int64_t next = std::int64_t{ 1 } << 40;
    const auto line = [&](const char* action, std::int64_t address, std::int64_t bytes) {
        text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes) + "\n";
    };
    while (std::ssize(live) < blocks) {
        const bool small = random() % 10 != 0;
        const std::int64_t segment = small ? 2 * kMiB : 40 * kMiB;
        line("segment_alloc", next, segment);
        for (std::int64_t used = 0; std::ssize(live) < blocks;) {
            const std::int64_t bytes
                = small ? 512 * (1 + random() % 128) : kMiB + 512 * (1 + random() % 14'000);
            if (used + bytes > segment)
                break;
            line("alloc", next + used, bytes);
            live.emplace_back(next + used, bytes);
            used += bytes;
        }
        next += 64 * kMiB;
    }
    for (const auto& [address, bytes] : live)
        if (random() % 3 == 0) {
            line("free_requested", address, bytes);
            line("free_completed", address, bytes);
        }
    return text;
}

bool report(const char* what, std::vector<double> times, double bar)
{
    std::ranges::sort(times);
    const double p99 = times[times.size() * 99 / 100];
    std::printf("%-44s median %7.2f ms   p99 %7.2f ms%s\n", what, times[times.size() / 2], p99,
        bar > 0 && p99 > bar ? "  MISSED" : "");
    return bar <= 0 || p99 <= bar;
}

template <class Work> void timed(std::vector<double>& times, Work&& work)
{
    QElapsedTimer timer;
    timer.start();
    work();
    times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
}

bool paintAll(
    const std::shared_ptr<const views::MapPicture>& picture, const QSize& size, std::mt19937& random)
{
    views::AddressMap map;
    map.resize(size);
    map.setColours(views::Palette::dark());
    map.setPicture(picture);
    map.show();
    QCoreApplication::processEvents();
    QImage frame(map.viewport()->size(), QImage::Format_RGB32);
    bool met = true;
    for (const bool normalised : { false, true }) {
        map.setNormalised(normalised);
        std::vector<double> times;
        for (const double zoom : { 1.0, 1.0 / 64, 8.0, 64.0, 1.0 / 8 }) {
            map.showAll();
            map.zoomBy(zoom);
            for (int i = 0; i < 40; ++i) {
                map.verticalScrollBar()->setValue(static_cast<int>(
                    random() % static_cast<unsigned>(map.verticalScrollBar()->maximum() + 1)));
                timed(times, [&] { map.viewport()->render(&frame, {}, {}, QWidget::RenderFlags()); });
            }
        }
        const std::string what = "paint " + std::to_string(size.width()) + "x" + std::to_string(size.height())
            + (normalised ? ", normalised" : ", to scale");
        met = report(what.c_str(), times, kFrameBar) && met;
    }
    return met;
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    int blocks = 120'000;
    bool bars = false;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--bars")
            bars = true;
        else if (std::string(argv[i]) == "--blocks" && i + 1 < argc)
            blocks = std::max(1, std::atoi(argv[++i]));
    }
    views::Theme theme(application); // the size of texts
    std::mt19937 random(7);
    const auto session = model::Session::fromRecording(test::makeRecording(program(blocks, random)));
    if (!session)
        return 2;
    views::Document document;
    document.leaveReplaysOut(); // sizes are rounded already
    document.follow();
    document.show(*session);
    document.endFollowing();
    while (!document.device() || document.working())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    const auto device = document.device();
    const model::EventIndex events = device->trace->eventCount();
    std::vector<double> layouts;
    std::shared_ptr<const views::MapPicture> picture;
    for (int i = 0; i < 20; ++i)
        timed(layouts, [&] { picture = views::mapPicture(device, events - 1); });
    std::printf("%lld events; %zu stretches in %zu segments\n", static_cast<long long>(events),
        picture->map.blocks.size(), picture->map.segments.size());
    report("lay out", layouts, 0);
    bool met = true;
    for (const QSize size : { QSize(1280, 800), QSize(2560, 1440) })
        met = paintAll(picture, size, random) && met;
    return bars && !met ? 1 : 0;
}
