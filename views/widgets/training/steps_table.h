// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/step_figures.h"
#include "views/models/tables/field_table.h"

#include <QCoreApplication>

namespace strata::views {

/// The steps in numbers, as `strata steps --json` has them; a row is one of StepFigures.
class StepsTable final : public FieldTable<model::StepMemory> {
    Q_DECLARE_TR_FUNCTIONS(StepsTable)
public:
    enum Place { Step, Kind, MicroSteps, First, Last, Peak, PeakEvent, End, Reserved };

    explicit StepsTable(std::shared_ptr<const StepFigures> figures);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_figures->rows.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] Key sortKey(int column) const override;
    [[nodiscard]] std::string csvHeader() const override; ///< with "warmup", which stands beside the kind
    void appendCsv(std::string& to, std::uint32_t row) const override;

private:
    [[nodiscard]] const model::StepMemory& at(std::uint32_t row) const override
    {
        return m_figures->rows[row];
    }

    std::shared_ptr<const StepFigures> m_figures;
};

} // namespace strata::views
