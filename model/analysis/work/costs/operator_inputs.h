// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/element_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A tensor that an operator was called with.
struct TensorInput {
    std::vector<std::int64_t> sizes; ///< none below 0; of a scalar none
    std::vector<std::int64_t> strides; ///< in elements, as many as sizes; empty: not known, or a scalar
    ElementType type;

    [[nodiscard]] double elements() const; ///< the product of its sizes
    /// At least so many elements are different ones: of a dimension that was expanded (stride 0) one; where
    /// dimensions overlap, and where strides are not known, those of the longest dimension alone.
    [[nodiscard]] double distinctElements() const;
    [[nodiscard]] double bytes() const { return elements() * static_cast<double>(type.bytes); }
};

/// An argument in its place.
struct OperatorArgument {
    std::vector<TensorInput> tensors; ///< one; of a list of tensors all, in their order; else none
    bool isList = false; ///< of tensors
    std::string
        value; ///< of what is no tensor, as PyTorch prints it: "[0, 1]", "True"; empty: not told, none
};

/// What an operator was called with.
struct OperatorInputs {
    std::vector<OperatorArgument> arguments;

    /// The one tensor in that place; nullptr: there is none, it was not given, or its type is not known.
    [[nodiscard]] const TensorInput* tensor(std::size_t place) const;
    [[nodiscard]] std::string_view value(std::size_t place) const; ///< empty: not told, or none
    [[nodiscard]] std::optional<bool> truth(std::size_t place) const; ///< of a value "True" or "False"
    [[nodiscard]] std::optional<std::int64_t> integer(std::size_t place) const;
    /// Of a value "[0, 1]", truth values as 0 and 1; nullopt: it is none, or not told.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> list(std::size_t place) const;
};

/// From the JSON texts that PyTorch's profiler writes with record_shapes=True: "Input Dims", "Input type",
/// "Concrete Inputs" and "Input Strides" of a row, the latter two empty where the file is older than they
/// are. nullopt: there are no shapes, or the texts are not of this form, or beyond kLongestInputs.
/// Source of the form: torch/csrc/autograd/profiler_kineto.cpp and torch/csrc/profiler/util.cpp.
[[nodiscard]] std::optional<OperatorInputs> readOperatorInputs(std::string_view shapes,
    std::string_view types, std::string_view values = {}, std::string_view strides = {});

/// Sizes for people, of the JSON text: "[512] [141,512]". What has none is left out. Any text is taken.
[[nodiscard]] std::string shapesText(std::string_view shapes);

/// Bytes of one text. torch.optim hands lists of all parameters to an operator.
inline constexpr std::size_t kLongestInputs = 4'000'000;

} // namespace strata::model
