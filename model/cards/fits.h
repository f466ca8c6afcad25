// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/cards/catalogue.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace strata::model {

/// How a program gets on with a card.
enum class Fit : std::uint8_t {
    Yes,
    Tight, ///< as PyTorch counts it does, but the CUDA context may need what is left
    No,
    NotComparable, ///< the card has another compute capability than that of the run, and so other kernels
    Unknown, ///< the program may need more than is known of
};
[[nodiscard]] std::string_view fitWord(Fit fit); ///< "yes", "tight", "no", "not_comparable", "unknown"

struct CardFit {
    const Card* card = nullptr;
    std::int64_t marginBytes = 0; ///< what is left of it; below 0: what is missing
    Fit fit = Fit::No;
};

/// What every process takes of a card beyond what PyTorch counts, such as the CUDA context: at most, and at
/// least.
[[nodiscard]] std::int64_t outsideBytesOfProcess();
[[nodiscard]] std::int64_t leastOutsideBytesOfProcess();

/// Whether a peak of a program holds on another card: kernels, and so their memory, go by compute capability.
/// `ranOn` nullptr: the card is not known, and what fits assumes the same kernels.
[[nodiscard]] bool isComparable(const Card& card, const Card* ranOn);

/// Of one card, for a program that reserves at most `neededBytes` at a time. `Yes` counts what every process
/// takes at most, `No` what it takes at least.
[[nodiscard]] Fit fitOf(std::int64_t capacityBytes, std::int64_t neededBytes, bool atLeast = false);

/// Every card of the catalogue, in its order, for a program that reserved at most `neededBytes` at a time on
/// `ranOn`. With `atLeast` it may need more: which cards are too small is certain, and nothing else.
[[nodiscard]] std::vector<CardFit> cardFits(
    std::int64_t neededBytes, bool atLeast = false, const Card* ranOn = nullptr);

/// A card as a row of JSON's `fits_on`; it can be read back.
struct CardMargin {
    std::string name;
    std::int64_t marginBytes = 0;
    std::string fits; ///< a word of fitWord()
};

/// Those of cardFits() that are not too small and have more than `moreThanBytes`: those that are not
/// comparable among them.
[[nodiscard]] std::vector<CardMargin> cardsWithRoom(std::int64_t neededBytes, bool atLeast = false,
    std::int64_t moreThanBytes = 0, const Card* ranOn = nullptr);

inline constexpr std::string_view kFitMeaning = "`yes`; `tight`: the CUDA context may need the rest; `no`; "
                                                "`not_comparable`: other kernels, dry-run on it; "
                                                "`unknown`: it may need more";

template <> struct Fields<CardFit> {
    static constexpr std::tuple all{
        field("name", Unit::None, "the card, as `--device` takes it", within(&CardFit::card, &Card::name)),
        field("capacity_bytes", Unit::Bytes, "what PyTorch sees of it",
            within(&CardFit::card, &Card::capacityBytes)),
        field("margin_bytes", Unit::Bytes, "what is left of it; below 0: what is missing",
            &CardFit::marginBytes),
        field("fits", Unit::None, kFitMeaning, [](const CardFit& one) { return fitWord(one.fit); }),
    };
};

template <> struct Fields<CardMargin> {
    static constexpr std::tuple all{
        field("name", Unit::None, "the card, as `--device` takes it", &CardMargin::name),
        field("margin_bytes", Unit::Bytes, "what is left of it", &CardMargin::marginBytes),
        field("fits", Unit::None, kFitMeaning, &CardMargin::fits),
    };
};

} // namespace strata::model
