// SPDX-License-Identifier: GPL-3.0-or-later
// What hooks and Python's side tell of the calls of a deep step, on its way to the sender.
#include "capture/agent/program/call_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::agent {

namespace {

using wire::CallKind;

class CallLogTest : public testing::Test {
protected:
    CallLogTest()
    {
        for (int device = 0; device < 2; ++device)
            m_devices.push_back(std::make_unique<Device>(6u));
        m_devices[0]->events = 10;
        m_log.begin();
    }

    static hook::Text text(const std::string& of) { return { of.data(), of.size() }; }
    void begins(const std::string& name, const std::string& arguments, std::vector<hook::DeepTensor> takes,
        bool isCall = true)
    {
        const std::string overload = name + ".Tensor";
        hook::DeepCall call;
        call.overload = text(overload);
        call.arguments = text(arguments);
        call.gradients = true;
        tell(name, takes, isCall, false, &call);
    }
    void returns(std::vector<hook::DeepTensor> tensors, bool isCall = true)
    {
        tell("", tensors, isCall, true, nullptr);
    }
    void tell(const std::string& name, const std::vector<hook::DeepTensor>& tensors, bool isCall, bool isEnd,
        const hook::DeepCall* call)
    {
        hook::DeepOperator seen;
        seen.returns = isEnd;
        seen.name = text(name);
        seen.tensors = tensors.data();
        seen.count = static_cast<std::uint32_t>(tensors.size());
        seen.isCall = isCall;
        seen.call = isCall ? call : nullptr;
        m_log.addOperator(seen);
    }
    [[nodiscard]] hook::DeepTensor tensor(std::uint64_t address, bool requiresGrad = false) const
    {
        static constexpr std::int64_t kSizes[] = { 2, 3 }, kStrides[] = { 3, 1 };
        hook::DeepTensor made{ &m_places[address % 8], 0, address, "float" };
        made.sizes = kSizes;
        made.strides = kStrides;
        made.dimensions = 2;
        made.requiresGrad = requiresGrad;
        return made;
    }
    CallLog::List ended()
    {
        m_log.end();
        auto list = m_log.take();
        EXPECT_TRUE(list);
        return list.value_or(CallLog::List{});
    }
    [[nodiscard]] static std::string unusable(const CallLog::List& list)
    {
        return list.chunk.unusable == wire::kNone ? "" : list.texts[list.chunk.unusable];
    }

