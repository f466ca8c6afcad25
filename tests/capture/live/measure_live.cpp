// SPDX-License-Identifier: GPL-3.0-or-later
// What those who look on cost the thread that allocates: CPU time an event, in turns with and without them,
// at 200,000 events a second. One that reads, or one that is stopped.
//
// usage: measure_live [TURNS]
#include "capture/agent/agent.h"
#include "model/live/follow.h"
#include "tests/capture/fake_allocator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace strata;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Reader final : public model::LinkTaker {
public:
    Reader(const model::LinkAddress& address, bool stops)
        : m_stops(stops)
        , m_thread([this, address](const std::stop_token& stop) { (void)follow(address, {}, *this, stop); })
    {
    }
    model::Result<void> onBegin(const std::vector<wire::Gap::Missing>&) override { return {}; }
    model::Result<void> onBytes(std::span<const std::byte>) override
    {
        while (m_stops && !m_ends)
            std::this_thread::sleep_for(1ms);
        return {};
    }
    void end() { m_ends = true; }

private:
    const bool m_stops;
    std::atomic<bool> m_ends{ false };
    std::jthread m_thread;
};

double cpuNs()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// A second of 200,000 events: nanoseconds of CPU each.
double turn(test::FakeAllocator& allocator)
{
    constexpr int kPieces = 100, kPairs = 667; // of three events
    double spent = 0;
    auto next = Clock::now();
    for (int piece = 0; piece < kPieces; ++piece) {
        const double begin = cpuNs();
        for (int i = 0; i < kPairs; ++i)
            allocator.release(0, allocator.allocate(0, 1024 + i));
        spent += cpuNs() - begin;
        std::this_thread::sleep_until(next += 10ms);
    }
    return spent / (kPieces * kPairs * 3);
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    const int turns = argc > 1 ? std::atoi(argv[1]) : 10;
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
    const model::LinkAddress address{ folder + "/" + std::to_string(getpid()) + ".sock", 0, geteuid() };
    (void)turn(allocator);
    for (const bool stops : { false, true }) {
        std::vector<double> with, without, difference;
        const auto watched = [&] {
            Reader reader(address, stops);
            std::this_thread::sleep_for(200ms);
            with.push_back(turn(allocator));
            reader.end();
        };
        for (int i = 0; i < turns; ++i) { // in either order: what grows meanwhile is for both
            if (i % 2 == 1)
                watched();
            std::this_thread::sleep_for(200ms);
            without.push_back(turn(allocator));
            if (i % 2 == 0)
                watched();
            difference.push_back(with.back() - without.back());
        }
        std::printf(
            "one that %s: %.1f ns an event with, %.1f without, difference %+.1f (medians of %d turns)\n",
            stops ? "is stopped" : "reads", median(with), median(without), median(difference), turns);
    }
    const auto begin = Clock::now();
    agent.stop();
    std::printf("the end took %.2f s\n", std::chrono::duration<double>(Clock::now() - begin).count());
    std::filesystem::remove_all(folder);
    return 0;
}
