// SPDX-License-Identifier: GPL-3.0-or-later
// What a profiler does not tell is said to be absent, on the pages that are about it, and never 0.
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/models/document/step_figures.h"
#include "views/pages/allocator/allocator_page.h"
#include "views/pages/allocator/fragmentation_page.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/device_list.h"
#include "views/pages/summary/ledger_lines.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/summary/work_verdict.h"
#include "views/widgets/memory/curve_overview.h"
#include "views/widgets/memory/raster/curve_spans.h"
#include "views/widgets/timeline/lanes_view.h"
#include "views/widgets/training/steps_table.h"

#include <QBuffer>
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
    /// Text of all labels of a widget.
    static QString labelsOf(const QWidget& widget)
    {
        QString all;
        for (const QLabel* label : widget.findChildren<QLabel*>())
            all += label->text() + QLatin1Char('\n');
        return all;
    }
    /// Pixels of a colour.
    static int count(const QImage& picture, const QColor& colour)
    {
        int found = 0;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                found += picture.pixelColor(x, y) == colour ? 1 : 0;
        return found;
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

TEST_F(ProfiledPages, ReservedMemoryThatIsNotToldIsNotDrawn)
{
    const QColor reserved = Palette::light()[Palette::Role::Reserved];
    for (const bool tells : { true, false }) {
        open(tells ? test::tenSteps() : std::string(kTimeline));
        const auto device = m_document.device();
        ASSERT_EQ(device->trace->totals().reservedKnown, tells);
        const XMapping x(
            model::Axis::Events, Span{ 0, static_cast<double>(device->trace->eventCount()) }, 100);
        EXPECT_EQ(curveColumnsOf(*device->timeline, nullptr, x).reserved.empty(), !tells);
        EXPECT_EQ(text::selection(*device, EventRange{ 1, 1 }).contains(QStringLiteral("reserved")), tells)
            << qPrintable(text::selection(*device, EventRange{ 1, 1 }));

        SummaryPage page(m_document);
        page.setPalette(Palette::light());
        page.resize(1000, 900);
        page.show();
        const auto overview = [&] { return page.findChild<CurveOverview*>(); };
        ASSERT_TRUE(QTest::qWaitFor([&] { return overview() && !page.busy(); }, 10'000));
        EXPECT_EQ(labelsOf(page).contains(QStringLiteral("</b></span>&nbsp;reserved")), tells);
        EXPECT_EQ(overview()->accessibleDescription().contains(QStringLiteral("reserved at most")), tells)
            << qPrintable(overview()->accessibleDescription());
        EXPECT_EQ(count(overview()->grab().toImage(), reserved) > 0, tells);

        const model::Totals& totals = device->trace->totals();
        const DeviceBrief brief{ totals.device, &totals };
        const DeviceList list(std::span(&brief, 1), totals.device, Palette::light());
        QStringList cells;
        for (int column = 0; column < list.columnCount(); ++column)
            if (const QTableWidgetItem* item = list.item(0, column))
                cells += item->text();
        EXPECT_TRUE(
            cells.contains(tells ? QStringLiteral("reserved 64.0 MiB") : QStringLiteral("reserved –")))
            << qPrintable(cells.join(QLatin1Char('|')));
    }
}

TEST_F(ProfiledPages, TheCommandDoesNotTellItEither)
{
    const QString path = QStringLiteral(STRATA_TEST_DATA "/timelines/torch_2.15.json.gz");
    m_document.open(path);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return m_document.device() && m_document.device()->training; }, 20'000));
    const auto figures = stepFigures(m_document.device());
    const StepsTable table(figures);
    const QJsonArray steps
        = told({ QStringLiteral("steps"), path })[QLatin1String("devices")][0][QLatin1String("steps")]
              .toArray();
    ASSERT_GT(steps.size(), 0);
    ASSERT_EQ(table.rowCount(), static_cast<std::uint32_t>(steps.size()));
    for (std::uint32_t row = 0; row < table.rowCount(); ++row) {
        EXPECT_TRUE(steps[row][QLatin1String("reserved_bytes")].isNull());
        EXPECT_EQ(steps[row][QLatin1String("requested_bytes_end")].toInteger(),
            figures->rows[row].requestedBytesEnd);
        EXPECT_EQ(table.cell(row, StepsTable::Reserved).note, QStringLiteral("–"));
        std::string csv;
        table.appendCsv(csv, row);
        EXPECT_TRUE(csv.ends_with(",,false\n") || csv.ends_with(",,true\n")) << csv;
    }
    const QStringList part{ QStringLiteral("summary"), path, QStringLiteral("--from"), QStringLiteral("10"),
        QStringLiteral("--to"), QStringLiteral("50") };
    const QJsonObject all = told(part);
    EXPECT_GT(all[QLatin1String("ranges")][0][QLatin1String("requested_bytes_peak")].toInteger(), 0);
    for (const char* key : { "reserved_bytes_peak", "reserved_peak_event" })
        EXPECT_TRUE(all[QLatin1String("ranges")][0][QLatin1String(key)].isNull()) << key;
    for (const char* key : { "reserved", "rounding", "free_in_segments", "pending_free", "bounds" })
        EXPECT_TRUE(all[QLatin1String("waste_at_peak")][0][QLatin1String(key)].isNull()) << key;
    QProcess strata;
    strata.start(QStringLiteral(STRATA_PROGRAM),
        part + QStringList{ QStringLiteral("--max-peak"), QStringLiteral("1MiB") });
    ASSERT_TRUE(strata.waitForFinished(30'000));
    EXPECT_EQ(strata.exitCode(), 1) << "what was requested is more than that";
}

TEST_F(ProfiledPages, LanesHaveNoReservedMemoryWhereNoReadingTellsIt)
{
    const QColor reserved = Palette::light()[Palette::Role::Reserved];
    for (const bool tells : { true, false }) {
        std::string text = test::tenSteps();
        const std::string_view told = R"(,"Total Reserved":67108864)";
        for (std::size_t at = text.find(told); !tells && at != std::string::npos; at = text.find(told, at))
            text.erase(at, told.size());
        open(text);
        LanesView lanes;
        lanes.setColours(Palette::light());
        lanes.resize(900, 500);
        lanes.setData(LanesData::of(m_document.session()));
        lanes.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&lanes));
        ASSERT_EQ(lanes.data()->tracks().memory().size(), 1u);
        EXPECT_EQ(lanes.data()->tracks().memory()[0].reservedKnown, tells);
        EXPECT_EQ(count(lanes.grab().toImage(), reserved) > 100, tells);
    }
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
