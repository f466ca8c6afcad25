// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/fits.h"
#include "tests/integration/run_strata.h"
#include "tests/support/environment.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::test {

using testing::HasSubstr;
using testing::StartsWith;

namespace {

const std::int64_t kContext = model::leastOutsideBytesOfProcess();

const std::string kPlainFile = dataFile("versions/torch2.6_plain.pickle.gz");
const std::string kOomFile = dataFile("versions/torch2.6_oom.pickle.gz");

} // namespace

#ifdef STRATA_WINDOW_PROGRAM
/// Who asks over ssh has no screen, and is not to be told of plugins.
TEST(Usage, TheWindowProgramNeedsNoScreenForText)
{
    const Variable display("DISPLAY", std::nullopt);
    const Variable wayland("WAYLAND_DISPLAY", std::nullopt);
    const Variable platform("QT_QPA_PLATFORM", "xcb");
    for (const char* flag : { "--help", "-h", "--version" }) {
        const Ran ran = runProgram(STRATA_WINDOW_PROGRAM, { flag });
        EXPECT_EQ(ran.code, 0) << flag << ": " << ran.err;
        EXPECT_FALSE(ran.out.empty()) << flag;
    }
}
#endif

TEST(Usage, HelpAndVersionGoToOut)
{
    for (const char* flag : { "--help", "-h" }) {
        const Ran ran = strata({ flag });
        EXPECT_EQ(ran.code, 0);
        EXPECT_EQ(ran.err, "");
        for (const char* command : { "summary", "check", "at", "blocks", "events", "render" })
            EXPECT_THAT(ran.out, HasSubstr(command));
    }
    EXPECT_THAT(strata({ "--version" }).out, StartsWith("strata 0."));
    EXPECT_EQ(strata({ "--version" }).code, 0);
}

TEST(Usage, EveryCommandHasHelp)
{
    for (const char* command : { "summary", "check", "at", "blocks", "events", "render" }) {
        const Ran ran = strata({ command, "--help" });
        EXPECT_EQ(ran.code, 0) << command;
        EXPECT_THAT(ran.out, HasSubstr("FILE")) << command;
        EXPECT_THAT(ran.out, HasSubstr("Exit codes")) << command;
    }
    for (const std::string command : { "record", "dryrun" }) {
        const Ran ran = strata({ command, "--help" });
        EXPECT_EQ(ran.code, 0);
        EXPECT_THAT(ran.out, HasSubstr("\nUsage: strata " + command + " [OPTIONS] -- PROGRAM...\n"));
    }
    EXPECT_THAT(strata({ "at", "--help" }).out, HasSubstr("oom:K"));
}

TEST(Usage, MistakesExitWithTwoAndOneUsefulLine)
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
        { {}, "a command is missing" },
        { { "summmary", kPlainFile }, "did you mean 'summary'?" },
        { { "frobnicate" }, "the commands are summary, check" },
        { { kPlainFile }, "try: strata summary" },
        { { "summary" }, "FILE" },
        { { "summary", kPlainFile, "--wrong" }, "strata: summary: there is no option '--wrong'" },
        { { "--wrong" }, "--wrong" },
        { { "at", kPlainFile }, "POSITION" },
        { { "at", kPlainFile, "peak", "extra" }, "'extra'" },
        { { "at", kPlainFile, "peak", "--by", "colour" },
            "line, site, stream, pool, size, category or module" },
        { { "at", kPlainFile, "nowhere" }, "is no position" },
        { { "at", kPlainFile, "100000" }, "has events 0 to" },
        { { "at", kPlainFile, "-2" }, "there is no event -2" },
        { { "at", kPlainFile, "peak", "--device", "x" }, "--device" },
        { { "summary", kPlainFile, "--device", "7" }, "there is no device 7: the recording has device 0" },
        { { "summary", kPlainFile, "--max-peak", "much" }, "70GiB" },
        { { "blocks", kPlainFile, "--limit", "-3" }, "--limit" },
        { { "blocks", kPlainFile, "--from", "10", "--to", "5" }, "swap them" },
        { { "summary", "-" }, "standard input" },
        { { "render", kPlainFile }, "--output" },
        { { "render", kPlainFile, "-o", "x", "--size", "10" }, "1920x1080" },
        { { "render", kPlainFile, "-o", "x", "--theme", "pink" }, "light or dark" },
        { { "record" }, "strata: record: no command: put it behind --, as in strata record -o " },
        { { "record", "-o", "x.strata", "--" }, "strata: record: no command: put it behind --" },
        { { "record", "-o", "x.strata", "true" },
            "strata: record: unexpected argument 'true': a command goes" },
        { { "record", "--stacks", "all", "--", "true" }, "strata: record: --stacks: all not in" },
        { { "record", "--", "true" }, "strata: record: no file to write" },
        { { "dryrun" }, "strata: dryrun: no command: put it behind --, as in strata dryrun -- " },
        { { "dryrun", "--json", "--" }, "strata: dryrun: no command: put it behind --" },
        { { "dryrun", "record" }, "strata: dryrun: unexpected argument 'record': a command goes behind --" },
        { { "whatif", kPlainFile, "record" }, "unexpected argument 'record': a command goes behind --" },
        { { "whatif", kPlainFile, "--with", kPlainFile, kPlainFile },
            "': each further recording goes behind a --with" },
    };
    for (const auto& [arguments, expected] : mistakes) {
        const Ran ran = strata(arguments);
        EXPECT_EQ(ran.code, 2) << testing::PrintToString(arguments) << ran.err;
        EXPECT_EQ(ran.out, "") << testing::PrintToString(arguments);
        EXPECT_THAT(ran.err, StartsWith("strata: ")) << testing::PrintToString(arguments);
        EXPECT_THAT(ran.err, HasSubstr(expected)) << testing::PrintToString(arguments);
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    }
}

