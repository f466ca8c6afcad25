// SPDX-License-Identifier: Apache-2.0
// Stands between a C++ program and where LibTorch goes backward. at::Tensor::backward() comes by here too: it
// leads to the first of the two, from one file of LibTorch to another and so by name. Python goes to the
// engine itself.
//
// The signatures are the same in 2.4 and everything after it.
#include "capture/interpose/cpp_training.h"
#include "capture/interpose/libtorch_functions.h"

#include <cstdint>

namespace strata::interpose {

// Not without a name, or the functions below would have none that others see.

/// std::vector<at::Tensor>, as it is handed over by reference.
struct TensorVector {
    const void *const *begin, *const *end, *const *capacity;

    [[nodiscard]] Tensors all() const { return { begin, end }; }
};
/// The same as it is returned: the caller's.
struct ReturnedTensors {
    ReturnedTensors(ReturnedTensors&& other) noexcept
        : vector(std::exchange(other.vector, {}))
    {
    }
    ReturnedTensors& operator=(ReturnedTensors&&) = delete;
    ~ReturnedTensors() { }
    TensorVector vector;
};
static_assert(sizeof(ReturnedTensors) == sizeof(std::vector<void*>));

namespace {

/// Whether the end of the call is to be told.
bool begins(const TensorVector& roots, const TensorVector& gradients, const TensorVector& inputs,
    std::optional<bool> keepsGraph, bool createsGraph, bool accumulates, bool allowsUnused) noexcept
{
    if (isWithinBackward())
        return false;
    try {
        Backward call;
        call.roots = roots.all();
        call.gradients = gradients.all();
        call.inputs = inputs.all();
        for (std::size_t i = 0; i < call.roots.size(); ++i)
            call.given.push_back(i < call.gradients.size() && !isUndefined(call.gradients[i]));
        call.keepsGraph = keepsGraph.value_or(createsGraph);
        call.createsGraph = createsGraph;
        call.accumulates = accumulates;
        call.allowsUnused = allowsUnused;
        return onBackward(call);
    } catch (...) {
        return false; // no memory: this one is not told
    }
}

void ends(bool tells, Tensors returned) noexcept
{
    if (tells)
        onBackwardEnds(returned);
}

} // namespace

#define STRATA_BACKWARD "_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_St8optionalIbEbS7_"

STRATA_INTERPOSED void strataBackward(const TensorVector& roots, const TensorVector& gradients,
    std::optional<bool> keepsGraph, bool createsGraph, const TensorVector& inputs) __asm__(STRATA_BACKWARD);
void strataBackward(const TensorVector& roots, const TensorVector& gradients, std::optional<bool> keepsGraph,
    bool createsGraph, const TensorVector& inputs)
{
    static const auto real = functionBehind<decltype(&strataBackward)>(STRATA_BACKWARD);
    const bool tells = begins(roots, gradients, inputs, keepsGraph, createsGraph, true, true);
    real(roots, gradients, keepsGraph, createsGraph, inputs);
    ends(tells, {});
}

#define STRATA_GRAD "_ZN5torch8autograd4gradERKSt6vectorIN2at6TensorESaIS3_EES7_S7_St8optionalIbEbb"

STRATA_INTERPOSED ReturnedTensors strataGrad(const TensorVector& roots, const TensorVector& inputs,
    const TensorVector& gradients, std::optional<bool> keepsGraph, bool createsGraph,
    bool allowsUnused) __asm__(STRATA_GRAD);
ReturnedTensors strataGrad(const TensorVector& roots, const TensorVector& inputs,
    const TensorVector& gradients, std::optional<bool> keepsGraph, bool createsGraph, bool allowsUnused)
{
    static const auto real = functionBehind<decltype(&strataGrad)>(STRATA_GRAD);
    const bool tells = begins(roots, gradients, inputs, keepsGraph, createsGraph, false, allowsUnused);
    ReturnedTensors returned = real(roots, inputs, gradients, keepsGraph, createsGraph, allowsUnused);
    ends(tells, returned.vector.all());
    return returned;
}

bool isWithinBackward() noexcept
{
    static const auto graph
        = reinterpret_cast<int (*)()>(behind("_ZN5torch8autograd25get_current_graph_task_idEv"));
    return graph && graph() != -1;
}

bool isUndefined(const void* tensor) noexcept
{
    constexpr const char* kNone = "_ZN3c1019UndefinedTensorImpl10_singletonE";
    static const void* const none = [] {
        void* const found = dlsym(RTLD_DEFAULT, kNone); // the program may hold the live copy of a variable
        return found ? found : behind(kNone, "libc10.so");
    }();
    return tensor == nullptr || tensor == none;
}

} // namespace strata::interpose
