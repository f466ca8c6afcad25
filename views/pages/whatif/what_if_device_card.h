// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

#include <utility>

class QComboBox;
class QLineEdit;

namespace strata::views {

/// A device with other memory: that of a card of the catalogue, or any size.
class WhatIfDeviceCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfDeviceCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    [[nodiscard]] QComboBox& card() const { return *m_card; }
    [[nodiscard]] QLineEdit& capacity() const { return *m_capacity; }

private:
    [[nodiscard]] std::optional<std::int64_t> capacityBytes() const;
    void showCapacity();
    [[nodiscard]] int recordedCard(std::int64_t capacityBytes) const;

    std::pair<const void*, std::int64_t> m_of; // the trace whose card it began with, and its capacity
    QComboBox* m_card;
    QLineEdit* m_capacity;
};

} // namespace strata::views
