// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/evidence_words.h"
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/training/step_figures.h"
#include "tests/support/grow.h"
#include "views/models/document/training_words.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/training/steps_view.h"

#include <QBuffer>
#include <QComboBox>
#include <QFile>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

class StepsViewTest : public testing::Test, protected test::WindowFont {
protected:
    StepsViewTest()
    {
        m_view.resize(900, 400);
        m_view.setColours(Palette::light());
        m_view.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_view));
    }
    void show(std::shared_ptr<const DeviceData> device)
    {
        m_view.setDevice(std::move(device), false);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !m_view.job().running(); }, 20'000));
    }
    void show(int steps) { show(test::withSteps(test::trainingRun(steps, 4'000))); }
    [[nodiscard]] QString legend() const { return m_view.findChild<Legend*>()->accessibleDescription(); }

    StepsView m_view;
};

TEST_F(StepsViewTest, SaysHowManyStepsAndWhatToldThem)
{
    show(20);
    ASSERT_TRUE(m_view.figures());
    EXPECT_EQ(m_view.headText(),
        QStringLiteral("Probably <b>20 steps</b> of training, ")
            + text::said(model::evidenceSentence(m_view.figures()->steps())));
    EXPECT_TRUE(legend().contains(QStringLiteral("the median of"))) << qPrintable(legend());
    EXPECT_TRUE(m_view.multiples().isVisible());
}

TEST_F(StepsViewTest, SaysWhyThereAreNone)
{
    m_view.setDevice(nullptr, true);
    EXPECT_EQ(m_view.notice().text().title, QStringLiteral("Looking for steps…"));
    show(test::withSteps(test::makeRecording("alloc 0x1000 512\n")));
    EXPECT_EQ(m_view.notice().text().title, QStringLiteral("No steps are known"));
    EXPECT_TRUE(m_view.notice().text().otherCode.contains(QStringLiteral("record_function")));
    EXPECT_TRUE(m_view.notice().isVisible());
}

TEST_F(StepsViewTest, AStepThatIsChosenIsSelected)
{
    show(20);
    QSignalSpy ranges(&m_view, &StepsView::rangeChosen);
    QTest::mouseClick(
        m_view.multiples().viewport(), Qt::LeftButton, {}, m_view.multiples().cellOf(2).center());
    ASSERT_EQ(ranges.count(), 1);
    const model::TrainingStep& step = *m_view.figures()->rows[2].step;
    EXPECT_EQ(ranges[0][0].value<EventRange>(), (EventRange{ step.first, step.last }));
}

TEST_F(StepsViewTest, FollowsTheSelectionOfTheWindow)
{
    show(20);
    QSignalSpy ranges(&m_view, &StepsView::rangeChosen);
    const model::TrainingStep& step = *m_view.figures()->rows[7].step;
    m_view.setSelection(EventRange{ step.first + 1, step.first + 1 });
    EXPECT_EQ(m_view.multiples().chosen(), 7u);
    EXPECT_EQ(m_view.table().currentSourceRow(), 7u);
    m_view.setSelection(EventRange{ step.first, step.last + 1 }); // of more than one
    EXPECT_EQ(m_view.multiples().chosen(), std::nullopt);
    m_view.setSelection(std::nullopt);
    EXPECT_EQ(m_view.multiples().chosen(), std::nullopt);
    EXPECT_EQ(ranges.count(), 0);
}

TEST_F(StepsViewTest, ComparesTheFirstStepWithTheMedianOfTheSteady)
{
    show(20);
    m_view.setMode(StepsView::Pair);
    EXPECT_TRUE(m_view.pair().isVisible());
    EXPECT_EQ(m_view.pair().step(), m_view.figures()->firstTraining);
    EXPECT_EQ(m_view.pair().other(), m_view.figures()->medianSteady);
    const QStringList read = m_view.pair().describe(0.5);
    ASSERT_EQ(read.size(), 3);
    EXPECT_EQ(read[0], QStringLiteral("50 % of the step"));
    EXPECT_TRUE(read[1].startsWith(text::stepName(*m_view.figures()->rows[*m_view.pair().step()].step)));
}

TEST_F(StepsViewTest, TwoStepsAreReadByKeyboard)
{
    show(20);
    m_view.setMode(StepsView::Pair);
    StepPair& pair = m_view.pair();
    pair.setFocus();
    QSignalSpy read(&pair, &StepPair::hovered), chosen(&m_view, &StepsView::instantChosen);
    QTest::keyClick(&pair, Qt::Key_Return);
    EXPECT_EQ(chosen.count(), 0);
    for (int i = 0; i < 31; ++i)
        QTest::keyClick(&pair, Qt::Key_Right);
    ASSERT_FALSE(read.isEmpty());
    const QString said = read.back()[0].toString();
    EXPECT_TRUE(said.startsWith(QStringLiteral("30 % of the step"))) << qPrintable(said);
    EXPECT_EQ(pair.accessibleDescription(), said);
    QTest::keyClick(&pair, Qt::Key_Left);
    EXPECT_TRUE(read.back()[0].toString().startsWith(QStringLiteral("29 %")));
    QTest::keyClick(&pair, Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 1);
    const auto event = chosen[0][0].value<model::EventIndex>();
    const model::TrainingStep& step = *m_view.figures()->rows[*pair.step()].step;
    EXPECT_TRUE(event >= step.first && event <= step.last);
}

TEST_F(StepsViewTest, ComparesAnyStepWithAnyOther)
{
    show(20);
    m_view.setMode(StepsView::Pair);
    QSignalSpy ranges(&m_view, &StepsView::rangeChosen);
    m_view.stepBox().setValue(9);
    EXPECT_EQ(ranges.count(), 1);
    m_view.compareWith(StepsView::With::Other);
    m_view.otherBox().setValue(12);
    EXPECT_EQ(m_view.figures()->rows[*m_view.pair().step()].step->number, 9);
    EXPECT_EQ(m_view.figures()->rows[*m_view.pair().other()].step->number, 12);
    EXPECT_TRUE(legend().contains(QStringLiteral("step 12")));
    m_view.compareWith(StepsView::With::Nothing);
    EXPECT_EQ(m_view.pair().other(), std::nullopt);
    m_view.compareWith(StepsView::With::Highest);
    EXPECT_EQ(m_view.pair().other(), m_view.figures()->highest);
}

TEST_F(StepsViewTest, GoesOnWithStepsOfANewerGeneration)
{
    const auto run = test::trainingRun(400, 4'000);
    test::Feeder feeder(*run);
    const auto source = std::make_shared<int>();
    const auto generation = [&](std::int64_t events) {
        feeder.addEvents(0, events);
        auto data = std::make_shared<DeviceData>(*test::withSteps(feeder.append()));
        data->source = source;
        return data;
    };
    show(generation(2'000));
    const auto first = m_view.figures();
    ASSERT_TRUE(first);
    ASSERT_GT(first->rows.size(), 100u);
    auto later = generation(100);
    later->training = first->device->training; // nobody looked at it again yet
    QSignalSpy shown(&m_view, &StepsView::shown);
    m_view.setDevice(later, true);
    EXPECT_FALSE(m_view.job().running());
    EXPECT_EQ(m_view.figures(), first);
    EXPECT_EQ(shown.count(), 0);

    StepMultiples& multiples = m_view.multiples();
    multiples.verticalScrollBar()->setValue(300);
    const auto pointed = multiples.rowAt({ 300, 150 });
    ASSERT_TRUE(pointed);
    QSignalSpy hovered(&m_view, &StepsView::hovered);
    QTest::mouseMove(multiples.viewport(), { 300, 150 });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !hovered.isEmpty(); }));
    (void)multiples.grab();
    const int sampled = multiples.sampled();
    EXPECT_GT(sampled, 0);
    PlainTableView& table = m_view.table();
    table.selectionModel()->select({ table.model()->index(40, 0), table.model()->index(45, 0) },
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    const auto selected = table.selectedRanges();
    ASSERT_FALSE(selected.empty());
    table.verticalScrollBar()->setValue(38);
    const int scrolled = table.firstVisibleRow();
    hovered.clear();
    show(generation(1'000));
    EXPECT_GT(m_view.figures()->rows.size(), first->rows.size());
    EXPECT_EQ(multiples.verticalScrollBar()->value(), 300);
    EXPECT_LE(multiples.sampled(), sampled + 1) << "what is in view is what it was, but for the median";
    EXPECT_GE(multiples.sampled(), sampled) << "nothing was sampled again";
    EXPECT_TRUE(hovered.isEmpty());
    EXPECT_EQ(table.selectedRanges(), selected);
    EXPECT_EQ(table.firstVisibleRow(), scrolled);
}

TEST_F(StepsViewTest, NumbersHaveRoomBesideTheDetails)
{
    show(100);
    m_view.setMode(StepsView::Numbers);
    m_view.resize(804, 400); // a window of 1280
    QCoreApplication::processEvents();
    EXPECT_GT(m_view.table().verticalScrollBar()->maximum(), 0);
    EXPECT_EQ(m_view.table().horizontalScrollBar()->maximum(), 0);
}

TEST_F(StepsViewTest, IsSavedAsATableAndAsAPicture)
{
    show(20);
    QBuffer csv;
    csv.open(QIODevice::ReadWrite);
    ASSERT_TRUE(m_view.writeCsv(csv));
    EXPECT_EQ(csv.data().count('\n'), static_cast<qsizetype>(m_view.figures()->rows.size()) + 1);
    QTemporaryDir folder;
    for (const StepsView::Mode mode : { StepsView::SideBySide, StepsView::Pair }) {
        m_view.setMode(mode);
        const QString path = folder.filePath(QStringLiteral("steps%1.svg").arg(mode));
        ASSERT_TRUE(m_view.saveSvg(path, QStringLiteral("Steps")));
        QFile svg(path);
        ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
        EXPECT_TRUE(svg.readAll().contains("<rect"));
    }
    m_view.setMode(StepsView::Numbers);
    EXPECT_FALSE(m_view.saveSvg(folder.filePath(QStringLiteral("none.svg")), {}));
    EXPECT_EQ(StepsView::commandLine(QStringLiteral("a b.strata"), 1),
        QStringLiteral("strata steps 'a b.strata' --device 1"));
}

} // namespace
