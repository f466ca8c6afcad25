// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/event_ring.h"
#include "capture/agent/numbers.h"
#include "capture/agent/stacks/module_table.h"
#include "capture/agent/stacks/stacks.h"
#include "capture/agent/stacks/symbols.h"

#include <cstdint>
#include <unordered_map>

namespace strata::agent {

/// Numbers in the session for the stacks and modules that records of events name by what the process knows
/// them by. All that it is handed outlives it. One thread.
class EventNumbers {
public:
    /// `modules`: whose paths there are; nullptr: none are told.
    EventNumbers(Numbers& numbers, Stacks& stacks, ModuleTable* modules)
        : m_numbers(numbers)
        , m_stacks(stacks)
        , m_modules(modules)
        , m_symbols(numbers)
    {
    }

    struct StackAndModule {
        std::uint32_t stack = wire::kNone;
        std::uint64_t module = 0; ///< its address
    };
    [[nodiscard]] StackAndModule stackOf(const EventRecord& record);
    /// Of the path that a module has now; kNone: it has none.
    [[nodiscard]] std::uint32_t moduleOf(std::uint64_t module);

private:
    Numbers& m_numbers;
    Stacks& m_stacks;
    ModuleTable* m_modules;
    Symbols m_symbols;
    std::unordered_map<std::uint64_t, StackAndModule> m_stackNumbers;
    std::unordered_map<std::uint64_t, std::uint32_t> m_moduleNumbers; // of their paths, as they are now
    std::uint64_t m_modulesSeen = 0;
};

} // namespace strata::agent
