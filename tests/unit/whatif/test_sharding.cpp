// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings in a few events as one of many ranks.
#include "model/whatif/sharding.h"

#include "model/trace/deep_step.h"
#include "model/whatif/predict.h"
#include "model/whatif/spread_run.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using Role = wire::RoleKind;
using Deep = DeepStep::Kind;

/// Two layers of a weight (10 rows of 10) and a bias, and a vector of the model itself; each keeps one block
/// for backward, which makes gradients. Four steps of SGD, of so many backwards each; the third is the deep
/// one.
class LayeredTraining {
public:
    struct Options {
        bool deep = true;
        const char* file = nullptr; ///< of a frame that it has
        int backwards = 1; ///< of each step
        bool showsCalls = true; ///< of AccumulateGrad
        bool copies = false; ///< AccumulateGrad, gradients instead of keeping them
        bool keeps = false; ///< gradients, from step to step
        bool isMixed = false; ///< biases are of another type than weights
    };
    explicit LayeredTraining(const Options& options)
        : m_options(options)
    {
        const auto& [deep, file, backwards, showsCalls, copies, keeps, isMixed] = options;
        for (int layer = 0; layer < 2; ++layer) {
            alloc('S', "weight" + std::to_string(layer), 400);
            alloc('S', "bias" + std::to_string(layer), 40);
        }
        alloc('S', "scale", 200);
        for (int step = 1; step <= kSteps; ++step) {
            m_isDeep = deep && step == 3;
            this->step();
        }
        m_trained = std::make_unique<test::Trained>(m_text, m_letters);
        Recording& recording = m_trained->recording();
        for (const Listed& listed : m_listed)
            m_trained->list(listed.event, listed.kind, listed.address, listed.name, {},
                isMixed && listed.name.ends_with("bias") ? "bfloat16" : "float32", listed.elements);
        Annotation range;
        range.name = recording.strings.intern("Optimizer.step#SGD.step");
        recording.annotations.push_back(range);
        for (const auto& [row, names] : m_names) {
            m_deep.rows[row].name = recording.strings.intern(names.first);
            m_deep.rows[row].detail = recording.strings.intern(names.second);
        }
        if (deep)
            recording.parts.get<DeepSteps>().steps.push_back(m_deep);
        if (file != nullptr) {
            Frame frame;
            frame.file = recording.strings.intern(file);
            static_cast<void>(recording.stacks.internFrame(frame));
        }
        m_report = checkReplay(m_trained->trace()).value();
        m_categories = std::make_unique<Categories>(m_trained->categories());
        m_run = { &m_trained->trace(), &m_report, &m_trained->steps(), m_categories.get(), {} };
    }

    [[nodiscard]] const RecordedRun& run() const { return m_run; }

    /// "+400 -400@1": what it asks for with that change, and on which new stream.
    [[nodiscard]] std::string with(const char* change) const
    {
        const auto spread = SpreadRun::of(m_run, Change::parse(change)->sharding().value());
        EXPECT_TRUE(spread) << spread.error().text();
        return spread ? textOf(edited(programRunOf(*m_run.trace), spread->edits)) : std::string();
    }

    [[nodiscard]] std::string refusal(const char* change) const
    {
        const auto spread = SpreadRun::of(m_run, Change::parse(change)->sharding().value());
        return spread ? std::string() : spread.error().text();
    }

    [[nodiscard]] Prediction predicted(const std::vector<const char*>& changes) const
    {
        Scenario scenario;
        for (const char* change : changes)
            scenario.changes.push_back(Change::parse(change).value());
        return predict({ m_run }, scenario).value();
    }

    static std::string textOf(const ProgramRun& run)
    {
        std::string text;
        for (const ProgramRun::Ask& ask : run.asks)
            if (ask.action == Action::Alloc || ask.action == Action::FreeCompleted) {
                const ProgramRun::Block& block = run.blocks[ask.block];
                text += (ask.action == Action::Alloc ? "+" : "-") + std::to_string(block.bytes)
                    + (block.newStream != 0 ? "@" + std::to_string(block.newStream) : "") + " ";
            }
        return text;
    }

private:
    static constexpr int kSteps = 4;
    struct Listed {
        EventIndex event;
        Role kind;
        std::uint64_t address;
        std::string name;
        std::int64_t elements;
    };

