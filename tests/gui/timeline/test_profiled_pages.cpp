// SPDX-License-Identifier: GPL-3.0-or-later
// What a profiler does not tell is said to be absent, on the pages that are about it, and never 0.
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/pages/allocator_page.h"
#include "views/pages/fragmentation_page.h"
#include "views/pages/ledger_lines.h"
#include "views/pages/summary_facts.h"
#include "views/pages/work_verdict.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

class ProfiledPages : public testing::Test, protected test::WindowFont {
protected:
    void open(const std::string& text)
    {
        m_path = m_folder.filePath(QStringLiteral("file.json"));
        ASSERT_TRUE(test::write(m_path, text));
        m_document.open(m_path);
        ASSERT_TRUE(QTest::qWaitFor([&] { return m_document.device() != nullptr; }, 20'000))
            << m_document.error().text();
    }
    [[nodiscard]] QJsonObject told(const QStringList& arguments) const
    {
        QProcess strata;
        strata.start(QStringLiteral(STRATA_PROGRAM), arguments + QStringList{ QStringLiteral("--json") });
        EXPECT_TRUE(strata.waitForFinished(30'000));
        return QJsonDocument::fromJson(strata.readAllStandardOutput()).object();
    }

    QTemporaryDir m_folder;
    QString m_path;
    Document m_document;
};

constexpr const char* kTimeline = "[[-1, 1, 4096, 0], [1000, 2, 512, 4], [2000, 4, -512, 4]]";

TEST_F(ProfiledPages, ThoseOfSegmentsSayThatThereAreNone)
{
    for (const std::string& text : { test::tenSteps(), std::string(kTimeline) }) {
        open(text);
        AllocatorPage allocator(m_document);
        FragmentationPage fragmentation(m_document);
        for (Page* page : { static_cast<Page*>(&allocator), static_cast<Page*>(&fragmentation) }) {
            page->resize(900, 600);
            page->show();
            EXPECT_TRUE(page->absence().contains(QStringLiteral("does not tell of segments")))
                << qPrintable(page->absence());
            const auto* notice = page->findChild<EmptyNotice*>();
            ASSERT_TRUE(notice);
            EXPECT_TRUE(QTest::qWaitFor([&] { return notice->isVisible(); }, 5'000))
                << qPrintable(page->title());
            EXPECT_EQ(notice->text().title, QStringLiteral("A profiler does not tell of segments"));
            EXPECT_TRUE(notice->text().code.contains(QStringLiteral("_record_memory_history")));
        }
    }
}

TEST_F(ProfiledPages, ASnapshotHasThem)
{
    m_document.open(QStringLiteral(STRATA_TEST_DATA "/samples/gpt2_124m_bf16_train.pickle.gz"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_document.device() != nullptr; }, 20'000));
    AllocatorPage allocator(m_document);
    EXPECT_TRUE(allocator.absence().isEmpty()) << qPrintable(allocator.absence());
}

TEST_F(ProfiledPages, TheLedgerHasNoFiguresOfSegments)
{
    model::Ledger ledger;
    ledger.requestedBytes = 512;
    const auto line = [&](const char* key) {
        for (const LedgerLine& each : ledgerLines(ledger))
            if (QLatin1String(each.name) == QLatin1String(key))
                return each;
        ADD_FAILURE() << "no line " << key;
        return LedgerLine{};
    };
    EXPECT_FALSE(line("fragmentation").bytes);
    EXPECT_TRUE(line("fragmentation").about.contains(QStringLiteral("A profiler tells of no segments")));
    EXPECT_FALSE(line("cached_free").bytes);
    EXPECT_FALSE(line("reserved").bytes);
    EXPECT_TRUE(line("reserved").about.contains(QStringLiteral("does not tell what is reserved")));
    ledger.reservedBytes = 2048;
    EXPECT_EQ(line("reserved").bytes, 2048);
    EXPECT_TRUE(line("reserved").about.contains(QStringLiteral("1.50 KiB of it are free or rounding")))
        << qPrintable(line("reserved").about);
}

TEST_F(ProfiledPages, JsonHasNullForWhatIsNotTold)
{
    open(test::tenSteps());
    QJsonObject device
        = told({ QStringLiteral("summary"), m_path })[QStringLiteral("devices")].toArray()[0].toObject();
    EXPECT_EQ(device[QStringLiteral("reserved_bytes_peak")].toInteger(), 67'108'864);
    for (const char* key :
        { "segments", "blocks", "reserved_bytes_end", "allocated_bytes_end", "active_bytes_end" })
        EXPECT_TRUE(device[QLatin1String(key)].isNull()) << key;
    EXPECT_TRUE(device[QStringLiteral("waste")].toObject()[QStringLiteral("free_in_segments")].isNull());
    QJsonObject ledger = told({ QStringLiteral("ledger"), m_path });
    EXPECT_EQ(ledger[QStringLiteral("reserved_bytes")].toInteger(), 67'108'864);
    for (const char* key : { "fragmentation_bytes", "cached_free_bytes", "rounding_bytes" })
        EXPECT_TRUE(ledger[QLatin1String(key)].isNull()) << key;
    open(kTimeline);
    device = told({ QStringLiteral("summary"), m_path })[QStringLiteral("devices")].toArray()[0].toObject();
    EXPECT_EQ(device[QStringLiteral("requested_bytes_peak")].toInteger(), 4608);
    EXPECT_TRUE(device[QStringLiteral("reserved_bytes_peak")].isNull());
    EXPECT_TRUE(told({ QStringLiteral("ledger"), m_path })[QStringLiteral("reserved_bytes")].isNull());
}

TEST_F(ProfiledPages, TheSummaryOfATraceNamesTheVerdictOfItsTimeline)
{
    open(test::tenSteps());
    WorkVerdict verdict(m_document.session(), QStringLiteral("#0000ff"));
    EXPECT_FALSE(verdict.isVisibleTo(nullptr));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !verdict.text().isEmpty(); }, 10'000));
    for (const char* part : { "GPU 0 is busy for <b>24.0\u00a0%</b>", "<b>the program waits for its data</b>",
             "More on the page" })
        EXPECT_TRUE(verdict.text().contains(QString::fromUtf8(part)))
            << part << " in " << qPrintable(verdict.text());
    EXPECT_TRUE(verdict.text().contains(QStringLiteral("timeline")));
}

} // namespace
