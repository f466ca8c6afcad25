// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/kinds.h"

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::agent {

/// A tensor that the program tells of, or an optimizer of which it tells each step.
struct Tensor {
    std::int32_t device = 0;
    wire::RoleKind kind = wire::RoleKind::Parameter;
    std::string name, part, dtype;
    std::uint64_t elements = 0;
    std::uint32_t optimizer = wire::kNone;

    friend auto operator<=>(const Tensor&, const Tensor&) = default;
};

/// Where one is; 0 if nowhere.
struct PlacedTensor {
    const Tensor* tensor = nullptr; ///< lives as long as the table
    std::uint64_t address = 0;
};

/// The tensors of this process, as the program told of them, and where each was last. Outlives recordings:
/// one that begins later is told what stands. Any thread.
class TensorTable {
public:
    static constexpr std::size_t kMost = 1'000'000; ///< some 200 MB

    /// Its number, from 1: that which an equal one has. 0 once there are too many.
    [[nodiscard]] std::uint32_t add(Tensor tensor);
    /// How many times there were.
    [[nodiscard]] std::uint64_t refused() const { return m_refused.load(std::memory_order_relaxed); }
    /// A number for an optimizer.
    [[nodiscard]] std::uint32_t addOptimizer();
    /// The number of an optimizer of whose tensors nobody tells, by its address; none where the program tells
    /// of its optimizers.
    [[nodiscard]] std::optional<std::uint32_t> unlistedOptimizer(const void* optimizer);
    /// None: there is no tensor of that number.
    [[nodiscard]] std::optional<PlacedTensor> place(std::uint64_t number, std::uint64_t address);
    /// Those that are somewhere.
    [[nodiscard]] std::vector<PlacedTensor> standing() const;

    /// Around a fork.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    mutable std::mutex m_mutex;
    std::map<Tensor, std::uint32_t> m_numbers;
    std::vector<PlacedTensor> m_placed; // by number
    std::atomic<std::uint64_t> m_refused{ 0 };
    std::uint32_t m_optimizers = 0;
    std::map<const void*, std::uint32_t> m_unlisted;
};

} // namespace strata::agent
