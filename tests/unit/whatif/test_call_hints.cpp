// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/calls/call_hints.h"

#include "model/base/words.h"
#include "model/session/simulation.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace strata::model {

namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kKiB = 1024;

/// A deep step, call by call: what each allocates, and what backward allocates and frees.
class Calls {
    using Kind = CallList::Kind;

public:
    std::uint32_t tensor(const Sizes& sizes, const char* type = "float")
    {
        m_types.emplace_back(type);
        CallList::Tensor made;
        made.firstLength = static_cast<std::uint32_t>(m_list.lengths.size());
        made.dimensions = static_cast<std::uint32_t>(sizes.size());
        m_list.lengths.insert(m_list.lengths.end(), sizes.begin(), sizes.end());
        m_list.lengths.insert(
            m_list.lengths.end(), sizes.begin(), sizes.end()); // strides, which do not matter
        m_list.tensors.push_back(made);
        return static_cast<std::uint32_t>(m_list.tensors.size() - 1);
    }

    /// Returns what it returns. `bytes`: of blocks that it allocates, which stay until backward ends.
    std::uint32_t call(const std::string& name, const std::vector<std::uint32_t>& takes, const Sizes& sizes,
        const std::vector<std::int64_t>& bytes = {}, const std::string& detail = "[]",
        const char* type = "float")
    {
        const std::uint32_t made = tensor(sizes, type);
        row(Kind::Call, "aten::" + name, detail, takes, { made });
        for (const std::int64_t each : bytes)
            m_stay.push_back(alloc(each, 'F'));
        return made;
    }

    /// Writes what it returns into a tensor that was there.
    void callInto(const std::string& name, const std::vector<std::uint32_t>& takes, std::uint32_t into)
    {
        row(Kind::Call, "aten::" + name, "[]", takes, { into });
    }

    void part(Kind kind, const std::string& name = {}) { row(kind, name, {}, {}, {}); }

    void loss(std::uint32_t logits, std::uint32_t target, const std::string& smoothing = "0.0")
    {
        call("cross_entropy_loss", { logits, target }, {}, { 64 * kKiB },
            R"(["@","@",null,1,-100,)" + smoothing + "]");
    }

    /// Gradients of those sizes, one after the other; `step`: of backward, that allocates them.
    void backward(const std::vector<std::int64_t>& bytes, const std::string& step = {})
    {
        row(Kind::Backward, {}, {}, {}, {});
        std::vector<int> gradients;
        for (const std::int64_t each : bytes)
            gradients.push_back(alloc(each, 'B',
                step.empty() ? step : " stack=torch::autograd::generated::" + step + "::apply@a.cpp:0"));
        for (const std::vector<int>& blocks : { gradients, m_stay })
            for (const int block : blocks)
                free(block, 'B');
        row(Kind::BackwardEnds, {}, {}, {}, {});
        m_list.endEvent = m_event;
    }

    /// Behind the deep step.
    void anotherStep(std::int64_t bytes)
    {
        m_letters += '|';
        free(alloc(bytes, 'F'), 'F');
    }

    std::vector<CallHint> hints(const char* card = "A100-80GB")
    {
        return ask(card, [](const DeviceTrace& trace) { return callHints(trace, "my run.strata", 0); });
    }
    std::string autocast()
    {
        return ask(
            "A100-80GB", [](const DeviceTrace& trace) { return autocastCommand(trace, "my run.strata"); });
    }

private:
    template <class Ask> std::invoke_result_t<Ask, const DeviceTrace&> ask(const char* card, const Ask& asked)
    {
        test::Trained trained(m_text, m_letters);
        Recording& recording = trained.recording();
        Setting& simulation = recording.settings.emplace_back();
        simulation.key = Simulation::kSetting;
        simulation.json = std::string(R"({"device":")") + card + R"("})";
        const auto text = [&](const std::string& what) {
            return what.empty() ? StringId{} : recording.strings.intern(what);
        };
        for (std::size_t i = 0; i < m_types.size(); ++i)
            m_list.tensors[i].type = text(m_types[i]);
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            m_list.rows[i].name = text(m_names[i].first);
            m_list.rows[i].detail = text(m_names[i].second);
        }
        recording.parts.get<CallLists>().lists.push_back(m_list);
        return asked(trained.trace());
    }
    void row(Kind kind, const std::string& name, const std::string& detail,
        const std::vector<std::uint32_t>& takes, const std::vector<std::uint32_t>& returns)
    {
        CallList::Row& row = m_list.rows.emplace_back();
        row.kind = kind;
        row.event = m_event;
        row.firstRef = static_cast<std::uint32_t>(m_list.refs.size());
        row.takes = static_cast<std::uint32_t>(takes.size());
        row.returns = static_cast<std::uint32_t>(returns.size());
        for (const auto* some : { &takes, &returns })
            for (const std::uint32_t number : *some)
                m_list.refs.push_back(2 * number);
        m_names.emplace_back(name, detail);
    }
    void log(const char* action, int block, char phase, const std::string& stack = {})
    {
        m_text += (m_text.empty() ? "" : "\n") + std::string(action) + " "
            + std::to_string((std::int64_t{ block } + 1) << 32) + " "
            + std::to_string(m_bytes[static_cast<std::size_t>(block)]) + stack;
        m_letters += phase;
        ++m_event;
    }
    int alloc(std::int64_t bytes, char phase, const std::string& stack = {})
    {
        m_bytes.push_back(bytes);
        log("alloc", static_cast<int>(m_bytes.size()) - 1, phase, stack);
        return static_cast<int>(m_bytes.size()) - 1;
    }
    void free(int block, char phase)
    {
        log("free_requested", block, phase);
        log("free_completed", block, phase);
    }