    void log(char phase, const char* action, const std::string& name)
    {
        const auto& [address, bytes] = m_blocks.at(name);
        m_text += std::string(action) + " " + std::to_string(address) + " " + std::to_string(bytes) + "\n";
        m_letters += phase;
        ++m_event;
    }
    void alloc(char phase, const std::string& name, std::int64_t bytes)
    {
        if (!m_blocks.contains(name))
            m_blocks.emplace(name, std::pair{ 0x10000 * (m_blocks.size() + 1), bytes });
        log(phase, "alloc", name);
    }
    void free(char phase, const std::string& name)
    {
        log(phase, "free_requested", name);
        log(phase, "free_completed", name);
    }

    void row(Deep kind, const std::vector<std::string>& tensors, std::uint32_t saved = wire::kNone,
        const std::pair<std::string, std::string>& names = {})
    {
        if (!m_isDeep)
            return;
        if (!names.first.empty())
            m_names.emplace_back(m_deep.rows.size(), names);
        m_deep.rows.push_back(
            { kind, kind == Deep::Unpacked || kind == Deep::Released ? 2u : 1u, m_event, {}, {}, saved,
                static_cast<std::uint32_t>(m_deep.refs.size()), static_cast<std::uint32_t>(tensors.size()) });
        for (const std::string& name : tensors) {
            m_deep.refs.push_back(static_cast<std::uint32_t>(m_deep.tensors.size()));
            m_deep.tensors.push_back({ m_blocks.at(name).first, {} });
        }
    }

    /// An operator that makes a block, which backward will need.
    void compute(
        const std::vector<std::string>& from, const std::string& to, std::int64_t bytes, std::uint32_t saved)
    {
        row(Deep::Operator, from);
        alloc('F', to, bytes);
        row(Deep::Returns, { to });
        row(Deep::Saved, { to }, saved);
    }

    void forward()
    {
        const std::pair<std::string, std::string> model{ "Model", "Model" };
        row(Deep::Enters, { "input" }, wire::kNone, model);
        std::string from = "input";
        for (std::uint32_t i = 0; i < 2; ++i) {
            const std::string number = std::to_string(i);
            const std::pair<std::string, std::string> layer{ "layers." + number, "Layer" };
            row(Deep::Enters, { from }, wire::kNone, layer);
            compute({ from, "weight" + number }, "out" + number, 100 + i, i);
            row(Deep::Leaves, { "out" + number }, wire::kNone, layer);
            from = "out" + number;
        }
        compute({ from, "scale" }, "out", 20, 2);
        row(Deep::Leaves, { "out" }, wire::kNone, model);
    }

    /// What a node of backward makes of what it saved. Gradients stay where there are none yet.
    void differentiate(const std::string& out, std::uint32_t saved,
        const std::vector<std::pair<std::string, std::int64_t>>& gradients, bool first)
    {
        const std::string suffix = first && !m_options.copies ? ".grad" : ".more";
        row(Deep::Unpacked, { out }, saved);
        for (const auto& [name, bytes] : gradients)
            alloc('B', name + suffix, bytes);
        row(Deep::Released, {}, saved);
        free('B', out);
        for (const auto& [name, bytes] : gradients) {
            if (m_options.showsCalls)
                row(Deep::Operator, { name + suffix }, wire::kNone,
                    { "torch::autograd::AccumulateGrad", "" });
            if (first && m_options.copies)
                alloc('B', name + ".grad", bytes);
            if (m_options.showsCalls)
                row(Deep::Returns, {});
            if (suffix == ".more")
                free('B', name + suffix);
        }
    }

