// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/call_states.h"

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace strata::agent {

std::vector<std::uint32_t> findStates(const wire::CallListChunk& chunk, const std::vector<std::string>& texts,
    const std::vector<std::vector<std::uint32_t>>& refs)
{
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
            for (const std::uint32_t ref : refs[at])
                met.insert(ref / 2);
        if (!isKnown)
            continue;
        const auto placeOf = [&](std::size_t i) { return chunk.tensors[refs[at][i] / 2].address; };
        if (texts[row.name] != "gradient") {
            for (std::size_t i = 0; i < refs[at].size(); ++i)
                parameters[placeOf(i)] = refs[at][i];
            continue;
        }
        gradients.clear(); // those of before may be gone
        for (std::size_t i = 0; i + 1 < refs[at].size(); i += 2) {
            parameters[placeOf(i)] = refs[at][i];
            gradients[placeOf(i + 1)] = refs[at][i];
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
        for (std::size_t i = 0; i < refs[at].size(); ++i) {
            const std::uint32_t number = refs[at][i] / 2;
            const wire::CallTensorRow& tensor = chunk.tensors[number];
            const auto of = parameters.find(tensor.address), with = gradients.find(tensor.address);
            if (of != parameters.end() || with != gradients.end()) {
                last = of != parameters.end() ? of->second : with->second;
                isOfParameter = true;
            } else if (met.insert(number).second && i < row.takes && tensor.gradientOf == wire::kNone) {
                open.push_back(refs[at][i]);
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
