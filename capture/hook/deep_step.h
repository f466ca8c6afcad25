// SPDX-License-Identifier: Apache-2.0
// One step in which every operator is seen, with the tensors that go in and come out, and when the program
// lets go of what came out: by LibTorch's own observers (ATen/record_function.h) and weak references, which
// keep no bytes of a tensor alive. The program allocates what it would without. Nothing is paid for before
// such a step and behind it.
#pragma once

#include "capture/hook/call_text.h"
#include "capture/hook/input_texts.h"
#include "capture/hook/observers.h"

#include <algorithm>
#include <c10/util/intrusive_ptr.h>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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
    [[nodiscard]] const c10::TensorImpl* get() const { return static_cast<const c10::TensorImpl*>(m_tensor); }

private:
    c10::intrusive_ptr_target* m_tensor;
};

/// What tells more of a call than its name: functions that LibTorch exports.
struct CallFunctions {
    std::optional<c10::OperatorName> (*name)(const at::RecordFunction*) = nullptr;
    bool (*makesNodes)() = nullptr;
    c10::AutogradMetaInterface* (*autograd)(const c10::TensorImpl*) = nullptr;
};
inline CallFunctions g_callFunctions; // written as a step begins
inline CallFunctions findCallFunctions()
{
    CallFunctions found;
    found.name = reinterpret_cast<decltype(found.name)>(
        find("_ZNK2at14RecordFunction13operator_nameEv", "libtorch_cpu.so"));
    found.makesNodes
        = reinterpret_cast<decltype(found.makesNodes)>(find("_ZN3c108GradMode10is_enabledEv", "libc10.so"));
    found.autograd = reinterpret_cast<decltype(found.autograd)>(
        find("_ZNK3c1010TensorImpl13autograd_metaEv", "libc10.so"));
    return found;
}

struct DeepStep {
    Observers observers;
    DeepCallbacks callbacks{};
    at::CallbackHandle handle{};
    bool isOn = false;
    std::mutex mutex; // of the rest: autograd's threads see operators too
    std::vector<WatchedTensor> watched;
    std::size_t lasting = 0; // the first of them, which hardly anybody lets go of: looked at now and then
    std::size_t looks = 0;
    std::unordered_set<const void*>
        known; // those that are in it: their addresses are nobody else's meanwhile
};
inline DeepStep& deepStep()
{
    static auto* const step = new DeepStep; // never destroyed: operators run while the process ends
    return *step;
}
/// It began the step.
inline thread_local bool t_isStepping = false;
/// How many operators run on this thread that were told.
inline thread_local int t_depth = 0;
/// How many of them compute, and do not go backward.
inline thread_local int t_computing = 0;
/// Of the outermost of these: how many tensors were watched as it began. Those nobody lets go of within it.
inline thread_local std::size_t t_older = 0;

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
    try { // nested and sparse ones have none
        const c10::IntArrayRef sizes = tensor->sizes(), strides = tensor->strides();
        seen.offset = tensor->storage_offset();
        seen.sizes = sizes.data();
        seen.strides = strides.data();
        seen.dimensions = static_cast<std::uint32_t>(sizes.size());
    } catch (const std::exception&) {
        seen.sizes = nullptr;
    }
    const auto autogradOf = g_callFunctions.autograd;
    if (const c10::AutogradMetaInterface* const autograd = autogradOf ? autogradOf(tensor) : nullptr) {
        seen.requiresGrad = autograd->requires_grad();
        const c10::TensorImpl* const gradient = autograd->grad().unsafeGetTensorImpl();
        seen.gradient = gradient && gradient->dtype_initialized() ? gradient : nullptr; // else undefined
    }
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

/// Of those that were watched last, but for so many that were watched before.
inline void tellGone(DeepStep& step, std::size_t older)
{
    const auto first
        = step.watched.begin() + static_cast<std::ptrdiff_t>(std::min(older, step.watched.size()));
    const auto before = step.watched.size();
    const auto gone = std::remove_if(first, step.watched.end(), [&](const WatchedTensor& each) {
        if (!each.isGone())
            return false;
        step.callbacks.gone(each.identity());
        step.known.erase(each.identity());
        return true;
    });
    step.watched.erase(gone, step.watched.end());
    if (older < step.lasting)
        step.lasting -= std::min(step.lasting, before - step.watched.size());
}

/// Of all that this thread may have let go of.
inline void tellGone(DeepStep& step)
{
    constexpr std::size_t kSeldom = 256;
    if (t_computing > 0)
        return tellGone(step, t_older);
    tellGone(step, ++step.looks % kSeldom == 0 ? 0 : step.lasting);
}

