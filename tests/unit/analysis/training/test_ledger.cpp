// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/block_modules.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/digest/out_of_memory.h"
#include "tests/unit/analysis/training/trained.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using test::Trained;

std::string textOf(const Ledger& ledger)
{
    const auto figure
        = [](std::optional<double> value) { return value ? fmt::format("{:.3g}", *value) : "-"; };
    std::string text;
    for (const LedgerRow& row : ledger.rows)
        text += fmt::format("{} {} in {}, {} recorded, {} of {}\n", categoryWord(row.category), row.bytes,
            row.blocks, row.recordedBytes(), figure(row.bytesPerParameter),
            figure(row.expectedBytesPerParameter));
    for (const LedgerSurprise& surprise : ledger.surprises)
        text += surprise.said.text() + "\n";
    return text;
}

/// A layer of 100 elements in bfloat16 that Adam trains, and a bias of 10 that nobody does.
Trained adam(std::string_view stateType, std::int64_t stateBytes)
{
    const std::string state = std::to_string(stateBytes);
    Trained t("alloc 0x10000 200\nalloc 0x20000 20\nalloc 0x30000 200\nalloc 0x40000 " + state
            + "\nalloc 0x50000 " + state + "\nalloc 0x60000 7\n",
        "SSBOON|");
    t.list(3, Kind::Gradient, 0x30000, "h.0.weight", {}, "bfloat16", 100)
        .list(6, Kind::Parameter, 0x10000, "h.0.weight", {}, "bfloat16", 100)
        .list(6, Kind::OptimizerState, 0x40000, "h.0.weight", "exp_avg", stateType, 100)
        .list(6, Kind::OptimizerState, 0x50000, "h.0.weight", "exp_avg_sq", stateType, 100)
        .list(6, Kind::Stepped, 0, "Adam")
        .list(6, Kind::Parameter, 0x10000, "h.0.weight", {}, "bfloat16", 100, RoleListing::kNoOptimizer)
        .list(6, Kind::Parameter, 0x20000, "h.0.bias", {}, "bfloat16", 10, RoleListing::kNoOptimizer);
    return t;
}

Ledger ledgerOf(Trained& t)
{
    const EventIndex last = t.trace().eventCount() - 1;
    return ledgerAt(t.trace(), t.categories(), last, activeBlocks(t.trace(), last), nullptr);
}

} // namespace

TEST(Ledger, HasWhatTheTextbookSaysBesideWhatThereIs)
{
    Trained t = adam("bfloat16", 200);
    EXPECT_EQ(textOf(ledgerOf(t)),
        "optimizer_state 400 in 2, 400 recorded, 3.64 of 3.64\n"
        "parameter 220 in 2, 220 recorded, 2 of 2\n"
        "gradient 200 in 1, 200 recorded, 1.82 of 1.82\n"
        "unknown 7 in 1, 0 recorded, 0.0636 of -\n");
    EXPECT_EQ(ledgerOf(t).parameters, 110);
    EXPECT_EQ(ledgerOf(t).requestedBytes, 827);
}

TEST(Ledger, TellsOfStatesThatAreWiderThanTheirParameters)
{
    Trained t = adam("float32", 400);
    EXPECT_EQ(textOf(ledgerOf(t)),
        "optimizer_state 800 in 2, 800 recorded, 7.27 of 3.64\n"
        "parameter 220 in 2, 220 recorded, 2 of 2\n"
        "gradient 200 in 1, 200 recorded, 1.82 of 1.82\n"
        "unknown 7 in 1, 0 recorded, 0.0636 of -\n"
        "Optimizer state is in float32 although parameters are in bfloat16: 7.27 B a parameter\n");
}

TEST(Ledger, ExpectsNothingOfTypesThatItDoesNotKnow)
{
    Trained frozen = adam("bfloat16", 200);
    frozen.list(6, Kind::Parameter, 0x20010, "h.0.scale", {}, "qint8", 100, RoleListing::kNoOptimizer);
    EXPECT_EQ(textOf(ledgerOf(frozen)),
        "optimizer_state 400 in 2, 400 recorded, 1.9 of 1.9\n"
        "parameter 220 in 2, 220 recorded, 1.05 of -\n"
        "gradient 200 in 1, 200 recorded, 0.952 of 0.952\n"
        "unknown 7 in 1, 0 recorded, 0.0333 of -\n");
    Trained trained = adam("bfloat16", 200);
    trained.list(6, Kind::Parameter, 0x20010, "h.0.scale", {}, "qint8", 100);
    EXPECT_EQ(textOf(ledgerOf(trained)),
        "optimizer_state 400 in 2, 400 recorded, 1.9 of -\n"
        "parameter 220 in 2, 220 recorded, 1.05 of -\n"
        "gradient 200 in 1, 200 recorded, 0.952 of -\n"
        "unknown 7 in 1, 0 recorded, 0.0333 of -\n");
}

