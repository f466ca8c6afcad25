// SPDX-License-Identifier: GPL-3.0-or-later
// `strata attach` on a terminal, as a person sees it.
#include "tests/capture/live/live_run.h"
#include "tests/support/terminal.h"

#include <csignal>
#include <cstring>
#include <gmock/gmock.h>

namespace strata::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class TerminalRun : public LiveRun {
protected:
    OnTerminal::Options on(const char* terminal, const char* locale, int rows = 24, int columns = 80)
    {
        return { rows, columns,
            { { "TERM", terminal }, { "LC_ALL", locale }, { "NO_COLOR", "" }, { "PWD", m_folder } } };
    }
    OnTerminal::Options onXterm() { return on("xterm-256color", "C.UTF-8"); }
    [[nodiscard]] std::vector<std::string> attach() const { return { "attach", address().socket }; }

    /// Echo, lines and signals as they were, and the screen of the shell.
    static void expectRestored(const OnTerminal& terminal)
    {
        const termios before = terminal.settingsBefore(), now = terminal.settings();
        EXPECT_EQ(now.c_lflag, before.c_lflag);
        EXPECT_EQ(now.c_iflag, before.c_iflag);
        EXPECT_EQ(now.c_oflag, before.c_oflag);
        EXPECT_FALSE(terminal.screen().isAlternate());
        EXPECT_EQ(terminal.screen().unknown(), 0);
    }
};

} // namespace

TEST_F(TerminalRun, ShowsWhatHappensAndQuits)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Nothing has been allocated yet")) << terminal.screen().text();
    EXPECT_TRUE(terminal.screen().isAlternate());
    EXPECT_TRUE(terminal.waitForInRow(0, " train.py  pid " + std::to_string(getpid()) + "  rank 3 of 8"))
        << terminal.screen().text();
    EXPECT_TRUE(terminal.waitForInRow(0, "connected"));
    const std::uint64_t one = allocator.allocate(0, 1'000'000);
    allocator.allocate(0, 500'000);
    EXPECT_TRUE(terminal.waitFor("requested 1.43 MiB")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("Live by line of code, now: 1.43 MiB in 2 blocks"))
        << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("reserved 4.00 MiB"));
    EXPECT_TRUE(terminal.waitFor("█"));
    EXPECT_TRUE(terminal.screen().sawColour());
    allocator.release(0, one);
    EXPECT_TRUE(terminal.waitFor("Live by line of code, now: 488 KiB in 1 block"))
        << terminal.screen().text();
    terminal.type("p");
    EXPECT_TRUE(terminal.waitFor("Live by line of code, at the peak")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("1.43 MiB in 2 blocks"));
    terminal.type(" ");
    EXPECT_TRUE(terminal.waitFor("paused"));
    terminal.type("h");
    EXPECT_TRUE(terminal.waitFor("quits; the process goes on"));
    terminal.type("hq");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    expectRestored(terminal);
    agent.stop();
}

TEST_F(TerminalRun, NeedsNoColourAndNoUtf8)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), on("vt100", "C"));
    ASSERT_TRUE(terminal.waitFor("# requested  977 KiB")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("Live by line of code, now"));
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    EXPECT_FALSE(terminal.screen().sawColour());
    EXPECT_TRUE(
        std::ranges::all_of(terminal.written(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    expectRestored(terminal);

    OnTerminal::Options without = onXterm();
    without.environment.emplace_back("NO_COLOR", "1");
    OnTerminal other(STRATA_PROGRAM, attach(), without);
    ASSERT_TRUE(other.waitFor("Live by line of code, now"));
    other.type("q");
    EXPECT_EQ(other.waitForEnd(), 0);
    EXPECT_FALSE(other.screen().sawColour());
    agent.stop();
}

TEST_F(TerminalRun, FollowsTheSizeOfTheTerminal)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Last events"));
    terminal.resize(12, 40);
    ASSERT_TRUE(terminal.waitForInRow(11, "q quit")) << terminal.screen().text();
    terminal.resize(60, 200);
    ASSERT_TRUE(terminal.waitForInRow(59, "1-4 group")) << terminal.screen().text();
    ASSERT_TRUE(terminal.waitFor("Last events"));
    terminal.resize(1, 3);
    terminal.pump(300ms);
    terminal.resize(24, 80);
    ASSERT_TRUE(terminal.waitFor("Last events"));
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    expectRestored(terminal);
    agent.stop();
}

TEST_F(TerminalRun, WhateverEndsItTheTerminalIsRestored)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    for (const int number : { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT }) {
        SCOPED_TRACE(strsignal(number));
        OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
        ASSERT_TRUE(terminal.waitFor("Live by line of code, now"));
        terminal.signal(number);
        const bool asksToEnd = number == SIGINT || number == SIGTERM || number == SIGHUP;
        EXPECT_EQ(terminal.waitForEnd(), asksToEnd ? 0 : 1000 + number);
        expectRestored(terminal);
    }
    agent.stop();
}

