// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace strata::interpose {

// What a C++ program asks of LibTorch as it trains, of which LibTorch tells nobody: calls by name, which
// reach a preloaded definition first. A library that has cpp_optimizers.cpp, cpp_backward.cpp,
// cpp_autocast.cpp and cpp_graphs.cpp defines what begins with `on`; it is called on the thread that calls.
// Programs of Python come by here too.

void onOptimizerMade(const void* optimizer) noexcept;
/// Of an optimizer of torch::optim, as its step begins, and once it has ended; not where it throws.
void onOptimizerSteps(const void* optimizer) noexcept;
void onOptimizerStepped(const void* optimizer, const char* type) noexcept;
/// Of an optimizer whose class is the program's own.
void onGradientsZeroed(const void* optimizer) noexcept;

/// at::TensorImpls, as at::Tensor holds them.
using Tensors = std::span<const void* const>;

/// torch::autograd::backward() and grad(); at::Tensor::backward() calls the former.
struct Backward {
    Tensors roots;
    std::vector<bool> given; ///< of each root whether it has a gradient, or is one number
    Tensors gradients; ///< of the roots, those that are not given undefined ones; may be fewer
    Tensors inputs; ///< for which gradients are asked; none: for all leaves
    bool keepsGraph = false, createsGraph = false, accumulates = false, allowsUnused = false;
};
/// Not of those within another. What the first returns is whether the second is wanted; it does not come
/// where backward throws.
[[nodiscard]] bool onBackward(const Backward& call) noexcept;
void onBackwardEnds(Tensors returned) noexcept;

/// A CUDA graph is captured or replayed.
void onGraphUsed() noexcept;

/// On the GPU, for the calling thread: it was the other before.
void onAutocast(bool enabled) noexcept;

/// The type of autocast on the GPU, as c10 names it, where that is on for the calling thread; else nullptr.
[[nodiscard]] const char* autocastType() noexcept;
/// Parameters of an optimizer that lives, in all its groups. Empty where this LibTorch does not tell.
[[nodiscard]] std::vector<const void*> parametersOf(const void* optimizer);
/// Whether autograd goes backward on the calling thread.
[[nodiscard]] bool isWithinBackward() noexcept;
/// No tensor, as at::Tensor holds it.
[[nodiscard]] bool isUndefined(const void* tensor) noexcept;

} // namespace strata::interpose
