// SPDX-License-Identifier: GPL-3.0-or-later
// What blocks of trainings in a few events are for.
#include "model/analysis/training/roles/rule_shares.h"
#include "model/digest/out_of_memory.h"
#include "tests/unit/analysis/training/trained.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using test::Trained;

std::string alloc(int place, std::int64_t bytes, const std::string& more = {})
{
    return "alloc " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + " " + more + "\n";
}

std::string freed(int place, std::int64_t bytes)
{
    const std::string what = " " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + "\n";
    return "free_requested" + what + "free_completed" + what;
}

// A parameter, an input; a forward with an activation and something of the moment; a backward with something
// of the moment and a gradient; an optimizer with a state; the gradient goes.
std::string step()
{
    return alloc(1, 400) + alloc(2, 64) // 0, 1
        + alloc(3, 100) + alloc(4, 90) + freed(4, 90) // 2 to 5
        + alloc(5, 4) + alloc(6, 400) + freed(5, 4) + freed(3, 100) // 6 to 11
        + alloc(7, 400) + alloc(8, 80) + freed(8, 80) // 12 to 15
        + freed(6, 400) + freed(2, 64); // 16 to 19
}
constexpr const char* kLetters = "SS FFFF BBBBBB OOOO NNNN";

const std::string kTorch = "/site-packages/torch/";
const std::string kModule = "_call_impl@" + kTorch + "nn/modules/module.py:7|";

std::string sureOf(const Categories& made, std::size_t row)
{
    const BlockCategory& category = made.of(BlockId::born(row));
    return fmt::format("{}/{}", categoryWord(category.category), certaintyWord(category.certainty()));
}

/// "parameter/likely ...": of blocks of the trace in the order of birth.
std::string sure(Trained& t)
{
    const Categories made = t.categories();
    std::string text;
    for (std::size_t row = 0; row < t.trace().blocks().bornCount(); ++row)
        text += (text.empty() ? "" : " ") + sureOf(made, row);
    return text;
}

} // namespace

TEST(Categories, AreThoseThatTheProgramToldOf)
{
    Trained t(step(), kLetters);
    t.list(12, Kind::Gradient, 0x60000, "w")
        .list(16, Kind::Parameter, 0x10000, "w")
        .list(16, Kind::OptimizerState, 0x70000, "w", "momentum_buffer")
        .list(16, Kind::Stepped, 0, "SGD");
    EXPECT_EQ(
        t.text(), "parameter* input activation temporary temporary* gradient* optimizer_state* temporary*");
}

TEST(Categories, AreInferredFromCodeSizesAndLives)
{
    Trained t(step() + alloc(9, 1), std::string(kLetters) + "|F", false);
    EXPECT_EQ(t.text(),
        "parameter input activation temporary temporary gradient optimizer_state temporary activation");
    const Categories made = t.categories();
    EXPECT_EQ(made.of(BlockId::born(0)).rule, CategoryRule::EarlyWithGradients);
    EXPECT_EQ(made.of(BlockId::born(5)).rule, CategoryRule::OutlivesBackward);
    EXPECT_EQ(made.of(BlockId::born(6)).rule, CategoryRule::OutlivesOptimizer);
}

TEST(Categories, StayUnknownWhereNothingTells)
{
    Trained t(alloc(1, 400) + alloc(2, 64) + freed(2, 64), "----");
    EXPECT_EQ(t.text(), "unknown unknown");
    EXPECT_EQ(t.categories().of(BlockId::born(0)).rule, CategoryRule::Nothing);
}

TEST(Categories, OfABucketWithListedGradientsIsGradient)
{
    // What DDP's reducer asks for, and a gradient that lies in the middle of it.
    const std::string bucket = "stack=c10d::Reducer::initialize_buckets@reducer.cpp:7";
    Trained t(alloc(1, 4000, bucket) + alloc(2, 4000, bucket), "FF");
    t.list(2, Kind::Gradient, 0x10000 + 2048, "w");
    EXPECT_EQ(t.text(), "gradient* communication");
}

TEST(Categories, OfWhatCollectivesAllocateIsNoBucket)
{
    Trained t(alloc(1, 4000, "stack=all_gather@/v/site-packages/torch/distributed/distributed_c10d.py:7|main@/p/run.py:9")
            + alloc(2, 4000, "stack=_pre_forward@/v/site-packages/torch/nn/parallel/distributed.py:7|main@/p/run.py:9"),
        "FF");
    const Categories made = t.categories();
    EXPECT_EQ(made.of(BlockId::born(0)).rule, CategoryRule::CommunicationCode);
    EXPECT_EQ(made.of(BlockId::born(1)).rule, CategoryRule::CommunicationBuckets);
}

