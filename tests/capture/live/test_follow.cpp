// SPDX-License-Identifier: GPL-3.0-or-later
// A viewer has what the recording has, whenever it joins, and whatever the others do.
#include "tests/capture/live/live_run.h"

#include "model/live/attached_file.h"
#include "model/live/live_process.h"
#include "model/live/live_session.h"
#include "model/session/opener.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

namespace strata::test {

namespace {

using model::LinkState;
using namespace std::chrono_literals;

/// The session holds what the allocator told of a device from event `first` on.
void holdAgainst(const FakeAllocator& allocator, const model::Session& session, int device, std::size_t first)
{
    const model::DeviceRecording* const recorded = session.recording().find(device);
    ASSERT_NE(recorded, nullptr);
    const model::EventColumns& events = recorded->events;
    const std::size_t base = allocator.loggedBefore(device, 0) + first;
    const std::size_t end = allocator.loggedBefore(device, 1);
    ASSERT_EQ(static_cast<std::size_t>(events.size()), end - base);
    std::size_t different = 0;
    for (std::size_t i = 0; i < end - base; ++i) {
        const hook::Entry& told = allocator.log(device)[base + i];
        different += static_cast<std::uint8_t>(events.action[i]) != told.action
            || events.address[i] != told.address || events.bytes[i] != told.bytes;
    }
    EXPECT_EQ(different, 0u);
}

int connectToSocket(const model::LinkAddress& address)
{
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    address.socket.copy(to.sun_path, sizeof to.sun_path - 1);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(made, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? made : -1;
}

/// A viewer that joins and never reads.
int joinSilently(const model::LinkAddress& address)
{
    const int made = connectToSocket(address);
    wire::Bytes bytes;
    wire::appendLinkChunk(wire::kJoin, wire::encodeJoin, wire::Join{}, bytes);
    return send(made, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0 ? made : -1;
}

} // namespace

TEST_F(LiveRun, EveryViewerHasTheFileByteForByte)
{
    std::mt19937 random(20261124);
    for (int turn = 0; turn < 5; ++turn) {
        FakeAllocator allocator;
        agent::Agent& agent = agentOf(allocator);
        std::filesystem::remove(m_folder / "out.strata");
        ASSERT_TRUE(agent.start(options(true), facts()));
        std::vector<std::unique_ptr<Viewer>> viewers;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < 2; ++i)
            threads.emplace_back([&, i] { allocate(allocator, i, 10'000); });
        for (int i = 0; i < 4; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
            viewers.push_back(std::make_unique<Viewer>(address()));
        }
        agent.annotate(wire::AnnotationKind::Mark, "half way");
        for (std::thread& thread : threads)
            thread.join();
        ASSERT_TRUE(waitFor([&] {
            return std::ranges::all_of(
                viewers, [](const auto& each) { return each->state() == LinkState::Following; });
        }));
        agent.stop();
        const wire::Bytes file = fileBytes();
        for (const auto& viewer : viewers) {
            viewer->join();
            EXPECT_TRUE(viewer->result());
            EXPECT_EQ(viewer->state(), LinkState::Ended);
            ASSERT_EQ(viewer->pieces().size(), 1u);
            EXPECT_TRUE(viewer->pieces()[0].missing.empty());
            EXPECT_TRUE(viewer->pieces()[0].bytes == file);
        }
        const auto session = sessionOf(file);
        ASSERT_NE(session, nullptr);
        EXPECT_TRUE(session->exact());
        holdAgainst(allocator, *session, 0, 0);
        EXPECT_TRUE(std::filesystem::is_empty(m_folder / "out.strata") == false);
        EXPECT_FALSE(std::filesystem::exists(address().socket));
    }
}

TEST_F(LiveRun, AFileThatEndsWithTheWatchingSaysSo)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocate(allocator, 1, 2'000);
    Viewer viewer(address());
    ASSERT_TRUE(waitFor([&] { return viewer.bytes() > 1'000; }));
    std::this_thread::sleep_for(200ms);
    viewer.stop();
    viewer.join();
    auto file = model::AttachedFile::create(m_folder / "seen.strata");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(viewer.pieces()[0].bytes));
    ASSERT_TRUE(file->endEarly(model::say("The watching ended here")));
    const auto session = model::Opener::openAll(m_folder / "seen.strata");
    ASSERT_TRUE(session) << session.error().text();
    EXPECT_TRUE((*session)->exact());
    EXPECT_GT((*session)->find(0)->eventCount(), 500);
    ASSERT_TRUE((*session)->recording().truncation);
    EXPECT_TRUE((*session)->recording().truncation->interrupted);
    EXPECT_EQ((*session)->recording().truncation->reason.text(), "The watching ended here");
    agent.stop();
}

TEST_F(LiveRun, WithoutAFileAViewerHasAll)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(false), facts()));
    allocate(allocator, 1, 5'000);
    model::LiveSession watched(address(), {}, {});
    ASSERT_TRUE(waitFor([&] { return watched.status().latest != nullptr; }));
    allocate(allocator, 2, 5'000);
    agent.stop();
    ASSERT_TRUE(waitFor([&] { return watched.status().state == LinkState::Ended; }));
    const auto session = watched.status().latest;
    EXPECT_TRUE(session->exact());
    EXPECT_FALSE(session->recording().truncation);
    holdAgainst(allocator, *session, 0, 0);
    holdAgainst(allocator, *session, 1, 0);
    const model::LiveSession::Status status = watched.status();
    EXPECT_EQ(status.sessions, 1);
    EXPECT_FALSE(status.error);
    ASSERT_TRUE(status.greeting);
    const model::LiveProcess process = model::describe(*status.greeting, address());
    EXPECT_EQ(process.name, "train.py");
    EXPECT_EQ(process.rank, 3);
    EXPECT_EQ(process.process, getpid());
}

TEST_F(LiveRun, WhoJoinsWhenTheFirstAreGoneBeginsWithTheStateThere)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 10; ++i) // of the base state
        kept.push_back(allocator.allocate(0, 5'000 + i));
    agent::AgentOptions small = options(false);
    small.live->memory = 64 << 10;
    ASSERT_TRUE(agent.start(small, facts()));
    Viewer first(address());
    ASSERT_TRUE(waitFor([&] { return first.state() == LinkState::Following; }));
    std::vector<std::unique_ptr<Viewer>> viewers;
    for (unsigned i = 0; i < 12; ++i) {
        allocate(allocator, i, 3'000);
        kept.push_back(allocator.allocate(0, 7'000 + i));
        allocator.release(0, kept[i % 8]);
        kept[i % 8] = allocator.allocate(0, 100 + i);
        std::this_thread::sleep_for(70ms); // some chunks
        if (i >= 6)
            viewers.push_back(std::make_unique<Viewer>(address()));
    }
    ASSERT_TRUE(waitFor(
        [&] { return std::ranges::all_of(viewers, [](const auto& each) { return each->bytes() > 0; }); }));
    agent.stop();
    first.join();
    ASSERT_EQ(first.pieces().size(), 1u); // it kept pace
    EXPECT_TRUE(first.pieces()[0].missing.empty());
    std::uint64_t latest = 0;
    for (const auto& viewer : viewers) {
        viewer->join();
        EXPECT_EQ(viewer->state(), LinkState::Ended);
        ASSERT_FALSE(viewer->pieces().empty());
        const Viewer::Piece& last = viewer->pieces().back();
        ASSERT_FALSE(last.missing.empty());
        EXPECT_EQ(last.missing[0].device, 0);
        latest = std::max(latest, last.missing[0].events);
        const auto session = sessionOf(last.bytes);
        ASSERT_NE(session, nullptr);
        EXPECT_TRUE(session->exact());
        EXPECT_FALSE(session->recording().truncation);
        EXPECT_EQ(session->recording().cuts.at(0).before, static_cast<std::int64_t>(last.missing[0].events));
        for (const wire::Gap::Missing& each : last.missing)
            holdAgainst(allocator, *session, each.device, each.events);
    }
    EXPECT_GT(latest, 1000u);
}

TEST_F(LiveRun, WhoDoesNotReadHoldsNobodyUp)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    std::vector<int> silent;
    for (int i = 0; i < 4; ++i)
        silent.push_back(joinSilently(address()));
    Viewer good(address());
    ASSERT_TRUE(waitFor([&] { return good.state() == LinkState::Following; }));
    allocate(allocator, 1, 100'000);
    const auto begin = std::chrono::steady_clock::now();
    agent.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s); // not for ever
    good.join();
    EXPECT_TRUE(good.pieces().at(0).bytes == fileBytes());
    for (const int each : silent)
        close(each);
}

TEST_F(LiveRun, WhoFallsBehindWithoutAFileGetsTotalsAndBeginsAnew)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    agent::AgentOptions small = options(false);
    small.live->memory = 64 << 10;
    ASSERT_TRUE(agent.start(small, facts()));
    const int slow = joinSilently(address());
    ASSERT_GE(slow, 0);
    for (unsigned i = 0; i < 12; ++i) {
        allocate(allocator, i, 20'000);
        std::this_thread::sleep_for(55ms);
    }
    // Now it reads.
    std::vector<std::byte> all(64 << 20);
    std::size_t have = 0;
    std::thread reader([&] {
        for (ssize_t got;
             have < all.size() && (got = recv(slow, all.data() + have, all.size() - have, 0)) > 0;)
            have += static_cast<std::size_t>(got);
    });
    std::this_thread::sleep_for(100ms);
    agent.stop();
    reader.join();
    close(slow);
    std::size_t gaps = 0, indexes = 0;
    for (std::size_t at = 0; at < have;) {
        wire::ChunkHead head;
        ASSERT_EQ(wire::readHead(std::span(all).subspan(at, have - at), head), wire::ChunkStatus::Ok);
        gaps += head.type == wire::kGap;
        indexes += head.type == wire::ChunkType::Index;
        at += wire::kHeadBytes + head.storedBytes;
    }
    EXPECT_GE(gaps, 1u);
    EXPECT_EQ(indexes, 1u); // it has the end
}

TEST_F(LiveRun, TotalsSayWhatStands)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    const std::uint64_t before = allocator.allocate(0, 1000);
    ASSERT_TRUE(agent.start(options(true), facts()));
    Viewer viewer(address());
    const std::uint64_t at = allocator.allocate(0, 5000);
    EXPECT_TRUE(waitFor([&] {
        const wire::Totals totals = viewer.totals();
        return totals.devices.size() == 1 && totals.devices[0].requestedBytes == 6000
            && totals.devices[0].reservedBytes >= 6000 && totals.devices[0].events == 2;
    }));
    allocator.release(0, at);
    allocator.release(0, before);
    EXPECT_TRUE(waitFor([&] { return viewer.totals().devices.at(0).requestedBytes == 0; }));
    agent.stop();
    viewer.join();
}

TEST_F(LiveRun, AChildOfAForkIsNoneOfTheRecording)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    Viewer viewer(address());
    ASSERT_TRUE(waitFor([&] { return viewer.state() == LinkState::Following; }));
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    const pid_t child = fork();
    if (child == 0) {
        agent.forget();
        char ignored = 0;
        close(gate[1]);
        _exit(read(gate[0], &ignored, 1) == 0 ? 0 : 1);
    }
    allocate(allocator, 1, 1'000);
    agent.stop();
    viewer.join(); // though the child lives
    EXPECT_EQ(viewer.state(), LinkState::Ended);
    close(gate[0]);
    close(gate[1]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(LiveRun, OfAProcessThatIsKilledAllIsThereUpToTheLastChunk)
{
    const pid_t child = fork();
    if (child == 0) {
        FakeAllocator allocator;
        if (!agentOf(allocator).start(options(true), facts()))
            _exit(1);
        for (unsigned i = 0;; ++i) {
            allocate(allocator, i, 100);
            std::this_thread::sleep_for(1ms);
        }
    }
    model::LinkAddress victim = address();
    victim.socket = (m_folder / (std::to_string(child) + ".sock")).string();
    ASSERT_TRUE(waitFor([&] { return std::filesystem::exists(victim.socket); }));
    Viewer viewer(victim);
    ASSERT_TRUE(waitFor([&] { return viewer.bytes() > 5'000; }));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    viewer.join();
    EXPECT_EQ(viewer.state(), LinkState::Broken);
    EXPECT_TRUE(viewer.result());
    ASSERT_EQ(viewer.pieces().size(), 1u);
    const wire::Bytes file = fileBytes();
    const wire::Bytes& received = viewer.pieces()[0].bytes;
    ASSERT_LE(received.size(), file.size());
    EXPECT_TRUE(std::equal(received.begin(), received.end(), file.begin()));
    const auto session = sessionOf(received);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->recording().truncation);
    EXPECT_GT(session->recording().find(0)->events.size(), 50);
}

} // namespace strata::test
