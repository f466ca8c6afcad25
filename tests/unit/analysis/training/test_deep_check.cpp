// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/deep_check.h"

#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace strata::model {

namespace {

/// Steps of a training, each a list of words: "a512" allocates a block of that many bytes, "fa" frees it. A
/// small letter is a block of the step, a capital one of another step. "S:" before: on another stream.
class Steps {
public:
    explicit Steps(std::vector<std::string> steps, wire::RoleKind kind = wire::RoleKind::Stepped)
    {
        std::string text, letters;
        m_ends.push_back(0);
        for (std::size_t number = 0; number < steps.size(); ++number) {
            std::istringstream words(steps[number]);
            EventIndex event = m_ends.back();
            for (std::string word; words >> word;) {
                const bool frees = word.front() == 'f', isAside = word.starts_with("S:");
                const std::string what = word.substr(frees ? 1 : isAside ? 2 : 0);
                const std::uint64_t address = 0x100000
                    + 0x10000 * static_cast<std::uint64_t>(what.front() - 'A')
                    + (what.front() >= 'a' ? 0x4000000 * number : 0);
                const std::string bytes = frees ? m_bytes.at(address) : what.substr(1);
                m_bytes[address] = bytes;
                text += (text.empty() ? "" : "\n") + std::string(frees ? "free_requested " : "alloc ")
                    + std::to_string(address) + " " + bytes + (isAside ? " stream=7" : "");
                letters += 'F';
                ++event;
            }
            m_ends.push_back(event);
        }
        m_trained.emplace(text, letters);
        for (std::size_t number = 0; number < m_ends.size(); ++number)
            m_trained->list(m_ends[number], kind, 0, "AdamW");
    }

    /// Of step `number`, from 0 on.
    DeepCheck check(std::size_t number)
    {
        DeepStep step;
        step.beginEvent = m_ends[number];
        step.endEvent = m_ends[number + 1];
        return check(step);
    }
    DeepCheck check(const DeepStep& step) { return checkDeepStep(m_trained->trace(), step); }
    [[nodiscard]] EventIndex begin(std::size_t number) const { return m_ends[number]; }

private:
    std::vector<EventIndex> m_ends;
    std::map<std::uint64_t, std::string> m_bytes;
    std::optional<test::Trained> m_trained;
};

using L = DeepLikeness;

const std::string kPlain = "a512 b64 fa c100 fb fc";

} // namespace

TEST(DeepCheck, AStepLikeItsNeighboursIsTheSame)
{
    Steps steps({ kPlain, kPlain, kPlain, kPlain });
    for (std::size_t number = 0; number < 4; ++number)
        EXPECT_EQ(steps.check(number).likeness, L::Same) << number;
}

// As of a C++ program.
TEST(DeepCheck, StepsOfOptimizersWhoseTensorsAreNotListedAreSteps)
{
    Steps steps({ kPlain, kPlain, "a512", kPlain }, wire::RoleKind::SteppedUnlisted);
    EXPECT_EQ(steps.check(1).likeness, L::Same);
    EXPECT_EQ(steps.check(2).likeness, L::Differs);
}

TEST(DeepCheck, FreesMayChangePlacesBetweenTheSameTwoAllocations)
{
    EXPECT_EQ(Steps({ kPlain, "a512 b64 fa c100 fc fb", kPlain }).check(1).likeness, L::Same);
    const DeepCheck check = Steps({ kPlain, "a512 b64 c100 fa fb fc", kPlain }).check(1);
    EXPECT_EQ(check.likeness, L::Differs) << "freed behind the next allocation";
    EXPECT_EQ(check.differsAt, 6 + 2);
}

