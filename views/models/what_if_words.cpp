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
    case model::WhatIfEvidence::Roles:
        return Words::tr("roles");
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
        return Words::tr("recordings of the same program with other batches tell the size of each block");
    case model::WhatIfEvidence::Roles:
        return Words::tr("the program told its parameters, and so what blocks are for");
    case model::WhatIfEvidence::Sizes:
        return Words::tr("what blocks are for is guessed by their sizes and lives");
    }
    return {};
}

QString rule(model::BatchRule rule)
{
    switch (rule) {
    case model::BatchRule::Scaled:
        return Words::tr("hold something for each item: scaled");
    case model::BatchRule::OfTheModel:
        return Words::tr("of the model and its optimizer: as they are");
    case model::BatchRule::Workspace:
        return Words::tr("workspaces of libraries, communication: as they are");
    case model::BatchRule::Scratch:
        return Words::tr("scratch of convolutions: likely scaled");
    case model::BatchRule::OfTheUpdate:
        return Words::tr("made in the optimizer, or outside of steps: as they are");
    case model::BatchRule::SizeOfParameter:
        return Words::tr("as large as a parameter: likely as they are");
    case model::BatchRule::NotWhole:
        return Words::tr("no bytes of whole items: likely as they are");
    case model::BatchRule::Undecided:
        return Words::tr("nothing tells what they are for: likely scaled");
    case model::BatchRule::Linear:
        return Words::tr("recordings tell their size at each batch");
    case model::BatchRule::Interpolated:
        return Words::tr("do not go linearly: between the nearest two recordings");
    case model::BatchRule::NotAligned:
        return Words::tr("the other recording has no such block: as they are");
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
