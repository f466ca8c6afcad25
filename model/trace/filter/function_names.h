// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::model {

/// What the name of a C++ function says of a stack that has no code of the user. What is less says more.
enum class Telling : std::uint8_t {
    BackwardStep, ///< "torch::autograd::generated::MmBackward0::apply"
    BackwardMember, ///< what frees what a step saved
    BackwardEngine, ///< of autograd, between the steps
    Operator, ///< "at::_ops::mm::call", "aten::mm"; of several the outermost is what was called
    Code, ///< of LibTorch, or of nobody known
    Machinery, ///< unwinding, the allocator, empty tensors, dispatch, the interpreter, threads
    Nothing, ///< no name
};
[[nodiscard]] Telling tellingOf(std::string_view function);

/// Of LibTorch, the C++ library, Python or pybind11, wherever its source seems to be.
[[nodiscard]] bool isLibraryFunction(std::string_view function);

/// How a function is called in lists: without its type and its parameters, "MmBackward0::apply" for a step of
/// backward, "at::mm" for an operator. Empty where there is no name.
[[nodiscard]] std::string functionLabel(std::string_view function);

/// "f<...>::call" of "f<A, B<C>>::call" where the arguments of a template are longer than some names.
[[nodiscard]] std::string withoutLongArguments(std::string_view name);

} // namespace strata::model
