// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks of a training in a few events go with its batch, and how large that is.
#include "model/analysis/allocator/replay.h"
#include "model/trace/work.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/evidence/batch_items.h"
#include "model/whatif/kinds/batch.h"
#include "tests/unit/analysis/training/trained.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using test::Trained;
using Sizes = std::vector<std::int64_t>;
using Bounds = std::pair<std::int64_t, std::int64_t>;

std::string roleAlloc(int place, std::int64_t bytes, const std::string& more = {})
{
    return "alloc " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + " " + more + "\n";
}

std::string roleFree(int place, std::int64_t bytes)
{
    const std::string what = " " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + "\n";
    return "free_requested" + what + "free_completed" + what;
}

/// A parameter; an input; a forward with an activation, a cast of the parameter and something of the moment;
/// a backward with something of the moment and a gradient; an optimizer with a state and something of the
/// moment; the gradient goes.
Trained training(bool listed, const std::string& castBy = {}, std::int64_t parameterBytes = 400)
{
    Trained t(roleAlloc(1, parameterBytes) // 0
            + roleAlloc(2, 64) + roleAlloc(3, 100) + roleAlloc(9, 200, castBy) + roleAlloc(4, 90)
            + roleFree(4, 90) // 1 to 6
            + roleAlloc(5, 4) + roleAlloc(6, 400) + roleFree(5, 4) + roleFree(3, 100)
            + roleFree(9, 200) // 7 to 14
            + roleAlloc(7, 400) + roleAlloc(8, 80) + roleFree(8, 80) // 15 to 18
            + roleFree(6, 400) + roleFree(2, 64), // 19 to 22
        "S FFFFFF BBBBBBBB OOOO NNNN|");
    if (listed)
        t.list(15, Kind::Gradient, 0x60000, "layer.weight")
            .list(19, Kind::Parameter, 0x10000, "layer.weight")
            .list(19, Kind::OptimizerState, 0x70000, "layer.weight", "momentum_buffer")
            .list(19, Kind::Stepped, 0, "SGD");
    return t;
}

/// That module asked for all that the forward and the backward did.
void tellModule(Trained& t, const char* name)
{
    Recording& recording = t.recording();
    const ModuleIndex module = recording.internModule(recording.strings.intern(name));
    EventColumns& events = recording.devices.front().events;
    for (EventIndex event = 0; event < events.size(); ++event)
        events.module.push_back(event >= 2 && event < 15 ? module : kNoIndex);
}

Result<BatchSizes> sizesOf(Trained& t, std::int64_t from, std::int64_t to)
{
    return batchByRoles(t.trace(), t.steps(), t.categories(), from, to);
}

bool has(const BatchSizes& sizes, BlockRule rule)
{
    return std::ranges::any_of(sizes.uses, [&](const RuleUse& use) { return use.rule == rule; });
}

} // namespace

TEST(BatchByRoles, LeavesTheModelAndTheUpdateAsTheyAre)
{
    Trained t = training(true);
    const auto sizes = sizesOf(t, 2, 6);
    ASSERT_TRUE(sizes);
    // parameter, input, activation, its cast, temporaries of forward and backward, gradient, state, of the
    // update
    EXPECT_EQ(sizes->likely, (Sizes{ 400, 192, 300, 600, 270, 12, 400, 400, 80 }));
    EXPECT_EQ(sizes->evidence, WhatIfEvidence::Roles);
    // The backward's temporary is as large as nothing of the forward: of what it is a gradient is not known.
    EXPECT_EQ(sizes->least, (Sizes{ 400, 192, 300, 600, 270, 4, 400, 400, 80 }));
    EXPECT_EQ(sizes->most, sizes->likely);
    EXPECT_EQ(sizes->unknownBytes, 4);
    EXPECT_TRUE(has(*sizes, BlockRule::OfTheUpdate));
}

