// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary.h"

#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// The verdict on one device, in plain words: the last out-of-memory if there is one (asked, free, reserved,
/// free inside segments, the three biggest lines), else what the device needs (reserved peak) and the peak of
/// requested bytes with its moment and its biggest line; then what makes these figures less than certain
/// (breaches, a simulated device). `summary` must be complete but for its verdict.
[[nodiscard]] std::vector<VerdictSentence> verdictOn(
    const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine);

/// The English of a sentence, as piecesOf() takes it.
[[nodiscard]] std::string_view wordingOf(VerdictSentence::Id id);

/// The sentences with a blank between them, in pieces. `word` gives the wording of English in another
/// language.
[[nodiscard]] std::vector<SentencePiece> verdictPieces(
    const std::vector<VerdictSentence>& verdict, const Wording& word = {});

/// The same as one text, in English.
[[nodiscard]] std::string verdictText(const std::vector<VerdictSentence>& verdict);

} // namespace strata::model