TEST(Ledger, KnowsNoFiguresAParameterWithoutListings)
{
    Trained t("alloc 0x1000 64\nalloc 0x2000 32\n", "--");
    EXPECT_EQ(textOf(ledgerOf(t)), "unknown 96 in 2, 0 recorded, - of -\nWhat 96 B are for is not known\n");
    EXPECT_FALSE(ledgerOf(t).parameters);
}

TEST(Ledger, AdvisesViewsOfBucketsWhereTheyRepeatTheGradients)
{
    const std::string bucket = "stack=c10d::Reducer::initialize_buckets@reducer.cpp:7";
    const auto said = [&](std::uint64_t gradient) {
        Trained t("alloc 0x10000 4000 " + bucket + "\nalloc 0x20000 4000\n", "FB");
        t.list(2, Kind::Gradient, gradient, "w");
        return textOf(ledgerOf(t)).find("gradient_as_bucket_view=True saves at most 3.91 KiB here")
            != std::string::npos;
    };
    EXPECT_TRUE(said(0x20000));
    EXPECT_FALSE(said(0x10000)); // it is a view
}

TEST(Ledger, TellsOfPendingFreesAndOfWhatTheDriverSees)
{
    Trained t("alloc 0x1000 64\nalloc 0x2000 32\nfree_requested 0x1000 64\n", "---");
    t.recording().driver.push_back({ .device = 0, .event = 1, .processBytes = 900, .reservedBytes = 500 });
    t.recording().driver.push_back({ .device = 0, .event = 9, .processBytes = 999, .reservedBytes = 500 });
    const Ledger ledger = ledgerOf(t);
    EXPECT_EQ(ledger.pendingFreeBytes, 64);
    EXPECT_EQ(ledger.requestedBytes, 96);
    EXPECT_EQ(ledger.outsideBytes, 400);
}

TEST(Ledger, AddsUpToAllThatIsReserved)
{
    Trained t("segment_alloc 0x100000 2097152\nalloc 0x100000 1000\nsegment_alloc 0x800000 2097152\n", "---");
    const Ledger ledger = ledgerOf(t);
    EXPECT_EQ(ledger.reservedBytes, 4194304);
    EXPECT_EQ(ledger.requestedBytes, 1000);
    EXPECT_EQ(ledger.cachedFreeBytes, 2097152);
    EXPECT_FALSE(ledger.roundingBytes);
    EXPECT_EQ(ledger.unaccountedBytes(), 24); // which the allocator surely added
}

TEST(Ledger, KnowsWhatIsRoundedWhereAReplayIsExact)
{
    constexpr std::int64_t kMiB = 1 << 20, kAsked = 20 * kMiB - 100;
    constexpr std::int64_t kFirst = std::int64_t{ 1 } << 40;
    const auto row = [](const char* what, std::int64_t mebibytes, std::int64_t bytes, const char* more = "") {
        return fmt::format("{} {} {} {}\n", what, kFirst + mebibytes * kMiB, bytes, more);
    };
    const auto freed = [&](std::int64_t mebibytes, std::int64_t bytes) {
        return row("free_requested", mebibytes, bytes) + row("free_completed", mebibytes, bytes);
    };
    // Of a segment of 60 MiB a third is pending, a third live; another segment is free.
    Trained t(row("segment_alloc", 0, 60 * kMiB) + row("alloc", 0, 60 * kMiB) + freed(0, 60 * kMiB)
            + row("alloc", 0, kAsked) + row("alloc", 20, kAsked) + row("segment_alloc", 100, 30 * kMiB)
            + row("alloc", 100, 30 * kMiB) + freed(100, 30 * kMiB) + row("free_requested", 0, kAsked)
            + row("segment", 0, 60 * kMiB, "large") + row("block", 0, 20 * kMiB, "pending req=20971420")
            + row("block", 20, 20 * kMiB, "allocated req=20971420") + row("segment", 100, 30 * kMiB, "large"),
        "-----------");
    ReplayAsked asked;
    asked.version = TorchVersion{ 2, 11 };
    const auto report = checkReplay(t.trace(), asked);
    ASSERT_TRUE(report && report->exact()) << (report ? report->reason() : report.error().what).text();
    const EventIndex last = t.trace().eventCount() - 1;
    const Ledger ledger = ledgerAt(t.trace(), t.categories(), last, activeBlocks(t.trace(), last), &*report);
    EXPECT_EQ(ledger.reservedBytes, 90 * kMiB);
    EXPECT_EQ(ledger.requestedBytes, 2 * kAsked);
    EXPECT_EQ(ledger.pendingFreeBytes, kAsked);
    EXPECT_EQ(ledger.roundingBytes, 200);
    EXPECT_EQ(ledger.fragmentationBytes, 20 * kMiB);
    EXPECT_EQ(ledger.cachedFreeBytes, 30 * kMiB);
    EXPECT_EQ(ledger.unaccountedBytes(), 0);
}

