// SPDX-License-Identifier: GPL-3.0-or-later
// What the model words for people: listed for translators, and the same in the window as on the command line.
#include "model/analysis/summary/verdict.h"
#include "model/readers/reader.h"
#include "model/session/opener.h"
#include "model/tables/block_columns.h"
#include "model/tables/event_columns.h"
#include "model/tables/position.h"
#include "model/trace/filter/filter_language.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/findings.h"
#include "tests/gui/brackets.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/texts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace strata::views::text {
/// What resources/translations/update.py collects.
std::span<const char* const> modelTexts();
} // namespace strata::views::text

using namespace strata;
namespace text = views::text;
using model::say;

namespace {

class ModelTexts : public testing::Test {
protected:
    ModelTexts()
        : m_listed(text::modelTexts().begin(), text::modelTexts().end())
    {
    }

    void expectListed(std::string_view english)
    {
        EXPECT_FALSE(english.empty());
        EXPECT_TRUE(m_listed.contains(english)) << english;
        m_said.insert(std::string(english));
    }
    void expectListed(const model::Sentence& sentence)
    {
        (void)sentence.text([this](std::string_view english) {
            expectListed(english);
            return std::string(english);
        });
    }
    void expectListed(const model::Error& error)
    {
        expectListed(error.what);
        expectListed(error.hint.said);
    }

    std::set<std::string, std::less<>> m_listed, m_said;
};

TEST_F(ModelTexts, HaveEveryTable)
{
    std::set<std::string_view> checks;
    for (std::size_t i = 0; i < model::kCheckCount; ++i) {
        checks.insert(model::checkSentence(static_cast<model::Check>(i)).text());
        expectListed(model::checkSentence(static_cast<model::Check>(i)).text());
    }
    EXPECT_EQ(checks.size(), model::kCheckCount) << "each has a sentence of its own";
    for (const model::GroupingInfo& info : model::groupings())
        for (const model::English words : { info.title, info.one, info.narrower })
            expectListed(words.text());
    const auto expectAll = [this](const auto& columns) {
        for (const model::ColumnNames& names : columns)
            for (const model::English words : { names.title, names.tip })
                expectListed(words.text());
    };
    expectAll(model::kColumnNames<model::BlockOrder>);
    expectAll(model::kColumnNames<model::EventOrder>);
}

TEST_F(ModelTexts, HaveEveryErrorThatIsMet)
{
    for (const char* typed : { "> attention", "a \"b", "\"a\"b", "line:", "line:a line:b", "stream:x",
             "pool:x", "stream:1 stream:2", "pool:small pool:large" }) {
        const auto refused = model::parseFilter(typed);
        ASSERT_FALSE(refused) << typed;
        expectListed(refused.error());
    }
    using namespace std::string_view_literals;
    for (const std::string_view content : { ""sv, "import torch"sv, "\x89PNG"sv, "PK\x03\x04"sv, "\0\1\2"sv,
             "{}"sv, "[]"sv, "[1]"sv, "[{}]"sv, "{\"segments\": 1}"sv, "{\"segments\": [1]}"sv, "{\"segm"sv,
             "{\"segments\": [{\"device\": []}]}"sv, "{\"segments\": [{\"device\": -1}]}"sv,
             "{\"segments\": [], \"device_traces\": [7]}"sv, "{\"traceEvents\": 1}"sv, "\x80\x04."sv,
             "\x80\x04"sv, "\x80\x04]K\x01"sv, "\x80\x63."sv, "\x80\x04\x93."sv, "\x80\x04}K\x01s."sv,
             "STRC"sv, "\x1f\x8b"sv, "<html>"sv }) {
        const auto refused = model::readRecording(std::as_bytes(std::span(content)), {}, {});
        ASSERT_FALSE(refused) << content;
        expectListed(refused.error());
    }
    for (const char* path : { "/nowhere/at/all", "/" }) {
        const auto refused = model::readRecording(std::filesystem::path(path), {}, {});
        ASSERT_FALSE(refused) << path;
        expectListed(refused.error());
    }
    EXPECT_GT(m_said.size(), 40U);
}

TEST_F(ModelTexts, HaveEverythingThatIsSaidOfRecordings)
{
    for (const auto& entry : std::filesystem::directory_iterator(STRATA_TEST_DATA "/versions")) {
        const auto session = model::Opener::openAll(entry.path());
        if (!session)
            continue;
        if (const auto& truncation = (*session)->recording().truncation)
            expectListed(truncation->reason);
        for (const model::DeviceTrace& trace : (*session)->devices()) {
            for (const model::Finding& finding : trace.findings())
                expectListed(finding.cause);
            for (const model::Sentence& sentence :
                model::summarize(trace, model::GroupTable(trace, model::Grouping::Line)).verdict)
                expectListed(sentence);
            for (const char* position : { "x", "oom:99", "t:x", "99999999" })
                if (const auto event = model::parsePosition(position, trace); !event)
                    expectListed(event.error());
        }
    }
    EXPECT_GT(m_said.size(), 12U);
}

/// One of each kind of what verdicts speak of.
std::vector<model::Sentence> someVerdict()
{
    const auto strong = [](model::SentenceArgument argument, std::optional<model::EventIndex> link = {}) {
        argument.strong = true;
        argument.link = link;
        return argument;
    };
    return { say("*Out of memory* at %1: the program asked for %2, the driver had %3 free.",
                 strong(model::asEvent(7), 7), strong(model::asBytes(1 << 20)), strong(model::asBytes(512))),
        say("Needs %1 (peak %2 at %3, %4 the biggest with %5).", model::asBytes(17),
            model::asBytes(3LL << 30), model::asEvent(-1), "a<b>.py:57", model::asCount(1234)),
        say("*Totals are not exact*: one check failed.") };
}

TEST_F(ModelTexts, AVerdictIsTheSameInTheWindowAsOnTheCommandLine)
{
    EXPECT_EQ(views::verdictPlain(someVerdict()).toStdString(), model::textOf(someVerdict()));
}

TEST_F(ModelTexts, AnotherLanguageWordsTheSentenceAroundTheSameFigures)
{
    {
        const test::Brackets language;
        EXPECT_EQ(views::verdictHtml(someVerdict(), QStringLiteral("#123456")).toStdString(),
            "[<b>Out of memory</b> at <a href=\"event:7\" style=\"color:#123456;text-decoration:none\">"
            "<b>[event 7]</b></a>: the program asked for <b>1.00 MiB</b>, the driver had <b>512 B</b> free.] "
            "[Needs 17 B (peak 3.00 GiB at [before the first event], a&lt;b&gt;.py:57 the biggest with "
            "1,234).] "
            "[<b>Totals are not exact</b>: one check failed.]");
        EXPECT_EQ(text::event(-1), QStringLiteral("[before the first event]"));
    }
    EXPECT_EQ(text::event(-1), QStringLiteral("before the first event"));
}

TEST_F(ModelTexts, AnotherLanguageWordsErrorsAndWhatTheyHold)
{
    const test::Brackets language;
    EXPECT_EQ(text::said(model::parseFilter("> attention").error()),
        QStringLiteral("[[No size after \">\"] at column 1]: [write a size such as 1 MiB, 512 or 2GiB]"));
    model::Error error
        = model::fail(model::Error::Kind::Unreadable, say("cannot be opened: %1", "Der Wirt schläft"))
              .value();
    error.where = "/tmp/größe.pickle";
    EXPECT_EQ(text::said(error), QStringLiteral("/tmp/größe.pickle: [cannot be opened: Der Wirt schläft]"));
}

} // namespace
