// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/what_if_card.h"

#include <string>

class QSlider;
class QSpinBox;

namespace strata::views {

/// Another batch: a slider from half the recorded one to eight times as many, and its items as a number. How
/// many were recorded is told by shapes, or by the user.
class WhatIfBatchCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfBatchCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    [[nodiscard]] QSlider& slider() const { return *m_slider; }
    [[nodiscard]] QSpinBox& items() const { return *m_items; }
    [[nodiscard]] QSpinBox& recordedItems() const { return *m_recorded; }

    static constexpr int kOctave = 16; ///< steps of the slider for twice as many
    /// Items at a place of the slider, of so many that were recorded.
    [[nodiscard]] static std::int64_t itemsAt(int place, std::int64_t recorded);
    [[nodiscard]] static int placeOf(std::int64_t items, std::int64_t recorded);

private:
    void ask(std::int64_t items);
    void takeItems(const model::Change& change);
    void showAsked();
    [[nodiscard]] bool hasSteps() const;
    [[nodiscard]] QString whyNot() const;

    QSlider* m_slider;
    QSpinBox* m_items;
    QSpinBox* m_recorded;
    std::int64_t m_asked = 0; // items; 0: nothing yet
    std::int64_t m_of = 0; // items that were recorded when that was last looked at
    std::string m_text; // "batch=16"; as it was taken from elsewhere, "batch=x2"
};

} // namespace strata::views
