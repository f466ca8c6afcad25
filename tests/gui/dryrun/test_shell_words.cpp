// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/shell.h"
#include "tests/integration/run_strata.h"
#include "views/models/programs/shell_words.h"

#include <QDir>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace strata;
using namespace strata::views;

namespace {

std::vector<std::string> words(const ShellCommand& command)
{
    std::vector<std::string> out;
    for (const QString& word : command.words)
        out.push_back(word.toStdString());
    return out;
}

/// What the shell itself makes of a line: the words that a program would get.
std::vector<std::string> wordsOfShell(const std::string& line)
{
    const test::Ran ran = test::runProgram("/bin/sh", { "-c", "printf '%s\\0' " + line });
    std::vector<std::string> out;
    std::string_view rest = ran.out;
    while (!rest.empty()) {
        const auto end = rest.find('\0');
        out.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

TEST(ShellWords, AreThoseOfTheShell)
{
    for (const char* line : { "python train.py --batch 8", "python -c 'print(1)'", R"(a "b c" d)",
             R"(a\ b c)", R"("a\"b" 'c"d' "e'f")", R"('' "" x)",
             R"("$")"
             R"("")",
             R"(a"b"'c'd)", R"(--x="1 2" '--y=3 4')", R"("a\b" "a\\b" a\\b)", "a \\\n b",
             "[0.9,0.95] {A} a=b !x", R"(~no-such-person x~ a~/b)", "  spaced \t out  ", R"(#no)",
             R"(a#b)" }) {
        const ShellCommand split = splitCommand(QString::fromUtf8(line));
        if (!split.shellSyntax.isEmpty()) {
            EXPECT_THAT(words(split),
                testing::ElementsAre("sh", "-c", QString::fromUtf8(line).trimmed().toStdString()));
            continue;
        }
        EXPECT_EQ(words(split), wordsOfShell(line)) << line;
    }
}

TEST(ShellWords, SurviveQuoting)
{
    std::mt19937 random(7);
    const QString letters = QStringLiteral("ab ~'\"\\$`|&;<>(){}[]*?!#=\t/.,-é");
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> wanted;
        QStringList line;
        for (unsigned count = 1 + random() % 4; count > 0; --count) {
            QString word;
            for (unsigned length = random() % 6; length > 0; --length)
                word += letters[static_cast<qsizetype>(random() % static_cast<unsigned>(letters.size()))];
            wanted.push_back(word.toStdString());
            line << QString::fromStdString(model::shellQuoted(word.toStdString()));
        }
        const QString text = QStringLiteral("program ") + line.join(QLatin1Char(' '));
        const ShellCommand split = splitCommand(text);
        EXPECT_TRUE(split.shellSyntax.isEmpty()) << qPrintable(text);
        wanted.insert(wanted.begin(), "program");
        EXPECT_EQ(words(split), wanted) << qPrintable(text);
        if (round % 20 == 0) {
            EXPECT_EQ(wordsOfShell(text.toStdString()), wanted) << qPrintable(text);
        }
    }
}

TEST(ShellWords, VariablesStandInFront)
{
    const ShellCommand split = splitCommand(QStringLiteral("A=1 B='two words' _C3=~/x D= python E=5 --f=6"));
    const QList<std::pair<QString, QString>> wanted{ { QStringLiteral("A"), QStringLiteral("1") },
        { QStringLiteral("B"), QStringLiteral("two words") },
        { QStringLiteral("_C3"), QDir::homePath() + QStringLiteral("/x") },
        { QStringLiteral("D"), QString() } };
    EXPECT_EQ(split.variables.size(), wanted.size());
    for (qsizetype i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(split.variables[i].first, wanted[i].first);
        EXPECT_EQ(split.variables[i].second, wanted[i].second);
    }
    EXPECT_THAT(words(split), testing::ElementsAre("python", "E=5", "--f=6"));
    EXPECT_TRUE(splitCommand(QStringLiteral("'A'=1 x")).variables.isEmpty());
    EXPECT_TRUE(splitCommand(QStringLiteral("1A=1 x")).variables.isEmpty());
    EXPECT_FALSE(splitCommand(QStringLiteral("A=1")).runnable());
}

TEST(ShellWords, HomeIsExpandedWhereAShellDoes)
{
    const std::string home = QDir::homePath().toStdString();
    EXPECT_THAT(words(splitCommand(QStringLiteral("~/venv/bin/python ~ '~' a~ ~x"))),
        testing::ElementsAre(home + "/venv/bin/python", home, "~", "a~", "~x"));
}

TEST(ShellWords, WhatNeedsAShellGoesToOne)
{
    for (const auto& [line, syntax] : { std::pair("a | b", "|"), std::pair("a > b", ">"),
             std::pair("a $X", "$"), std::pair("a \"$X\"", "$"), std::pair("a; b", ";"),
             std::pair("a && b", "&"), std::pair("a *.py", "*"), std::pair("`a`", "`"),
             std::pair("a # b", "#"), std::pair("A=1 b | c", "|") }) {
        const ShellCommand split = splitCommand(QString::fromUtf8(line));
        EXPECT_EQ(split.shellSyntax.toStdString(), syntax) << line;
        EXPECT_TRUE(split.variables.isEmpty());
        EXPECT_THAT(words(split), testing::ElementsAre("sh", "-c", line));
    }
    EXPECT_TRUE(splitCommand(QStringLiteral("a '$X | *' \\$ \"a \\$ b\"")).shellSyntax.isEmpty());
}

TEST(ShellWords, OpenQuotesAreSaid)
{
    for (const char* line : { "a 'b", "a \"b", "a \"b\\\"", "'" }) {
        EXPECT_TRUE(splitCommand(QString::fromUtf8(line)).unclosedQuote) << line;
        EXPECT_FALSE(splitCommand(QString::fromUtf8(line)).runnable()) << line;
    }
    EXPECT_FALSE(splitCommand(QString()).runnable());
    EXPECT_FALSE(splitCommand(QStringLiteral("  \n ")).runnable());
}

} // namespace
