// SPDX-License-Identifier: GPL-3.0-or-later
// A session that grows while it is shown: no page is painted without its content.
#include "tests/gui/shell/growth_test.h"
#include "tests/gui/training/training_run.h"
#include "views/pages/leaks/leaks_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/summary/summary_page.h"
#include "views/widgets/allocator/address_map.h"
#include "views/widgets/allocator/fragmentation_chart.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/memory/curve_overview.h"
#include "views/widgets/table_view.h"
#include "views/widgets/training/growth_chart.h"
#include "views/widgets/training/step_multiples.h"
#include "views/widgets/training/steps_view.h"

#include <QTableView>

#include <set>
#include <utility>

using namespace strata;
using namespace strata::views;

namespace {

/// Looks at every paint of the pages' widgets: what is painted must not be empty.
class EmptyPaints : public QObject {
public:
    explicit EmptyPaints(DocumentView& view)
        : m_view(view)
    {
        qApp->installEventFilter(this);
    }
    int paints = 0, empty = 0;
    std::set<const QMetaObject*> painted; ///< kinds of widgets that were looked at

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::Paint && watched->isWidgetType())
            look(*static_cast<QWidget*>(watched));
        return false;
    }

private:
    void look(const QWidget& widget)
    {
        const QWidget* of = widget.parentWidget();
        bool isEmpty = false;
        if (const auto* canvas = qobject_cast<const MemoryCanvas*>(&widget)) {
            of = canvas;
            isEmpty = !canvas->scene().device || canvas->store().latest(canvas->mode()).isNull();
        } else if (const auto* table = qobject_cast<const TableView*>(of)) {
            isEmpty = table->model()->rowCount() == 0;
        } else if (const auto* list = qobject_cast<const QTableView*>(of)) {
            isEmpty = list->model()->rowCount() == 0;
        } else if (const auto* graph = qobject_cast<const FlameGraph*>(of)) {
            isEmpty = !graph->tree() || graph->tree()->total(0) == 0;
        } else if (const auto* map = qobject_cast<const AddressMap*>(of)) {
            isEmpty = !map->picture() || map->picture()->rows.empty();
        } else if (const auto* chart = qobject_cast<const FragmentationChart*>(&widget)) {
            of = chart;
            isEmpty = !chart->samples() || chart->samples()->at.empty();
        } else if (const auto* growth = qobject_cast<const GrowthChart*>(of ? of->parentWidget() : nullptr)) {
            of = growth; // its chart covers it
            isEmpty = growth->series().points.empty();
        } else if (const auto* steps = qobject_cast<const StepMultiples*>(of)) {
            isEmpty = !steps->rowAt(steps->cellOf(0).center());
        } else if (const auto* overview = qobject_cast<const CurveOverview*>(&widget)) {
            of = overview;
            isEmpty = overview->waits();
        } else if (const auto* page = qobject_cast<const SummaryPage*>(of)) {
            isEmpty = test::shownTexts(*page).size() < 12;
        } else {
            return;
        }
        ++paints;
        painted.insert(of->metaObject());
        empty += isEmpty ? 1 : 0;
    }
    DocumentView& m_view;
};

class GrowthPaints : public test::GrowthTest {
protected:
    /// Of a page a kind of widget that it has, and that must be among those that are looked at.
    void expectContent(const char* page, const QMetaObject* kind)
    {
        SCOPED_TRACE(page);
        driver().view().showPage(QLatin1String(page));
        if (kind == &StepMultiples::staticMetaObject)
            driver().page<LeaksPage>(page).setMode(LeaksPage::Steps);
        ASSERT_NO_FATAL_FAILURE(settle());
        QTest::qWait(50);
        EmptyPaints watch(driver().view());
        const double from = static_cast<double>(m_fed) / static_cast<double>(m_bytes.size());
        for (int i = 1; i <= 5; ++i) {
            ASSERT_NO_FATAL_FAILURE(tell(from + i * 0.02));
            QTest::qWait(60);
        }
        ASSERT_NO_FATAL_FAILURE(settle());
        EXPECT_GT(watch.paints, 0);
        EXPECT_TRUE(watch.painted.contains(kind)) << kind->className();
        EXPECT_EQ(watch.empty, 0);
    }
};

TEST_F(GrowthPaints, PaintsNoPageEmptyInBetween)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(sample(), true), 0.3));
    const std::pair<const char*, const QMetaObject*> pages[]{
        { "summary", &SummaryPage::staticMetaObject },
        { "memory", &MemoryCanvas::staticMetaObject },
        { "flame", &FlameGraph::staticMetaObject },
        { "allocator", &AddressMap::staticMetaObject },
        { "fragmentation", &FragmentationChart::staticMetaObject },
        { "blocks", &TableView::staticMetaObject },
        { "events", &TableView::staticMetaObject },
    };
    for (const auto& [page, kind] : pages)
        ASSERT_NO_FATAL_FAILURE(expectContent(page, kind));
}

TEST_F(GrowthPaints, PaintsLeaksAndStepsOfATraining)
{
    wire::MemorySink sink;
    ASSERT_TRUE(model::writeSession(*test::trainingRun(400, 4'000), sink));
    ASSERT_NO_FATAL_FAILURE(begin(test::inLittleChunks(sink.bytes(), 1), 0.6));
    ASSERT_NO_FATAL_FAILURE(expectContent("leaks", &GrowthChart::staticMetaObject));
    ASSERT_NO_FATAL_FAILURE(expectContent("leaks", &StepMultiples::staticMetaObject));
}

} // namespace
