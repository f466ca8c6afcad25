// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/what_if_tables.h"

#include "model/whatif/plan/alternatives.h"
#include "views/models/tables/table_cells.h"
#include "views/models/whatif/what_if_words.h"
#include "views/style/texts.h"

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

const QString kWhatIfSizeSample = QStringLiteral("1,023");
const QString kSignedSample = QStringLiteral("-1,023");
const QString kWhatIfUnit = QStringLiteral("MiB");
const QString kNoFigure = QStringLiteral("–");

/// With a minus as wide as the figures.
TableCell signedCell(std::int64_t bytes)
{
    TableCell cell = bytesCell(bytes < 0 ? -bytes : bytes);
    if (bytes < 0)
        cell.text.prepend(QChar(0x2212));
    return cell;
}

} // namespace

AlternativesTable::AlternativesTable(std::vector<WhatIfAlternative> alternatives, bool isOnTop)
    : PlainTable(withServesColumn(
        {
            { { isOnTop ? tr("One more change, on top of what is asked")
                        : tr("Single change, against the recording"),
                  isOnTop
                      ? tr("With what is asked; another batch, optimizer or setting instead of that which is "
                           "asked. Enter or a double click takes it too")
                      : tr("Alone, and nothing else. Enter or a double click takes it"),
                  QStringLiteral("expandable_segments:True"), false, {}, true },
                "change" },
            { { tr("Reserved peak"),
                  tr("By replay; the upper bound where there is a range only; with endless memory where a "
                     "request is "
                     "refused"),
                  kWhatIfSizeSample, true, kWhatIfUnit },
                "reserved_bytes_peak" },
            { { tr("Saved"),
                  isOnTop ? tr("Of the reserved peak of what is asked, by the same replay")
                          : tr("Of the reserved peak with the recorded settings, by the same replay"),
                  kWhatIfSizeSample, true, tr("MiB more") },
                "saved_bytes" },
            { { tr("How sure"), tr("Whether something is guessed, and by what it goes"),
                  QStringLiteral("runs out of memory; an estimate, by recordings"), false },
                "sureness" },
        },
        std::ranges::any_of(alternatives,
            [](const WhatIfAlternative& of) { return of.prediction && of.prediction->servesRequest; })))
    , m_alternatives(std::move(alternatives))
{
    std::ranges::stable_sort(m_alternatives, model::standsBefore);
}

std::optional<std::int64_t> AlternativesTable::figure(std::uint32_t row, int column) const
{
    const auto& need = m_alternatives[row].need;
    if (!need || (column != Reserved && column != Saved))
        return std::nullopt;
    return column == Reserved ? need->afterBytes : need->savedBytes();
}

std::string AlternativesTable::text(std::uint32_t row, int column) const
{
    const WhatIfAlternative& of = m_alternatives[row];
    if (column == Change)
        return of.change.texts().front();
    if (column == Serves)
        return !of.prediction || !of.prediction->servesRequest ? std::string()
            : *of.prediction->servesRequest                    ? "true"
                                                               : "false";
    if (column != Sureness)
        return {};
    return !of.prediction ? text::english(of.prediction.error())
                          : std::string(of.prediction->exact ? "exact"
                                  : of.prediction->predicted ? "estimate"
                                                             : "bounds");
}

TableCell AlternativesTable::cell(std::uint32_t row, int column) const
{
    const WhatIfAlternative& of = m_alternatives[row];
    const bool isWorse = figure(row, Saved).value_or(0) < 0;
    if (column == Change)
        return isWorse ? noteCell(text::scenario(of.change)) : TableCell{ text::scenario(of.change), {} };
    if (column == Serves)
        return servesCell(of.prediction ? of.prediction->servesRequest : std::nullopt);
    if (column == Sureness) {
        if (!of.prediction)
            return noteCell(text::said(of.prediction.error().what));
        const QString sure = text::sureness(*of.prediction);
        if (of.prediction->servesRequest) // said in its column
            return noteCell(sure);
        if (of.prediction->runsOutOfMemory)
            return noteCell(tr("runs out of memory; %1").arg(sure));
        return noteCell(of.prediction->atLeastBytes ? tr("at least; %1").arg(sure) : sure);
    }
    const auto bytes = figure(row, column);
    return !bytes ? noteCell(kNoFigure) : column == Saved ? savedCell(*bytes) : bytesCell(*bytes);
}

QString AlternativesTable::tooltip(std::uint32_t row, int column) const
{
    const auto& prediction = m_alternatives[row].prediction;
    if (column != Sureness)
        return PlainTable::tooltip(row, column);
    return !prediction               ? text::said(prediction.error())
        : prediction->reason.empty() ? PlainTable::tooltip(row, column)
                                     : text::said(prediction->reason.said());
}

