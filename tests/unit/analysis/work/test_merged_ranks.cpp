// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of a run as one trace.
#include "model/analysis/work/ranks/merged_ranks.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

namespace strata::model {

namespace {

/// A rank whose every step ends with a collective: what names, numbers and details a trace may have.
class MergedRank {
public:
    MergedRank(std::int64_t rank, int device, std::int64_t clockNs, bool reduces = true)
        : m_clockNs(clockNs)
    {
        (void)m_strings.intern("text " + std::to_string(rank)); // so that ids of the same name differ
        if (rank > 0)
            (void)m_strings.intern("another");
        m_work.rank = rank;
        m_work.lanes.push_back({ .process = 77,
            .thread = 5,
            .processName = intern("python"),
            .threadName = intern("thread 5 (pt_main)") });
        m_work.lanes.push_back({ .process = 0, .thread = 7, .device = device, .stream = 7 });
        m_work.devices.push_back({ device, "H100", 80, 132 });
        m_work.devices.push_back({ device + 1, "H100, of others", 80, 132 });
        m_work.kernels.push_back({ .registers = static_cast<std::int32_t>(100 + rank) });
        m_work.copies.push_back({ 4096 + rank });
        OperatorDetail called;
        called.shapes = intern("[[" + std::to_string(rank) + "]]");
        m_work.operators.push_back(called);
        m_work.counts["kernel"] = 6;
        for (int step = 0; step < 3; ++step) {
            const std::int64_t at = 1000 + 100 * step;
            add(WorkKind::Annotation, "ProfilerStep#" + std::to_string(step), 0, at, 100);
            add(WorkKind::Operator, "aten::mm", 0, at, 10, 0, 9, 0);
            add(WorkKind::Runtime, "cudaLaunchKernel", 0, at + 1, 5, 40 + static_cast<std::uint32_t>(step),
                9);
            add(WorkKind::Kernel, "gemm", 1, at + 10, 30, 40 + static_cast<std::uint32_t>(step), 9, 0);
            add(WorkKind::Copy, "Memcpy HtoD", 1, at + 40, 5, 0, 0, 0);
            if (reduces)
                add(WorkKind::Kernel, "ncclKernel_AllReduce", 1, at + 50, 40);
        }
        MemoryReading reading;
        reading.timeNs = 1005 + m_clockNs;
        reading.bytes = 512;
        reading.deviceType = 1;
        reading.device = device;
        m_work.memory.push_back(reading);
    }

    StringId intern(std::string_view text) { return m_strings.intern(text); }
    [[nodiscard]] RankTrace told() const { return { &m_work, &m_strings }; }
    [[nodiscard]] const Work& work() const { return m_work; }
    [[nodiscard]] std::string_view text(StringId id) const { return m_strings[id]; }

private:
    void add(WorkKind kind, const std::string& name, LaneIndex lane, std::int64_t at, std::int64_t took,
        std::uint32_t correlation = 0, std::uint32_t external = 0,
        std::uint32_t detail = WorkSpan::kNoWorkDetail)
    {
        m_work.spans.push_back(
            { at + m_clockNs, took, intern(name), lane, correlation, external, detail, kind });
    }