TEST(BatchByRoles, KnowsACastByTheModuleThatAsksForIt)
{
    Trained t = training(true);
    tellModule(t, "layer");
    EXPECT_EQ(sizesOf(t, 2, 6)->likely, (Sizes{ 400, 192, 300, 200, 270, 12, 400, 400, 80 }));
    EXPECT_TRUE(has(*sizesOf(t, 2, 6), BlockRule::SizeOfParameter));
    Trained other = training(true); // whose parameters are others
    tellModule(other, "head");
    EXPECT_EQ(sizesOf(other, 2, 6)->likely[3], 600);
}

TEST(BatchByRoles, LeavesOpenWhatMayBeACastUnlessAutocastMadeIt)
{
    const auto boundsOf = [](const std::string& castBy, std::int64_t from) {
        Trained t = training(true, castBy);
        tellModule(t, "layer");
        const auto sizes = sizesOf(t, from, 3 * from);
        return Bounds(sizes->least[3], sizes->most[3]);
    };
    EXPECT_EQ(boundsOf({}, 2), Bounds(200, 600)); // an activation may have that size, too
    EXPECT_EQ(boundsOf("stack=at::autocast::cached_cast@autocast_mode.cpp:1|forward@model.py:9", 2),
        Bounds(200, 200));
    EXPECT_EQ(boundsOf({}, 3), Bounds(200, 200)); // not of three items
}

TEST(BatchByRoles, LeavesOpenWhatRecurrencesAskFor)
{
    for (const std::string stack : { "stack=forward@/site-packages/torch/nn/modules/rnn.py:9",
             "stack=at::native::_cudnn_rnn@RNN.cpp:1" }) {
        Trained t = training(true, stack);
        const auto sizes = sizesOf(t, 2, 6);
        EXPECT_EQ(sizes->least[3], 200) << stack;
        EXPECT_EQ(sizes->most[3], 600) << stack;
        EXPECT_TRUE(has(*sizes, BlockRule::Undecided));
    }
}

// As the scores of a contrastive loss: 10 items, a byte for each pair of them.
TEST(BatchByRoles, LeavesOpenWhetherPairsGoWithTheSquare)
{
    const auto boundsOf = [](std::int64_t parameterBytes) {
        Trained t = training(true, {}, parameterBytes);
        const auto sizes = sizesOf(t, 10, 20);
        EXPECT_EQ(has(*sizes, BlockRule::Squared), sizes->least[2] != sizes->most[2]);
        EXPECT_EQ(sizes->likely[2], sizes->most[2]);
        return Bounds(sizes->least[2], sizes->most[2]);
    };
    EXPECT_EQ(boundsOf(400), Bounds(200, 400));
    EXPECT_EQ(boundsOf(40), Bounds(200, 200)); // a layer has 10 neurons
}

TEST(BatchByRoles, ScalesWholeItemsAlone)
{
    Trained t = training(true);
    const auto sizes = sizesOf(t, 4, 1);
    ASSERT_TRUE(sizes);
    // 90 bytes are not those of four items.
    EXPECT_EQ(sizes->likely, (Sizes{ 400, 16, 25, 50, 90, 1, 400, 400, 80 }));
    EXPECT_TRUE(has(*sizes, BlockRule::NotWhole));
}

TEST(BatchByRoles, IsBoundsWhereTheProgramDoesNotTell)
{
    Trained t = training(false);
    const auto sizes = sizesOf(t, 2, 6);
    ASSERT_TRUE(sizes);
    EXPECT_EQ(sizes->evidence, WhatIfEvidence::Sizes);
    EXPECT_FALSE(sizes->flag.empty());
    EXPECT_EQ(sizes->least[2], 100);
    EXPECT_EQ(sizes->most[2], 300);
    EXPECT_GT(sizes->unknownBytes, 0);
    for (std::size_t row = 0; row < sizes->likely.size(); ++row) {
        EXPECT_LE(sizes->least[row], sizes->likely[row]);
        EXPECT_GE(sizes->most[row], sizes->likely[row]);
    }
}

