// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/operator_cost.h"

namespace strata::model {

/// Adds up what an operator reads and writes.
class CostSums {
public:
    CostSums(CostKind kind, NumberType type);

    void read(const TensorInput& tensor); ///< whole
    /// Not all of it need be read: a bias with beta = 0, or what a mask leaves out.
    void mayRead(const TensorInput& tensor);
    void write(double elements, std::int64_t bytesEach);
    /// Of a type that is not told, at least `leastEach` bytes.
    void write(double elements, std::int64_t bytesEach, std::int64_t leastEach);
    void compute(double flops) { compute(flops, flops, flops); }
    void compute(double flops, double done, double least);

    [[nodiscard]] const OperatorCost& cost() const { return m_cost; }

private:
    OperatorCost m_cost;
};

/// How an operator has its factors.
enum class ProductForm : std::uint8_t {
    Matrices, ///< two matrices, or batches of them, in places 0 and 1
    Added, ///< what they are added to before them, beta and alpha behind
    Scaled, ///< of FP8, with the scales of both, and the type of the result
    Vectors, ///< matrix and vector, or two vectors
};
[[nodiscard]] std::optional<OperatorCost> productCost(ProductForm form, const OperatorInputs& inputs);

/// Places of a convolution's arguments, which differ by library; -1: it has none.
struct ConvolutionPlaces {
    int input = 0, weight = 1, stride = 3, padding = 4, dilation = 5, transposed = -1, outputPadding = -1,
        groups = -1;
    bool isTransposed = false; ///< without an argument for it
};
[[nodiscard]] std::optional<OperatorCost> convolutionCost(
    const ConvolutionPlaces& places, const OperatorInputs& inputs);
[[nodiscard]] std::optional<OperatorCost> convolutionBackwardCost(const OperatorInputs& inputs);

/// Places of the arguments of attention; -1: it has none.
struct AttentionPlaces {
    int query = 0; ///< key and value behind it
    int causal = -1; ///< a truth value, or 0 for none
    int lengths = -1; ///< of packed sequences
    int window = -1; ///< two of them: how far back and forth
    int pages = -1;
    bool isSequenceFirst = false; ///< sizes are batch, sequence, heads, features, not heads before sequence
    bool isBackward = false; ///< grad_out is in place 0
};
[[nodiscard]] std::optional<OperatorCost> attentionCost(
    const AttentionPlaces& places, const OperatorInputs& inputs);

} // namespace strata::model