TEST_F(TerminalRun, AnOutOfMemoryIsToldAtOnceAndTheEndToo)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Live by line of code, now"));
    allocator.fail(0, 5'000'000'000);
    EXPECT_TRUE(terminal.waitFor("Out of memory at event ")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("the program asked for 4.66 GiB")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitFor("Why: ")) << terminal.screen().text();
    agent.stop();
    EXPECT_TRUE(terminal.waitFor("Live by line of code, at the end")) << terminal.screen().text();
    EXPECT_TRUE(terminal.waitForInRow(0, "  ended"));
    EXPECT_TRUE(terminal.pump(200ms)); // it stays there to be looked at
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    expectRestored(terminal);
}

TEST_F(TerminalRun, AnOutOfMemoryEndsAPause)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Live by line of code, now"));
    terminal.type("o");
    ASSERT_TRUE(terminal.waitFor("no request has failed")) << terminal.screen().text();
    terminal.type(" ");
    ASSERT_TRUE(terminal.waitFor("paused")) << terminal.screen().text();
    allocator.allocate(0, 1'000'000);
    ASSERT_TRUE(terminal.waitFor("paused, 2 events since")) << terminal.screen().text();
    allocator.fail(0, 5'000'000'000);
    EXPECT_TRUE(terminal.waitFor("Out of memory at event ")) << terminal.screen().text();
    EXPECT_FALSE(terminal.screen().text().find("paused") != std::string::npos) << terminal.screen().text();
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    agent.stop();
}

TEST_F(TerminalRun, SavesWhatWasReceived)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocate(allocator, 1, 500);
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Live by line of code, now"));
    const std::string path = m_folder / "kept.strata";
    terminal.type("s");
    ASSERT_TRUE(terminal.waitFor("save as: train.py-")) << terminal.screen().text();
    terminal.type("\x15" + path + "\r"); // Ctrl+U
    ASSERT_TRUE(terminal.waitFor("saved ")) << terminal.screen().text();
    const auto session = model::Opener::openAll(path);
    ASSERT_TRUE(session) << session.error().text();
    EXPECT_GT((*session)->find(0)->eventCount(), 100);
    EXPECT_EQ((*session)->find(0)->totals().events, (*session)->find(0)->eventCount());
    EXPECT_TRUE((*session)->exact()); // though nobody knows its end yet
    ASSERT_TRUE((*session)->recording().truncation);
    EXPECT_TRUE((*session)->recording().truncation->interrupted);
    terminal.type("s\x15" + path + "\r"); // it is there already
    EXPECT_TRUE(terminal.waitFor("is there already")) << terminal.screen().text();
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    agent.stop();
}

TEST_F(TerminalRun, SaysWhatKeepsItFromShowing)
{
    // Nobody there: the error stands on the screen of the shell.
    OnTerminal nobody(STRATA_PROGRAM, { "attach", (m_folder / "1.sock").string() }, onXterm());
    EXPECT_NE(nobody.waitForEnd(), 0);
    EXPECT_THAT(nobody.written(), HasSubstr("strata: attach: "));
    expectRestored(nobody);

    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    OnTerminal unknown(STRATA_PROGRAM, attach(), on("no-such-terminal", "C"));
    EXPECT_EQ(unknown.waitForEnd(), 2);
    EXPECT_THAT(unknown.written(), HasSubstr("no-such-terminal"));
    EXPECT_THAT(unknown.written(), HasSubstr("TERM=vt100"));
    expectRestored(unknown);
    agent.stop();
}

