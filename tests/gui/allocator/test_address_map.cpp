// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/allocator/replayed.h"
#include "views/widgets/allocator/address_map.h"
#include "views/widgets/allocator/segments_table.h"

#include <QImage>
#include <QPainter>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <random>
#include <set>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

std::string line(const char* action, std::int64_t mebibytes, std::int64_t bytes, const std::string& more = "")
{
    return std::string(action) + " " + std::to_string((std::int64_t{ 1 } << 40) + mebibytes * kMiB) + " "
        + std::to_string(bytes) + " " + more + "\n";
}

/// Two large segments, a small one and one of a private pool, as the allocator would have made them; a hole
/// of 20 MiB in the first from event 14 on; a request for 40 that failed at 15.
std::string fewSegments()
{
    return line("segment_alloc", 0, 60 * kMiB) + line("alloc", 0, 60 * kMiB)
        + line("free_requested", 0, 60 * kMiB) + line("free_completed", 0, 60 * kMiB)
        + line("alloc", 0, 20 * kMiB, "stack=f@train.py:3")
        + line("alloc", 20, 20 * kMiB - 100, "stack=g@train.py:9") + line("alloc", 40, 20 * kMiB)
        + line("segment_alloc", 100, 20 * kMiB) + line("alloc", 100, 3 * kMiB)
        + line("segment_alloc", 200, 2 * kMiB, "stream=7") + line("alloc", 200, 1000, "stream=7")
        + line("segment_alloc", 300, 20 * kMiB, "pool=(0,1)") + line("alloc", 300, 3 * kMiB, "pool=(0,1)")
        + line("free_requested", 0, 20 * kMiB) + line("free_completed", 0, 20 * kMiB)
        + "oom size=" + std::to_string(40 * kMiB) + " free=" + std::to_string(10 * kMiB) + "\n";
}

class AddressMapTest : public testing::Test, protected test::WindowFont {
protected:
    AddressMapTest()
    {
        m_map.resize(900, 400);
        m_map.setColours(Palette::light());
    }
    void show(const std::string& text, model::EventIndex event)
    {
        m_picture = mapPicture(test::replayedDevice(text), event);
        m_map.setPicture(m_picture);
        m_map.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_map));
    }
    QImage painted()
    {
        QImage image(m_map.viewport()->size(), QImage::Format_RGB32);
        QPainter painter(&image);
        m_map.viewport()->render(&painter, QPoint(), QRegion(), QWidget::RenderFlags());
        return image;
    }

    AddressMap m_map;
    std::shared_ptr<const MapPicture> m_picture;
};

TEST_F(AddressMapTest, PutsSegmentsInSectionsOfPoolStreamAndKind)
{
    show(fewSegments(), 15);
    ASSERT_EQ(m_picture->sections.size(), 3u);
    EXPECT_EQ(m_picture->sections[0].rowCount, 2u);
    EXPECT_TRUE(m_picture->sections[0].title.startsWith(QStringLiteral("Default pool, large")));
    EXPECT_TRUE(m_picture->sections[1].title.contains(QStringLiteral("stream 7")));
    EXPECT_TRUE(m_picture->sections[2].title.startsWith(QStringLiteral("Private pool (0, 1)")));
    std::int64_t bytes = 0, free = 0;
    for (const MapRow& row : m_picture->rows) {
        bytes += row.bytes;
        free += row.freeBytes;
    }
    EXPECT_EQ(bytes, 102 * kMiB);
    EXPECT_EQ(m_picture->reservedBytes(), bytes);
    EXPECT_EQ(m_picture->fragmentation.freeBytes, free);
}