    CallList m_list;
    std::vector<std::string> m_types;
    std::vector<std::pair<std::string, std::string>> m_names;
    std::vector<std::int64_t> m_bytes; // of blocks
    std::vector<int> m_stay;
    std::string m_text, m_letters;
    EventIndex m_event = 0;
};

/// "logits=chunks:8 256", in KiB; one behind the other.
std::string said(Calls& calls, const char* card = "A100-80GB")
{
    std::string text;
    for (const CallHint& hint : calls.hints(card))
        text += (text.empty() ? "" : ", ") + hint.change.text + " " + std::to_string(hint.heldBytes / kKiB);
    return text;
}

/// Hidden states of 16 tokens, a head of 1,024 classes: logits of 64 KiB.
struct Language : Calls {
    std::uint32_t hidden = tensor({ 2, 8, 32 }), weight = tensor({ 1024, 32 }), target = tensor({ 16 });
    std::uint32_t logits() { return call("linear", { hidden, weight }, { 2, 8, 1024 }, { 64 * kKiB }); }
    std::uint32_t flat(std::uint32_t of) { return call("view", { of }, { 16, 1024 }); }
};

/// Queries of 2 heads and 64 tokens: scores of 32 KiB.
struct Attending : Calls {
    explicit Attending(const char* of = "float")
        : type(of)
    {
    }
    const char* type;
    std::uint32_t query = tensor({ 1, 2, 64, 16 }, type), key = tensor({ 1, 2, 16, 64 }, type),
                  value = tensor({ 1, 2, 64, 16 }, type), mask = tensor({ 64, 64 }, "bool");
    const Sizes scores{ 1, 2, 64, 64 };

    std::uint32_t make(const char* name, const std::vector<std::uint32_t>& takes, std::int64_t bytes)
    {
        return call(name, takes, scores, { bytes }, "[]", type);
    }
    void byHand(const char* between)
    {
        const auto first = make("matmul", { query, key }, 32 * kKiB);
        const bool isMask = std::string_view(between).starts_with("masked");
        const auto then
            = make(between, isMask ? std::vector{ first, mask } : std::vector{ first }, 32 * kKiB);
        const auto weights = make("softmax.int", { then }, 32 * kKiB);
        call("matmul", { weights, value }, { 1, 2, 64, 16 }, { 8 * kKiB }, "[]", type);
    }
    void kernel(const std::vector<std::int64_t>& bytes) { kernel(query, value, bytes); }
    void kernel(std::uint32_t of, std::uint32_t keys, const std::vector<std::int64_t>& bytes)
    {
        call("scaled_dot_product_attention", { of, keys, keys }, { 1, 2, 64, 16 }, bytes,
            R"(["@","@","@",null,0.0,false,null,false])", type);
    }
    /// Of 64 tokens and 2 heads; keys may have fewer.
    void kernelOf(std::int64_t width, const std::vector<std::int64_t>& bytes, std::int64_t heads = 2)
    {
        kernel(tensor({ 1, 2, 64, width }, type), tensor({ 1, heads, 64, width }, type), bytes);
    }
};

} // namespace

TEST(CallHints, LogitsAndTheirLossAreNamedWithTheirBytes)
{
    Language program;
    program.loss(program.flat(program.logits()), program.target);
    program.backward({ 64 * kKiB, 16 * kKiB });
    const auto hints = program.hints();
    ASSERT_EQ(hints.size(), 1u);
    EXPECT_EQ(hints[0].heldBytes, 192 * kKiB) << "the logits, what their loss keeps, and their gradient";
    EXPECT_EQ(hints[0].sentence().text(),
        "The logits and their loss hold 192 KiB of the peak. How much chunks save is not verified.");
    EXPECT_EQ(hints[0].command,
        "strata whatif 'my run.strata' --device 0 --change logits=chunks:8 --confirm --python PY");
}

