// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/product_cost.h"

#include <algorithm>
#include <cmath>

namespace strata::model {

namespace {

double at(const TensorInput& tensor, std::size_t dimension)
{
    return static_cast<double>(tensor.sizes[dimension]);
}

const TensorInput* tensorAt(const OperatorInputs& inputs, int place)
{
    return place < 0 ? nullptr : inputs.tensor(static_cast<std::size_t>(place));
}

/// Is there one, with more than a number's place?
bool isGiven(const OperatorInputs& inputs, int place)
{
    const TensorInput* const tensor = tensorAt(inputs, place);
    return tensor && !tensor->sizes.empty();
}

double spatial(const TensorInput& tensor)
{
    double product = 1;
    for (std::size_t i = 2; i < tensor.sizes.size(); ++i)
        product *= at(tensor, i);
    return product;
}

/// The entry of a list of a convolution, which may be one for all dimensions.
std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t dimension)
{
    return list.size() == 1 ? list.front() : dimension < list.size() ? list[dimension] : 0;
}

/// By how much libraries can lessen the products of a convolution: to one for each result and channel where
/// windows overlap in all dimensions (Winograd, "Arithmetic Complexity of Computations", 1980: m + r - 1
/// products for m results of r taps); windows beside each other are as a product of matrices.
double overlapOf(const TensorInput& weight, const std::vector<std::int64_t>& stride)
{
    double overlap = 1;
    for (std::size_t i = 2; i < weight.sizes.size(); ++i) {
        const double step = static_cast<double>(std::max<std::int64_t>(entry(stride, i - 2), 1));
        overlap *= std::max(std::ceil(at(weight, i) / step), 1.0);
    }
    return overlap;
}

/// Entries of a matrix of scores that are on and below its diagonal, which begins at the upper left, or ends
/// at the lower right: those of the fewer.
double causalEntries(double queries, double keys)
{
    if (queries == keys)
        return queries * (queries + 1) / 2;
    const double square = std::min(queries, keys);
    const double triangle = square * (square + 1) / 2;
    // More queries than keys: from the upper left a rectangle below the triangle, from the lower right none.
    // Fewer: the triangle alone from the upper left.
    return triangle;
}

} // namespace

CostSums::CostSums(CostKind kind, NumberType type)
{
    m_cost.kind = kind;
    m_cost.type = type;
}

void CostSums::read(const TensorInput& tensor)
{
    mayRead(tensor);
    m_cost.leastReadBytes
        = std::max(m_cost.leastReadBytes, tensor.distinctElements() * static_cast<double>(tensor.type.bytes));
}

void CostSums::mayRead(const TensorInput& tensor)
{
    m_cost.readBytes += tensor.strides.empty()
        ? tensor.bytes()
        : tensor.distinctElements() * static_cast<double>(tensor.type.bytes);
}

void CostSums::write(double elements, std::int64_t bytesEach)
{
    write(elements, bytesEach, bytesEach);
}

void CostSums::write(double elements, std::int64_t bytesEach, std::int64_t leastEach)
{
    m_cost.writtenBytes += elements * static_cast<double>(bytesEach);
    m_cost.leastWrittenBytes += elements * static_cast<double>(leastEach);
}

void CostSums::compute(double flops, double done, double least)
{
    m_cost.flops += flops;
    m_cost.doneFlops += done;
    m_cost.leastFlops += least;
}