TEST(Usage, MissingOutOfMemoryExitsWithOne)
{
    const Ran ran = strata({ "at", kPlainFile, "oom", "--json" });
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("no out-of-memory was recorded"));
    EXPECT_EQ(strata({ "at", kOomFile, "oom" }).code, 0);
    EXPECT_EQ(strata({ "at", kOomFile, "oom:1" }).code, 0);
    EXPECT_EQ(strata({ "at", kOomFile, "oom:2" }).code, 1);
}

TEST(Usage, MaxPeakComparesTheReservedPeakAndTheCudaContext)
{
    const std::int64_t needed
        = strata({ "summary", "--json", kPlainFile }).json()["devices"][0]["reserved_bytes_peak"];
    EXPECT_EQ(strata({ "summary", kPlainFile, "--max-peak", std::to_string(needed + kContext) }).code, 0);
    const Ran over = strata({ "summary", kPlainFile, "--max-peak", std::to_string(needed + kContext - 1) });
    EXPECT_EQ(over.code, 1);
    EXPECT_THAT(over.err, HasSubstr("needs"));
    const Ran tight = strata({ "summary", kPlainFile, "--max-peak", std::to_string(needed + kContext) });
    EXPECT_THAT(tight.err, HasSubstr("may exceed --max-peak"));
    EXPECT_EQ(strata({ "summary", kPlainFile, "--json", "--max-peak", "1KiB" }).code, 1);
    EXPECT_EQ(strata({ "summary", kPlainFile, "--max-peak", "70GiB" }).code, 0);
}

TEST(Usage, MaxPeakCountsTheRequestThatFailed)
{
    const auto told = strata({ "summary", "--json", kOomFile }).json();
    const std::int64_t reserved = told["devices"][0]["reserved_bytes_peak"];
    const std::int64_t needed = told["fits"][0]["needed_bytes"];
    ASSERT_GT(needed, reserved);
    const Ran ran = strata({ "summary", kOomFile, "--max-peak", std::to_string(reserved) });
    EXPECT_EQ(ran.code, 1) << "it died for want of memory";
    EXPECT_THAT(ran.err, HasSubstr("needs at least"));
    EXPECT_EQ(strata({ "summary", kOomFile, "--max-peak", std::to_string(needed + kContext) }).code, 0);
}

TEST(Usage, SeveralFilesGiveTheWorstExitCode)
{
    const Ran ran = strata({ "summary", "--json", kPlainFile, "/no/such/file", kOomFile });
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.rows().size(), 2u);
    EXPECT_THAT(ran.err, StartsWith("strata: /no/such/file: "));
    EXPECT_EQ(strata({ "check", kPlainFile, kOomFile }).code, 0);
}

TEST(Usage, TextHasNoEscapesWithoutATerminal)
{
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             { "summary", kOomFile }, { "check", kOomFile }, { "at", kOomFile, "peak" },
             { "at", kOomFile, "peak", "--by", "site" }, { "blocks", kOomFile }, { "events", kOomFile } }) {
        const Ran ran = strata(arguments);
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ(ran.err, "");
        EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << arguments.front();
        EXPECT_FALSE(ran.out.empty());
    }
}

TEST(Usage, ABrokenPipeEndsQuietly)
{
    const Ran ran = runProgram("/bin/sh",
        { "-c", "{ \"$0\" events \"$1\" --json; echo $? >&2; } | head -n 1", STRATA_PROGRAM, kOomFile });
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.rows().size(), 1u);
    EXPECT_EQ(ran.err, "0\n");
}

TEST(Usage, AFullDiskIsAnError)
{
    const Ran ran
        = runProgram("/bin/sh", { "-c", "\"$0\" events \"$1\" > /dev/full", STRATA_PROGRAM, kOomFile });
    EXPECT_EQ(ran.code, 3);
    EXPECT_THAT(ran.err, HasSubstr("standard output"));
}

} // namespace strata::test
