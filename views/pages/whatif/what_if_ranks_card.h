// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QSpinBox;

namespace strata::views {

/// The training as one of many ranks: DistributedDataParallel, that with ZeroRedundancyOptimizer, or FSDP2,
/// with the options that matter for memory.
class WhatIfRanksCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfRanksCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;

    [[nodiscard]] QComboBox& kind() const { return *m_kind; } ///< the data: "ddp", "zero1", "fsdp"
    [[nodiscard]] QSpinBox& ranks() const { return *m_ranks; }
    [[nodiscard]] QCheckBox& gradientsAreViews() const { return *m_views; }
    [[nodiscard]] QSpinBox& bucket() const { return *m_bucket; }
    [[nodiscard]] QComboBox& reshards() const { return *m_reshards; }
    [[nodiscard]] QLineEdit& modules() const { return *m_modules; }

private:
    void add(const QString& text, QWidget& control);
    void change(); ///< the user moved a control
    void showKind(); ///< the options that it has

    QGridLayout* m_grid;
    QComboBox* m_kind;
    QSpinBox* m_ranks;
    QCheckBox* m_views;
    QSpinBox* m_bucket;
    QComboBox* m_reshards;
    QLineEdit* m_modules;
    std::string m_text; // "fsdp=8,modules=Block"
};

} // namespace strata::views
