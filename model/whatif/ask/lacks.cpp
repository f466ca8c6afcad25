// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/lacks.h"

#include <utility>

namespace strata::model {

namespace {

Sentence sentenceFor(Lacks lacks)
{
    switch (lacks) {
    case Lacks::Nothing:
        break;
    case Lacks::BatchItems:
        return say("say it with --batch-of, as --batch-of 8, or --batch-of 8,16 with a second recording; "
                   "recorded with --operators, the shapes of a whole training step tell it");
    case Lacks::OtherRecording:
        return say("give a second recording with another batch, --with FILE2 --batch-of B0,B2");
    case Lacks::SequenceLength:
        return say("say it with --sequence-of, one for each recording, as 512,1024");
    case Lacks::OtherLength:
        return say("give a second recording with another length, --with FILE2 --sequence-of L0,L2");
    case Lacks::Capacity:
        return say("say what is to fit, as --capacity 16GiB");
    case Lacks::Confirmation:
        return say("the program itself can: --confirm -- COMMAND runs it so on a simulated card; --confirm "
                   "alone makes the calls of a deep step again");
    case Lacks::Program:
        return say(
            "run the program so: --confirm -- COMMAND, with {BATCH} and {SEQUENCE} where it is told them");
    case Lacks::Calls:
        return say("add --confirm alone, without a command: the calls of a deep step are made again so");
    }
    return {};
}

} // namespace

Hint hintFor(Lacks lacks)
{
    Hint hint = sentenceFor(lacks);
    hint.lacks = lacks;
    if (lacks == Lacks::Confirmation || lacks == Lacks::Program)
        hint.besidesRunning.emplace();
    return hint;
}

Hint hintToRun(Sentence said, Sentence besides)
{
    Hint hint = std::move(said);
    hint.besidesRunning = std::move(besides);
    return hint;
}

Hint hintToConfirm()
{
    return hintToRun(say("run the program itself, with --confirm -- COMMAND"));
}

Hint hintToConfirmOr(Sentence besides)
{
    Sentence said = say("%1; or run the program itself, with --confirm -- COMMAND", besides);
    return hintToRun(std::move(said), std::move(besides));
}

Sentence hintToWriteByHand()
{
    return say(
        "nobody makes that change in a program of C++ from outside: write it there by hand, and record "
        "that");
}

} // namespace strata::model