    void step()
    {
        alloc('F', "input", 64);
        const bool first = !m_options.keeps || m_begins == 0;
        for (int backward = 0; backward < m_options.backwards; ++backward) {
            forward();
            differentiate("out", 2, { { "scale", 200 } }, first && backward == 0);
            for (std::uint32_t layer = 2; layer-- > 0;) {
                const std::string number = std::to_string(layer);
                differentiate("out" + number, layer, { { "weight" + number, 400 }, { "bias" + number, 40 } },
                    first && backward == 0);
            }
        }
        const std::pair<const char*, std::int64_t> parameters[]
            = { { "weight0", 100 }, { "bias0", 10 }, { "weight1", 100 }, { "bias1", 10 }, { "scale", 50 } };
        const auto nameOf = [](const std::string& name) {
            return name == "scale"
                ? std::string("scale.bias")
                : "layers." + name.substr(name.size() - 1) + "." + name.substr(0, name.size() - 1);
        };
        for (const auto& [name, elements] : parameters)
            m_listed.push_back({ m_event, Role::Gradient, m_blocks.at(std::string(name) + ".grad").first,
                nameOf(name), elements });
        alloc('N', "scratch", 8);
        free('N', "scratch");
        for (const auto& [name, elements] : parameters)
            m_listed.push_back({ m_event, Role::Parameter, m_blocks.at(name).first, nameOf(name), elements });
        m_listed.push_back({ m_event, Role::Stepped, 0, "SGD", 0 });
        if (m_isDeep) {
            m_deep.beginEvent = m_begins;
            m_deep.endEvent = m_event;
        }
        m_begins = m_event;
        m_letters += '|';
        if (!m_options.keeps)
            for (const auto& [name, elements] : parameters)
                free('N', std::string(name) + ".grad");
        free('N', "input");
    }

    std::string m_text, m_letters;
    EventIndex m_event = 0, m_begins = 0;
    bool m_isDeep = false;
    Options m_options;
    std::map<std::string, std::pair<std::uint64_t, std::int64_t>> m_blocks;
    std::vector<Listed> m_listed;
    std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> m_names;
    DeepStep m_deep;
    std::unique_ptr<test::Trained> m_trained;
    ReplayReport m_report;
    std::unique_ptr<Categories> m_categories;
    RecordedRun m_run;
};

} // namespace

TEST(Sharding, IsRanksAndOptions)
{
    const auto ddp = Sharding::parse(Sharding::Kind::Ddp, "8,gradient_as_bucket_view=True,bucket_cap_mb=5");
    ASSERT_TRUE(ddp);
    EXPECT_EQ(ddp->ranks, 8);
    EXPECT_TRUE(ddp->gradientsAreViews);
    EXPECT_EQ(ddp->bucketBytes, 5 << 20);
    const auto fsdp
        = Sharding::parse(Sharding::Kind::Fsdp, "2,reshard_after_forward=False,modules=Block+Head");
    ASSERT_TRUE(fsdp);
    EXPECT_EQ(fsdp->reshardsAfterForward, false);
    EXPECT_EQ(fsdp->modules, "Block+Head");
    for (const char* const wrong :
        { "", "0", "-1", "x2", "8,", "8,bucket_cap_mb=0", "8,modules=Block", "70000" })
        EXPECT_EQ(Sharding::parse(Sharding::Kind::Zero1, wrong).error().kind, Error::Kind::Usage) << wrong;
    EXPECT_FALSE(Sharding::parse(Sharding::Kind::Fsdp, "8,reshard_after_forward=4"));
}

TEST(Sharding, LeavesTheFirstRankWhatItHasRoomFor)
{
    RecordedOptimizer optimizer;
    for (const std::int64_t elements : { 10, 100, 50, 60 })
        optimizer.parameters.push_back({ elements, 4 * elements, 0 });
    optimizer.steps.push_back({ 0, 0, { 0, 2, 3 } });
    const OptimizerShard shard = zero1Shard(optimizer, { 0 }, 2); // 100 and 10; 60 and 50
    ASSERT_EQ(shard.optimizer.parameters.size(), 2U);
    EXPECT_EQ(shard.optimizer.parameters[0].elements, 100);
    EXPECT_EQ(shard.optimizer.parameters[1].elements, 10);
    EXPECT_EQ(shard.optimizer.steps[0].having, std::vector<std::uint32_t>{ 1 });
    EXPECT_EQ(zero1Shard(optimizer, { 0 }, 1).optimizer.parameters.size(), 4U);
    EXPECT_EQ(zero1Shard(optimizer, { 0 }, 1000).optimizer.parameters.size(), 1U);
    // Of each group for itself: 100 and 10, one each; then 60 and 50, both to the other rank, which has less.
    const OptimizerShard groups = zero1Shard(optimizer, { 0, 2 }, 2);
    EXPECT_EQ(groups.groups, (std::vector<std::uint32_t>{ 0, 1 }));
    ASSERT_EQ(groups.optimizer.parameters.size(), 1U);
    EXPECT_EQ(groups.optimizer.parameters[0].elements, 100);
}

