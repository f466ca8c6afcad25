// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/plain_table.h"
#include "views/models/whatif/what_if_plan.h"

#include <QCoreApplication>

#include <memory>
#include <vector>

namespace strata::views {

/// The modules that a plan checkpoints: what each keeps less, and what is computed again for it.
class PlanModulesTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(PlanModulesTable)
public:
    enum Place { Module, Class, Saved, Share, Time };

    /// `plan` has checkpoints().
    explicit PlanModulesTable(std::shared_ptr<const WhatIfPlan> plan);
    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;

private:
    [[nodiscard]] const model::PlanModule& module(std::uint32_t row) const;
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::shared_ptr<const WhatIfPlan> m_plan;
    const model::CheckpointPlan& m_checkpoints;
};

/// What a plan has looked at, in the order in which it costs more: what each needs, and whether it fits.
class FitOptionsTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(FitOptionsTable)
public:
    enum Place { With, Reserved, AtMost, Share, Fits };

    /// `plan` has fit().
    explicit FitOptionsTable(std::shared_ptr<const WhatIfPlan> plan);
    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;

private:
    [[nodiscard]] const model::FitOption& option(std::uint32_t row) const;
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::shared_ptr<const WhatIfPlan> m_plan;
};

} // namespace strata::views
