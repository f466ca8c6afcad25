// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/devices.h"
#include "capture/agent/program/call_log.h"
#include "capture/agent/program/deep_log.h"
#include "capture/hook/torch_hook.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::agent {

/// Records a deep step: a step of which the hook reports every operator. Reports of the hook and of Python
/// go to two logs. The hook calls the DeepWatch that began last, which must outlive it. Reports come on any
/// thread; a step begins and ends on one thread.
class DeepWatch {
public:
    /// Both outlive this.
    DeepWatch(const hook::Hook& hook, const Devices& devices)
        : m_hook(hook)
        , m_log(devices)
        , m_calls(devices)
    {
    }

    [[nodiscard]] bool isOpen() const { return m_log.isOpen(); }

    /// For a program without Python, on the thread of the step: LibTorch itself reports the tensors that
    /// autograd saves, where it can. `parameters`: those of the optimizer, at::TensorImpls.
    void seeAlone(std::span<const void* const> parameters);
    /// For a program without Python, after the backward pass.
    void listGradients();
    /// On the same thread. `unusable`: why it is not to be used; empty: it is.
    void end(std::string unusable);
    /// Reports of Python, on the threads where they happen. Tensors are at::TensorImpls.
    void addSaved(wire::DeepKind kind, std::uint32_t saved, const void* tensor) noexcept;
    void addModule(wire::DeepKind kind, std::string_view path, std::string_view type,
        std::span<const void* const> tensors);
    /// A call that is neither an operator nor a module; from Python, on any thread.
    void addCall(wire::CallKind kind, std::string_view name, std::string_view detail,
        std::span<const void* const> tensors);

private:
    friend class Agent;

    [[nodiscard]] DeepLog& log() { return m_log; }
    [[nodiscard]] CallLog& calls() { return m_calls; }
    /// A step begins now, on this thread; false: this LibTorch lets nobody watch its operators.
    [[nodiscard]] bool begin();
    /// In the child of a fork.
    void forget() noexcept
    {
        m_log.forget();
        m_calls.forget();
    }
    // What hooks call.
    static void operatorSeen(const hook::DeepOperator& seen) noexcept;
    static void tensorGone(const void* tensor) noexcept;
    static void failed() noexcept;
    /// What the hook knows of those that lie on a GPU.
    [[nodiscard]] std::vector<hook::DeepTensor> lookAt(std::span<const void* const> tensors);

    const hook::Hook& m_hook;
    DeepLog m_log;
    CallLog m_calls;
    bool m_isAlone = false; // seeAlone()
    bool m_hasLasting = false; // it has been told what outlives it
};

} // namespace strata::agent