TEST(Categories, TakeTheFirstRoleOfABlockThatHasSeveral)
{
    Trained t(alloc(1, 4000), "S");
    t.list(1, Kind::Gradient, 0x10000, "w").list(1, Kind::Parameter, 0x10800, "w");
    EXPECT_EQ(t.text(), "parameter*");
}

TEST(Categories, DoNotTakeASizeForAWorkspace)
{
    // Both are of the size that cuBLAS asks for: one goes with its backward, one stays.
    Trained t(
        alloc(1, 8519680) + alloc(2, 8519680) + alloc(3, 4) + freed(2, 8519680) + freed(3, 4), "FF B BB BB|");
    EXPECT_EQ(t.text(), "workspace activation temporary*");
}

TEST(Categories, TakeNoOutputsThatALoopKeepsForWorkspaces)
{
    const auto loop = [](int steps) {
        std::string text, letters;
        for (int step = 0; step < steps; ++step) {
            text += alloc(2 * step + 1, 1 << 20) + alloc(2 * step + 2, 4) + freed(2 * step + 2, 4);
            letters += "F BBB |";
        }
        Trained t(text, letters);
        return t.text();
    };
    EXPECT_EQ(loop(2), "workspace temporary* workspace temporary*");
    EXPECT_EQ(loop(3), "activation temporary* activation temporary* activation temporary*");
}

TEST(Categories, TakeScratchForAWorkspaceWhereAStackOrThePhaseTellsOfTheCall)
{
    const auto scratch = [](const std::string& stack, const char* letters) {
        Trained t(
            alloc(1, 100, stack) + alloc(2, 1 << 20, stack) + freed(2, 1 << 20) + alloc(3, 4) + freed(1, 100),
            letters);
        return t.text();
    };
    EXPECT_EQ(scratch("stack=addmm@model.py:3", "FFFF B BB"), "activation workspace temporary");
    EXPECT_EQ(scratch("", "FFFF B BB"), "activation workspace temporary");
    EXPECT_EQ(scratch("", "FNNN B BB"), "activation temporary temporary") << "an average, in place";
}

TEST(Categories, TakeLargeScratchForAWorkspaceWhereNoStackTells)
{
    const auto passing = [](std::int64_t bytes, const std::string& stack) {
        const std::string text = alloc(1, 300, stack) + alloc(2, bytes, stack) + freed(2, bytes)
            + alloc(3, 4, stack) + freed(3, 4) + freed(1, 300);
        Trained t(text, "F FFF BBBBB |");
        return t.text();
    };
    EXPECT_EQ(passing(3 << 20, ""), "activation workspace temporary*");
    EXPECT_EQ(passing(1 << 18, ""), "activation temporary temporary*");
    EXPECT_EQ(passing(3 << 20, "stack=f@train.py:1"), "activation temporary temporary*");
}

TEST(Categories, MoreOfASizeThanGradientsAreStatesWhereNoStackTells)
{
    // An optimizer that makes its states before the first step, as Adagrad does.
    const std::string text = alloc(1, 400) + alloc(2, 400) // a parameter, its state
        + alloc(3, 100) + alloc(4, 400) + freed(3, 100) + freed(4, 400) + alloc(3, 100) + alloc(4, 400)
        + freed(3, 100) + freed(4, 400);
    Trained t(text, "SS F BBB N N | F BBB N N |", false);
    EXPECT_EQ(t.text(), "parameter optimizer_state activation gradient activation gradient");
}

TEST(Categories, OfAForwardThatRanOutOfMemoryAreActivations)
{
    // The size of a workspace tells nothing here either.
    Trained t(alloc(1, 400) + alloc(2, 8519680) + alloc(3, 50) + freed(3, 50) + "oom size=1024 free=4096\n",
        "S FF FF F");
    EXPECT_EQ(t.text(), "parameter activation temporary");
}

TEST(Categories, StayUnknownWhereGradientsAreOnAndNoModuleRan)
{
    // Behind a step something that stays; or a batch, a forward, and what may be a part of it.
    const std::string module
        = "stack=forward@model.py:9|_call_impl@/site-packages/torch/nn/modules/module.py:7";
    const std::string step = alloc(1, 400, module) + alloc(2, 4) + freed(1, 400);
    EXPECT_EQ(Trained(step + alloc(3, 5000), "F BBB | F").text(), "activation* unknown unknown");
    EXPECT_EQ(Trained(step + alloc(3, 5000) + alloc(4, 80, module) + alloc(5, 30), "F BBB | FFF").text(),
        "activation* unknown input activation activation")
        << "no backward shows a graph";
}

