// SPDX-License-Identifier: GPL-3.0-or-later
// The last generation of a session in a window against the file of all of it in another one.
#include "tests/gui/shell/growth_test.h"
#include "tests/support/device_data.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/document/minimap.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/status_bar.h"
#include "views/style/texts.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/memory/curve_overview.h"

#include <QBuffer>
#include <QRegularExpression>

using namespace strata;
using namespace strata::views;

namespace {

class GrowthAgrees : public test::GrowthTest {
protected:
    void TearDown() override { m_other.reset(); }

    /// Another window, of the whole file.
    void openWhole()
    {
        m_other = std::make_unique<MainWindow>(m_theme, m_settings, m_contents);
        m_other->resize(window().size());
        m_other->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_other.get(), 60'000));
        const QString path = file("whole.strata", bytes(m_bytes.size()));
        m_other->openFile(path);
        ASSERT_TRUE(test::eventually([&] { return other().showsFile(path); }));
    }
    test::WindowDriver other() { return test::WindowDriver(*m_other); }

    template <class P> std::pair<P&, P&> both(const char* id)
    {
        return { driver().shown<P>(id), other().shown<P>(id) };
    }
    static QByteArray csvOf(const Page& page)
    {
        QBuffer out;
        out.open(QIODevice::WriteOnly);
        EXPECT_TRUE(page.writeCsv(out));
        return out.data();
    }
    static QStringList rowsOf(const QAbstractItemModel& model)
    {
        QStringList rows;
        for (int row = 0; row < model.rowCount(); ++row)
            for (int column = 0; column < model.columnCount(); ++column)
                rows.append(model.index(row, column).data().toString());
        return rows;
    }
    static QImage pictureOf(QWidget& widget) { return widget.grab().toImage(); }
    /// What a stacked picture shows, with its layers by name.
    static QStringList layersOf(const MemoryCanvas& canvas)
    {
        const StackedData& stacked = *canvas.store().stacked();
        const model::StackedPicture& picture = stacked.picture;
        QStringList all;
        for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
            const auto [group, kind] = picture.layers[layer];
            QString line = kind == model::StackedPicture::Layer::Kind::Group
                ? text::utf8(stacked.subject.groups->table->label(group))
                : QString::number(static_cast<int>(kind));
            for (int column = 0; column < picture.columns; ++column)
                line += QStringLiteral(" %1").arg(
                    picture.bytes[layer * static_cast<std::size_t>(picture.columns)
                        + static_cast<std::size_t>(column)]);
            all.append(line);
        }
        return all;
    }
    static std::string textsOf(const QWidget& page)
    {
        // The two files have other names, which the next steps after an out-of-memory go by.
        static const QRegularExpression kNamed(QStringLiteral("\\S+-larger\\.strata"));
        return test::shownTexts(page)
            .join(QLatin1Char('\n'))
            .replace(kNamed, QStringLiteral("larger.strata"))
            .toStdString();
    }

    /// In a moment: sums and parts of a page come after it.
    static void expectSameTexts(const QWidget& grown, const QWidget& whole)
    {
        constexpr int kMomentMs = 5'000;
        std::ignore = QTest::qWaitFor([&] { return textsOf(grown) == textsOf(whole); }, kMomentMs);
        EXPECT_EQ(textsOf(grown), textsOf(whole));
    }

