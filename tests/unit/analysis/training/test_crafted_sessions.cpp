// SPDX-License-Identifier: GPL-3.0-or-later
// The analyses of a training over what any session may say, true or not: steps tile, sums add up.
#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/base/wrap.h"
#include "model/digest/out_of_memory.h"
#include "tests/unit/analysis/training/step_checks.h"
#include "tests/unit/analysis/training/training_script.h"

#include <array>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace strata::model {

namespace {

using test::Told;
using test::TrainingScript;

/// Parts of programs, some of them torn, and allocators that no program asks; beside their events anything.
class Crafted {
public:
    explicit Crafted(std::uint32_t seed)
        : m_random(seed)
    {
    }

    std::unique_ptr<Recording> make()
    {
        auto made = below(3) == 0 ? ofNoProgram() : TrainingScript(script(), told()).recording();
        if (below(2) == 0)
            tellAnything(*made);
        return made;
    }

private:
    std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(m_random() % count); }
    Told told() { return { below(2) == 0, below(2) == 0, below(2) == 0, below(2) == 0, below(2) == 0 }; }

    /// Parts of programs, some of them torn, and letters that no program has in that order.
    std::string script()
    {
        static constexpr std::string_view kLetters = "pxfhlbrqaoskeizcCd!t()[]@&{}#";
        static constexpr std::array<std::string_view, 8> kParts{ "xfffllbbbbb(so)@z", "{xffbb(o)@}z",
            "xffbbxffbb[o]&z", "eeeeee", "pppp", "x(ffbbo)@z", "cccC", "xffbrbk(o)@#" };
        std::string script;
        for (std::uint32_t i = below(40) + 1; i > 0; --i) {
            if (below(4) == 0) {
                script += kLetters[below(static_cast<std::uint32_t>(kLetters.size()))];
                continue;
            }
            std::string_view part = kParts[below(kParts.size())];
            if (below(8) == 0)
                part = part.substr(below(static_cast<std::uint32_t>(part.size())));
            script += part;
        }
        return "p" + script;
    }

    std::unique_ptr<Recording> ofNoProgram()
    {
        test::RandomTrace options;
        options.seed = static_cast<std::uint32_t>(m_random());
        options.events = 1 + below(300);
        options.outOfMemory = below(2) * 0.02;
        options.deferredFrees = below(2) * 0.2;
        options.anomalies = below(3) == 0 ? 0.05 : 0;
        options.times = below(4) != 0;
        return test::randomRecording(options);
    }

    void tellAnything(Recording& recording)
    {
        EventColumns& events = recording.devices.at(0).events;
        const auto count = static_cast<std::uint32_t>(events.size());
        if (events.phase.empty() && below(2) == 0)
            for (std::uint32_t i = 0, until = below(count + 1); i < until; ++i)
                events.phase.push_back(static_cast<EventPhase>(below(7)));
        static constexpr std::array<std::string_view, 6> kNames{ "Optimizer.step#A.step",
            "Optimizer.step#B.step", "Optimizer.zero_grad#A.zero_grad", "ProfilerStep#1", "step 2", "x" };
        for (std::uint32_t i = below(60); i > 0; --i) {
            Annotation row;
            row.kind = static_cast<Annotation::Kind>(below(3));
            row.name = recording.strings.intern(kNames[below(kNames.size())]);
            row.timeNs = events.timeNs.empty() || below(8) == 0 ? static_cast<std::int64_t>(below(1000))
                                                                : events.timeNs[below(count)] + below(3) - 1;
            row.thread = below(3);
            recording.annotations.push_back(row);
        }
        auto& rows = recording.parts.get<RoleListings>().byDevice[recording.devices.at(0).device];
        for (std::uint32_t i = below(40); i > 0; --i) {
            RoleListing row;
            row.event = below(16) == 0 ? std::numeric_limits<EventIndex>::max() : below(count + 2);
            row.kind = static_cast<wire::RoleKind>(below(6));
            row.optimizer = below(3);
            row.address = events.address[below(count)];
            rows.push_back(row);
        }
    }

    std::mt19937 m_random;
};

} // namespace

TEST(CraftedSessions, HaveStepsThatTileThem)
{
    std::array<int, 6> evidences{};
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
        const test::Opened opened(Crafted(seed).make());
        const TrainingSteps steps = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
        test::expectSound(opened.trace(), steps);
        ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
        ++evidences[static_cast<std::size_t>(steps.evidence)];
    }
    for (const int each : evidences)
        EXPECT_GT(each, 3) << "each evidence is tried";
}

TEST(CraftedSessions, HaveLedgersThatAddUp)
{
    std::size_t leaks = 0, spikes = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const test::Opened opened(Crafted(seed).make());
        const DeviceTrace& trace = opened.trace();
        const Clock clock(trace);
        const TrainingSteps steps = findTrainingSteps(trace, clock).value();
        const Categories categories = Categories::of(trace, clock, steps).value();
        for (const EventIndex event : { trace.totals().requestedPeakEvent, trace.eventCount() - 1 }) {
            const std::vector<BlockId> active = activeBlocks(trace, event);
            std::int64_t requested = 0, byCategory = 0, byModule = 0;
            for (const BlockId block : active)
                requested = wrapAdd(requested, trace.blocks().requestedBytes[block]);
            for (const LedgerRow& row : ledgerAt(trace, categories, event, active, nullptr).rows)
                byCategory = wrapAdd(byCategory, row.bytes);
            for (const ModuleRow& row : moduleLedger(trace, categories, active))
                byModule = wrapAdd(byModule, row.own.bytes);
            EXPECT_EQ(byCategory, requested) << "seed " << seed;
            EXPECT_EQ(byModule, requested) << "seed " << seed;
        }
        leaks += findLeaks(trace, steps).value().sites.size();
        spikes += findSpikes(trace, steps).size();
    }
    EXPECT_GT(leaks, 0u);
    EXPECT_GT(spikes, 0u);
}

} // namespace strata::model
