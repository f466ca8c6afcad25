// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/document.h"

#include "tests/gui/eventually.h"
#include "tests/gui/fresh_start.h"
#include "tests/gui/full_pool.h"
#include "views/style/palette.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

using strata::test::eventually;
using strata::views::Document;

namespace {

QString sample(const char* name)
{
    return QStringLiteral(STRATA_SAMPLES "/") + QLatin1String(name);
}

QString training()
{
    return sample("gpt2_124m_bf16_train.pickle.gz");
}

TEST(Document, LoadsAFileAndDerivesItsDevice)
{
    Document document;
    const QSignalSpy states(&document, &Document::stateChanged);
    const QSignalSpy ready(&document, &Document::deviceReady);
    EXPECT_EQ(document.state(), Document::State::Empty);
    document.open(training());
    EXPECT_EQ(document.state(), Document::State::Loading);
    ASSERT_TRUE(eventually([&] { return document.state() == Document::State::Ready; }));
    ASSERT_TRUE(document.session());
    ASSERT_TRUE(eventually([&] { return !document.working(); }));
    EXPECT_EQ(states.count(), 2);
    EXPECT_EQ(ready.count(), 2) << "first what every page needs, then the blocks picture";
    const auto device = document.device();
    ASSERT_TRUE(device);
    EXPECT_EQ(device->trace->eventCount(), 19'970);
    EXPECT_TRUE(device->summary && device->strips && device->blocksIndex);
    const std::vector<std::uint32_t>& order = device->lineOrder->groups();
    EXPECT_EQ(order.size(), device->byLine->count());
    int colour = 0;
    for (const std::uint32_t group : order)
        EXPECT_EQ(device->lineRank[group],
            device->byLine->stackOf(group).valid() ? colour++ : strata::views::Palette::kHatched);
}

TEST(Document, SaysWhyAFileCannotBeRead)
{
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("notes.pickle")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("these are notes");
    file.close();
    Document document;
    document.open(file.fileName());
    ASSERT_TRUE(eventually([&] { return document.state() == Document::State::Failed; }));
    EXPECT_FALSE(document.error().what.empty());
    EXPECT_FALSE(document.error().hint.empty());
    EXPECT_FALSE(document.session());
    EXPECT_FALSE(document.device());

    document.open(folder.filePath(QStringLiteral("nothing here")));
    ASSERT_TRUE(eventually([&] { return document.state() == Document::State::Failed; }));
    EXPECT_EQ(document.error().kind, strata::model::Error::Kind::Unreadable);
}

TEST(Document, CancelsALoad)
{
    Document document;
    document.open(training());
    document.cancel();
    EXPECT_EQ(document.state(), Document::State::Empty);
    EXPECT_FALSE(document.working());
    ASSERT_TRUE(strata::test::jobsEnd());
    EXPECT_EQ(document.state(), Document::State::Empty) << "nothing of the cancelled load arrives later";
    document.open(training());
    EXPECT_TRUE(eventually([&] { return document.state() == Document::State::Ready; }));
}

TEST(Document, OpeningAnotherFileWhileOneLoadsShowsTheOther)
{
    Document document;
    document.open(training());
    document.open(sample("gpt2_124m_bf16_oom_16gib.pickle.gz"));
    ASSERT_TRUE(eventually([&] { return document.device() != nullptr; }));
    EXPECT_EQ(document.device()->trace->eventCount(), 980);
    ASSERT_TRUE(strata::test::jobsEnd());
    EXPECT_EQ(document.device()->trace->eventCount(), 980);
}

TEST(Document, AReopenedDocumentForgetsItsUndoStack)
{
    Document document;
    document.open(training());
    ASSERT_TRUE(eventually([&] { return document.state() == Document::State::Ready; }));
    document.viewState().select(strata::views::EventRange{ 5, 9 });
    document.open(training());
    ASSERT_TRUE(eventually([&] { return document.state() == Document::State::Ready; }));
    EXPECT_FALSE(document.viewState().selection());
    EXPECT_FALSE(document.viewState().canUndo());
}

TEST(Document, AnAnalysisThatWasCancelledIsBegunAgainWhenItIsAskedFor)
{
    Document document;
    document.leaveReplaysOut();
    document.open(training());
    const auto analysed = [&] {
        return eventually(
            [&] { return document.device() && document.device()->training && !document.analysing(); });
    };
    ASSERT_TRUE(analysed());
    const auto before = document.device()->training;
    EXPECT_TRUE(before->complete);
    {
        const strata::test::FullPool pool; // it has not begun
        ASSERT_TRUE(document.tryRules(R"({"rules": [{"category": "input", "min_bytes": 1}]})"));
        EXPECT_TRUE(document.analysing());
        document.cancelAnalysis();
    }
    ASSERT_TRUE(analysed());
    EXPECT_EQ(document.device()->training, before) << "what is there stays";
    document.analyseAgain();
    EXPECT_TRUE(document.analysing());
    ASSERT_TRUE(analysed());
    EXPECT_TRUE(document.device()->training->complete);
    EXPECT_EQ(document.device()->training->rules, document.rules());
}

TEST(Document, RulesThatAreTriedLeaveAloneWhatTheyDoNotTouch)
{
    Document document;
    document.leaveReplaysOut();
    std::shared_ptr<const strata::views::TrainingData> before;
    QObject::connect(&document, &Document::deviceReady, [&] {
        const auto& training = document.device()->training;
        if (before) {
            EXPECT_TRUE(training->hasPartsOf(*before)) << "what is there stays until there is more";
        } else if (training && training->categories) { // while it still looks for leaks
            before = training;
            EXPECT_FALSE(before->leaks);
            ASSERT_TRUE(document.tryRules(R"({"rules": [{"category": "input", "min_bytes": 1}]})"));
        }
    });
    document.open(training());
    const auto done = [&] { return before && !document.analysing(); };
    ASSERT_TRUE(eventually(done));
    const auto first = document.device()->training;
    EXPECT_TRUE(first->complete);
    EXPECT_EQ(first->rules, document.rules());
    EXPECT_NE(first->categories, before->categories);
    EXPECT_EQ(first->steps, before->steps);
    ASSERT_TRUE(document.tryRules({}));
    ASSERT_TRUE(eventually(done));
    const auto second = document.device()->training;
    EXPECT_EQ(second->rules, nullptr);
    EXPECT_NE(second->categories, first->categories);
    EXPECT_EQ(second->steps, first->steps);
    EXPECT_EQ(second->leaks, first->leaks);
    EXPECT_EQ(second->spikes, first->spikes);
}

TEST(Document, MayGoAwayWhileItLoadsOrDerives)
{
    for (int i = 0; i < 5; ++i) {
        auto document = std::make_unique<Document>();
        document->open(training());
        QTest::qWait(i * 40);
    }
}

} // namespace