    /// Kept: names have colours since before the peak, so pictures differ in them.
    enum class Colours { Same, Kept };
    void expectSame(Colours colours = Colours::Same)
    {
        {
            const auto [grown, whole] = both<SummaryPage>("summary");
            for (SummaryPage* page : { &grown, &whole })
                page->setUnfolded(
                    { QStringLiteral("integrity"), QStringLiteral("numbers"), QStringLiteral("settings") });
            expectSameTexts(grown, whole);
            EXPECT_EQ(
                pictureOf(*grown.findChild<CurveOverview*>()), pictureOf(*whole.findChild<CurveOverview*>()));
            EXPECT_EQ(csvOf(grown), csvOf(whole));
        }
        const bool sameColours = colours == Colours::Same;
        EXPECT_EQ(
            test::colouredNames(driver().device()) == test::colouredNames(other().device()), sameColours);
        {
            const auto [grown, whole] = both<MemoryPage>("memory");
            expectSameTexts(grown, whole);
            EXPECT_EQ(csvOf(grown), csvOf(whole));
            EXPECT_EQ(rowsOf(*grown.groupTable()), rowsOf(*whole.groupTable()));
            ASSERT_TRUE(grown.canvas()->viewport().showsAll());
            ASSERT_TRUE(whole.canvas()->viewport().showsAll());
            EXPECT_EQ(layersOf(*grown.canvas()), layersOf(*whole.canvas()));
            if (sameColours) {
                EXPECT_EQ(pictureOf(*grown.canvas()), pictureOf(*whole.canvas()));
            }
            for (MemoryPage* page : { &grown, &whole })
                page->setMode(PictureMode::Blocks);
            ASSERT_TRUE(test::eventually([&] { return !grown.busy() && !whole.busy(); }));
            EXPECT_EQ(grown.canvas()->viewport().y(), whole.canvas()->viewport().y());
            if (sameColours) {
                EXPECT_EQ(pictureOf(*grown.canvas()), pictureOf(*whole.canvas()));
            }
        }
        {
            const auto [grown, whole] = both<FlamePage>("flame");
            expectSameTexts(grown, whole);
            EXPECT_EQ(csvOf(grown), csvOf(whole));
            EXPECT_EQ(pictureOf(*grown.graph().viewport()), pictureOf(*whole.graph().viewport()));
        }
        {
            const auto [grown, whole] = both<BlocksPage>("blocks");
            EXPECT_EQ(csvOf(grown), csvOf(whole));
            expectSameTexts(grown, whole);
        }
        {
            const auto [grown, whole] = both<EventsPage>("events");
            EXPECT_EQ(csvOf(grown), csvOf(whole));
            expectSameTexts(grown, whole);
        }
        EXPECT_EQ(pictureOf(driver().view().minimap()), pictureOf(other().view().minimap()));
        EXPECT_EQ(driver().statusText(), other().statusText());
        EXPECT_EQ(test::shownTexts(window().status()), test::shownTexts(m_other->status()));

        const model::EventIndex middle = driver().device().trace->eventCount() / 2;
        const model::EventColumns& events = driver().device().trace->events();
        Focus focus;
        focus.kind = Focus::Kind::Block;
        for (model::EventIndex e = middle; !focus.block.valid(); ++e)
            focus.block = events.block[static_cast<std::size_t>(e)];
        for (DetailsPanel* panel : { &driver().view().details(), &other().view().details() })
            panel->setFocusShown(focus);
        EXPECT_EQ(driver().view().details().details(), other().view().details().details());
    }

    std::unique_ptr<MainWindow> m_other;
};

} // namespace

TEST_F(GrowthAgrees, OfARunFromItsBegin)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(sample(), false), 0.3));
    for (const char* id : { "memory", "blocks", "flame", "events", "summary" }) { // pages that were looked at
        driver().view().showPage(QLatin1String(id));
        ASSERT_NO_FATAL_FAILURE(settle());
        const double now = static_cast<double>(m_fed) / static_cast<double>(m_bytes.size());
        for (int i = 1; i <= 4; ++i)
            ASSERT_NO_FATAL_FAILURE(grow(now + i * 0.02));
    }
    ASSERT_NO_FATAL_FAILURE(end());
    ASSERT_NO_FATAL_FAILURE(openWhole());
    expectSame();
}

TEST_F(GrowthAgrees, OfARunThatWasRecordedLate)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(sample(), true), 0.6)); // its peak has been
    driver().view().showPage(QStringLiteral("memory"));
    for (const double share : { 0.7, 0.71, 0.8, 0.97 })
        ASSERT_NO_FATAL_FAILURE(grow(share));
    ASSERT_NO_FATAL_FAILURE(end());
    ASSERT_NO_FATAL_FAILURE(openWhole());
    expectSame();
}

TEST_F(GrowthAgrees, OfARunThatFailed)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(outOfMemorySample(), false), 0.4));
    for (const double share : { 0.5, 0.6, 0.9 })
        ASSERT_NO_FATAL_FAILURE(grow(share));
    ASSERT_NO_FATAL_FAILURE(end());
    ASSERT_NO_FATAL_FAILURE(openWhole());
    expectSame(Colours::Kept);
}

TEST_F(GrowthAgrees, OnTheAxisOfTime)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(sample(), true), 0.6));
    driver().state().setAxis(model::Axis::Time);
    driver().view().showPage(QStringLiteral("memory"));
    ASSERT_NO_FATAL_FAILURE(settle());
    for (const double share : { 0.7, 0.9 })
        ASSERT_NO_FATAL_FAILURE(grow(share));
    ASSERT_NO_FATAL_FAILURE(end());
    ASSERT_NO_FATAL_FAILURE(openWhole());
    other().state().setAxis(model::Axis::Time);
    expectSame();
}
