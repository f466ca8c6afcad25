// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/steps_table.h"

#include "views/models/document/training_words.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <utility>

namespace strata::views {

namespace {

const QString kEventSample = QStringLiteral("8,888,888");
const QString kStepSizeSample = QStringLiteral("1,023");
const QString kStepUnit = QStringLiteral("MiB");

} // namespace

StepsTable::StepsTable(std::shared_ptr<const StepFigures> figures)
    : FieldTable({
        { { tr("Step"), tr("From 0, of all kinds"), QStringLiteral("88,888"), true }, "step" },
        { { tr("Kind"),
              tr("What the program did in it; in the warm-up what stays is still being made: states of "
                 "optimizers, caches, workspaces"),
              QStringLiteral("training, warm-up"), false, {}, true },
            "kind" },
        { { tr("Backward"), tr("How often within the step: accumulation of gradients"),
              QStringLiteral("8,888"), true },
            "micro_steps" },
        { { tr("First"), tr("Its first event"), kEventSample, true }, "first_event" },
        { { tr("Last"), tr("Its last event"), kEventSample, true }, "last_event" },
        { { tr("Peak"), tr("The highest that was requested within it"), kStepSizeSample, true, kStepUnit },
            "requested_bytes_peak" },
        { { tr("At event"), tr("Where its peak is"), kEventSample, true }, "peak_event" },
        { { tr("At end"), tr("Requested after its last event"), kStepSizeSample, true, kStepUnit },
            "requested_bytes_end" },
        { { tr("Reserved"), tr("After its last event"), kStepSizeSample, true, kStepUnit },
            "reserved_bytes" },
    })
    , m_figures(std::move(figures))
{
}

TableSource::Key StepsTable::sortKey(int column) const
{
    const auto& rows = m_figures->rows;
    if (column == Kind)
        return [&rows](std::uint32_t row) -> std::optional<std::uint64_t> {
            const model::TrainingStep& step = *rows[row].step;
            return 2 * static_cast<std::uint64_t>(step.kind) + (step.warmup ? 1 : 0);
        };
    return PlainTable::sortKey(column);
}

std::string StepsTable::csvHeader() const
{
    std::string line = PlainTable::csvHeader();
    return line.insert(line.size() - 1, ",warmup");
}

void StepsTable::appendCsv(std::string& to, std::uint32_t row) const
{
    PlainTable::appendCsv(to, row);
    to.insert(to.size() - 1, m_figures->rows[row].step->warmup ? ",true" : ",false");
}

TableCell StepsTable::cell(std::uint32_t row, int column) const
{
    const model::TrainingStep& step = *m_figures->rows[row].step;
    switch (column) {
    case Kind:
        return { step.warmup ? tr("%1, warm-up").arg(text::stepKind(step.kind)) : text::stepKind(step.kind),
            {} };
    case MicroSteps:
        return step.kind == model::StepKind::Train ? TableCell{ text::count(step.microSteps), {} }
                                                   : noteCell(QStringLiteral("–"));
    default:
        return FieldTable::cell(row, column);
    }
}

} // namespace strata::views