TEST(Categories, OfABackwardThatDidNotEndAreGradientsWhereParametersHaveTheirSize)
{
    Trained t(alloc(1, 400) + alloc(2, 100) + alloc(3, 400) + alloc(4, 400) + alloc(5, 30)
            + "oom size=1024 free=4096\n",
        "S F BBB B");
    t.list(6, Kind::Parameter, 0x10000, "w");
    EXPECT_EQ(t.text(), "parameter* activation gradient temporary temporary");
}

TEST(Categories, OfWhatIsComputedAgainAreActivations)
{
    Trained t(alloc(1, 100) + alloc(2, 4) + alloc(3, 80) + alloc(4, 8) + freed(4, 8) + alloc(5, 9)
            + freed(3, 80) + freed(5, 9) + freed(1, 100) + freed(2, 4),
        "F B RRRR B BB BB BB BB");
    EXPECT_EQ(t.text(), "activation temporary* activation* temporary* temporary*");
}

TEST(Categories, OfBatchesAreInputsWhereTheyOutliveTheirBackward)
{
    // A batch, noise added to it, a module that reads both, its backward; another batch.
    const std::string module = "stack=_call_impl@/usr/lib/python3/site-packages/torch/nn/modules/module.py:9";
    const std::string mine = "stack=train@train.py:3";
    Trained t(alloc(1, 64, mine) + alloc(2, 64, mine) + alloc(3, 100, module) + alloc(4, 4) + freed(2, 64)
            + freed(3, 100) + freed(4, 4) + alloc(5, 64, mine) + freed(1, 64) + alloc(6, 100, module)
            + alloc(7, 4),
        "FFF B BBBBBB |F FF F B");
    EXPECT_EQ(t.text(), "input activation activation* temporary* input activation* temporary");
}

TEST(Categories, OfWhatAForwardMakesAreTemporaryWhereTheyGoInIt)
{
    // Freed in the forward; with nothing asked for behind it; while a metric is computed.
    const auto forward = [](const std::string& end, const std::string& letters) {
        Trained t(alloc(1, 10) + alloc(2, 20) + alloc(3, 30) + freed(1, 10) + freed(2, 20) + alloc(4, 4)
                + freed(3, 30) + freed(4, 4) + end,
            letters);
        return t.text();
    };
    EXPECT_EQ(forward(alloc(5, 4), "FFFFF NN N NN NN B"), "temporary temporary unknown temporary temporary");
    EXPECT_EQ(forward("", "FFFFF NN N NN NN"), "temporary temporary unknown temporary") << "no backward";
    EXPECT_EQ(forward(alloc(5, 4), "FFFFF -- - -- FF B"), "temporary temporary temporary unknown temporary")
        << "nothing tells that the forward is over";
}

TEST(Categories, OlderThanTheTraceAreToldBySizesOfGradients)
{
    // Two blocks of 400 bytes at the end that the trace never asked for: the parameter and a state of it.
    Trained t(alloc(3, 100) + alloc(5, 400) + freed(3, 100) + alloc(7, 80) + freed(7, 80) + freed(5, 400)
            + "segment 0x10000 65536 large\nblock 0x10000 512 req=400 allocated\n"
              "segment 0x20000 65536 large\nblock 0x20000 512 req=400 allocated\n"
              "segment 0x30000 65536 large\nblock 0x30000 512 req=12 allocated\n",
        "F B BB OOO OO |");
    const Categories made = t.categories();
    EXPECT_EQ(made.of(BlockId::older(0)).category, Category::Parameter);
    EXPECT_EQ(made.of(BlockId::older(1)).category, Category::OptimizerState);
    EXPECT_EQ(made.of(BlockId::older(2)).category, Category::Buffer);
}

TEST(Categories, OlderThanTheTraceThatAnOptimizerFreesAreStatesThatItReplaces)
{
    Trained t(alloc(3, 100) + alloc(5, 400) + freed(3, 100) + alloc(7, 400) + freed(1, 400)
            + "segment 0x20000 65536 large\nblock 0x20000 512 req=400 allocated\n",
        "F B BB OOO |");
    const Categories made = t.categories();
    EXPECT_EQ(made.of(BlockId::older(0)).category, Category::OptimizerState) << "freed in the step";
    EXPECT_EQ(made.of(BlockId::older(1)).category, Category::Parameter);
}

TEST(Categories, OlderThanTheTraceAreUnknownWhereGradientsAreAddedToOlderOnes)
{
    // A parameter, its gradient and its state, and those of a small one. The backward frees what it adds to
    // the gradients before the optimizer works.
    const std::string older = "segment 0x20000 65536 large\nblock 0x20000 20480 req=20000 allocated\n"
                              "segment 0x30000 65536 large\nblock 0x30000 20480 req=20000 allocated\n"
                              "segment 0x40000 65536 large\nblock 0x40000 512 req=12 allocated\n"
                              "segment 0x50000 65536 large\nblock 0x50000 512 req=12 allocated\n";
    Trained t(alloc(6, 100) + alloc(7, 12) + freed(7, 12) + alloc(8, 20000) + freed(6, 100) + freed(8, 20000)
            + alloc(9, 20000) + alloc(10, 64) + freed(10, 64) + freed(1, 20000) + older,
        "F BBB BBBBB O OOO OO |");
    const Categories made = t.categories();
    ASSERT_EQ(t.trace().blocks().olderCount(), 5U);
    for (std::size_t row = 0; row < 5; ++row)
        EXPECT_EQ(made.of(BlockId::older(row)).category, Category::Unknown) << row;
}

