// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/devices.h"
#include "capture/hook/torch_hook.h"
#include "model/wire/call_list_codec.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strata::agent {

/// What the program itself calls in a deep step, on its way to the sender: enough to call it again without
/// the program, or why that cannot be. Any thread; what it lists happens on the one that steps. Takes nothing
/// of the device.
class CallLog {
public:
    /// Strings as they are; the rest as in wire::CallListChunk, whose ids are rows of `texts`.
    struct List {
        wire::CallListChunk chunk;
        std::vector<std::string> texts;
    };

    /// `devices` outlive this.
    explicit CallLog(const Devices& devices)
        : m_devices(devices)
    {
    }

    void begin();
    /// It is whole; `unusable`: why the step is not to be used, if it is not.
    void end(const std::string& unusable = {});
    /// The list that has ended, once.
    [[nodiscard]] std::optional<List> take();
    /// In the child of a fork.
    void forget() noexcept { m_isOpen.store(false); }

    void addOperator(const hook::DeepOperator& seen) noexcept;
    void addGone(const void* tensor) noexcept;
    /// Anything else.
    void add(wire::CallKind kind, std::string_view name, std::string_view detail,
        std::span<const hook::DeepTensor> tensors) noexcept;
    /// The states of optimizers of a program that does not tell them: what was there before the step, and is
    /// taken for the first time once autograd has gone backward for the last time, with a parameter or its
    /// gradient.
    void addStates() noexcept;
    void fail(std::string why) noexcept;

private:
    wire::CallRow* addRow(wire::CallKind kind);
    [[nodiscard]] bool isListed() const;
    [[nodiscard]] std::uint32_t text(std::string_view text);
    [[nodiscard]] std::uint32_t numberOf(const hook::DeepTensor& seen);
    [[nodiscard]] std::uint32_t newNumber(const hook::DeepTensor& seen);
    void addRef(std::size_t row, const hook::DeepTensor& seen);
    void check();

    const Devices& m_devices;
    std::atomic<bool> m_isOpen{ false };
    std::mutex m_mutex; // of the rest
    List m_list;
    std::vector<std::uint64_t> m_begins; // of each device, how many events it had
    bool m_hasDevice = false, m_isDone = false, m_isBackward = false;
    std::vector<std::vector<std::uint32_t>> m_refs; // of each row
    std::optional<std::size_t> m_running; // the row of a call that has not returned
    std::size_t m_textBytes = 0;
    std::string m_unusable;
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_texts;
    std::unordered_map<const void*, std::uint32_t> m_tensors; // that LibTorch told of and that are not gone
    std::unordered_map<const void*, std::uint32_t> m_gradients; // whose they are
};

} // namespace strata::agent
