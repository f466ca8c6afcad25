// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger on the page Summary: where it stands, what it says where little is known, where a click leads.
#include "model/analysis/training/steps/spikes.h"
#include "model/session/save.h"
#include "model/trace/program/roles.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/support/make_recording.h"
#include "views/contents/details/details_panel.h"
#include "views/models/document/ledger_source.h"
#include "views/pages/parts/bar_list.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/module_tree.h"
#include "views/pages/summary/oom_panel.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/widgets/segmented.h"

#include <QImage>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QStyledItemDelegate>
#include <QToolButton>

using namespace strata;
using namespace strata::views;

namespace {

class LedgerPanelTest : public test::ShellTest {
protected:
    SummaryPage& page() { return driver().shown<SummaryPage>("summary"); }
    LedgerPanel& panel() { return *page().findChild<LedgerPanel*>(); }
    const LedgerData& data() { return *page().findChild<LedgerSource*>()->data(); }
    BarList& rows() { return *panel().findChild<BarList*>(QStringLiteral("ledger")); }
    /// Of the part of the page that is seen without scrolling.
    QRect placeOf(QWidget& part)
    {
        QWidget* const seen = page().findChild<QScrollArea*>()->viewport();
        return { part.mapTo(seen, QPoint()), part.size() };
    }
    QPushButton* button(const QString& text)
    {
        for (auto* each : panel().findChildren<QPushButton*>())
            if (each->text() == text && each->isVisible())
                return each;
        return nullptr;
    }
    /// A program that told which modules three of its four blocks are of.
    QString withModules()
    {
        const auto made = test::makeRecording(
            "alloc 0x10000 8192\nalloc 0x20000 4096\nalloc 0x30000 512\nalloc 0x40000 1024\n");
        const auto list = [&](std::uint64_t address, std::string_view name) {
            model::RoleListing listing;
            listing.event = 4;
            listing.kind = wire::RoleKind::Parameter;
            listing.address = address;
            listing.name = made->strings.intern(name);
            listing.dtype = made->strings.intern("float32");
            made->parts.get<model::RoleListings>().byDevice[0].push_back(listing);
        };
        list(0x10000, "h.0.attn.weight");
        list(0x20000, "h.1.weight");
        list(0x30000, "ln.bias");
        const QString path = m_scratch.filePath(QStringLiteral("modules.strata"));
        EXPECT_TRUE(model::saveSession(*made, path.toStdString()));
        return path;
    }
    static QString unknownSample()
    {
        return QStringLiteral(STRATA_SAMPLES "/../versions/torch2.15_oom.pickle.gz");
    }
};

TEST_F(LedgerPanelTest, StandsBelowWhatSomeoneWithAnOutOfMemoryReadsFirst)
{
    window().resize(1280, 800);
    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    const int seen = page().findChild<QScrollArea*>()->viewport()->height();
    const QRect oom = placeOf(*page().findChild<OomPanel*>());
    EXPECT_GE(oom.top(), 0);
    EXPECT_LE(oom.bottom(), seen);
    EXPECT_GT(placeOf(panel()).top(), oom.bottom());
    EXPECT_EQ(data().ledger.event, driver().device().summary->outOfMemory.back().event);
}

TEST_F(LedgerPanelTest, IsOfThePeakUntilAnInstantIsSelected)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    const model::EventIndex peak = driver().device().trace->totals().requestedPeakEvent;
    EXPECT_EQ(data().ledger.event, peak);
    EXPECT_FALSE(data().spikes.empty());
    EXPECT_TRUE(panel().findChild<BarList*>(QStringLiteral("spikes")));
    EXPECT_FALSE(panel().commandLine().contains(QString::number(peak)));

    driver().state().select(EventRange{ 1000, 1000 });
    settle();
    EXPECT_EQ(data().ledger.event, 1000);
    EXPECT_TRUE(data().spikes.empty());
    EXPECT_TRUE(panel().commandLine().contains(QStringLiteral(" 1000 ")));

    driver().state().undo();
    settle();
    EXPECT_EQ(data().ledger.event, peak);
}

TEST_F(LedgerPanelTest, NamesAreNotCutInASmallWindow)
{
    window().resize(1024, 640);
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    const QFontMetrics metrics(rows().font());
    for (int row = 0; row < rows().rowCount(); ++row) {
        const QString full = rows().item(row, 0)->text(), instead = rows().item(row, 0)->data(Qt::UserRole + 3).toString();
        EXPECT_LE(metrics.horizontalAdvance(instead.isEmpty() ? full : instead), rows().columnWidth(0)) << qPrintable(full);
    }
    for (const int figure : { 2, 3 }) // share and bytes
        EXPECT_FALSE(rows().isColumnHidden(figure));
    EXPECT_LE(panel().minimumSizeHint().width(), page().findChild<QScrollArea*>()->viewport()->width());
}

