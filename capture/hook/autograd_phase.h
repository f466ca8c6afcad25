// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/libtorch.h"

#include <c10/core/AutogradState.h>
#include <cstdint>
#include <memory>
#include <torch/csrc/autograd/function.h>
#include <type_traits>

namespace strata::hook {

// What autograd has the calling thread do: reads of thread-local variables, by functions that LibTorch
// exports (torch/csrc/autograd/engine.cpp and c10/core/AutogradState.cpp, since 2.1). The number of the graph
// that is evaluated holds on every thread that does it: autograd's own, the caller's, and those of backwards
// inside of backwards.

// Nodes are counted by each thread that makes them (torch/csrc/autograd/function.h, sequence_nr_).

struct PhaseFunctions {
    c10::AutogradState& (*state)() = nullptr;
    int (*graph)() = nullptr; ///< -1: none is evaluated
    bool (*keepsGraph)() = nullptr;
    std::uint64_t (*nodesMade)() = nullptr; ///< by the calling thread
    decltype(&torch::autograd::get_current_node) node
        = nullptr; ///< that is evaluated; versions differ in how they hold it
    std::uint64_t (*thread)() = nullptr; ///< its number, as nodes have it
};
inline PhaseFunctions g_phases; // written once, before anything is attached

inline void findPhases()
{
    const auto function = [](auto& to, const char* symbol, const char* library) {
        to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(find(symbol, library));
    };
    function(g_phases.graph, "_ZN5torch8autograd25get_current_graph_task_idEv", "libtorch_cpu.so");
    function(
        g_phases.keepsGraph, "_ZN5torch8autograd33get_current_graph_task_keep_graphEv", "libtorch_cpu.so");
    function(g_phases.nodesMade, "_ZN2at15sequence_number4peekEv", "libtorch_cpu.so");
    function(g_phases.node, "_ZN5torch8autograd16get_current_nodeEv", "libtorch_cpu.so");
    function(g_phases.thread, "_ZN2at14RecordFunction15currentThreadIdEv", "libtorch_cpu.so");
    function(g_phases.state, "_ZN3c1013AutogradState13get_tls_stateEv", "libc10.so");
}

inline bool tellsPhases() noexcept
{
    return g_phases.graph && g_phases.state;
}

/// Code of model/wire/kinds.h (EventPhase).
inline std::uint8_t phaseNow() noexcept
{
    enum : std::uint8_t { Unknown, Grad, NoGrad, Inference, Backward, BackwardGrad, BackwardGradKeep };
    if (!tellsPhases())
        return Unknown;
    const c10::AutogradState& state = g_phases.state();
    if (state.get_inference_mode())
        return Inference;
    if (g_phases.graph() == -1)
        return state.get_grad_mode() ? Grad : NoGrad;
    if (!state.get_grad_mode())
        return Backward;
    // A second derivative keeps the graph unless it is told not to; a recomputed forward is mostly inside of
    // a backward that does not.
    return g_phases.keepsGraph && !g_phases.keepsGraph() ? BackwardGrad : BackwardGradKeep;
}

/// A node as a function of LibTorch hands it out. An intrusive pointer is ended through its base: of a Node
/// the compiler guesses what virtual functions do, and not all of it is inline.
template <class Pointer> union HeldNode {
    Pointer value;

    explicit HeldNode(Pointer (*get)())
        : value(get())
    {
    }
    ~HeldNode()
    {
        if constexpr (requires { value.release(); }) {
            if (auto* const held = value.release())
                c10::raw::intrusive_ptr::decref(held);
        } else {
            value.~Pointer();
        }
    }
    HeldNode(const HeldNode&) = delete;
    HeldNode& operator=(const HeldNode&) = delete;
};

inline std::uint64_t autogradNode(bool evaluated) noexcept
{
    if (!tellsPhases() || !g_phases.nodesMade || !g_phases.node || !g_phases.thread)
        return 0;
    const auto numberOf = [](std::uint64_t thread, std::uint64_t count) {
        return thread << kNodeCountBits | (count & ((std::uint64_t{ 1 } << kNodeCountBits) - 1));
    };
    if (evaluated) {
        const HeldNode node(g_phases.node);
        return node.value ? numberOf(node.value->thread_id(), node.value->sequence_nr() + 1) : 0;
    }
    const std::uint64_t made = g_phases.nodesMade();
    return made == 0 ? 0 : numberOf(g_phases.thread(), made);
}

} // namespace strata::hook