    std::int64_t m_clockNs;
    Work m_work;
    StringTable m_strings;
};

MergedRanks merged(const std::vector<RankTrace>& traces)
{
    return mergeRanks(traces, rankWorkOf(traces));
}

TEST(MergedRanks, KeepEveryPieceOnTheFirstOnesClock)
{
    const MergedRank first(0, 0, 0), second(1, 0, 5'000'000);
    const MergedRanks all = merged({ second.told(), first.told() });
    EXPECT_TRUE(all.unplaced.empty());
    EXPECT_EQ(all.laterNs, 0);
    const std::size_t rows = first.work().spans.size();
    ASSERT_EQ(all.work.spans.size(), 2 * rows);
    for (std::size_t i = 0; i < 2 * rows; ++i) {
        const MergedRank& from = i < rows ? first : second;
        const WorkSpan &was = from.work().spans[i % rows], &is = all.work.spans[i];
        SCOPED_TRACE(i);
        EXPECT_EQ(is.startNs, first.work().spans[i % rows].startNs);
        EXPECT_EQ(is.durationNs, was.durationNs);
        EXPECT_EQ(is.kind, was.kind);
        const bool isOthersStep = i >= rows && was.kind == WorkKind::Annotation;
        EXPECT_EQ(all.strings[is.name], (isOthersStep ? "rank 1: " : "") + std::string(from.text(was.name)));
        const WorkLane& lane = all.work.lanes[is.lane];
        EXPECT_EQ(lane.device.has_value(), from.work().lanes[was.lane].device.has_value());
        EXPECT_EQ(lane.device.value_or(-1), !lane.device ? -1 : i < rows ? 0 : 1) << "the number of its rank";
        EXPECT_EQ(is.correlation != 0, was.correlation != 0);
        EXPECT_EQ(is.external != 0, was.external != 0);
        switch (is.kind) {
        case WorkKind::Operator:
            EXPECT_EQ(all.strings[all.work.operators[is.detail].shapes], i < rows ? "[[0]]" : "[[1]]");
            break;
        case WorkKind::Copy:
            EXPECT_EQ(all.work.copies[is.detail].bytes, i < rows ? 4096 : 4097);
            break;
        default:
            EXPECT_EQ(is.detail != WorkSpan::kNoWorkDetail, was.detail != WorkSpan::kNoWorkDetail);
            if (is.detail != WorkSpan::kNoWorkDetail) {
                EXPECT_EQ(all.work.kernels[is.detail].registers, i < rows ? 100 : 101);
            }
        }
    }
    EXPECT_EQ(all.work.counts.at("kernel"), 12);
    EXPECT_EQ(profilerStepsOf(all.work, all.strings).size(), 3u) << "those of the first";
}

TEST(MergedRanks, LinkNobodysWorkToAnotherRank)
{
    const MergedRank first(0, 0, 0), second(1, 0, 0);
    const MergedRanks all = merged({ first.told(), second.told() });
    std::map<std::uint32_t, std::set<std::int64_t>> processes;
    std::map<std::uint32_t, int> pieces;
    for (const WorkSpan& span : all.work.spans)
        if (span.correlation != 0) {
            const std::string_view name = all.strings[all.work.lanes[span.lane].processName];
            processes[span.correlation].insert(name.starts_with("rank 1: ") ? 1 : 0);
            ++pieces[span.correlation];
        }
    EXPECT_EQ(processes.size(), 6u);
    for (const auto& [correlation, ranks] : processes) {
        EXPECT_EQ(ranks.size(), 1u) << correlation;
        EXPECT_EQ(pieces[correlation], 2) << "a launch and its kernel";
    }
}

TEST(MergedRanks, NameRanksAndTheirDevices)
{
    const MergedRank first(3, 0, 0), second(6, 0, 0);
    const MergedRanks all = merged({ first.told(), second.told() });
    const auto words = [&](LaneIndex lane) {
        const WorkLane& of = all.work.lanes[lane];
        return std::string(all.strings[of.processName]) + " | " + std::string(all.strings[of.threadName]);
    };
    EXPECT_EQ(words(0), "rank 3: python | rank 3: pt_main");
    EXPECT_EQ(words(1), "rank 3: GPU | stream 7");
    EXPECT_EQ(words(2), "rank 6: python | rank 6: pt_main");
    std::set<std::int64_t> processes;
    for (const WorkLane& lane : all.work.lanes)
        processes.insert(lane.process);
    EXPECT_EQ(processes.size(), 4u) << "each rank's python and GPU";
    ASSERT_EQ(all.work.devices.size(), 2u) << "without those of others on the same machine";
    EXPECT_EQ(all.work.devices[1].device, 6);
    EXPECT_EQ(all.work.memory[0].device, 3);
    EXPECT_EQ(all.work.memory[1].device, 6);
}

TEST(MergedRanks, SayWhoseClockNobodyKnows)
{
    const MergedRank first(0, 0, 0), second(1, 0, 7'000, false);
    const MergedRanks all = merged({ first.told(), second.told() });
    EXPECT_EQ(all.unplaced, std::vector<std::int64_t>{ 1 });
    EXPECT_EQ(all.work.spans[first.work().spans.size()].startNs, 8'000) << "as its own trace has it";
}

TEST(MergedRanks, BeginWithZeroAtTheEarliest)
{
    const MergedRank first(0, 0, 0), second(1, 0, 400);
    MergedRank early(2, 0, 0);
    const std::vector<RankTrace> traces{ first.told(), second.told(), early.told() };
    RankWork ranks = rankWorkOf(traces);
    ranks.clocks[2] = RankClock{ 5'000, 0, 3 }; // it began before the first one's clock
    const MergedRanks all = mergeRanks(traces, ranks);
    EXPECT_EQ(all.laterNs, 4'000);
    EXPECT_EQ(timeOf(all.work).beginNs, 0);
    EXPECT_EQ(all.work.spans[0].startNs, 5'000);
    EXPECT_EQ(all.work.memory[0].timeNs, 5'005);
    EXPECT_EQ(*all.rangeOf(TimeSpan{ 1'000, 1'100 }), (TimeSpan{ 5'000, 5'100 }));
}

} // namespace

} // namespace strata::model