/// What it takes to make the call again; texts go into `overload` and `arguments`.
inline DeepCall callOf(const at::RecordFunction& function, std::string& overload, std::string& arguments)
{
    const CallFunctions& functions = g_callFunctions;
    DeepCall call;
    call.gradients = functions.makesNodes && functions.makesNodes();
    if (const auto name = functions.name ? functions.name(&function) : std::nullopt) {
        overload = name->name;
        if (!name->overload_name.empty())
            overload.append(1, '.').append(name->overload_name);
    }
    bool isKnown = true, isGpu = false;
    arguments = '[';
    for (const c10::IValue& each : function.inputs()) {
        if (arguments.size() > 1)
            arguments += ',';
        isKnown = isKnown && addArgument(each, arguments, isGpu);
    }
    arguments += ']';
    if (!isKnown)
        arguments.clear();
    call.overload = { overload.data(), overload.size() };
    call.arguments = { arguments.data(), arguments.size() };
    return call;
}

inline void tellOperator(
    const at::RecordFunction& function, c10::ArrayRef<const c10::IValue> values, bool returns, bool isCall)
{
    DeepStep& step = deepStep();
    std::vector<DeepTensor> tensors;
    for (const c10::IValue& each : values)
        addDeepTensor(each, tensors);
    DeepCall call;
    std::string overload, arguments;
    if (isCall && !returns)
        call = callOf(function, overload, arguments);
    const std::lock_guard lock(step.mutex);
    if (!returns) { // what allocates begins first
        tellGone(step);
        if (t_computing == 0)
            t_older = step.watched.size();
    }
    const char* const name = step.observers.name(&function);
    DeepOperator told;
    told.returns = returns;
    told.name = { name, std::strlen(name) };
    told.tensors = tensors.data();
    told.count = static_cast<std::uint32_t>(tensors.size());
    told.isCall = isCall;
    told.call = isCall && !returns ? &call : nullptr;
    step.callbacks.operatorSeen(told);
    for (const DeepTensor& each : tensors)
        watch(step, each.tensor);
}

/// Of one that was told as it began, on the thread that runs it.
struct DeepRun final : at::ObserverContext {
    bool computes = false;
};

inline std::unique_ptr<at::ObserverContext> beginDeepOperator(const at::RecordFunction& function)
{
    try {
        auto run = std::make_unique<DeepRun>();
        tellOperator(function, function.inputs(), false, t_isStepping && t_depth == 0);
        ++t_depth;
        // What goes backward from one to the next takes nothing either.
        run->computes = function.scope() == at::RecordScope::FUNCTION && !function.inputs().empty();
        t_computing += run->computes ? 1 : 0;
        return run;
    } catch (...) {
        deepStep().callbacks.failed();
    }
    return nullptr;
}

inline void endDeepOperator(const at::RecordFunction& function, at::ObserverContext* run)
{
    try {
        if (run && t_depth > 0) {
            --t_depth;
            t_computing -= static_cast<DeepRun*>(run)->computes ? 1 : 0;
        }
        tellOperator(function,
            c10::ArrayRef<const c10::IValue>(function.outputs().data(), function.outputs().size()), true,
            run && t_isStepping && t_depth == 0);
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
        g_callFunctions = findCallFunctions();
        t_isStepping = true;
        t_depth = t_computing = 0;
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
        t_isStepping = false;
        step.observers.remove(step.handle);
        const std::lock_guard lock(step.mutex);
        tellGone(step, 0);
        step.watched.clear();
        step.known.clear();
        step.lasting = step.looks = 0;
    } catch (...) {
        deepStep().callbacks.failed();
    }
}

/// What is watched so far outlives the step, as parameters do, if the program is not a strange one.
inline void lastDeep() noexcept
{
    try {
        DeepStep& step = deepStep();
        const std::lock_guard lock(step.mutex);
        step.lasting = step.watched.size();
    } catch (...) {
        deepStep().callbacks.failed();
    }
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

/// Of the tensors that are watched, those that have gradients; these are watched from now on.
inline void tellGradients(void* context, GradientFound found) noexcept
{
    try {
        DeepStep& step = deepStep();
        const std::lock_guard lock(step.mutex);
        tellGone(step, 0);
        for (std::size_t i = 0, end = step.watched.size(); i < end; ++i) {
            DeepTensor tensor, gradient;
            if (!deepTensorOf(step.watched[i].get(), tensor)
                || !deepTensorOf(static_cast<const c10::TensorImpl*>(tensor.gradient), gradient))
                continue;
            found(context, tensor, gradient);
            watch(step, gradient.tensor);
        }
    } catch (...) {
        deepStep().callbacks.failed();
    }
}

} // namespace strata::hook
