// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of forwards alone, told by stacks: which of what recurs is a forward, and which a layer.
#include "model/analysis/training/steps/training_steps.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// Allocs at lines of a model's forward, which calls layers of four in a loop at line 56.
class Forwards {
public:
    void call(int layers, bool head)
    {
        alloc("");
        alloc("forward@model.py:49|");
        for (int layer = 0; layer < layers; ++layer)
            for (int line = 20; line < 45; ++line)
                alloc(fmt::format("forward@layer.py:{}|forward@model.py:56|", line));
        if (head)
            alloc("forward@model.py:67|");
    }
    [[nodiscard]] std::string kinds() const
    {
        const test::Opened opened(m_text);
        const TrainingSteps found = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
        std::string text;
        for (const TrainingStep& step : found.steps)
            text += fmt::format(
                "{}{} {}", text.empty() ? "" : ", ", stepKindWord(step.kind), step.last - step.first + 1);
        return text;
    }

private:
    void alloc(std::string_view stack)
    {
        m_text
            += fmt::format("alloc {:#x} 512 stack={}run@train.py:9\n", 0x10000000 + 0x200 * m_allocs, stack);
        ++m_allocs;
    }

    std::string m_text;
    int m_allocs = 0;
};

} // namespace

TEST(Forwards, AreNotTheirLayers)
{
    Forwards one;
    one.call(12, true);
    EXPECT_EQ(one.kinds(), "setup 1, forward 302");

    Forwards withoutHead;
    withoutHead.call(12, false);
    EXPECT_EQ(withoutHead.kinds(), "setup 1, forward 301");
}

TEST(Forwards, AreOneEachWhereTheyRecur)
{
    Forwards three;
    for (int i = 0; i < 3; ++i)
        three.call(4, true);
    EXPECT_EQ(three.kinds(), "setup 1, forward 103, forward 103, forward 102");
}

} // namespace strata::model
