// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/devices.h"
#include "capture/hook/torch_hook.h"
#include "model/wire/deep_step_codec.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::agent {

/// A deep step on its way to the sender: what hooks and Python's side tell of it, each with its place among
/// the events of the device. Any thread. A step has one device: where it has tensors of several it is not to
/// be used.
class DeepLog {
public:
    /// Strings as they are; the rest as in wire::DeepStepChunk, whose ids are rows of `texts`.
    struct Step {
        wire::DeepStepChunk chunk;
        std::vector<std::string> texts;
    };

    /// `devices` outlive this.
    explicit DeepLog(const Devices& devices)
        : m_devices(devices)
    {
    }

    void begin();
    /// It is whole; `unusable`: why it is not to be used, if it is not.
    void end(std::string unusable = {});
    [[nodiscard]] bool isOpen() const { return m_isOpen.load(std::memory_order_acquire); }
    /// The step that has ended, once.
    [[nodiscard]] std::optional<Step> take();
    /// In the child of a fork.
    void forget() noexcept { m_isOpen.store(false); }

    void addOperator(const hook::DeepOperator& seen, std::uint32_t thread) noexcept;
    void addGone(const void* tensor, std::uint32_t thread) noexcept;
    /// Saved, Unpacked, Released: of a number that Python's side gives. `tensor`: what is held of what is
    /// saved, which is no tensor of the program's; what is taken out, which addGone() tells of; nullptr:
    /// neither.
    void addSaved(wire::DeepKind kind, std::uint32_t saved, const hook::DeepTensor* tensor,
        std::uint32_t thread) noexcept;
    /// Enters, Leaves.
    void addModule(wire::DeepKind kind, std::string_view path, std::string_view type,
        std::span<const hook::DeepTensor> tensors, std::uint32_t thread) noexcept;
    void fail(std::string why) noexcept;

private:
    wire::DeepRow* add(wire::DeepKind kind, std::uint32_t thread);
    void addRef(wire::DeepRow& row, std::uint32_t tensor);
    [[nodiscard]] std::uint32_t text(std::string_view text);
    [[nodiscard]] std::uint32_t tensorOf(const hook::DeepTensor& seen);
    [[nodiscard]] std::uint32_t tensorAt(const hook::DeepTensor& seen);
    [[nodiscard]] bool isOfDevice(std::int32_t device);

    const Devices& m_devices;
    std::atomic<bool> m_isOpen{ false };
    std::mutex m_mutex; // of the rest
    Step m_step;
    std::vector<std::uint64_t> m_begins; // of each device, how many events it had
    bool m_hasDevice = false, m_isDone = false;
    std::string m_unusable;
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_texts;
    std::unordered_map<const void*, std::uint32_t> m_tensors; // that LibTorch told of and that are not gone
    std::map<std::pair<std::uint64_t, std::string_view>, std::uint32_t>
        m_places; // rows of what is saved, by address and type
};

} // namespace strata::agent