TEST(DataParallel, AddsBucketsThatAreMadeAnew)
{
    const LayeredTraining training({ .deep = false });
    const std::string recorded = LayeredTraining::textOf(programRunOf(*training.run().trace));
    const std::string parameters = "+400 +40 +400 +40 +200 ";
    const std::string step
        = "+64 +100 +101 +20 +200 -20 +400 +40 -101 +400 +40 -100 +8 -8 -400 -40 -400 -40 -200 -64 ";
    ASSERT_EQ(recorded, parameters + step + step + step + step);
    // What is sent, the first bucket, and in the second forward the one that stays.
    EXPECT_EQ(training.with("ddp=8"),
        parameters + "+1080 -1080 +1080 " + step + "-1080 +1080 " + step + step + step);
    EXPECT_NE(training.refusal("ddp=8,gradient_as_bucket_view=True").find("deep step"), std::string::npos);
    const LayeredTraining deep({});
    const std::string views
        = "+64 +100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 +8 -8 -64 ";
    EXPECT_EQ(deep.with("ddp=8,gradient_as_bucket_view=True"),
        parameters + "+1080 -1080 +1080 " + views + "-1080 +1080 " + views + views + views);
}

TEST(DataParallel, KeepsTheFirstBucketUntilGradientsThatAreViewsAreInTheNextOnes)
{
    const LayeredTraining training({ .backwards = 2 });
    const std::string parameters = "+400 +40 +400 +40 +200 ";
    const std::string first
        = "+64 +100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 ";
    const std::string second
        = "+100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 +8 -8 -64 ";
    EXPECT_EQ(training.with("ddp=8,gradient_as_bucket_view=True"),
        parameters + "+1080 -1080 +1080 " + first + "+1080 -1080 " + second + first + second + first + second
            + first + second);
    // Else nothing of the first one is needed any more.
    EXPECT_NE(training.with("ddp=8").find("-100 -1080 +1080 +100"), std::string::npos)
        << training.with("ddp=8");
}

TEST(DataParallel, LetsGoOfGradientsThatArePartsOfBuckets)
{
    const char* const views = "ddp=8,gradient_as_bucket_view=True";
    const std::string begin = "+400 +40 +400 +40 +200 +1080 -1080 +1080 +64 +100 +101 +20 ";
    // Where AccumulateGrad copies them: the copy.
    const LayeredTraining copying({ .copies = true });
    EXPECT_TRUE(copying.with(views).starts_with(
        begin + "+200 -20 +200 -200 -200 +400 +40 -101 +400 -400 -400 +40 -40 -40 "))
        << copying.with(views);
    // Where steps keep them: once for all.
    const LayeredTraining keeping({ .keeps = true });
    EXPECT_TRUE(keeping.with(views).starts_with(begin + "+200 -20 -200 ")) << keeping.with(views);
    const LayeredTraining strange({ .showsCalls = false });
    EXPECT_NE(strange.refusal(views).find("torch.compile"), std::string::npos) << strange.refusal(views);
    EXPECT_TRUE(strange.refusal("ddp=8").empty());
}

TEST(DataParallel, HasBucketsOfEachType)
{
    // Weights and biases; each first bucket goes when the new one of its type is there.
    const LayeredTraining training({ .backwards = 2, .isMixed = true });
    const std::string text = training.with("ddp=8,gradient_as_bucket_view=True");
    EXPECT_NE(text.find("+140 +800 "), std::string::npos) << text;
    EXPECT_NE(text.find("-40 +140 -140 +800 -800 +100 "), std::string::npos) << text;
}

