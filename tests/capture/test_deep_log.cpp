// SPDX-License-Identifier: GPL-3.0-or-later
// What hooks and Python's side tell of a deep step, on its way to the sender.
#include "capture/agent/program/deep_log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace strata::agent {

namespace {

using wire::DeepKind;

class DeepLogTest : public testing::Test {
protected:
    DeepLogTest()
    {
        for (int device = 0; device < 2; ++device)
            m_devices.push_back(std::make_unique<Device>(6u));
        m_devices[0]->events = 10;
        m_devices[1]->events = 500;
        m_log.begin();
    }

    void operatorRuns(const char* name, std::vector<hook::DeepTensor> tensors, bool returns = false)
    {
        hook::DeepOperator seen;
        seen.returns = returns;
        seen.name = { name, std::char_traits<char>::length(name) };
        seen.tensors = tensors.data();
        seen.count = static_cast<std::uint32_t>(tensors.size());
        m_log.addOperator(seen, 77);
    }
    [[nodiscard]] hook::DeepTensor tensor(std::uint64_t address, int device = 0) const
    {
        return { &m_places[address % 8], device, address, "float" };
    }
    [[nodiscard]] std::string unusable(const DeepLog::Step& step) const
    {
        return step.chunk.unusable == wire::kNone ? "" : step.texts[step.chunk.unusable];
    }

