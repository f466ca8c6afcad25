// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace strata::views {

/// Other settings of the allocator: the common ones as controls, all of them as the text that
/// PYTORCH_CUDA_ALLOC_CONF has. The text is what counts; controls change their part of it.
class WhatIfSettingsCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfSettingsCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    [[nodiscard]] QCheckBox& expandable() const { return *m_expandable; }
    [[nodiscard]] QSpinBox& maxSplit() const { return *m_maxSplit; }
    [[nodiscard]] QComboBox& roundup() const { return *m_roundup; }
    [[nodiscard]] QSpinBox& garbage() const { return *m_garbage; }
    [[nodiscard]] QLineEdit& line() const { return *m_line; }
    [[nodiscard]] std::string settings() const;

private:
    void change(const char* key, const std::string& value);
    void showText(const std::string& settings);
    void showControls();

    QCheckBox* m_expandable;
    QSpinBox* m_maxSplit;
    QComboBox* m_roundup;
    QSpinBox* m_garbage;
    QLineEdit* m_line;
    std::shared_ptr<const model::ReplayReport> m_report; // whose settings were shown
};

} // namespace strata::views
