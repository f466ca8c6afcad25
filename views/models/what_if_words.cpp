// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/what_if_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>
#include <QStringList>

namespace strata::views::text {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(WhatIfWords)
};

} // namespace

QString evidence(model::WhatIfEvidence evidence)
{
    switch (evidence) {
    case model::WhatIfEvidence::Replay:
        return Words::tr("replay");
    case model::WhatIfEvidence::Recordings:
        return Words::tr("recordings");
    case model::WhatIfEvidence::Deep:
        return Words::tr("deep step");
    case model::WhatIfEvidence::Roles:
        return Words::tr("roles");
    case model::WhatIfEvidence::Windows:
        return Words::tr("modules and phases");
    case model::WhatIfEvidence::Frames:
        return Words::tr("lines of code");
    case model::WhatIfEvidence::Sizes:
        return Words::tr("sizes");
    }
    return {};
}

QString evidenceMeaning(model::WhatIfEvidence evidence)
{
    switch (evidence) {
    case model::WhatIfEvidence::Replay:
        return Words::tr("the program asks for the same, and PyTorch's allocator is replayed over it");
    case model::WhatIfEvidence::Recordings:
        return Words::tr("recordings of the same program with other batches, or sequences, tell the size of "
                         "each block");
    case model::WhatIfEvidence::Deep:
        return Words::tr("one step of the training was seen operator by operator, with what backward keeps");
    case model::WhatIfEvidence::Roles:
        return Words::tr("the program told its parameters, and so what blocks are for");
    case model::WhatIfEvidence::Windows:
        return Words::tr("who keeps a block is guessed by the module that asks for it and by when it goes");
    case model::WhatIfEvidence::Frames:
        return Words::tr("the stack of each block tells which line of the program asks for it");
    case model::WhatIfEvidence::Sizes:
        return Words::tr("what blocks are for is guessed by their sizes and lives");
    }
    return {};
}

QString rule(model::BlockRule rule)
{
    switch (rule) {
    case model::BlockRule::Scaled:
        return Words::tr("hold something for each item: scaled");
    case model::BlockRule::OfTheModel:
        return Words::tr("of the model and its optimizer: as they are");
    case model::BlockRule::Workspace:
        return Words::tr("workspaces of libraries, communication: as they are");
    case model::BlockRule::Scratch:
        return Words::tr("scratch of convolutions: likely scaled");
    case model::BlockRule::OfTheUpdate:
        return Words::tr("made in the optimizer, or outside of steps: as they are");
    case model::BlockRule::SizeOfParameter:
        return Words::tr("as large as a parameter: likely as they are");
    case model::BlockRule::NotWhole:
        return Words::tr("no bytes of whole items: likely as they are");
    case model::BlockRule::Undecided:
        return Words::tr("nothing tells what they are for: likely scaled");
    case model::BlockRule::Linear:
        return Words::tr("recordings tell their size, which goes linearly");
    case model::BlockRule::Squared:
        return Words::tr("go with the square, as recordings tell, or as large as pairs of items");
    case model::BlockRule::Interpolated:
        return Words::tr("do not go linearly: between the nearest two recordings");
    case model::BlockRule::NotAligned:
        return Words::tr("the other recording, or the deep step, has no such block: as they are");
    case model::BlockRule::LetGo:
        return Words::tr(
            "kept for backward, and computed again instead: go when the program lets go of them");
    case model::BlockRule::Held:
        return Words::tr("taken by what is computed again: stay until then");
    case model::BlockRule::Recomputed:
        return Words::tr("once more in backward");
    case model::BlockRule::Kept:
        return Words::tr("kept for backward, which computes nothing again");
    case model::BlockRule::NotAgain:
        return Words::tr("were computed again in backward: not there any more");
    case model::BlockRule::OldOptimizer:
        return Words::tr("of the recorded optimizer: not there any more");
    case model::BlockRule::NewOptimizer:
        return Words::tr("of the other optimizer: put in");
    case model::BlockRule::Communicated:
        return Words::tr("for what ranks send each other: put in");
    case model::BlockRule::Sharded:
        return Words::tr("spread over ranks: the whole goes sooner");
    case model::BlockRule::Offloaded:
        return Words::tr("kept for backward on the host: go when the program lets go of them");
    case model::BlockRule::BroughtBack:
        return Words::tr("what backward takes back from the host: put in");
    case model::BlockRule::Gathered:
        return Words::tr("what lies with gaps, on its way to the host: put in");
    case model::BlockRule::Removed:
        return Words::tr("of a line that is taken out: not asked for");
    case model::BlockRule::Freed:
        return Words::tr("let go of behind their last use");
    case model::BlockRule::Zeroed:
        return Words::tr("gradients: go where zero_grad() stands");
    }
    return {};
}

QString sureness(const model::Prediction& prediction)
{
    const QString by = evidence(prediction.evidence);
    return prediction.exact    ? Words::tr("exact, by %1").arg(by)
        : prediction.predicted ? Words::tr("an estimate, by %1").arg(by)
                               : Words::tr("bounds alone, by %1").arg(by);
}

QString scenario(const model::Scenario& scenario)
{
    QStringList parts;
    for (const model::Change& change : scenario.changes)
        parts << utf8(change.text);
    if (scenario.settings)
        parts << (scenario.settings->empty() ? Words::tr("default settings") : utf8(*scenario.settings));
    if (scenario.capacityBytes)
        parts << Words::tr("a device of %1").arg(bytes(*scenario.capacityBytes));
    return parts.join(QStringLiteral(", "));
}

} // namespace strata::views::text
