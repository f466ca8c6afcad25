// SPDX-License-Identifier: Apache-2.0
// Which tensors of a call list are states of an optimizer, where nobody tells them.
#include "capture/agent/program/call_log.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace strata::agent {

void CallLog::addStates() noexcept
try {
    if (!m_isOpen.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(m_mutex);
    if (!isListed() || m_isBackward)
        return;
    std::vector<std::uint32_t> states = findStates();
    wire::CallRow* const row = states.empty() ? nullptr : addRow(wire::CallKind::Known);
    if (!row)
        return;
    row->name = text("state");
    row->takes = static_cast<std::uint32_t>(states.size());
    m_refs.back() = std::move(states);
} catch (...) {
    fail("no memory was left for it");
}

/// References to parameters, each with one to a state behind it. An optimizer goes from parameter to
/// parameter: a state is that of the first one that is taken with it or behind it, as itself, its gradient,
/// or an alias of one of these, which lie at their places.
std::vector<std::uint32_t> CallLog::findStates() const
{
    const wire::CallListChunk& chunk = m_list.chunk;
    std::size_t first = chunk.rows.size();
    while (first > 0 && chunk.rows[first - 1].kind != wire::CallKind::BackwardEnds)
        --first;
    if (first == 0)
        return {};
    std::unordered_map<std::uint64_t, std::uint32_t> parameters, gradients; // parameters, by either's place
    std::unordered_set<std::uint32_t> met;
    for (std::size_t at = 0; at < chunk.rows.size(); ++at) {
        const wire::CallRow& row = chunk.rows[at];
        const bool isKnown = row.kind == wire::CallKind::Known;
        if (at < first || isKnown)
            for (const std::uint32_t ref : m_refs[at])
                met.insert(ref / 2);
        if (!isKnown)
            continue;
        const auto placeOf = [&](std::size_t i) { return chunk.tensors[m_refs[at][i] / 2].address; };
        if (m_list.texts[row.name] != "gradient") {
            for (std::size_t i = 0; i < m_refs[at].size(); ++i)
                parameters[placeOf(i)] = m_refs[at][i];
            continue;
        }
        gradients.clear(); // those of before may be gone
        for (std::size_t i = 0; i + 1 < m_refs[at].size(); i += 2) {
            parameters[placeOf(i)] = m_refs[at][i];
            gradients[placeOf(i + 1)] = m_refs[at][i];
        }
    }
    std::vector<std::uint32_t> states, open;
    std::optional<std::uint32_t> last;
    const auto settle = [&] {
        for (const std::uint32_t state : open) {
            states.push_back(*last);
            states.push_back(state);
        }
        open.clear();
    };
    for (std::size_t at = first; at < chunk.rows.size(); ++at) {
        const wire::CallRow& row = chunk.rows[at];
        if (row.kind != wire::CallKind::Call)
            continue;
        bool isOfParameter = false;
        for (std::size_t i = 0; i < m_refs[at].size(); ++i) {
            const std::uint32_t number = m_refs[at][i] / 2;
            const wire::CallTensorRow& tensor = chunk.tensors[number];
            const auto of = parameters.find(tensor.address), with = gradients.find(tensor.address);
            if (of != parameters.end() || with != gradients.end()) {
                last = of != parameters.end() ? of->second : with->second;
                isOfParameter = true;
            } else if (met.insert(number).second && i < row.takes && tensor.gradientOf == wire::kNone) {
                open.push_back(m_refs[at][i]);
            }
        }
        if (isOfParameter)
            settle();
    }
    if (last)
        settle();
    return states;
}

} // namespace strata::agent
