// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes from an event to the screen: `strata attach` on a terminal of its own watches this
// process, which allocates a block that is known by its size, and looks for that size on the screen. Other
// events come meanwhile, so many a second. At last it is stopped (SIGSTOP) for so many seconds: how long the
// program that allocates had to wait at most, and when the screen was there again.
//
// usage: measure_terminal STRATA [SAMPLES [EVENTS_A_SECOND [ROWSxCOLUMNS [SECONDS_STOPPED]]]]
#include "capture/agent/agent.h"
#include "model/base/units.h"
#include "tests/capture/fake_allocator.h"
#include "tests/support/terminal.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace strata;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;

/// Allocates and frees at a steady rate.
void traffic(test::FakeAllocator& allocator, int eventsASecond, std::atomic<std::int64_t>& longestUs,
    const std::stop_token& stop)
{
    auto next = Clock::now();
    while (!stop.stop_requested()) {
        const auto begin = Clock::now();
        for (int i = 0; i < eventsASecond / 300; ++i) // of three events, a hundred times a second
            allocator.release(0, allocator.allocate(0, 1024 + i));
        longestUs = std::max<std::int64_t>(
            longestUs, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
        std::this_thread::sleep_until(next += 10ms);
    }
}

double quantile(const std::vector<double>& sorted, double share)
{
    return sorted[std::min(
        sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr,
            "usage: measure_terminal STRATA [SAMPLES [EVENTS_A_SECOND [ROWSxCOLUMNS "
            "[SECONDS_STOPPED]]]]\n");
        return 2;
    }
    const int samples = argc > 2 ? std::atoi(argv[2]) : 200;
    const int rate = argc > 3 ? std::atoi(argv[3]) : 1000;
    test::OnTerminal::Options size;
    if (argc > 4)
        (void)std::sscanf(argv[4], "%dx%d", &size.rows, &size.columns);
    const int stopped = argc > 5 ? std::atoi(argv[5]) : 0;
    size.environment = { { "TERM", "xterm-256color" }, { "LC_ALL", "C.UTF-8" } };
    std::string folder = "/tmp/strata-measure-XXXXXX";
    if (!mkdtemp(folder.data()))
        return 1;
    test::FakeAllocator allocator;
    auto& agent = *new agent::Agent(allocator.hook(), test::FakeAllocator::kDevices);
    agent::AgentOptions options;
    options.file = folder + "/run.strata";
    options.ringEvents = 1 << 20;
    options.live = agent::LiveOptions{};
    options.live->folder = folder;
    if (!agent.start(options, { { "format", "test" } }))
        return 1;
    std::atomic<std::int64_t> longestUs{ 0 };
    std::jthread others([&](const std::stop_token& stop) { traffic(allocator, rate, longestUs, stop); });
    test::OnTerminal terminal(argv[1], { "attach", folder + "/" + std::to_string(getpid()) + ".sock" }, size);
    if (!terminal.waitFor("connected")) {
        std::fprintf(stderr, "it does not show:\n%s", terminal.screen().text().c_str());
        return 1;
    }
    terminal.type("2"); // by size
    (void)terminal.waitFor("by size");
    std::mt19937 random(20261125);
    std::vector<double> milliseconds;
    std::uint64_t block = 0;
    for (int i = 0; i < samples; ++i) {
        const auto until = Clock::now() + std::chrono::milliseconds(100 + random() % 200);
        while (Clock::now() < until)
            terminal.pump(1ms);
        const std::int64_t bytes = (100 + i % 800) * kGiB;
        const std::string label = model::formatBytes(bytes);
        const auto begin = Clock::now();
        const std::uint64_t before = std::exchange(block, allocator.allocate(0, bytes));
        if (before != 0)
            allocator.release(0, before);
        while (!terminal.screen().contains(label) && Clock::now() - begin < 5s)
            terminal.pump(1ms);
        milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    const std::size_t written = terminal.written().size();
    if (stopped > 0) {
        terminal.signal(SIGSTOP);
        longestUs = 0;
        std::this_thread::sleep_for(std::chrono::seconds(stopped));
        const std::int64_t bytes = 950 * kGiB;
        allocator.allocate(0, bytes);
        const auto begin = Clock::now();
        terminal.signal(SIGCONT);
        while (!terminal.screen().contains(model::formatBytes(bytes)) && Clock::now() - begin < 60s)
            terminal.pump(1ms);
        std::printf(
            "stopped for %d s: %d events took %.1f ms at most meanwhile; the screen had all %.0f ms after it "
            "went on\n",
            stopped, rate / 300 * 3, static_cast<double>(longestUs) / 1000,
            std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    std::printf("%s", terminal.screen().text().c_str());
    terminal.type("q");
    const int code = terminal.waitForEnd();
    others.request_stop();
    others.join();
    agent.stop();
    std::filesystem::remove_all(folder);
    std::ranges::sort(milliseconds);
    std::printf(
        "%d events among %d a second, %dx%d: %.0f ms median, %.0f p90, %.0f p99, %.0f most; exit %d, %.1f "
        "KiB a second\n",
        samples, rate, size.rows, size.columns, quantile(milliseconds, 0.5), quantile(milliseconds, 0.9),
        quantile(milliseconds, 0.99), milliseconds.back(), code,
        static_cast<double>(written) / 1024 / (0.25 * samples));
    return 0;
}
