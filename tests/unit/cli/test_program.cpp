// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace strata::cli {

using model::Error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace {

/// A command that does what the test says.
class Fake : public Command {
public:
    using Work = std::function<model::Result<int>(Output& out)>;
    Fake(std::string name, Work work)
        : Command(std::move(name), "Does what a test says")
        , m_work(std::move(work))
    {
    }

    void declare(CLI::App& app) override { app.add_option("--number", number, "A number"); }
    model::Result<void> check() override
    {
        if (number < 0)
            return model::fail(Error::Kind::Usage, model::verbatim("--number cannot be negative"),
                model::verbatim("give 0"));
        return {};
    }
    model::Result<int> run(Output& out, Output&) override { return m_work(out); }

    int number = 0;

private:
    Work m_work;
};

/// A command that starts a program.
class FakeStarter final : public Fake {
public:
    using Fake::Fake;
    ProgramWords* programWords() override { return &program; }
    std::string_view place() const override { return "start"; }
    int exitCodeOf(const Error&) const override { return 42; }

    ProgramWords program{ "strata start -- true", true, {} };
};

class TextFile {
public:
    TextFile()
        : m_file(std::tmpfile())
    {
    }
    ~TextFile() { std::fclose(m_file); }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    int descriptor() const { return fileno(m_file); }
    std::string text() const
    {
        std::string content(static_cast<std::size_t>(lseek(descriptor(), 0, SEEK_END)), '\0');
        return pread(descriptor(), content.data(), content.size(), 0) == std::ssize(content) ? content : "?";
    }

private:
    std::FILE* m_file;
};

class ProgramTest : public testing::Test {
protected:
    ProgramTest()
    {
        auto work = [this](Output& out) {
            ++runs;
            return body(out);
        };
        auto one = std::make_unique<Fake>("work", work);
        auto two = std::make_unique<FakeStarter>("start", work);
        plain = one.get();
        starter = two.get();
        commands.push_back(std::move(one));
        commands.push_back(std::move(two));
    }

    int strata(std::vector<const char*> words)
    {
        words.insert(words.begin(), "strata");
        const TextFile outFile, errFile;
        int code = 0;
        {
            Output out(outFile.descriptor()), err(errFile.descriptor());
            code = runProgram(static_cast<int>(words.size()), words.data(), commands, out, err);
        }
        said = outFile.text();
        complained = errFile.text();
        return code;
    }

    Commands commands;
    Fake* plain = nullptr;
    FakeStarter* starter = nullptr;
    Fake::Work body = [](Output&) { return kDone; };
    int runs = 0;
    std::string said, complained;
};

} // namespace

TEST_F(ProgramTest, RunsTheCommandThatIsNamed)
{
    body = [](Output& out) {
        out.line("worked");
        return 17;
    };
    EXPECT_EQ(strata({ "work", "--number", "5" }), 17);
    EXPECT_EQ(plain->number, 5);
    EXPECT_EQ(said, "worked\n");
    EXPECT_EQ(complained, "");
}

TEST_F(ProgramTest, ExceptionsOfAnyCommandBecomeSentences)
{
    for (const char* name : { "work", "start" }) {
        std::vector<const char*> words{ name };
        if (name == std::string("start"))
            words.insert(words.end(), { "--", "true" });
        body = [](Output&) -> model::Result<int> { throw std::runtime_error("the disk is on fire"); };
        EXPECT_EQ(strata(words), name == std::string("start") ? 42 : kUnreadable);
        EXPECT_THAT(complained, HasSubstr("the disk is on fire: please report this as a bug\n"));
        body = [](Output&) -> model::Result<int> { throw std::bad_alloc(); };
        strata(words);
        EXPECT_THAT(complained, HasSubstr("not enough memory"));
        body = [](Output&) -> model::Result<int> { throw 1; };
        strata(words);
        EXPECT_THAT(complained, HasSubstr("please report"));
    }
}

TEST_F(ProgramTest, ErrorsSayWhereAndBecomeExitCodes)
{
    const auto failing = [](Error::Kind kind) {
        return [kind](Output&) -> model::Result<int> {
            return model::fail(kind, model::verbatim("no"), model::verbatim("yes"));
        };
    };
    body = failing(Error::Kind::NotFound);
    EXPECT_EQ(strata({ "work" }), kFailed);
    EXPECT_EQ(complained, "strata: no: yes\n");
    body = failing(Error::Kind::Usage);
    EXPECT_EQ(strata({ "work" }), kUsage);
    body = failing(Error::Kind::Format);
    EXPECT_EQ(strata({ "work" }), kUnreadable);
    EXPECT_EQ(strata({ "start", "--", "true" }), 42);
    EXPECT_EQ(complained, "strata: start: no: yes\n");
}

