// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/fits.h"
#include "views/models/tables/field_table.h"
#include "views/models/whatif/what_if.h"
#include "views/widgets/whatif/peak_chart.h"

#include <QCoreApplication>

#include <memory>
#include <vector>

namespace strata::views {

/// The single changes of a what-if and what they come to, the one that saves most first; a row is one of
/// them, in that order. They are of the recording, or on top of what is asked.
class AlternativesTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(AlternativesTable)
public:
    enum Place { Change, Reserved, Saved, Sureness, Serves }; ///< Serves: where a request was refused

    explicit AlternativesTable(std::vector<WhatIfAlternative> alternatives, bool isOnTop = false);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_alternatives.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] const WhatIfAlternative& alternative(std::uint32_t row) const
    {
        return m_alternatives[row];
    }

private:
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::vector<WhatIfAlternative> m_alternatives;
};

/// The figures of a PeakChart: requested, allocated and reserved, a row each.
class PeaksTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(PeaksTable)
public:
    enum Place { Peak, Recorded, Predicted, Least, Most, More };

    explicit PeaksTable(PeakPicture picture);
    [[nodiscard]] std::uint32_t rowCount() const override { return 3; }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;

private:
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    PeakPicture m_picture;
};

/// Every card of the catalogue, and whether what is predicted fits on it; the smallest that it fits on first.
class FittingCardsTable final : public FieldTable<model::CardFit> {
    Q_DECLARE_TR_FUNCTIONS(FittingCardsTable)
public:
    enum Place { Card, Capacity, Margin, Fits };

    /// `atLeast`: more may be needed, and what does not fit is certain alone. `ranOn` as of
    /// model::cardFits().
    FittingCardsTable(std::int64_t neededBytes, bool atLeast, const model::Card* ranOn = nullptr);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_fits.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] const model::CardFit& fit(std::uint32_t row) const { return at(row); }

private:
    [[nodiscard]] const model::CardFit& at(std::uint32_t row) const override { return m_fits[row]; }

    std::vector<model::CardFit> m_fits;
};

/// What became of blocks, and why: a row is one of Prediction::uses.
class RulesTable final : public FieldTable<model::RuleUse> {
    Q_DECLARE_TR_FUNCTIONS(RulesTable)
public:
    enum Place { Rule, Blocks, Bytes };

    explicit RulesTable(std::vector<model::RuleUse> uses);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_uses.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;

private:
    [[nodiscard]] const model::RuleUse& at(std::uint32_t row) const override { return m_uses[row]; }

    std::vector<model::RuleUse> m_uses;
};

} // namespace strata::views
