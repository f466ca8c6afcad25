// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/plain_table.h"
#include "views/widgets/timeline/lanes_data.h"

#include <QCoreApplication>

#include <span>

namespace strata::views {

/// Tables of the page Timeline, with the names that `strata timeline --json` has for the same. A row is one
/// of WorkReport::tables, or a cause for which the device was idle.
class WorkTable : public PlainTable {
public:
    enum class Kind {
        Waits,
        Operators,
        Annotations,
        Kernels,
        Copies,
        Calls,
        Roofline,
        Collectives,
        Synchronisations,
        Loading,
        Steps
    };
    [[nodiscard]] static std::shared_ptr<const WorkTable> of(
        Kind kind, std::shared_ptr<const WorkFigures> figures);

    /// Of a cause: where its longest stretch begins, nanoseconds on the file's clock.
    [[nodiscard]] virtual std::optional<std::int64_t> exampleNs(std::uint32_t /*row*/) const
    {
        return std::nullopt;
    }
    [[nodiscard]] virtual std::int64_t longestNs(std::uint32_t /*row*/) const { return 0; } ///< of that wait
    [[nodiscard]] virtual std::optional<model::StringId> nameOf(std::uint32_t /*row*/) const
    {
        return std::nullopt;
    }
    /// Rows of Work::spans that a row is the sum of; empty: they go by its name.
    [[nodiscard]] virtual std::span<const std::uint32_t> workOf(std::uint32_t /*row*/) const { return {}; }

protected:
    WorkTable(std::vector<Column> columns, std::shared_ptr<const WorkFigures> figures)
        : PlainTable(std::move(columns))
        , m_figures(std::move(figures))
    {
    }
    [[nodiscard]] const WorkFigures& figures() const { return *m_figures; }

private:
    std::shared_ptr<const WorkFigures> m_figures;
};

} // namespace strata::views
