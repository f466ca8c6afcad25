// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/agent.h"
#include "model/session/opener.h"
#include "model/session/session.h"
#include "model/trace/program/allocator_calls.h"
#include "model/trace/program/roles.h"
#include "model/trace/thread_names.h"
#include "tests/capture/fake_allocator.h"
#include "tests/support/summary_text.h"
#include "tests/support/temporary_directory.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <pthread.h>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace strata::agent {

namespace {

namespace fs = std::filesystem;
using test::FakeAllocator;

class AgentTest : public testing::Test {
protected:
    AgentOptions options(const std::string& name = "out.strata") const
    {
        AgentOptions options;
        options.file = (m_folder / name).string();
        options.memoryLimit = 32 << 20;
        return options;
    }
    /// As in a process it is there for good: hooks may call it until the end.
    static Agent& agentOf(FakeAllocator& allocator)
    {
        static auto& all = *new std::vector<Agent*>; // not destroyed before the leak detector looks
        return *all.emplace_back(new Agent(allocator.hook(), FakeAllocator::kDevices));
    }
    static std::vector<wire::KeyValue> facts() { return { { "format", "test" } }; }

    static std::shared_ptr<const model::Session> opened(const std::string& path)
    {
        auto session = model::Opener::openAll(path);
        if (!session) {
            ADD_FAILURE() << session.error().text();
            return nullptr;
        }
        return *session;
    }

    /// The recording holds the log from the base state to the end state, entry by entry.
    static void holdAgainst(
        const FakeAllocator& allocator, const model::Session& session, std::size_t base, std::size_t end)
    {
        for (int device = 0; device < FakeAllocator::kDevices; ++device) {
            const model::DeviceTrace* trace = session.find(device);
            ASSERT_NE(trace, nullptr) << device;
            const model::EventColumns& events = session.recording().find(device)->events;
            const std::size_t first = allocator.loggedBefore(device, base);
            const std::size_t last = allocator.loggedBefore(device, end);
            ASSERT_EQ(static_cast<std::size_t>(events.size()), last - first) << device;
            std::int64_t different = 0;
            for (std::size_t i = first; i < last; ++i) {
                const hook::Entry& told = allocator.log(device)[i];
                const std::size_t row = i - first;
                different += static_cast<std::uint8_t>(events.action[row]) != told.action
                    || events.address[row] != told.address || events.bytes[row] != told.bytes
                    || session.recording().streams[events.stream[row]]
                        != static_cast<std::int64_t>(told.stream);
            }
            EXPECT_EQ(different, 0) << device;
        }
    }

