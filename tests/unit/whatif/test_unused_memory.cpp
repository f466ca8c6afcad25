// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/deep/unused_memory.h"

#include "model/base/words.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace strata::model {

namespace {

using test::Trained;

constexpr std::int64_t kMiB = 1 << 20;
constexpr const char* kMain = "|main@/p/train.py:1";

/// Blocks that are there before the steps, and three steps of a training, which each make a batch of 8 MiB
/// and work with it. The second is the deep one.
class Training {
    using Kind = DeepStep::Kind;

public:
    /// Before the steps; its number.
    int block(std::int64_t bytes, const std::string& stack, char phase = 'S')
    {
        m_before.push_back({ bytes, stack + kMain, phase });
        return static_cast<int>(m_before.size()) - 1;
    }
    /// In each step; it stays.
    int each(std::int64_t bytes, const std::string& stack)
    {
        m_each.push_back({ bytes, stack + kMain, 'F' });
        return static_cast<int>(m_each.size()) - 1;
    }
    /// An operator of the deep step takes so many floats of the block.
    void use(int block, std::uint64_t elements, std::uint64_t offset = 0)
    {
        m_uses.push_back({ block, elements, offset });
    }
    /// Each step saves a block for backward that this stack makes.
    void saveBy(const std::string& stack) { m_saves.push_back(stack + kMain); }
    void list(wire::RoleKind kind, int block) { m_listed.emplace_back(kind, block); }
    void makeGraphPool() { m_hasGraphPool = true; }
    /// It goes behind the steps.
    void free(int block) { m_freed.insert(block); }

    std::vector<UnusedLine> unused()
    {
        for (std::size_t i = 0; i < m_before.size(); ++i)
            log("alloc", addressOf(i), m_before[i].bytes, m_before[i].stack, m_before[i].phase);
        std::vector<EventIndex> ends;
        for (int step = 0; step < 3; ++step) {
            m_isDeep = step == 1;
            if (m_isDeep)
                m_deep.beginEvent = m_event;
            constexpr std::uint64_t kBatch = 0x1000;
            log("alloc", kBatch, 8 * kMiB, "draw@/p/data.py:9" + std::string(kMain), 'F');
            row(Kind::Operator, { tensor(kBatch, 2 * kMiB) });
            for (const Use& use : m_uses)
                row(Kind::Operator,
                    { tensor(addressOf(static_cast<std::size_t>(use.block)), use.elements, use.offset) }),
                    row(Kind::Returns, {});
            for (std::size_t i = 0; i < m_each.size(); ++i) {
                const std::uint64_t at = addressOf(1000 + 100 * static_cast<std::size_t>(step) + i);
                log("alloc", at, m_each[i].bytes, m_each[i].stack, 'F');
                const std::uint32_t whole = tensor(at, static_cast<std::uint64_t>(m_each[i].bytes) / 4);
                row(Kind::Returns, { whole });
                row(Kind::Operator, { whole });
            }
            row(Kind::Returns, {});
            constexpr std::uint64_t kSaved = 0xfff'0000'0000;
            for (const std::string& saves : m_saves) {
                log("alloc", kSaved, kMiB, saves, 'F');
                row(Kind::Saved, { tensor(kSaved, 0) }, 0);
                row(Kind::Released, {}, 0);
                free(kSaved, kMiB);
            }
            free(kBatch, 8 * kMiB);
            ends.push_back(m_event);
            if (m_isDeep)
                m_deep.endEvent = m_event;
        }
        m_isDeep = false;
        for (const int block : m_freed)
            free(addressOf(static_cast<std::size_t>(block)), m_before[static_cast<std::size_t>(block)].bytes);
        Trained trained(m_text, m_letters);
        for (const auto& [kind, block] : m_listed)
            trained.list(
                ends.front(), kind, addressOf(static_cast<std::size_t>(block)), "w" + std::to_string(block));
        for (const EventIndex end : ends)
            trained.list(end, wire::RoleKind::Stepped, 0, "SGD");
        for (DeepStep::Tensor& each : m_deep.tensors)
            each.type = trained.recording().strings.intern("float");
        trained.recording().parts.get<DeepSteps>().steps.push_back(m_deep);
        if (m_hasGraphPool)
            trained.recording().pools.push_back({ 1, 0, SegmentKind::Large });
        const auto unused = findUnusedMemory(trained.trace());
        EXPECT_NE(unused.has_value(), m_hasGraphPool);
        return unused.value_or(std::vector<UnusedLine>());
    }

private:
    struct Block {
        std::int64_t bytes;
        std::string stack;
        char phase;
    };
    struct Use {
        int block;
        std::uint64_t elements, offset;
    };

