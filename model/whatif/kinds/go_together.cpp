// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/go_together.h"

#include "model/whatif/ask/lacks.h"

#include <utility>

namespace strata::model {

namespace {

/// What a change does that nothing tells beside another one that does `other`.
struct Apart {
    Does one, other;
    Error::Kind kind;
    Sentence (*what)(const Change& one, const Change& other);
    Hint (*toDo)(const Change& one, const Change& other);
};

constexpr Does kCheckpoints = Does::Checkpoints | Does::TakesCheckpointsAway;
constexpr Does kOnHost = Does::SavesOnHost | Does::HasOptimizerOnHost;

Hint theOneOrTheOther(const Change&, const Change&)
{
    return say("ask for the one, or for the other");
}

Sentence gradientsGoNowhere(const Change& one, const Change& other)
{
    return say("nothing tells where gradients go with both: --change '%1' and '%2' do not go together",
        other.text, one.text);
}

constexpr Apart kApart[] = {
    { Does::Sequence, Does::Batch, Error::Kind::Refused,
        [](const Change&, const Change&) {
            return say("recordings tell sizes of another batch, or of other sequences, not of both at once");
        },
        [](const Change&, const Change&) { return hintFor(Lacks::Program); } },
    { Does::TakesCheckpointsAway, Does::Checkpoints, Error::Kind::Usage,
        [](const Change&, const Change&) {
            return say("checkpoints cannot be taken away and put elsewhere at once");
        },
        theOneOrTheOther },
    { Does::HasOptimizerOnHost, Does::SharesOptimizer, Error::Kind::Refused,
        [](const Change& one, const Change& other) {
            return say("nothing tells what ranks that share an optimizer on the host do: --change '%1' "
                       "and '%2' do not go together",
                one.text, other.text);
        },
        [](const Change&, const Change& other) -> Hint {
            return other.does(Does::SharesParameters)
                ? say("FSDP2 has that itself: %1,offload=True", other.text)
                : say("ask for the one, or for the other");
        } },
    { Does::SavesOnHost, Does::Spreads | kCheckpoints, Error::Kind::Refused,
        [](const Change& one, const Change& other) {
            return say("nothing tells what both save for backward on the host: --change '%1' and '%2' do "
                       "not go together",
                one.text, other.text);
        },
        [](const Change&, const Change& other) -> Hint {
            return other.does(Does::Spreads)
                ? say("ask for the one, or for the other")
                : say("ask for the one, or for the other; the program itself can do both: --confirm -- "
                      "COMMAND");
        } },
    { Does::Frees, Does::Spreads | kCheckpoints | Does::Optimizer | Does::Accumulates | kOnHost,
        Error::Kind::Refused,
        [](const Change&, const Change& other) {
            return say(
                "nothing tells when tensors are used last with another change of the program: --change "
                "'%1' and 'free' do not go together",
                other.text);
        },
        theOneOrTheOther },
    { Does::HasMicroSteps, Does::Spreads, Error::Kind::Refused,
        [](const Change&, const Change& other) {
            return say(
                "nothing tells what ranks send each other in micro-steps: --change '%1' and '%2' do not go "
                "together",
                other.text, "accumulate");
        },
        theOneOrTheOther },
    { Does::StepsInBackward, Does::Spreads | Does::HasMicroSteps | Does::PlacesZeroGrad, Error::Kind::Refused,
        gradientsGoNowhere, theOneOrTheOther },
    { Does::PlacesZeroGrad, Does::Spreads | Does::HasMicroSteps, Error::Kind::Refused, gradientsGoNowhere,
        theOneOrTheOther },
};

} // namespace

Result<void> goTogether(const Scenario& scenario)
{
    for (const Apart& apart : kApart) {
        const Change* const one = firstThatDoes(scenario.changes, apart.one);
        const Change* const other = one != nullptr ? firstThatDoes(scenario.changes, apart.other) : nullptr;
        if (other != nullptr)
            return fail(apart.kind, apart.what(*one, *other), apart.toDo(*one, *other));
    }
    return {};
}

} // namespace strata::model
