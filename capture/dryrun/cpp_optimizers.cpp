// SPDX-License-Identifier: Apache-2.0
// Stands between a C++ program and LibTorch's optimizers, which tell nobody of their steps. LibTorch's
// classes lead virtual calls through tables that the loader fills by name, and direct calls go by name too:
// a preloaded definition gets both. An optimizer that the program derives from Optimizer alone has a step()
// of its own, which nothing outside sees; that there is one shows in what its table holds in that place.
//
// Nothing of LibTorch is compiled against. By the Itanium ABI and that of the processor, at::Tensor comes
// back through a hidden address, and a std::function that is passed by value travels as the address of a
// temporary; neither depends on the ABI of strings. The signatures are the same in 1.13 and everything after
// it.
#include "capture/dryrun/steps.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#define STRATA_API __attribute__((visibility("default")))

namespace strata::dryrun {

/// Not trivial to copy, so that it is returned as at::Tensor is.
struct Tensor {
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    ~Tensor();
    void* implementation;
};
static_assert(sizeof(Tensor) == sizeof(void*));

namespace {

/// The definition behind ours; Python loads LibTorch where only its handle finds it.
void* behind(const char* name)
{
    if (void* found = dlsym(RTLD_NEXT, name))
        return found;
    void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : nullptr;
}

template <class Function> Function functionBehind(const char* name)
{
    if (void* found = behind(name))
        return reinterpret_cast<Function>(found);
    std::fprintf(stderr, "strata: %s: called, but not found in libtorch_cpu.so\n", name);
    std::abort();
}

using StepFunction = Tensor (*)(void* optimizer, void* closure);

} // namespace

// Each under the name of the class's step(std::function<at::Tensor()>).
#define STRATA_STEP(function, symbol)                                                                        \
    STRATA_API Tensor function(void* optimizer, void* closure) __asm__(symbol);                              \
    Tensor function(void* optimizer, void* closure)                                                          \
    {                                                                                                        \
        static const auto real = functionBehind<StepFunction>(symbol);                                       \
        optimizerSteps(optimizer);                                                                           \
        return real(optimizer, closure);                                                                     \
    }

STRATA_STEP(strataAdagradStep, "_ZN5torch5optim7Adagrad4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataAdamStep, "_ZN5torch5optim4Adam4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataAdamWStep, "_ZN5torch5optim5AdamW4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataLbfgsStep, "_ZN5torch5optim5LBFGS4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataRmspropStep, "_ZN5torch5optim7RMSprop4stepESt8functionIFN2at6TensorEvEE")
STRATA_STEP(strataSgdStep, "_ZN5torch5optim3SGD4stepESt8functionIFN2at6TensorEvEE")

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

STRATA_API void strataAddParamGroup(void* optimizer, const void* group) __asm__(
    "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE");
void strataAddParamGroup(void* optimizer, const void* group)
{
    static const auto real = functionBehind<void (*)(void*, const void*)>(
        "_ZN5torch5optim9Optimizer15add_param_groupERKNS0_19OptimizerParamGroupE");
    if (isBeingMade(optimizer))
        optimizerMade(optimizer);
    real(optimizer, group);
}

STRATA_API void strataZeroGrad(void* optimizer, bool setToNone) __asm__(
    "_ZN5torch5optim9Optimizer9zero_gradEb");
void strataZeroGrad(void* optimizer, bool setToNone)
{
    static const auto real = functionBehind<void (*)(void*, bool)>("_ZN5torch5optim9Optimizer9zero_gradEb");
    if (isOfOwnClass(optimizer))
        gradientsZeroed(optimizer);
    real(optimizer, setToNone);
}

} // namespace strata::dryrun