    test::TemporaryDirectory m_temporary;
    const fs::path m_folder = m_temporary.path();
};

/// Allocates and frees at random on both devices until told to stop, at least `least` times.
void work(FakeAllocator& allocator, unsigned seed, int least, const std::atomic<bool>& stop)
{
    std::mt19937 random(seed);
    std::vector<std::pair<int, std::uint64_t>> mine;
    for (int i = 0; i < least || !stop; ++i) {
        if (mine.size() < 50 && random() % 2 == 0) {
            const int device = static_cast<int>(random() % FakeAllocator::kDevices);
            mine.emplace_back(device, allocator.allocate(device, 1 + random() % 100'000));
        } else if (!mine.empty()) {
            const std::size_t which = random() % mine.size();
            allocator.release(mine[which].first, mine[which].second);
            mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
}

TEST_F(AgentTest, RecordsEveryEventBetweenBaseAndEndState)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    std::atomic<bool> stop{ false };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { work(allocator, i, 2000, stop); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    AgentOptions large = options(); // nothing here waits for anything: a busy machine needs room
    large.ringEvents = 1 << 20;
    large.memoryLimit = 256 << 20;
    ASSERT_TRUE(agent.start(large, facts())); // while they work
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    agent.annotate(wire::AnnotationKind::Start, "step 1");
    allocator.otherSnapshot();
    agent.annotate(wire::AnnotationKind::End, "step 1");
    agent.stop(); // while they work
    stop = true;
    for (std::thread& thread : threads)
        thread.join();

    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->exact());
    EXPECT_FALSE(session->recording().truncation);
    EXPECT_TRUE(session->recording().lost.empty());
    EXPECT_EQ(session->recording().annotations.size(), 2u);
    const auto outline = test::outlineIn(options().file);
    ASSERT_TRUE(outline);
    EXPECT_EQ(test::summaryText(*outline), test::summaryText(*session));
    holdAgainst(allocator, *session, 0, 1);
    EXPECT_GT(session->recording().find(0)->events.size(), 100);
}

TEST_F(AgentTest, EventsTellTheirPhaseAndTheirThread)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(), facts()));
    const std::uint64_t first = allocator.allocate(0, 512);
    std::uint32_t other = 0;
    std::thread([&] {
        pthread_setname_np(pthread_self(), "pt_autograd_7");
        other = threadNumber();
        allocator.setPhase(wire::EventPhase::Backward);
        allocator.release(0, first);
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // its name is read meanwhile
    }).join();
    agent.stop();

    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    const model::Recording& recording = session->recording();
    const model::EventColumns& events = recording.find(0)->events;
    ASSERT_EQ(events.size(), 4);
    const auto threadOf = [&](std::size_t row) { return recording.threads[events.threadOf(row)]; };
    EXPECT_EQ(events.phaseOf(1), wire::EventPhase::Unknown);
    EXPECT_EQ(events.phaseOf(2), wire::EventPhase::Backward);
    EXPECT_EQ(threadOf(1), threadNumber());
    EXPECT_EQ(threadOf(2), other);
    EXPECT_EQ(threadOf(3), other);
    EXPECT_EQ(recording.facts.at("thread." + std::to_string(other) + ".name"), "pt_autograd_7");
}

TEST_F(AgentTest, TensorsStandWhereTheyWereListed)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    TensorTable tensors;
    const auto weight
        = tensors.add({ .device = 1, .name = "h.0.weight", .dtype = "float32", .elements = 128 });
    const auto step
        = tensors.add({ .device = 1, .kind = wire::RoleKind::Stepped, .name = "AdamW", .optimizer = 0 });
    const auto elsewhere = tensors.add({ .device = 77, .name = "of no device" });
    agent.list(std::array{ *tensors.place(weight, 1) }); // nothing is recorded
    ASSERT_TRUE(agent.start(options(), facts()));
    const std::uint64_t address = allocator.allocate(1, 512);
    agent.list(std::array{ *tensors.place(weight, address), *tensors.place(elsewhere, 9) });
    allocator.release(1, allocator.allocate(1, 512));
    agent.list(std::array{ *tensors.place(step, 0) });
    agent.stop();
    ASSERT_TRUE(agent.start(options("second.strata"), facts()));
    agent.list(tensors.standing());
    agent.stop();

    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    const model::Recording& recording = session->recording();
    const auto& rows = model::RoleListings::of(recording, 1);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].event, 2) << "behind the segment and the block";
    EXPECT_EQ(rows[0].address, address);
    EXPECT_EQ(recording.strings[rows[0].name], "h.0.weight");
    EXPECT_EQ(recording.strings[rows[0].dtype], "float32");
    EXPECT_EQ(rows[0].elements, 128);
    EXPECT_EQ(rows[0].optimizer, model::RoleListing::kNoOptimizer);
    EXPECT_EQ(rows[1].event, recording.find(1)->events.size());
    EXPECT_EQ(rows[1].kind, wire::RoleKind::Stepped);
    EXPECT_EQ(rows[1].optimizer, 0u);
    const auto second = opened(options("second.strata").file);
    ASSERT_NE(second, nullptr);
    ASSERT_EQ(model::RoleListings::of(second->recording(), 1).size(), 1u)
        << "what stands, from the first event on";
    EXPECT_EQ(model::RoleListings::of(second->recording(), 1)[0].event, 0);
}

TEST_F(AgentTest, CallsOfTheAllocatorStandBetweenTheEventsThatTheyWereMadeBetween)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    agent.findLocksBy(FakeAllocator::findLocks());
    AgentOptions large = options();
    large.ringEvents = 1 << 20;
    large.memoryLimit = 256 << 20;
    ASSERT_TRUE(agent.start(large, facts()));
    std::atomic<bool> stop{ false };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2; ++i)
        threads.emplace_back([&, i] { work(allocator, i, 200, stop); });
    for (unsigned i = 0; i < 3; ++i) // some release nothing, some fall between the events of others
        threads.emplace_back([&, i] {
            for (int round = 0; round < 100; ++round) {
                allocator.emptyCache(round % 7 == 3);
                if (i == 0)
                    allocator.setFraction(round % 2, 0.5 + round / 1000.);
                if (i == 1)
                    allocator.setSettings("max_split_size_mb:" + std::to_string(round), round % 5 == 2);
            }
        });
    for (std::size_t i = 2; i < threads.size(); ++i)
        threads[i].join();
    stop = true;
    threads[0].join();
    threads[1].join();
    agent.stop();
    allocator.emptyCache(); // after the end

    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->exact());
    holdAgainst(allocator, *session, 0, 1);
    using Kind = model::AllocatorCall::Kind;
    for (int device = 0; device < FakeAllocator::kDevices; ++device) {
        const std::size_t first = allocator.loggedBefore(device, 0);
        const auto& recorded = model::AllocatorCalls::of(session->recording(), device);
        std::vector<std::pair<int, std::size_t>> is, made;
        for (const auto& call : recorded)
            is.emplace_back(static_cast<int>(call.kind), static_cast<std::size_t>(call.event) + first);
        for (const FakeAllocator::CallPlace& call : allocator.calls(device))
            made.emplace_back(call.kind, call.logged);
        made.pop_back(); // after the end
        EXPECT_EQ(made.size(), 450u); // of emptyCache() 300, of settings 100, of fractions 50
        EXPECT_EQ(is, made) << device;
        int settings = 0, fractions = 0;
        for (const auto& call : recorded) {
            const bool refused = settings % 5 == 2;
            if (call.kind == Kind::MemoryFraction)
                EXPECT_EQ(call.fraction, 0.5 + (2 * fractions++ + device) / 1000.);
            else if (call.kind != Kind::EmptyCache) {
                EXPECT_EQ(call.kind, refused ? Kind::SettingsRefused : Kind::Settings);
                EXPECT_EQ(session->recording().strings[call.value],
                    "max_split_size_mb:" + std::to_string(settings++));
            }
        }
    }
    EXPECT_EQ(session->recording().facts.at("allocator_calls"), "changes of settings are not seen")
        << "no library here calls LibTorch's functions for them";
}

