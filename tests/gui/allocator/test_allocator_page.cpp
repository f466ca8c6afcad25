// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/allocator/allocator_page.h"

#include "tests/gui/allocator/replayed.h"
#include "tests/gui/tables/open_document.h"
#include "views/pages/allocator/fragmentation_page.h"
#include "views/widgets/allocator/segments_table.h"
#include "views/widgets/plain_table_view.h"

#include <QBuffer>
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace strata;
using namespace strata::views;

namespace {

template <class Shown> class PageTest : public testing::Test, protected test::WindowFont {
protected:
    PageTest()
        : m_page(m_document)
    {
        m_page.setPalette(Palette::light());
        m_page.resize(1000, 640);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    void open(const char* name) { test::openDocument(m_document, m_page, name); }
    void settle() { ASSERT_TRUE(test::settled(m_document, m_page)); }

    Document m_document;
    Shown m_page;
};

class AllocatorPageTest : public PageTest<AllocatorPage> { };
class FragmentationPageTest : public PageTest<FragmentationPage> { };

constexpr const char* kOom = "../samples/gpt2_124m_bf16_oom_16gib.pickle.gz";
constexpr const char* kPlain = "torch2.11_plain.pickle.gz";

TEST_F(AllocatorPageTest, BeginsAtTheOutOfMemoryWithTheRequestAndItsVerdict)
{
    open(kOom);
    const model::EventIndex failed = m_document.device()->summary->outOfMemory.back().event;
    ASSERT_TRUE(m_page.map().picture());
    EXPECT_EQ(m_page.map().picture()->map.event, failed);
    EXPECT_TRUE(m_page.map().picture()->refused);
    EXPECT_TRUE(m_page.map().picture()->map.exact);
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("failed here.</b> Too big")))
        << qPrintable(m_page.sentenceText());
    EXPECT_TRUE(m_page.commandLine().contains(QStringLiteral(" %1 --device 0").arg(failed)));
}

TEST_F(AllocatorPageTest, FollowsTheInstant)
{
    open(kPlain);
    const model::DeviceTrace& trace = *m_document.device()->trace;
    for (const model::EventIndex event :
        { model::EventIndex(0), trace.eventCount() / 2, trace.eventCount() - 1 }) {
        m_document.viewState().select(EventRange{ event, event });
        settle();
        EXPECT_EQ(m_page.map().picture()->map.event, event);
        EXPECT_EQ(
            m_page.map().picture()->reservedBytes(), m_document.device()->timeline->reserved().at(event));
    }
}

TEST_F(AllocatorPageTest, FindsAnAddressAndTellsOfItsBlock)
{
    open(kPlain);
    QSignalSpy focused(&m_page, &Page::focusChanged);
    const MapPicture& picture = *m_page.map().picture();
    const auto block = std::ranges::find_if(picture.map.blocks, [](const auto& b) { return !b.isFree(); });
    ASSERT_NE(block, picture.map.blocks.end());
    EXPECT_TRUE(m_page.findAddress(QStringLiteral(" 0x%1").arg(block->address, 0, 16)));
    ASSERT_EQ(focused.count(), 1);
    EXPECT_EQ(focused[0][0].value<Focus>().block, block->block);
    EXPECT_TRUE(m_page.map().chosen());
    EXPECT_FALSE(m_page.findAddress(QStringLiteral("0x1")));
    EXPECT_FALSE(m_page.findAddress(QStringLiteral("train.py")));
    EXPECT_FALSE(m_page.findAddress({}));
}

TEST_F(AllocatorPageTest, MarksTheBlockThatTheDetailsShow)
{
    open(kPlain);
    const MapPicture& picture = *m_page.map().picture();
    const auto block = std::ranges::find_if(picture.map.blocks, [](const auto& b) { return !b.isFree(); });
    m_page.showFocus(Focus::onBlock(block->block, picture.map.event));
    ASSERT_TRUE(m_page.map().chosen() && m_page.map().chosen()->block);
    EXPECT_EQ(picture.map.blocks[*m_page.map().chosen()->block].block, block->block);
    m_page.showFocus(Focus{});
    EXPECT_FALSE(m_page.map().chosen());
}

TEST_F(AllocatorPageTest, PlaysToTheEndAndStops)
{
    open(kPlain);
    const model::EventIndex last = m_document.device()->trace->eventCount() - 1;
    m_document.viewState().select(EventRange{ last - 3, last - 3 });
    settle();
    m_page.play(true);
    EXPECT_TRUE(m_page.playing());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.playing(); }, 20000));
    EXPECT_EQ(m_document.viewState().selection()->first, last);
    m_page.play(true); // from the begin again
    EXPECT_EQ(m_document.viewState().selection()->first, 0);
    m_page.hide();
    EXPECT_FALSE(m_page.playing());
}

