// SPDX-License-Identifier: GPL-3.0-or-later
// Whoever connects, and whatever they say: refused, logged once, and the recording goes on.
#include "tests/capture/live/live_run.h"

#include "model/live/link_connection.h"
#include "model/live/live_process.h"
#include "model/wire/link/link_folder.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace strata::test {

namespace {

using model::LinkState;
using namespace std::chrono_literals;

int connectToLink(const model::LinkAddress& address)
{
    if (address.isPort()) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(address.port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return connect(made, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? made : -1;
    }
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    address.socket.copy(to.sun_path, sizeof to.sun_path - 1);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(made, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? made : -1;
}

/// What comes back until the other end hangs up; more than five seconds is none.
wire::Bytes answerTo(const model::LinkAddress& address, const wire::Bytes& said)
{
    const int made = connectToLink(address);
    EXPECT_GE(made, 0);
    EXPECT_EQ(send(made, said.data(), said.size(), MSG_NOSIGNAL), std::ssize(said));
    wire::Bytes answer;
    std::array<std::byte, 4096> buffer;
    pollfd wait{ made, POLLIN, 0 };
    while (poll(&wait, 1, 5000) > 0) {
        const ssize_t got = recv(made, buffer.data(), buffer.size(), 0);
        if (got <= 0) {
            close(made);
            return answer;
        }
        answer.insert(answer.end(), buffer.begin(), buffer.begin() + got);
    }
    ADD_FAILURE() << "it does not hang up";
    close(made);
    return answer;
}

wire::Bytes chunkOf(wire::ChunkType type, const wire::Bytes& payload)
{
    wire::Bytes bytes;
    EXPECT_TRUE(wire::ChunkPacker().pack(type, payload, bytes));
    return bytes;
}

wire::Bytes joinOf(const wire::Join& join)
{
    wire::Bytes bytes;
    wire::appendLinkChunk(wire::kJoin, wire::encodeJoin, join, bytes);
    return bytes;
}

/// Whose refusal an answer is; none: it is none.
std::optional<wire::Refusal::Reason> refusalIn(const wire::Bytes& answer)
{
    wire::ChunkHead head;
    wire::Bytes payload;
    wire::Refusal refusal;
    const std::span<const std::byte> bytes(answer);
    if (wire::readHead(bytes, head) != wire::ChunkStatus::Ok || head.type != wire::kRefusal
        || wire::unpack(head, bytes, bytes.subspan(wire::kHeadBytes), payload) != wire::ChunkStatus::Ok
        || !wire::decodeRefusal(payload, refusal))
        return std::nullopt;
    return refusal.reason;
}

std::size_t countOf(const std::string& text, std::string_view what)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

} // namespace

TEST_F(LiveRun, WhoIsNoStrataIsRefusedAndLoggedOnce)
{
    testing::internal::CaptureStderr();
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    Viewer viewer(address());
    const wire::Bytes good = joinOf({});
    wire::Bytes garbage(5000, std::byte{ 0x47 });
    wire::Bytes otherMajor = good;
    otherMajor[4] = std::byte{ 9 };
    wire::Bytes damaged = good;
    damaged.back() ^= std::byte{ 1 };
    wire::Bytes large = good; // a gigabyte is announced
    for (const std::size_t at : { 8u, 12u })
        large[at + 3] = std::byte{ 0x40 };
    wire::Bytes mebibytes = chunkOf(wire::kJoin, wire::Bytes(1 << 20));
    for (int turn = 0; turn < 2; ++turn)
        for (const wire::Bytes& said : { garbage, otherMajor, damaged, large, mebibytes,
                 chunkOf(wire::ChunkType::Info, {}), chunkOf(wire::kJoin, {}) })
            EXPECT_TRUE(answerTo(address(),
                wire::Bytes(said.begin(), said.begin() + std::min<std::ptrdiff_t>(std::ssize(said), 5000)))
                            .empty());
    wire::Bytes twice = good; // one chunk is all that a viewer may say
    twice.insert(twice.end(), good.begin(), good.end());
    const int talker = connectToLink(address());
    ASSERT_EQ(send(talker, good.data(), good.size(), MSG_NOSIGNAL), std::ssize(good));
    std::this_thread::sleep_for(50ms);
    ASSERT_EQ(send(talker, good.data(), good.size(), MSG_NOSIGNAL), std::ssize(good));
    EXPECT_EQ(refusalIn(answerTo(address(), joinOf({ .version = 77 }))), wire::Refusal::Reason::Version);
    const int half = connectToLink(address()); // and never the rest
    ASSERT_EQ(send(half, good.data(), 20, MSG_NOSIGNAL), 20);
    allocate(allocator, 1, 2'000);
    agent.stop();
    viewer.join();
    EXPECT_TRUE(viewer.pieces().at(0).bytes == fileBytes());
    close(talker);
    close(half);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(countOf(said, "somebody connected who is no Strata"), 1u) << said;
    EXPECT_EQ(countOf(said, "a viewer said more than it may"), 1u) << said;
    EXPECT_EQ(countOf(said, "a viewer of another version"), 1u) << said;
}

TEST_F(LiveRun, SixtyFourLookOnAndNoMore)
{
    testing::internal::CaptureStderr();
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    std::vector<model::LinkConnection> links;
    std::array<std::byte, 64> buffer;
    for (int i = 0; i < 64; ++i) {
        auto link = model::LinkConnection::open(address(), {});
        ASSERT_TRUE(link);
        links.push_back(std::move(*link));
        ASSERT_GT(links.back().read(buffer, 5000), 0); // its greeting: it is in
    }
    EXPECT_EQ(refusalIn(answerTo(address(), joinOf({}))), wire::Refusal::Reason::Full);
    links.pop_back();
    ASSERT_TRUE(waitFor([&] {
        auto link = model::LinkConnection::open(address(), {});
        wire::Bytes answer(64);
        return link && link->read(answer, 1000) > 0 && answer[6] == std::byte{ 97 };
    }));
    // A crowd that connects and says nothing.
    std::vector<int> crowd;
    for (int i = 0; i < 300; ++i)
        crowd.push_back(connectToLink(address()));
    allocate(allocator, 1, 2'000);
    const auto begin = std::chrono::steady_clock::now();
    agent.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 7s);
    for (const int each : crowd)
        if (each >= 0)
            close(each);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(countOf(said, "64 look on already"), 1u) << said;
    EXPECT_LE(countOf(said, "too many connect at once"), 1u) << said;
    const auto session = sessionOf(fileBytes());
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->exact());
}

TEST_F(LiveRun, AThousandConnectionsAtOnceKeepNobodyOutForLong)
{
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit before = limit;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
    if (limit.rlim_cur < 1'600 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        GTEST_SKIP() << "the system gives no 1,600 descriptors to a process";
    const auto descriptors
        = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
    testing::internal::CaptureStderr();
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    const auto descriptorsBefore = descriptors();
    ASSERT_TRUE(agent.start(options(true), facts()));
    Viewer first(address());
    ASSERT_TRUE(waitFor([&] { return first.state() == LinkState::Following; }));
    // Half of them say nothing, the others something that is no Strata.
    std::array<std::vector<int>, 8> crowd;
    std::vector<std::jthread> threads;
    for (std::vector<int>& mine : crowd)
        threads.emplace_back([this, &mine] {
            for (int i = 0; i < 125; ++i) {
                mine.push_back(connectToLink(address()));
                if (i % 2 == 0)
                    (void)!send(mine.back(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
            }
        });
    allocate(allocator, 1, 5'000);
    threads.clear(); // all have connected, or were told that they cannot
    // One that knows how to join gets in while the crowd is there.
    EXPECT_TRUE(waitFor([&] {
        auto link = model::LinkConnection::open(address(), {});
        wire::Bytes answer(64);
        return link && link->read(answer, 200) > 0 && answer[6] == std::byte{ 97 };
    }));
    allocate(allocator, 2, 5'000);
    const auto begin = std::chrono::steady_clock::now();
    agent.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 7s);
    first.join();
    EXPECT_EQ(first.state(), LinkState::Ended);
    ASSERT_EQ(first.pieces().size(), 1u);
    EXPECT_TRUE(first.pieces()[0].bytes == fileBytes());
    for (const std::vector<int>& mine : crowd)
        for (const int each : mine)
            if (each >= 0)
                close(each);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_LE(countOf(said, "too many connect at once"), 1u) << said;
    EXPECT_LE(countOf(said, "somebody connected who is no Strata"), 1u) << said;
    EXPECT_EQ(descriptors(), descriptorsBefore);
    const auto session = sessionOf(fileBytes());
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->exact());
    setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(LiveRun, APortAsksForTheToken)
{
    testing::internal::CaptureStderr();
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    agent::AgentOptions open = options(true);
    open.live->port = 0;
    ASSERT_TRUE(agent.start(open, facts()));
    const std::string said = testing::internal::GetCapturedStderr();
    const std::size_t token = said.find("STRATA_TOKEN="), port = said.rfind(':');
    ASSERT_NE(token, said.npos) << said;
    const std::string secret = said.substr(token + 13, 32);
    const model::LinkAddress at{ {}, static_cast<std::uint16_t>(std::stoi(said.substr(port + 1))), 0 };
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), secret.npos);

    EXPECT_EQ(refusalIn(answerTo(at, joinOf({}))), wire::Refusal::Reason::Token);
    EXPECT_EQ(refusalIn(answerTo(at, joinOf({ .token = secret.substr(1) }))), wire::Refusal::Reason::Token);
    Viewer wrong(at, { .token = std::string(32, '0') });
    wrong.join();
    ASSERT_FALSE(wrong.result());
    EXPECT_THAT(wrong.result().error().text(), testing::HasSubstr("the token is not the one"));
    Viewer viewer(at, { .token = secret });
    ASSERT_TRUE(waitFor([&] { return viewer.state() == LinkState::Following; }));
    allocate(allocator, 1, 1'000);
    agent.stop();
    viewer.join();
    EXPECT_EQ(viewer.state(), LinkState::Ended);
    EXPECT_TRUE(viewer.pieces().at(0).bytes == fileBytes());
}

TEST_F(LiveRun, WhatOthersMayHaveMadeIsNotTrusted)
{
    // A folder that others may enter, or a link to one: nobody looks on, and the file is recorded.
    chmod(m_folder.c_str(), 0755);
    testing::internal::CaptureStderr();
    {
        FakeAllocator allocator;
        agent::Agent& agent = agentOf(allocator);
        ASSERT_TRUE(agent.start(options(true), facts()));
        allocate(allocator, 1, 100);
        agent.stop();
        EXPECT_FALSE(agentOf(allocator).start(options(false), facts()));
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, testing::HasSubstr("its mode is not 0700): nobody can look on\n"));
    EXPECT_THAT(said, testing::HasSubstr("nobody can look on, and nothing is recorded: the program goes on"));
    EXPECT_FALSE(fileBytes().empty());
    chmod(m_folder.c_str(), 0700);
    const std::string link = (m_folder / "link").string();
    std::filesystem::create_directory_symlink(m_folder, link);
    EXPECT_EQ(wire::whyNotTrusted(link, geteuid()), "it is a link");
    EXPECT_EQ(wire::whyNotTrusted(m_folder, geteuid() + 1), "it belongs to another user");
    EXPECT_EQ(wire::whyNotTrusted(m_folder, geteuid()), "");

    // A socket that is a link, or no socket: the viewer says so.
    const std::string other = (m_folder / "other.sock").string();
    std::filesystem::create_symlink("/nowhere", other);
    const auto refused = model::LinkConnection::open({ other, 0, geteuid() }, {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), testing::HasSubstr("it is a link"));
    std::ofstream(m_folder / "plain.sock") << "text";
    EXPECT_FALSE(model::LinkConnection::open({ (m_folder / "plain.sock").string(), 0, geteuid() }, {}));

    // One that nobody listens on any more is removed by the next that is made.
    const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string path = (m_folder / "999999.sock").string();
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    close(dead);
    wire::removeDeadSockets(m_folder);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::exists(m_folder / "plain.sock"));
}

TEST_F(LiveRun, AViewerGoesOnWhereItsConnectionBroke)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    agent::AgentOptions open = options(true);
    open.live->port = 0;
    open.live->token = "secret";
    testing::internal::CaptureStderr();
    ASSERT_TRUE(agent.start(open, facts()));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); // the token is known
    // A tunnel that breaks now and then, in the middle of chunks.
    const int tunnel = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(bind(tunnel, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(listen(tunnel, 8), 0);
    ASSERT_EQ(getsockname(tunnel, reinterpret_cast<sockaddr*>(&at), &size), 0);
    std::atomic<bool> done{ false };
    std::atomic<int> breaks{ 0 };
    std::atomic<bool> stays{ false }; // a connection that does not break carries
    std::jthread carrier([&] {
        std::mt19937 random(1);
        while (!done) {
            pollfd wait{ tunnel, POLLIN, 0 };
            if (poll(&wait, 1, 20) <= 0)
                continue;
            const int near = accept(tunnel, nullptr, nullptr);
            const int far = connectToLink(address()); // a socket serves as well
            std::size_t room = breaks < 4 ? 1'000 + random() % 20'000 : SIZE_MAX;
            std::array<char, 777> buffer;
            while (near >= 0 && far >= 0 && room > 0) {
                pollfd both[]{ { near, POLLIN, 0 }, { far, POLLIN, 0 } };
                if (poll(both, 2, 1000) < 0)
                    break;
                ssize_t got = 1;
                if (both[0].revents != 0 && (got = recv(near, buffer.data(), buffer.size(), 0)) > 0)
                    (void)!send(far, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
                if (got > 0 && both[1].revents != 0
                    && (got = recv(far, buffer.data(), buffer.size(), 0)) > 0) {
                    const std::size_t part = std::min(room, static_cast<std::size_t>(got));
                    (void)!send(near, buffer.data(), part, MSG_NOSIGNAL);
                    stays = breaks >= 4;
                    room -= part;
                }
                if (got <= 0)
                    break;
            }
            breaks += room == 0 ? 1 : 0;
            close(near);
            close(far);
        }
    });
    allocate(allocator, 1, 20'000);
    Viewer viewer({ {}, ntohs(at.sin_port), 0 }, { .token = "secret" });
    ASSERT_TRUE(waitFor([&] { return stays && viewer.state() == LinkState::Following; }));
    allocate(allocator, 2, 2'000);
    agent.stop();
    viewer.join();
    done = true;
    EXPECT_EQ(viewer.state(), LinkState::Ended);
    ASSERT_EQ(viewer.pieces().size(), 1u);
    EXPECT_TRUE(viewer.pieces()[0].bytes == fileBytes());
    close(tunnel);
}

} // namespace strata::test
