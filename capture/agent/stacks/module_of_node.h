// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/reserved_memory.h"
#include "capture/hook/torch_hook.h"

#include <atomic>
#include <cstdint>

namespace strata::agent {

/// The module in whose forward a node of autograd's graph was made. A node has the number of its thread and
/// how many the thread made before: the call that makes one allocates its result right after. So the module
/// that allocates is put down under the node that was made last, and found again when that one, or one made
/// shortly after it, is evaluated.
///
/// Of the last 262,144 nodes, from many threads at once, without a lock. Of two that write to a place at the
/// same time one leaves it alone.
class ModuleOfNode {
public:
    ModuleOfNode()
        : m_memory(sizeof(Place) << kBits)
        , m_places(m_memory.as<Place>())
    {
    }

    /// `module` 0: it was made outside of all modules. The first that is put down holds: what allocates later
    /// without making a node does so after another one's.
    void put(std::uint64_t node, std::uint64_t module) noexcept
    {
        if (node == 0 || !m_places)
            return;
        Place& place = placeOf(node);
        std::uint64_t before = place.node.load(std::memory_order_relaxed);
        if (before == node || before == kBusy
            || !place.node.compare_exchange_strong(
                before, kBusy, std::memory_order_relaxed, std::memory_order_relaxed))
            return;
        place.module.store(module, std::memory_order_release);
        place.node.store(node, std::memory_order_release);
    }

    /// 0: outside of all modules, or not known.
    [[nodiscard]] std::uint64_t find(std::uint64_t node) const noexcept
    {
        if (node == 0 || !m_places)
            return 0;
        for (std::uint64_t back = 0; back < kFarthest; ++back) {
            const Place& place = placeOf(node - back);
            if (place.node.load(std::memory_order_acquire) != node - back)
                continue;
            const std::uint64_t module = place.module.load(std::memory_order_acquire);
            if (place.node.load(std::memory_order_relaxed) == node - back)
                return module;
        }
        return 0;
    }

private:
    static constexpr unsigned kBits = 18;
    static constexpr std::uint64_t kMask = (std::uint64_t{ 1 } << kBits) - 1;
    static constexpr std::uint64_t kFarthest = 16; ///< nodes in a row that allocate nothing: views
    static constexpr std::uint64_t kBusy = ~std::uint64_t{ 0 };

    struct Place {
        std::atomic<std::uint64_t> node, module;
    };
    /// Threads count alike: each begins elsewhere.
    [[nodiscard]] Place& placeOf(std::uint64_t node) const noexcept
    {
        constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
        return m_places[(node + ((node >> hook::kNodeCountBits) * kOdd >> (64 - kBits))) & kMask];
    }

    ReservedMemory m_memory;
    Place* m_places;
};

} // namespace strata::agent
