// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/deep_watch.h"

#include "capture/agent/thread_table.h"

#include <utility>
#include <vector>

namespace strata::agent {

namespace {

DeepWatch* g_watch = nullptr; // that hooks call: set before they do

void savedSeen(std::uint32_t kind, std::uint32_t saved, const void* tensor) noexcept
{
    g_watch->addSaved(static_cast<wire::DeepKind>(kind), saved, tensor);
}

} // namespace

void DeepWatch::operatorSeen(const hook::DeepOperator& seen) noexcept
{
    g_watch->log().addOperator(seen, threadNumber());
    g_watch->calls().addOperator(seen);
}

void DeepWatch::tensorGone(const void* tensor) noexcept
{
    g_watch->log().addGone(tensor, threadNumber());
    g_watch->calls().addGone(tensor);
}

void DeepWatch::failed() noexcept
{
    constexpr const char* kLess = "LibTorch told less than all of it";
    g_watch->log().fail(kLess);
    g_watch->calls().fail(kLess);
}

bool DeepWatch::begin()
{
    m_log.begin();
    m_calls.begin();
    m_hasLasting = m_isAlone = false;
    g_watch = this;
    if (m_hook.beginDeep && m_hook.beginDeep({ operatorSeen, tensorGone, failed }))
        return true;
    constexpr const char* kUnseen = "this LibTorch lets nobody watch its operators";
    m_calls.end(kUnseen);
    m_log.end(kUnseen);
    return false;
}

void DeepWatch::seeAlone(std::span<const void* const> parameters)
{
    if (!m_log.isOpen())
        return;
    if (m_hook.followSaved)
        (void)m_hook.followSaved(savedSeen); // else the step has none that are saved, as who reads it says
    m_calls.add(wire::CallKind::Known, "parameter", {}, lookAt(parameters));
    m_hasLasting = m_isAlone = true;
    if (m_hook.lastDeep)
        m_hook.lastDeep();
    listGradients();
}

void DeepWatch::listGradients()
{
    if (!m_log.isOpen() || !m_hook.tellGradients)
        return;
    std::vector<hook::DeepTensor> pairs;
    m_hook.tellGradients(
        &pairs, [](void* to, const hook::DeepTensor& tensor, const hook::DeepTensor& gradient) noexcept {
            auto& all = *static_cast<std::vector<hook::DeepTensor>*>(to);
            all.push_back(tensor);
            all.push_back(gradient);
        });
    m_calls.add(wire::CallKind::Known, "gradient", {}, pairs);
}

void DeepWatch::end(std::string unusable)
{
    if (!m_log.isOpen())
        return;
    m_hook.endDeep();
    if (m_isAlone)
        m_calls.addStates();
    m_calls.end(unusable);
    m_log.end(std::move(unusable)); // last: from now on both are written
}

/// Tensors that are gone were gone before.
void DeepWatch::addSaved(wire::DeepKind kind, std::uint32_t saved, const void* tensor) noexcept
{
    if (!m_log.isOpen())
        return;
    // An alias that is held to see when the program lets go would itself be seen to be let go.
    hook::DeepTensor seen;
    const bool isKnown = m_hook.lookDeep(tensor, kind == wire::DeepKind::Unpacked, &seen);
    m_log.addSaved(kind, saved, isKnown ? &seen : nullptr, threadNumber());
}

std::vector<hook::DeepTensor> DeepWatch::lookAt(std::span<const void* const> tensors)
{
    m_hook.lookDeep(nullptr, false, nullptr);
    std::vector<hook::DeepTensor> all;
    for (const void* const tensor : tensors)
        if (hook::DeepTensor seen; m_hook.lookDeep(tensor, true, &seen))
            all.push_back(seen);
    return all;
}

void DeepWatch::addModule(
    wire::DeepKind kind, std::string_view path, std::string_view type, std::span<const void* const> tensors)
{
    if (!m_log.isOpen())
        return;
    const std::vector<hook::DeepTensor> all = lookAt(tensors);
    m_log.addModule(kind, path, type, all, threadNumber());
    m_calls.add(
        kind == wire::DeepKind::Enters ? wire::CallKind::Enters : wire::CallKind::Leaves, path, type, {});
}

void DeepWatch::addCall(
    wire::CallKind kind, std::string_view name, std::string_view detail, std::span<const void* const> tensors)
{
    if (!m_log.isOpen())
        return;
    const std::vector<hook::DeepTensor> all = lookAt(tensors);
    if (kind == wire::CallKind::Known && name == "state" && m_hook.lastDeep
        && !std::exchange(m_hasLasting, true))
        m_hook.lastDeep(); // parameters and states of optimizers
    if (all.size() == tensors.size())
        m_calls.add(kind, name, detail, all);
    else
        m_calls.fail("the step goes backward from tensors that lie on no GPU");
}

} // namespace strata::agent