TEST(ModuleLedger, IsATreeInTheOrderOfPeople)
{
    Trained t(
        "alloc 0x10000 8\nalloc 0x20000 4\nalloc 0x30000 2\nalloc 0x40000 1\nalloc 0x50000 16\n", "-----");
    t.list(5, Kind::Parameter, 0x10000, "h.10.attn.weight")
        .list(5, Kind::Parameter, 0x20000, "h.2.attn.weight")
        .list(5, Kind::Gradient, 0x30000, "h.2.attn.weight")
        .list(5, Kind::Parameter, 0x40000, "ln.bias");
    std::string text;
    for (const ModuleRow& row : moduleLedger(t.trace(), t.categories(), activeBlocks(t.trace(), 4)))
        text += fmt::format("{}{}: {} own, {} of {} gradients\n", std::string(2 * row.depth, ' '), row.path,
            row.own.bytes, row.total.of(Category::Gradient), row.total.bytes);
    EXPECT_EQ(text,
        "h: 0 own, 2 of 14 gradients\n"
        "  h.2: 0 own, 2 of 6 gradients\n"
        "    h.2.attn: 6 own, 2 of 6 gradients\n"
        "  h.10: 0 own, 0 of 8 gradients\n"
        "    h.10.attn: 8 own, 0 of 8 gradients\n"
        "ln: 1 own, 0 of 1 gradients\n"
        ": 16 own, 0 of 16 gradients\n");
}

TEST(ModuleLedger, MakesNoForestOfCraftedPaths)
{
    constexpr int kPaths = 1500;
    std::string text, deep;
    for (int i = 0; i < 100; ++i)
        deep += ".a";
    for (int i = 1; i <= kPaths; ++i)
        text += fmt::format("alloc {} 1\n", i * 0x1000);
    Trained t(text, std::string(kPaths, '-'));
    for (int i = 1; i <= kPaths; ++i)
        t.list(
            kPaths, Kind::Parameter, static_cast<std::uint64_t>(i) * 0x1000, fmt::format("m{}{}.w", i, deep));
    const auto rows = moduleLedger(t.trace(), t.categories(), activeBlocks(t.trace(), kPaths - 1));
    EXPECT_LT(rows.size(), 100'000u);
    std::int64_t bytes = 0;
    for (const ModuleRow& row : rows)
        bytes += row.own.bytes;
    EXPECT_EQ(bytes, kPaths);
}

TEST(BlockLabels, GroupByCategoryAndModule)
{
    Trained t("alloc 0x10000 8\nalloc 0x20000 4\nalloc 0x30000 2\n", "---");
    t.list(3, Kind::Parameter, 0x10000, "h.weight").list(3, Kind::Gradient, 0x20000, "h.weight");
    const Categories made = t.categories();
    const auto groups = [&](Grouping grouping, const auto& labels) {
        const GroupTable table(t.trace(), grouping, labels);
        std::string text;
        for (const BlockId block : t.trace().blocks().all())
            text += table.label(table.groupOf(block)) + ";";
        return text;
    };
    EXPECT_EQ(groups(Grouping::Category, categoryLabels(t.trace(), made)), "parameter;gradient;unknown;");
    EXPECT_EQ(groups(Grouping::Module, moduleLabels(t.trace(), made)), "h;h;no module recorded;");
}

} // namespace strata::model