TEST_F(ProgramTest, AFullDiskIsAnErrorOfAnyCommand)
{
    std::FILE* full = std::fopen("/dev/full", "w");
    const TextFile errFile;
    body = [](Output& out) {
        out.line("text");
        return kDone;
    };
    for (const std::vector<const char*>& words :
        { std::vector<const char*>{ "strata", "work" }, { "strata", "start", "--", "true" } }) {
        Output out(fileno(full)), err(errFile.descriptor());
        EXPECT_EQ(runProgram(static_cast<int>(words.size()), words.data(), commands, out, err), kUnreadable);
    }
    EXPECT_THAT(errFile.text(), HasSubstr("standard output: No space left"));
    std::fclose(full);
}

TEST_F(ProgramTest, WordsOfAProgramAreItsOwn)
{
    EXPECT_EQ(strata({ "start", "--number", "3", "--", "prog", "--number", "x", "--", "--help" }), kDone);
    EXPECT_EQ(starter->number, 3);
    EXPECT_THAT(starter->program.words, ElementsAre("prog", "--number", "x", "--", "--help"));

    EXPECT_EQ(strata({ "start", "prog" }), kUsage);
    EXPECT_EQ(complained,
        "strata: start: unexpected argument 'prog': a command goes behind --, as in strata start -- true\n");
    EXPECT_EQ(strata({ "start" }), kUsage);
    EXPECT_THAT(complained, StartsWith("strata: start: no command: put it behind --"));
    EXPECT_EQ(strata({ "start", "--help" }), kDone);
    EXPECT_THAT(said, HasSubstr("\nUsage: strata start [OPTIONS] -- PROGRAM...\n"));
    EXPECT_EQ(runs, 1);

    starter->program.required = false;
    starter->program.words.clear();
    EXPECT_EQ(strata({ "start" }), kDone);
    EXPECT_THAT(starter->program.words, IsEmpty());
}

TEST_F(ProgramTest, WhatIsCheckedAfterReadingKeepsACommandFromRunning)
{
    EXPECT_EQ(strata({ "work", "--number", "-1" }), kUsage);
    EXPECT_EQ(complained, "strata: --number cannot be negative: give 0\n");
    EXPECT_EQ(strata({ "start", "--number", "-1", "--", "true" }), kUsage);
    EXPECT_EQ(complained, "strata: start: --number cannot be negative: give 0\n");
    EXPECT_EQ(runs, 0);
}

TEST_F(ProgramTest, NamesItselfOnce)
{
    for (const auto& [words, error] : std::vector<std::pair<std::vector<const char*>, std::string>>{
             { { "work", "--number", "x" }, "work: Could not convert: --number = x: see strata work --help" },
             { { "work", "--wrong" }, "work: there is no option '--wrong': see strata work --help" },
             { { "work", "word" }, "work: unexpected argument 'word': see strata work --help" },
             { { "start", "start", "--", "x" },
                 "start: unexpected argument 'start': a command goes behind --, as in strata start -- true" },
             { { "start", "--" }, "start: no command: put it behind --, as in strata start -- true" },
             { { "--wrong" }, "there is no option '--wrong': see strata --help" } }) {
        EXPECT_EQ(strata(words), kUsage);
        EXPECT_EQ(complained, "strata: " + error + '\n');
    }
    EXPECT_EQ(strata({ "--help", "start" }), kDone);
    EXPECT_THAT(said, HasSubstr("\nUsage: strata start [OPTIONS] -- PROGRAM...\n"));
    EXPECT_EQ(runs, 0);
}

TEST_F(ProgramTest, HelpListsTheCommandsAndMistakesNameTheNearest)
{
    EXPECT_EQ(strata({ "--help" }), kDone);
    EXPECT_THAT(said, HasSubstr("work                    Does what a test says"));
    EXPECT_EQ(strata({ "--help", "work" }), kDone);
    EXPECT_THAT(said, HasSubstr("--number"));
    EXPECT_EQ(strata({ "wrok" }), kUsage);
    EXPECT_THAT(complained, HasSubstr("did you mean 'work'?"));
    EXPECT_EQ(strata({ "something" }), kUsage);
    EXPECT_THAT(complained, HasSubstr("the commands are work, start; see strata --help"));
    EXPECT_EQ(runs, 0);
}

} // namespace strata::cli
