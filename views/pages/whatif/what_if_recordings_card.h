// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/whatif/what_if_card.h"

class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace strata::views {

/// Further recordings of the program with batches of their own, or sequences, which tell the size of each
/// block at any batch, or length: their files, each with its items, or where another length is asked for with
/// its length.
class WhatIfRecordingsCard final : public WhatIfCard {
    Q_OBJECT
public:
    WhatIfRecordingsCard(WhatIf& whatIf, Document& document);

    void addTo(model::Scenario& scenario) const override;
    void show(const model::Scenario& scenario) override;
    void refresh() override;

    void add(const QString& path); ///< told as the user's doing
    [[nodiscard]] QPushButton& addButton() const { return *m_add; }

private:
    void choose();
    void rebuild();
    [[nodiscard]] QWidget* rowOf(std::size_t place);
    [[nodiscard]] QSpinBox* sizeBox(std::size_t place);
    [[nodiscard]] bool asksLengths() const; ///< not items
    [[nodiscard]] QString remark() const;

    QVBoxLayout* m_rows;
    QPushButton* m_add;
    QString m_shown; // what the rows were made of
};

} // namespace strata::views
