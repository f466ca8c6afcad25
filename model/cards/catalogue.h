// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/number_type.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A card of resources/devices.json.
struct Card {
    std::string name; ///< "A100-80GB", as --device takes it
    std::string product; ///< "NVIDIA A100-SXM4-80GB", as PyTorch prints it
    std::int64_t capacityBytes = 0; ///< what PyTorch sees
    std::string capacitySource; ///< where that figure is from
    int computeMajor = 0;
    int computeMinor = 0;
    int multiprocessors = 0;
    std::int64_t l2Bytes = 0;
    int memoryBusBits = 0;
    double bandwidth = 0; ///< of its memory: bytes a second, as the data sheet has it
    std::array<double, kNumberTypes> flops{}; ///< dense peaks, operations a second; 0: not known
    double clockHeadroom = 1; ///< how much faster its clock can be than that of the peaks; not of memory
    std::string peakSource; ///< of bandwidth and peaks

    /// Operations a second; 0: not known.
    [[nodiscard]] double peak(NumberType type) const { return flops[static_cast<std::size_t>(type)]; }
    /// FLOPs for a byte of memory from which on computing takes longer than memory; 0: not known.
    [[nodiscard]] double ridge(NumberType type) const { return bandwidth > 0 ? peak(type) / bandwidth : 0; }
};

/// Memory that PyTorch does not count, or counts from a table here: a range with its source.
struct Assumption {
    std::string name; ///< "CUDA context"
    std::string each; ///< what one of them is for: "process", "communicator", "convolution"
    std::int64_t lowBytes = 0;
    std::int64_t highBytes = 0;
    std::int64_t countedBytes = 0; ///< what the figures of a dry run hold of it
    std::string source;
};

/// All cards, in the order of the file, which is built in. Read at the first call; safe from any thread.
[[nodiscard]] const std::vector<Card>& cards();

/// All assumptions, in the order of the file.
[[nodiscard]] const std::vector<Assumption>& assumptions();

/// The card of that name, case does not matter; nullptr when there is none.
[[nodiscard]] const Card* findCard(std::string_view name);

/// The card that a driver calls by this name, with or without the maker's in front: "NVIDIA H100 80GB HBM3",
/// "Tesla V100-SXM2-16GB". `totalBytes` tells apart what is sold under one name; 0: not known. nullptr: it is
/// not in the catalogue. A name that only resembles one is another card, with other peaks.
[[nodiscard]] const Card* cardOfDevice(std::string_view product, std::int64_t totalBytes = 0);

/// The three names that are spelt most like `name`.
[[nodiscard]] std::vector<std::string> nearestCards(std::string_view name);

} // namespace strata::model
