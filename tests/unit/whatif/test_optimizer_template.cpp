// SPDX-License-Identifier: GPL-3.0-or-later
// What optimizers of torch.optim and bitsandbytes ask for, as their templates tell.
#include "model/whatif/evidence/optimizer_match.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace strata::model {

namespace {

using Events = std::vector<OptimizerEvent>;

/// "+400 +80 -0": sizes of allocs, and blocks of frees.
std::string text(const Events& events)
{
    std::string text;
    for (const OptimizerEvent& event : events)
        text += (text.empty() ? "" : " ")
            + (event.alloc ? "+" + std::to_string(event.bytes) : "-" + std::to_string(event.block));
    return text;
}

OptimizerParameter floats(std::int64_t elements)
{
    return { elements, 4 * elements, 1 };
}

OptimizerParameter halfs(std::int64_t elements)
{
    return { elements, 2 * elements, 2 };
}

OptimizerRun runOf(
    const char* value, std::vector<OptimizerParameter> parameters, std::vector<std::uint32_t> groups = { 0 })
{
    const auto choice = OptimizerTemplates::builtIn().find(value);
    EXPECT_TRUE(choice) << value;
    return { *choice->made, std::move(parameters), std::move(groups), choice->least };
}

/// A step of it, of these parameters.
std::string stepOf(OptimizerRun& run, const std::vector<std::uint32_t>& having)
{
    Events events;
    return run.step(having, events) ? text(events) : "not told";
}

} // namespace

// What torch 2.15 was seen to do, written down by hand.
TEST(OptimizerTemplate, IsWhatAdamDoesOverLists)
{
    OptimizerRun run = runOf("AdamW", { floats(10), floats(20) });
    EXPECT_EQ(stepOf(run, { 0, 1 }), "+40 +40 +80 +80 +40 +80 -5 -4"); // two states each, then square roots
    EXPECT_EQ(stepOf(run, { 0, 1 }), "+40 +80 -7 -6");
    EXPECT_EQ(stepOf(run, { 1 }), "+80 -8"); // the first has no gradient
}

TEST(OptimizerTemplate, GoesTypeByType)
{
    OptimizerRun run = runOf("adamw", { floats(10), halfs(30), floats(20) });
    EXPECT_EQ(stepOf(run, { 0, 1, 2 }), "+40 +40 +60 +60 +80 +80 +60 +40 +80 -6 -8 -7");
}

TEST(OptimizerTemplate, GoesGroupByGroup)
{
    OptimizerRun run = runOf("adamw", { floats(10), floats(20) }, { 0, 1 });
    EXPECT_EQ(stepOf(run, { 0, 1 }), "+40 +40 +40 -2 +80 +80 +80 -5");
    EXPECT_EQ(stepOf(run, { 1 }), "+80 -6");
}

TEST(OptimizerTemplate, IsWhatSgdAndFusedOnesDo)
{
    OptimizerRun plain = runOf("SGD", { floats(10) });
    EXPECT_EQ(stepOf(plain, { 0 }), "");
    OptimizerRun momentum = runOf("sgd,momentum=0.9", { floats(10), floats(20) });
    EXPECT_EQ(stepOf(momentum, { 0, 1 }), "+40 +80");
    EXPECT_EQ(stepOf(momentum, { 0, 1 }), "");
    OptimizerRun fused = runOf("AdamW,fused=True", { floats(10), halfs(20) });
    EXPECT_EQ(stepOf(fused, { 0, 1 }), "+4 +40 +40 +4 +40 +40"); // steps are on the device
    EXPECT_EQ(stepOf(fused, { 0, 1 }), "");
}

TEST(OptimizerTemplate, MakesStateWhenItIsFirstNeeded)
{
    OptimizerRun run = runOf("SGD,momentum=0.9", { floats(10), floats(20), floats(30) });
    EXPECT_EQ(stepOf(run, { 0, 2 }), "+40 +120");
    EXPECT_EQ(stepOf(run, { 0, 1, 2 }), "+80");
    Events made;
    OptimizerRun early = runOf("Adagrad,foreach=False", { floats(10), floats(20) });
    early.make(made);
    EXPECT_EQ(text(made), "+40 +80");
    OptimizerRun nothing = runOf("AdamW", { floats(0), floats(10) });
    EXPECT_EQ(stepOf(nothing, { 0, 1 }), "+40 +40 +40 -2"); // nobody asks the allocator for nothing
}