/// Half the batch needs no more than was recorded, and twice as much no less, whatever is left open.
TEST(BatchByRoles, BoundsDoNotLieBeyondWhatWasRecorded)
{
    for (unsigned seed = 1; seed <= 6; ++seed) {
        const auto trained = test::MadeTraining({ .seed = seed, .layers = 4 }).recorded();
        const ReplayReport report = *checkReplay(trained->trace());
        const Categories categories = trained->categories();
        const RecordedRun run{ .trace = &trained->trace(),
            .report = &report,
            .steps = &trained->steps(),
            .categories = &categories,
            .batchItems = 8 };
        const auto with = [&](const char* change) {
            return *predict(
                { run }, { .changes = { *Change::parse(change) }, .settings = {}, .capacityBytes = {} });
        };
        constexpr double kRoom = 0.016; // for other algorithms
        std::int64_t last = 0;
        for (const char* const less : { "batch=x0.125", "batch=x0.25", "batch=x0.5" }) {
            const Prediction half = with(less);
            EXPECT_FALSE(half.predicted);
            EXPECT_LE(static_cast<double>(half.most.requestedBytesPeak),
                static_cast<double>(half.recorded.requestedBytesPeak) * (1 + kRoom))
                << less << ", " << seed;
            EXPECT_GE(half.most.requestedBytesPeak, last);
            last = half.most.requestedBytesPeak;
        }
        const Prediction twice = with("batch=x2");
        EXPECT_GE(static_cast<double>(twice.least.requestedBytesPeak),
            static_cast<double>(twice.recorded.requestedBytesPeak) * (1 - kRoom))
            << seed;
    }
}

TEST(BatchByRoles, NeedsAStep)
{
    Trained t(roleAlloc(1, 400) + roleAlloc(2, 64) + roleFree(2, 64), "FFFF");
    const auto refused = sizesOf(t, 2, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::Refused);
}

TEST(BatchItems, AreTheFirstDimensionOfWhatAStepReads)
{
    const auto itemsOf = [](const std::vector<std::pair<const char*, const char*>>& shapes) {
        Trained t = training(true);
        for (const auto& [dims, types] : shapes) {
            OperatorDetail detail;
            detail.shapes = t.recording().strings.intern(dims);
            detail.types = t.recording().strings.intern(types);
            t.recording().parts.get<Work>().operators.push_back(detail);
        }
        const DeviceTrace& trace = t.trace();
        return batchItemsOf(trace, t.steps(), t.categories());
    };
    // The input has 64 bytes; others have nothing of it.
    EXPECT_EQ(itemsOf({ { "[[4,4],[100]]", "[\"float\",\"float\"]" } }), 4);
    EXPECT_EQ(itemsOf({ { "[[8,2,1]]", "[\"float\"]" }, { "[[16]]", "[\"float\"]" } }), 8);
    EXPECT_EQ(itemsOf({ { "[[2,2,2]]", "[\"long int\"]" } }), 2);
    // Something else is as large: items that are flattened are told from it, others are not.
    EXPECT_EQ(itemsOf({ { "[[8,2],[2,4,2]]", "[\"float\",\"float\"]" } }), 2); // 8 is 2 x 4, flattened
    EXPECT_EQ(itemsOf({ { "[[8,2],[16,1]]", "[\"float\",\"float\"]" } }), 8);
    EXPECT_EQ(itemsOf({ { "[[8,2],[4,4]]", "[\"float\",\"float\"]" } }), std::nullopt);
    EXPECT_EQ(itemsOf({ { "[[8,2],[1,8,2]]", "[\"float\",\"float\"]" } }), std::nullopt);
    // Nothing tells: no shapes, none of that size, texts that are none.
    EXPECT_EQ(itemsOf({}), std::nullopt);
    EXPECT_EQ(
        itemsOf({ { "[[5,5]]", "[\"float\"]" }, { "[[", "" }, { "[[4,4]]", "[\"what\"]" } }), std::nullopt);
}

} // namespace strata::model
