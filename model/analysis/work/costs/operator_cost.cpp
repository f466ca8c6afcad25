// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/operator_cost.h"

#include "model/analysis/work/costs/product_cost.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace strata::model {

namespace {

/// How an operator's bytes follow from what it was called with.
enum class Form : std::uint8_t {
    Matrices, ///< the three of products
    Added,
    Scaled,
    Vectors,
    Each, ///< tensors in the first places are read, one is written: as large as all of them, stretched
    Truths, ///< the same, of truth values
    Fill, ///< one is written
    Copy, ///< from place 1 to place 0
    Joined, ///< of a list
    Reduced, ///< the one in place 0 is read
    Softmax, ///< read and written; in place 2 whether 16 bits become 32
    SoftmaxBackward, ///< two are read, one is written
    Norm, ///< place 0 is read and written
    NormBackward, ///< places 0 and 1 are read; one is written if the mask says so
    Dropout, ///< place 0 is read, it and its mask written
    Embedding, ///< rows of place 0 for each index in place 1
    IndexSelect, ///< a dimension in place 1, indices in place 2
    GatherOf, ///< the same, one element for each index
    Foreach, ///< lists are read; one is written
    FusedAdam, ///< parameters, gradients and two states are read; all but gradients are written
    View,
};

struct Rule {
    std::string_view name;
    CostKind kind;
    Form form;
    std::size_t operands = 1; ///< of Each and Truths; what is behind them may be where the result goes
};

using enum CostKind;

/// Without "aten::". Of what is written in place, the name without its underscore.
constexpr std::array kCostRules = std::to_array<Rule>({
    { "mm", MatrixProduct, Form::Matrices },
    { "bmm", MatrixProduct, Form::Matrices },
    { "_int_mm", MatrixProduct, Form::Matrices },
    { "addmm", MatrixProduct, Form::Added },
    { "baddbmm", MatrixProduct, Form::Added },
    { "_addmm_activation", MatrixProduct, Form::Added },
    { "_scaled_mm", MatrixProduct, Form::Scaled },
    { "mv", MatrixProduct, Form::Vectors },
    { "dot", MatrixProduct, Form::Vectors },
    { "add", Elementwise, Form::Each, 2 },
    { "sub", Elementwise, Form::Each, 2 },
    { "rsub", Elementwise, Form::Each, 2 },
    { "mul", Elementwise, Form::Each, 2 },
    { "div", Elementwise, Form::Each, 2 },
    { "pow", Elementwise, Form::Each, 2 },
    { "addcmul", Elementwise, Form::Each, 3 },
    { "addcdiv", Elementwise, Form::Each, 3 },
    { "lerp", Elementwise, Form::Each, 3 },
    { "maximum", Elementwise, Form::Each, 2 },
    { "minimum", Elementwise, Form::Each, 2 },
    { "clamp", Elementwise, Form::Each, 3 },
    { "clamp_min", Elementwise, Form::Each, 2 },
    { "clamp_max", Elementwise, Form::Each, 2 },
    { "neg", Elementwise, Form::Each },
    { "abs", Elementwise, Form::Each },
    { "exp", Elementwise, Form::Each },
    { "log", Elementwise, Form::Each },
    { "sqrt", Elementwise, Form::Each },
    { "rsqrt", Elementwise, Form::Each },
    { "reciprocal", Elementwise, Form::Each },
    { "sin", Elementwise, Form::Each },
    { "cos", Elementwise, Form::Each },
    { "erf", Elementwise, Form::Each },
    { "tanh", Elementwise, Form::Each },
    { "sigmoid", Elementwise, Form::Each },
    { "relu", Elementwise, Form::Each },
    { "gelu", Elementwise, Form::Each },
    { "silu", Elementwise, Form::Each },
    { "elu", Elementwise, Form::Each },
    { "leaky_relu", Elementwise, Form::Each },
    { "hardtanh", Elementwise, Form::Each },
    { "hardswish", Elementwise, Form::Each },
    { "softplus", Elementwise, Form::Each },
    { "masked_fill", Elementwise, Form::Each, 3 },
    { "where", Elementwise, Form::Each, 3 },
    { "eq", Elementwise, Form::Truths, 2 },
    { "ne", Elementwise, Form::Truths, 2 },
    { "lt", Elementwise, Form::Truths, 2 },
    { "le", Elementwise, Form::Truths, 2 },
    { "gt", Elementwise, Form::Truths, 2 },
    { "ge", Elementwise, Form::Truths, 2 },
    { "isnan", Elementwise, Form::Truths },
    { "isinf", Elementwise, Form::Truths },
    { "logical_not", Elementwise, Form::Truths },
    { "gelu_backward", Elementwise, Form::Each, 2 },
    { "silu_backward", Elementwise, Form::Each, 2 },
    { "threshold_backward", Elementwise, Form::Each, 2 },
    { "tanh_backward", Elementwise, Form::Each, 2 },
    { "sigmoid_backward", Elementwise, Form::Each, 2 },
    { "elu_backward", Elementwise, Form::Each },
    { "leaky_relu_backward", Elementwise, Form::Each, 2 },
    { "hardtanh_backward", Elementwise, Form::Each, 2 },
    { "hardswish_backward", Elementwise, Form::Each, 2 },
    { "native_dropout_backward", Elementwise, Form::Each, 2 },
    { "native_dropout", Elementwise, Form::Dropout },
    { "fill", Copy, Form::Fill },
    { "zero", Copy, Form::Fill },
    { "bernoulli", Copy, Form::Fill },
    { "normal", Copy, Form::Fill },
    { "uniform", Copy, Form::Fill },
    { "random", Copy, Form::Fill },
    { "copy", Copy, Form::Copy },
    { "cat", Copy, Form::Joined },
    { "sum", Reduction, Form::Reduced },
    { "mean", Reduction, Form::Reduced },
    { "prod", Reduction, Form::Reduced },
    { "amax", Reduction, Form::Reduced },
    { "amin", Reduction, Form::Reduced },
    { "max", Reduction, Form::Reduced },
    { "min", Reduction, Form::Reduced },
    { "argmax", Reduction, Form::Reduced },
    { "argmin", Reduction, Form::Reduced },
    { "all", Reduction, Form::Reduced },
    { "any", Reduction, Form::Reduced },
    { "var", Reduction, Form::Reduced },
    { "std", Reduction, Form::Reduced },
    { "var_mean", Reduction, Form::Reduced },
    { "norm", Reduction, Form::Reduced },
    { "linalg_vector_norm", Reduction, Form::Reduced },
    { "logsumexp", Reduction, Form::Reduced },
    { "_local_scalar_dense", Copy, Form::Reduced },
    { "topk", Reduction, Form::Reduced },
    { "_softmax", Normalisation, Form::Softmax },
    { "_log_softmax", Normalisation, Form::Softmax },
    { "_softmax_backward_data", Normalisation, Form::SoftmaxBackward },
    { "_log_softmax_backward_data", Normalisation, Form::SoftmaxBackward },
    { "native_layer_norm", Normalisation, Form::Norm },
    { "native_group_norm", Normalisation, Form::Norm },
    { "native_batch_norm", Normalisation, Form::Norm },
    { "cudnn_batch_norm", Normalisation, Form::Norm },
    { "miopen_batch_norm", Normalisation, Form::Norm },
    { "_fused_rms_norm", Normalisation, Form::Norm },
    { "native_layer_norm_backward", Normalisation, Form::NormBackward },
    { "native_group_norm_backward", Normalisation, Form::NormBackward },
    { "native_batch_norm_backward", Normalisation, Form::NormBackward },
    { "cudnn_batch_norm_backward", Normalisation, Form::NormBackward },
    { "miopen_batch_norm_backward", Normalisation, Form::NormBackward },
    { "_fused_rms_norm_backward", Normalisation, Form::NormBackward },
    { "embedding", Gather, Form::Embedding },
    { "index_select", Gather, Form::IndexSelect },
    { "gather", Gather, Form::GatherOf },
    { "_foreach_add", Optimiser, Form::Foreach },
    { "_foreach_mul", Optimiser, Form::Foreach },
    { "_foreach_div", Optimiser, Form::Foreach },
    { "_foreach_sqrt", Optimiser, Form::Foreach },
    { "_foreach_addcmul", Optimiser, Form::Foreach },
    { "_foreach_addcdiv", Optimiser, Form::Foreach },
    { "_foreach_lerp", Optimiser, Form::Foreach },
    { "_fused_adam", Optimiser, Form::FusedAdam },
    { "_fused_adamw", Optimiser, Form::FusedAdam },
    { "view", View, Form::View },
    { "_unsafe_view", View, Form::View },
    { "_reshape_alias", View, Form::View },
    { "t", View, Form::View },
    { "transpose", View, Form::View },
    { "permute", View, Form::View },
    { "expand", View, Form::View },
    { "slice", View, Form::View },
    { "select", View, Form::View },
    { "narrow", View, Form::View },
    { "split", View, Form::View },
    { "split_with_sizes", View, Form::View },
    { "chunk", View, Form::View },
    { "unbind", View, Form::View },
    { "squeeze", View, Form::View },
    { "unsqueeze", View, Form::View },
    { "as_strided", View, Form::View },
    { "detach", View, Form::View },
    { "alias", View, Form::View },
    { "empty", View, Form::View },
    { "empty_like", View, Form::View },
    { "empty_strided", View, Form::View },
});

struct AttentionRule {
    std::string_view name;
    AttentionPlaces places;
};

constexpr std::array kAttentions = std::to_array<AttentionRule>({
    { "_flash_attention_forward", { 0, 8, 3, 11, 15, true, false } },
    { "_flash_attention_backward", { 1, 11, 6, 15, -1, true, true } },
    { "_efficient_attention_forward", { 0, 9, 4, -1, 12, true, false } },
    { "_efficient_attention_backward", { 1, 14, 6, -1, -1, true, true } },
    { "_cudnn_attention_forward", { 0, 10, 4, -1, 14, false, false } },
    { "_cudnn_attention_backward", { 1, 14, 9, -1, -1, false, true } },
    { "_scaled_dot_product_flash_attention", { 0, 4, -1, -1, -1, false, false } },
    { "_scaled_dot_product_flash_attention_backward", { 1, 11, 6, -1, -1, false, true } },
    { "_scaled_dot_product_efficient_attention", { 0, 6, -1, -1, -1, false, false } },
    { "_scaled_dot_product_efficient_attention_backward", { 1, 11, -1, -1, -1, false, true } },
    { "_scaled_dot_product_cudnn_attention", { 0, 6, -1, -1, -1, false, false } },
    { "_scaled_dot_product_cudnn_attention_backward", { 1, 14, 9, -1, -1, false, true } },
});

struct ConvolutionRule {
    std::string_view name;
    ConvolutionPlaces places; // input, weight, stride, padding, dilation, transposed, output padding, groups
};

constexpr std::array kConvolutions = std::to_array<ConvolutionRule>({
    { "convolution", { 0, 1, 3, 4, 5, 6, 7, 8, false } },
    { "_convolution", { 0, 1, 3, 4, 5, 6, 7, 8, false } },
    { "convolution_overrideable", { 0, 1, 3, 4, 5, 6, 7, 8, false } },
    { "cudnn_convolution", { 0, 1, 3, 2, 4, -1, -1, 5, false } },
    { "cudnn_convolution_transpose", { 0, 1, 4, 2, 5, -1, 3, 6, true } },
    { "cudnn_convolution_relu", { 0, 1, 3, 4, 5, -1, -1, 6, false } },
    { "miopen_convolution", { 0, 1, 4, 3, 5, -1, -1, 6, false } },
    { "miopen_convolution_transpose", { 0, 1, 5, 3, 6, -1, 4, 7, true } },
    { "_conv_depthwise2d", { 0, 1, 4, 5, 6, -1, -1, -1, false } },
});

template <class R> const R* find(std::span<const R> rules, std::string_view name)
{
    const auto found = std::ranges::find(rules, name, &R::name);
    return found == rules.end() ? nullptr : &*found;
}

/// Those in the first places; none where one is of a type that is not told.
std::vector<const TensorInput*> operandsOf(const OperatorInputs& inputs, std::size_t places)
{
    std::vector<const TensorInput*> all;
    for (std::size_t i = 0; i < std::min(places, inputs.arguments.size()); ++i)
        for (const TensorInput& tensor : inputs.arguments[i].tensors) {
            if (tensor.type.bytes == 0 || inputs.arguments[i].isList)
                return {};
            all.push_back(&tensor);
        }
    return all;
}

/// What broadcasting makes of their sizes; nullopt: they do not go together.
std::optional<double> stretched(const std::vector<const TensorInput*>& tensors)
{
    std::vector<std::int64_t> sizes; // last first
    for (const TensorInput* const tensor : tensors)
        for (std::size_t i = 0; i < tensor->sizes.size(); ++i) {
            const std::int64_t size = tensor->sizes[tensor->sizes.size() - 1 - i];
            if (i == sizes.size())
                sizes.push_back(size);
            else if (sizes[i] == 1)
                sizes[i] = size;
            else if (size != 1 && size != sizes[i])
                return std::nullopt;
        }
    double elements = 1;
    for (const std::int64_t size : sizes)
        elements *= static_cast<double>(size);
    return elements;
}

/// Bytes of an element of what comes of tensors together, and at least: numbers do not widen tensors, whole
/// ones do not widen floating ones; what comes of whole ones may be FP32.
std::pair<std::int64_t, std::int64_t> resultBytes(const std::vector<const TensorInput*>& tensors)
{
    std::int64_t floating = 0, whole = 0, scalar = 0;
    for (const TensorInput* const tensor : tensors) {
        auto& widest = tensor->sizes.empty() ? scalar : tensor->type.isFloating ? floating : whole;
        widest = std::max(widest, tensor->type.bytes);
    }
    if (floating > 0)
        return { floating, floating };
    return { whole > 0 ? whole : scalar, 1 };
}

NumberType costNumberOf(const std::vector<const TensorInput*>& tensors)
{
    for (const TensorInput* const tensor : tensors)
        if (!tensor->sizes.empty())
            return tensor->type.number;
    return tensors.empty() ? NumberType::Other : tensors.front()->type.number;
}

std::optional<OperatorCost> eachCost(const Rule& rule, const OperatorInputs& inputs, bool isInPlace)
{
    const auto tensors = operandsOf(inputs, rule.operands);
    const auto elements = stretched(tensors);
    if (tensors.empty() || !elements)
        return std::nullopt;
    CostSums sums(rule.kind, costNumberOf(tensors));
    if (*elements > 0)
        for (const TensorInput* const tensor : tensors)
            sums.read(*tensor);
    const auto [each, least] = resultBytes(tensors);
    if (isInPlace)
        sums.write(tensors.front()->elements(), tensors.front()->type.bytes);
    else if (rule.form == Form::Truths)
        sums.write(*elements, 1);
    else
        sums.write(*elements, each, least);
    return sums.cost();
}

/// Of lists of the same sizes.
std::optional<OperatorCost> listCost(
    const Rule& rule, const OperatorInputs& inputs, std::size_t read, std::span<const std::size_t> written)
{
    OperatorCost all;
    all.kind = rule.kind;
    for (std::size_t place = 0; place < inputs.arguments.size(); ++place) {
        const OperatorArgument& argument = inputs.arguments[place];
        if (!argument.isList || place >= read)
            continue;
        double bytes = 0, least = 0;
        for (const TensorInput& tensor : argument.tensors) {
            if (tensor.type.bytes == 0)
                return std::nullopt;
            all.type = tensor.type.number;
            bytes += tensor.bytes();
            least += tensor.distinctElements() * static_cast<double>(tensor.type.bytes);
        }
        all.readBytes += bytes;
        all.leastReadBytes = std::max(all.leastReadBytes, least);
        if (std::ranges::find(written, place) != written.end()) {
            all.writtenBytes += bytes;
            all.leastWrittenBytes += least; // where strides are not told next to nothing
        }
    }
    return all.readBytes > 0 ? std::optional(all) : std::nullopt;
}

std::optional<OperatorCost> joinedCost(const OperatorInputs& inputs)
{
    if (inputs.arguments.empty() || !inputs.arguments[0].isList)
        return std::nullopt;
    const auto& tensors = inputs.arguments[0].tensors;
    CostSums sums(Copy, tensors.empty() ? NumberType::Other : tensors.front().type.number);
    for (const TensorInput& tensor : tensors) {
        if (tensor.type.bytes == 0)
            return std::nullopt;
        sums.read(tensor);
        sums.write(tensor.elements(), tensor.type.bytes,
            tensor.type == tensors.front().type ? tensor.type.bytes : 1);
    }
    return sums.cost();
}

std::optional<OperatorCost> gatherCost(const Rule& rule, const OperatorInputs& inputs)
{
    const TensorInput* const from = inputs.tensor(0);
    const TensorInput* const index = inputs.tensor(rule.form == Form::Embedding ? 1 : 2);
    if (!from || !index)
        return std::nullopt;
    double results = index->elements();
    if (rule.form == Form::Embedding) {
        if (from->sizes.size() != 2)
            return std::nullopt;
        results *= static_cast<double>(from->sizes[1]);
    } else if (rule.form == Form::IndexSelect) {
        auto dimension = inputs.integer(1);
        const auto count = static_cast<std::int64_t>(from->sizes.size());
        if (!dimension || *dimension < -count || *dimension >= count)
            return std::nullopt;
        for (std::int64_t i = 0; i < count; ++i)
            if (i != (*dimension + count) % count)
                results *= static_cast<double>(from->sizes[static_cast<std::size_t>(i)]);
    }
    CostSums sums(rule.kind, from->type.number);
    sums.write(results, from->type.bytes);
    return sums.cost();
}

/// What has one tensor, or two, in the first places.
std::optional<OperatorCost> plainCost(const Rule& rule, const OperatorInputs& inputs)
{
    const TensorInput* const first = inputs.tensor(0);
    const TensorInput* const second = inputs.tensor(1);
    if (!first)
        return std::nullopt;
    CostSums sums(rule.kind, first->type.number);
    const double elements = first->elements();
    switch (rule.form) {
    case Form::Fill:
        sums.write(elements, first->type.bytes);
        break;
    case Form::Copy:
        if (!second)
            return std::nullopt;
        if (elements > 0)
            sums.read(*second);
        sums.write(elements, first->type.bytes);
        break;
    case Form::Softmax: {
        const std::int64_t each = inputs.truth(2).value_or(false) ? 4 : first->type.bytes;
        sums.read(*first);
        sums.write(elements, each, std::min(each, first->type.bytes));
        break;
    }
    case Form::SoftmaxBackward:
        if (!second)
            return std::nullopt;
        sums.read(*first);
        sums.read(*second);
        sums.write(elements, first->type.bytes, std::min<std::int64_t>(first->type.bytes, 2));
        break;
    case Form::Norm:
        sums.read(*first);
        sums.write(elements, first->type.bytes);
        break;
    case Form::NormBackward: {
        if (!second)
            return std::nullopt;
        sums.read(*first);
        sums.read(*second);
        // The mask is the last of the arguments where there is one; of those without, all is made.
        const auto mask = inputs.list(inputs.arguments.size() - 1);
        if (!mask || mask->empty() || (*mask)[0] != 0)
            sums.write(elements, first->type.bytes,
                mask || rule.name.find("cudnn") != std::string_view::npos
                    ? std::min(first->type.bytes, second->type.bytes)
                    : 0);
        break;
    }
    case Form::Dropout:
        sums.read(*first);
        sums.write(elements, first->type.bytes);
        if (inputs.truth(2) != false)
            sums.write(elements, 1, inputs.truth(2) ? 1 : 0);
        break;
    default: // Reduced
        sums.read(*first);
        break;
    }
    return sums.cost();
}

std::optional<OperatorCost> ruleCost(const Rule& rule, const OperatorInputs& inputs, bool isInPlace)
{
    static constexpr std::array<std::size_t, 1> kFirst{ 0 };
    static constexpr std::array<std::size_t, 3> kParametersAndStates{ 0, 2, 3 };
    switch (rule.form) {
    case Form::Matrices:
        return productCost(ProductForm::Matrices, inputs);
    case Form::Added:
        return productCost(ProductForm::Added, inputs);
    case Form::Scaled:
        return productCost(ProductForm::Scaled, inputs);
    case Form::Vectors:
        return productCost(ProductForm::Vectors, inputs);
    case Form::Each:
    case Form::Truths:
        return eachCost(rule, inputs, isInPlace);
    case Form::Joined:
        return joinedCost(inputs);
    case Form::Embedding:
    case Form::IndexSelect:
    case Form::GatherOf:
        return gatherCost(rule, inputs);
    case Form::Foreach:
        return listCost(rule, inputs, inputs.arguments.size(), kFirst);
    case Form::FusedAdam:
        return listCost(rule, inputs, 4, kParametersAndStates);
    case Form::View:
        return OperatorCost();
    default:
        return plainCost(rule, inputs);
    }
}

std::optional<OperatorCost> costWhateverItIs(std::string_view operatorName, const OperatorInputs& inputs)
{
    static constexpr std::string_view kNamespace = "aten::";
    if (!operatorName.starts_with(kNamespace))
        return std::nullopt;
    std::string_view name = operatorName.substr(kNamespace.size());
    name = name.substr(0, name.find('.'));
    if (name == "convolution_backward")
        return convolutionBackwardCost(inputs);
    if (const auto* const rule = find<AttentionRule>(kAttentions, name))
        return attentionCost(rule->places, inputs);
    if (const auto* const rule = find<ConvolutionRule>(kConvolutions, name))
        return convolutionCost(rule->places, inputs);
    const bool isInPlace = name.size() > 1 && name.ends_with('_');
    const auto* const rule = find<Rule>(kCostRules, isInPlace ? name.substr(0, name.size() - 1) : name);
    return rule ? ruleCost(*rule, inputs, isInPlace) : std::nullopt;
}

double flopsNs(double flops, double peak)
{
    return peak > 0 ? flops / peak * 1e9 : 0;
}

} // namespace

