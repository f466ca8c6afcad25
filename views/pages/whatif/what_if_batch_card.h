// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_size_card.h"

namespace strata::views {

/// Another batch. How many items were recorded is told by shapes, or by the user.
class WhatIfBatchCard final : public WhatIfSizeCard {
    Q_OBJECT
public:
    WhatIfBatchCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document);

protected:
    [[nodiscard]] std::optional<std::int64_t> recordedNumber() const override { return whatIf().items(); }
    void takeRecorded(std::optional<std::int64_t> recorded) override { whatIf().setSaidItems(recorded); }
    [[nodiscard]] bool canTakeRecorded() const override;
    [[nodiscard]] QString whyNot() const override;
    [[nodiscard]] QString remark() const override;

private:
    [[nodiscard]] bool hasSteps() const;
};

} // namespace strata::views
