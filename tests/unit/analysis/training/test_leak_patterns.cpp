// SPDX-License-Identifier: GPL-3.0-or-later
// The advice of leaks, over everything that may be known of a site.
#include "model/analysis/training/leaks/leak_patterns.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

namespace strata::model {

namespace {

struct Case {
    LeakKind kind = LeakKind::Leak;
    LeakShape shape;
    LeakOrigin origin;
    LeakSurroundings around;
};

/// Every origin and surrounding of a leak, and of the other kinds of sites the origins that matter there.
void forEachCase(const std::function<void(const Case&)>& each)
{
    for (std::size_t kind = 0; kind < kLeakKinds; ++kind)
        for (const auto shape : { LeakShape::Kind::Leak, LeakShape::Kind::Grows })
            for (std::size_t phase = 0; phase < kPhases; ++phase)
                for (std::size_t step = 0; step < kStepKinds; ++step)
                    for (unsigned bits = 0; bits < (kind == 0 ? 1u << 12 : 1u << 7); ++bits) {
                        const auto has = [bits](unsigned bit) { return (bits >> bit & 1u) != 0; };
                        Case of;
                        of.kind = static_cast<LeakKind>(kind);
                        of.shape.kind = shape;
                        of.origin = { .phase = static_cast<Phase>(phase),
                            .step = static_cast<StepKind>(step),
                            .isRecorded = has(0),
                            .inOptimizer = has(1),
                            .inHook = has(2),
                            .inModule = has(3),
                            .freshStreams = has(4),
                            .gradientsOff = has(5),
                            .firstOfStep = has(6) };
                        of.around = { .steps = 30,
                            .forwardLeaks = has(7) ? 3.0 : 1.0,
                            .framesKnown = has(8),
                            .someSteps = has(9) };
                        of.origin.inBackwardHook = has(10);
                        of.origin.makesWeights = has(11);
                        each(of);
                    }
}

bool isLeak(const Case& of)
{
    return of.kind == LeakKind::Leak && of.shape.kind != LeakShape::Kind::Grows;
}

/// What must be known before a piece of advice is shown.
const std::map<std::string, std::function<bool(const Case&)>> kGuards{
    { "make streams once", [](const Case& of) { return of.origin.freshStreams; } },
    { "make the optimizer and its parameters once",
        [](const Case& of) { return isLeak(of) && of.origin.inOptimizer; } },
    { "have the hook keep numbers",
        [](const Case& of) { return isLeak(of) && (of.origin.inHook || of.origin.inBackwardHook); } },
    { "make modules once", [](const Case& of) { return isLeak(of) && of.origin.makesWeights; } },
    { "no_grad()", [](const Case& of) { return isLeak(of) && !of.origin.gradientsOff; } },
    { "keep .item() or .cpu() of them",
        [](const Case& of) {
            return isLeak(of) && (of.origin.step == StepKind::Eval || of.origin.step == StepKind::Forward);
        } },
    { "keep loss.item()",
        [](const Case& of) {
            return isLeak(of) && of.origin.phase == Phase::Forward && of.around.forwardLeaks >= 3;
        } },
    { "set .grad to None",
        [](const Case& of) {
            return isLeak(of) && (of.origin.phase == Phase::Backward || of.origin.phase == Phase::Recompute);
        } },
    { "keep them on the CPU, or as many", [](const Case& of) { return of.origin.firstOfStep; } },
    { "reserve it once at its full size",
        [](const Case& of) { return of.kind == LeakKind::Leak && of.shape.kind == LeakShape::Kind::Grows; } },
    { "record more steps", [](const Case& of) { return of.kind == LeakKind::Undecided; } },
    { "let that stream catch up", [](const Case& of) { return of.kind == LeakKind::PendingStream; } },
    { "gc.collect()", [](const Case& of) { return of.kind == LeakKind::FreedLate; } },
    { "strata fragmentation",
        [](const Case& of) { return of.kind == LeakKind::ReservedOnly && !of.origin.freshStreams; } },
};

} // namespace

TEST(LeakPatterns, AdviceNeedsItsEvidence)
{
    std::map<std::string, int> given;
    forEachCase([&](const Case& of) {
        LeakSite site;
        site.kind = of.kind;
        describe(site, of.shape, of.origin, of.around);
        const std::string change = site.change.text();
        for (const auto& [advice, guard] : kGuards)
            if (change.find(advice) != std::string::npos) {
                ++given[advice];
                ASSERT_TRUE(guard(of)) << change;
            }
    });
    EXPECT_EQ(given.size(), kGuards.size()); // each is given somewhere
}

TEST(LeakPatterns, SitesThatAreNoLeakHaveNothingToChange)
{
    forEachCase([](const Case& of) {
        if (of.kind != LeakKind::Saturating && of.kind != LeakKind::OptimizerState
            && of.kind != LeakKind::LongerInputs)
            return;
        LeakSite site;
        site.kind = of.kind;
        describe(site, of.shape, of.origin, of.around);
        ASSERT_TRUE(site.change.empty()) << site.change.text();
    });
}

} // namespace strata::model
