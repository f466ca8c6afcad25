// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_size_card.h"

namespace strata::views {

/// Sequences of another length. How long they were when they were recorded nobody tells but the user, and
/// what goes with their length another recording does: see WhatIfRecordingsCard.
class WhatIfSequenceCard final : public WhatIfSizeCard {
    Q_OBJECT
public:
    WhatIfSequenceCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document);

protected:
    [[nodiscard]] std::optional<std::int64_t> recordedNumber() const override
    {
        return whatIf().saidLength();
    }
    void takeRecorded(std::optional<std::int64_t> recorded) override { whatIf().setSaidLength(recorded); }
    [[nodiscard]] QString whyNot() const override;
    [[nodiscard]] QString remark() const override;
};

} // namespace strata::views
