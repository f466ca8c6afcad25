// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"
#include "tests/support/summary_text.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace strata::test {
namespace {

/// What summary says of a file, without what it says about the file itself.
nlohmann::json figuresOf(const std::string& file)
{
    nlohmann::json summary = strata({ "summary", "--json", file }).json();
    for (const char* key : { "file", "file_bytes", "format" })
        summary.erase(key);
    return summary;
}

/// What is printed, without what it says about the file itself.
std::string printed(const std::string& file, bool json)
{
    const Ran ran = strata(json ? std::vector<std::string>{ "summary", "--json", file }
                                : std::vector<std::string>{ "summary", file });
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::string text = ran.out.substr(ran.out.find('\n'));
    if (json) {
        nlohmann::json told = ran.json();
        for (const char* ofTheFile : { "file", "format", "file_bytes" })
            told.erase(ofTheFile);
        text = told.dump();
    }
    for (std::size_t at = 0; (at = text.find(file, at)) != text.npos;) // in commands that it names
        text.replace(at, file.size(), "FILE");
    return text;
}

} // namespace

TEST(Convert, ASessionPrintsTheSameSummaryWithoutReadingItsEvents)
{
    const TemporaryDirectory directory;
    const std::string session = directory.path() / "run.strata";
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dataFile("versions"))) {
        if (entry.path().extension() != ".gz")
            continue;
        SCOPED_TRACE(entry.path().string());
        ASSERT_EQ(strata({ "convert", entry.path(), "-o", session }).code, 0);
        ASSERT_TRUE(test::outlineIn(session));
        for (const bool json : { true, false })
            EXPECT_EQ(printed(session, json), printed(entry.path(), json));
        ++files;
    }
    EXPECT_EQ(files, 15);
}

/// A file is opened once: what can be read only once is enough.
TEST(Convert, WhatComesThroughAPipeSaysWhatItsFileSays)
{
    const TemporaryDirectory directory;
    const std::string session = directory.path() / "run.strata",
                      snapshot = dataFile("versions/torch2.15_oom.pickle.gz");
    ASSERT_EQ(strata({ "convert", snapshot, "-o", session }).code, 0);
    for (const std::string& file : { session, snapshot }) {
        for (const char* command : { "summary", "check" }) {
            SCOPED_TRACE(file + " " + command);
            const Ran piped = runProgram("/bin/sh",
                { "-c", "cat \"$1\" | \"$2\" \"$3\" --json /dev/stdin", "sh", file, STRATA_PROGRAM,
                    command });
            EXPECT_EQ(piped.err, "");
            nlohmann::json got = piped.json(), wanted = strata({ command, "--json", file }).json();
            for (const char* ofTheFile : { "file", "file_bytes" }) {
                got.erase(ofTheFile);
                wanted.erase(ofTheFile);
            }
            EXPECT_EQ(got, wanted);
        }
    }
}

TEST(Convert, SessionAndPickleHaveTheFiguresOfTheSnapshot)
{
    const TemporaryDirectory directory;
    const std::string session = directory.path() / "run.strata", pickle = directory.path() / "run.pickle";
    for (const char* name : { "versions/torch2.1_plain.pickle.gz", "versions/torch2.15_expandable.pickle.gz",
             "versions/torch2.6_oom.pickle.gz" }) {
        SCOPED_TRACE(name);
        const Ran written = strata({ "convert", dataFile(name), "-o", session });
        ASSERT_EQ(written.code, 0) << written.err;
        EXPECT_NE(written.out.find("KiB (from "), std::string::npos) << written.out;
        EXPECT_EQ(figuresOf(session), figuresOf(dataFile(name)));
        ASSERT_EQ(strata({ "convert", session, "-o", pickle }).code, 0);
        EXPECT_EQ(figuresOf(pickle), figuresOf(dataFile(name)));
        EXPECT_EQ(strata({ "events", "--json", pickle }).rows().size(),
            strata({ "events", "--json", dataFile(name) }).rows().size());
    }
}

TEST(Convert, PythonReadsThePickle)
{
    const TemporaryDirectory directory;
    const std::string pickle = directory.path() / "run.pickle";
    ASSERT_EQ(strata({ "convert", dataFile("versions/torch2.11_plain.pickle.gz"), "-o", pickle }).code, 0);
    const Ran python = runProgram("/usr/bin/env",
        { "python3", "-c",
            "import gzip, pickle, sys\n"
            "a = pickle.loads(gzip.open(sys.argv[1]).read())\n"
            "b = pickle.load(open(sys.argv[2], 'rb'))\n"
            "known = ['action', 'size', 'stream', 'time_us', 'addr', 'frames']\n"
            "cut = lambda s: [[{k: e.get(k) or None for k in known} for e in t] for t in "
            "s['device_traces']]\n"
            "assert cut(a) == cut(b)\n"
            "assert [s['address'] for s in a['segments']] == [s['address'] for s in b['segments']]\n",
            dataFile("versions/torch2.11_plain.pickle.gz"), pickle });
    EXPECT_EQ(python.code, 0) << python.err;
}

TEST(Convert, SaysWhatIsWrongAndWritesNothing)
{
    const TemporaryDirectory directory;
    const std::string file
        = directory.file("a.strata", contentOf(dataFile("versions/torch2.6_oom.pickle.gz")));
    const auto expect = [](const Ran& ran, int code, const char* text) {
        EXPECT_EQ(ran.code, code);
        EXPECT_NE(ran.err.find(text), std::string::npos) << ran.err;
    };
    expect(strata({ "convert", file }), 2, "--output is required");
    expect(strata({ "convert", file, "-o", "x.txt" }), 2, "name it .strata for a session");
    expect(strata({ "convert", file, "-o", file }), 2, "not written over itself");
    expect(strata({ "convert", file, "-o", "/nowhere/at/all.strata" }), 3,
        "/nowhere/at/all.strata: cannot be written");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()),
                  std::filesystem::directory_iterator()),
        1);
}

} // namespace strata::test