std::optional<OperatorCost> productCost(ProductForm form, const OperatorInputs& inputs)
{
    const std::size_t first = form == ProductForm::Added ? 1 : 0;
    const TensorInput* const a = inputs.tensor(first);
    const TensorInput* const b = inputs.tensor(first + 1);
    if (!a || !b || a->sizes.empty() || b->sizes.empty())
        return std::nullopt;
    CostSums sums(CostKind::MatrixProduct, a->type.number);
    // m, n and k as of a product of an m by k with a k by n matrix; batch and rows stand in front.
    const double k = at(*a, a->sizes.size() - 1);
    const bool isVector = b->sizes.size() == 1;
    if (at(*b, isVector ? 0 : b->sizes.size() - 2) != k || (isVector && form != ProductForm::Vectors)
        || (b->sizes.size() == 3 && (a->sizes.size() != 3 || a->sizes.front() != b->sizes.front()))
        || b->sizes.size() > 3 || a->sizes.size() > 3 || (b->sizes.size() < 3 && a->sizes.size() > 2))
        return std::nullopt;
    const double n = isVector ? 1 : at(*b, b->sizes.size() - 1);
    double rows = 1;
    for (std::size_t i = 0; i + 1 < a->sizes.size(); ++i)
        rows *= at(*a, i);
    sums.compute(2 * rows * n * k);
    if (rows * n > 0) {
        sums.read(*a);
        sums.read(*b);
    }
    if (const TensorInput* const added = first == 1 ? inputs.tensor(0) : nullptr)
        if (inputs.value(3) != "0" && inputs.value(3) != "0.")
            sums.mayRead(*added);
    // The result may be of another type: of FP8 it is of two bytes mostly, and may be of one.
    const std::int64_t each = a->type.bytes;
    sums.write(rows * n, form == ProductForm::Scaled ? std::max<std::int64_t>(each, 2) : each, each);
    return sums.cost();
}

std::optional<OperatorCost> convolutionCost(const ConvolutionPlaces& places, const OperatorInputs& inputs)
{
    const TensorInput* const input = tensorAt(inputs, places.input);
    const TensorInput* const weight = tensorAt(inputs, places.weight);
    const auto listAt = [&](int place) { return inputs.list(static_cast<std::size_t>(place)); };
    const auto stride = listAt(places.stride), padding = listAt(places.padding),
               dilation = listAt(places.dilation);
    if (!input || !weight || !stride || !padding || !dilation || input->sizes.size() < 3
        || input->sizes.size() != weight->sizes.size())
        return std::nullopt;
    bool isTransposed = places.isTransposed;
    if (places.transposed >= 0) {
        const auto told = inputs.truth(static_cast<std::size_t>(places.transposed));
        if (!told)
            return std::nullopt;
        isTransposed = *told;
    }
    const auto groups = places.groups >= 0 ? inputs.integer(static_cast<std::size_t>(places.groups)) : 1;
    const auto outputPadding = places.outputPadding >= 0 ? listAt(places.outputPadding)
                                                         : std::optional(std::vector<std::int64_t>{ 0 });
    if (!groups || *groups < 1 || !outputPadding)
        return std::nullopt;
    double results
        = at(*input, 0) * (isTransposed ? at(*weight, 1) * static_cast<double>(*groups) : at(*weight, 0));
    double area = 1; // of the result: its sizes in space
    for (std::size_t i = 2; i < input->sizes.size(); ++i) {
        const double step = static_cast<double>(entry(*stride, i - 2));
        const double reach = static_cast<double>(entry(*dilation, i - 2)) * (at(*weight, i) - 1) + 1;
        const double edge = 2 * static_cast<double>(entry(*padding, i - 2));
        if (step < 1 || reach < 1 || edge < 0)
            return std::nullopt;
        const double size = isTransposed
            ? (at(*input, i) - 1) * step - edge + reach + static_cast<double>(entry(*outputPadding, i - 2))
            : std::floor((at(*input, i) + edge - reach) / step) + 1;
        if (size < 0)
            return std::nullopt;
        area *= size;
    }
    results *= area;
    CostSums sums(CostKind::Convolution, input->type.number);
    const double each = isTransposed ? spatial(*input) : area;
    const double flops = 2 * at(*input, 0) * each * weight->elements();
    sums.compute(flops, flops, flops / overlapOf(*weight, *stride));
    // Steps wider than the windows pass over some of the input.
    sums.mayRead(*input);
    if (results > 0)
        sums.read(*weight);
    sums.write(results, input->type.bytes);
    return sums.cost();
}

