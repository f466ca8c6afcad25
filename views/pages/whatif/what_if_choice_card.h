// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

class QComboBox;

namespace strata::views {

/// A change whose value is a text: one that the model proposes for the recording, or any other; of modules
/// several with spaces between.
class WhatIfChoiceCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfChoiceCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    [[nodiscard]] QComboBox& value() const { return *m_value; }

private:
    [[nodiscard]] model::Result<std::vector<model::Change>> changes() const;
    void showChange();

    const model::ChangeKind& m_kind;
    QComboBox* m_value;
    const void* m_of = nullptr; // the trace that m_worthTrying is of
    std::vector<std::string> m_worthTrying;
};

} // namespace strata::views
