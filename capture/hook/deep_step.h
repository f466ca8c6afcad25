// SPDX-License-Identifier: Apache-2.0
// One step in which every operator is seen, with the tensors that go in and come out, and when the program
// lets go of what came out: by LibTorch's own observers (ATen/record_function.h) and weak references, which
// keep no bytes of a tensor alive. The program allocates what it would without. Nothing is paid for before
// such a step and behind it.
#pragma once

#include "capture/hook/input_texts.h"
#include "capture/hook/observers.h"

#include <c10/util/intrusive_ptr.h>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

namespace strata::hook {

/// A tensor that somebody may still have.
class WatchedTensor {
public:
    explicit WatchedTensor(c10::TensorImpl* tensor)
        : m_tensor(tensor)
    {
        c10::raw::weak_intrusive_ptr::incref(m_tensor);
    }
    WatchedTensor(WatchedTensor&& other) noexcept
        : m_tensor(std::exchange(other.m_tensor, nullptr))
    {
    }
    WatchedTensor& operator=(WatchedTensor&& other) noexcept
    {
        std::swap(m_tensor, other.m_tensor);
        return *this;
    }
    ~WatchedTensor()
    {
        if (m_tensor)
            c10::raw::weak_intrusive_ptr::decref(m_tensor);
    }

    [[nodiscard]] bool isGone() const { return c10::raw::weak_intrusive_ptr::use_count(m_tensor) == 0; }
    [[nodiscard]] const void* identity() const { return m_tensor; }

private:
    c10::intrusive_ptr_target* m_tensor;
};

struct DeepStep {
    Observers observers;
    DeepCallbacks callbacks{};
    at::CallbackHandle handle{};
    bool isOn = false;
    std::mutex mutex; // of the rest: autograd's threads see operators too
    std::vector<WatchedTensor> watched;
    std::unordered_set<const void*>
        known; // those that are in it: their addresses are nobody else's meanwhile
};
inline DeepStep& deepStep()
{
    static auto* const step = new DeepStep; // never destroyed: operators run while the process ends
    return *step;
}
/// What this thread does for a recording is no part of the step.
inline thread_local bool t_isQuiet = false;

/// None of one that lies on no GPU, or has no storage as those that wrap others.
inline bool deepTensorOf(const c10::TensorImpl* tensor, DeepTensor& seen)
{
    c10::StorageImpl* const storage = tensor ? tensor->unsafe_storage().unsafeGetStorageImpl() : nullptr;
    if (!storage || storage->device_type() != c10::DeviceType::CUDA)
        return false;
    seen.tensor = tensor;
    seen.device = storage->device().index();
    // What checks first throws by a function that is not inline.
    seen.address = reinterpret_cast<std::uintptr_t>(storage->_mutable_data_ptr_no_checks().get());
    seen.type = typeName(*tensor);
    return true;
}

inline void addDeepTensor(const c10::IValue& value, std::vector<DeepTensor>& to)
{
    if (value.isList()) {
        const auto& list
            = static_cast<const c10::detail::ListImpl*>(heldBy<const c10::intrusive_ptr_target*>(value))
                  ->list;
        for (const c10::IValue& each : list)
            addDeepTensor(each, to);
        return;
    }
    if (DeepTensor seen; deepTensorOf(tensorOf(value), seen))
        to.push_back(seen);
}

/// Under the lock, as the next.
inline void watch(DeepStep& step, const void* tensor)
{
    if (step.known.insert(tensor).second)
        step.watched.emplace_back(const_cast<c10::TensorImpl*>(static_cast<const c10::TensorImpl*>(tensor)));
}

inline void tellGone(DeepStep& step)
{
    std::erase_if(step.watched, [&](const WatchedTensor& each) {
        if (!each.isGone())
            return false;
        step.callbacks.gone(each.identity());
        step.known.erase(each.identity());
        return true;
    });
}

inline void tellOperator(
    const at::RecordFunction& function, c10::ArrayRef<const c10::IValue> values, bool returns)
{
    DeepStep& step = deepStep();
    std::vector<DeepTensor> tensors;
    for (const c10::IValue& each : values)
        addDeepTensor(each, tensors);
    const std::lock_guard lock(step.mutex);
    if (!returns) // what allocates begins first
        tellGone(step);
    const char* const name = step.observers.name(&function);
    DeepOperator told;
    told.returns = returns;
    told.name = { name, std::strlen(name) };
    told.tensors = tensors.data();
    told.count = static_cast<std::uint32_t>(tensors.size());
    step.callbacks.operatorSeen(told);
    for (const DeepTensor& each : tensors)
        watch(step, each.tensor);
}

inline std::unique_ptr<at::ObserverContext> beginDeepOperator(const at::RecordFunction& function)
{
    try {
        if (!t_isQuiet)
            tellOperator(function, function.inputs(), false);
    } catch (...) {
        deepStep().callbacks.failed();
    }
    return nullptr;
}

inline void endDeepOperator(const at::RecordFunction& function, at::ObserverContext*)
{
    try {
        if (!t_isQuiet)
            tellOperator(function,
                c10::ArrayRef<const c10::IValue>(function.outputs().data(), function.outputs().size()), true);
    } catch (...) {
        deepStep().callbacks.failed();
    }
}

inline bool beginDeep(const DeepCallbacks& callbacks) noexcept
{
    try {
        DeepStep& step = deepStep();
        step.observers = findObservers();
        if (step.isOn || !step.observers.areKnown())
            return false;
        step.callbacks = callbacks;
        step.handle = step.observers.add(
            std::move(onOperators(beginDeepOperator, endDeepOperator).needsOutputs(true)));
        step.isOn = true;
        return true;
    } catch (...) {
        return false;
    }
}

/// On the thread that began it.
inline void endDeep() noexcept
{
    try {
        DeepStep& step = deepStep();
        if (!step.isOn)
            return;
        step.isOn = false;
        step.observers.remove(step.handle);
        const std::lock_guard lock(step.mutex);
        tellGone(step);
        step.watched.clear();
        step.known.clear();
    } catch (...) {
        deepStep().callbacks.failed();
    }
}

/// What the calling thread does is seen, or not.
inline void quietDeep(bool quiet) noexcept
{
    t_isQuiet = quiet;
}

/// The tensors that are gone are told now, not with the next operator. `tensor`, if it is not nullptr,
/// becomes `seen`, and is watched from now on if that is asked for; false: there is nothing to say of it.
inline bool lookDeep(const void* tensor, bool watches, DeepTensor* seen) noexcept
{
    try {
        DeepStep& step = deepStep();
        const std::lock_guard lock(step.mutex);
        tellGone(step);
        if (!tensor || !deepTensorOf(static_cast<const c10::TensorImpl*>(tensor), *seen))
            return false;
        if (watches && step.isOn)
            watch(step, tensor);
        return true;
    } catch (...) {
        deepStep().callbacks.failed();
        return false;
    }
}

} // namespace strata::hook
