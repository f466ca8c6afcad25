// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_batch_card.h"

namespace strata::views {

WhatIfBatchCard::WhatIfBatchCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document)
    : WhatIfSizeCard(kind,
        { .title = tr("Batch"),
            .about = tr("So many items in a step instead of those that were recorded"),
            .slider = tr("Size of the batch, from half to eight times what was recorded"),
            .number = tr("Items of the batch"),
            .recorded = tr("Items of the batch that was recorded"),
            .numberLabel = tr("Items"),
            .recordedLabel = tr("Items recorded"),
            .recordedToolTip
            = tr("How many items the batch of this recording has; 0: as the shapes of operators tell") },
        whatIf, document)
{
    refresh();
}

/// Of the device that is asked about: the document may be at another by now.
bool WhatIfBatchCard::hasSteps() const
{
    const auto& device = whatIf().device();
    return device && device->training && device->training->steps && !device->training->steps->steps.empty();
}

bool WhatIfBatchCard::canTakeRecorded() const
{
    return WhatIfSizeCard::canTakeRecorded() && hasSteps();
}

QString WhatIfBatchCard::whyNot() const
{
    if (const QString why = WhatIfSizeCard::whyNot(); !why.isEmpty())
        return why;
    if (!hasSteps())
        return tr("No steps of a training are known here: it takes one that runs forward, backward and "
                  "optimizer.");
    if (!whatIf().items())
        return tr("Say how many items the recorded batch has. Recorded with strata record --operators, the "
                  "shapes of a whole step "
                  "tell it.");
    return {};
}

QString WhatIfBatchCard::remark() const
{
    return whatIf().saidItems() ? QString() : tr("Items recorded: as the shapes of operators tell.");
}

} // namespace strata::views
