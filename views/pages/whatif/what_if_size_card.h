// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

#include <optional>
#include <string>

class QSlider;
class QSpinBox;

namespace strata::views {

/// A number of what a step is given, and another instead: a slider from half the recorded one to eight times
/// as many, the number itself, and the one that was recorded, as the user says it. GUI thread only.
class WhatIfSizeCard : public WhatIfCard {
    Q_OBJECT
public:
    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    [[nodiscard]] QSlider& slider() const { return *m_slider; }
    [[nodiscard]] QSpinBox& asked() const { return *m_number; }
    [[nodiscard]] QSpinBox& recorded() const { return *m_recorded; }

    static constexpr int kOctave = 16; ///< steps of the slider for twice as many
    /// The number at a place of the slider, where so many were recorded.
    [[nodiscard]] static std::int64_t numberAt(int place, std::int64_t recorded);
    [[nodiscard]] static int placeOf(std::int64_t number, std::int64_t recorded);

protected:
    /// What a card calls its number, and what it says of each control.
    struct Names {
        QString title, about;
        QString slider, number, recorded; ///< for assistive technology
        QString numberLabel, recordedLabel, recordedToolTip;
    };
    WhatIfSizeCard(const model::ChangeKind& kind, const Names& names, WhatIf& whatIf, Document& document);

    [[nodiscard]] virtual std::optional<std::int64_t> recordedNumber() const = 0; ///< none: not known
    virtual void takeRecorded(std::optional<std::int64_t> recorded) = 0; ///< by the user
    [[nodiscard]] virtual bool canTakeRecorded() const; ///< what that goes with is known
    [[nodiscard]] virtual QString whyNot() const; ///< nothing can be asked; empty: it can
    [[nodiscard]] virtual QString remark() const = 0; ///< where it can

private:
    void ask(std::int64_t number);
    void takeNumber(const model::Change& change);
    void showAsked();

    const model::ChangeKind& m_kind;
    QSlider* m_slider;
    QSpinBox* m_number;
    QSpinBox* m_recorded;
    std::int64_t m_asked = 0; // 0: nothing yet
    std::int64_t m_of = 0; // that was recorded when that was last looked at
    std::string m_text; // "batch=16"; as it was taken from elsewhere, "batch=x2"
};

} // namespace strata::views