TEST(DeepCheck, OtherSizesStreamsAndNumbersDiffer)
{
    for (const char* const other : { "a512 b65 fa c100 fb fc", "a512 b64 fa S:c100 fb fc",
             "b64 a512 fa c100 fb fc", "a512 b64 fa c100 fb fc d8", "a512 b64 fa c100 fb" }) {
        Steps steps({ kPlain, kPlain, other, kPlain, kPlain });
        EXPECT_EQ(steps.check(2).likeness, L::Differs) << other;
        EXPECT_EQ(steps.check(1).likeness, L::Same) << other << ": the other neighbour is like it";
    }
    Steps shorter({ kPlain, kPlain, "a512", kPlain });
    EXPECT_EQ(shorter.check(2).differsAt, -1) << "nothing of it is what the others have not";
    EXPECT_EQ(
        Steps({ kPlain, kPlain, "a512 b64 fa c100 fb fc d8", kPlain, kPlain }).check(2).differsAt, 12 + 6);
}

TEST(DeepCheck, BlocksOfStepsBeforeAreKnownBySize)
{
    Steps steps({ "A512 B64", "fA A512", "fA A512", "fB A512" });
    EXPECT_EQ(steps.check(2).likeness, L::Same);
    EXPECT_EQ(Steps({ "A512 B64", "fA A512", "fB A512", "fA A512" }).check(2).likeness, L::Differs);
}

TEST(DeepCheck, WhereNeighboursDifferItAllocatesAsOften)
{
    EXPECT_EQ(Steps({ "a1 b2 fa", "a3 b4 fa", "a5 b6 fa", "a7 b8 fa" }).check(1).likeness, L::Alike);
    EXPECT_EQ(Steps({ "a1 b2 fa", "a3 b4 c5 fa", "a5 b6 fa", "a7 b8 fa" }).check(1).likeness, L::Differs)
        << "once more than any of them";
}

TEST(DeepCheck, WithoutNeighboursNothingIsKnown)
{
    Steps steps({ kPlain });
    EXPECT_EQ(steps.check(0).likeness, L::Alone);
    Steps more({ kPlain, kPlain, kPlain });
    DeepStep step;
    step.beginEvent = more.begin(1);
    step.endEvent = more.begin(2) - 1;
    EXPECT_EQ(more.check(step).likeness, L::Alone) << "no optimizer ends there";
    step.endEvent = more.begin(3);
    EXPECT_EQ(more.check(step).likeness, L::Alone) << "two steps";
    step.endEvent = EventIndex{ 1 } << 40; // of a damaged file
    EXPECT_EQ(more.check(step).likeness, L::Alone);
}

TEST(DeepCheck, CountsWhatItTells)
{
    using Kind = DeepStep::Kind;
    DeepStep step;
    for (const Kind kind : { Kind::Enters, Kind::Operator, Kind::Operator, Kind::Saved, Kind::Returns,
             Kind::Gone, static_cast<Kind>(99) })
        step.rows.push_back({ .kind = kind });
    const DeepCheck check = Steps({ kPlain, kPlain }).check(step);
    EXPECT_EQ(check.operators, 2);
    EXPECT_EQ(check.saved, 1);
    EXPECT_EQ(check.modules, 1);
}

TEST(DeepCheck, IsUsedWhereItIsLikeOthersAndSaysNothingAgainstIt)
{
    StringTable strings;
    DeepStep step;
    for (const L likeness : { L::Same, L::Alike, L::Differs, L::Alone })
        EXPECT_EQ(isUsable(step, { .likeness = likeness }), likeness == L::Same || likeness == L::Alike);
    EXPECT_EQ(sayDeepCheck(step, { .likeness = L::Differs, .differsAt = 1234 }, strings).text(),
        "it is not to be used: event 1,234 is not what the steps around it do");
    step.unusable = strings.intern("the program runs CUDA graphs");
    EXPECT_FALSE(isUsable(step, { .likeness = L::Same }));
    EXPECT_EQ(sayDeepCheck(step, { .likeness = L::Same }, strings).text(),
        "it is not to be used: the program runs CUDA graphs");
}

} // namespace strata::model
