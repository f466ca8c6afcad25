// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/training/step_figures.h"
#include "views/widgets/training/step_multiples.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

class StepMultiplesTest : public testing::Test, protected test::WindowFont {
protected:
    void show(int steps)
    {
        m_figures = stepFigures(test::withSteps(test::trainingRun(steps, 4'000)));
        m_multiples.resize(700, 300);
        m_multiples.setFigures(m_figures);
        m_multiples.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_multiples));
        (void)m_multiples.grab();
    }
    void press(Qt::Key key) { QTest::keyClick(&m_multiples, key); }

    std::shared_ptr<const StepFigures> m_figures;
    StepMultiples m_multiples;
};

TEST_F(StepMultiplesTest, DrawsOnlyWhatIsInView)
{
    ASSERT_NO_FATAL_FAILURE(show(3'000));
    EXPECT_GT(m_multiples.sampled(), 2);
    EXPECT_LT(m_multiples.sampled(), 40);
    m_multiples.verticalScrollBar()->setValue(m_multiples.verticalScrollBar()->maximum());
    (void)m_multiples.grab();
    EXPECT_LT(m_multiples.sampled(), 80);
    const auto last = m_figures->rows.size() - 1;
    EXPECT_TRUE(m_multiples.viewport()->rect().intersects(m_multiples.cellOf(last)));
}

TEST_F(StepMultiplesTest, DrawsNoMoreOnALargeScreenThanAFrameMayHave)
{
    ASSERT_NO_FATAL_FAILURE(show(3'000));
    const int few = m_multiples.columnsInView();
    m_multiples.resize(3840, 2160);
    (void)m_multiples.grab();
    EXPECT_GT(m_multiples.columnsInView(), few);
    EXPECT_LE(3 * m_multiples.columnsInView(), 20'000);
}

TEST_F(StepMultiplesTest, EveryCellIsFoundWhereItIs)
{
    ASSERT_NO_FATAL_FAILURE(show(30));
    for (std::size_t row = 0; row < m_figures->rows.size(); ++row)
        EXPECT_EQ(m_multiples.rowAt(m_multiples.cellOf(row).center()), row);
    EXPECT_EQ(m_multiples.rowAt({ 2, 40 }), std::nullopt); // the scale
    EXPECT_EQ(m_multiples.rowAt(m_multiples.cellOf(m_figures->rows.size() - 1).center() + QPoint(0, 4'000)),
        std::nullopt);
}

TEST_F(StepMultiplesTest, AClickChoosesAStep)
{
    ASSERT_NO_FATAL_FAILURE(show(30));
    QSignalSpy chosen(&m_multiples, &StepMultiples::rowChosen);
    QTest::mouseClick(m_multiples.viewport(), Qt::LeftButton, {}, m_multiples.cellOf(1).center());
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0][0].value<std::size_t>(), 1u);
    EXPECT_EQ(m_multiples.chosen(), 1u);
}

TEST_F(StepMultiplesTest, IsWalkedByKeyboard)
{
    ASSERT_NO_FATAL_FAILURE(show(60));
    m_multiples.setFocus();
    QSignalSpy chosen(&m_multiples, &StepMultiples::rowChosen);
    press(Qt::Key_Home);
    EXPECT_EQ(m_multiples.current(), 0u);
    press(Qt::Key_Right);
    EXPECT_EQ(m_multiples.current(), 1u);
    press(Qt::Key_Left);
    press(Qt::Key_Left);
    EXPECT_EQ(m_multiples.current(), 0u);
    press(Qt::Key_Down);
    const std::size_t below = m_multiples.current();
    EXPECT_GT(below, 1u);
    EXPECT_EQ(m_multiples.cellOf(below).left(), m_multiples.cellOf(0).left());
    press(Qt::Key_End);
    EXPECT_EQ(m_multiples.current(), m_figures->rows.size() - 1);
    EXPECT_TRUE(m_multiples.viewport()->rect().contains(m_multiples.cellOf(m_multiples.current()).center()));
    EXPECT_TRUE(m_multiples.accessibleDescription().contains(m_multiples.describe(m_multiples.current())[0]));
    EXPECT_EQ(chosen.count(), 0);
    press(Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0][0].value<std::size_t>(), m_figures->rows.size() - 1);
}

TEST_F(StepMultiplesTest, BringsTheChosenStepIntoView)
{
    ASSERT_NO_FATAL_FAILURE(show(300));
    QSignalSpy chosen(&m_multiples, &StepMultiples::rowChosen);
    m_multiples.setChosen(250);
    EXPECT_TRUE(m_multiples.viewport()->rect().contains(m_multiples.cellOf(250).center()));
    EXPECT_EQ(chosen.count(), 0);
}

} // namespace
