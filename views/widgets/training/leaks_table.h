// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leaks_answer.h"
#include "views/models/document/device_data.h"
#include "views/models/tables/field_table.h"

#include <QCoreApplication>

namespace strata::views {

/// The line that a site of a leak is known by, or the place in its step where it has no stack; "the whole
/// device" where it is of no site.
[[nodiscard]] TableCell leakPlaceCell(const TrainingData& training, const model::LeakSite& site);
[[nodiscard]] QString leakPlaceText(const TrainingData& training, const model::LeakSite& site);

/// What grows, or seems to, as `strata leaks --json` has it; a row is a place in LeakReport::sites.
class LeaksTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(LeaksTable)
public:
    enum Place { Kind, Line, Allocated, Blocks, Since, Left, Pattern };

    /// Of a training with leaks.
    explicit LeaksTable(std::shared_ptr<const TrainingData> training);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_training->leaks->sites.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] QString stackText(std::uint32_t row) const override;
    [[nodiscard]] Key sortKey(int column) const override;

private:
    [[nodiscard]] const model::LeakSite& site(std::uint32_t row) const
    {
        return m_training->leaks->sites[row];
    }
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::shared_ptr<const TrainingData> m_training;
};

/// What is alive after the last step of a site, by the step of its birth; a row is a place in
/// LeakSite::survivors.
class SurvivorsTable final : public FieldTable<model::LeakGrowth> {
    Q_DECLARE_TR_FUNCTIONS(SurvivorsTable)
public:
    enum Place { Step, Blocks, Allocated };

    SurvivorsTable(std::shared_ptr<const TrainingData> training, std::size_t site);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_survivors->size());
    }

private:
    [[nodiscard]] const model::LeakGrowth& at(std::uint32_t row) const override
    {
        return (*m_survivors)[row];
    }

    std::shared_ptr<const TrainingData> m_training;
    const std::vector<model::LeakGrowth>* m_survivors; // its
};

} // namespace strata::views
