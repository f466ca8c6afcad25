// SPDX-License-Identifier: Apache-2.0
// What autograd saves for backward, of a program without a Python: there the engine is asked for hooks of
// what is to be saved, by a virtual function that has none to give, and ours has. As record_deep.py, what is
// saved is held as an alias that the program does not know, so that what the program lets go of is seen, and
// taken out as another one. That takes no memory of the device, and the program allocates what it would
// without.
//
// Calls of at::Tensor's own functions would ask for more of LibTorch than is looked up by name: what goes in
// and out of these classes is a pointer, as at::Tensor is.
#pragma once

#include "capture/hook/deep_step.h"
#include "capture/hook/virtual_place.h"

#include <atomic>
#include <c10/core/SafePyObject.h>
#include <c10/util/intrusive_ptr.h>
#include <memory>
#include <optional>
#include <torch/csrc/autograd/engine.h>
#include <utility>

namespace strata::hook {

/// Has a part in a tensor; is handed over and returned as at::Tensor is.
class HeldTensor {
public:
    HeldTensor(HeldTensor&& other) noexcept
        : m_tensor(std::exchange(other.m_tensor, nullptr))
    {
    }
    HeldTensor& operator=(HeldTensor&&) = delete;
    ~HeldTensor() { release(); }

    [[nodiscard]] const c10::TensorImpl* get() const { return m_tensor; }
    void release()
    {
        if (c10::intrusive_ptr_target* const held = std::exchange(m_tensor, nullptr))
            c10::raw::intrusive_ptr::decref(held);
    }

private:
    c10::TensorImpl* m_tensor;
};
static_assert(sizeof(HeldTensor) == sizeof(at::Tensor));

struct SavedTensors {
    /// at::TensorBase::variable_data(): another tensor of the same memory, made by no operator.
    HeldTensor (*alias)(const void* tensor) = nullptr;
    SavedSeen seen = nullptr;
    std::atomic<bool> isOn{ false };
    std::atomic<std::uint32_t> count{ 0 };
    std::optional<VirtualPlace> place;
    void* before = nullptr; ///< the engine's own function
};
inline SavedTensors g_saved;

/// Codes of model/wire/kinds.h (DeepKind).
enum : std::uint32_t { kSaved = 3, kUnpacked = 4, kReleased = 5 };

/// torch::autograd::SavedVariableHooks, by the order of its virtual functions; those behind the destructor
/// came later, and are asked for by Python's compiler of backwards alone.
class SavedTensor {
public:
    SavedTensor() = default;
    SavedTensor(const SavedTensor&) = delete;
    SavedTensor& operator=(const SavedTensor&) = delete;

    virtual void pack(const HeldTensor& tensor)
    {
        m_held.emplace(g_saved.alias(&tensor));
        DeepTensor known;
        if (!g_saved.isOn.load() || !deepTensorOf(m_held->get(), known))
            return;
        m_number = g_saved.count.fetch_add(1);
        g_saved.seen(kSaved, *m_number, m_held->get());
    }
    virtual HeldTensor unpack()
    {
        HeldTensor taken = g_saved.alias(&*m_held);
        if (m_number)
            g_saved.seen(kUnpacked, *m_number, taken.get());
        return taken;
    }
    virtual ~SavedTensor()
    {
        m_held.reset();
        if (m_number)
            g_saved.seen(kReleased, *m_number, nullptr);
    }
    virtual std::optional<std::pair<c10::SafePyObject, c10::SafePyObject>> unpackHookData() const
    {
        return std::nullopt;
    }
    virtual std::optional<c10::SafePyObject> unpackHook() const { return std::nullopt; }

private:
    std::optional<HeldTensor> m_held;
    std::optional<std::uint32_t> m_number;
};

inline std::unique_ptr<SavedTensor> hooksForSaved(void*)
{
    return g_saved.isOn.load() ? std::make_unique<SavedTensor>() : nullptr;
}

/// In a deep step, on the thread that began it.
inline bool followSaved(SavedSeen seen) noexcept
{
    try {
        using Engine = torch::autograd::Engine;
        SavedTensors& all = g_saved;
        const auto engine = reinterpret_cast<Engine& (*)()>(
            find("_ZN5torch8autograd6Engine18get_default_engineEv", "libtorch_cpu.so"));
        all.alias = reinterpret_cast<decltype(all.alias)>(
            find("_ZNK2at10TensorBase13variable_dataEv", "libtorch_cpu.so"));
        if (all.isOn.load() || !all.alias || !engine)
            return false;
        all.place = VirtualPlace::of(&engine(), &Engine::get_default_saved_variable_hooks);
        if (!all.place->isUsable())
            return false;
        all.seen = seen;
        all.before = all.place->function();
        all.isOn.store(true);
        if (all.place->set(reinterpret_cast<void*>(hooksForSaved)))
            return true;
        all.isOn.store(false);
    } catch (...) {
        // No memory: it is not told.
    }
    return false;
}

/// What is saved already is taken out as before.
inline void endSaved() noexcept
{
    if (g_saved.isOn.exchange(false))
        (void)g_saved.place->set(g_saved.before);
}

} // namespace strata::hook