TEST(Categories, OlderThanTheTraceAreNoBuffersWhereABackwardAllocatesTheirSize)
{
    // The gradient of 400 bytes stays; what the backward adds to one of 12 bytes that is older goes in it.
    const auto categoryOf = [](int inBackward) {
        Trained t(alloc(3, 100) + alloc(5, 400) + alloc(6, inBackward) + freed(6, inBackward) + freed(3, 100)
                + alloc(7, 80) + freed(7, 80) + freed(5, 400)
                + "segment 0x30000 65536 large\nblock 0x30000 512 req=12 allocated\n",
            "F B BBB BB OOO OO |");
        return t.categories().of(BlockId::older(0)).category;
    };
    EXPECT_EQ(categoryOf(12), Category::Unknown);
    EXPECT_EQ(categoryOf(16), Category::Buffer);
}

TEST(Categories, OlderThanTheTraceAreUnknownWhereNoForwardIsInIt)
{
    const std::string older = "segment 0x30000 65536 large\nblock 0x30000 40960 req=40000 allocated\n";
    const std::string module = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    const auto categoryOf = [](const std::string& text, const char* letters) {
        Trained t(text, letters);
        return t.categories().of(BlockId::older(0)).category;
    };
    EXPECT_EQ(categoryOf(alloc(1, 10, module) + freed(1, 10) + older, "FFF |"), Category::Parameter);
    EXPECT_EQ(categoryOf(freed(1, 10) + older, "--"), Category::Unknown) << "features may be kept, too";
    EXPECT_EQ(categoryOf(alloc(1, 10, module) + alloc(2, 4) + freed(2, 4) + alloc(5, 9) + freed(5, 9) + older,
                  "F BBB OOO |"),
        Category::Unknown)
        << "gradients and states may be among them";
}

TEST(Categories, OfWhatAProfilerDoesNotNameAreUnknown)
{
    const std::string module = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    Trained t(alloc(1, 10, module) + freed(1, 10), "FFF |");
    t.recording().devices[0].profiled.emplace().unnamedBytes = 4000;
    ASSERT_EQ(t.trace().blocks().olderCount(), 1U);
    EXPECT_EQ(t.categories().of(BlockId::older(0)).category, Category::Unknown)
        << "weights, caches and workspaces as one block";
}

TEST(Categories, OlderThanTheTraceWithAStackOutsideOfABackwardAreNoGradients)
{
    // The loss of the iteration before, in the size of the gradient of this one.
    Trained t(alloc(3, 100) + freed(1, 4) + alloc(5, 4) + freed(3, 100) + alloc(6, 8) + freed(5, 4),
        "F FF B BB O OO |");
    EXPECT_EQ(t.categories().of(BlockId::older(0)).category, Category::Gradient);
    Trained shown(alloc(3, 100) + "free_requested 0x10000 4 stack=main@net.py:9\n"
            + "free_completed 0x10000 4\n" + alloc(5, 4) + freed(3, 100) + alloc(6, 8) + freed(5, 4),
        "F FF B BB O OO |");
    EXPECT_EQ(shown.categories().of(BlockId::older(0)).category, Category::Unknown);
}

TEST(Categories, OfWeightsThatAnInitMakesAreNoInputs)
{
    // No optimizer, no gradients: two weights, a batch, a forward that reads them and keeps its output.
    const std::string init = "stack=__init__@net.py:7|main@net.py:20", main = "stack=main@net.py:21";
    const std::string forward = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    Trained t(alloc(1, 4000, init) + alloc(2, 4000, init) + alloc(3, 64, main) + alloc(4, 100, forward)
            + freed(4, 100) + alloc(5, 100, forward),
        "NNNN NN N |", false);
    EXPECT_EQ(sure(t), "parameter/likely parameter/likely input/likely temporary/likely unknown/unknown");
}