TEST(FullySharded, GathersAndReducesUnitByUnit)
{
    const LayeredTraining training({});
    const std::string shards = "+120 +12 -400 -40 +120 +12 -400 -40 +52 -200 ";
    const std::string forward = "+64 +208@1 +208 " // the model's own, which are there until backward is done
                                "+528@1 -208@1 +480 +48 +100 -480 -48 "
                                "+528@1 -528@1 +480 +48 +101 -480 -48 +20 -528@1 ";
    const std::string backward = "+528@1 +200 -20 " // of the second layer, ahead
                                 "+480 +48 -528@1 +528@1 +400 +40 -101 -480 -48 +528 -400 -40 +132@2 "
                                 "+480 +48 -528@1 +400 +40 -100 ";
    // The first layer takes what needs no gradient: it is done with all.
    const std::string end = "-480 -48 -528 +528 -400 -40 +132@2 -208 -528 +208 -200 +52@2 -208 +8 -8 ";
    const std::string zeroed = "-132@2 -132@2 -52@2 -64 ";
    const std::string step = forward + backward + end + zeroed;
    EXPECT_EQ(training.with("fsdp=4,modules=Layer"),
        "+400 +40 +400 +40 +200 " + shards + step + step + step + step);
}

TEST(FullySharded, KeepsParametersWhereItDoesNotReshard)
{
    const LayeredTraining training({});
    const std::string text = training.with("fsdp=4,modules=Layer,reshard_after_forward=False");
    EXPECT_NE(
        text.find(
            "+480 +48 +100 +528@1 -528@1 +480 +48 +101 +20 -528@1 +200 -20 +400 +40 -101 -480 -48 +528"),
        std::string::npos)
        << text;
}

TEST(FullySharded, BringsItsPartsFromTheHost)
{
    const LayeredTraining training({});
    const std::string text = training.with("fsdp=4,modules=Layer,offload=True");
    const std::string shards
        = "+400 +40 +400 +40 +200 +120 -120 +12 -12 -400 -40 +120 -120 +12 -12 -400 -40 +52 -52 -200 ";
    const std::string forward
        = "+64 +52@1 +208@1 -52@1 +208 +120@1 +12@1 +528@1 -120@1 -12@1 -208@1 +480 +48 +100 ";
    EXPECT_TRUE(text.starts_with(shards + forward)) << text;
    EXPECT_NE(text.find("+528 -400 -40 +132@2 -132@2 "), std::string::npos) << text;
    EXPECT_NE(text.find("+208 -200 +52@2 -52@2 "), std::string::npos) << text;
    EXPECT_NE(training.refusal("fsdp=1,offload=True").find("one rank alone"), std::string::npos);
}

TEST(FullySharded, OfOneRankGathersNothing)
{
    const LayeredTraining training({});
    EXPECT_EQ(training.with("fsdp=1").find('@'), training.with("fsdp=1").find("@2"));
    // The states of an optimizer over all of it are those that were recorded.
    const Prediction alone = training.predicted({ "zero1=1", "optimizer=adamw" });
    const Prediction spread = training.predicted({ "ddp=1", "optimizer=adamw" });
    EXPECT_EQ(alone.predicted, spread.predicted);
}

TEST(FullySharded, RefusesByNameWhatTheRecordingDoesNotTell)
{
    const LayeredTraining shallow({ .deep = false });
    EXPECT_NE(shallow.refusal("fsdp=4").find("no deep step"), std::string::npos) << shallow.refusal("fsdp=4");
    const LayeredTraining training({});
    EXPECT_NE(training.refusal("fsdp=4,modules=Block").find("no module"), std::string::npos);
}

TEST(DataParallel, IsNotPutIntoItself)
{
    const LayeredTraining parallel({ .file = "/lib/torch/nn/parallel/distributed.py" });
    EXPECT_NE(parallel.refusal("ddp=4").find("already"), std::string::npos);
    EXPECT_NE(parallel.refusal("fsdp=4").find("already"), std::string::npos);
    EXPECT_EQ(parallel.with("zero1=4"), LayeredTraining::textOf(programRunOf(*parallel.run().trace)));
}

TEST(FullySharded, IsAnEstimateByTheDeepStep)
{
    const LayeredTraining training({});
    const Prediction prediction = training.predicted({ "fsdp=4,modules=Layer" });
    EXPECT_EQ(prediction.evidence, WhatIfEvidence::Deep);
    ASSERT_TRUE(prediction.predicted);
    EXPECT_LE(prediction.least.requestedBytesPeak, prediction.predicted->requestedBytesPeak);
    EXPECT_FALSE(prediction.exact);
    EXPECT_FALSE(prediction.reason.empty());
    EXPECT_FALSE(prediction.uses.empty());
}

} // namespace strata::model
