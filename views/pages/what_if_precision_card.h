// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/what_if_card.h"

class QComboBox;
class QPushButton;

namespace strata::views {

/// Forward under autocast, or all of it in another type. No recording tells what that comes to: what confirms
/// can, and is offered here.
class WhatIfPrecisionCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfPrecisionCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;

    [[nodiscard]] QComboBox& type() const { return *m_type; } ///< the data: "amp=bf16", "dtype=bf16"

Q_SIGNALS:
    void confirmAsked();

private:
    QComboBox* m_type;
};

} // namespace strata::views