TEST(Categories, OfWeightsThatTorchMakesAreParametersWhateverThePhase)
{
    // Where an out-of-memory ends the first step, its forward seems to begin with the model.
    const std::string linear
        = "stack=__init__@" + kTorch + "nn/modules/linear.py:109|__init__@net.py:8|main@net.py:20";
    const std::string norm
        = "stack=__init__@" + kTorch + "nn/modules/batchnorm.py:60|__init__@net.py:8|main@net.py:20";
    const std::string batch = "stack=main@net.py:21";
    const std::string forward = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    Trained t(alloc(1, 4000, linear) + alloc(2, 80, norm) + alloc(3, 64, batch) + alloc(4, 100, forward)
            + alloc(5, 4) + "oom size=1024 free=4096\n",
        "FFF F B B", false);
    EXPECT_EQ(
        sure(t), "parameter/shown_by_stack buffer/likely input/likely activation/likely temporary/likely");
}

TEST(Categories, OfWhatModuleApplyMovesGoByItsLines)
{
    const auto moved = [](int line, const std::string& around) {
        const std::string module = kTorch + "nn/modules/module.py:";
        return fmt::format(
            "stack=convert@{0}1355|_apply@{0}{1}|{2}cuda@{0}1050|main@net.py:20", module, line, around);
    };
    const std::string around = "_apply@" + kTorch + "nn/modules/module.py:903|";
    const std::string forward = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    Trained t(alloc(1, 4000, moved(930, around)) + alloc(2, 4000, moved(991, around))
            + alloc(3, 4000, moved(930, "")) + alloc(4, 10, forward) + freed(4, 10),
        "NNNNNN |", false);
    EXPECT_EQ(sure(t), "parameter/shown_by_stack buffer/shown_by_stack parameter/likely temporary/likely");
}

TEST(Categories, OfAProgramThatTrainsInAnInitAreJudgedAsAnywhere)
{
    const std::string program = "__init__@app.py:5|main@app.py:9";
    const std::string forward = "stack=forward@net.py:9|" + kModule + "run@app.py:3|" + program;
    Trained t(alloc(1, 64, "stack=run@app.py:2|" + program) + alloc(2, 100, forward) + freed(2, 100),
        "NNNN |", false);
    EXPECT_EQ(t.text(), "input temporary");
}

TEST(Categories, AreNoStatesWhereStacksShowNoOptimizer)
{
    // Code that is no optimizer keeps a block in the phase of one.
    const auto after = [](const std::string& stack) {
        Trained t(alloc(1, 400) + alloc(2, 100) + alloc(3, 400) + freed(2, 100) + alloc(4, 400, stack)
                + freed(3, 400),
            "S F BBB O OO |", false);
        return sure(t).substr(sure(t).rfind(' ') + 1);
    };
    EXPECT_EQ(after(""), "optimizer_state/likely");
    EXPECT_EQ(after("stack=keep@train.py:9"), "unknown/unknown");
    EXPECT_EQ(
        after("stack=step@" + kTorch + "optim/sgd.py:9|main@train.py:9"), "optimizer_state/shown_by_stack");
}

TEST(Categories, OfAForwardAreRecordedWithinModulesAlone)
{
    const auto of = [](const std::string& stack) {
        Trained t(alloc(1, 100, stack) + alloc(2, 64) + freed(2, 64) + freed(1, 100), "F BB | B | B B");
        return sureOf(t.categories(), 0);
    };
    EXPECT_EQ(of("stack=forward@net.py:9|" + kModule + "main@net.py:23"), "activation/recorded");
    EXPECT_EQ(of("stack=load@data.py:3|main@net.py:23"), "activation/likely") << "may be a batch";
}

TEST(Categories, OfAForwardWithoutBackwardAreNotRecorded)
{
    const std::string forward = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    Trained t(alloc(1, 4000, forward) + alloc(2, 64, forward) + freed(2, 64), "F FFF");
    EXPECT_EQ(sure(t), "activation/likely temporary/recorded");
}

namespace {

/// Weights of a net and copies of half their sizes that go at one moment, with the activations of a forward.
Trained castWeights(const std::string& cast, bool all = true)
{
    const std::string linear
        = "stack=__init__@" + kTorch + "nn/modules/linear.py:109|__init__@net.py:8|main@net.py:20";
    const std::string forward = "stack=" + cast + "forward@net.py:9|" + kModule + "main@net.py:23";
    const std::string passing = "stack=forward@net.py:9|" + kModule + "main@net.py:23";
    std::string text;
    int place = 1;
    for (const std::int64_t bytes : { 4000, 400, 8000, 800 })
        text += alloc(place++, bytes, linear);
    for (const std::int64_t bytes : { 4000, 400, 8000, 800 })
        if (all || bytes == 4000)
            text += alloc(place++, bytes / 2, forward) + alloc(50, 77, passing) + freed(50, 77);
    text += alloc(50, 77, passing) + freed(50, 77);
    int size = 0;
    for (const std::int64_t bytes : { 4000, 400, 8000, 800 })
        if (all || bytes == 4000)
            text += freed(5 + size++, bytes / 2);
    return Trained(text,
        std::string("NNNN") + std::string(all ? 16 : 4, 'N') + "NNN" + std::string(all ? 8 : 2, '-'), false);
}

} // namespace