TEST(CallHints, CastsSlicesAndBiasesLieBetweenALayerAndItsLoss)
{
    Language program;
    const auto wide = program.call("to.dtype", { program.logits() }, { 2, 8, 1024 }, { 64 * kKiB });
    program.loss(program.call("slice.Tensor", { wide }, { 2, 7, 1024 }), program.target);
    program.backward({});
    EXPECT_EQ(said(program), "logits=chunks:8 192");
    Language inCpp;
    const auto turned = inCpp.call("t", { inCpp.weight }, { 32, 1024 });
    const auto product = inCpp.call("matmul", { inCpp.hidden, turned }, { 2, 8, 1024 }, { 64 * kKiB });
    inCpp.loss(inCpp.call("add_.Tensor", { product, inCpp.tensor({ 1024 }) }, { 2, 8, 1024 }), inCpp.target);
    inCpp.backward({});
    EXPECT_EQ(said(inCpp), "logits=chunks:8 128");
}

TEST(CallHints, NothingIsSaidOfALossThatChunksDoNotCompute)
{
    Language smooth, capped, counted, likely, convolved;
    smooth.loss(smooth.flat(smooth.logits()), smooth.target, "0.1");
    capped.loss(capped.flat(capped.call("tanh", { capped.logits() }, { 2, 8, 1024 })), capped.target);
    const auto logits = counted.logits();
    counted.call("argmax", { logits }, { 2, 8 });
    counted.loss(counted.flat(logits), counted.target);
    likely.loss(likely.flat(likely.logits()), likely.tensor({ 16, 1024 }));
    convolved.loss(
        convolved.call("conv2d", { convolved.hidden, convolved.weight }, { 16, 1024 }, { 64 * kKiB }),
        convolved.target);
    for (Language* const program : { &smooth, &capped, &counted, &likely, &convolved }) {
        program->backward({ 64 * kKiB });
        EXPECT_EQ(said(*program), "");
    }
}