TEST_F(AgentTest, CallsAreNotToldOfWhereTheLocksAreNotKnown)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    agent.findLocksBy([](const hook::Hook&, int, OnLock, std::string& why) {
        why = "they are elsewhere";
        return nullptr;
    });
    ASSERT_TRUE(agent.start(options(), facts()));
    (void)allocator.allocate(0, 1000);
    allocator.emptyCache();
    allocator.setSettings("a:1");
    agent.stop();
    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->recording().find(0)->events.size(), 2);
    EXPECT_TRUE(model::AllocatorCalls::of(session->recording(), 0).empty());
    EXPECT_EQ(session->recording().facts.at("allocator_calls"), "they are elsewhere");
}

/// Threads that annotate have the names that they had then, or were given later.
TEST_F(AgentTest, NamesTheThreadsThatAnnotate)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(), facts()));
    std::array<std::uint32_t, 3> numbers{};
    std::atomic<int> arrived{ 0 };
    std::atomic<bool> stopped{ false };
    const auto thread = [&](std::size_t i, const char* before, const char* after) {
        return std::thread([&, i, before, after] {
            numbers[i] = threadNumber();
            pthread_setname_np(pthread_self(), before);
            agent.annotate(wire::AnnotationKind::Mark, "here");
            pthread_setname_np(pthread_self(), after);
            ++arrived;
            while (!stopped)
                std::this_thread::yield();
        });
    };
    std::thread threads[]
        = { thread(0, "loader", "loader"), thread(1, "nameless", "trainer"), thread(2, "loader", "loader") };
    while (arrived < 3)
        std::this_thread::yield();
    std::thread gone([&] {
        pthread_setname_np(pthread_self(), "soon gone");
        agent.annotate(wire::AnnotationKind::Mark, "here");
        arrived = static_cast<int>(threadNumber());
    });
    gone.join();
    agent.stop();
    stopped = true;
    for (std::thread& each : threads)
        each.join();

    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    const auto nameOf = [&](std::uint32_t number) { return model::threadName(session->recording(), number); };
    EXPECT_EQ(nameOf(numbers[0]), "loader " + std::to_string(numbers[0]));
    EXPECT_EQ(nameOf(numbers[1]), "trainer");
    EXPECT_EQ(nameOf(numbers[2]), "loader " + std::to_string(numbers[2]));
    EXPECT_EQ(nameOf(static_cast<std::uint32_t>(arrived)), "soon gone");
    EXPECT_EQ(nameOf(1), "");
    EXPECT_EQ(model::threadNameOrNumber(session->recording(), 1), "1");
}

TEST_F(AgentTest, RecordsAgainAfterItsEnd)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    std::vector<std::uint64_t> blocks;
    for (int run = 0; run < 3; ++run) {
        const auto mine = options("run" + std::to_string(run) + ".strata");
        ASSERT_TRUE(agent.start(mine, facts()));
        EXPECT_FALSE(agent.start(mine, facts())) << "it records already";
        for (int device = 0; device < FakeAllocator::kDevices; ++device)
            blocks.push_back(allocator.allocate(device, 1000 + run, "run " + std::to_string(run)));
        agent.stop();
        EXPECT_FALSE(agent.isRecording());
        const auto session = opened(mine.file);
        ASSERT_NE(session, nullptr);
        EXPECT_TRUE(session->exact());
        holdAgainst(
            allocator, *session, static_cast<std::size_t>(2 * run), static_cast<std::size_t>(2 * run + 1));
        const auto& texts = session->recording().find(0)->events.userMetadata.items();
        ASSERT_EQ(texts.size(), 1u);
        EXPECT_EQ(session->recording().strings[texts[0].second], "run " + std::to_string(run));
    }
}

