// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/leaks_table.h"

#include "model/analysis/training/leaks/leak_rate.h"
#include "views/models/document/training_words.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace strata::views {

namespace {

const QString kLeakSizeSample = QStringLiteral("1,023");
const QString kLeakUnit = QStringLiteral("MiB");
const QString kNothing = QStringLiteral("–");

struct LeaksTableTexts {
    Q_DECLARE_TR_FUNCTIONS(LeaksTable)
};

/// Below one: "1 in 3 steps", as near as few steps tell it.
QString blocksText(double blocks)
{
    constexpr int kFewSteps = 12;
    constexpr double kNear = 0.04;
    for (int steps = 2; blocks < 1 && steps <= kFewSteps; ++steps) {
        const double times = std::round(blocks * steps);
        if (times >= 1 && times < steps && std::abs(times / steps - blocks) <= kNear * blocks)
            return LeaksTableTexts::tr("%1 in %2 steps")
                .arg(text::count(std::llround(times)), text::count(steps));
    }
    if (blocks < 1.0 / kFewSteps)
        return LeaksTableTexts::tr("1 in %1 steps")
            .arg(text::count(std::llround(std::min(1 / blocks, 1e15))));
    return QString::fromStdString(model::formatFigure(blocks));
}

QString kindText(model::LeakKind kind)
{
    return text::leakSign(kind) + QLatin1Char(' ') + text::leakKind(kind);
}

/// Of those that are there.
QString widestKind(const model::LeakReport& report)
{
    QString widest;
    for (const model::LeakSite& site : report.sites)
        if (const QString kind = kindText(site.kind); kind.size() > widest.size())
            widest = kind;
    return widest;
}

/// Beside the figures; wider where a site adds other bytes than allocated ones.
QString widestUnit(const model::LeakReport& report)
{
    QString unit = kLeakUnit;
    for (const model::LeakSite& site : report.sites)
        if (const model::Sentence other = model::otherBytes(model::rateOf(site)); !other.empty())
            unit = kLeakUnit + QLatin1Char(' ') + text::said(other);
    return unit;
}

TableCell rateCell(const model::LeakRate& rate)
{
    if (rate.bytes <= 0)
        return noteCell(kNothing);
    TableCell cell = bytesCell(rate.bytes);
    if (const model::Sentence other = model::otherBytes(rate); !other.empty())
        cell.note += QLatin1Char(' ') + text::said(other);
    return cell;
}

QString sentence(QString text)
{
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

} // namespace

TableCell leakPlaceCell(const TrainingData& training, const model::LeakSite& site)
{
    if (site.stack.valid())
        return lineCell(training.trace->recording(), site.stack);
    if (!site.place)
        return noteCell(LeaksTableTexts::tr("the whole device"));
    QStringList parts;
    if (site.place->ordinal)
        parts << LeaksTableTexts::tr("allocation %1 of a step").arg(text::count(*site.place->ordinal));
    if (site.place->requestedBytes)
        parts << text::exactBytes(*site.place->requestedBytes);
    if (parts.isEmpty())
        return noteCell(LeaksTableTexts::tr("no stack recorded"));
    return { parts.join(QStringLiteral(", ")), LeaksTableTexts::tr("no stack recorded") };
}

QString leakPlaceText(const TrainingData& training, const model::LeakSite& site)
{
    const TableCell cell = leakPlaceCell(training, site);
    return cell.text.isEmpty() ? cell.note : cell.text;
}

LeaksTable::LeaksTable(std::shared_ptr<const TrainingData> training)
    : PlainTable({
        { { tr("Kind"), tr("What becomes of the blocks"), widestKind(*training->leaks), false }, "kind" },
        { { tr("Line of code"), tr("Where the blocks are allocated"),
              QStringLiteral("transformer.py:1234 forward"), false },
            "line" },
        { { tr("Allocated per step"), tr("Bytes that each step adds, as the allocator rounds them"),
              kLeakSizeSample, true, widestUnit(*training->leaks) },
            "bytes_per_step_allocated" },
        { { tr("Blocks"), tr("That each step adds"), tr("%1 in %2 steps").arg(8).arg(88), true },
            "blocks_per_step" },
        { { tr("Since step"), tr("In which the growth begins"), QStringLiteral("8,888"), true },
            "first_step" },
        { { tr("Steps left"), tr("Until the device is full, if nothing else grows"),
              QStringLiteral("888,888,888"), true },
            "steps_to_oom" },
        { { tr("What it likely is"), tr("From where and how its blocks come about"),
              QStringLiteral("an output, or a loss"), false, {}, true },
            "pattern" },
    })
    , m_training(std::move(training))
{
}

std::optional<std::int64_t> LeaksTable::figure(std::uint32_t row, int column) const
{
    switch (column) {
    case Allocated:
        return site(row).allocatedBytesPerStep;
    case Since:
        return site(row).firstStep;
    case Left:
        return site(row).stepsToOom;
    default:
        return std::nullopt;
    }
}

TableSource::Key LeaksTable::sortKey(int column) const
{
    if (column == Kind)
        return [this](std::uint32_t row) -> std::optional<std::uint64_t> {
            return static_cast<std::uint64_t>(site(row).kind);
        };
    if (column == Allocated)
        return [this](std::uint32_t row) -> std::optional<std::uint64_t> {
            return static_cast<std::uint64_t>(std::max<std::int64_t>(model::rateOf(site(row)).bytes, 0));
        };
    if (column == Blocks) // to the thousandth
        return [this](std::uint32_t row) -> std::optional<std::uint64_t> {
            return static_cast<std::uint64_t>(std::llround(std::max(site(row).blocksPerStep, 0.0) * 1e3));
        };
    return PlainTable::sortKey(column);
}

std::string LeaksTable::text(std::uint32_t row, int column) const
{
    switch (column) {
    case Kind:
        return std::string(model::leakKindWord(site(row).kind));
    case Line: {
        const model::GroupTable lines(m_training->trace->recording(), std::span(&site(row).stack, 1));
        return lines.label(lines.groupOfStack(site(row).stack));
    }
    case Blocks:
        return QString::number(site(row).blocksPerStep, 'g', 4).toStdString();
    case Pattern:
        return text::english(site(row).pattern);
    default:
        return {};
    }
}

TableCell LeaksTable::cell(std::uint32_t row, int column) const
{
    const model::LeakSite& of = site(row);
    switch (column) {
    case Kind:
        return { kindText(of.kind), {} };
    case Line:
        return leakPlaceCell(*m_training, of);
    case Allocated:
        return rateCell(model::rateOf(of));
    case Blocks:
        return of.blocksPerStep > 0 ? TableCell{ blocksText(of.blocksPerStep), {} } : noteCell(kNothing);
    case Since:
        return { text::count(of.firstStep), {} };
    case Left:
        return of.stepsToOom ? TableCell{ text::count(*of.stepsToOom), {} } : noteCell(kNothing);
    default:
        return { sentence(text::said(of.pattern)), {} };
    }
}

QString LeaksTable::tooltip(std::uint32_t row, int column) const
{
    if (column == Line && site(row).stack.valid())
        return lineTooltip(m_training->trace->recording(), site(row).stack);
    return PlainTable::tooltip(row, column);
}

QString LeaksTable::stackText(std::uint32_t row) const
{
    return site(row).stack.valid() ? text::stack(m_training->trace->recording(), site(row).stack) : QString();
}

SurvivorsTable::SurvivorsTable(std::shared_ptr<const TrainingData> training, std::size_t site)
    : FieldTable({
        { { tr("From step"), tr("In which they were allocated"), QStringLiteral("88,888"), true }, "step" },
        { { tr("Blocks"), tr("That are alive after the last step"), QStringLiteral("8,888"), true },
            "blocks" },
        { { tr("Allocated"), tr("As the allocator rounds it"), kLeakSizeSample, true, kLeakUnit },
            "allocated_bytes" },
    })
    , m_training(std::move(training))
    , m_survivors(&m_training->leaks->sites[site].survivors)
{
}

} // namespace strata::views