TEST(Categories, OfCopiesOfWeightsAreAutocastsCache)
{
    const auto copies = [](Trained t) {
        const Categories made = t.categories();
        std::string text;
        for (const WeightCopy& copy : made.weightCopies())
            text += fmt::format("{} {} {}{}\n", t.trace().blocks().requestedBytes[copy.block],
                categoryWord(made.of(copy.block).category), certaintyWord(made.of(copy.block).certainty()),
                copy.heldByGraph ? " held" : "");
        return text;
    };
    EXPECT_EQ(copies(castWeights("")),
        "2000 temporary likely\n200 temporary likely\n4000 temporary likely\n400 temporary likely\n");
    EXPECT_EQ(copies(castWeights("", false)), "") << "one size may be a coincidence";
    EXPECT_EQ(
        copies(castWeights("at::autocast::cached_cast@??:0|", false)), "2000 temporary shown_by_stack\n");
}

namespace {

const std::string kMain = "main@train.py:9";
const std::string kLinear = "stack=forward@" + kTorch + "nn/modules/linear.py:130|" + kModule
    + "forward@net.py:9|" + kModule + kMain;
const std::string kWeights = "stack=__init__@" + kTorch + "nn/modules/linear.py:109|" + kMain;
const std::string kGrads = "stack=_make_grads@" + kTorch + "autograd/__init__.py:233|" + kMain;
const std::string kMine = "stack=" + kMain;
const std::string kZero = "stack=zero_grad@" + kTorch + "optim/optimizer.py:9|" + kMain;
const std::string kStep = "stack=step@" + kTorch + "optim/sgd.py:9|" + kMain;
const std::string kEngine = "stack=torch::autograd::generated::MmBackward0::apply@??:0|"
                            "torch::autograd::Engine::evaluate_function@??:0";

/// A free by the code of a stack; without one by a thread that runs no Python.
std::string freedBy(const std::string& stack, int place, std::int64_t bytes)
{
    const std::string what = fmt::format(" {} {} {}\n", 0x10000 * place, bytes, stack);
    return "free_requested" + what + "free_completed" + what;
}

/// A step of a training whose stacks have no C++ frames, or those of `engine`: a weight of 400 bytes, a
/// batch, an activation, the loss's gradient, scratch, a gradient; `freer` drops the activation, `dropper`
/// the gradient. `kept` is left by the backward, too.
std::string shownStep(
    const std::string& engine, const std::string& freer, const std::string& dropper, std::int64_t kept = 0)
{
    return alloc(1, 400, kWeights) + alloc(2, 64, kMine) + alloc(3, 100, kLinear) // S FF
        + alloc(4, 4, kGrads) + alloc(5, 90, engine) + alloc(6, 400, engine) // BBB
        + (kept > 0 ? alloc(9, kept, engine) : std::string()) // B
        + freedBy(engine, 5, 90) + freedBy(freer, 3, 100) + freedBy(kMine, 4, 4) // BBBBBB
        + alloc(7, 80, kStep) + freedBy(kStep, 7, 80) + freedBy(dropper, 6, 400) // OOO OO
        + alloc(8, 64, kMine);
}
std::string shown(const std::string& text, bool kept = false)
{
    Trained t(text, kept ? "S FF BBBB BBBBBB OOO OO | F" : "S FF BBB BBBBBB OOO OO | F", false);
    return sure(t);
}

} // namespace

TEST(Categories, AreShownByWhoFrees)
{
    for (const std::string& engine : { std::string(), kEngine })
        EXPECT_EQ(shown(shownStep(engine, engine, kZero)),
            "parameter/shown_by_stack input/likely activation/shown_by_stack temporary/likely "
            "temporary/shown_by_stack gradient/shown_by_stack temporary/shown_by_stack unknown/unknown");
}

TEST(Categories, AreNotShownByFreesWithTheStackOfTheAllocation)
{
    // As PyTorch records with context="alloc".
    for (const std::string& engine : { std::string(), kEngine }) {
        const std::string text = alloc(1, 400, kWeights) + alloc(2, 64, kMine) + alloc(3, 100, kLinear)
            + alloc(4, 4, kGrads) + alloc(5, 90, engine) + alloc(6, 400, engine) + freedBy(engine, 5, 90)
            + freedBy(kLinear, 3, 100) + freedBy(engine, 6, 400) + alloc(8, 64, kMine);
        Trained t(text, "S FF BBB BBBB OO | F", false);
        EXPECT_EQ(sure(t),
            "parameter/shown_by_stack input/likely activation/likely unknown/unknown temporary/likely "
            "gradient/likely unknown/unknown");
    }
}

