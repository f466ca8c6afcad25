// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <span>
#include <string>
#include <vector>

#ifndef STRATA_WORDS
#error "link strata_words to print, draw or store sentences; everything else decides by codes"
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
