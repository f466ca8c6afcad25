// SPDX-License-Identifier: GPL-3.0-or-later
// What is found of a session that grows, going on from generation to generation, against the same found of
// each generation from its beginning.
#include "model/analysis/training/ledger/block_modules.h"
#include "model/analysis/training/roles/categories.h"
#include "model/trace/program/roles.h"
#include "tests/support/grow.h"
#include "tests/support/random_recording.h"

#include <gtest/gtest.h>
#include <random>

namespace strata::model {
namespace {

using Kind = wire::RoleKind;

/// Says of random events what they happened in, and lists tensors at addresses that blocks have.
void tellAtRandom(Recording& recording, std::mt19937& random)
{
    EventColumns& events = recording.devices.front().events;
    const std::int64_t count = events.size();
    constexpr EventPhase kPhases[]{ EventPhase::Grad, EventPhase::Grad, EventPhase::Backward,
        EventPhase::NoGrad, EventPhase::BackwardGrad, EventPhase::Unknown };
    std::size_t phase = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (random() % 20 == 0)
            phase = random() % std::size(kPhases);
        events.phase.push_back(kPhases[phase]);
    }
    RoleListings::Rows& rows = recording.parts.get<RoleListings>().byDevice[recording.devices.front().device];
    EventIndex event = 0;
    const std::uint32_t apart = 1 + random() % 30;
    while (event <= count) {
        RoleListing row;
        row.event = event;
        row.kind = random() % 4 == 0 ? Kind::Stepped : static_cast<Kind>(random() % 5);
        row.optimizer = random() % 2;
        if (row.kind != Kind::Stepped) {
            row.name = recording.strings.intern("m" + std::to_string(random() % 4) + ".weight");
            // Of a block of before or behind it, anywhere in it, or of none.
            const auto of = static_cast<std::size_t>(random() % static_cast<std::uint32_t>(count));
            row.address = random() % 10 == 0 ? 0 : events.address[of] + 256 * (random() % 3);
        }
        rows.push_back(row);
        event += random() % apart;
    }
}

struct FoundTraining {
    std::shared_ptr<const Session> session;
    const DeviceTrace* trace = nullptr;
    Categories categories;
};

FoundTraining look(const std::shared_ptr<const Session>& session, const FoundTraining* earlier)
{
    const DeviceTrace& trace = session->devices().front();
    const Clock clock(trace);
    CategoryOptions options;
    if (earlier != nullptr) {
        options.earlier = &earlier->categories;
        options.earlierTrace = earlier->trace;
    }
    const TrainingSteps steps = findTrainingSteps(trace, clock).value();
    return { session, &trace, Categories::of(trace, clock, steps, options).value() };
}

void expectSame(const FoundTraining& is, const FoundTraining& expected)
{
    const ListedTensors &a = is.categories.tensors(), &b = expected.categories.tensors();
    ASSERT_TRUE(std::ranges::equal(a.all(), b.all()));
    ASSERT_EQ(a.lastStepped(), b.lastStepped());
    for (std::size_t kind = 0; kind < wire::kRoleKinds; ++kind)
        ASSERT_EQ(a.has(static_cast<Kind>(kind)), b.has(static_cast<Kind>(kind)));
    for (const BlockId block : is.trace->blocks().all())
        ASSERT_EQ(is.categories.of(block), expected.categories.of(block)) << block.value;
}

/// How many generations went on from the one before.
int growInPieces(const Recording& whole, std::uint32_t seed)
{
    std::mt19937 random(seed);
    test::Feeder feeder(whole);
    feeder.addBase(0);
    std::optional<FoundTraining> found;
    int wentOn = 0;
    const std::int64_t late = random() % 3 == 0 ? random() % 40 : 0;
    for (bool more = true; more;) {
        more = !feeder.done(0);
        if (!more)
            feeder.addEnd(0);
        feeder.addEvents(0, random() % 100, late);
        const auto session = feeder.append();
        FoundTraining next = look(session, found ? &*found : nullptr);
        expectSame(next, look(session, nullptr));
        if (testing::Test::HasFatalFailure())
            return wentOn;
        wentOn += next.categories.tensors().begun() > 0;
        found.emplace(std::move(next));
    }
    return wentOn;
}

} // namespace

TEST(GrowingTraining, FindsTheSameAsFromTheBeginning)
{
    int wentOn = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        auto recording = test::randomRecording({ .seed = seed,
            .events = 400 + 100 * (seed % 4),
            .liveBlocks = seed % 3 == 0 ? 15 : 50,
            .streams = 1 + static_cast<int>(seed % 3),
            .before = seed % 4 == 0 ? 0.0 : 0.5,
            .deferredFrees = seed % 3 == 1 ? 0.3 : 0.0,
            .outOfMemory = 0.005,
            .anomalies = seed % 5 == 1 ? 0.03 : 0.0 });
        if (seed % 2 == 0)
            recording = test::withBase(std::move(recording));
        tellAtRandom(*recording, random);
        wentOn += growInPieces(*recording, seed);
        if (HasFatalFailure())
            return;
    }
    EXPECT_GT(wentOn, 100) << "most begin anew: nothing was tested";
}

} // namespace strata::model
