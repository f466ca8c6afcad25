// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/agent.h"
#include "model/session/opener.h"
#include "tests/capture/fake_allocator.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace strata::agent {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// How many events the victim had told of, every millisecond. Shared with it.
struct Diary {
    static constexpr std::size_t kRoom = 1 << 14;
    struct Line {
        std::int64_t ns, events;
    };
    std::atomic<std::size_t> count;
    Line lines[kRoom];
};

std::int64_t ns(Clock::time_point time)
{
    return time.time_since_epoch().count();
}

constexpr std::int64_t bytesOf(std::int64_t turn)
{
    return turn % 100'000 + 1;
}

/// Allocates and frees, three events a turn, until it is killed.
[[noreturn]] void live(const std::string& file, Diary& diary)
{
    test::FakeAllocator allocator;
    auto& agent = *new Agent(allocator.hook(), test::FakeAllocator::kDevices);
    AgentOptions options;
    options.file = file;
    options.memoryLimit = 32 << 20;
    if (!agent.start(options, { { "format", "test" } }))
        _exit(1);
    for (std::int64_t turn = 0;; ++turn) {
        allocator.release(0, allocator.allocate(0, bytesOf(turn)));
        if (turn % 20 != 0)
            continue;
        std::this_thread::sleep_for(1ms);
        const std::size_t line = diary.count.load();
        if (line < Diary::kRoom) {
            diary.lines[line] = { ns(Clock::now()), static_cast<std::int64_t>(allocator.log(0).size()) };
            diary.count.store(line + 1);
        }
    }
}

/// The file opens, holds what was told, and all that was told a second before the end.
void holdAgainst(const std::string& file, const Diary& diary, std::int64_t killedNs)
{
    std::int64_t owed = 0;
    const std::size_t lines = diary.count.load();
    for (std::size_t i = 0; i < lines && diary.lines[i].ns <= killedNs - 1'000'000'000; ++i)
        owed = diary.lines[i].events;
    if (!fs::exists(file)) {
        EXPECT_EQ(owed, 0);
        return;
    }
    const auto session = model::Opener::openAll(file);
    if (!session) {
        EXPECT_EQ(owed, 0) << session.error().text();
        return;
    }
    const model::DeviceRecording* device = (*session)->recording().find(0);
    const std::int64_t kept = device ? device->events.size() : 0;
    EXPECT_GE(kept, owed);
    EXPECT_TRUE(kept == 0 || (*session)->recording().truncation);
    EXPECT_TRUE((*session)->recording().lost.empty());
    std::int64_t different = 0;
    for (std::int64_t i = 1; i < kept; ++i) { // behind the one segment
        const auto row = static_cast<std::size_t>(i);
        different += static_cast<std::int64_t>(device->events.action[row]) != (i - 1) % 3
            || device->events.bytes[row] != bytesOf((i - 1) / 3);
    }
    EXPECT_EQ(different, 0);
}

TEST(Killed, AtAnyInstantTheFileOpensAndHoldsAllButTheLastSecond)
{
    const int times = std::getenv("STRATA_LONG") ? 100 : 10;
    std::mt19937 random(20261121);
    const fs::path folder = fs::temp_directory_path() / ("strata-killed." + std::to_string(getpid()));
    fs::create_directory(folder);
    for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
        const std::string file = (folder / (std::to_string(i) + ".strata")).string();
        void* shared
            = mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        auto& diary = *static_cast<Diary*>(shared);
        const pid_t child = fork();
        if (child == 0)
            live(file, diary);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000'000));
        const std::int64_t killed = ns(Clock::now());
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status)) << status;
        holdAgainst(file, diary, killed);
        munmap(shared, sizeof(Diary));
    }
    fs::remove_all(folder);
}

} // namespace

} // namespace strata::agent