TEST(Categories, OfWhatAVariableHeldAreLikely)
{
    EXPECT_NE(shown(shownStep(kEngine, kMine, kZero)).find(" activation/likely "), std::string::npos);
}

TEST(Categories, OfGradientsAreLikelyWhereABackwardLeavesMore)
{
    // Something of another size; another block of the size of the parameter, which a hook keeps.
    EXPECT_NE(
        shown(shownStep(kEngine, kEngine, kZero, 77), true).find(" gradient/likely "), std::string::npos);
    EXPECT_EQ(shown(shownStep(kEngine, kEngine, kZero, 400), true).find(" gradient/shown_by_stack"),
        std::string::npos);
}

TEST(Categories, OfABatchThatAGraphAloneHeldAreNotShown)
{
    // A function of torch.nn made it outside of modules.
    const std::string resize = "stack=interpolate@" + kTorch + "nn/functional.py:30|" + kMain;
    Trained t(alloc(1, 64, resize) + alloc(2, 100, kLinear) + alloc(3, 4, kGrads) + alloc(4, 9, kEngine)
            + freedBy(kEngine, 1, 64) + freedBy(kEngine, 2, 100) + alloc(5, 9, kMine),
        "FF BB BBBB | F", false);
    EXPECT_EQ(sure(t).substr(0, sure(t).find(" unknown")), "activation/likely activation/shown_by_stack");
}

TEST(Categories, OfScratchBesideAProductAreWorkspacesWhereAllOfTheSizeAre)
{
    const auto scratch = [](std::int64_t bytes, const std::string& stack, const std::string& more = {}) {
        Trained t(alloc(1, 100, stack) + alloc(2, bytes, stack) + freedBy(stack, 2, bytes)
                + alloc(3, 4, kMine) + freed(1, 100) + more,
            std::string("FFFF F FF") + (more.empty() ? "" : "F"), false);
        return sureOf(t.categories(), 1);
    };
    EXPECT_EQ(scratch(1 << 20, kLinear), "workspace/shown_by_stack");
    EXPECT_EQ(scratch(1 << 20, kMine), "workspace/likely") << "many tensors have this size";
    EXPECT_EQ(scratch(8519680, kMine), "workspace/shown_by_stack");
    EXPECT_EQ(scratch(8519680, kLinear, alloc(4, 8519680, kMine)), "workspace/likely")
        << "tensors have it here";
}

TEST(Categories, OfWhatTheProgramFreedAreNotRecordedAsActivations)
{
    const auto activation = [](const std::string& freer) {
        Trained t(alloc(1, 64, kMine) + alloc(2, 100, kLinear) + alloc(3, 4, kGrads) + alloc(4, 9, kEngine)
                + freedBy(freer, 2, 100) + alloc(5, 9, kMine),
            "F F BB BB | F");
        return sureOf(t.categories(), 1);
    };
    EXPECT_EQ(activation(kEngine), "activation/recorded");
    EXPECT_EQ(activation(kMine), "activation/likely") << "a copy of its own, say";
}

TEST(CategoryRules, ComeAfterWhatWasToldAndBeforeWhatIsInferred)
{
    Trained t(step(), kLetters);
    t.list(16, Kind::Parameter, 0x10000, "w");
    const CategoryRules rules
        = CategoryRules::read(R"({"rules": [{"category": "input", "min_bytes": 64, "max_bytes": "64 B"},
            {"category": "workspace", "min_bytes": 90}]})")
              .value();
    EXPECT_EQ(
        t.text({ &rules }), "parameter* input workspace workspace temporary* workspace workspace temporary*");
}

TEST(CategoryRules, LookAtFramesModulesAndAnnotations)
{
    const auto of = [](Trained& t, const char* condition) {
        const CategoryRules rules
            = CategoryRules::read(std::string(R"({"rules": [{"category": "input", )") + condition + "}]}")
                  .value();
        return t.text({ &rules });
    };
    Trained t("annotation start warm time=15\n"
              "alloc 0x1000 8 time=10 stack=f@a.py:3\nalloc 0x2000 8 time=20 stack=g@b.py:4|h@c.py:5\n"
              "alloc 0x3000 8 time=30\nannotation end warm time=25\n",
        "---");
    EXPECT_EQ(of(t, R"("frame": "^c\\.py:5 h$")"), "unknown input unknown");
    EXPECT_EQ(of(t, R"("annotation": "^warm$")"), "unknown input unknown");
    EXPECT_EQ(of(t, R"("module": "encoder")"), "unknown unknown unknown");
    Trained modules(alloc(1, 8) + alloc(2, 8) + alloc(3, 8), "---");
    Recording& recording = modules.recording();
    recording.modules = { recording.strings.intern("net.encoder.0"), recording.strings.intern("encoders") };
    for (const ModuleIndex module : { ModuleIndex{ 1 }, ModuleIndex{ 0 }, ModuleIndex{ kNoIndex } })
        recording.devices.at(0).events.module.push_back(module);
    EXPECT_EQ(of(modules, R"("module": "(^|\\.)encoder\\.")"), "unknown input unknown");
}

