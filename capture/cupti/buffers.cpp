// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/buffers.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace strata::cupti {

Buffers::~Buffers()
{
    for (std::uint8_t* const buffer : m_all)
        munmap(buffer, m_bytes);
}

std::uint8_t* Buffers::take() noexcept
{
    const std::lock_guard lock(m_mutex);
    if (!m_free.empty()) {
        std::uint8_t* const buffer = m_free.back();
        m_free.pop_back();
        return buffer;
    }
    if (m_all.size() >= m_most)
        return nullptr;
    if (m_all.capacity() < m_most) {
        try { // room for all at once, so that nothing below can fail
            m_all.reserve(m_most);
            m_free.reserve(m_most);
            m_filled.reserve(m_most);
        } catch (...) {
            return nullptr;
        }
    }
    void* const memory = mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    m_all.push_back(static_cast<std::uint8_t*>(memory));
    return m_all.back();
}

bool Buffers::isOurs(const std::uint8_t* buffer) noexcept
{
    const std::lock_guard lock(m_mutex);
    return std::ranges::find(m_all, buffer) != m_all.end();
}

void Buffers::fill(std::uint8_t* buffer, std::size_t valid) noexcept
{
    const std::lock_guard lock(m_mutex);
    if (valid == 0)
        m_free.push_back(buffer);
    else
        m_filled.push_back({ buffer, std::min(valid, m_bytes) });
}

bool Buffers::copy(std::span<const std::uint8_t> content) noexcept
{
    std::uint8_t* const buffer = content.size() <= m_bytes ? take() : nullptr;
    if (!buffer)
        return false;
    std::memcpy(buffer, content.data(), content.size());
    fill(buffer, content.size());
    return true;
}

std::span<std::uint8_t> Buffers::front() noexcept
{
    const std::lock_guard lock(m_mutex);
    if (m_filled.empty())
        return {};
    const Filled filled = m_filled.front();
    m_filled.erase(m_filled.begin());
    return { filled.buffer, filled.bytes };
}

void Buffers::giveBack(std::span<std::uint8_t> buffer) noexcept
{
    const std::lock_guard lock(m_mutex);
    m_free.push_back(buffer.data());
}

} // namespace strata::cupti
