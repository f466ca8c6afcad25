// SPDX-License-Identifier: GPL-3.0-or-later
// Many processes that record at once, for those who look on: each with a fake allocator that does as a
// training would, under the recorder as it is. They are the ranks of one job, as torchrun would start them.
//
// usage: record_many [PROCESSES [EVENTS_A_SECOND [SECONDS [FOLDER]]]]       64 of 1,000 for a minute, by
// default
//        0 seconds: until Ctrl+C; in FOLDER each writes a session besides
#include "capture/agent/agent.h"
#include "tests/capture/fake_allocator.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace strata;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t g_ends = 0;

struct Plan {
    int processes = 64;
    int eventsASecond = 1000;
    int seconds = 60;
    std::string folder;
};

/// Parameters that stay, and a step of which each block is freed in the reverse order of its birth.
class Training {
public:
    explicit Training(test::FakeAllocator& allocator, int rank)
        : m_allocator(allocator)
    {
        for (int i = 0; i < 24 + rank % 8; ++i)
            m_allocator.allocate(0, (1 << 20) + 4096 * i);
        m_events = 2 * (24 + rank % 8);
    }
    /// So many events, or a few more.
    void go(int events)
    {
        for (const std::int64_t end = m_events + events; m_events < end;) {
            if (m_forward) {
                m_live.push_back(m_allocator.allocate(0, (64 << 10) + (m_step % 7) * (128 << 10)));
                ++m_events;
                m_forward = m_live.size() < kBlocksAStep;
            } else {
                m_allocator.release(0, m_live.back());
                m_live.pop_back();
                m_events += 2;
                m_forward = m_live.empty();
                m_step += m_forward ? 1 : 0;
            }
        }
    }
    [[nodiscard]] std::int64_t events() const { return m_events; }

private:
    static constexpr std::size_t kBlocksAStep = 96;
    test::FakeAllocator& m_allocator;
    std::deque<std::uint64_t> m_live;
    std::int64_t m_events = 0;
    int m_step = 0;
    bool m_forward = true;
};

/// What a process tells of itself when it has ended.
struct Told {
    std::int64_t events = 0, cpuMs = 0, longestUs = 0;
    bool recorded = false;
};

Told record(const Plan& plan, int rank)
{
    test::FakeAllocator allocator;
    allocator.keepNoLog();
    auto& agent = *new agent::Agent(allocator.hook(), 1); // for good, as in a process of PyTorch
    agent::AgentOptions options;
    if (!plan.folder.empty())
        options.file = plan.folder + "/rank" + std::to_string(rank) + ".strata";
    options.existing = agent::Existing::Replace;
    options.live = agent::LiveOptions{};
    const std::string size = std::to_string(plan.processes);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    Told told;
    told.recorded = agent.start(options,
        { { "format", "a recording of a fake allocator" }, { "pid", std::to_string(getpid()) },
            { "command", "python3 train.py" }, { "rank", std::to_string(rank) }, { "world_size", size },
            { "started_ns", std::to_string(std::chrono::nanoseconds(now).count()) },
            { "device.0.name", "a fake allocator" }, { "device.0.capacity", "1073741824" } });
    if (!told.recorded)
        return told;
    Training training(allocator, rank);
    const auto begin = Clock::now();
    // All at once would be a wave of its own.
    std::this_thread::sleep_for(std::chrono::milliseconds(rank * 7 % 50));
    auto next = Clock::now();
    while (g_ends == 0 && (plan.seconds == 0 || Clock::now() - begin < std::chrono::seconds(plan.seconds))) {
        const auto start = Clock::now();
        training.go(plan.eventsASecond / 20);
        told.longestUs = std::max<std::int64_t>(told.longestUs,
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
        std::this_thread::sleep_until(next += 50ms);
    }
    told.events = training.events();
    agent.stop();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    told.cpuMs = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000
        + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    return told;
}

} // namespace

int main(int argc, char** argv)
{
    Plan plan;
    if (argc > 1)
        plan.processes = std::clamp(std::atoi(argv[1]), 1, 4096);
    if (argc > 2)
        plan.eventsASecond = std::max(std::atoi(argv[2]), 20);
    if (argc > 3)
        plan.seconds = std::max(std::atoi(argv[3]), 0);
    if (argc > 4)
        plan.folder = argv[4];
    const std::string job = "fake-" + std::to_string(getpid());
    setenv("TORCHELASTIC_RUN_ID", job.c_str(), 1);
    int tells[2];
    if (pipe(tells) != 0)
        return 1;
    for (const int signal : { SIGINT, SIGTERM, SIGHUP })
        std::signal(signal, [](int) { g_ends = 1; });
    const auto begin = Clock::now();
    std::vector<pid_t> children;
    for (int rank = 0; rank < plan.processes; ++rank) {
        const pid_t child = fork(); // no thread has begun yet
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            const std::string number = std::to_string(rank), size = std::to_string(plan.processes);
            setenv("RANK", number.c_str(), 1);
            setenv("WORLD_SIZE", size.c_str(), 1);
            const Told told = record(plan, rank);
            (void)!write(tells[1], &told, sizeof told);
            _exit(0);
        }
        if (child > 0)
            children.push_back(child);
    }
    std::printf("%zu processes record, %d events a second each: strata list shows job %s\n", children.size(),
        plan.eventsASecond, job.c_str());
    std::fflush(stdout);
    Told sum;
    std::size_t recorded = 0;
    for (bool isTold = false; const pid_t child : children) {
        while (waitpid(child, nullptr, WNOHANG) == 0) {
            if (g_ends != 0 && !std::exchange(isTold, true))
                for (const pid_t each : children)
                    kill(each, SIGTERM);
            std::this_thread::sleep_for(20ms);
        }
        Told told;
        if (read(tells[0], &told, sizeof told) != sizeof told)
            continue;
        recorded += told.recorded ? 1 : 0;
        sum.events += told.events;
        sum.cpuMs += told.cpuMs;
        sum.longestUs = std::max(sum.longestUs, told.longestUs);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%zu recorded %lld events in %.1f s: %.1f %% of a CPU each, allocators and all; the longest "
                "%d events "
                "took %.1f ms\n",
        recorded, static_cast<long long>(sum.events), seconds,
        static_cast<double>(sum.cpuMs) / 10 / seconds / std::max<double>(1, static_cast<double>(recorded)),
        plan.eventsASecond / 20, static_cast<double>(sum.longestUs) / 1000);
    return recorded == children.size() ? 0 : 1;
}
