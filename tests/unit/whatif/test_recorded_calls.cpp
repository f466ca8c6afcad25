// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/calls/calls_again.h"

#include "model/base/progress.h"
#include "model/whatif/calls/call_operators.h"
#include "tests/unit/chunks/made_call_list.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::model {

namespace {

/// What is said of a list that something was done to; "": it can be called again.
class CallsTest : public testing::Test {
protected:
    CallsTest()
    {
        auto& device = m_recording.devices.emplace_back();
        device.device = 0;
        auto trace = DeviceTrace::build(m_recording, device, {});
        EXPECT_TRUE(trace);
        m_trace.emplace(*std::move(trace));
        m_list = test::makeCallList(m_recording);
    }

    [[nodiscard]] StringId text(const char* what) { return m_recording.strings.intern(what); }
    std::string refused(const CallList& list, std::vector<Change> changes = {})
    {
        const auto made = callsToRun(*m_trace, list, changes, 0);
        if (made)
            return "";
        EXPECT_EQ(made.error().kind, Error::Kind::Refused);
        return made.error().what.text();
    }
    std::string withCall(const char* name, const char* arguments)
    {
        CallList list = m_list;
        list.rows[2].name = text(name);
        list.rows[2].detail = text(arguments);
        return refused(list);
    }

    Recording m_recording;
    std::optional<DeviceTrace> m_trace;
    CallList m_list;
};

} // namespace

TEST(CallOperators, AreThoseThatCompute)
{
    for (const char* name : { "aten::add.Tensor", "aten::linear", "aten::scaled_dot_product_attention",
             "aten::_foreach_addcdiv_.ScalarList", "aten::__and__.Tensor", "aten::to.dtype" })
        EXPECT_TRUE(isCallable(name)) << name;
    for (const char* name : { "aten::from_file", "aten::set_.source_Storage", "prim::Print", "aten::", "add",
             "aten::add.", "aten::add.Tensor.x", "aten::add.__class__()", "aten::_unsafe_index.Tensor", "" })
        EXPECT_FALSE(isCallable(name)) << name;
}

TEST_F(CallsTest, AListBecomesADocument)
{
    const auto made = callsToRun(*m_trace, m_list, {}, 0);
    ASSERT_TRUE(made) << made.error().text();
    const auto document = nlohmann::json::parse(*made);
    EXPECT_EQ(document["rows"].size(), m_list.rows.size());
    EXPECT_EQ(document["rows"][2][2], "aten::sum.dim_IntList");
    EXPECT_EQ(document["rows"][2][3], nlohmann::json::parse(R"(["@",[1],false,null])"));
    EXPECT_EQ(document["rows"][2][4], nlohmann::json::array({ 1 }));
    EXPECT_EQ(document["tensors"][1], nlohmann::json::parse(R"(["float32",36864,4,[3],[1],28,null])"));
    EXPECT_EQ(document["tensors"][2][6], 0);
}

// Of several optimizers a deep step lies between two steps of the first one.
TEST_F(CallsTest, TheProgramBeginsWhereAStepOfTheTrainingDoes)
{
    const auto first = [&](EventIndex stepWithin) {
        CallsAsked asked;
        asked.stepWithin = stepWithin;
        return nlohmann::json::parse(*callsToRun(*m_trace, m_list, {}, 0, asked))["first"].get<int>();
    };
    EXPECT_EQ(first(0), 0);
    EXPECT_EQ(first(3), 0) << "with the calls themselves";
    EXPECT_EQ(first(5), 3) << "the first row that comes behind so many events";
    EXPECT_EQ(first(7), 5);
    EXPECT_EQ(first(9), 0) << "behind the calls";
}

TEST_F(CallsTest, CheckpointsAreWhereModulesAreEntered)
{
    const auto checkpoints = [&](const char* change) {
        const auto made = callsToRun(*m_trace, m_list, std::vector{ *Change::parse(change) }, 0);
        return made ? nlohmann::json::parse(*made)["checkpoints"] : nlohmann::json(made.error().what.text());
    };
    EXPECT_EQ(checkpoints("checkpoint=Attention"), nlohmann::json::array({ 1 }));
    EXPECT_EQ(checkpoints("checkpoint=path:h.*"), nlohmann::json::array({ 1 }));
    EXPECT_EQ(checkpoints("amp=bf16"), nlohmann::json::array());
    EXPECT_EQ(
        checkpoints("checkpoint=Block"), "no module of its calls is meant by --change checkpoint=Block");
}

