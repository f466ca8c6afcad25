// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/tensor_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::agent {

std::uint32_t TensorTable::add(Tensor tensor)
{
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_numbers.find(tensor); known != m_numbers.end())
        return known->second;
    if (m_placed.size() >= kMost) {
        m_refused.fetch_add(1, std::memory_order_relaxed);
        return 0;
    }
    const auto number = static_cast<std::uint32_t>(m_placed.size() + 1);
    m_placed.push_back({ &m_numbers.emplace(std::move(tensor), number).first->first, 0 });
    return number;
}

std::uint32_t TensorTable::addOptimizer()
{
    const std::lock_guard lock(m_mutex);
    return m_optimizers++;
}

std::optional<std::uint32_t> TensorTable::unlistedOptimizer(const void* optimizer)
{
    const std::lock_guard lock(m_mutex);
    if (m_optimizers > m_unlisted.size())
        return std::nullopt;
    const auto [known, isNew] = m_unlisted.try_emplace(optimizer, m_optimizers);
    m_optimizers += isNew ? 1 : 0;
    return known->second;
}

std::optional<PlacedTensor> TensorTable::place(std::uint64_t number, std::uint64_t address)
{
    const std::lock_guard lock(m_mutex);
    if (number == 0 || number > m_placed.size())
        return std::nullopt;
    m_placed[number - 1].address = address;
    return m_placed[number - 1];
}

std::vector<PlacedTensor> TensorTable::standing() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<PlacedTensor> placed;
    std::ranges::copy_if(
        m_placed, std::back_inserter(placed), [](const PlacedTensor& each) { return each.address != 0; });
    return placed;
}

} // namespace strata::agent
