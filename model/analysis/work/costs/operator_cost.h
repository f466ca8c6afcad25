// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/operator_inputs.h"
#include "model/cards/catalogue.h"

#include <optional>
#include <string_view>

namespace strata::model {

enum class CostKind : std::uint8_t {
    MatrixProduct,
    Convolution,
    Attention,
    Elementwise,
    Normalisation, ///< softmax too
    Reduction,
    Gather,
    Copy, ///< fills and concatenations too
    Optimiser,
    View, ///< no work of a device
};
inline constexpr int kCostKinds = 10;

[[nodiscard]] std::string_view costKindWord(CostKind kind); ///< "matrix product"

/// What a call of an operator costs a device at least, by the sizes of what it was called with.
///
/// `flops` is what torch.utils.flop_counter counts: 2mnk of a product; nothing of what is done element by
/// element. `doneFlops` is what has to be done of it: with a causal mask the entries on and below the
/// diagonal alone, and of the gradient of a grouped convolution's weight one group with itself alone.
/// `leastFlops` is `doneFlops` less what a library can save: of convolutions whose windows overlap, by
/// Winograd's way or Fourier's, all but one product for a result and channel.
///
/// Bytes are those of each operand that is read whole once, and of each result once; of gathers that of the
/// results alone. Of `leastReadBytes` the largest operand counts alone, for the others may be views of the
/// same memory, and of that what its strides say to be different; whoever knows that they are not may add
/// them up.
struct OperatorCost {
    CostKind kind = CostKind::View;
    NumberType type = NumberType::Other; ///< of the factors
    double flops = 0, doneFlops = 0, leastFlops = 0;
    double readBytes = 0, writtenBytes = 0;
    double leastReadBytes = 0, leastWrittenBytes = 0;

    [[nodiscard]] double bytes() const { return readBytes + writtenBytes; }
    [[nodiscard]] double leastBytes() const { return leastReadBytes + leastWrittenBytes; }
};

/// Of an operator as PyTorch calls it, "aten::mm", "aten::add.Tensor". nullopt: it is not known here, or its
/// inputs do not tell it (sequences of several lengths packed, a window of attention, a list of tensors
/// whose type is not told): to be counted as unknown.
///
/// Operators count that a device works for. Some call others, as aten::linear calls aten::addmm and
/// aten::convolution calls aten::cudnn_convolution: whoever sums up counts those that launched the work.
///
/// Sources: torch/utils/flop_counter.py of PyTorch 2.15 for FLOPs; native_functions.yaml for the places of
/// arguments.
[[nodiscard]] std::optional<OperatorCost> costOf(std::string_view operatorName, const OperatorInputs& inputs);

/// No call takes less of the card's time, in nanoseconds: the longer of what computing and memory take.
/// FLOPs are those of leastFlops, at the peak of the type and the card's highest clock; of FP32 that of TF32,
/// which a program may allow. Of bytes, what L2 can hold counts nothing: an operand may lie there from the
/// call before, and a result may stay there until behind it. Never what a launch takes. Not known of the
/// card: 0 of that part.
[[nodiscard]] double leastNs(const OperatorCost& cost, const Card& card);

/// The same with all bytes from memory, all FLOPs that are done, and peaks as the data sheet has them: what a
/// roofline says. No bound for a call whose operands lie in L2.
[[nodiscard]] double rooflineNs(const OperatorCost& cost, const Card& card);

} // namespace strata::model