TEST(CallHints, NothingIsSaidWhereAnotherStepNeedsMore)
{
    Language program;
    program.loss(program.flat(program.logits()), program.target);
    program.backward({});
    program.anotherStep(1024 * kKiB);
    EXPECT_EQ(said(program), "");
    Language few;
    few.loss(few.flat(few.logits()), few.target);
    few.call("relu", { few.hidden }, { 2, 8, 32 }, { 10'000 * kKiB });
    few.backward({});
    EXPECT_EQ(said(few), "") << "they hold less than a twentieth";
}

TEST(CallHints, ScoresOfAttentionByHandAreNamedWithTheirBytes)
{
    Attending plain("c10::BFloat16");
    plain.byHand("mul.Tensor");
    plain.backward({ 32 * kKiB, 8 * kKiB });
    EXPECT_EQ(said(plain), "attention=flash 128") << "three blocks of scores, and a gradient";
    EXPECT_EQ(plain.hints()[0].sentence().text(),
        "The scores of attention hold 128 KiB of the peak. How much another kernel saves is not verified.");
    Attending older("c10::Half"), wide, masked("c10::Half"), strange;
    older.byHand("mul.Tensor");
    older.backward({});
    EXPECT_EQ(said(older, "T4-16GB"), "attention=efficient 96") << "flash attention needs another card";
    wide.byHand("div.Tensor");
    wide.backward({});
    EXPECT_EQ(said(wide), "attention=efficient 96") << "flash attention takes 16 bits";
    masked.byHand("masked_fill.Scalar");
    masked.backward({});
    EXPECT_EQ(said(masked), "attention=efficient 96") << "flash attention takes no mask";
    strange.byHand("tanh");
    strange.backward({});
    EXPECT_EQ(said(strange), "");
}

TEST(CallHints, ASoftmaxThatIsNoAttentionIsLeftAlone)
{
    Attending program;
    const auto weights = program.make("softmax.int", { program.mask }, 32 * kKiB);
    program.call("topk", { weights }, { 64, 2 }, { kKiB });
    program.backward({});
    EXPECT_EQ(said(program), "");
}

TEST(CallHints, TheMathKernelIsKnownByItsScores)
{
    Attending math, efficient, masked;
    math.kernel({ 8 * kKiB, 32 * kKiB, 32 * kKiB, 8 * kKiB });
    efficient.kernel({ 8 * kKiB, 512 });
    masked.kernel({ 32 * kKiB, 8 * kKiB, 512 }); // a mask of that size, made of booleans
    for (Attending* const program : { &math, &efficient, &masked })
        program->backward({});
    EXPECT_EQ(said(math), "attention=efficient 64");
    EXPECT_TRUE(
        math.hints()[0].command.ends_with("--change attention=efficient --confirm -- python train.py"));
    EXPECT_EQ(said(efficient), "");
    EXPECT_EQ(said(masked), "");
}

TEST(CallHints, SizesOfQueriesAndOutputsAreNoScores)
{
    Attending padded("c10::BFloat16"), half("c10::BFloat16"), wide, grouped("c10::Half"), math("c10::Half"),
        unknown("c10::Float8_e4m3fn");
    padded.kernelOf(60, { 16 * kKiB, 16 * kKiB, 16 * kKiB, 16 * kKiB }); // to 64, as scores of 16 bits
    half.kernelOf(32, { 16 * kKiB, 16 * kKiB, 16 * kKiB }); // in 32 bits
    wide.kernelOf(32, { 16 * kKiB, 16 * kKiB, 16 * kKiB });
    grouped.kernelOf(64, { 16 * kKiB, 16 * kKiB }, 1); // keys and values for each head
    math.kernelOf(32, { 16 * kKiB, 16 * kKiB, 32 * kKiB, 32 * kKiB, 16 * kKiB });
    unknown.kernelOf(16, { 16 * kKiB, 16 * kKiB });
    for (Attending* const program : { &padded, &half, &wide, &grouped, &math, &unknown })
        program->backward({ 16 * kKiB, 16 * kKiB });
    EXPECT_EQ(said(padded), "");
    EXPECT_EQ(said(half), "");
    EXPECT_EQ(said(wide), "");
    EXPECT_EQ(said(grouped), "");
    EXPECT_EQ(said(unknown), "");
    EXPECT_EQ(said(math), "attention=flash 64") << "the scores alone";
}

TEST(CallHints, ScoresOfOneCallAreNotThoseOfAnother)
{
    Attending program;
    program.kernelOf(16, { 32 * kKiB, 32 * kKiB });
    const std::uint32_t longer = program.tensor({ 1, 2, 128, 32 }); // 32 KiB, too
    program.kernel(longer, longer, { 32 * kKiB, 128 * kKiB, 128 * kKiB });
    program.backward({});
    EXPECT_EQ(said(program), "attention=efficient 320");
}

TEST(CallHints, BackwardOfAKernelOfAttentionRulesOutMath)
{
    for (const char* const kernel : { "Flash", "Efficient", "Cudnn" }) {
        Attending program;
        program.kernel({ 32 * kKiB, 32 * kKiB, 8 * kKiB });
        program.backward({ 8 * kKiB }, std::string("ScaledDotProduct") + kernel + "AttentionBackward0");
        EXPECT_EQ(said(program), "") << kernel;
    }
    Attending math;
    math.kernel({ 32 * kKiB, 32 * kKiB, 8 * kKiB });
    math.backward({ 8 * kKiB }, "SafeSoftmaxBackward0");
    EXPECT_EQ(said(math), "attention=efficient 64");
}

TEST(CallHints, TimeGrowsWithTheCallsAlone)
{
    const auto secondsOf = [](int calls) {
        Attending program;
        const std::uint32_t into = program.tensor(program.scores);
        for (int i = 0; i < calls; ++i) {
            const std::uint32_t product
                = program.call("matmul", { program.query, program.key }, program.scores);
            program.callInto("softmax.int_out", { product, into }, into);
        }
        program.backward({ kKiB });
        Language damaged;
        damaged.loss(damaged.flat(damaged.logits()), damaged.target);
        damaged.backward({});
        for (int i = 0; i < calls; ++i)
            damaged.part(CallList::Kind::Backward);
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(said(program), "");
        EXPECT_EQ(said(damaged), "logits=chunks:8 128");
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double few = 1e9, many = 1e9; // the least of some runs: others share the processor
    for (int run = 0; run < 3; ++run) {
        few = std::min(few, secondsOf(5'000));
        many = std::min(many, secondsOf(40'000));
    }
    EXPECT_LT(many, few * 24) << "8 times as many; squared it would be 64";
}

TEST(CallHints, AutocastIsNamedForProgramsWithoutIt)
{
    Language plain, narrow, cast, inCpp;
    for (Language* const program : { &plain, &narrow, &cast })
        program->part(CallList::Kind::Enters, "net");
    cast.part(CallList::Kind::Autocast, "c10::BFloat16");
    narrow.tensor({ 16, 32 }, "c10::BFloat16");
    for (Language* const program : { &plain, &narrow, &cast, &inCpp })
        program->backward({ kKiB });
    EXPECT_EQ(plain.autocast(), "strata whatif 'my run.strata' --change amp=bf16 --confirm --python PY");
    EXPECT_EQ(narrow.autocast(), "");
    EXPECT_EQ(cast.autocast(), "");
    EXPECT_EQ(inCpp.autocast(), "") << "calls tell of no modules";
}

TEST(CallHints, WithoutCallsNothingIsSaid)
{
    test::Trained trained("alloc 0x1000 512", "F");
    EXPECT_TRUE(callHints(trained.trace(), "run.strata", {}).empty());
}

} // namespace strata::model