    static std::uint64_t addressOf(std::size_t number) { return (number + 1) << 32; }
    void log(
        const char* action, std::uint64_t address, std::int64_t bytes, const std::string& stack, char phase)
    {
        m_text += (m_text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(address) + " "
            + std::to_string(bytes) + (stack.empty() ? "" : " stack=" + stack);
        m_letters += phase;
        ++m_event;
    }
    void free(std::uint64_t address, std::int64_t bytes)
    {
        log("free_requested", address, bytes, "", 'B');
        log("free_completed", address, bytes, "", 'B');
    }
    std::uint32_t tensor(std::uint64_t address, std::uint64_t elements, std::uint64_t offset = 0)
    {
        m_deep.tensors.push_back({ address, {}, offset, elements });
        return static_cast<std::uint32_t>(m_deep.tensors.size() - 1);
    }
    void row(Kind kind, const std::vector<std::uint32_t>& tensors, std::uint32_t saved = wire::kNone)
    {
        if (!m_isDeep)
            return;
        m_deep.rows.push_back({ kind, 1, m_event, {}, {}, saved,
            static_cast<std::uint32_t>(m_deep.refs.size()), static_cast<std::uint32_t>(tensors.size()) });
        m_deep.refs.insert(m_deep.refs.end(), tensors.begin(), tensors.end());
    }

    std::vector<Block> m_before, m_each;
    std::vector<Use> m_uses;
    std::vector<std::pair<wire::RoleKind, int>> m_listed;
    std::set<int> m_freed;
    std::vector<std::string> m_saves;
    std::string m_text, m_letters;
    DeepStep m_deep;
    EventIndex m_event = 0;
    bool m_isDeep = false, m_hasGraphPool = false;
};

/// "loaded 2 of 4194304 at /p/train.py:3"
std::vector<std::string> textOf(const std::vector<UnusedLine>& lines)
{
    std::vector<std::string> texts;
    for (const UnusedLine& line : lines)
        texts.push_back(std::string(unusedKindWord(line.kind)) + " " + std::to_string(line.blocks) + " of "
            + std::to_string(line.bytes / kMiB) + " MiB at " + line.line);
    return texts;
}
using Texts = std::vector<std::string>;

const std::string kLoad
    = "_load@/v/site-packages/torch/serialization.py:9|load@/v/site-packages/torch/serialization.py:8|f@/p/";

} // namespace

TEST(UnusedMemory, NamesWhatAFileWasLoadedTo)
{
    Training made;
    made.block(2 * kMiB, kLoad + "files.py:3");
    made.block(3 * kMiB, kLoad + "files.py:3");
    const std::vector<UnusedLine> unused = made.unused();
    ASSERT_EQ(textOf(unused), Texts{ "loaded 2 of 5 MiB at /p/files.py:3" });
    EXPECT_EQ(
        sayUnused(unused.front()).text(), "loaded from a file: load it to the CPU, or drop it after use");
}

// The optimizer has states of a file; the weights of that file were copied.
TEST(UnusedMemory, NamesOfAFileInUseThePartWithTheSizesOfParameters)
{
    Training made;
    made.block(2 * kMiB, kLoad + "files.py:3");
    made.block(5 * kMiB, kLoad + "files.py:3");
    made.use(made.block(3 * kMiB, kLoad + "files.py:3"), 3 * kMiB / 4);
    const int weight = made.block(2 * kMiB, "f@/p/model.py:2");
    made.use(weight, 2 * kMiB / 4);
    made.list(wire::RoleKind::Parameter, weight);
    EXPECT_EQ(textOf(made.unused()), Texts{ "loaded 1 of 2 MiB at /p/files.py:3" });
}

// Modules took the tensors of the file themselves, and each step may run others.
TEST(UnusedMemory, LeavesOutFilesWhoseTensorsAreParameters)
{
    Training made;
    made.block(2 * kMiB, kLoad + "files.py:3");
    const int weight = made.block(2 * kMiB, kLoad + "files.py:3");
    made.use(weight, 2 * kMiB / 4);
    made.list(wire::RoleKind::Parameter, weight);
    EXPECT_EQ(textOf(made.unused()), Texts{});
}

TEST(UnusedMemory, NamesCopiesByTheSizesOfParameters)
{
    Training made;
    made.block(2 * kMiB, "f@/p/model.py:7");
    made.block(3 * kMiB, "f@/p/table.py:7");
    const int weight = made.block(2 * kMiB, "f@/p/model.py:2");
    made.use(weight, 2 * kMiB / 4);
    made.list(wire::RoleKind::Parameter, weight);
    EXPECT_EQ(textOf(made.unused()),
        (Texts{ "other 1 of 3 MiB at /p/table.py:7", "like_parameters 1 of 2 MiB at /p/model.py:7" }));
}

// One of them may be used in each step.
TEST(UnusedMemory, LeavesOutLinesOfWhichTheStepUsesSome)
{
    Training made;
    made.use(made.block(4 * kMiB, "f@/p/data.py:4"), kMiB);
    made.block(4 * kMiB, "f@/p/data.py:4");
    EXPECT_EQ(textOf(made.unused()), Texts{});
}

TEST(UnusedMemory, LeavesOutWhatAnOptimizerThatStepsHas)
{
    Training made;
    made.list(wire::RoleKind::OptimizerState, made.block(4 * kMiB, "f@/p/model.py:4"));
    EXPECT_EQ(textOf(made.unused()), Texts{});
}

TEST(UnusedMemory, LeavesOutWhatLibrariesHave)
{
    Training made;
    made.block(4 * kMiB, "getNewWorkspace@CublasHandlePool.cpp:7|f@/p/model.py:4");
    made.block(4 * kMiB, "c10d::Reducer::initialize_buckets@reducer.cpp:7|f@/p/run.py:9");
    made.block(8'519'680, "f@/p/model.py:4", 'F'); // what cuBLAS allocates
    EXPECT_EQ(textOf(made.unused()), Texts{});
}

// A graph uses memory without operators.
TEST(UnusedMemory, IsUnknownWhereCudaGraphsMayRun)
{
    Training made;
    made.block(4 * kMiB, "f@/p/model.py:4");
    made.makeGraphPool();
    EXPECT_EQ(textOf(made.unused()), Texts{});
}

TEST(UnusedMemory, StaysUntilTheLastStep)
{
    Training made;
    made.free(made.block(4 * kMiB, "f@/p/data.py:4"));
    const std::vector<UnusedLine> unused = made.unused();
    ASSERT_EQ(textOf(unused), Texts{ "other 1 of 4 MiB at /p/data.py:4" });
    EXPECT_FALSE(unused.front().staysToEnd);
    EXPECT_EQ(sayUnused(unused.front()).text(), "keep it on the CPU until it is used, or drop it");
}

TEST(UnusedMemory, NamesBasesOfViews)
{
    Training made;
    const int base = made.block(64 * kMiB, "f@/p/data.py:4");
    made.use(base, kMiB / 4);
    made.use(base, kMiB / 4); // the same part
    const std::vector<UnusedLine> unused = made.unused();
    ASSERT_EQ(textOf(unused), Texts{ "view 1 of 64 MiB at /p/data.py:4" });
    EXPECT_EQ(unused.front().usedBytes, kMiB);
    EXPECT_EQ(sayUnused(unused.front()).text(),
        "the step uses at most 1.00 MiB of it: if other steps use no more, keep a .clone() of that part");
}

TEST(UnusedMemory, NamesNoBaseOfWhichTheStepUsesMuch)
{
    for (const int parts : { 1, 2, 3 }) {
        Training made;
        const int base = made.block(64 * kMiB, "f@/p/data.py:4");
        if (parts == 1)
            made.use(base, 16 * kMiB);
        for (std::uint64_t i = 0; parts == 2 && i < 32; ++i)
            made.use(base, kMiB / 2, i * kMiB / 2);
        if (parts == 3)
            made.use(base, 0); // an earlier recording
        EXPECT_EQ(textOf(made.unused()), Texts{}) << parts;
    }
}

// Of what each step keeps, the deep one tells the kind. The last step's batch is the peak.
TEST(UnusedMemory, OfWhatEachStepKeepsIsThatOfStepsBefore)
{
    Training whole;
    whole.each(24 * kMiB, "f@/p/model.py:4");
    EXPECT_EQ(textOf(whole.unused()), Texts{ "other 1 of 24 MiB at /p/model.py:4" });
}

TEST(UnusedMemory, NamesGraphsByCodeThatSavesForBackward)
{
    const std::string call = "|_call_impl@/v/site-packages/torch/nn/modules/module.py:7|f@/p/train.py:";
    const auto made = [&](int layers, char phase, bool saves) {
        Training training;
        for (int layer = 1; layer <= layers; ++layer) {
            const std::string forward = "forward@/p/model.py:" + std::to_string(layer) + call;
            if (saves)
                training.saveBy(forward + "9");
            training.block(8 * kMiB, forward + "5", phase);
        }
        return training.unused();
    };
    const std::vector<UnusedLine> unused = made(2, 'F', true);
    EXPECT_EQ(textOf(unused), Texts{ "graph 2 of 16 MiB at /p/train.py:5" });
    EXPECT_EQ(sayUnused(unused.front()).text(), "probably an output keeps its graph: keep output.detach()");
    for (const auto& none : { made(1, 'F', true), made(2, 'N', true), made(2, 'F', false) })
        for (const UnusedLine& line : none)
            EXPECT_EQ(line.kind, UnusedKind::Other) << "an output alone, or without gradients";
}

} // namespace strata::model