TEST_F(AllocatorPageTest, SavesItsTableAndItsPicture)
{
    open(kOom);
    QBuffer csv;
    csv.open(QIODevice::ReadWrite);
    ASSERT_TRUE(m_page.writeCsv(csv));
    EXPECT_EQ(csv.data().count('\n'), static_cast<qsizetype>(m_page.map().picture()->rows.size()) + 1);
    EXPECT_TRUE(csv.data().startsWith("address,total_size,allocated_size,pending_free_bytes,free_bytes,"));
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("map.svg"));
    ASSERT_TRUE(m_page.saveSvg(path));
    QFile svg(path);
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    EXPECT_TRUE(svg.readAll().contains("<svg"));
}

TEST_F(AllocatorPageTest, SaysWhyThereIsNothing)
{
    EXPECT_EQ(m_page.notice().text().title, QStringLiteral("Nothing is open"));
    open(kPlain);
    m_document.viewState().select(EventRange{ -1, -1 });
    settle();
    EXPECT_TRUE(m_page.notice().text().title.isEmpty()
        || m_page.notice().text().title.startsWith(QStringLiteral("Nothing is reserved")));
}

TEST_F(FragmentationPageTest, BeginsAtThePeakOfReservedMemory)
{
    open(kPlain);
    const model::DeviceTrace& trace = *m_document.device()->trace;
    const model::EventIndex peak = model::reservedPeakInstant(trace);
    ASSERT_NE(peak, trace.totals().requestedPeakEvent);
    EXPECT_TRUE(m_page.commandLine().contains(QStringLiteral(" %1 --device 0").arg(peak)))
        << qPrintable(m_page.commandLine());
}

TEST_F(FragmentationPageTest, RanksSettingsAndCopiesOne)
{
    open(kOom);
    ASSERT_TRUE(m_page.settingsTable().source());
    const auto& settings = *m_page.settingsTable().source();
    ASSERT_GT(settings.rowCount(), 2u);
    const auto tried = m_document.device()->replay->settings;
    for (std::size_t i = 1; i < tried->size(); ++i)
        EXPECT_LE((*tried)[i - 1].need.afterBytes, (*tried)[i].need.afterBytes); // none serves the request
    for (QPushButton* button : m_page.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Copy the setting"))
            button->click();
    EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(),
        "PYTORCH_CUDA_ALLOC_CONF=" + (*tried)[0].settings);
    EXPECT_EQ((*tried)[0].servesRequest, false);
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("No other setting that was tried serves")))
        << qPrintable(m_page.sentenceText());
}

TEST_F(FragmentationPageTest, AdvisesNoSettingThatSavesNothing)
{
    open(kPlain);
    ASSERT_LE(m_document.device()->replay->settings->front().need.savedBytes(), 0);
    EXPECT_FALSE(m_page.sentenceText().contains(QStringLiteral("PyTorch would reserve")))
        << qPrintable(m_page.sentenceText());
}

TEST_F(FragmentationPageTest, ShowsWhatReservedMemoryIsMadeOfOverTime)
{
    open(kOom);
    const auto samples = m_page.chart().samples();
    ASSERT_TRUE(samples);
    ASSERT_GT(samples->at.size(), 100u);
    for (const model::Fragmentation& at : samples->at) {
        std::int64_t parts = 0;
        for (int p = 0; p < kReservedParts; ++p)
            parts += bytesOf(at, static_cast<ReservedPart>(p));
        EXPECT_EQ(parts, at.reservedBytes);
        EXPECT_EQ(at.reservedBytes, m_document.device()->timeline->reserved().at(at.event));
        EXPECT_TRUE(at.exact);
    }
    QSignalSpy chosen(&m_page.chart(), &FragmentationChart::instantChosen);
    QTest::mouseClick(&m_page.chart(), Qt::LeftButton, {}, m_page.chart().plot().center());
    ASSERT_EQ(chosen.count(), 1);
    settle();
    EXPECT_TRUE(m_document.viewState().selection()->isInstant());
}

TEST_F(FragmentationPageTest, LeadsFromASegmentToTheBlockThatPinsIt)
{
    open(kOom);
    ASSERT_TRUE(m_page.pinnedTable().source());
    ASSERT_GT(m_page.pinnedTable().source()->rowCount(), 0u);
    QSignalSpy focused(&m_page, &Page::focusChanged), opened(&m_page, &Page::openPage);
    Q_EMIT m_page.pinnedTable().sourceRowChosen(0);
    ASSERT_EQ(focused.count(), 1);
    EXPECT_EQ(focused[0][0].value<Focus>().kind, Focus::Kind::Block);
    Q_EMIT m_page.pinnedTable().sourceRowOpened(0);
    ASSERT_EQ(opened.count(), 1);
    EXPECT_EQ(opened[0][0].toString(), QStringLiteral("allocator"));
}

} // namespace
