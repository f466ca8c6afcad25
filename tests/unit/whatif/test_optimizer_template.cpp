// SPDX-License-Identifier: GPL-3.0-or-later
// What optimizers of torch.optim ask for, as their templates tell.
#include "model/whatif/optimizer_template.h"

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
    return { *choice->made, std::move(parameters), std::move(groups) };
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
    for (const char* unknown : { "", "Adam8bit", "adamw,beta=1", "adamw,foreach", "adamw,foreach=yes",
             "sgd,momentum=", "sgd,momentum=much", "adamw,foreach=True,fused=True", "sgd,nesterov=True" })
        EXPECT_EQ(kindOf(unknown), Error::Kind::Usage) << unknown;
    for (const char* untold : { "Adafactor", "lbfgs", "Muon", "Rprop" })
        EXPECT_EQ(kindOf(untold), Error::Kind::Refused) << untold;
    EXPECT_NE(templates.find("Adam8bit").error().hint.text().find("AdamW"), std::string::npos);
    EXPECT_NE(templates.find("sgd,beta=1").error().hint.text().find("momentum"), std::string::npos);
    EXPECT_TRUE(templates.find("ADAMW,lr=0.1,eps=1e-6"));
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