TEST_F(AddressMapTest, FindsEveryBlockWhereItIsPainted)
{
    show(fewSegments(), 15);
    for (const bool normalised : { false, true }) {
        m_map.setNormalised(normalised);
        std::set<std::uint32_t> seen;
        for (std::uint32_t r = 0; r < m_picture->rows.size(); ++r) {
            const MapRow& row = m_picture->rows[r];
            const auto step = static_cast<std::uint64_t>(m_map.bytesOfLine(r));
            const std::uint64_t end = row.address + static_cast<std::uint64_t>(row.spanBytes);
            for (std::uint64_t address = row.address; address < end; address += step) {
                m_map.reveal(r, m_picture->blockAt(address));
                const QRect bar = m_map.lineRect(r, address);
                for (int x = bar.left(); x <= bar.right(); ++x) {
                    const auto hit = m_map.hitAt({ x, bar.center().y() });
                    ASSERT_TRUE(hit);
                    EXPECT_EQ(hit->row, r);
                    ASSERT_TRUE(hit->block);
                    seen.insert(*hit->block);
                    EXPECT_FALSE(m_map.describe(*hit).isEmpty());
                }
            }
        }
        // All but one of 1,000 B, which is narrower than a pixel.
        EXPECT_GE(seen.size() + 1, m_picture->map.blocks.size());
        EXPECT_FALSE(m_map.hitAt({ 5, 5000 }));
    }
}

TEST_F(AddressMapTest, PaintsBlocksInTheColoursOfTheirLines)
{
    show(fewSegments(), 14);
    m_map.setNormalised(true); // in one line
    const QRect bar = m_map.lineRect(0, m_picture->rows[0].address);
    const QImage image = painted();
    const auto& device = *m_picture->device;
    const auto at = [&](std::int64_t mebibytes) {
        return image.pixelColor(
            bar.left() + static_cast<int>(bar.width() * (mebibytes + 0.5) / 60), bar.center().y());
    };
    EXPECT_EQ(at(10), Palette::light()[Palette::Role::Free]);
    const auto hit = m_map.hitAt({ bar.left() + bar.width() / 2, bar.center().y() });
    const model::BlockId block = m_picture->map.blocks[*hit->block].block;
    ASSERT_TRUE(block.valid());
    EXPECT_EQ(at(30), Palette::light().group(device.lineRank[device.byLine->groupOf(block)]));
}

TEST_F(AddressMapTest, ShowsTheRefusedRequestInTheLargestHole)
{
    show(fewSegments(), 15);
    ASSERT_TRUE(m_picture->refused);
    EXPECT_EQ(m_picture->refused->bytes, 40 * kMiB);
    ASSERT_TRUE(m_picture->refused->hole);
    const model::MapBlock& hole = m_picture->map.blocks[*m_picture->refused->hole];
    EXPECT_TRUE(hole.isFree());
    EXPECT_EQ(hole.bytes, 20 * kMiB);
    const QRect bar = m_map.lineRect(m_picture->refused->row, hole.address);
    const QImage image = painted();
    int red = 0;
    for (int x = bar.left(); x < image.width(); ++x)
        red += image.pixelColor(x, bar.top() - 1).red() > image.pixelColor(x, bar.top() - 1).green() + 60 ? 1
                                                                                                          : 0;
    EXPECT_GT(red, 20);
    show(fewSegments(), 14);
    EXPECT_FALSE(m_picture->refused);
}

// A segment of 64 MiB at 2 MiB a line goes on in further lines, and zooming keeps what lies under the
// pointer.
TEST_F(AddressMapTest, GoesOnInTheNextLine)
{
    show(fewSegments(), 14);
    const std::int64_t before = m_map.bytesOfLine(0);
    m_map.zoomBy(4);
    EXPECT_EQ(m_map.bytesOfLine(0), before / 4);
    const std::uint64_t begin = m_picture->rows[0].address;
    const auto step = static_cast<std::uint64_t>(m_map.bytesOfLine(0));
    const QRect first = m_map.lineRect(0, begin), second = m_map.lineRect(0, begin + step);
    EXPECT_GT(second.top(), first.top());
    EXPECT_EQ(second.left(), first.left());
    const auto hit = m_map.hitAt(second.center());
    ASSERT_TRUE(hit && hit->block);
    EXPECT_EQ(m_picture->blockAt(begin + step + step / 2), hit->block);
    m_map.showAll();
    EXPECT_EQ(m_map.bytesOfLine(0), before);
}