std::string_view costKindWord(CostKind kind)
{
    static constexpr std::array<std::string_view, kCostKinds> kWords{ "matrix product", "convolution",
        "attention", "element by element", "normalisation", "reduction", "gather", "copy", "optimiser",
        "view" };
    return kWords[static_cast<std::size_t>(kind)];
}

std::optional<OperatorCost> costOf(std::string_view operatorName, const OperatorInputs& inputs)
{
    const auto cost = costWhateverItIs(operatorName, inputs);
    // Sizes of a damaged file multiply to what no device ever does, or to infinity.
    constexpr double kMost = 1e30;
    const bool isPossible = cost && cost->flops < kMost && cost->doneFlops < kMost && cost->bytes() < kMost;
    return isPossible ? cost : std::nullopt;
}

double leastNs(const OperatorCost& cost, const Card& card)
{
    double peak = card.peak(cost.type);
    if (cost.type == NumberType::Fp32)
        peak = std::max(peak, card.peak(NumberType::Tf32));
    const double cached = static_cast<double>(card.l2Bytes);
    const double bytes
        = std::max(cost.leastReadBytes - cached, 0.0) + std::max(cost.leastWrittenBytes - cached, 0.0);
    return std::max(flopsNs(cost.leastFlops, peak * card.clockHeadroom), flopsNs(bytes, card.bandwidth));
}

double rooflineNs(const OperatorCost& cost, const Card& card)
{
    return std::max(flopsNs(cost.doneFlops, card.peak(cost.type)), flopsNs(cost.bytes(), card.bandwidth));
}

} // namespace strata::model