// As those of a program in C++.
TEST_F(CallsTest, WithoutModulesNothingTellsWhichInputsWouldBeOfAnotherType)
{
    CallList list = m_list;
    for (CallList::Row& row : list.rows)
        if (row.kind == CallList::Kind::Enters || row.kind == CallList::Kind::Leaves)
            row.kind = CallList::Kind::AutocastEnds;
    EXPECT_EQ(refused(list, { *Change::parse("dtype=bf16") }),
        "its calls tell of no modules, whose inputs would be of that type, as those of a program in C++");
    EXPECT_EQ(refused(list, { *Change::parse("checkpoint=Block") }),
        "its calls tell of no modules, as those of a program in C++: --change checkpoint=Block means none");
    EXPECT_EQ(refused(list, { *Change::parse("amp=bf16") }), "");
    EXPECT_EQ(refused(m_list, { *Change::parse("dtype=bf16") }), "");
}

TEST_F(CallsTest, AKernelOfAttentionAndALossInChunksGoWithThem)
{
    const std::vector<Change> changes{ *Change::parse("attention=flash,causal"), *Change::parse("amp=bf16"),
        *Change::parse("logits=chunks:8") };
    EXPECT_TRUE(std::ranges::all_of(changes, isToldByCalls));
    const auto made = callsToRun(*m_trace, m_list, changes, 0);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(nlohmann::json::parse(*made)["changes"],
        nlohmann::json::parse(R"({"attention":"flash,causal","amp":"bf16","logits":"chunks:8"})"));
}

TEST_F(CallsTest, AnotherBatchGoesWithTheCallsOfTwo)
{
    CallList other = m_list;
    other.lengths[0] = 4; // rows of the first tensor
    CallsAsked asked;
    asked.with = CallsWith{ &*m_trace, &other, 0, 4 };
    asked.itemsBefore = 2;
    asked.itemsAfter = 8;
    const std::vector<Change> changes{ *Change::parse("batch=8") };
    const auto made = callsToRun(*m_trace, m_list, changes, 0, asked);
    ASSERT_TRUE(made) << made.error().text();
    const auto batch = nlohmann::json::parse(*made)["batch"];
    EXPECT_EQ(batch["before"], 2);
    EXPECT_EQ(batch["after"], 8);
    EXPECT_EQ(batch["with"]["items"], 4);
    EXPECT_EQ(batch["with"]["tensors"][0][3], nlohmann::json::array({ 4, 3 }));
    EXPECT_EQ(batch["with"]["rows"].size(), m_list.rows.size());
    other.lengths[0] = -1; // what the second one has is looked at as closely
    EXPECT_FALSE(callsToRun(*m_trace, m_list, changes, 0, asked));
}

TEST_F(CallsTest, WhatATrialTellsIsRead)
{
    const std::string path = testing::TempDir() + "calls_learnt.json";
    const auto learnt = [&](const char* text) {
        std::ofstream(path) << text;
        return callsLearnt(path);
    };
    const auto known = learnt(
        R"({"follow":[3,17],"open":[5],"casts":true,"others":4096,"earlier":[[20,39,15,[[40,9]],[[48,21],[50,22]]]]})");
    ASSERT_TRUE(known);
    EXPECT_EQ(known->follow, (std::vector<std::uint32_t>{ 3, 17 }));
    EXPECT_EQ(known->open, (std::vector<std::uint32_t>{ 5 }));
    EXPECT_TRUE(known->hasCasts);
    EXPECT_EQ(known->otherBytes, 4096);
    ASSERT_EQ(known->earlier.size(), 1U);
    const std::vector<Change> changes{ *Change::parse("dtype=bf16") };
    CallsAsked asked;
    asked.learnt = *known;
    const auto made = callsToRun(*m_trace, m_list, changes, 0, asked);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(nlohmann::json::parse(*made)["earlier"],
        nlohmann::json::parse("[[20,39,15,[[40,9]],[[48,21],[50,22]]]]"));
    for (const char* damaged :
        { "", "{}", R"({"follow":[-1],"open":[],"casts":true,"others":0,"earlier":[]})",
            R"({"follow":[],"open":[],"casts":1,"others":0,"earlier":[]})",
            R"({"follow":[],"open":[],"casts":true})",
            R"({"follow":[],"casts":true,"others":0,"earlier":[]})",
            R"({"follow":[],"open":[-1],"casts":true,"others":0,"earlier":[]})",
            R"({"follow":[],"open":[],"casts":true,"others":-1,"earlier":[]})",
            R"({"follow":[],"open":[],"casts":true,"others":0,"earlier":[[1,2,3,[],[[1]]]]})",
            R"({"follow":[],"open":[],"casts":true,"others":0,"earlier":[[1,-2,3,[],[]]]})" })
        EXPECT_FALSE(learnt(damaged)) << damaged;
}

