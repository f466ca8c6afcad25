// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/ledger_lines.h"

#include "model/analysis/allocator/fragmentation.h"
#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views {

namespace {

using LineKind = LedgerLine::Kind;

struct LedgerTexts {
    Q_DECLARE_TR_FUNCTIONS(Ledger)
};

QString ratio(const std::optional<double>& bytes)
{
    return bytes ? QString::fromStdString(model::formatFigure(*bytes)) : QString();
}

/// What of the cached segments empty_cache() gives back.
QString cachedText(const model::Ledger& ledger)
{
    QString said
        = text::said(model::cachedSentence(ledger.cachedFreeBytes.value_or(0), ledger.cachedPrivateBytes));
    if (!said.isEmpty())
        said[0] = said[0].toUpper();
    return said;
}

LedgerLine ledgerLineOf(const model::Ledger& ledger, const model::LedgerRow& row)
{
    LedgerLine line;
    line.category = row.category;
    line.name = model::categoryWord(row.category).data();
    line.label = text::said(model::categoryTitle(row.category));
    line.bytes = row.bytes;
    line.share = text::share(row.bytes, ledger.requestedBytes);
    line.perParameter = ratio(row.bytesPerParameter);
    line.expected = ratio(row.expectedBytesPerParameter);
    if (!row.note.empty() && row.expectedBytesPerParameter)
        line.perParameter += QStringLiteral(" ▲");
    line.source = text::said(model::sourceOf(row));
    line.about = LedgerTexts::tr("%1, %2").arg(
        text::counted(row.blocks, LedgerTexts::tr("1 block"), LedgerTexts::tr("%1 blocks")),
        text::exactBytes(row.bytes));
    if (!row.note.empty())
        line.about = text::said(row.note) + QStringLiteral(".\n") + line.about;
    return line;
}

LedgerLine ledgerLineOf(LineKind kind, const char* name, const QString& label,
    std::optional<std::int64_t> bytes, const QString& about, const QString& shortLabel = {})
{
    LedgerLine line;
    line.kind = kind;
    line.name = name;
    line.label = label;
    line.shortLabel = shortLabel;
    line.bytes = bytes;
    line.about = bytes ? QStringLiteral("%1\n%2").arg(about, text::exactBytes(*bytes)) : about;
    return line;
}

} // namespace

std::vector<LedgerLine> ledgerLines(const model::Ledger& ledger)
{
    std::vector<LedgerLine> lines;
    for (const model::LedgerRow& row : ledger.rows)
        lines.push_back(ledgerLineOf(ledger, row));
    LedgerLine& requested = lines.emplace_back(ledgerLineOf(LineKind::Sum, "requested",
        LedgerTexts::tr("Requested"), ledger.requestedBytes, LedgerTexts::tr("The rows above")));
    requested.share = text::share(ledger.requestedBytes, ledger.requestedBytes);
    lines.push_back(
        ledgerLineOf(LineKind::Part, "rounding", LedgerTexts::tr("Rounding"), ledger.roundingBytes,
            ledger.roundingBytes
                ? LedgerTexts::tr("What the allocator adds to requests, and what was not worth a split")
                : LedgerTexts::tr("The recording does not tell the rounded sizes at this instant")));
    const QString untold
        = LedgerTexts::tr("A profiler tells of no segments, so not of what is free in them. A "
                          "memory snapshot does.");
    lines.push_back(ledgerLineOf(LineKind::Part, "fragmentation",
        LedgerTexts::tr("Fragmentation, free beside live blocks"), ledger.fragmentationBytes,
        ledger.fragmentationBytes ? LedgerTexts::tr("Free in segments that live blocks keep") : untold,
        LedgerTexts::tr("Fragmentation")));
    lines.push_back(ledgerLineOf(LineKind::Part, "cached_free",
        LedgerTexts::tr("Cached, free as whole segments"), ledger.cachedFreeBytes,
        ledger.cachedFreeBytes ? cachedText(ledger) : untold, LedgerTexts::tr("Cached free")));
    lines.push_back(ledgerLineOf(
        LineKind::Sum, "reserved", LedgerTexts::tr("Reserved"), ledger.reservedBytes, sumSentence(ledger)));
    if (ledger.pendingFreeBytes > 0)
        lines.push_back(ledgerLineOf(LineKind::Aside, "pending_free",
            LedgerTexts::tr("Pending free, a part of requested"), ledger.pendingFreeBytes,
            LedgerTexts::tr("Freed by the program, but another stream may still use it"),
            LedgerTexts::tr("Pending free")));
    lines.push_back(ledgerLineOf(LineKind::Aside, "outside",
        LedgerTexts::tr("Outside PyTorch, on top of reserved"), ledger.outsideBytes,
        ledger.outsideBytes
            ? LedgerTexts::tr("CUDA itself and its libraries, as the driver said last")
            : LedgerTexts::tr(
                "CUDA itself and its libraries: the driver was not asked. strata record asks it."),
        LedgerTexts::tr("Outside PyTorch")));
    return lines;
}

QString sumSentence(const model::Ledger& ledger)
{
    const std::int64_t rest = ledger.unaccountedBytes();
    if (!ledger.reservedBytes)
        return LedgerTexts::tr("The file does not tell what is reserved. A memory snapshot does.");
    if (!ledger.fragmentationBytes && rest >= 0)
        return LedgerTexts::tr("%1 of it are free or rounding: a profiler does not tell which.")
            .arg(text::bytes(rest));
    if (rest == 0)
        return ledger.roundingBytes
            ? LedgerTexts::tr(
                "Requested, rounding, fragmentation and cached memory add up to all that is reserved.")
            : LedgerTexts::tr(
                "Requested, fragmentation and cached memory add up to all that is reserved; rounding, "
                "which is not known here, is among what is free.");
    if (rest < 0)
        return LedgerTexts::tr(
            "These are %1 more than is known to be reserved: the recording misses segments.")
            .arg(text::bytes(-rest));
    return ledger.roundingBytes
        ? LedgerTexts::tr("%1 of reserved are in no line: the recording does not tell what they are.")
              .arg(text::bytes(rest))
        : LedgerTexts::tr(
            "With the rest, %1, they add up to all that is reserved. It is rounding, as far as the "
            "recording tells of it.")
              .arg(text::bytes(rest));
}

} // namespace strata::views
