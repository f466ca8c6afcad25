// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/tensor_table.h"

#include <utility>

namespace strata::agent {

std::uint32_t TensorTable::add(Tensor tensor)
{
    const std::lock_guard lock(m_mutex);
    if (m_tensors.size() >= kMost)
        return 0;
    m_addresses.push_back(0);
    m_tensors.push_back(std::move(tensor));
    return static_cast<std::uint32_t>(m_tensors.size());
}

std::uint32_t TensorTable::addOptimizer()
{
    const std::lock_guard lock(m_mutex);
    return m_optimizers++;
}

std::optional<PlacedTensor> TensorTable::place(std::uint64_t number, std::uint64_t address)
{
    const std::lock_guard lock(m_mutex);
    if (number == 0 || number > m_tensors.size())
        return std::nullopt;
    m_addresses[number - 1] = address;
    return PlacedTensor{ &m_tensors[number - 1], address };
}

std::vector<PlacedTensor> TensorTable::standing() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<PlacedTensor> placed;
    for (std::size_t i = 0; i < m_tensors.size(); ++i)
        if (m_addresses[i] != 0)
            placed.push_back({ &m_tensors[i], m_addresses[i] });
    return placed;
}

} // namespace strata::agent
