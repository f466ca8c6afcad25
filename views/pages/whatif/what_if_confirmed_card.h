// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

class QComboBox;

namespace strata::views {

/// A change of which no recording tells what it comes to, as autocast or another kernel of attention: what
/// confirms can, and is offered here.
class WhatIfConfirmedCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfConfirmedCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;

    [[nodiscard]] QComboBox& choice() const { return *m_choice; } ///< the data: "amp=bf16", "dtype=bf16"

Q_SIGNALS:
    void confirmAsked();

private:
    QComboBox* m_choice;
};

} // namespace strata::views