// What bitsandbytes 0.50.2 was seen to do: two maps once, then bytes and scales, or floats.
TEST(OptimizerTemplate, KeepsStatesOfLargeParametersInEightBits)
{
    OptimizerRun run = runOf("AdamW8bit", { floats(100), halfs(5000), floats(4096) });
    EXPECT_EQ(stepOf(run, { 0, 1, 2 }), "+400 +400 +1024 +1024 +5000 +5000 +80 +80 +4096 +4096 +64 +64");
    EXPECT_EQ(stepOf(run, { 0, 1, 2 }), "");
    OptimizerRun momentum = runOf("SGD8bit,momentum=0.9", { floats(4096), floats(4095), floats(4097) });
    EXPECT_EQ(stepOf(momentum, { 0, 1, 2 }), "+1024 +4096 +64 +16380 +4097 +68");
}

TEST(OptimizerTemplate, AsksOnceForWhatIsTheOptimizersOwn)
{
    OptimizerRun groups = runOf("Lion8bit", { floats(7), floats(5000), floats(5000) }, { 0, 1, 2 });
    EXPECT_EQ(stepOf(groups, { 0, 1, 2 }), "+28 +1024 +5000 +80 +5000 +80");
    OptimizerRun late = runOf("Adam8bit", { floats(5000), floats(7), floats(6000) });
    EXPECT_EQ(stepOf(late, { 1 }), "+28 +28");
    EXPECT_EQ(stepOf(late, { 1, 2 }), "+1024 +1024 +6000 +6000 +96 +96");
    EXPECT_EQ(stepOf(late, { 0, 1, 2 }), "+5000 +5000 +80 +80");
}

TEST(OptimizerTemplate, TakesTheLeastNumberOfElementsFromAnOption)
{
    OptimizerRun all = runOf("AdamW8bit,min_8bit_size=50", { floats(50), floats(49) });
    EXPECT_EQ(stepOf(all, { 0, 1 }), "+1024 +1024 +50 +50 +4 +4 +196 +196");
    OptimizerRun none = runOf("AdamW8bit,min_8bit_size=1e9", { floats(5000) });
    EXPECT_EQ(stepOf(none, { 0 }), "+20000 +20000");
    // A recorded one shows which number it was given, as far as its parameters tell it.
    RecordedOptimizer recorded;
    recorded.name = "AdamW8bit";
    recorded.parameters = { floats(50), floats(49), floats(5000) };
    recorded.steps.push_back({ .having = { 0, 1, 2 } });
    for (const std::int64_t least : { 10, 50, 4096, 6000 }) {
        const auto did
            = partsOf(*OptimizerTemplates::builtIn().find("AdamW8bit")->made, recorded, { 0 }, least);
        ASSERT_TRUE(did);
        const OptimizerMatch match = matchOptimizer(recorded, *did);
        ASSERT_TRUE(match.known) << least;
        EXPECT_EQ(partsOf(*match.made, recorded, match.groups, match.least), did) << least;
        EXPECT_EQ(match.least <= 50, least <= 50) << least;
    }
}

TEST(OptimizerTemplate, GivesBackWhatItDoesNotKeep)
{
    for (const char* value : { "SGD", "SGD,momentum=0.9,nesterov=True", "SGD,weight_decay=0.1", "Adam",
             "Adam,amsgrad=True,foreach=False", "AdamW,fused=True", "RMSprop,centered=True,momentum=0.9",
             "Adagrad", "Adagrad,foreach=False", "NAdam", "RAdam,foreach=False", "Adadelta", "Adamax" }) {
        OptimizerRun run = runOf(value, { floats(10), halfs(30), floats(20), halfs(7) }, { 0, 2 });
        std::map<std::uint32_t, std::int64_t> live;
        const auto play = [&](const Events& events) {
            for (const OptimizerEvent& event : events) {
                EXPECT_EQ(live.contains(event.block), !event.alloc) << value;
                if (event.alloc)
                    live[event.block] = event.bytes;
                else
                    live.erase(event.block);
            }
        };
        Events events;
        run.make(events);
        play(events);
        std::size_t kept = 0;
        for (int step = 0; step < 9; ++step) {
            events.clear();
            ASSERT_TRUE(run.step({ 0, 1, 2, 3 }, events)) << value;
            play(events);
            if (step > 0) {
                EXPECT_EQ(live.size(), kept) << value << ", step " << step;
            }
            kept = live.size();
        }
        EXPECT_EQ(kept % 4, 0U) << value;
    }
}

