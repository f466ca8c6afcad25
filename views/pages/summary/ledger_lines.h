// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "model/analysis/training/ledger/ledger.h"

#include <optional>
#include <vector>

namespace strata::views {

/// One line of a ledger as it is read from top to bottom:
///
///     Activations          12.9 GiB     a category, the largest first
///     Requested            12.9 GiB     their sum
///     Rounding             14.0 MiB     what the allocator adds
///     Reserved             12.9 GiB     the sum of all
///     Pending free          4.0 MiB     a part of requested
///     Outside PyTorch       unknown     on top
struct LedgerLine {
    enum class Kind : std::uint8_t { Category, Sum, Part, Aside };
    Kind kind = Kind::Category;
    model::Category category = model::Category::Unknown; ///< of Kind::Category
    const char* name = ""; ///< of CSV: "optimizer_state", "rounding"
    QString label, shortLabel, about;
    std::optional<std::int64_t> bytes; ///< none: not known
    QString share; ///< of requested, as `strata ledger` prints it
    QString perParameter, expected; ///< empty: not known
    QString source; ///< "recorded", "probably", "93 % recorded"
};

[[nodiscard]] std::vector<LedgerLine> ledgerLines(const model::Ledger& ledger);

/// Whether the lines add up to what is reserved, as a sentence.
[[nodiscard]] QString sumSentence(const model::Ledger& ledger);

} // namespace strata::views