/// Who is stopped keeps nobody waiting, and has all when he goes on.
TEST_F(TerminalRun, OneThatWasStoppedCatchesUp)
{
    FakeAllocator allocator;
    agent::Agent& agent = agentOf(allocator);
    ASSERT_TRUE(agent.start(options(true), facts()));
    allocator.allocate(0, 1'000'000);
    OnTerminal terminal(STRATA_PROGRAM, attach(), onXterm());
    ASSERT_TRUE(terminal.waitFor("Live by line of code, now"));
    terminal.signal(SIGSTOP);
    const auto end = std::chrono::steady_clock::now() + 1500ms;
    auto longest = 0ns;
    while (std::chrono::steady_clock::now() < end) {
        const auto begin = std::chrono::steady_clock::now();
        allocate(allocator, 1, 1'000);
        longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - begin);
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_LT(longest, 1s); // it would be the whole time if anybody waited
    const std::size_t logged = allocator.log(0).size();
    allocator.allocate(0, 500'000);
    terminal.signal(SIGCONT);
    ASSERT_TRUE(terminal.waitFor("Live by line of code, now: 1.43 MiB in 2 blocks"))
        << terminal.screen().text();
    EXPECT_GT(logged, 50'000u);
    EXPECT_FALSE(terminal.screen().contains("joined late"));
    terminal.type("q");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    agent.stop();
}

/// A process that nobody records: the driver tells what it uses, and how much others do.
TEST_F(TerminalRun, ShowsTheDriversTotalsOfAnyProcess)
{
    const auto machine = [&](const char* used) {
        const std::string text = "device H100 85899345920 70000000000\nprocess " + std::to_string(getpid())
            + " " + used + "\nprocess 1 5000000000\n";
        std::ofstream(m_folder / "machine.new") << text;
        std::filesystem::rename(m_folder / "machine.new", m_folder / "machine");
    };
    machine("2147483648");
    const std::string own = std::to_string(getpid());
    OnTerminal::Options options = onXterm();
    options.environment.emplace_back("STRATA_FAKE_NVML", m_folder / "machine");
    options.environment.emplace_back("LD_LIBRARY_PATH", STRATA_FAKE_NVML_FOLDER);
    options.environment.emplace_back("XDG_RUNTIME_DIR", m_folder);
    OnTerminal terminal(STRATA_PROGRAM, { "attach", own }, options);
    ASSERT_TRUE(terminal.waitFor("in use, as the driver says 2.00 GiB")) << terminal.screen().text();
    EXPECT_THAT(terminal.screen().row(0), HasSubstr("pid " + own));
    EXPECT_TRUE(terminal.waitForInRow(0, "polled"));
    EXPECT_TRUE(terminal.waitFor("Polled: these are the driver's totals"));
    EXPECT_TRUE(terminal.waitFor("In use on GPU 0: 65.2 GiB of 80.0 GiB, by process"));
    EXPECT_TRUE(terminal.waitFor("4.66 GiB   7.1 %")) << terminal.screen().text();
    machine("3221225472");
    EXPECT_TRUE(terminal.waitFor("in use, as the driver says 3.00 GiB")) << terminal.screen().text();
    terminal.type("h");
    EXPECT_TRUE(terminal.waitFor("the next device"));
    terminal.type("hq");
    EXPECT_EQ(terminal.waitForEnd(), 0);
    expectRestored(terminal);

    OnTerminal list(STRATA_PROGRAM, { "list" }, options);
    EXPECT_EQ(list.waitForEnd(), 0);
    EXPECT_THAT(list.written(), HasSubstr("polled"));
    EXPECT_THAT(list.written(), HasSubstr("3.00 GiB"));
    EXPECT_THAT(list.written(), HasSubstr("strata attach "));
    OnTerminal json(STRATA_PROGRAM, { "attach", own, "--json" }, options);
    EXPECT_TRUE(json.waitFor("\"state\":\"polled\""));
    EXPECT_THAT(json.written(), HasSubstr("\"used_bytes\":3221225472,\"reserved_bytes\":null"));
    json.signal(SIGINT);
    EXPECT_EQ(json.waitForEnd(), 0);
    OnTerminal file(STRATA_PROGRAM, { "attach", own, "-o", (m_folder / "no.strata").string() }, options);
    EXPECT_EQ(file.waitForEnd(), 1);
    EXPECT_THAT(file.written(), HasSubstr("there is no session of it"));
    EXPECT_FALSE(std::filesystem::exists(m_folder / "no.strata"));
}

} // namespace strata::test