TEST_F(LedgerPanelTest, NothingOfAnotherCellIsBehindASwatch)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    const auto painted = [&](int row) {
        QImage image(rows().columnWidth(0), rows().rowHeight(row), QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        QStyleOptionViewItem option;
        option.rect = image.rect();
        option.font = rows().font();
        option.textElideMode = Qt::ElideNone;
        rows().itemDelegate()->paint(&painter, option, rows().model()->index(row, 0));
        return image;
    };
    const QImage first = painted(0);
    (void)painted(1);
    EXPECT_EQ(painted(0), first);
}

TEST_F(LedgerPanelTest, ASurpriseComesFirstWithASignAndLeadsToItsBlocks)
{
    ASSERT_NO_FATAL_FAILURE(open(unknownSample()));
    (void)page();
    ASSERT_EQ(data().ledger.surprises.size(), 1u);
    EXPECT_TRUE(test::shows(panel(), QStringLiteral("are for is not known.")));
    QPushButton* const show = button(QStringLiteral("Show the blocks"));
    ASSERT_TRUE(show);
    EXPECT_LT(placeOf(*show).top(), placeOf(rows()).top());
    const model::EventIndex event = data().ledger.event;
    const SummaryPage& summary = page();
    show->click();
    settle();
    ASSERT_TRUE(driver().state().selection());
    EXPECT_EQ(*driver().state().selection(), (EventRange{ event, event }));
    EXPECT_FALSE(summary.isVisible());
}

TEST_F(LedgerPanelTest, ARowIsChosenByClickAndByEnterAndSumsAreNot)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    QSignalSpy chosen(&panel(), &LedgerPanel::categoryChosen);
    const int sums = static_cast<int>(data().ledger.rows.size());
    ASSERT_TRUE(rows().item(sums, 0)->text() == QStringLiteral("Requested"));
    Q_EMIT rows().cellClicked(sums, 0);
    EXPECT_EQ(chosen.size(), 0);
    QSignalSpy opened(&page(), &Page::openPage);
    rows().setCurrentCell(0, 0);
    QTest::keyClick(&rows(), Qt::Key_Return);
    EXPECT_EQ(chosen.size(), 1);
    EXPECT_EQ(opened.size(), 1);
}

TEST_F(LedgerPanelTest, AModuleLeadsToItsBlocksAndThoseOfModulesWithinIt)
{
    ASSERT_NO_FATAL_FAILURE(open(withModules()));
    page().findChild<LedgerSource*>()->setByModule(true);
    const model::EventIndex event = data().ledger.event;
    const std::vector<model::ModuleRow> modules = data().modules;
    ASSERT_EQ(modules.size(), 6u) << "h, h.0, h.0.attn, h.1, ln, and what is of none";
    for (const model::ModuleRow& row : modules) {
        SCOPED_TRACE(row.path);
        (void)page();
        auto* const tree = panel().findChild<ModuleTree*>();
        ASSERT_TRUE(tree);
        Q_EMIT tree->moduleChosen(row.path);
        ASSERT_EQ(driver().currentPage(), QStringLiteral("blocks"));
        EXPECT_EQ(driver().state().selection(), (EventRange{ event, event }));
        if (!row.path.empty()) {
            EXPECT_EQ(driver().state().filter().module, row.path + ".*");
        }
        EXPECT_EQ(driver().shown<BlocksPage>("blocks").model().rows()->sums().first, row.total.bytes);
        driver().state().setFilter({});
    }
}

TEST_F(LedgerPanelTest, AShortLivedLineLeadsToMemoryAtThatInstant)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    const model::EventIndex event = data().ledger.event;
    ASSERT_FALSE(data().spikes.empty());
    const std::string line = model::lineOf(data().trace().recording(), data().spikes.front());
    auto* const spikes = panel().findChild<BarList*>(QStringLiteral("spikes"));
    ASSERT_TRUE(spikes);
    Q_EMIT spikes->cellClicked(0, 0);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().state().selection(), (EventRange{ event, event }));
    EXPECT_EQ(driver().state().grouping(), model::Grouping::Line);
    EXPECT_EQ(driver().view().details().focusShown(), Focus::onGroup(model::Grouping::Line, { line, 0 }));
}

