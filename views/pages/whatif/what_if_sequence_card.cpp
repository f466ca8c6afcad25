// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_sequence_card.h"

#include <algorithm>

namespace strata::views {

WhatIfSequenceCard::WhatIfSequenceCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document)
    : WhatIfSizeCard(kind,
        { .title = tr("Sequence"),
            .about = tr("Sequences of another length instead of those that were recorded, in tokens or "
                        "whatever the program counts"),
            .slider = tr("Length of sequences, from half to eight times what was recorded"),
            .number = tr("Length of sequences"),
            .recorded = tr("Length of the sequences that were recorded"),
            .numberLabel = tr("Length"),
            .recordedLabel = tr("Length recorded"),
            .recordedToolTip = tr("How long each sequence of this recording is; 0: not known") },
        whatIf, document)
{
    connect(&whatIf, &WhatIf::othersChanged, this, &WhatIfSequenceCard::refresh);
    refresh();
}

QString WhatIfSequenceCard::whyNot() const
{
    if (const QString why = WhatIfSizeCard::whyNot(); !why.isEmpty())
        return why;
    return whatIf().saidLength() ? QString() : tr("Say how long the recorded sequences are.");
}

QString WhatIfSequenceCard::remark() const
{
    const bool isTold = std::ranges::any_of(whatIf().others(), [this](const WhatIf::Other& other) {
        return other.saidLength && other.saidLength != whatIf().saidLength();
    });
    return isTold ? QString()
                  : tr("It takes another recording of the program, with sequences of another length and "
                       "nothing else changed: add it in Other recordings.");
}

} // namespace strata::views
