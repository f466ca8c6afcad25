// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>
#include <QStringList>

namespace strata::views::text {

namespace {

struct WhatIfSentences {
    Q_DECLARE_TR_FUNCTIONS(WhatIfWords)
};

} // namespace

QString evidence(model::WhatIfEvidence evidence)
{
    switch (evidence) {
    case model::WhatIfEvidence::Replay:
        return WhatIfSentences::tr("replay");
    case model::WhatIfEvidence::Recordings:
        return WhatIfSentences::tr("recordings");
    case model::WhatIfEvidence::Deep:
        return WhatIfSentences::tr("deep step");
    case model::WhatIfEvidence::Roles:
        return WhatIfSentences::tr("roles");
    case model::WhatIfEvidence::Windows:
        return WhatIfSentences::tr("modules and phases");
    case model::WhatIfEvidence::Frames:
        return WhatIfSentences::tr("lines of code");
    case model::WhatIfEvidence::Sizes:
        return WhatIfSentences::tr("sizes");
    }
    return {};
}

QString evidenceMeaning(model::WhatIfEvidence evidence)
{
    switch (evidence) {
    case model::WhatIfEvidence::Replay:
        return WhatIfSentences::tr(
            "the program asks for the same, and PyTorch's allocator is replayed over it");
    case model::WhatIfEvidence::Recordings:
        return WhatIfSentences::tr(
            "recordings of the same program with other batches, or sequences, tell the size of "
            "each block");
    case model::WhatIfEvidence::Deep:
        return WhatIfSentences::tr(
            "one step of the training was seen operator by operator, with what backward keeps");
    case model::WhatIfEvidence::Roles:
        return WhatIfSentences::tr("the program told its parameters, and so what blocks are for");
    case model::WhatIfEvidence::Windows:
        return WhatIfSentences::tr(
            "who keeps a block is guessed by the module that asks for it and by when it goes");
    case model::WhatIfEvidence::Frames:
        return WhatIfSentences::tr("the stack of each block tells which line of the program asks for it");
    case model::WhatIfEvidence::Sizes:
        return WhatIfSentences::tr("what blocks are for is guessed by their sizes and lives");
    }
    return {};
}

QString rule(model::BlockRule rule)
{
    switch (rule) {
    case model::BlockRule::Scaled:
        return WhatIfSentences::tr("hold something for each item: scaled");
    case model::BlockRule::OfTheModel:
        return WhatIfSentences::tr("of the model and its optimizer: as they are");
    case model::BlockRule::Workspace:
        return WhatIfSentences::tr("workspaces of libraries, communication: as they are");
    case model::BlockRule::Scratch:
        return WhatIfSentences::tr("scratch of convolutions: likely scaled");
    case model::BlockRule::OfTheUpdate:
        return WhatIfSentences::tr("made in the optimizer, or outside of steps: as they are");
    case model::BlockRule::SizeOfParameter:
        return WhatIfSentences::tr("as large as a parameter: likely as they are");
    case model::BlockRule::NotWhole:
        return WhatIfSentences::tr("no bytes of whole items: likely as they are");
    case model::BlockRule::Undecided:
        return WhatIfSentences::tr("nothing tells what they are for: likely scaled");
    case model::BlockRule::Linear:
        return WhatIfSentences::tr("recordings tell their size, which goes linearly");
    case model::BlockRule::Squared:
        return WhatIfSentences::tr("go with the square, as recordings tell, or as large as pairs of items");
    case model::BlockRule::Interpolated:
        return WhatIfSentences::tr("do not go linearly: between the nearest two recordings");
    case model::BlockRule::NotAligned:
        return WhatIfSentences::tr("the other recording, or the deep step, has no such block: as they are");
    case model::BlockRule::LetGo:
        return WhatIfSentences::tr(
            "kept for backward, and computed again instead: go when the program lets go of them");
    case model::BlockRule::Held:
        return WhatIfSentences::tr("taken by what is computed again: stay until then");
    case model::BlockRule::Recomputed:
        return WhatIfSentences::tr("once more in backward");
    case model::BlockRule::Kept:
        return WhatIfSentences::tr("kept for backward, which computes nothing again");
    case model::BlockRule::NotAgain:
        return WhatIfSentences::tr("were computed again in backward: not there any more");
    case model::BlockRule::OldOptimizer:
        return WhatIfSentences::tr("of the recorded optimizer: not there any more");
    case model::BlockRule::NewOptimizer:
        return WhatIfSentences::tr("of the other optimizer: put in");
    case model::BlockRule::Communicated:
        return WhatIfSentences::tr("for what ranks send each other: put in");
    case model::BlockRule::Sharded:
        return WhatIfSentences::tr("spread over ranks: the whole goes sooner");
    case model::BlockRule::Offloaded:
        return WhatIfSentences::tr("kept for backward on the host: go when the program lets go of them");
    case model::BlockRule::BroughtBack:
        return WhatIfSentences::tr("what backward takes back from the host: put in");
    case model::BlockRule::Gathered:
        return WhatIfSentences::tr("what lies with gaps, on its way to the host: put in");
    case model::BlockRule::Removed:
        return WhatIfSentences::tr("of a line that is taken out: not asked for");
    case model::BlockRule::Freed:
        return WhatIfSentences::tr("let go of behind their last use");
    case model::BlockRule::Zeroed:
        return WhatIfSentences::tr("gradients: go where zero_grad() stands");
    }
    return {};
}

QString sureness(const model::Prediction& prediction)
{
    const QString by = evidence(prediction.evidence);
    return prediction.exact    ? WhatIfSentences::tr("exact, by %1").arg(by)
        : prediction.predicted ? WhatIfSentences::tr("an estimate, by %1").arg(by)
                               : WhatIfSentences::tr("bounds alone, by %1").arg(by);
}

QString scenario(const model::Scenario& scenario)
{
    QStringList parts;
    for (const model::Change& change : scenario.changes)
        parts << utf8(change.text);
    if (scenario.settings)
        parts << (scenario.settings->empty() ? WhatIfSentences::tr("default settings")
                                             : utf8(*scenario.settings));
    if (scenario.capacityBytes)
        parts << WhatIfSentences::tr("a device of %1").arg(bytes(*scenario.capacityBytes));
    return parts.join(QStringLiteral(", "));
}

} // namespace strata::views::text
