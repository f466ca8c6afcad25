// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/integrity.h"

namespace strata::model {

Integrity integrityOf(std::span<const Finding> findings, EventIndex from, EventIndex to)
{
    Integrity integrity;
    for (const Finding& finding : findings)
        if (finding.event >= from && finding.event <= to)
            (isBreach(finding.check) ? integrity.breaches : integrity.notes).push_back(&finding);
    return integrity;
}

} // namespace strata::model