PeaksTable::PeaksTable(PeakPicture picture)
    : PlainTable({
        { { tr("Peak"),
              tr("Requested: what the program asked for. Allocated: rounded. Reserved: all segments"),
              QStringLiteral("requested"), false, {}, true },
            "peak" },
        { { tr("Recorded"), tr("What it was"), kWhatIfSizeSample, true, kWhatIfUnit }, "recorded_bytes" },
        { { tr("Predicted"), tr("What it would be; none: there are bounds alone"), kWhatIfSizeSample, true,
              kWhatIfUnit },
            "predicted_bytes" },
        { { tr("At least"), tr("Between these it lies: what is not decided goes one way, or the other"),
              kWhatIfSizeSample, true, kWhatIfUnit },
            "least_bytes" },
        { { tr("At most"), tr("Between these it lies: what is not decided goes one way, or the other"),
              kWhatIfSizeSample, true, kWhatIfUnit },
            "most_bytes" },
        { { tr("More"), tr("Than was recorded; below zero: less"), kSignedSample, true, kWhatIfUnit },
            "more_bytes" },
    })
    , m_picture(picture)
{
}

std::optional<std::int64_t> PeaksTable::figure(std::uint32_t row, int column) const
{
    constexpr std::int64_t model::PeakFigures::*kPeaks[] = { &model::PeakFigures::requestedBytesPeak,
        &model::PeakFigures::allocatedBytesPeak, &model::PeakFigures::reservedBytesPeak };
    const auto of = [&](const std::optional<model::PeakFigures>& figures) {
        return figures ? std::optional((*figures).*kPeaks[row]) : std::nullopt;
    };
    switch (column) {
    case Recorded:
        return m_picture.recorded.*kPeaks[row];
    case Predicted:
        return of(m_picture.predicted);
    case Least:
        return of(m_picture.least);
    case Most:
        return of(m_picture.most);
    case More:
        return m_picture.predicted
            ? std::optional((*m_picture.predicted).*kPeaks[row] - m_picture.recorded.*kPeaks[row])
            : std::nullopt;
    default:
        return std::nullopt;
    }
}

std::string PeaksTable::text(std::uint32_t row, int column) const
{
    constexpr const char* kNames[] = { "requested", "allocated", "reserved" };
    return column == Peak ? kNames[row] : std::string();
}

TableCell PeaksTable::cell(std::uint32_t row, int column) const
{
    if (column == Peak)
        return { row == 0 ? tr("requested") : row == 1 ? tr("allocated") : tr("reserved"), {} };
    const auto bytes = figure(row, column);
    return bytes ? signedCell(*bytes) : noteCell(kNoFigure);
}

FittingCardsTable::FittingCardsTable(std::int64_t neededBytes, bool atLeast, const model::Card* ranOn)
    : FieldTable({
        { { tr("Card"), tr("Of the catalogue"), QStringLiteral("RTX PRO 6000 Blackwell"), false, {}, true },
            "name" },
        { { tr("Memory"), tr("That PyTorch sees of it"), kWhatIfSizeSample, true, kWhatIfUnit },
            "capacity_bytes" },
        { { tr("Left over"), tr("Of it, once the reserved peak is taken; below zero: what is missing"),
              kSignedSample, true, kWhatIfUnit },
            "margin_bytes" },
        { { tr("Fits"),
              tr("Tight: the CUDA context may need what is left. Not known: the recording ends in a refused "
                 "request. Other kernels: the card has another compute capability; dry-run on it"),
              QStringLiteral("other kernels"), false },
            "fits" },
    })
    , m_fits(model::cardFits(neededBytes, atLeast, ranOn))
{
    std::ranges::stable_sort(m_fits, {}, [](const model::CardFit& of) {
        const bool hasRoom = of.fit == model::Fit::Yes || of.fit == model::Fit::Unknown;
        const int group = hasRoom ? 0 : of.fit == model::Fit::NotComparable ? 2 : 1;
        return std::pair(group, hasRoom ? of.marginBytes : -of.marginBytes);
    });
}

TableCell FittingCardsTable::cell(std::uint32_t row, int column) const
{
    const model::CardFit& of = m_fits[row];
    if (column == Card)
        return { text::utf8(of.card->name), text::utf8(of.card->product) };
    if (column == Fits)
        return noteCell(of.fit == model::Fit::Yes ? tr("fits")
                : of.fit == model::Fit::Tight     ? tr("tight")
                : of.fit == model::Fit::No        ? tr("does not fit")
                : of.fit == model::Fit::Unknown   ? tr("not known")
                                                  : tr("other kernels"));
    return signedCell(*figure(row, column));
}

RulesTable::RulesTable(std::vector<model::RuleUse> uses)
    : FieldTable({
        { { tr("Blocks that"),
              tr("What they are, and what becomes of them with another batch, or another length"),
              QStringLiteral("of the model and its optimizer"), false, {}, true },
            "rule" },
        { { tr("Blocks"), tr("That it was true of"), QStringLiteral("88,888"), true }, "blocks" },
        { { tr("Recorded bytes"),
              tr("Of all of them, as they were recorded: of blocks one after the other, too"),
              kWhatIfSizeSample, true, kWhatIfUnit },
            "bytes" },
    })
    , m_uses(std::move(uses))
{
}

TableCell RulesTable::cell(std::uint32_t row, int column) const
{
    return column == Rule ? TableCell{ text::rule(m_uses[row].rule), {} } : FieldTable::cell(row, column);
}

} // namespace strata::views
