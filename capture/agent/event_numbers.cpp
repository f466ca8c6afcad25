// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/event_numbers.h"

#include <span>
#include <vector>

namespace strata::agent {

std::uint32_t EventNumbers::moduleOf(std::uint64_t module)
{
    if (module == 0 || !m_modules)
        return wire::kNone;
    if (const std::uint64_t now = m_modules->generation(); now != m_modulesSeen) {
        m_modulesSeen = now;
        m_moduleNumbers.clear();
    }
    const auto [known, isNew] = m_moduleNumbers.try_emplace(module, wire::kNone);
    if (isNew)
        if (const auto path = m_modules->path(module))
            known->second = m_numbers.string(*path);
    return known->second;
}

EventNumbers::StackAndModule EventNumbers::stackOf(const EventRecord& record)
{
    if (record.stack == 0)
        return {};
    const std::uint64_t key = std::uint64_t{ record.stackKind } << 32 | record.stack;
    const auto known = m_stackNumbers.find(key);
    if (known != m_stackNumbers.end())
        return known->second;
    std::span<const std::uint64_t> words = m_stacks[record.stack];
    StackAndModule found;
    if (Stacks::isModule(words.back())) {
        found.module = words.back() & ~Stacks::kModule;
        words = words.first(words.size() - 1);
    }
    std::vector<std::uint32_t> frames;
    if (record.stackKind == static_cast<std::uint8_t>(StackKind::Native)) {
        words = words.subspan(m_symbols.ownFrames(words));
        for (const std::uint64_t address : words)
            frames.push_back(m_symbols.frame(address));
    } else {
        for (const std::uint64_t word : words) {
            const PythonPlace place = m_stacks.python().describe(word);
            frames.push_back(m_numbers.frame(
                { m_numbers.string(place.file), m_numbers.string(place.function), place.line, wire::kNone }));
        }
    }
    if (!frames.empty())
        found.stack = m_numbers.stack(frames);
    m_stackNumbers.emplace(key, found);
    return found;
}

} // namespace strata::agent
