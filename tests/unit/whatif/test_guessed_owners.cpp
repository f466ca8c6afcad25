// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/guessed_owners.h"

#include "model/whatif/answer/answer_bounds.h"
#include "model/whatif/kinds/checkpoints.h"
#include "tests/unit/analysis/training/trained.h"
#include "tests/unit/whatif/curve_of.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace strata::model {

namespace {

using test::curveOf;

/// A training of layers that each keep one block for backward, with the module that each alloc is of, and the
/// same with checkpoints around its layers, done and not predicted:
///
///     layer(x): [saves x]  a = alloc  [saves a]  y = alloc, a let go
struct Layers {
    struct Options {
        std::uint64_t seed = 1;
        int layers = 3;
        bool checkpointed = false, tellsModules = true, tellsSteps = true;
        bool callsTheFirstAgain = false; ///< before the backward
        bool twoGpus = false; ///< the second does nothing
    };

    explicit Layers(const Options& options)
        : m_options(options)
    {
        std::mt19937_64 random(options.seed);
        for (int i = 0; i <= 2 * options.layers + 1; ++i)
            m_sizes.push_back(static_cast<std::int64_t>(512 * (1 + random() % 64)));
        for (int i = 0; i < 5; ++i)
            step();
        trained = std::make_unique<test::Trained>(m_text, m_letters);
        Recording& recording = trained->recording();
        if (options.twoGpus)
            recording.devices.emplace_back().device = 1;
        for (int i = 0; i < options.layers; ++i)
            static_cast<void>(
                recording.internModule(recording.strings.intern("h." + std::to_string(i) + ".fc")));
        if (options.tellsModules)
            for (const ModuleIndex module : m_modules)
                recording.devices.at(0).events.module.push_back(module);
        if (options.tellsSteps)
            for (const EventIndex end : m_ends)
                trained->list(end, wire::RoleKind::Stepped, 0, "SGD");
    }

    std::unique_ptr<test::Trained> trained;

private:
    void log(char phase, const char* action, std::int64_t address, std::int64_t bytes, ModuleIndex module)
    {
        m_text += (m_text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(address) + " "
            + std::to_string(bytes);
        m_letters += phase;
        m_modules.push_back(module);
        ++m_event;
    }
    std::int64_t alloc(char phase, std::size_t size, ModuleIndex module = kNoIndex)
    {
        const std::int64_t address = m_next;
        m_next += std::int64_t{ 1 } << 20;
        m_bytes[address] = m_sizes[size];
        log(phase, "alloc", address, m_sizes[size], module);
        return address;
    }
    void free(char phase, std::int64_t address)
    {
        log(phase, "free_requested", address, m_bytes[address], kNoIndex);
        log(phase, "free_completed", address, m_bytes[address], kNoIndex);
    }

    void step()
    {
        std::vector<std::int64_t> inputs{ alloc('F', m_sizes.size() - 1) }, kept;
        const auto hiddenOf = [](int i) { return 2 * static_cast<std::size_t>(i); };
        for (int i = 0; i < m_options.layers; ++i) {
            const auto module = static_cast<ModuleIndex>(i);
            kept.push_back(alloc('F', hiddenOf(i), module));
            inputs.push_back(alloc('F', hiddenOf(i) + 1, module));
            if (m_options.checkpointed)
                free('F', kept.back());
        }
        if (m_options.callsTheFirstAgain)
            free('F', alloc('F', 0, 0));
        for (int i = m_options.layers - 1; i >= 0; --i) {
            const auto module = static_cast<ModuleIndex>(i);
            const auto at = static_cast<std::size_t>(i);
            const std::int64_t hidden = m_options.checkpointed ? alloc('R', hiddenOf(i), module) : kept[at];
            const std::int64_t first = alloc('B', hiddenOf(i), module);
            free('B', hidden);
            const std::int64_t second = alloc('B', hiddenOf(i) + 1, module);
            free('B', inputs[at]);
            free('B', first);
            free('B', second);
        }
        free('O', inputs.back());
        free('O', alloc('O', 0));
        m_letters += '|';
        m_ends.push_back(m_event);
    }

    Options m_options;
    std::vector<std::int64_t> m_sizes;
    std::string m_text, m_letters;
    std::vector<ModuleIndex> m_modules;
    std::vector<EventIndex> m_ends;
    std::map<std::int64_t, std::int64_t> m_bytes;
    std::int64_t m_next = std::int64_t{ 1 } << 20;
    EventIndex m_event = 0;
};

Result<RunEdits> layerEditsOf(const Layers& made, const char* choice)
{
    return checkpointEdits(made.trained->trace(), made.trained->steps(), { ModuleChoice(choice) });
}

std::string layerRefusal(const Layers& made, const char* choice)
{
    const auto edits = layerEditsOf(made, choice);
    return edits ? "" : edits.error().text();
}

} // namespace

TEST(GuessedOwners, AreThoseOfTheProgramWithCheckpoints)
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Layers::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 6) };
        const Layers plain(options);
        options.checkpointed = true;
        const Layers truth(options);
        for (const char* choice : { "path:h.*", "path:h.?", "path:h.*.fc" }) {
            const auto edits = layerEditsOf(plain, choice);
            ASSERT_TRUE(edits) << edits.error().text();
            EXPECT_TRUE(edits->isGuessed);
            const ProgramRun run = programRunOf(plain.trained->trace());
            EXPECT_EQ(curveOf(edited(run, *edits)), curveOf(programRunOf(truth.trained->trace())))
                << "seed " << seed;
            EXPECT_NE(curveOf(run), curveOf(programRunOf(truth.trained->trace())))
                << "no change is no answer";
        }
    }
}

