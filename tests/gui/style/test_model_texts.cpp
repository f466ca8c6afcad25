// SPDX-License-Identifier: GPL-3.0-or-later
// What the model words for people: listed for translators, and the same in the window as on the command line.
#include "model/analysis/verdict.h"
#include "model/trace/findings.h"
#include "model/trace/grouping.h"
#include "views/pages/summary_facts.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QTranslator>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace strata;
namespace text = views::text;
using model::SentenceArgument;
using model::VerdictSentence;

namespace {

std::vector<std::string> saidByTheModel()
{
    std::vector<std::string> all{ std::string(model::kEventText), std::string(model::kBeforeFirstText) };
    for (const model::GroupingInfo& info : model::groupings())
        for (const std::string_view words : { info.title, info.one, info.narrower })
            all.emplace_back(words);
    for (std::size_t i = 0; i < model::kCheckCount; ++i)
        all.emplace_back(model::checkSentence(static_cast<model::Check>(i)));
    for (std::size_t i = 0; i < VerdictSentence::kIds; ++i)
        all.emplace_back(model::wordingOf(static_cast<VerdictSentence::Id>(i)));
    return all;
}

/// A language in which every text of the model is the English one in brackets.
class Brackets : public QTranslator {
public:
    QString translate(const char* context, const char* source, const char*, int) const override
    {
        return QLatin1String(context) == QLatin1String("Model")
            ? QStringLiteral("[%1]").arg(QString::fromUtf8(source))
            : QString();
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
};

TEST(ModelTexts, EverySentenceIsThereAndListedForTranslators)
{
    const std::span<const char* const> listed = text::modelTexts();
    const std::set<std::string> known(listed.begin(), listed.end());
    std::set<std::string> said;
    for (const std::string& english : saidByTheModel()) {
        EXPECT_FALSE(english.empty());
        EXPECT_TRUE(known.contains(english)) << english << ": add it to views/style/model_texts.cpp";
        said.insert(english);
    }
    for (const std::string& english : known)
        EXPECT_TRUE(said.contains(english)) << english << ": the model does not say it any more";
}

TEST(ModelTexts, EveryIdHasASentenceOfItsOwn)
{
    std::set<std::string_view> checks, verdicts;
    for (std::size_t i = 0; i < model::kCheckCount; ++i)
        checks.insert(model::checkSentence(static_cast<model::Check>(i)));
    EXPECT_EQ(checks.size(), model::kCheckCount);
    for (std::size_t i = 0; i < VerdictSentence::kIds; ++i)
        verdicts.insert(model::wordingOf(static_cast<VerdictSentence::Id>(i)));
    EXPECT_EQ(verdicts.size(), VerdictSentence::kIds);
}

TEST(ModelTexts, AVerdictIsTheSameInTheWindowAsOnTheCommandLine)
{
    const std::vector<SentenceArgument> arguments{
        { .kind = SentenceArgument::Kind::Event, .value = 41207, .strong = true, .link = 41207 },
        { .kind = SentenceArgument::Kind::Bytes, .value = 3LL << 30, .strong = true },
        { .kind = SentenceArgument::Kind::Text, .text = "a<b>.py:57" },
        { .kind = SentenceArgument::Kind::Count, .value = 1234 },
        { .kind = SentenceArgument::Kind::Event, .value = -1 },
        { .kind = SentenceArgument::Kind::Bytes, .value = 17 },
    };
    for (std::size_t i = 0; i < VerdictSentence::kIds; ++i) {
        const std::vector<VerdictSentence> verdict{ { static_cast<VerdictSentence::Id>(i), arguments } };
        EXPECT_EQ(views::verdictPlain(verdict).toStdString(), model::verdictText(verdict));
    }
}

TEST(ModelTexts, AnotherLanguageWordsTheSentenceAroundTheSameFigures)
{
    Brackets language;
    ASSERT_TRUE(QCoreApplication::installTranslator(&language));
    const std::vector<VerdictSentence> verdict{
        { VerdictSentence::Id::OutOfMemory,
            { { .kind = SentenceArgument::Kind::Event, .value = 7, .strong = true, .link = 7 },
                { .kind = SentenceArgument::Kind::Bytes, .value = 1 << 20, .strong = true },
                { .kind = SentenceArgument::Kind::Bytes, .value = 512, .strong = true } } },
        { VerdictSentence::Id::OneCheckFailed, {} },
    };
    EXPECT_EQ(views::verdictHtml(verdict, QStringLiteral("#123456")).toStdString(),
        "[<b>Out of memory</b> at <a href=\"event:7\" style=\"color:#123456;text-decoration:none\"><b>[event "
        "7]</b></a>: "
        "the program asked for <b>1.00 MiB</b>, the driver had <b>512 B</b> free.] "
        "[<b>Totals are not exact</b>: one check failed.]");
    EXPECT_EQ(text::event(-1), QStringLiteral("[before the first event]"));
    QCoreApplication::removeTranslator(&language);
    EXPECT_EQ(text::event(-1), QStringLiteral("before the first event"));
}

} // namespace