TEST_F(LedgerPanelTest, SaysWhatWouldRecordWhatIsOnlyInferred)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)page();
    EXPECT_TRUE(test::shows(panel(), QStringLiteral("stack traces, sizes and lifetimes show it")));
    EXPECT_TRUE(test::shows(panel(), QStringLiteral("strata record")));
    page().findChild<LedgerSource*>()->setByModule(true);
    EXPECT_TRUE(test::shows(panel(), QStringLiteral("No module is known")));
    auto* tree = panel().findChild<ModuleTree*>();
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->topLevelItem(tree->topLevelItemCount() - 2)->text(0), QStringLiteral("no module"));
    EXPECT_TRUE(panel().commandLine().endsWith(QStringLiteral("--by module")));
}

TEST(LedgerPanel, LeavesItsButtonsInPlaceWhileItWaits)
{
    Document document;
    LedgerSource source(document);
    const LedgerPanel panel(document, source, Palette::light());
    const auto buttons = panel.findChildren<QPushButton*>();
    ASSERT_FALSE(buttons.isEmpty());
    Q_EMIT document.progressChanged();
    EXPECT_EQ(panel.findChildren<QPushButton*>(), buttons);
}

TEST_F(LedgerPanelTest, KeepsRowAndKeyboardAtAnotherInstant)
{
    ASSERT_NO_FATAL_FAILURE(open(QStringLiteral(STRATA_SAMPLES "/../sessions/recorded.strata")));
    (void)page();
    window().activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window()));
    const auto last = driver().device().trace->eventCount() - 1;
    const auto moveTo = [&](model::EventIndex event) {
        driver().state().select(EventRange{ event, event });
        settle();
        ASSERT_EQ(data().ledger.event, event);
    };
    rows().setFocus();
    rows().setCurrentCell(1, 0);
    const QString label = rows().item(1, 0)->text();
    moveTo(last / 2);
    EXPECT_TRUE(rows().hasFocus());
    ASSERT_GE(rows().currentRow(), 0);
    EXPECT_EQ(rows().item(rows().currentRow(), 0)->text(), label);
}

TEST_F(LedgerPanelTest, IsNotThereWhereNoMemoryIs)
{
    ASSERT_NO_FATAL_FAILURE(open(file("none.json",
        R"({"segments":[{"device":0,"address":1024,"total_size":2048,"allocated_size":0,"active_size":0,"stream":0,)"
        R"("segment_type":"small","blocks":[{"size":2048,"state":"inactive"}]}]})")));
    EXPECT_FALSE(driver().window().findChild<LedgerPanel*>());
}

TEST(ModuleTree, HasTheTotalsOfEachModuleAndUnfoldsAsFarAsThereIsRoom)
{
    std::vector<model::ModuleRow> rows;
    const auto add = [&](const char* path, int depth, std::int64_t parameters, std::int64_t activations) {
        model::ModuleRow& row = rows.emplace_back();
        row.path = path;
        row.depth = depth;
        row.total.add({ model::Category::Parameter }, parameters);
        row.total.add({ model::Category::Activation }, activations);
        row.total.add({ model::Category::Input }, 1);
    };
    add("h", 0, 3072, 2048);
    add("h.0", 1, 1024, 2048);
    add("h.1", 1, 2048, 0);
    add("", 0, 0, 0);
    ModuleTree tree(rows, Qt::gray, Qt::gray);
    ASSERT_EQ(tree.topLevelItemCount(), 3);
    const QTreeWidgetItem& h = *tree.topLevelItem(0);
    ASSERT_EQ(h.childCount(), 2);
    EXPECT_TRUE(h.isExpanded());
    const auto texts = [](const QTreeWidgetItem& item) {
        QStringList all;
        for (int c = 0; c < 7; ++c)
            all += item.text(c);
        return all.join(QLatin1Char('|')).toStdString();
    };
    EXPECT_EQ(texts(h), "h|3.00 KiB|-|-|2.00 KiB|1 B|5.00 KiB");
    EXPECT_EQ(texts(*h.child(1)), "1|2.00 KiB|-|-|-|1 B|2.00 KiB");
    EXPECT_EQ(texts(*tree.topLevelItem(1)), "no module|-|-|-|-|1 B|1 B");
    EXPECT_EQ(texts(*tree.topLevelItem(2)), "Requested|3.00 KiB|-|-|2.00 KiB|2 B|5.00 KiB");

    // Made anew it is as its user left it.
    tree.topLevelItem(0)->setExpanded(false);
    tree.setCurrentItem(tree.topLevelItem(1));
    ModuleTree again(rows, Qt::gray, Qt::gray);
    again.restore(tree.kept());
    EXPECT_FALSE(again.topLevelItem(0)->isExpanded());
    EXPECT_EQ(again.currentItem(), again.topLevelItem(1));
}

} // namespace
