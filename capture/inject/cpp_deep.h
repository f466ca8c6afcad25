// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/interpose/cpp_training.h"

namespace strata::inject {

// What a recording is told of the training of a C++ program: where optimizers' steps end and, of one step,
// what record_deep.py tells of a Python program's: it begins as the step before it ends, and ends as its own
// does, of the optimizer that steps first. Operators, their tensors, and what autograd saves the recorder
// sees itself. Modules it does not: LibTorch calls nobody before a forward. Nothing in a program with a
// Python, and nothing where nothing is recorded. On the thread that trains; a load of a flag once nothing is
// to be told any more.

void optimizerStepped(const void* optimizer, const char* type) noexcept;
/// Whether goneBackward() is wanted.
[[nodiscard]] bool goesBackward(const interpose::Backward& call) noexcept;
void goneBackward(interpose::Tensors returned) noexcept;
void autocastSet(bool enabled) noexcept;
void graphUsed() noexcept;

} // namespace strata::inject