std::optional<OperatorCost> convolutionBackwardCost(const OperatorInputs& inputs)
{
    const TensorInput* const gradient = inputs.tensor(0);
    const TensorInput* const input = inputs.tensor(1);
    const TensorInput* const weight = inputs.tensor(2);
    const auto stride = inputs.list(4);
    const auto isTransposed = inputs.truth(7);
    const auto groups = inputs.integer(9);
    const auto mask = inputs.list(10);
    if (!gradient || !input || !weight || !stride || !isTransposed || !groups || *groups < 1 || !mask
        || mask->size() != 3 || input->sizes.size() < 3 || input->sizes.size() != weight->sizes.size()
        || gradient->sizes.size() != input->sizes.size() || gradient->sizes[0] != input->sizes[0])
        return std::nullopt;
    CostSums sums(CostKind::Convolution, input->type.number);
    const double save = overlapOf(*weight, *stride);
    sums.read(*gradient);
    if ((*mask)[0] != 0) { // of the input: a convolution of the gradient the other way
        const double each = *isTransposed ? spatial(*input) : spatial(*gradient);
        const double flops = 2 * at(*gradient, 0) * each * weight->elements();
        sums.compute(flops, flops, flops / save);
        if (gradient->elements() > 0)
            sums.read(*weight);
        sums.write(input->elements(), input->type.bytes);
    }
    if ((*mask)[1] != 0) { // of the weight: input and gradient, batch and channels exchanged
        const double each = *isTransposed ? spatial(*input) : spatial(*gradient);
        const double flops = 2 * at(*input, 0) * at(*input, 1) * at(*gradient, 1) * each * spatial(*weight);
        const double done = flops / static_cast<double>(*groups);
        sums.compute(flops, done, done / save);
        sums.mayRead(*input);
        sums.write(weight->elements(), weight->type.bytes);
    }
    if ((*mask)[2] != 0)
        sums.write(at(*gradient, 1), gradient->type.bytes);
    return sums.cost();
}

std::optional<OperatorCost> attentionCost(const AttentionPlaces& places, const OperatorInputs& inputs)
{
    const TensorInput* const query = tensorAt(inputs, places.query);
    const TensorInput* const key = tensorAt(inputs, places.query + 1);
    const TensorInput* const value = tensorAt(inputs, places.query + 2);
    if (!query || !key || !value || query->sizes.size() != 4 || key->sizes.size() != 4
        || value->sizes.size() != 4 || isGiven(inputs, places.lengths)
        || isGiven(inputs, places.lengths < 0 ? -1 : places.lengths + 1) || isGiven(inputs, places.pages))
        return std::nullopt;
    for (int i = 0; places.window >= 0 && i < 2; ++i)
        if (const auto told = inputs.value(static_cast<std::size_t>(places.window + i));
            !told.empty() && told != "-1")
            return std::nullopt;
    const std::size_t sequence = places.isSequenceFirst ? 1 : 2, heads = places.isSequenceFirst ? 2 : 1;
    const double batch = at(*query, 0) * at(*query, heads);
    const double queries = at(*query, sequence), keys = at(*key, sequence);
    const double features = at(*query, 3), values = at(*value, 3);
    if (at(*key, 3) != features || at(*value, sequence) != keys || key->sizes[0] != query->sizes[0])
        return std::nullopt;
    bool isCausal = false, isTold = places.causal < 0;
    if (places.causal >= 0) {
        const auto place = static_cast<std::size_t>(places.causal);
        const auto number = inputs.integer(place);
        isTold = inputs.truth(place) || number;
        isCausal = inputs.truth(place).value_or(number.value_or(0) != 0);
    }
    CostSums sums(CostKind::Attention, query->type.number);
    // Forward: scores, and results of them. Backward: scores again, gradients of scores and value, of query
    // and key: two products over the values' features, three over the queries'.
    const double products = places.isBackward ? 3 * features + 2 * values : features + values;
    const double all = 2 * batch * queries * keys * products;
    const double causal = 2 * batch * causalEntries(queries, keys) * products;
    sums.compute(all, isCausal ? causal : all, isCausal || !isTold ? causal : all);
    const bool isSkipping = isCausal || !isTold || queries * batch == 0;
    const double results = batch * queries * values;
    keys > 0 && (!isSkipping || queries <= keys) ? sums.read(*query) : sums.mayRead(*query);
    for (const TensorInput* const tensor : { key, value })
        isSkipping ? sums.mayRead(*tensor) : sums.read(*tensor);
    if (places.isBackward) {
        if (const TensorInput* const gradient = inputs.tensor(0))
            sums.mayRead(*gradient);
        sums.write(query->elements() + key->elements() + value->elements(), query->type.bytes);
    } else {
        sums.write(results, query->type.bytes);
    }
    return sums.cost();
}

} // namespace strata::model
