// SPDX-License-Identifier: GPL-3.0-or-later
// What those who look on cost the thread that allocates, at 200,000 events a second.
//
//     measure_live [TURNS]
//         CPU time an event, in turns with and without one that reads or one that is stopped
//     measure_live training STRATA [SECONDS [TURNS]]
//         CPU time of a training that computes all the time, in turns with and without strata attach: one
//         that is stopped (SIGSTOP) for all of its turn (60 s), one that is killed every second, and one that
//         reads a chunk in a tenth of a second; and whether what was stopped has all of it once it goes on
#include "capture/agent/agent.h"
#include "model/live/follow.h"
#include "tests/capture/fake_allocator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace strata;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Reader final : public model::LinkTaker {
public:
    /// `rest`: behind each part that comes; none: it stops at the first one.
    Reader(const model::LinkAddress& address, std::optional<std::chrono::milliseconds> rest)
        : m_rest(rest)
        , m_thread([this, address](const std::stop_token& stop) { (void)follow(address, {}, *this, stop); })
    {
    }
    model::Result<void> onBegin(const std::vector<wire::Gap::Missing>&) override { return {}; }
    model::Result<void> onBytes(std::span<const std::byte>) override
    {
        const auto until = Clock::now() + m_rest.value_or(24h);
        while (Clock::now() < until && !m_ends)
            std::this_thread::sleep_for(1ms);
        return {};
    }
    void end() { m_ends = true; }

private:
    const std::optional<std::chrono::milliseconds> m_rest;
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

/// What takes some 95 % of a second with 200,000 events in it.
int roundsOfATraining()
{
    constexpr int kRounds = 100'000'000;
    std::uint64_t number = 1;
    const double begin = cpuNs();
    for (int round = 0; round < kRounds; ++round)
        number = number * 6364136223846793005U + 1442695040888963407U;
    const double each = (cpuNs() - begin) / (kRounds + (number == 0 ? 1 : 0));
    return static_cast<int>(0.9e9 / 66'667 / each);
}

/// Computes all the time, and has three events in between each 15 us: milliseconds of CPU for a second of
/// that, for each of `seconds`.
std::vector<double> train(test::FakeAllocator& allocator, int seconds)
{
    static const int kRounds = roundsOfATraining();
    constexpr int kPairs = 66'667;
    std::vector<double> spent;
    std::uint64_t number = 1;
    auto next = Clock::now();
    for (int second = 0; second < seconds; ++second) {
        const double begin = cpuNs();
        for (int pair = 0; pair < kPairs; ++pair) {
            const std::uint64_t address = allocator.allocate(0, 1024 + pair % 100);
            for (int round = 0; round < kRounds; ++round)
                number = number * 6364136223846793005U + 1442695040888963407U;
            allocator.release(0, address + (number == 0 ? 1 : 0)); // what was computed is used
        }
        spent.push_back((cpuNs() - begin) / 1e6);
        std::this_thread::sleep_until(next += 1s); // not faster than that
    }
    return spent;
}

/// strata attach -o, as users start it.
class Viewer {
public:
    Viewer(const std::string& strata, const std::string& socket, std::string output)
        : m_output(std::move(output))
    {
        const char* arguments[]
            = { strata.c_str(), "attach", socket.c_str(), "-o", m_output.c_str(), nullptr };
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        if (posix_spawn(&m_process, strata.c_str(), &actions, nullptr, const_cast<char**>(arguments), environ)
            != 0)
            m_process = -1;
        posix_spawn_file_actions_destroy(&actions);
    }
    ~Viewer()
    {
        send(SIGKILL);
        wait();
    }
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    void send(int signal) const
    {
        if (m_process > 0)
            kill(m_process, signal);
    }
    void wait()
    {
        if (m_process > 0)
            waitpid(std::exchange(m_process, -1), nullptr, 0);
    }
    [[nodiscard]] const std::string& output() const { return m_output; }

private:
    std::string m_output;
    pid_t m_process = -1;
};

/// Turns with and without what `look` begins and gives back the end of.
void compareTraining(const char* name, test::FakeAllocator& allocator, int seconds, int turns,
    const std::function<std::function<void()>()>& look)
{
    std::vector<double> with, without, share;
    const auto turn = [&](bool watched) {
        const std::function<void()> end = watched ? look() : [] {};
        std::vector<double> spent = train(allocator, seconds);
        end();
        (watched ? with : without).push_back(median(std::move(spent)));
    };
    for (int i = 0; i < turns; ++i) { // in either order
        turn(i % 2 == 0);
        turn(i % 2 == 1);
        share.push_back(100 * (with.back() / without.back() - 1));
    }
    std::ranges::sort(share);
    std::printf(
        "%s: %.1f ms of CPU a second of training with, %.1f without, difference %+.2f %% (median of %d "
        "turns of %d s; %+.2f to %+.2f)\n",
        name, median(with), median(without), share[share.size() / 2], turns, seconds, share.front(),
        share.back());
    std::fflush(stdout);
}

/// Gives one that was stopped for the last of its turns.
std::shared_ptr<Viewer> measureTraining(test::FakeAllocator& allocator, const model::LinkAddress& address,
    const std::string& strata, const std::string& folder, int seconds, int turns)
{
    int files = 0;
    const auto start = [&] {
        auto viewer = std::make_shared<Viewer>(
            strata, address.socket, folder + "/seen" + std::to_string(++files) + ".strata");
        std::this_thread::sleep_for(500ms);
        return viewer;
    };
    const int shorter = std::max(seconds / 6, 2), more = turns * 3;
    compareTraining("nobody", allocator, shorter, more, [] { return [] {}; });
    compareTraining("one that is killed twice a second", allocator, shorter, more, [&] {
        auto thread = std::make_shared<std::jthread>([&](const std::stop_token& stop) {
            while (!stop.stop_requested())
                start()->send(SIGKILL);
        });
        return [thread] { thread->request_stop(); };
    });
    compareTraining("one that reads slowly", allocator, shorter, more, [&] {
        auto reader = std::make_shared<Reader>(address, 100ms);
        return [reader] { reader->end(); };
    });
    std::shared_ptr<Viewer> stopped;
    compareTraining("one that is stopped", allocator, seconds, turns, [&] {
        stopped.reset();
        stopped = start();
        stopped->send(SIGSTOP);
        return [] {};
    });
    return stopped;
}

} // namespace

int main(int argc, char** argv)
{
    const bool trains = argc > 2 && std::string_view(argv[1]) == "training";
    const int turns = trains ? argc > 4 ? std::atoi(argv[4]) : 2 : argc > 1 ? std::atoi(argv[1]) : 10;
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
    if (trains) {
        const auto stopped = measureTraining(
            allocator, address, argv[2], folder, argc > 3 ? std::max(std::atoi(argv[3]), 6) : 60, turns);
        stopped->send(SIGCONT);
        agent.stop();
        stopped->wait();
        std::error_code error;
        std::printf("the one that was stopped has %ju bytes of %ju that were recorded\n",
            std::filesystem::file_size(stopped->output(), error),
            std::filesystem::file_size(options.file, error));
        std::filesystem::remove_all(folder);
        return 0;
    }
    for (const bool stops : { false, true }) {
        std::vector<double> with, without, difference;
        const auto watched = [&] {
            Reader reader(address, stops ? std::nullopt : std::optional(0ms));
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
