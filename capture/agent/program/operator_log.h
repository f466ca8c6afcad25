// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::agent {

/// Operators that ran, on their way to the sender. add(): any thread, while it is open; the rest: one.
class OperatorLog {
public:
    struct Row {
        std::uint32_t call = 0; ///< a row of the calls
        std::uint32_t thread = 0; ///< as the operating system counts
        std::uint64_t begin = 0, end = 0; ///< of Hook::counter()
        std::int64_t sequence = -1;
    };
    struct Taken {
        std::vector<std::string> calls; ///< hook::OperatorSpan::call, each once
        std::vector<Row> rows; ///< in the order of their ends
        std::uint64_t lost = 0; ///< found no room since the last time
    };

    void open()
    {
        (void)take(); // what came in amid the end of an earlier recording
        m_isOpen.store(true, std::memory_order_release);
    }
    [[nodiscard]] bool isOpen() const { return m_isOpen.load(std::memory_order_acquire); }
    void close() noexcept { m_isOpen.store(false, std::memory_order_release); }
    void add(const hook::OperatorSpan& span, std::uint32_t thread) noexcept;
    [[nodiscard]] Taken take();

private:
    std::atomic<bool> m_isOpen{ false };
    std::mutex m_mutex; // of the rest
    Taken m_taken;
    std::unordered_map<std::string, std::uint32_t> m_callNumbers; // of m_taken
};

} // namespace strata::agent