    Devices m_devices;
    DeepLog m_log{ m_devices };
    char m_places[8] = {};
};

TEST_F(DeepLogTest, RowsStandWhereTheyHappened)
{
    operatorRuns("aten::mul", { tensor(1) });
    m_devices[0]->events = 12;
    operatorRuns("aten::mul", { tensor(2) }, true);
    operatorRuns("aten::mul", { tensor(2), tensor(1) });
    m_log.addGone(tensor(1).tensor, 77);
    m_log.addGone(tensor(1).tensor, 77); // nobody knows of it any more
    m_devices[0]->events = 15;
    EXPECT_FALSE(m_log.take()) << "it has not ended";
    m_log.end();
    EXPECT_FALSE(m_log.isOpen());
    const auto step = m_log.take();
    ASSERT_TRUE(step);
    EXPECT_FALSE(m_log.take()) << "once";
    const wire::DeepStepChunk& chunk = step->chunk;
    EXPECT_EQ(unusable(*step), "");
    EXPECT_EQ(chunk.beginEvent, 10u);
    EXPECT_EQ(chunk.endEvent, 15u);
    ASSERT_EQ(chunk.rows.size(), 4u);
    EXPECT_EQ(chunk.rows[0].event, 10u);
    EXPECT_EQ(chunk.rows[1].event, 12u);
    EXPECT_EQ(chunk.rows[1].kind, DeepKind::Returns);
    EXPECT_EQ(chunk.rows[1].name, wire::kNone);
    EXPECT_EQ(chunk.rows[2].name, chunk.rows[0].name);
    EXPECT_EQ(step->texts[chunk.rows[0].name], "aten::mul");
    EXPECT_EQ(chunk.rows[3].kind, DeepKind::Gone);
    EXPECT_EQ(chunk.refs, (std::vector<std::uint32_t>{ 0, 1, 1, 0, 0 }));
    EXPECT_EQ(chunk.tensors.size(), 2u);
}

TEST_F(DeepLogTest, WhatComesWhereAnotherWasIsAnother)
{
    operatorRuns("aten::mul", { tensor(1) }, true);
    m_log.addGone(tensor(1).tensor, 77);
    operatorRuns("aten::mul", { tensor(1) }, true); // another tensor, at the same places
    operatorRuns("aten::set_", { tensor(9) }); // the same tensor, elsewhere
    m_log.end();
    const auto step = m_log.take();
    EXPECT_EQ(step->chunk.refs, (std::vector<std::uint32_t>{ 0, 0, 1, 2 }));
    EXPECT_EQ(step->chunk.tensors[2].address, 9u);
}

TEST_F(DeepLogTest, WhatIsSavedHasItsNumberAndIsNoTensorOfTheProgram)
{
    const hook::DeepTensor held = tensor(3), out = tensor(4);
    m_log.addSaved(DeepKind::Saved, 0, &held, 77);
    m_log.addSaved(DeepKind::Saved, 1, nullptr, 77); // none that can be told of
    m_log.addSaved(DeepKind::Unpacked, 0, &out, 78);
    m_log.addGone(held.tensor, 78);
    m_log.addGone(out.tensor, 78);
    m_log.addSaved(DeepKind::Released, 0, nullptr, 78);
    m_log.end();
    const auto step = m_log.take();
    std::vector<DeepKind> kinds;
    for (const wire::DeepRow& row : step->chunk.rows)
        kinds.push_back(row.kind);
    EXPECT_EQ(kinds,
        (std::vector{
            DeepKind::Saved, DeepKind::Saved, DeepKind::Unpacked, DeepKind::Gone, DeepKind::Released }));
    EXPECT_EQ(step->chunk.rows[1].tensors, 0u);
    EXPECT_EQ(step->chunk.rows[4].saved, 0u);
    EXPECT_EQ(step->chunk.rows[4].thread, 78u);
}

TEST_F(DeepLogTest, WhatIsSavedTellsItsElementsAndHowTheyLie)
{
    using Numbers = std::vector<std::int64_t>;
    struct Case {
        Numbers sizes, strides;
        std::uint64_t elements;
        wire::DeepLayout layout;
    };
    const Case cases[] = { { { 2, 3 }, { 3, 1 }, 6, wire::DeepLayout::InOrder },
        { { 3, 2 }, { 1, 3 }, 6, wire::DeepLayout::Otherwise },
        { { 4, 1, 5 }, { 5, 77, 1 }, 20, wire::DeepLayout::InOrder },
        { { 8, 5 }, { 0, 1 }, 40, wire::DeepLayout::Otherwise },
        { { 0, 5 }, { 9, 9 }, 0, wire::DeepLayout::InOrder }, { {}, {}, 1, wire::DeepLayout::InOrder } };
    for (const Case& one : cases) {
        hook::DeepTensor held = tensor(3);
        held.sizes = one.sizes.data();
        held.strides = one.strides.data();
        static constexpr std::int64_t kNone = 0;
        if (one.sizes.empty())
            held.sizes = held.strides = &kNone;
        held.dimensions = static_cast<std::uint32_t>(one.sizes.size());
        m_log.addSaved(DeepKind::Saved, 0, &held, 77);
    }
    hook::DeepTensor other = tensor(3); // another type there
    other.type = "long int";
    m_log.addSaved(DeepKind::Saved, 1, &other, 77);
    m_log.end();
    auto step = m_log.take();
    wire::Bytes bytes;
    wire::encodeDeepStep(step->chunk, bytes);
    wire::DeepStepChunk read;
    ASSERT_TRUE(wire::decodeDeepStep(bytes, read));
    EXPECT_EQ(read.rows, step->chunk.rows);
    for (std::size_t i = 0; i < std::size(cases); ++i) {
        EXPECT_EQ(read.rows[i].elements, cases[i].elements) << i;
        EXPECT_EQ(read.rows[i].layout, cases[i].layout) << i;
    }
    EXPECT_EQ(read.rows.back().layout, wire::DeepLayout::NotTold);
    EXPECT_NE(read.refs.back(), read.refs.front());
    // Earlier files end before places of tensors, or before what is saved.
    bytes.resize(bytes.size() - 2 * read.tensors.size());
    ASSERT_TRUE(wire::decodeDeepStep(bytes, read));
    EXPECT_EQ(read.rows, step->chunk.rows);
    EXPECT_EQ(read.tensors.front().elements, 0u);
    bytes.resize(bytes.size() - 2 * read.rows.size());
    ASSERT_TRUE(wire::decodeDeepStep(bytes, read));
    EXPECT_EQ(read.rows.front().layout, wire::DeepLayout::NotTold);
}

TEST_F(DeepLogTest, ModulesHaveNamesAndTensors)
{
    const std::vector tensors{ tensor(1), tensor(2) };
    m_log.addModule(DeepKind::Enters, "h.3", "Block", tensors, 77);
    m_log.addModule(DeepKind::Leaves, "h.3", "Block", {}, 77);
    m_log.end();
    const auto step = m_log.take();
    ASSERT_EQ(step->chunk.rows.size(), 2u);
    EXPECT_EQ(step->texts[step->chunk.rows[0].name], "h.3");
    EXPECT_EQ(step->texts[step->chunk.rows[1].detail], "Block");
    EXPECT_EQ(step->chunk.refs.size(), 2u);
}

TEST_F(DeepLogTest, AStepOfAnotherDeviceCountsItsEvents)
{
    operatorRuns("aten::empty", {}); // before it is known whose step this is
    m_devices[1]->events = 510;
    operatorRuns("aten::mul", { tensor(1, 1) });
    m_log.end();
    const auto step = m_log.take();
    EXPECT_EQ(step->chunk.device, 1);
    EXPECT_EQ(step->chunk.beginEvent, 500u);
    EXPECT_EQ(step->chunk.rows[0].event, 500u);
    EXPECT_EQ(step->chunk.rows[1].event, 510u);
    EXPECT_EQ(step->chunk.endEvent, 510u);
}

TEST_F(DeepLogTest, OneThatIsNotToBeUsedSaysWhyAndNothingElse)
{
    operatorRuns("aten::mul", { tensor(1) });
    operatorRuns("aten::mul", { tensor(2, 1) });
    operatorRuns("aten::mul", { tensor(1) });
    m_log.end("something later");
    auto step = m_log.take();
    EXPECT_EQ(unusable(*step), "the step has tensors of several devices");
    EXPECT_TRUE(step->chunk.rows.empty() && step->chunk.tensors.empty() && step->chunk.refs.empty());
    m_log.begin(); // nothing of the one before is left
    operatorRuns("aten::mul", { tensor(1) });
    m_log.end();
    step = m_log.take();
    EXPECT_EQ(unusable(*step), "");
    EXPECT_EQ(step->chunk.rows.size(), 1u);
}

TEST_F(DeepLogTest, NothingIsTakenBehindTheEnd)
{
    m_log.end("why");
    operatorRuns("aten::mul", { tensor(1) });
    m_log.end("another");
    EXPECT_EQ(unusable(*m_log.take()), "why");
}

TEST_F(DeepLogTest, ThreadsMayTellAtOnce)
{
    constexpr int kEach = 2000;
    std::vector<std::thread> threads;
    for (std::uint64_t number = 1; number <= 3; ++number)
        threads.emplace_back([&, number] {
            for (int i = 0; i < kEach; ++i) {
                operatorRuns("aten::mul", { tensor(number) }, i % 2 == 1);
                ++m_devices[0]->events;
            }
        });
    for (std::thread& each : threads)
        each.join();
    m_log.end();
    const auto step = m_log.take();
    ASSERT_EQ(step->chunk.rows.size(), 3u * kEach);
    for (std::size_t i = 1; i < step->chunk.rows.size(); ++i)
        ASSERT_LE(step->chunk.rows[i - 1].event, step->chunk.rows[i].event);
}

} // namespace

} // namespace strata::agent
