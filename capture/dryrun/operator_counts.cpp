// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/operator_counts.h"

#include <algorithm>
#include <vector>

namespace strata::dryrun {

namespace {

std::string inQuotes(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

} // namespace

void OperatorCounts::add(std::string_view name, std::string_view inputs, std::uint64_t launches)
{
    std::string key = "\"name\": " + inQuotes(name);
    if (!inputs.empty())
        key.append(", ").append(inputs);
    Count& count = m_operators[std::move(key)];
    ++count.calls;
    count.launches += launches;
}

void OperatorCounts::addCollective(const std::string& name, Collective collective)
{
    Collective& each = m_collectives[name];
    each.calls += collective.calls;
    each.bytes += collective.bytes;
}

void OperatorCounts::add(const OperatorCounts& other)
{
    for (const auto& [key, count] : other.m_operators) {
        Count& mine = m_operators[key];
        mine.calls += count.calls;
        mine.launches += count.launches;
    }
    for (const auto& [name, collective] : other.m_collectives)
        addCollective(name, collective);
    m_launches += other.m_launches;
}

std::string OperatorCounts::json() const
{
    std::vector<const std::pair<const std::string, Count>*> sorted;
    for (const auto& each : m_operators)
        sorted.push_back(&each);
    std::ranges::sort(sorted, {}, [](const auto* each) -> const std::string& { return each->first; });
    std::string out = "\"launches\": " + std::to_string(m_launches) + ", \"operators\": [";
    for (const auto* each : sorted)
        out += (each == sorted.front() ? "\n{" : ",\n{") + each->first
            + ", \"calls\": " + std::to_string(each->second.calls)
            + ", \"launches\": " + std::to_string(each->second.launches) + '}';
    out += "], \"collectives\": [";
    for (bool first = true; const auto& [name, each] : m_collectives) {
        out += std::string(first ? "" : ", ") + "{\"name\": " + inQuotes(name) + ", \"calls\": "
            + std::to_string(each.calls) + ", \"bytes\": " + std::to_string(each.bytes) + '}';
        first = false;
    }
    return out + ']';
}

} // namespace strata::dryrun