TEST_F(CallsTest, WhatIsNotOnTheListIsNotCalled)
{
    EXPECT_EQ(withCall("aten::mean.dim", "[\"@\"]"), "");
    EXPECT_EQ(withCall("aten::from_file", "[\"@\"]"),
        "its calls have aten::from_file, which is not on the list of those that are called again");
    EXPECT_EQ(withCall("os::system", "[\"@\"]"),
        "its calls have os::system, which is not on the list of those that are called again");
}

TEST_F(CallsTest, ArgumentsAreValuesAndNothingElse)
{
    const std::string damaged = "the arguments of aten::mul.Tensor in its calls are damaged";
    for (const char* good : { R"(["@",{"n":2.0}])", R"(["@",{"f":"-inf"},{"d":"cuda"},{"s":"mean"}])",
             R"([["@"],null,true,[1,[2,[3]]]])", R"(["@",{"h":["float",[2,3],[3,1]]}])",
             R"(["@",{"n":{"f":"nan"}}])" })
        EXPECT_EQ(withCall("aten::mul.Tensor", good), "") << good;
    for (const char* bad : { "", "{}", "[", R"(["@","@"])", "[]", R"(["@","x"])", R"(["@",{"d":"meta"}])",
             R"(["@",{"x":1}])", R"(["@",{"s":1}])", R"(["@",{"n":"1"}])", R"(["@",[[[[[[1]]]]]]])",
             R"(["@",{"h":["float",[9000000000000],[1]]}])", R"(["@",{"h":["float",[-1],[1]]}])",
             R"(["@",{"h":["mine",[1],[1]]}])", R"(["@",{"h":["float",[1],[]]}])",
             R"(["@",{"s":"a","d":"cpu"}])" })
        EXPECT_EQ(withCall("aten::mul.Tensor", bad), damaged) << bad;
}

TEST_F(CallsTest, TensorsAreSuchAsCanBe)
{
    const auto with = [&](const auto& change) {
        CallList list = m_list;
        change(list);
        return refused(list);
    };
    const std::string none = "a tensor of its calls has no size or type that could be";
    EXPECT_EQ(with([](CallList&) {}), "");
    EXPECT_EQ(with([](CallList& list) { list.lengths[0] = -1; }), none);
    EXPECT_EQ(with([](CallList& list) { list.lengths[2] = -3; }), none);
    EXPECT_EQ(with([](CallList& list) { list.lengths[0] = std::int64_t{ 1 } << 62; }), none);
    EXPECT_EQ(with([](CallList& list) { list.tensors[1].offset = -1; }), none);
    EXPECT_EQ(with([](CallList& list) { list.tensors[0].type = {}; }), none);
    EXPECT_EQ(with([&](CallList& list) { list.tensors[0].type = text("Mine"); }), none);
    EXPECT_EQ(
        with([](CallList& list) { list.rows[4].detail = {}; }), "where its calls go backward is damaged");
    EXPECT_EQ(with([](CallList& list) { list.rows[4].takes = 0; }), "where its calls go backward is damaged");
    EXPECT_EQ(with([](CallList& list) { list.rows[6].takes = 0; }),
        "where its calls let go of a tensor is damaged");
}

TEST_F(CallsTest, ChangesAreThoseThatCallsTell)
{
    EXPECT_EQ(refused(m_list, { *Change::parse("amp=bf16") }), "");
    EXPECT_EQ(refused(m_list, { *Change::parse("dtype=bf16") }), "");
    EXPECT_EQ(refused(m_list, { *Change::parse("optimizer=SGD") }),
        "calls do not tell what --change optimizer=SGD comes to");
    EXPECT_EQ(refused(m_list, { *Change::parse("checkpoint=none") }),
        "calls do not tell what --change checkpoint=none comes to");
    EXPECT_EQ(refused(m_list, { *Change::parse("batch=x2") }),
        "calls of one recording do not tell which of their sizes follow the batch");
    const auto found = [&] {
        const auto list = callListOf(*m_trace);
        return list ? "" : list.error().what.text();
    };
    EXPECT_EQ(found(), "the recording has no calls that could be made again");
    m_list.unusable = text("the program runs CUDA graphs");
    m_recording.parts.get<CallLists>().lists = { m_list };
    EXPECT_EQ(found(), "the calls of its deep step cannot be made again: the program runs CUDA graphs");
    m_recording.parts.get<CallLists>().lists[0].unusable = {};
    EXPECT_EQ(found(), "");
}

} // namespace strata::model
