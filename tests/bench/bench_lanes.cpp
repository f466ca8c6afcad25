// SPDX-License-Identifier: GPL-3.0-or-later
// How long the lanes of the page Timeline take to be laid out, painted, searched and pointed at, however many
// pieces of work there are:
//
//     bench_lanes [--pieces 5000000] [--bars] [--cpu]
//
// Four threads with calls nested eight deep, four streams, memory, and for every 20 pieces or so a segment
// that the allocator takes or gives back, of which some are refused. 1920x1080, software rendering, at every
// zoom from all of it to a microsecond. --bars: exit 1 if a frame takes more than 16 ms at the 99th
// percentile, a search more than 200 ms, or pointing more than 5 ms. --cpu: the time of
// the processor alone, where other programs run beside it.
#include "model/base/words.h"
#include "tests/bench/cpu_time.h"
#include "views/widgets/timeline/lanes_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace strata;

namespace {

constexpr double kFrameBar = 16, kFindBar = 200, kPickBar = 5;
constexpr int kThreads = 4, kStreams = 4, kDepth = 8, kNames = 500;

std::unique_ptr<model::Recording> training(std::int64_t pieces)
{
    auto recording = std::make_unique<model::Recording>();
    auto& work = recording->parts.get<model::Work>();
    std::mt19937_64 random(1);
    std::vector<model::StringId> names;
    for (int i = 0; i < kNames; ++i)
        names.push_back(
            recording->strings.intern("aten::operator_number_" + std::to_string(i) + "<float, 4>"));
    for (int i = 0; i < kThreads + kStreams; ++i) {
        model::WorkLane lane;
        lane.process = 1;
        lane.thread = i;
        if (i >= kThreads) {
            lane.device = 0;
            lane.stream = i;
        }
        work.lanes.push_back(lane);
    }
    std::vector<std::int64_t> now(kThreads + kStreams, 1'700'000'000'000'000'000);
    std::uint32_t correlation = 0;
    const auto add
        = [&](model::LaneIndex lane, model::WorkKind kind, std::int64_t start, std::int64_t length) {
              model::WorkSpan span;
              span.startNs = start;
              span.durationNs = length;
              span.name = names[random() % kNames];
              span.lane = lane;
              span.kind = kind;
              if (kind == model::WorkKind::Runtime || kind == model::WorkKind::Kernel)
                  span.correlation = correlation;
              work.spans.push_back(span);
          };
    model::DeviceRecording device;
    const auto mark = [&](model::Action action, std::int64_t timeNs) {
        device.events.action.push_back(action);
        device.events.address.push_back(std::uint64_t{ 1 } << 40);
        device.events.bytes.push_back(2 << 20);
        device.events.timeNs.push_back(timeNs);
        device.events.stack.push_back(model::StackId{});
        device.events.stream.push_back(model::kNoIndex);
        device.events.pool.push_back(model::kNoIndex);
    };
    std::int64_t marked = now.front(); // in order of time
    while (std::ssize(work.spans) < pieces) {
        const auto thread = static_cast<model::LaneIndex>(random() % kThreads);
        std::int64_t start = now[thread], length = 4000 + static_cast<std::int64_t>(random() % 40'000);
        now[thread] += length + static_cast<std::int64_t>(random() % 3000);
        for (int depth = 0; depth < kDepth - 1; ++depth, start += 100, length -= 300)
            add(thread, model::WorkKind::Operator, start, length);
        ++correlation;
        add(thread, model::WorkKind::Runtime, start, length);
        const auto stream = static_cast<model::LaneIndex>(kThreads + random() % kStreams);
        std::int64_t& free = now[stream];
        free = std::max(free, start) + 500;
        const auto took = static_cast<std::int64_t>(random() % 30'000);
        add(stream, model::WorkKind::Kernel, free, took);
        free += took;
        if (random() % 2 == 0) {
            marked = std::max(marked, start);
            mark(random() % 1000 == 0               ? model::Action::Oom
                    : device.events.size() % 2 == 0 ? model::Action::SegmentMap
                                                    : model::Action::SegmentUnmap,
                marked);
        }
        if (random() % 4 == 0)
            work.memory.push_back(
                { start, 1, 512, static_cast<std::int64_t>(random() % (1U << 30)), 1 << 30, 1, 0 });
    }
    recording->devices.push_back(std::move(device));
    return recording;
}

double percentile(std::vector<double> times, double share)
{
    std::ranges::sort(times);
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication app(argc, argv);
    std::int64_t pieces = 5'000'000;
    bool bars = false, byCpu = false;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--bars")
            bars = true;
        else if (std::string(argv[i]) == "--cpu")
            byCpu = true;
        else if (std::string(argv[i]) == "--pieces" && i + 1 < argc)
            pieces = std::strtoll(argv[++i], nullptr, 10);
    }
    QElapsedTimer clock;
    double cpuMs = 0;
    const auto start = [&] {
        clock.start();
        cpuMs = bench::cpuMilliseconds();
    };
    const auto elapsedMs = [&] {
        return byCpu ? bench::cpuMilliseconds() - cpuMs : static_cast<double>(clock.nsecsElapsed()) / 1e6;
    };
    auto session = model::Session::fromRecording(training(pieces));
    if (!session) {
        std::fprintf(stderr, "%s\n", session.error().text().c_str());
        return 1;
    }
    start();
    const auto data = views::LanesData::of(*std::move(session));
    std::printf("%lld pieces on %zu tracks, %u marks: laid out in %.0f ms\n", static_cast<long long>(pieces),
        data->tracks().tracks().size(), data->marks().size(), elapsedMs());

    views::LanesView view;
    view.setColours(views::Palette::light());
    view.resize(1920, 1080);
    start();
    view.setData(data);
    std::printf("shown after %.1f ms\n", elapsedMs());
    QImage image(1920, 1080, QImage::Format_RGB32);
    std::mt19937 random(7);
    std::vector<double> frames, picks;
    const double length = static_cast<double>(data->tracks().lengthNs());
    double worstWidth = 0, worst = 0;
    for (int turn = 0; turn < 400; ++turn) {
        const double width = length * std::pow(1000.0 / length, (turn % 100) / 99.0);
        const double begin = (length - width) * (static_cast<double>(random() % 1000) / 1000);
        view.showSpan({ begin, begin + width });
        view.verticalScrollBar()->setValue(
            static_cast<int>(random() % static_cast<unsigned>(view.verticalScrollBar()->maximum() + 1)));
        start();
        view.render(&image);
        frames.push_back(elapsedMs());
        if (frames.back() > worst) {
            worst = frames.back();
            worstWidth = width;
        }
        start();
        const auto piece = view.pieceAt(
            { 200 + static_cast<int>(random() % 1700), 30 + static_cast<int>(random() % 900) });
        if (piece)
            (void)data->partnerOf(*piece);
        picks.push_back(elapsedMs());
    }
    std::vector<double> finds;
    for (const char* text : { "operator_number_77", "number_1", "float", "nothing" }) {
        start();
        view.find(QString::fromLatin1(text));
        (void)view.nextFound(true);
        finds.push_back(elapsedMs());
    }
    view.showSpan({ 0, length });
    start();
    view.render(&image);
    const double searched = elapsedMs();
    std::printf("a frame: p50 %.1f ms, p99 %.1f ms, most %.1f ms (%.0f us in view); while searching %.1f ms\n"
                "finding a name: %.0f ms at most; pointing: %.3f ms at most\n",
        percentile(frames, 0.5), percentile(frames, 0.99), worst, worstWidth / 1e3, searched,
        *std::ranges::max_element(finds), *std::ranges::max_element(picks));
    const bool met = percentile(frames, 0.99) <= kFrameBar && *std::ranges::max_element(finds) <= kFindBar
        && *std::ranges::max_element(picks) <= kPickBar;
    return bars && !met ? 1 : 0;
}
