// SPDX-License-Identifier: Apache-2.0
// The part of an agent that sees a step in which every operator is told.
#include "capture/agent/agent.h"

#include <utility>
#include <vector>

namespace strata::agent {

namespace {

DeepLog* g_deep = nullptr; // that hooks call: set before they do
CallLog* g_callList = nullptr; // likewise
Agent* g_stepping = nullptr; // likewise

void operatorSeen(const hook::DeepOperator& seen) noexcept
{
    g_deep->addOperator(seen, threadNumber());
    g_callList->addOperator(seen);
}
void tensorGone(const void* tensor) noexcept
{
    g_deep->addGone(tensor, threadNumber());
    g_callList->addGone(tensor);
}
void failed() noexcept
{
    constexpr const char* kLess = "LibTorch told less than all of it";
    g_deep->fail(kLess);
    g_callList->fail(kLess);
}
void savedSeen(std::uint32_t kind, std::uint32_t saved, const void* tensor) noexcept
{
    g_stepping->addSaved(static_cast<wire::DeepKind>(kind), saved, tensor);
}

} // namespace

bool Agent::beginDeepStep()
{
    const std::lock_guard control(m_control);
    Recorder* const recorder = m_recorder.load(std::memory_order_relaxed);
    if (!recorder || !m_followed || m_forked.load(std::memory_order_relaxed) || m_deep.isOpen()
        || std::exchange(m_hadDeepStep, true))
        return false;
    recorder->writeDeepStepsOf(m_deep, m_callList);
    m_deep.begin();
    m_callList.begin();
    m_hasLasting = m_isAlone = false;
    g_deep = &m_deep;
    g_callList = &m_callList;
    g_stepping = this;
    if (m_hook.beginDeep && m_hook.beginDeep({ operatorSeen, tensorGone, failed }))
        return true;
    constexpr const char* kUnseen = "this LibTorch lets nobody watch its operators";
    m_callList.end(kUnseen);
    m_deep.end(kUnseen);
    return false;
}

void Agent::seeAlone(std::span<const void* const> parameters)
{
    if (!m_deep.isOpen())
        return;
    if (m_hook.followSaved)
        (void)m_hook.followSaved(savedSeen); // else the step has none that are saved, as who reads it says
    m_callList.add(wire::CallKind::Known, "parameter", {}, lookAt(parameters));
    m_hasLasting = m_isAlone = true;
    if (m_hook.lastDeep)
        m_hook.lastDeep();
    listGradients();
}

void Agent::listGradients()
{
    if (!m_deep.isOpen() || !m_hook.tellGradients)
        return;
    std::vector<hook::DeepTensor> pairs;
    m_hook.tellGradients(
        &pairs, [](void* to, const hook::DeepTensor& tensor, const hook::DeepTensor& gradient) noexcept {
            auto& all = *static_cast<std::vector<hook::DeepTensor>*>(to);
            all.push_back(tensor);
            all.push_back(gradient);
        });
    m_callList.add(wire::CallKind::Known, "gradient", {}, pairs);
}

std::set<std::int32_t> Agent::devicesOf(std::span<const void* const> tensors) const
{
    std::set<std::int32_t> devices;
    for (const void* const tensor : tensors)
        if (hook::DeepTensor seen; m_hook.lookDeep && m_hook.lookDeep(tensor, false, &seen))
            devices.insert(seen.device);
    return devices;
}

void Agent::endDeepStep(std::string unusable)
{
    if (!m_deep.isOpen())
        return;
    m_hook.endDeep();
    if (m_isAlone)
        m_callList.addStates();
    m_callList.end(unusable);
    m_deep.end(std::move(unusable)); // last: from now on both are written
}

/// Tensors that are gone were gone before.
void Agent::addSaved(wire::DeepKind kind, std::uint32_t saved, const void* tensor) noexcept
{
    if (!m_deep.isOpen())
        return;
    // An alias that is held to see when the program lets go would itself be seen to be let go.
    hook::DeepTensor seen;
    const bool isKnown = m_hook.lookDeep(tensor, kind == wire::DeepKind::Unpacked, &seen);
    m_deep.addSaved(kind, saved, isKnown ? &seen : nullptr, threadNumber());
}

std::vector<hook::DeepTensor> Agent::lookAt(std::span<const void* const> tensors)
{
    m_hook.lookDeep(nullptr, false, nullptr);
    std::vector<hook::DeepTensor> all;
    for (const void* const tensor : tensors)
        if (hook::DeepTensor seen; m_hook.lookDeep(tensor, true, &seen))
            all.push_back(seen);
    return all;
}

void Agent::addModule(
    wire::DeepKind kind, std::string_view path, std::string_view type, std::span<const void* const> tensors)
{
    if (!m_deep.isOpen())
        return;
    const std::vector<hook::DeepTensor> all = lookAt(tensors);
    m_deep.addModule(kind, path, type, all, threadNumber());
    m_callList.add(
        kind == wire::DeepKind::Enters ? wire::CallKind::Enters : wire::CallKind::Leaves, path, type, {});
}

void Agent::addCall(
    wire::CallKind kind, std::string_view name, std::string_view detail, std::span<const void* const> tensors)
{
    if (!m_deep.isOpen())
        return;
    const std::vector<hook::DeepTensor> all = lookAt(tensors);
    if (kind == wire::CallKind::Known && name == "state" && m_hook.lastDeep
        && !std::exchange(m_hasLasting, true))
        m_hook.lastDeep(); // parameters and states of optimizers
    if (all.size() == tensors.size())
        m_callList.add(kind, name, detail, all);
    else
        m_callList.fail("the step goes backward from tensors that lie on no GPU");
}

} // namespace strata::agent