TEST_F(AddressMapTest, HoldsTheHeadingOfASectionOverItsLines)
{
    show(fewSegments(), 15);
    m_map.zoomBy(16);
    QScrollBar& bar = *m_map.verticalScrollBar();
    bar.setValue(0);
    const auto heading = [&] { return painted().copy(0, 0, 400, 28); };
    const QImage atTop = heading();
    bar.setValue(100);
    EXPECT_FALSE(m_map.hitAt({ 200, 10 })) << "the heading, not the line below it";
    EXPECT_TRUE(m_map.hitAt({ 200, 60 }));
    EXPECT_EQ(heading(), atTop);
    // What is asked for comes into view below it.
    for (std::uint32_t row : { 1U, 0U }) {
        m_map.reveal(row);
        const QRect line = m_map.lineRect(row, m_picture->rows[row].address);
        const auto hit = m_map.hitAt(line.center());
        ASSERT_TRUE(hit);
        EXPECT_EQ(hit->row, row);
    }
    bar.setValue(bar.maximum());
    EXPECT_NE(heading(), atTop);
}

TEST_F(AddressMapTest, WalksSegmentsByKeysAndTellsOfClicks)
{
    show(fewSegments(), 15);
    QSignalSpy chosen(&m_map, &AddressMap::chosenByUser);
    m_map.setFocus();
    QTest::keyClick(&m_map, Qt::Key_Down);
    QTest::keyClick(&m_map, Qt::Key_Down);
    ASSERT_EQ(chosen.count(), 2);
    EXPECT_EQ(m_map.chosen()->row, 1u);
    QTest::keyClick(&m_map, Qt::Key_Up);
    EXPECT_EQ(m_map.chosen()->row, 0u);
    EXPECT_TRUE(m_map.accessibleDescription().contains(QStringLiteral("60.0 MiB")));
    m_map.reveal(0);
    const QRect bar = m_map.lineRect(0, m_picture->rows[0].address);
    QTest::mouseClick(m_map.viewport(), Qt::LeftButton, {}, bar.center());
    ASSERT_EQ(chosen.count(), 4);
    EXPECT_TRUE(m_map.chosen()->block);
}

TEST_F(AddressMapTest, TablesSayTheSameInNumbers)
{
    show(fewSegments(), 15);
    const SegmentsTable table(m_picture);
    ASSERT_EQ(table.rowCount(), m_picture->rows.size());
    std::string csv;
    table.appendCsv(csv, 0);
    EXPECT_EQ(csv,
        std::to_string(std::int64_t{ 1 } << 40)
            + ",62914560,41943040,0,20971520,20971520,train.py:9,2,large,0\n");
    const auto key = table.sortKey(SegmentsTable::Free);
    EXPECT_LT(*key(2), *key(0));
    const PinnedTable pinned(m_picture);
    ASSERT_EQ(pinned.rowCount(), m_picture->fragmentation.pinned.size());
    EXPECT_EQ(pinned.cell(0, PinnedTable::Free).text, QStringLiteral("20.0"));
}

TEST_F(AddressMapTest, OfNothingIsEmpty)
{
    show("segment_alloc 0x100000 2097152\nalloc 0x100000 512\n", -1);
    EXPECT_TRUE(m_picture->rows.empty());
    EXPECT_FALSE(m_map.hitAt({ 200, 50 }));
    QTest::keyClick(&m_map, Qt::Key_Down);
    m_map.zoomBy(2);
    m_map.setPicture(nullptr);
    m_map.zoomBy(2);
    EXPECT_FALSE(painted().isNull());
}

} // namespace
