// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <span>
#include <string>
#include <vector>

#ifndef STRATA_WORDS
#error "what a sentence says is for code that prints, draws or stores it: link strata_words there, elsewhere go by codes"
#endif

namespace strata::model {

/// Its being complete opens Sentence::text() and Error::text().
struct MaySay { };

/// Several sentences, with a blank between them.
[[nodiscard]] std::vector<SentencePiece> piecesOf(
    std::span<const Sentence> sentences, const Wording& word = {});
[[nodiscard]] std::string textOf(std::span<const Sentence> sentences, const Wording& word = {});

[[nodiscard]] std::string plainText(std::span<const SentencePiece> pieces);

} // namespace strata::model