TEST(GuessedOwners, OfSomeModulesLeaveTheOthers)
{
    const Layers plain({ .layers = 4 });
    const auto some = layerEditsOf(plain, "path:h.1"), all = layerEditsOf(plain, "path:h.*");
    ASSERT_TRUE(some && all);
    EXPECT_EQ(some->copies.size() * 4, all->copies.size());
}

TEST(GuessedOwners, AreNotClearOfModulesThatAreCalledAgain)
{
    const Layers again({ .callsTheFirstAgain = true });
    const auto first = layerEditsOf(again, "path:h.0"), other = layerEditsOf(again, "path:h.1");
    ASSERT_TRUE(first && other);
    EXPECT_TRUE(first->isUnclear);
    EXPECT_FALSE(other->isUnclear);
}

/// Of these no step is seen deeply, whatever it is recorded with.
TEST(GuessedOwners, OfSeveralGpusNeverAskForADeepStep)
{
    const Layers two({ .twoGpus = true });
    for (const char* const choice : { "Layer", "path:g.*" }) {
        const std::string why = layerRefusal(two, choice);
        EXPECT_EQ(why.find("--deep-step"), std::string::npos) << why;
        EXPECT_NE(why.find("--confirm -- COMMAND, or strata dryrun --devices 2 --change"), std::string::npos)
            << why;
    }
    for (const bool again : { false, true }) {
        const Layers layers({ .callsTheFirstAgain = again, .twoGpus = true });
        const auto edits = layerEditsOf(layers, "path:h.0");
        ASSERT_TRUE(edits) << edits.error().text();
        Prediction answer;
        weighCheckpoints(answer, *edits, false);
        const std::string reason = answer.reason.said().text();
        EXPECT_EQ(reason.find("--deep-step"), std::string::npos) << reason;
        EXPECT_NE(
            reason.find("--confirm -- COMMAND, or strata dryrun --devices 2 --change"), std::string::npos)
            << reason;
    }
}

TEST(GuessedOwners, RefuseByNameWhatNothingTells)
{
    EXPECT_NE(layerRefusal(Layers({ .tellsSteps = false }), "path:h.*").find("no optimizer has told"),
        std::string::npos);
    EXPECT_NE(layerRefusal(Layers({ .tellsModules = false }), "path:h.*").find("nothing tells which modules"),
        std::string::npos);
    EXPECT_NE(layerRefusal(Layers({}), "path:g.*").find("no module of that path"), std::string::npos);
    EXPECT_NE(layerRefusal(Layers({ .tellsSteps = false }), "path:h.*").find("has no deep step"),
        std::string::npos);
    const Layers both({}); // a class among paths is not left out
    const auto mixed = checkpointEdits(
        both.trained->trace(), both.trained->steps(), { ModuleChoice("Layer"), ModuleChoice("path:h.*") });
    ASSERT_FALSE(mixed);
    EXPECT_NE(mixed.error().text().find("has no deep step"), std::string::npos);
    EXPECT_NE(layerRefusal(Layers({}), "Layer").find("no deep step"), std::string::npos);
    EXPECT_NE(layerRefusal(Layers({ .checkpointed = true }), "path:h.*").find("checkpointed already"),
        std::string::npos);
}

} // namespace strata::model