TEST_F(AgentTest, AnOutOfMemoryIsInTheFileBeforeTheExceptionLeaves)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(), facts()));
    for (int device = 0; device < FakeAllocator::kDevices; ++device)
        for (int i = 0; i < 10; ++i)
            (void)allocator.allocate(device, 100 + i);
    allocator.fail(1, 1 << 30);
    // As if the process were killed right here.
    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_FALSE(session->recording().truncation) << session->recording().truncation->reason.text();
    EXPECT_TRUE(session->exact());
    const model::DeviceRecording& device = *session->recording().find(1);
    EXPECT_EQ(device.events.action[device.events.action.size() - 1], model::Action::Oom);
    EXPECT_EQ(device.finalSegments.size(), 10u);
    holdAgainst(allocator, *session, 0, 1);
    agent.stop();
}

TEST_F(AgentTest, WhatWasNotEndedOpensAsFarAsItWasWritten)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(), facts()));
    for (int i = 0; i < 1000; ++i)
        allocator.release(0, allocator.allocate(0, 1000));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200)); // longer than a flush takes
    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    ASSERT_TRUE(session->recording().truncation);
    EXPECT_NE(session->recording().truncation->reason.text().find("killed"), std::string::npos);
    EXPECT_EQ(session->recording().find(0)->events.size(), 3001);
    agent.stop();
}

TEST_F(AgentTest, CountsWhatDoesNotFitTheRing)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    AgentOptions small = options();
    small.ringEvents = 64;
    ASSERT_TRUE(agent.start(small, facts()));
    constexpr int kPairs = 20'000;
    for (int i = 0; i < kPairs; ++i)
        allocator.release(0, allocator.allocate(0, 1000));
    agent.stop();
    const auto session = opened(small.file);
    ASSERT_NE(session, nullptr);
    EXPECT_FALSE(session->exact());
    std::int64_t lost = 0;
    for (const model::LostEvents& each : session->recording().lost)
        lost += each.count;
    EXPECT_GT(lost, 0);
    EXPECT_EQ(session->recording().find(0)->events.size() + lost, 3 * kPairs + 1);
}

TEST_F(AgentTest, AFullDiskEndsTheRecordingAndNotTheProgram)
{
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit limit{ 20'000, old.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0); // the signal that goes with it must not arrive
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    const bool started = agent.start(options(), facts());
    const auto before = fs::file_size(options().file);
    for (int i = 0; i < 1000 && fs::file_size(options().file) == before; ++i) { // something is in it
        allocator.release(0, allocator.allocate(0, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i)
        allocator.release(0, allocator.allocate(0, static_cast<std::int64_t>(random() >> 20)));
    agent.stop();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_TRUE(started);
    EXPECT_LE(fs::file_size(options().file), 20'000u);
    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->recording().truncation);
}

TEST_F(AgentTest, AFileThatCannotBeMadeIsSaidAndNothingElse)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(agent.start(options("nowhere/out.strata"), facts()));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("No such file or directory: nothing is recorded"),
        std::string::npos);
    (void)allocator.allocate(0, 1);
    agent.stop();
}

TEST_F(AgentTest, AChildOfAForkWritesNothing)
{
    FakeAllocator allocator;
    Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(), facts()));
    (void)allocator.allocate(1, 1);
    const std::uint64_t block = allocator.allocate(0, 1);
    const pid_t child = fork();
    if (child == 0) {
        agent.forget();
        allocator.release(0, block);
        agent.annotate(wire::AnnotationKind::Mark, "child");
        agent.stop();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    allocator.release(0, block);
    agent.stop();
    const auto session = opened(options().file);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->exact());
    EXPECT_TRUE(session->recording().annotations.empty());
    holdAgainst(allocator, *session, 0, 1);
}

TEST_F(AgentTest, ProcessesOfOneCommandWriteBesideEachOther)
{
    AgentOptions shared = options();
    shared.shared = true;
    shared.listFile = (m_folder / "list").string();
    for (int i = 0; i < 3; ++i) {
        FakeAllocator allocator;
        Agent& agent = agentOf(allocator);
        ASSERT_TRUE(agent.start(shared, facts()));
        agent.stop();
    }
    const std::string process = std::to_string(getpid());
    EXPECT_TRUE(fs::exists(m_folder / "out.strata"));
    EXPECT_TRUE(fs::exists(m_folder / ("out." + process + ".strata")));
    EXPECT_TRUE(fs::exists(m_folder / ("out." + process + "-2.strata")));
}

} // namespace

} // namespace strata::agent
