// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of forwards alone, told by stacks: which of what recurs is a forward, and which a layer.
#include "model/analysis/training/steps/training_steps.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// "setup 1, forward 302": kinds, and how many events each has.
std::string kindsOf(std::string_view recording)
{
    const test::Opened opened(recording);
    const TrainingSteps found = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
    std::string text;
    for (const TrainingStep& step : found.steps)
        text += fmt::format(
            "{}{} {}", text.empty() ? "" : ", ", stepKindWord(step.kind), step.last - step.first + 1);
    return text;
}

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
    [[nodiscard]] std::string kinds() const { return kindsOf(m_text); }

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

TEST(Forwards, WithARefusedBackwardAreNoWholeStep)
{
    const std::string frames = "run@train.py:9", engine = "torch::autograd::Engine::evaluate_function@engine.cpp:1";
    std::string text;
    for (int block = 0; block < 4; ++block)
        text += fmt::format("alloc {:#x} 512 stack=forward@model.py:{}|_call_impl@/v/site-packages/torch/nn/modules/"
                            "module.py:7|{}\n",
            0x10000000 + 0x200 * block, 20 + block, frames);
    text += "alloc 0x20000000 512 stack=AddmmBackward0::apply@f.cpp:1|" + engine + "\n";
    const auto ended = [&](const std::string& request) { return kindsOf(text + request + " stack=" + engine); };
    EXPECT_EQ(ended("oom size=512 free=0"), "incomplete 6");
    EXPECT_EQ(ended("alloc 0x20000200 512"), "train 6");
}

TEST(Forwards, AreNotTheirLayers)
{
    Forwards one;
    one.call(12, true);
    EXPECT_EQ(one.kinds(), "setup 1, forward 302");

    Forwards withoutHead;
    withoutHead.call(12, false);
    EXPECT_EQ(withoutHead.kinds(), "setup 1, forward 301");
}

/// As with stacks="all": frames of the interpreter are outermost in some stacks and not in others.
TEST(Forwards, AreComparedByPythonFramesAlone)
{
    std::string text;
    int allocs = 0;
    const auto alloc = [&](const std::string& inner, int line, bool deep) {
        const std::string python = inner + "forward@/p/model.py:" + std::to_string(line)
            + "|_call_impl@/v/site-packages/torch/nn/modules/module.py:1790|run_step@/p/run.py:122"
              "|<module>@/p/run.py:284";
        const std::string interpreter = "_PyEval_EvalFrame@ceval.c:89|_start@??:0";
        text += fmt::format("alloc {:#x} 512 stack={}|{}\n", 0x10000000 + 0x200 * allocs++,
            deep ? python : interpreter, deep ? interpreter : python);
    };
    alloc("", 245, false);
    for (int layer = 0; layer < 32; ++layer)
        for (int line = 100; line < 124; ++line)
            alloc(fmt::format("forward@/p/model.py:{}|", line), 253, true);
    alloc("", 257, false);
    EXPECT_EQ(kindsOf(text), "forward 770");
}

/// A program that calls an embedding, layers and a head itself.
TEST(Forwards, AreNotLayersThatAFunctionCalls)
{
    std::string text;
    int allocs = 0;
    const auto alloc = [&](int inner, int line) {
        text += fmt::format("alloc {:#x} 512 stack=forward@/p/layer.py:{}"
                            "|_call_impl@/v/torch/nn/modules/module.py:1790|run@/p/run.py:{}\n",
            0x10000000 + 0x200 * allocs++, inner, line);
    };
    alloc(5, 20);
    for (int layer = 0; layer < 12; ++layer)
        for (int line = 10; line < 14; ++line)
            alloc(line, 22);
    alloc(6, 23);
    EXPECT_EQ(kindsOf(text), "forward 50");
}

TEST(Forwards, AreNoCompiledFunctions)
{
    // A mask that a compiled function makes: torch's frame for any such function is called forward, too.
    std::string text;
    for (int line = 20; line < 30; ++line)
        text += fmt::format(
            "alloc {:#x} 512 stack=call@/tmp/torchinductor_me/ab/cab.py:{}"
            "|forward@/v/torch/_functorch/aot_autograd.py:1200"
            "|_fn@/v/torch/_dynamo/eval_frame.py:1252|make_mask@/p/run.py:9|main@/p/run.py:30\n",
            0x10000000 + 0x200 * line, line);
    EXPECT_EQ(kindsOf(text), "");
}

/// x + down(gelu(up(norm(x)))) in one line: stacks of what it calls itself end there.
TEST(Forwards, AreNotLayersOfOneLine)
{
    std::string text;
    int allocs = 0;
    const std::string call = "_call_impl@/v/site-packages/torch/nn/modules/module.py:1790|";
    const auto alloc = [&](const std::string& inner) {
        text += fmt::format("alloc {:#x} 512 stack={}forward@/p/model.py:14|{}forward@/p/model.py:24|{}"
                            "main@/p/run.py:34\n",
            0x10000000 + 0x200 * allocs++, inner.empty() ? "" : inner + call, call, call);
    };
    const std::string linear = "forward@/v/site-packages/torch/nn/modules/linear.py:134|";
    for (int layer = 0; layer < 12; ++layer)
        for (const std::string& inner : { linear, linear, std::string(), linear, std::string() })
            alloc(inner);
    EXPECT_EQ(kindsOf(text), "forward 60");
}

TEST(Forwards, UnderNoGradAreEvaluations)
{
    for (const char* const name : { "decorate_context", "no_grad", "inference_mode" }) {
        std::string text;
        int allocs = 0;
        for (int call = 0; call < 3; ++call)
            for (int line = 10; line < 14; ++line)
                text += fmt::format(
                    "alloc {:#x} 512 "
                    "stack=forward@/p/model.py:{}|_call_impl@/v/torch/nn/modules/module.py:1790"
                    "|answer@/p/run.py:12|{}@/v/site-packages/torch/utils/_contextlib.py:120|main@/p/"
                    "run.py:30\n"
                    "alloc {:#x} 512 stack=main@/p/run.py:31\n",
                    0x10000000 + 0x200 * allocs, line, name, 0x20000000 + 0x200 * allocs),
                    ++allocs;
        EXPECT_EQ(kindsOf(text).substr(0, 6), "eval 2") << name;
    }
}

TEST(Forwards, AreOneEachWhereTheyRecur)
{
    Forwards three;
    for (int i = 0; i < 3; ++i)
        three.call(4, true);
    EXPECT_EQ(three.kinds(), "setup 1, forward 103, forward 103, forward 102");
}

} // namespace strata::model
