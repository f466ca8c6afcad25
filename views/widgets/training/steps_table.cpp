// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/steps_table.h"

#include "views/models/table_cells.h"
#include "views/models/training_words.h"
#include "views/style/texts.h"

#include <utility>

namespace strata::views {

namespace {

const QString kEventSample = QStringLiteral("8,888,888");
const QString kSizeSample = QStringLiteral("1,023");
const QString kUnit = QStringLiteral("MiB");

} // namespace

StepsTable::StepsTable(std::shared_ptr<const StepFigures> figures)
    : PlainTable({
        { { tr("Step"), tr("From 0, of all kinds"), QStringLiteral("88,888"), true }, "step" },
        { { tr("Kind"), tr("What the program did in it"), QStringLiteral("forward alone"), false, {}, true },
            "kind" },
        { { tr("Warm-up"), tr("What stays was still being made: states of optimizers, caches, workspaces"),
              QStringLiteral("warm-up"), false },
            "warmup" },
        { { tr("Backwards"), tr("Of their own within the step: accumulation of gradients"),
              QStringLiteral("8,888"), true },
            "micro_steps" },
        { { tr("First event"), tr("That belongs to it"), kEventSample, true }, "first_event" },
        { { tr("Last event"), tr("That belongs to it"), kEventSample, true }, "last_event" },
        { { tr("Peak"), tr("The highest that was requested within it"), kSizeSample, true, kUnit },
            "requested_bytes_peak" },
        { { tr("At event"), tr("Where its peak is"), kEventSample, true }, "peak_event" },
        { { tr("Reserved"), tr("After its last event"), kSizeSample, true, kUnit }, "reserved_bytes" },
    })
    , m_figures(std::move(figures))
{
}

std::optional<std::int64_t> StepsTable::figure(std::uint32_t number, int column) const
{
    const StepFigures::Row& row = m_figures->rows[number];
    switch (column) {
    case Step:
        return row.step->number;
    case MicroSteps:
        return row.step->microSteps;
    case First:
        return row.step->first;
    case Last:
        return row.step->last;
    case Peak:
        return row.peak.max;
    case PeakEvent:
        return row.peak.maxEvent;
    case Reserved:
        return row.reservedBytes;
    default:
        return std::nullopt;
    }
}

TableSource::Key StepsTable::sortKey(int column) const
{
    const auto& rows = m_figures->rows;
    if (column == Kind)
        return [&rows](std::uint32_t row) -> std::optional<std::uint64_t> {
            return static_cast<std::uint64_t>(rows[row].step->kind);
        };
    if (column == Warmup)
        return [&rows](std::uint32_t row) -> std::optional<std::uint64_t> {
            return rows[row].step->warmup ? 1 : 0;
        };
    return PlainTable::sortKey(column);
}

std::string StepsTable::text(std::uint32_t row, int column) const
{
    const model::TrainingStep& step = *m_figures->rows[row].step;
    return column == Kind ? std::string(model::stepKindWord(step.kind)) : step.warmup ? "true" : "false";
}

TableCell StepsTable::cell(std::uint32_t row, int column) const
{
    const model::TrainingStep& step = *m_figures->rows[row].step;
    switch (column) {
    case Kind:
        return { text::stepKind(step.kind), {} };
    case Warmup:
        return step.warmup ? noteCell(tr("warm-up")) : TableCell{};
    case Peak:
    case Reserved:
        return bytesCell(*figure(row, column));
    default:
        return { text::count(*figure(row, column)), {} };
    }
}

} // namespace strata::views