TEST(OptimizerTemplates, RefuseByNameWhatTheyDoNotKnow)
{
    const OptimizerTemplates& templates = OptimizerTemplates::builtIn();
    const auto kindOf = [&](const char* value) {
        const auto found = templates.find(value);
        EXPECT_FALSE(found) << value;
        return found ? Error::Kind::Format : found.error().kind;
    };
    for (const char* unknown : { "", "Adam9bit", "SGD8bit", "AdamW8bit,amsgrad=True",
             "AdamW8bit,min_8bit_size=much", "AdamW8bit,min_8bit_size=-1", "AdamW8bit,min_8bit_size=nan",
             "adamw,beta=1", "adamw,foreach", "adamw,foreach=yes", "sgd,momentum=", "sgd,momentum=much",
             "adamw,foreach=True,fused=True", "sgd,nesterov=True" })
        EXPECT_EQ(kindOf(unknown), Error::Kind::Usage) << unknown;
    for (const char* untold : { "Adafactor", "lbfgs", "Muon", "Rprop", "LAMB", "lamb8bit", "pagedadamw8bit",
             "AdamW8bit,is_paged=True" })
        EXPECT_EQ(kindOf(untold), Error::Kind::Refused) << untold;
    const auto hintOf = [&](const char* value) { return templates.find(value).error().hint.said.text(); };
    EXPECT_NE(hintOf("Adam9bit").find("AdamW8bit"), std::string::npos);
    EXPECT_NE(hintOf("PagedAdamW8bit").find("--change optimizer=PagedAdamW8bit"), std::string::npos);
    EXPECT_TRUE(templates.find("AdamW8bit,is_paged=False,lr=0.1"));
    EXPECT_NE(templates.find("sgd,beta=1").error().hint.said.text().find("momentum"), std::string::npos);
    EXPECT_TRUE(templates.find("ADAMW,lr=0.1,eps=1e-6"));
}

TEST(OptimizerTemplates, TellOfTypesThatRaise)
{
    const OptimizerTemplates& templates = OptimizerTemplates::builtIn();
    const auto both = templates.find("AdamW8bit");
    EXPECT_TRUE(both->refuses("float64", 5000));
    EXPECT_FALSE(both->refuses("bfloat16", 10));
    const auto one = templates.find("RMSprop8bit"); // it has no kernel for small ones
    EXPECT_TRUE(one->refuses("bfloat16", 10));
    EXPECT_FALSE(one->refuses("bfloat16", 5000));
    EXPECT_FALSE(templates.find("AdamW")->refuses("float64", 10));
    EXPECT_EQ(both->package.substr(0, 13), "bitsandbytes ");
    EXPECT_EQ(templates.find("AdamW")->package, "");
}

TEST(OptimizerTemplates, TellWhereAWeightDecayMatters)
{
    const OptimizerTemplates& templates = OptimizerTemplates::builtIn();
    EXPECT_NE(templates.find("Adam")->decaying, nullptr);
    EXPECT_EQ(templates.find("Adam,weight_decay=0.1")->decaying, nullptr);
    EXPECT_EQ(templates.find("AdamW")->decaying, nullptr); // decays weights in their places
    EXPECT_EQ(templates.find("Adam")->decaying, templates.find("Adam,weight_decay=0.1")->made);
    EXPECT_GE(templates.mannersOf("AdamW").size(), 4U);
    EXPECT_TRUE(templates.mannersOf("MyAdam").empty());
}

} // namespace strata::model
