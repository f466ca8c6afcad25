// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/plan_tables.h"

#include "views/models/tables/table_cells.h"
#include "views/models/whatif/what_if_words.h"
#include "views/style/texts.h"

#include <utility>

namespace strata::views {

namespace {

const QString kPlanSizeSample = QStringLiteral("1,023");
const QString kPlanUnit = QStringLiteral("MiB");
const QString kNoPlanFigure = QStringLiteral("–");

QString shareText(double share)
{
    return QStringLiteral("%1 %").arg(QString::number(share * 100, 'f', 1));
}

std::string shareFigure(double share)
{
    return QString::number(share, 'f', 6).toStdString();
}

} // namespace

PlanModulesTable::PlanModulesTable(std::shared_ptr<const WhatIfPlan> plan)
    : PlainTable({
        { { tr("Module"), tr("That goes behind a checkpoint"), QStringLiteral("blocks.11.mlp"), false, {},
              true },
            "module" },
        { { tr("Class"), {}, QStringLiteral("TransformerBlock"), false }, "class" },
        { { tr("Keeps less"), tr("Between its forward and its backward, checkpointed alone"), kPlanSizeSample,
              true, kPlanUnit },
            "saved_bytes" },
        { { tr("Computed again"), tr("Of the forward of a step"), QStringLiteral("100.0 %"), false },
            "recompute_share" },
        { { tr("Time"), tr("Of the kernels that run again in a step, where they were recorded"),
              QStringLiteral("999.9 ms"), false },
            "recompute_ns" },
    })
    , m_plan(std::move(plan))
    , m_checkpoints(*m_plan->checkpoints())
{
}

std::uint32_t PlanModulesTable::rowCount() const
{
    return static_cast<std::uint32_t>(m_checkpoints.chosen.modules.size());
}

const model::PlanModule& PlanModulesTable::module(std::uint32_t row) const
{
    return m_checkpoints.modules[m_checkpoints.chosen.modules[row]];
}

std::optional<std::int64_t> PlanModulesTable::figure(std::uint32_t row, int column) const
{
    if (column == Saved)
        return module(row).savedBytes;
    if (column == Time && m_checkpoints.measure == model::RecomputeMeasure::KernelTime)
        return module(row).recompute;
    return std::nullopt;
}

std::string PlanModulesTable::text(std::uint32_t row, int column) const
{
    return column == Module ? module(row).path
        : column == Class   ? module(row).type
        : column == Share   ? shareFigure(module(row).share)
                            : std::string();
}

TableCell PlanModulesTable::cell(std::uint32_t row, int column) const
{
    switch (column) {
    case Module:
        return { text::utf8(module(row).path), {} };
    case Class:
        return { text::utf8(module(row).type), {} };
    case Saved:
        return bytesCell(module(row).savedBytes);
    case Share:
        return noteCell(shareText(module(row).share));
    default:
        return noteCell(figure(row, column) ? text::duration(module(row).recompute) : kNoPlanFigure);
    }
}

FitOptionsTable::FitOptionsTable(std::shared_ptr<const WhatIfPlan> plan)
    : PlainTable({
        { { tr("With"), tr("What is another beside the changes at the left"),
              QStringLiteral("expandable_segments:True"), false, {}, true },
            "changes" },
        { { tr("Reserved peak"), tr("Likely"), kPlanSizeSample, true, kPlanUnit }, "reserved_bytes_peak" },
        { { tr("At most"), tr("Its higher bound"), kPlanSizeSample, true, kPlanUnit }, "needed_bytes" },
        { { tr("Computed again"), tr("Of the forward of a step"), QStringLiteral("100.0 %"), false },
            "recompute_share" },
        { { tr("Fits"), tr("Likely: by the likeliest sizes, and not by others of its bounds"),
              QStringLiteral("likely"), false },
            "fits" },
    })
    , m_plan(std::move(plan))
{
}

std::uint32_t FitOptionsTable::rowCount() const
{
    return static_cast<std::uint32_t>(m_plan->fit()->options.size());
}

const model::FitOption& FitOptionsTable::option(std::uint32_t row) const
{
    return m_plan->fit()->options[row];
}

std::optional<std::int64_t> FitOptionsTable::figure(std::uint32_t row, int column) const
{
    const auto& prediction = option(row).prediction;
    if (!prediction)
        return std::nullopt;
    if (column == AtMost)
        return prediction->most.reservedBytesPeak;
    if (column == Reserved && prediction->predicted)
        return prediction->predicted->reservedBytesPeak;
    return std::nullopt;
}

std::string FitOptionsTable::text(std::uint32_t row, int column) const
{
    if (column == Share)
        return shareFigure(option(row).share);
    if (column == Fits)
        return option(row).fits ? "yes" : option(row).fitsLikely ? "likely" : "no";
    return column == With ? text::scenario(option(row).with({})).toStdString() : std::string();
}

TableCell FitOptionsTable::cell(std::uint32_t row, int column) const
{
    switch (column) {
    case With: {
        const QString name = text::scenario(option(row).with({}));
        return { name.isEmpty() ? tr("nothing more") : name, {} };
    }
    case Share:
        return noteCell(option(row).share > 0 ? shareText(option(row).share) : kNoPlanFigure);
    case Fits:
        return noteCell(option(row).fits ? tr("yes") : option(row).fitsLikely ? tr("likely") : tr("no"));
    default: {
        const auto bytes = figure(row, column);
        return bytes ? bytesCell(*bytes) : noteCell(kNoPlanFigure);
    }
    }
}

} // namespace strata::views