    Devices m_devices;
    CallLog m_log{ m_devices };
    char m_places[8] = {};
};

TEST_F(CallLogTest, CallsOfTheProgramAreListedAndNotWhatLiesBeneath)
{
    begins("aten::mul", R"(["@",{"n":2}])", { tensor(1, true) });
    begins("aten::_to_copy", "[\"@\"]", { tensor(1, true) }, false);
    m_devices[0]->events = 12;
    returns({ tensor(2) }, false);
    m_log.addGone(tensor(2).tensor); // of nobody that is listed
    returns({ tensor(3, true) });
    m_log.addGone(tensor(3).tensor);
    const CallLog::List list = ended();
    EXPECT_EQ(unusable(list), "");
    ASSERT_EQ(list.chunk.rows.size(), 2u);
    const wire::CallRow& call = list.chunk.rows[0];
    EXPECT_EQ(list.texts[call.name], "aten::mul.Tensor");
    EXPECT_EQ(list.texts[call.detail], R"(["@",{"n":2}])");
    EXPECT_TRUE(call.gradients);
    EXPECT_EQ(call.event, 10u);
    EXPECT_EQ(call.takes, 1u);
    EXPECT_EQ(call.returns, 1u);
    EXPECT_EQ(list.chunk.rows[1].kind, CallKind::Gone);
    EXPECT_EQ(list.chunk.rows[1].event, 12u);
    EXPECT_EQ(list.chunk.refs, (std::vector<std::uint32_t>{ 1, 3, 2 }));
    EXPECT_EQ(list.chunk.lengths, (std::vector<std::int64_t>{ 2, 3, 3, 1, 2, 3, 3, 1 }));
    EXPECT_FALSE(m_log.take()) << "once";
}

TEST_F(CallLogTest, WhatDiesWhileACallRunsStandsBehindIt)
{
    begins("aten::mul", "[\"@\"]", { tensor(1) });
    returns({ tensor(2) });
    begins("aten::add", "[\"@\"]", { tensor(1) });
    m_log.addGone(tensor(2).tensor);
    returns({ tensor(3) });
    const CallLog::List list = ended();
    ASSERT_EQ(list.chunk.rows.size(), 3u);
    EXPECT_EQ(list.chunk.rows[1].returns, 1u);
    EXPECT_EQ(list.chunk.rows[2].kind, CallKind::Gone);
    EXPECT_EQ(list.chunk.refs, (std::vector<std::uint32_t>{ 0, 2, 0, 4, 2 }));
}

TEST_F(CallLogTest, BackwardIsOneRowWhateverRunsInIt)
{
    const std::vector<hook::DeepTensor> root{ tensor(1, true) }, parameter{ tensor(2, true) };
    m_log.add(CallKind::Known, "parameter", "", parameter);
    m_log.add(CallKind::Backward, "", "{}", root);
    begins("aten::mul", "[\"@\"]", { tensor(1) });
    returns({ tensor(4) });
    m_log.add(CallKind::Enters, "again", "Block", {});
    m_log.add(CallKind::BackwardEnds, "", "", {});
    hook::DeepTensor told = tensor(2, true);
    told.gradient = tensor(5).tensor;
    m_log.add(CallKind::Known, "gradient", "", std::vector{ told, tensor(5) });
    const CallLog::List list = ended();
    ASSERT_EQ(list.chunk.rows.size(), 4u);
    EXPECT_EQ(list.chunk.rows[2].kind, CallKind::BackwardEnds);
    ASSERT_EQ(list.chunk.tensors.size(), 3u);
    EXPECT_EQ(list.chunk.tensors[2].gradientOf, 0u);
}

TEST_F(CallLogTest, StatesAreWhatAnOptimizerTakesForTheFirstTime)
{
    hook::DeepTensor weight = tensor(1, true);
    weight.gradient = tensor(2).tensor;
    m_log.add(CallKind::Known, "parameter", "", std::vector{ weight });
    begins("aten::mul", "[\"@\",\"@\"]", { tensor(1, true), tensor(3) });
    returns({ tensor(4, true) });
    m_log.add(CallKind::Backward, "", "{}", std::vector{ tensor(4, true) });
    m_log.add(CallKind::BackwardEnds, "", "", {});
    m_log.add(CallKind::Known, "gradient", "", std::vector{ weight, tensor(2) });
    begins("aten::mul_", "[\"@\"]", { tensor(5) }); // a state
    returns({ tensor(5) });
    begins("aten::add_", "[\"@\",\"@\"]", { tensor(5), tensor(2) });
    returns({ tensor(5) });
    begins("aten::sqrt", "[\"@\"]", { tensor(5) });
    returns({ tensor(6) }); // what comes of it is none
    hook::DeepTensor alias = tensor(7);
    alias.address = weight.address; // as .data has it
    begins("aten::addcdiv_", "[\"@\",\"@\",\"@\"]", { alias, tensor(6), tensor(3) });
    returns({ alias });
    m_log.addStates();
    const CallLog::List list = ended();
    EXPECT_EQ(unusable(list), "");
    const wire::CallRow& row = list.chunk.rows.back();
    EXPECT_EQ(row.kind, CallKind::Known);
    EXPECT_EQ(list.texts[row.name], "state");
    ASSERT_EQ(row.takes, 2u);
    const std::size_t at = list.chunk.refs.size() - 2;
    EXPECT_EQ(list.chunk.tensors[list.chunk.refs[at] / 2].address, 1u);
    EXPECT_EQ(list.chunk.tensors[list.chunk.refs[at + 1] / 2].address, 5u);
}

TEST_F(CallLogTest, WithoutABackwardThereAreNoStates)
{
    begins("aten::mul_", "[\"@\",\"@\"]", { tensor(5), tensor(1, true) });
    returns({ tensor(5) });
    m_log.addStates();
    EXPECT_EQ(ended().chunk.rows.size(), 1u);
}

TEST_F(CallLogTest, WhatCannotBeCalledAgainIsSaidByName)
{
    const auto why = [&](const auto& tell) {
        m_log.begin();
        tell();
        const CallLog::List list = ended();
        EXPECT_TRUE(list.chunk.rows.empty());
        EXPECT_TRUE(list.chunk.tensors.empty());
        return unusable(list);
    };
    EXPECT_EQ(
        why([&] { begins("Mine", "[]", {}); }), "the program has a function of its own for autograd, Mine");
    EXPECT_EQ(why([&] {
        begins("autograd::engine::evaluate_function: torch::autograd::CppNode<Of<int>>", "[]", {}, false);
    }),
        "the program has a function of its own for autograd, Of<int>");
    EXPECT_EQ(why([&] { begins("mine::op", "[]", {}); }),
        "the program calls mine::op, which is none of the operators of aten");
    EXPECT_EQ(why([&] { begins("aten::mul", "", {}); }), "arguments of aten::mul.Tensor cannot be recorded");
    EXPECT_EQ(why([&] {
        hook::DeepTensor other = tensor(1);
        begins("aten::mul", "[\"@\"]", { other });
        other.device = 1;
        other.tensor = &m_places[7];
        returns({ other });
    }),
        "the step has tensors of several devices");
    EXPECT_EQ(why([&] {
        hook::DeepTensor nested = tensor(1);
        nested.sizes = nullptr;
        begins("aten::mul", "[\"@\"]", { nested });
    }),
        "the step has tensors without sizes, as nested and sparse ones");
    EXPECT_EQ(why([&] { m_log.fail("so"); }), "so");
}

TEST_F(CallLogTest, WhatHasNothingOnAGpuIsLeftOut)
{
    begins("aten::add", R"([{"h":["float",[],[]]}])", {});
    returns({});
    begins("aten::zeros", "[[2,3]]", {});
    returns({ tensor(1) });
    const CallLog::List list = ended();
    ASSERT_EQ(list.chunk.rows.size(), 1u);
    EXPECT_EQ(list.texts[list.chunk.rows[0].name], "aten::zeros.Tensor");
}

} // namespace

} // namespace strata::agent