TEST(CategoryRules, MayBeMoreThanABitSetHolds)
{
    Trained t("alloc 0x1000 8 stack=g69@b.py:4\nalloc 0x2000 8 stack=g0@b.py:4|g99@b.py:5\nalloc 0x3000 8\n",
        "---");
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += fmt::format(R"({}{{"category": "{}", "frame": " g{}$"}})", text.empty() ? "" : ",",
            i < 64 ? "input" : "workspace", i);
    const CategoryRules rules = CategoryRules::read("{\"rules\": [" + text + "]}").value();
    EXPECT_EQ(t.text({ &rules }), "workspace input unknown");
    const auto shares = ruleShares(t.trace(), Clock(t.trace()), t.categories({ &rules }), rules,
        activeBlocks(t.trace(), t.trace().eventCount() - 1));
    EXPECT_EQ(shares[0], (RuleShare{ 1, 8, Category::Input }));
    EXPECT_EQ(shares[69], (RuleShare{ 1, 8, Category::Workspace }));
    EXPECT_EQ(shares[99], (RuleShare{ 0, 0, Category::Workspace }));
}

TEST(CategoryRules, CountWhatEachOfThemDecides)
{
    Trained t("alloc 0x1000 64\nalloc 0x2000 64\nalloc 0x3000 512\nalloc 0x4000 8\n", "----");
    t.list(3, wire::RoleKind::Parameter, 0x2000, "h.weight");
    const CategoryRules rules = CategoryRules::read(R"({"rules": [{"category": "input", "max_bytes": 64},
        {"category": "workspace", "min_bytes": 8}, {"category": "gradient", "min_bytes": "1 GiB"}]})")
                                    .value();
    const auto shares = ruleShares(t.trace(), Clock(t.trace()), t.categories({ &rules }), rules,
        activeBlocks(t.trace(), t.trace().eventCount() - 1));
    EXPECT_EQ(shares, // what was told is not theirs
        (std::vector<RuleShare>{
            { 2, 72, Category::Input }, { 1, 512, Category::Workspace }, { 0, 0, Category::Gradient } }));
}

TEST(CategoryRules, SayWhatIsWrongWithThem)
{
    const auto errorOf = [](const char* text) {
        const auto rules = CategoryRules::read(text);
        return rules ? std::string("none") : rules.error().what.text();
    };
    EXPECT_EQ(errorOf("[1]"), "it is not JSON with a list of \"rules\"");
    EXPECT_EQ(errorOf(R"({"rules": [{"category": "input"}]})"),
        "rule 1: it has no condition and would hold for every block");
    EXPECT_EQ(errorOf(R"({"rules": [{"frame": "a"}]})"), "rule 1: it has no \"category\"");
    EXPECT_EQ(errorOf(R"({"rules": [{"category": "inputs", "frame": "a"}]})"),
        "rule 1: there is no category \"inputs\": give parameter, buffer, optimizer_state, gradient, "
        "activation, temporary, workspace, communication, input or unknown");
    EXPECT_EQ(
        errorOf(R"({"rules": [{"category": "input", "size": 3}]})"), "rule 1: \"size\" is no condition");
    EXPECT_EQ(errorOf(R"({"rules": [{"category": "input", "min_bytes": "x"}]})"),
        "rule 1: \"min_bytes\" is no size, as 512 or \"8MiB\"");
    EXPECT_NE(errorOf(R"({"rules": [{"category": "input", "frame": "("}]})").find("no regular expression"),
        std::string::npos);
    EXPECT_EQ(errorOf(R"({"rules": [{"category": 3, "frame": "a"}]})"), "rule 1: \"category\" is no text");
}

TEST(CategoryRules, OfASessionMayBeAnything)
{
    const auto errorOf
        = [](const std::string& text) { return CategoryRules::read(text).error().what.text(); };
    constexpr std::size_t kDeep = 300'000;
    EXPECT_EQ(errorOf(R"({"rules": [{"category": )" + std::string(kDeep, '[') + std::string(kDeep, ']')
                  + R"(, "frame": "a"}]})"),
        "rule 1: \"category\" is no text");
    EXPECT_EQ(errorOf(R"({"rules": []})" + std::string(1 << 20, ' ')), "it is more than 1.00 MiB");
}

} // namespace strata::model
