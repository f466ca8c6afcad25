// SPDX-License-Identifier: Apache-2.0
// Stands between a C++ program and LibTorch's optimizers, which tell nobody of their steps. LibTorch's
// classes lead virtual calls through tables that the loader fills by name, and direct calls go by name too:
// a preloaded definition gets both. An optimizer that the program derives from Optimizer alone has a step()
// of its own, which nothing outside sees; that there is one shows in what its table holds in that place.
//
// The signatures are the same in 1.13 and everything after it.
#include "capture/interpose/cpp_training.h"
#include "capture/interpose/libtorch_functions.h"

#include <cstdint>
#include <cstring>

namespace strata::interpose {

namespace {

using StepFunction = ReturnedTensor (*)(void* optimizer, void* closure);

} // namespace

// Each under the name of the class's step(std::function<at::Tensor()>).
#define STRATA_STEP(function, name, symbol)                                                                  \
    STRATA_INTERPOSED ReturnedTensor function(void* optimizer, void* closure) __asm__(symbol);               \
    ReturnedTensor function(void* optimizer, void* closure)                                                  \
    {                                                                                                        \
        static const auto real = functionBehind<StepFunction>(symbol);                                       \
        onOptimizerSteps(optimizer);                                                                         \
        ReturnedTensor loss = real(optimizer, closure);                                                      \
        onOptimizerStepped(optimizer, name);                                                                 \
        return loss;                                                                                         \
    }

STRATA_STEP(strataAdagradStep, "Adagrad", "_ZN5torch5optim7Adagrad4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataAdamStep, "Adam", "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataAdamWStep, "AdamW", "_ZN5torch5optim5AdamW4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataLbfgsStep, "LBFGS", "_ZN5torch5optim5LBFGS4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataRmspropStep, "RMSprop", "_ZN5torch5optim7RMSprop4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataSgdStep, "SGD", "_ZN5torch5optim3SGD4stepESt8functionIFN2at6TensorEvEE")

namespace {

std::uintptr_t wordAt(const void* place, std::size_t index)
{
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(place) + index * sizeof word, sizeof word);
    return word;
}

/// While the base is being made an object has the base's table, behind the two words at its head.
bool isBeingMade(const void* optimizer)
{
    constexpr const char* kTable = "_ZTVN5torch5optim9OptimizerE";
    static const void* const table = [] {
        void* const found = dlsym(RTLD_DEFAULT, kTable);
        return found ? found : behind(kTable);
    }();
    return table && wordAt(optimizer, 0) == reinterpret_cast<std::uintptr_t>(table) + 2 * sizeof(void*);
}

/// Virtual functions in the order of the class: two destructors, step(), save(), load().
bool isOfOwnClass(const void* optimizer)
{
    constexpr std::size_t kStep = 2;
    const std::uintptr_t step = wordAt(reinterpret_cast<const void*>(wordAt(optimizer, 0)), kStep);
    for (const StepFunction known : { strataAdagradStep, strataAdamStep, strataAdamWStep, strataLbfgsStep,
             strataRmspropStep, strataSgdStep }) {
        if (reinterpret_cast<std::uintptr_t>(known) == step)
            return false;
    }
    return true;
}

} // namespace

/// A vector of groups, of which each begins with a vector of its parameters, behind which are its options.
std::vector<const void*> parametersOf(const void* optimizer)
{
    struct Vector {
        const char *begin, *end, *capacity;
    };
    struct Group {
        Vector parameters;
        const void* options;
    };
    using Groups = const Vector* (*)(const void*);
    static const auto groupsOf
        = reinterpret_cast<Groups>(behind("_ZNK5torch5optim9Optimizer12param_groupsEv"));
    std::vector<const void*> all;
    if (!groupsOf)
        return all;
    const Vector& groups = *groupsOf(optimizer);
    if ((groups.end - groups.begin) % sizeof(Group) != 0)
        return all;
    for (const char* at = groups.begin; at != groups.end; at += sizeof(Group)) {
        Group group;
        std::memcpy(&group, at, sizeof group);
        for (const char* each = group.parameters.begin; each != group.parameters.end; each += sizeof(void*))
            all.push_back(reinterpret_cast<const void*>(wordAt(each, 0)));
    }
    return all;
}

STRATA_INTERPOSED void strataAddParamGroup(void* optimizer, const void* group) __asm__(
    "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE");
void strataAddParamGroup(void* optimizer, const void* group)
{
    static const auto real = functionBehind<void (*)(void*, const void*)>(
        "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE");
    if (isBeingMade(optimizer))
        onOptimizerMade(optimizer);
    real(optimizer, group);
}

STRATA_INTERPOSED void strataZeroGrad(void* optimizer, bool setToNone) __asm__(
    "_ZN5torch5optim9Optimizer9zero_gradEb");
void strataZeroGrad(void* optimizer, bool setToNone)
{
    static const auto real = functionBehind<void (*)(void*, bool)>("_ZN5torch5optim9Optimizer9zero_gradEb");
    if (isOfOwnClass(optimizer))
        onGradientsZeroed(optimizer);
    real(optimizer, setToNone);
}

} // namespace strata::interpose
